// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The live page of a real daemon in Chromium: a slow simulated device, toy jobs, one of them with a hostile name.
// CUZK_BIN names the program, CHROMIUM the browser, CUZK_SHOTS a folder for screenshots.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdtempSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {chromium} from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url)), root = join(here, '..', '..');
const cuzk = process.env.CUZK_BIN || join(root, 'build', 'cuzk');
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
const HOSTILE = '<img src=x onerror=window.pwned=1>&amp;"\'';
// What marks parameters for 8 MiB sectors as made for tests; the label is a stranger's text.
const marked = readFileSync(join(root, 'tests', 'vectors', 'r1cs.jsonl'), 'utf8').split('\n').filter(Boolean).map(line => JSON.parse(line))
  .find(c => c.kind === 'porep' && c.sector_size === 8 << 20).params_id;
const folder = mkdtempSync(join(tmpdir(), 'cuzk-browser-'));
const shots = process.env.CUZK_SHOTS || folder;
const sleep = ms => new Promise(r => setTimeout(r, ms));

let daemon, grpc, http, browser, log = '';
async function until(what, f, seconds = 20) {
  for (const end = Date.now() + seconds * 1e3; Date.now() < end; await sleep(50)) { const v = await f(); if (v) return v; }
  assert.fail('not within ' + seconds + ' s: ' + what);
}
async function start(grpcAt = '127.0.0.1:0', httpAt = '127.0.0.1:0') {
  writeFileSync(join(folder, `v28-${marked}.insecure`), 'INSECURE TEST PARAMETERS. NEVER USE THEM FOR REAL SECTORS.\n' +
    'The secrets behind the parameter files with this name follow from the label below.\n' +
    'Whoever knows it can forge proofs that these verifying keys accept.\nlabel: <b>stranger\n');
  const config = join(folder, 'cuzk.toml');
  writeFileSync(config, `[daemon]\nlisten = "${grpcAt}"\nstatus_listen = "${httpAt}"\n[srs]\nparam_cache = "${folder}"\n` +
    '[gpus]\nbackend = ["sim:kernel=250ms,wrong%23", "sim:kernel=420ms,abort@9"]\ngpu_workers_per_device = 1\n' +
    '[memory]\ntotal_budget = "2GiB"\n' +
    '[pipeline]\nsynthesis_concurrency = 2\nmax_attempts = 2\n[testing]\ntoy_circuits = true\n');
  log = '';
  daemon = spawn(cuzk, ['--config', config], {stdio: ['ignore', 'pipe', 'pipe']});
  for (const s of [daemon.stdout, daemon.stderr]) s.on('data', d => { log += d; });
  const port = name => until(name + ' in the log', () => {
    if (daemon.exitCode !== null) assert.fail('the daemon ended: ' + log);
    return (log.match(new RegExp(name + '\\b.*?127\\.0\\.0\\.1:(\\d+)', 'i')) || [])[1];
  });
  grpc = '127.0.0.1:' + await port('grpc');
  http = '127.0.0.1:' + await port('http');
}
function jobs(...args) {
  const p = spawn('python3', ['-B', join(here, 'jobs.py'), grpc, ...args.map(String)], {stdio: ['ignore', 'inherit', 'inherit']});
  return new Promise((ok, bad) => p.on('exit', code => code === 0 ? ok() : bad(new Error('jobs.py: exit ' + code))));
}
const faults = [];
async function open(width, height, scheme = 'light') {
  const p = await browser.newPage({viewport: {width, height}, colorScheme: scheme});
  p.on('console', m => { if (m.type() === 'error' || m.type() === 'warning') faults.push(m.text()); });
  p.on('pageerror', e => faults.push(e.message));
  await p.goto(`http://${http}/`);
  await p.waitForFunction(() => document.body.dataset.state === 'live');
  return p;
}

before(async () => {
  mkdirSync(shots, {recursive: true});
  await start();
  browser = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: FLAGS});
});
after(async () => {
  if (browser) await browser.close();
  if (daemon && daemon.exitCode === null) { daemon.kill('SIGKILL'); }
  rmSync(folder, {recursive: true, force: true});
});

test('jobs appear and their bars move', async () => {
  const p = await open(1920, 1080), running = jobs(3, 10, 0.2, 'first');
  await p.waitForSelector('.job');
  const seen = new Set(), stages = new Set();
  let done = false; // the job that is watched: others overtake it
  for (let i = 0; i < 400 && !done; i++) {
    const rows = await p.$$eval('.job', all => all.map(r => [r.querySelector('.id').textContent, r.dataset.stage, +r.querySelector('.parts').getAttribute('aria-valuenow')]));
    for (const r of rows) { stages.add(r[1]); if (r[0] === 'first-0') { seen.add(r[2]); done = r[1] === 'done'; } }
    await sleep(50);
  }
  await running;
  // The headings stand over what they name.
  const over = await p.evaluate(() => {
    const left = e => Math.round(e.getBoundingClientRect().left), head = document.querySelector('.jobhead').children, job = document.querySelector('.job').children;
    return [1, 2, 3].map(i => left(head[i]) - left(job[i]));
  });
  assert.deepEqual(over, [0, 0, 0]);
  assert.ok(seen.size >= 4, 'partitions done, as seen: ' + [...seen]);
  assert.ok(stages.has('device') && stages.has('done'), 'stages: ' + [...stages]);
  await p.waitForFunction(() => document.getElementById('t-done').textContent !== '0');
  assert.match(await p.textContent('#mem-text'), /reserved of 2\.0 GiB/);
  assert.match(await p.textContent('#devices'), /device 0[^]*% busy/);
  assert.match(await p.textContent('#keys'), /toy-/);
  await p.close();
});

test('a gap shows its cause, a bar its details', async () => {
  const p = await open(1280, 900);
  await sleep(1500); // nothing is asked for
  await jobs(1, 4, 0, 'gap');
  await until('"no job offered" in the legend', () => p.locator('#legend [data-cause="no job offered"]:visible').count());
  const box = await p.locator('#canvas').boundingBox(), texts = new Set();
  let tips = 0;
  for (let x = box.width - 20; x > 110; x -= 6) {
    await p.mouse.move(box.x + x, box.y + 40);
    texts.add(await p.textContent('#detail'));
    tips += await p.locator('#tip').isVisible();
  }
  assert.match(await p.textContent('#legend'), /^Devices were idle because:/);
  const all = [...texts].join('\n');
  assert.match(all, /device 0 idle for .*no job offered/);
  assert.match(all, /gap-0, partition \d+ · device 0: /);
  assert.ok(tips > 0);
  await p.close();
});

test('test parameters are shown as such', async () => {
  const p = await open(1280, 900), said = p.locator('#insecure');
  assert.ok(await said.isVisible());
  assert.match(await said.textContent(), /^INSECURE: .*8MiB sectors.*label "<b>stranger"/);
  assert.equal(await said.locator('b').count(), 0);
  await p.close();
});

test('names of strangers are text', async () => {
  const p = await open(1280, 900);
  await jobs(1, 1, 0, HOSTILE);
  await until('the job', () => p.locator('.job .id', {hasText: HOSTILE}).count());
  assert.equal(await p.locator('main img').count(), 0);
  assert.equal(await p.evaluate(() => window.pwned), undefined);
  await p.close();
});

test('the keyboard is enough', async () => {
  const p = await open(1280, 900);
  await p.keyboard.press('Space');
  assert.equal(await p.getAttribute('#pause', 'aria-pressed'), 'true');
  assert.equal(await p.textContent('#state'), 'paused');
  await p.keyboard.press('Home');
  assert.equal(await p.getAttribute('#pause', 'aria-pressed'), 'false');
  await p.keyboard.press('-');
  assert.equal(await p.getAttribute('#zoom button:nth-child(3)', 'aria-pressed'), 'true');
  await p.focus('#canvas');
  const texts = [];
  for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowDown', 'ArrowUp']) { await p.keyboard.press(key); texts.push(await p.textContent('#detail')); }
  assert.ok(texts.every(t => /device|synthesis/.test(t)) && new Set(texts).size >= 2, texts.join('\n'));
  for (let i = 0; i < 4; i++) await p.keyboard.press('Tab');
  assert.ok(await p.evaluate(() => document.activeElement !== document.body));
  await p.close();
});

test('downloads', async () => {
  const p = await open(1280, 900);
  for (const [href, type, word] of await p.$$eval('nav a', all => all.map(a => [a.getAttribute('href'),
    {html: 'text/html', svg: 'image/svg+xml', json: 'application/json', log: 'text/plain'}[a.href.split('.').pop()],
    {html: '<canvas', svg: '<svg', json: 'traceEvents', log: 'TIMELINE,'}[a.href.split('.').pop()]]))) {
    const r = await p.request.get(`http://${http}/${href}`);
    assert.equal(r.status(), 200, href);
    assert.ok(r.headers()['content-type'].startsWith(type), href + ': ' + r.headers()['content-type']);
    assert.ok((await r.text()).includes(word), href + ' has no ' + word);
  }
  await p.close();
});

test('layout from 360 to 1920 pixels', async () => {
  const running = jobs(12, 12, 0.4, 'sector');
  await sleep(9000);
  for (const [width, height, scheme] of [[360, 1400, 'light'], [768, 1024, 'dark'], [1920, 1080, 'light'], [1920, 1080, 'dark']]) {
    const p = await open(width, height, scheme);
    await p.waitForSelector('.job');
    await p.click('#zoom button:first-child');
    await p.mouse.move(1, 1);
    await sleep(1200);
    const m = await p.evaluate(() => {
      const small = [], out = [];
      for (const e of document.querySelectorAll('body *')) {
        const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()), box = e.getBoundingClientRect();
        if (!own || box.width === 0) continue;
        if (parseFloat(getComputedStyle(e).fontSize) < 12) small.push(e.id || e.className);
        if (box.right > innerWidth + 1 || box.left < -1) out.push(e.id || e.className);
      }
      return {scroll: document.documentElement.scrollWidth, width: innerWidth, small, out,
              buttons: [...document.querySelectorAll('button')].filter(b => b.offsetParent).map(b => b.getBoundingClientRect().height)};
    });
    assert.ok(m.scroll <= m.width, `${width}: scrolls to ${m.scroll}`);
    assert.deepEqual([m.small, m.out], [[], []], String(width));
    assert.ok(Math.min(...m.buttons) >= 28);
    if (scheme === 'light') {
      const file = join(shots, `live-${width}.png`);
      await p.screenshot({path: file});
      assert.ok(statSync(file).size < 300 * 1024, file + ': ' + statSync(file).size);
    }
    await p.close();
  }
  await running;
});

test('the daemon goes away and comes back', async () => {
  const p = await open(1280, 900);
  await until('an old job', () => p.locator('.job .id', {hasText: 'sector-'}).count());
  assert.deepEqual(faults, [], 'until here');
  const gone = new Promise(done => daemon.on('exit', done));
  daemon.kill('SIGKILL');
  await gone;
  await p.waitForFunction(() => document.body.dataset.state === 'lost');
  assert.match(await p.textContent('#state'), /no answer for \d+ s/);
  await start(grpc, http);
  await p.waitForFunction(() => document.body.dataset.state === 'live', null, {timeout: 20000});
  await until('an empty page', async () => await p.locator('.job').count() === 0);
  await jobs(1, 2, 0, 'afterwards');
  await until('the new job', () => p.locator('.job .id', {hasText: 'afterwards-0'}).count());
  assert.deepEqual(faults.filter(f => !/ERR_(CONNECTION|EMPTY|SOCKET|INCOMPLETE)/.test(f)), []);
  await p.close();
});

test('the page needs no inline script', async () => {
  const r = await (await fetch(`http://${http}/`)).text(), head = (await fetch(`http://${http}/`)).headers;
  assert.ok(!/<script>|style=|\son\w+=/.test(r));
  assert.match(head.get('content-security-policy') || '', /default-src 'none'/);
  assert.equal(r, readFileSync(join(root, 'web', 'live.html'), 'utf8'));
});
