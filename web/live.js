// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The live page: asks the daemon, keeps the model, shows it. Answers come from the daemon but carry texts of strangers:
// they are only ever set as textContent. No state outside this tab.
'use strict';
(function () {

const {Model, CAUSES, clean} = globalThis.cuzkModel;
const {Lanes, CAUSE_RGB, colour, seconds} = globalThis.cuzkDraw;
const el = id => document.getElementById(id);
const ZOOMS = [[30, '30 s'], [60, '1 min'], [300, '5 min'], [900, '15 min'], [3600, '1 h']];
const JOBS_SHOWN = 40, SEGMENTS = 64;
const STAGES = ['queued', 'synthesis', 'channel', 'device', 'verify', 'done', 'failed', 'cancelled'];

const model = new Model(), lanes = new Lanes(el('canvas'));
const state = {
  seq: 0, lost: 0, status: null, uptime: null, offset: null, // offset: performance.now() to the daemon's clock, ms
  alive: null, lostAt: 0, wait: 500,
  span: 60, paused: false, end: 0, // end: of the view, us, while paused
  usage: [], usageAt: -1e9, usageOf: '', hot: null, keyed: false,
};

// --- small helpers ---

function node(tag, cls, text) {
  const n = document.createElement(tag);
  if (cls) n.className = cls;
  if (text !== undefined) n.textContent = text;
  return n;
}
function put(id, text) { const n = el(id); if (n.textContent !== text) n.textContent = text; }
function bytes(n) {
  if (!isFinite(n)) return '\u2013';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let k = 0;
  while (n >= 1024 && k < 4) { n /= 1024; k++; }
  return (k === 0 || n >= 100 ? n.toFixed(0) : n.toFixed(1)) + ' ' + units[k];
}
function count(n) { return Number(n || 0).toLocaleString('en-US'); }
function object(x) { return x && typeof x === 'object' ? x : {}; }
function list(x) { return Array.isArray(x) ? x : []; }
function nowUs() {
  if (state.offset === null) return model.last;
  return Math.max((performance.now() + state.offset) * 1000, model.last);
}
function view() {
  const end = state.paused ? state.end : nowUs();
  return [end - state.span * 1e6, end];
}

// --- the daemon ---

async function ask(path) {
  const stop = new AbortController(), timer = setTimeout(() => stop.abort(), 8000);
  try {
    const r = await fetch(path, {signal: stop.signal, cache: 'no-store'});
    if (!r.ok) throw new Error('HTTP ' + r.status);
    return await r.json();
  } finally { clearTimeout(timer); }
}

function forget() {
  model.reset();
  Object.assign(state, {seq: 0, lost: 0, offset: null, uptime: null, usage: [], usageAt: -1e9, hot: null});
  if (state.paused) pause(false);
}

async function pollStatus() {
  const sent = performance.now(), s = object(await ask('status')), got = performance.now();
  const up = Number(s.uptime_secs) || 0, own = object(s.cuzk);
  if (state.uptime !== null && up + 0.5 < state.uptime) forget(); // another daemon answers there now
  state.uptime = up;
  const theirs = isFinite(own.now_ms) ? Number(own.now_ms) : up * 1000, offset = theirs - (sent + got) / 2;
  if (state.offset === null || Math.abs(offset - state.offset) > 200) state.offset = offset;
  else state.offset += (offset - state.offset) * 0.1;
  state.status = s;
  model.workersKnown = Math.min(Number(object(s.synthesis).max_concurrent) || 0, 64);
}

// true: there is more at once.
async function pollTimeline() {
  const a = object(await ask('timeline?since=' + state.seq)), next = Number(a.next_seq) || 0;
  if (next < state.seq) { forget(); return true; }
  const lines = list(a.lines).map(String);
  state.lost += state.seq > 0 ? Number(a.lost) || 0 : 0;
  const more = lines.length > 0 && next > state.seq && lines.length >= 1000;
  state.seq = next;
  model.feed(lines.map(l => l.replace(/\r?\n$/, '')));
  if (model.wall) { const t = Date.parse(model.wall); lanes.wallEpoch = isNaN(t) ? null : t; }
  return more;
}

async function loop() {
  for (let turn = 0; ; turn++) {
    let pause = document.hidden ? 2000 : 500;
    try {
      if (turn % 2 === 0 || state.alive !== true) await pollStatus();
      if (await pollTimeline()) pause = 0;
      if (state.alive !== true) { state.alive = true; state.wait = 500; }
    } catch (e) {
      if (state.alive !== false) { state.alive = false; state.lostAt = Date.now(); }
      pause = state.wait;
      state.wait = Math.min(state.wait * 1.5, 5000);
    }
    panels();
    await new Promise(done => setTimeout(done, pause));
  }
}

// --- panels ---

function pill() {
  const s = object(state.status), own = object(s.cuzk), p = el('state');
  let text = 'live', cls = 'good';
  if (state.alive === null) { text = 'connecting'; cls = ''; }
  else if (!state.alive) { text = 'no answer for ' + Math.round((Date.now() - state.lostAt) / 1000) + ' s, trying again'; cls = 'bad'; }
  else if (own.draining || model.drain !== null) { text = 'draining'; cls = 'warn'; }
  else if (state.paused) { text = 'paused'; cls = 'warn'; }
  if (p.textContent !== text) p.textContent = text;
  p.className = 'pill ' + cls;
  document.body.dataset.state = state.alive === null ? 'connecting' : state.alive ? 'live' : 'lost';
  const notes = [];
  const lost = state.lost + model.dropped;
  if (lost > 0) notes.push(count(lost) + ' events of the timeline were lost: lanes may have holes.');
  if (model.devices.size > 0 && [...model.devices.values()].every(d => !d.healthy)) notes.push('No device is healthy.');
  const reasons = list(own.insecure).slice(0, 8).map(r => clean(String(r)));
  el('insecure').hidden = reasons.length === 0;
  put('insecure', reasons.map(r => 'INSECURE: ' + r).join('\n'));
  el('notice').hidden = notes.length === 0;
  put('notice', notes.join(' '));
  put('about', (own.version ? 'version ' + clean(String(own.version)) + ', ' : '') + (state.uptime === null ? '' : 'up ' + seconds(state.uptime * 1e6)));
}

function tiles(usage) {
  const s = object(state.status), own = object(s.cuzk), c = object(s.counters), counts = object(own.counts);
  const busy = usage.reduce((n, d) => n + d.busy, 0), all = busy + usage.reduce((n, d) => n + d.idle, 0);
  put('t-busy', all > 0 ? (busy / all * 100).toFixed(0) + ' %' : '\u2013');
  put('t-busy-sub', usage.length + (usage.length === 1 ? ' device' : ' devices') + ', last ' + ZOOMS.find(z => z[0] === state.span)[1]);
  let live = 0, begun = 0;
  for (const j of model.jobs.values()) if (j.end === null) { live++; if (j.begun.size > 0) begun++; }
  const running = counts.running !== undefined ? Number(counts.running) : begun;
  const queued = counts.queued !== undefined ? Number(counts.queued) : c.queue_depth !== undefined ? Number(c.queue_depth) : live - begun;
  put('t-jobs', count(running));
  put('t-jobs-sub', 'running, ' + count(queued) + ' queued');
  const done = Number(counts.completed !== undefined ? counts.completed : c.total_completed) || 0, to = nowUs(), from = to - state.span * 1e6;
  let recent = 0;
  for (const j of model.jobs.values()) if (j.how === 'done' && j.end >= from) recent++;
  put('t-done', count(done));
  put('t-done-sub', (recent / (Math.min(state.span, Math.max(to / 1e6, 1)) / 60)).toFixed(1) + ' a minute');
  const failed = Number(counts.failed !== undefined ? counts.failed : c.total_failed) || 0;
  put('t-failed', count(failed));
  put('t-failed-sub', counts.cancelled !== undefined ? count(counts.cancelled) + ' cancelled' : '\u00a0');
  const m = object(s.memory), total = Number(m.total_bytes) || 0, used = Number(m.used_bytes) || 0, resident = Number(own.resident_bytes) || 0;
  const full = Math.max(total, used, resident, 1);
  el('mem-used').style.width = (used / full * 100).toFixed(1) + '%';
  el('mem-resident').style.left = 'min(' + (resident / full * 100).toFixed(1) + '%, 100% - 2px)';
  el('mem-resident').hidden = resident === 0;
  const text = total > 0 || used > 0 ? bytes(used) + ' reserved of ' + (object(own.memory).limited === false || total >= 2 ** 60 || total === 0 ? 'no limit' : bytes(total)) + (resident > 0 ? ', ' + bytes(resident) + ' resident (line)' : '') : 'not known yet';
  put('mem-text', text);
  el('mem').setAttribute('aria-label', text);
}

// A row of the job list, kept while the job is shown.
const jobRows = new Map();
function jobRow(j) {
  const r = node('div', 'job');
  r.setAttribute('role', 'listitem');
  r.dot = node('i', 'dot'); r.dot.style.background = colour(j);
  r.name = node('span', 'id', clean(j.id)); r.name.title = clean(j.id);
  r.what = node('span', 'what'); r.parts = node('div', 'parts'); r.num = node('span', 'num'); r.age = node('span', 'age');
  r.parts.setAttribute('role', 'progressbar');
  r.parts.setAttribute('aria-valuemin', '0');
  r.append(r.dot, r.name, r.what, r.parts, r.num, r.age);
  return r;
}
function fillParts(r, v) {
  const key = v.parts.join() + v.stage;
  if (r.key === key) return;
  r.key = key;
  const stop = v.stage === 'failed' || v.stage === 'cancelled', parts = v.parts.map(p => stop && p !== 'done' ? v.stage : p);
  r.parts.textContent = '';
  if (parts.length <= SEGMENTS) for (const p of parts) r.parts.append(node('i', p));
  else for (const s of ['done', 'verify', 'device', 'channel', 'synthesis', 'failed', 'cancelled', 'queued']) {
    const n = parts.filter(p => p === s).length;
    if (n > 0) { const i = node('i', s); i.style.flexGrow = String(n); r.parts.append(i); }
  }
  r.parts.setAttribute('aria-valuemax', String(v.total));
  r.parts.setAttribute('aria-valuenow', String(v.done));
  r.parts.setAttribute('aria-label', v.done + ' of ' + v.total + ' partitions, ' + v.stage);
}
function jobs() {
  const shown = model.jobList(JOBS_SHOWN), now = nowUs(), box = el('jobs'), keep = new Set();
  shown.forEach((j, i) => {
    let r = jobRows.get(j);
    if (!r) { r = jobRow(j); jobRows.set(j, r); }
    keep.add(j);
    const v = model.view(j, now), label = v.stage + (j.retries > 0 ? ', ' + j.retries + (j.retries === 1 ? ' retry' : ' retries') : '');
    if (r.what.textContent !== label) { r.what.textContent = label; r.what.className = 'what' + (v.stage === 'failed' ? ' failed' : ''); }
    r.what.title = [clean(j.kind), clean(j.priority), clean(j.reason)].filter(Boolean).join(', ');
    r.dataset.stage = v.stage;
    r.classList.toggle('over', v.ended);
    fillParts(r, v);
    const num = v.done + '/' + v.total, age = seconds(v.age);
    if (r.num.textContent !== num) r.num.textContent = num;
    if (r.age.textContent !== age) r.age.textContent = age;
    if (box.children[i] !== r) box.insertBefore(r, box.children[i] || null);
  });
  for (const [j, r] of jobRows) if (!keep.has(j)) { r.remove(); jobRows.delete(j); }
  if (shown.length === 0) { if (!box.querySelector('.dim')) box.replaceChildren(node('p', 'dim', 'No job yet.')); }
  else for (const n of box.querySelectorAll(':scope > .dim')) n.remove();
  put('jobs-more', model.jobs.size > shown.length ? shown.length + ' of ' + count(model.jobs.size) + ' known here' : '');
}

function row(...cells) { const r = node('div', 'row'); r.append(...cells); return r; }
function fill(id, rows, none) { el(id).replaceChildren(...(rows.length > 0 ? rows : [node('p', 'dim', none)])); }

function devices(usage) {
  const own = list(object(object(state.status).cuzk).devices);
  fill('devices', usage.map(d => {
    const more = object(own.find(x => Number(object(x).ordinal) === d.id)), all = d.busy + d.idle, pct = all > 0 ? d.busy / all * 100 : 0;
    const r = row(node('span', '', 'device ' + d.id + (more.name ? ' (' + clean(String(more.name)) + ')' : '')),
                  node('span', d.healthy ? 'ok' : 'bad', d.healthy ? 'healthy' : 'unhealthy'));
    const meter = node('div', 'meter small full'), fillIn = node('i');
    fillIn.style.width = pct.toFixed(1) + '%';
    meter.append(fillIn);
    const worst = d.shares.map((us, c) => [us, c]).filter(p => p[0] > 0).sort((a, b) => b[0] - a[0]).slice(0, 2);
    r.append(meter, node('span', 'dim', pct.toFixed(0) + ' % busy, ' + count(d.runs) + ' runs' + (d.stage ? ', now ' + clean(d.stage) : '') +
      (Number(more.failures) > 0 ? ', ' + count(more.failures) + ' failures' : '')),
      node('span', 'dim', worst.map(p => CAUSES[p[1]] + ' ' + seconds(p[0])).join(', ')));
    return r;
  }), 'No device was named yet.');
}

function keys() {
  const s = object(state.status), own = list(object(s.cuzk).keys), alloc = object(s.allocations);
  const rows = (own.length > 0 ? own : list(alloc.srs)).slice(0, 20).map(object).map(k => row(
    node('span', '', clean(String(k.circuit_id || '?'))), node('span', '', bytes(Number(k.bytes))),
    node('span', 'dim full', [k.loading ? 'being loaded' : k.loaded === false ? 'not loaded' : k.users > 0 ? 'in use by ' + count(k.users) : 'idle',
      !(k.users > 0) && isFinite(k.last_used_secs_ago) ? 'used ' + seconds(k.last_used_secs_ago * 1e6) + ' ago' : '',
      k.loads > 1 ? 'loaded ' + count(k.loads) + ' times' : ''].filter(Boolean).join(', '))));
  for (const p of list(alloc.pce).slice(0, 10).map(object))
    rows.push(row(node('span', '', clean(String(p.circuit_id || '?')) + ' (circuit program)'), node('span', '', bytes(Number(p.bytes)))));
  fill('keys', rows, 'No key is loaded.');
}

// The daemon's own words where it has kept them, else what the timeline says.
function failures() {
  const told = list(object(object(state.status).cuzk).errors).slice(0, 8).map(object);
  if (told.length > 0)
    fill('failures', told.map(e => row(node('span', 'warn full', clean(String(e.text))), node('span', 'dim', seconds(Number(e.secs_ago) * 1e6) + ' ago'))), '');
  else fill('failures', model.failures.slice(-8).reverse().map(f => row(
    node('span', '', clean(f.job)), node('span', 'dim', lanes.clock(f.us, 1)), node('span', 'bad full', clean(f.reason || 'failed')))), 'None.');
}

function counters() {
  const c = object(object(state.status).counters), rows = [];
  const by = (name, table) => {
    for (const [kind, n] of Object.entries(object(table)).slice(0, 12)) if (Number(n) > 0) rows.push(row(node('span', '', clean(kind) + ' ' + name), node('span', '', count(n))));
  };
  by('proven', c.completed_by_kind);
  by('failed', c.failed_by_kind);
  const syn = object(object(state.status).synthesis);
  if (syn.max_concurrent !== undefined) rows.push(row(node('span', '', 'synthesis'), node('span', '', count(syn.active) + ' of ' + count(syn.max_concurrent))));
  rows.push(row(node('span', '', 'timeline lines'), node('span', '', count(state.seq))));
  fill('counters', rows, '');
}

function legend(usage) {
  const sums = CAUSES.map((_, c) => usage.reduce((n, d) => n + d.shares[c], 0)), text = sums.map(us => us >= 1e3 ? seconds(us) : '').join();
  if (legend.text === text) return;
  legend.text = text;
  const head = node('span', '', 'Devices were idle because:');
  head.hidden = !sums.some(us => us >= 1e3);
  el('legend').replaceChildren(head, ...CAUSES.map((name, c) => {
    const k = node('span'), mark = node('i');
    mark.style.background = 'repeating-linear-gradient(135deg,' + CAUSE_RGB[c] + 'cc 0 2px,' + CAUSE_RGB[c] + '26 2px 6px)';
    k.dataset.cause = name;
    k.append(mark, name + (sums[c] >= 1e3 ? ' ' + seconds(sums[c]) : ''));
    k.hidden = sums[c] < 1e3;
    return k;
  }));
}

// Busy and idle of the view; at most twice a second, since it reads all that is kept.
function usageNow() {
  const v = view(), key = [model.version, state.span, state.paused, state.paused ? state.end : 0].join(), t = performance.now();
  if (t - state.usageAt < (key === state.usageOf ? 1000 : 400)) return state.usage;
  state.usage = model.usage(v[0], Math.min(v[1], nowUs()));
  for (const d of state.usage) { const g = d.gaps[d.gaps.length - 1]; if (g && !g.unit) g.open = !state.paused; }
  state.usageAt = t; state.usageOf = key;
  return state.usage;
}

function panels() {
  pill();
  if (document.hidden) return;
  const usage = usageNow();
  tiles(usage); jobs(); devices(usage); keys(); failures(); counters(); legend(usage);
}

// --- the chart ---

let frame = 0;
const still = matchMedia('(prefers-reduced-motion: reduce)');
function paint(t) {
  requestAnimationFrame(paint);
  // As often as it moves by a pixel, at most 20 times a second.
  const wait = Math.max(50, Math.min(1000, state.span * 1e3 / Math.max(lanes.plot(), 1)));
  if (t - frame < (still.matches ? 1000 : wait) && !paint.now) return;
  frame = t; paint.now = false;
  lanes.hot = state.hot;
  lanes.arrange(model, usageNow(), view(), nowUs());
  lanes.draw();
  const v = view();
  put('where', state.paused ? lanes.clock(v[0], 1) + ' to ' + lanes.clock(v[1], 1) : '');
}

function pause(on, end) {
  if (on && !state.paused) state.end = nowUs();
  if (on && end !== undefined) state.end = Math.min(Math.max(end, state.span * 1e6 / 2), nowUs());
  state.paused = on;
  state.usageAt = -1e9;
  el('pause').setAttribute('aria-pressed', String(on));
  el('live').hidden = !on;
  paint.now = true;
  pill();
}
function zoom(to) {
  if (!ZOOMS.some(z => z[0] === to)) return;
  if (state.paused) state.end = Math.min(state.end + (to - state.span) * 5e5, nowUs()); // about the middle
  state.span = to;
  state.usageAt = -1e9;
  for (const b of el('zoom').children) b.setAttribute('aria-pressed', String(Number(b.dataset.span) === to));
  paint.now = true;
  panels();
}
function zoomBy(step) {
  const i = ZOOMS.findIndex(z => z[0] === state.span) + step;
  if (ZOOMS[i]) zoom(ZOOMS[i][0]);
}
function pan(by) { pause(true, (state.paused ? state.end : nowUs()) + by * state.span * 1e6); }

function show(f, ev) {
  state.hot = f;
  paint.now = true;
  const lines = lanes.describe(f), tip = el('tip');
  put('detail', lines.length > 0 ? lines.join(' \u00b7 ') : 'Point at a bar or a gap for its details. Keys: space pauses, + and \u2212 zoom, arrows walk over the bars.');
  if (!ev || ev.pointerType === 'touch' || lines.length === 0) { tip.style.display = 'none'; return; }
  tip.textContent = lines.join('\n');
  tip.style.display = 'block';
  tip.style.left = Math.max(4, Math.min(ev.clientX + 14, innerWidth - tip.offsetWidth - 8)) + 'px';
  tip.style.top = Math.max(4, Math.min(ev.clientY + 16, innerHeight - tip.offsetHeight - 8)) + 'px';
}

function wire() {
  for (const [s, name] of ZOOMS) {
    const b = node('button', '', name);
    b.dataset.span = String(s);
    b.setAttribute('aria-pressed', String(s === state.span));
    b.onclick = () => zoom(s);
    el('zoom').append(b);
  }
  el('stages').replaceChildren(...STAGES.map(s => { const k = node('span'); k.append(node('i', s), s); return k; }));
  el('pause').onclick = () => pause(!state.paused);
  el('live').onclick = () => pause(false);
  el('back').onclick = () => pan(-0.25);
  el('forth').onclick = () => pan(0.25);
  const c = el('canvas');
  let drag = null;
  c.addEventListener('pointerdown', ev => { drag = {x: ev.clientX, end: view()[1], moved: false}; c.setPointerCapture(ev.pointerId); });
  c.addEventListener('pointermove', ev => {
    const box = c.getBoundingClientRect();
    if (drag) {
      if (Math.abs(ev.clientX - drag.x) > 4) drag.moved = true;
      if (drag.moved) { c.classList.add('drag'); pause(true, drag.end - (ev.clientX - drag.x) / lanes.plot() * state.span * 1e6); el('tip').style.display = 'none'; }
      return;
    }
    show(lanes.find(ev.clientX - box.left, ev.clientY - box.top), ev);
  });
  c.addEventListener('pointerup', ev => {
    const box = c.getBoundingClientRect(), moved = drag && drag.moved;
    drag = null; c.classList.remove('drag');
    if (!moved) show(lanes.find(ev.clientX - box.left, ev.clientY - box.top), ev);
  });
  c.addEventListener('pointercancel', () => { drag = null; c.classList.remove('drag'); });
  c.addEventListener('pointerleave', () => { if (!drag) { el('tip').style.display = 'none'; if (!state.keyed) show(null); } });
  c.addEventListener('wheel', ev => { if (ev.ctrlKey || ev.metaKey) { ev.preventDefault(); zoomBy(ev.deltaY > 0 ? 1 : -1); } }, {passive: false});
  c.addEventListener('blur', () => { state.keyed = false; });
  document.addEventListener('keydown', ev => {
    if (ev.altKey || ev.ctrlKey || ev.metaKey) return;
    const onButton = ev.target instanceof HTMLElement && /^(BUTTON|A|INPUT)$/.test(ev.target.tagName), onCanvas = ev.target === c;
    const walk = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[ev.key];
    if (ev.key === ' ' && !onButton) pause(!state.paused);
    else if (ev.key === '+' || ev.key === '=') zoomBy(-1);
    else if (ev.key === '-') zoomBy(1);
    else if (ev.key === 'Home') pause(false);
    else if (ev.key === 'Escape') show(null);
    else if (walk && onCanvas) { state.keyed = true; show(lanes.walk(state.hot, walk[0], walk[1])); }
    else return;
    ev.preventDefault();
  });
  const repaint = () => { lanes.restyle(); paint.now = true; };
  addEventListener('resize', repaint);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  document.addEventListener('visibilitychange', () => { paint.now = true; panels(); });
  requestAnimationFrame(paint);
  loop();
}
wire();
})();
