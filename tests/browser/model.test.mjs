// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The live page's model beside the C analyser: the same logs, the same gaps, causes and shares.
// CUZK_BIN names the program.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const {Model, CAUSES, parseLine, clean} = createRequire(import.meta.url)(join(root, 'web', 'live-model.js'));
const cuzk = process.env.CUZK_BIN || join(root, 'build', 'cuzk');
const run = (args, input) => execFileSync(cuzk, args, {input, maxBuffer: 1 << 28, stdio: ['pipe', 'pipe', 'ignore']}).toString();

const APART = ['EPOCH', 'DEVICE', 'DRAIN', 'DROP', 'SRS_EVICT'];
function theirs(log) {
  return JSON.parse(run(['waterfall', '-', '--format', 'json'], log)).gaps.map(g => [g.device, g.start_ms, g.end_ms, g.cause,
    ...CAUSES.map(c => Math.round((g.causes[c] || 0) * 1000))].join(' ')).sort();
}
function ours(log) {
  const m = new Model({units: 1e6, jobs: 1e6, spans: 1e6}), lines = log.split('\n');
  for (let i = 0; i < lines.length; i += 7) m.feed(lines.slice(i, i + 7)); // as it comes in answers
  const to = Math.max(...lines.map(parseLine).filter(e => e && !APART.includes(e.kind)).map(e => e.us));
  return m.usage(-Infinity, to).flatMap(d => d.gaps.map(g => [d.id, g.from / 1000, g.to / 1000, CAUSES[g.cause],
    ...g.shares.map(Math.round)].join(' '))).sort();
}

for (const name of ['published-closed-loop.log', 'two-devices.log'])
  test('recorded ' + name, () => {
    const log = readFileSync(join(root, 'tests', 'vectors', 'timeline', name), 'utf8');
    assert.deepEqual(ours(log), theirs(log));
  });

const RUNS = [
  ['--policy', 'standard'],
  ['--policy', 'partition', '--devices', '2', '--synthesis-concurrency', '2', '--proofs', '8'],
  ['--policy', 'slotted', '--slot-size', '3', '--workers', '2', '--concurrency', '3'],
  ['--policy', 'batch', '--batch-size', '2', '--proofs', '6', '--concurrency', '4'],
  ['--synthesis-concurrency', '3', '--lookahead', '2', '--gpu', '60s', '--synth', '20s'],
  ['--key-bytes', '4GiB', '--key-load', '20s', '--partition-bytes', '2GiB', '--budget', '9GiB', '--synthesis-concurrency', '3'],
  ['--arrivals', '50s', '--verify', '1s', '--pickup', '200ms', '--devices', '3'],
];
for (const args of RUNS)
  test('simulated ' + args.join(' '), () => {
    const log = run(['simulate', ...args, '--log', '-']);
    assert.ok(log.includes('GPU_END'), 'the simulation ran');
    assert.deepEqual(ours(log), theirs(log));
  });

test('limits hold and nothing old is needed', () => {
  const m = new Model({units: 100, jobs: 20, spans: 10});
  for (let i = 0; i < 2000; i++) {
    const t = i * 10, job = 'job-' + i;
    m.feed([`TIMELINE,${t}.000,JOB_SUBMIT,${job},partitions=1 kind=toy`, `TIMELINE,${t + 1}.000,SYNTH_START,${job},worker=0 partition=0 count=1`,
      `TIMELINE,${t + 2}.000,MEM_WAIT_START,${job},partition=0 bytes=1`, `TIMELINE,${t + 3}.000,SYNTH_END,${job},partition=0 count=1 synth_ms=2`,
      `TIMELINE,${t + 4}.000,GPU_START,${job},worker=0 gpu=0 partition=0 count=1`, `TIMELINE,${t + 8}.000,GPU_END,${job},worker=0 gpu=0 partition=0 count=1`,
      `TIMELINE,${t + 9}.000,JOB_FAIL,${job},reason=test`]);
    assert.ok(m.units.length <= 100 && m.jobs.size <= 20 && m.spans.length <= 10 && m.failures.length <= 50 && m.unitOf.size <= 100);
  }
  const d = m.usage(m.last - 100e3, m.last)[0];
  assert.ok(Math.abs(d.busy / 100e3 - 0.4) < 0.05, String(d.busy));
});

test('lines of strangers', () => {
  for (const line of ['', 'TIMELINE', 'TIMELINE,', 'TIMELINE,x,JOB_DONE,a,', 'TIMELINE,1,job,a,', 'TIMELINE,1,,,', 'TIMELINE,-1,A,b,c', 'hello'])
    assert.equal(parseLine(line), null, line);
  const e = parseLine('TIMELINE,12.345,JOB_FAIL,<b>%2C%0A,reason=a%20b gpu=9999999 partition=x');
  assert.deepEqual([e.us, e.job, e.words.reason, e.gpu, e.partition], [12345, '<b>,\n', 'a b', -1, -1]);
  assert.equal(clean('a\u202eb\nc\u0000'), 'a\ufffdb\ufffdc\ufffd');
  const m = new Model();
  m.feed(['TIMELINE,1,GPU_END,x,gpu=0 partition=3', 'TIMELINE,1,SYNTH_END,__proto__,partition=0', 'TIMELINE,2,VERIFY_END,y,ok=0', 'junk']);
  m.feed(['TIMELINE,9,STAGE_END,-,stage=ntt gpu=3 worker=1', 'TIMELINE,9,MEM_WAIT_END,z,partition=0', 'TIMELINE,9,NEW_WORD,z,a=b']);
  assert.equal(m.bad, 1);
  assert.ok(m.usage(0, m.last).length >= 1);
  for (const j of m.jobList(10)) assert.ok(m.view(j, m.last).stage);
});

test('jobs under way come first, then those that wait, then the newest that ended', () => {
  const m = new Model(), at = (ms, event, job, detail = '') => `TIMELINE,${ms}.000,${event},${job},${detail}`;
  m.feed(['ended', 'ended-later', 'waits', 'runs', 'waits-too'].map((job, i) => at(i, 'JOB_SUBMIT', job, 'partitions=1 kind=toy')));
  m.feed([at(10, 'JOB_DONE', 'ended'), at(11, 'JOB_DONE', 'ended-later'), at(12, 'SYNTH_START', 'runs', 'worker=0 partition=0 count=1')]);
  assert.deepEqual(m.jobList(10).map(j => j.id), ['runs', 'waits', 'waits-too', 'ended-later', 'ended']);
});
