// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The timeline as the live page knows it: lines in, units, lanes, gaps with causes and jobs out. No DOM, so that node
// can test it beside the C analyser. Times are whole microseconds since the daemon's epoch; null: not seen.
//
// Pairing and causes follow src/timeline/spans.c and gaps.c, for the lines of one run of our own daemon, which name
// worker, partition and device and come in order. The one addition: partitions that were submitted and have not begun
// count as waiting, since a live page cannot wait for them to begin.
//
// Memory is bounded: `limits` says how many units, jobs and other spans are kept; the oldest go first.
'use strict';
(function (root) {

const CAUSES = ['no job offered', 'synthesis not ready', 'channel full', 'memory', 'key load', 'drained', 'unknown'];
const NO_JOB = 0, SYNTHESIS = 1, CHANNEL = 2, MEMORY = 3, KEY_LOAD = 4, DRAINED = 5, UNKNOWN = 6;
const LIMITS = {units: 20000, jobs: 5000, spans: 2000, failures: 50, stages: 24};

// Text of strangers, fit to be shown: no control characters, no bidirectional overrides, not endless.
function clean(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g, '\ufffd').slice(0, 256);
}

// Undoes timeline_escape: what it escapes is ASCII.
function unescape(text) {
  return text.replace(/%([0-7][0-9A-Fa-f])/g, (all, hex) => String.fromCharCode(parseInt(hex, 16)));
}

function small(text, max) { return /^\d{1,9}$/.test(text) && +text <= max ? +text : -1; }
function micros(text) { return /^\d{1,12}(\.\d{1,9})?$/.test(text) ? Math.floor(+text * 1000 + 1e-3) : null; }

// null for a line that is no event.
function parseLine(line) {
  if (!line.startsWith('TIMELINE,')) return null;
  const parts = line.split(',');
  if (parts.length < 4) return null;
  const us = micros(parts[1]);
  if (us === null || !/^[A-Z0-9_]{1,32}$/.test(parts[2])) return null;
  const e = {us, kind: parts[2] === 'GPU_QUEUE' ? 'CHAN_SEND' : parts[2], job: unescape(parts[3]).slice(0, 256),
             gpu: -1, worker: -1, partition: -1, count: -1, us_of: null, words: {}};
  if (e.job === '-' || /^[0-]*$/.test(e.job) && e.job.length !== 1) e.job = '';
  for (const pair of parts.slice(4).join(',').split(/[ ,]/)) {
    const eq = pair.indexOf('=');
    if (eq < 1) continue;
    const key = pair.slice(0, eq), value = pair.slice(eq + 1);
    if (key === 'gpu') e.gpu = small(value, 4095);
    else if (key === 'worker') e.worker = small(value, 65535);
    else if (key === 'partition') e.partition = small(value, 1 << 24);
    else if (key === 'count' || key === 'partitions') e.count = small(value, 1 << 24);
    else if (key === 'gpu_ms' || key === 'synth_ms') e.us_of = micros(value);
    else if (key.length <= 16) e.words[key] = unescape(value).slice(0, 256);
  }
  return e;
}

class Model {
  constructor(limits) {
    this.limits = Object.assign({}, LIMITS, limits);
    this.workersKnown = 0; // synthesis workers that the daemon says it has
    this.reset();
  }

  reset() {
    this.units = [];
    this.unitOf = new Map();   // "job partition" -> newest unit
    this.onSynth = new Map();  // synthesis worker -> unit
    this.onDevice = new Map(); // "gpu worker" -> unit
    this.jobs = new Map();     // by id, in order of appearance
    this.jobsSeen = 0;
    this.devices = new Map();  // gpu -> {id, healthy, stage}
    this.spans = [];           // {kind: 'key' | 'pce' | 'memory', name, job, from, to}
    this.failures = [];        // newest last: {us, job, reason}
    this.waits = new Map();    // "job partition" -> [from, to] of the newest wait for memory
    this.synthWorkers = 0;     // as many as the lines name
    this.from = null;          // first event of work that was seen
    this.last = 0;             // newest time of any line
    this.drain = null;
    this.hasSubmits = false;
    this.wall = null;
    this.bad = this.dropped = this.forgotten = 0;
    this.version = (this.version || 0) + 1; // changes with everything
  }

  feed(lines) {
    for (const line of lines) {
      const e = parseLine(line);
      if (e) this.event(e);
      else if (line.length > 0) this.bad++;
    }
    if (lines.length > 0) { this.trim(); this.version++; }
  }

  jobOf(id, us) {
    let j = this.jobs.get(id);
    if (!j) {
      j = {id, number: this.jobsSeen++, submit: null, first: us, end: null, how: null, reason: '', kind: '', priority: '',
           partitions: -1, begun: new Set(), units: [], retries: 0};
      this.jobs.set(id, j);
    }
    return j;
  }

  newUnit(j, partition, again) {
    const u = {job: j, partition, count: -1, gpu: -1, gpuWorker: -1, synthWorker: -1, synthStart: null, synthEnd: null,
               channel: null, pickup: null, gpuStart: null, gpuEnd: null, synthOver: null, gpuOver: null, memFrom: null,
               memTo: null, verifyFrom: null, verifyTo: null, ok: null, again: !!again, cut: false, stages: []};
    this.units.push(u);
    j.units.push(u);
    this.unitOf.set(j.id + '\n' + partition, u);
    return u;
  }

  // The unit that an event is about; `step` is the property it will set. null: a duplicate.
  unitFor(j, e, step) {
    const u = this.unitOf.get(j.id + '\n' + e.partition);
    if (!u) return this.newUnit(j, e.partition, false);
    const began = step === 'synthStart' && (u.synthEnd !== null || u.gpuStart !== null);
    if (u[step] === null && !began) return u;
    return u[step] === e.us ? null : this.newUnit(j, e.partition, true);
  }

  event(e) {
    if (e.us > this.last) this.last = e.us;
    if (e.gpu >= 0 && !this.devices.has(e.gpu) && this.devices.size < 256)
      this.devices.set(e.gpu, {id: e.gpu, healthy: true, stage: ''});
    const apart = ['EPOCH', 'DEVICE', 'DRAIN', 'DROP', 'SRS_EVICT'];
    if (!apart.includes(e.kind) && this.from === null) this.from = e.us;
    switch (e.kind) {
    case 'EPOCH': this.wall = e.words.wall || null; return;
    case 'DEVICE': if (e.gpu >= 0) this.devices.get(e.gpu).healthy = e.words.state !== 'unhealthy'; return;
    case 'DRAIN': if (this.drain === null) this.drain = e.us; return;
    case 'DROP': this.dropped += +e.words.drops || 1; return;
    case 'SRS_LOAD_START': this.open('key', e.words.key, e); return;
    case 'SRS_LOAD_END': this.close('key', e.words.key, e); return;
    case 'PCE_START': this.open('pce', e.words.key, e); return;
    case 'PCE_END': this.close('pce', e.words.key, e); return;
    case 'STAGE_START': case 'STAGE_END': this.stage(e); return;
    }
    if (e.job === '') return;
    const j = this.jobOf(e.job, e.us);
    let u;
    switch (e.kind) {
    case 'JOB_SUBMIT':
      this.hasSubmits = true;
      if (j.submit === null) j.submit = e.us;
      if (e.count >= 0) j.partitions = e.count;
      j.kind = e.words.kind || ''; j.priority = e.words.priority || '';
      return;
    case 'JOB_DONE': this.endJob(j, e, 'done'); return;
    case 'JOB_FAIL': this.endJob(j, e, 'failed'); return;
    case 'JOB_CANCEL': this.endJob(j, e, 'cancelled'); return;
    case 'MEM_WAIT_START': this.open('memory', '', e); return;
    case 'MEM_WAIT_END': {
      const s = this.close('memory', '', e);
      if (!s) return;
      u = this.unitOf.get(j.id + '\n' + e.partition);
      if (!u || u.memFrom !== null) u = this.newUnit(j, e.partition, !!u);
      u.memFrom = s.from; u.memTo = e.us;
      return;
    }
    case 'SYNTH_START':
      if (!(u = this.unitFor(j, e, 'synthStart'))) return;
      u.synthStart = e.us; u.synthWorker = e.worker;
      if (e.count >= 0) u.count = e.count;
      for (let k = 0; k < Math.max(e.count, 1); k++) j.begun.add(e.partition + k);
      if (e.worker >= 0) {
        this.synthWorkers = Math.max(this.synthWorkers, e.worker + 1);
        const before = this.onSynth.get(e.worker);
        if (before && before !== u && before.synthOver === null) before.synthOver = e.us;
        this.onSynth.set(e.worker, u);
      }
      return;
    case 'SYNTH_END':
      u = this.unitOf.get(j.id + '\n' + e.partition) || this.newUnit(j, e.partition, false);
      if (u.synthEnd !== null) return;
      u.synthEnd = e.us;
      if (u.synthStart === null && e.us_of !== null && e.us_of <= e.us) u.synthStart = e.us - e.us_of;
      return;
    case 'CHAN_SEND':
      if (!(u = this.unitFor(j, e, 'channel'))) return;
      u.channel = e.us;
      if (u.synthOver === null) u.synthOver = e.us;
      return;
    case 'GPU_PICKUP':
      if (!(u = this.unitFor(j, e, 'pickup'))) return;
      u.pickup = e.us;
      if (u.gpu < 0) u.gpu = e.gpu;
      if (u.gpuWorker < 0) u.gpuWorker = e.worker;
      if (u.synthOver === null) u.synthOver = e.us;
      return;
    case 'GPU_START':
      if (!(u = this.unitFor(j, e, 'gpuStart'))) return;
      u.gpuStart = e.us;
      if (e.gpu >= 0) u.gpu = e.gpu;
      if (e.worker >= 0) u.gpuWorker = e.worker;
      if (u.synthOver === null) u.synthOver = e.us;
      if (e.worker >= 0) {
        const place = e.gpu + ' ' + e.worker, before = this.onDevice.get(place);
        if (before && before !== u && before.gpuOver === null) before.gpuOver = e.us;
        this.onDevice.set(place, u);
      }
      return;
    case 'GPU_END':
      u = this.unitOf.get(j.id + '\n' + e.partition) || this.newUnit(j, e.partition, false);
      if (u.gpuEnd !== null) return;
      u.gpuEnd = e.us;
      if (u.gpu < 0) u.gpu = e.gpu;
      if (u.gpuStart === null && e.us_of !== null && e.us_of <= e.us) u.gpuStart = e.us - e.us_of;
      return;
    case 'VERIFY_START': if ((u = this.unitOf.get(j.id + '\n' + e.partition))) u.verifyFrom = e.us; return;
    case 'VERIFY_END':
      if ((u = this.unitOf.get(j.id + '\n' + e.partition))) { u.verifyTo = e.us; u.ok = e.words.ok !== '0'; }
      return;
    case 'RETRY': j.retries++; return;
    }
  }

  endJob(j, e, how) {
    if (j.end !== null) return;
    j.end = e.us; j.how = how; j.reason = e.words.reason || '';
    for (const u of j.units) {
      if (u.synthEnd === null && u.synthOver === null) u.synthOver = e.us;
      if (u.gpuEnd === null && u.gpuOver === null) u.gpuOver = e.us;
      if (how !== 'done') u.cut = true;
    }
    if (how === 'failed') {
      this.failures.push({us: e.us, job: j.id, reason: j.reason});
      if (this.failures.length > this.limits.failures) this.failures.shift();
    }
  }

  open(kind, name, e) {
    this.spans.push({kind, name: name || '', job: e.job, partition: e.partition, from: e.us, to: null});
  }
  close(kind, name, e) {
    for (let i = this.spans.length - 1; i >= 0; i--) {
      const s = this.spans[i];
      if (s.kind !== kind || s.to !== null || s.name !== (name || '')) continue;
      if (kind === 'memory' && (s.job !== e.job || s.partition !== e.partition)) continue;
      s.to = e.us;
      return s;
    }
    return null;
  }

  stage(e) {
    const u = this.onDevice.get(e.gpu + ' ' + e.worker), d = this.devices.get(e.gpu), name = e.words.stage || '';
    if (d) d.stage = e.kind === 'STAGE_START' ? name : '';
    if (!u) return;
    if (e.kind === 'STAGE_START') {
      if (u.stages.length < this.limits.stages) u.stages.push({name, from: e.us, to: null});
    } else {
      for (let i = u.stages.length - 1; i >= 0; i--)
        if (u.stages[i].name === name && u.stages[i].to === null) { u.stages[i].to = e.us; break; }
    }
  }

  // Drops the oldest of what is over a limit. A unit of a job that goes on stays until its turn comes too.
  trim() {
    const l = this.limits;
    if (this.spans.length > l.spans) this.spans.splice(0, this.spans.length - l.spans);
    if (this.units.length > l.units) {
      const gone = this.units.splice(0, this.units.length - Math.floor(l.units * 0.9));
      for (const u of gone) {
        const key = u.job.id + '\n' + u.partition;
        if (this.unitOf.get(key) === u) this.unitOf.delete(key);
        if (u.job.units[0] === u) u.job.units.shift();
        else { const at = u.job.units.indexOf(u); if (at >= 0) u.job.units.splice(at, 1); }
      }
      this.forgotten += gone.length;
      if (this.units.length > 0) this.from = Math.max(this.from, Model.begin(this.units[0]));
    }
    if (this.jobs.size > l.jobs) {
      let excess = this.jobs.size - Math.floor(l.jobs * 0.9);
      for (const [id, j] of this.jobs) {
        if (excess-- <= 0) break;
        this.jobs.delete(id);
        for (const u of j.units) {
          const key = id + '\n' + u.partition;
          if (this.unitOf.get(key) === u) this.unitOf.delete(key);
        }
      }
    }
  }

  // --- intervals; `now` stands for the ends that have not come ---

  static begin(u) {
    for (const t of [u.memFrom, u.synthStart, u.synthEnd, u.channel, u.pickup, u.gpuStart, u.gpuEnd]) if (t !== null) return t;
    return 0;
  }
  static synthEnd(u, now) { return u.synthEnd !== null ? u.synthEnd : u.synthOver !== null ? u.synthOver : now; }
  static gpuEnd(u, now) { return u.gpuEnd !== null ? u.gpuEnd : u.gpuOver !== null ? u.gpuOver : now; }

  // {devices: [{id, healthy, stage, runs: [unit]}], synthesis: [{id, runs: [unit]}], keys: [span]}: what touches
  // [from, to], runs by start.
  lanes(from, to) {
    const devices = new Map(), synthesis = new Map();
    for (const d of this.devices.values()) devices.set(d.id, {id: d.id, healthy: d.healthy, stage: d.stage, runs: []});
    for (let w = 0; w < Math.max(this.synthWorkers, this.workersKnown); w++) synthesis.set(w, {id: w, runs: []});
    for (const u of this.units) {
      if (u.gpuStart !== null && u.gpuStart <= to && Model.gpuEnd(u, to) >= from) {
        const gpu = u.gpu < 0 ? 0 : u.gpu;
        if (!devices.has(gpu)) devices.set(gpu, {id: gpu, healthy: true, stage: '', runs: []});
        devices.get(gpu).runs.push(u);
      }
      if (u.synthStart !== null && u.synthStart <= to && Model.synthEnd(u, to) >= from) {
        const w = u.synthWorker < 0 ? 0 : u.synthWorker;
        if (!synthesis.has(w)) synthesis.set(w, {id: w, runs: []});
        synthesis.get(w).runs.push(u);
      }
    }
    const by = key => (a, b) => a[key] - b[key];
    for (const d of devices.values()) d.runs.sort(by('gpuStart'));
    for (const s of synthesis.values()) s.runs.sort(by('synthStart'));
    return {devices: [...devices.values()].sort(by('id')), synthesis: [...synthesis.values()].sort(by('id')),
            keys: this.spans.filter(s => s.kind !== 'memory' && s.from <= to && (s.to === null || s.to >= from))};
  }

  // Busy and idle of every device in [from, to]: {id, busy, idle, shares: [7], gaps: [{from, to, cause, shares, unit}]}.
  // `to` is also the time of what has not ended.
  usage(from, to) {
    const start = this.from === null ? to : Math.min(this.from, to), judge = new Judge(this, start, to);
    return this.lanes(-Infinity, to).devices.map(d => {
      const out = {id: d.id, healthy: d.healthy, stage: d.stage, busy: 0, idle: 0, runs: 0, shares: CAUSES.map(() => 0), gaps: []};
      const note = g => {
        if (g.to <= from) return;
        const part = (g.to - Math.max(g.from, from)) / (g.to - g.from);
        out.idle += (g.to - g.from) * part;
        g.shares.forEach((us, c) => { out.shares[c] += us * part; });
        out.gaps.push(g);
      };
      let over = start;
      for (const u of d.runs) {
        const end = Math.min(Model.gpuEnd(u, to), to);
        if (u.gpuStart > over && u.gpuStart > from) note(judge.unit(over, u.gpuStart, u));
        const a = Math.max(u.gpuStart, over, from);
        if (end > a) out.busy += end - a;
        if (u.gpuStart >= from) out.runs++;
        if (end > over) over = end;
      }
      if (to > over) note(judge.end(over, to));
      return out;
    });
  }

  // Where a job is: "queued", "synthesis", "channel", "device", "verify", "done", "failed", "cancelled"; and of each
  // partition one of these.
  view(j, now) {
    const n = Math.max(j.partitions, 1), parts = new Array(Math.min(n, 4096)).fill('queued');
    for (const u of j.units) {
      const first = Math.max(u.partition, 0), last = u.partition < 0 ? n : first + Math.max(u.count, 1);
      const state = u.verifyTo !== null ? (u.ok ? 'done' : 'queued')
        : u.gpuEnd !== null ? (u.verifyFrom !== null ? 'verify' : 'device')
        : u.gpuStart !== null || u.pickup !== null ? 'device'
        : u.synthEnd !== null || u.channel !== null ? 'channel'
        : u.synthStart !== null ? 'synthesis' : 'queued';
      for (let p = first; p < last && p < parts.length; p++) parts[p] = state;
    }
    if (j.how === 'done') parts.fill('done');
    const done = parts.filter(p => p === 'done').length;
    let stage = j.how;
    if (!stage) stage = ['verify', 'device', 'channel', 'synthesis'].find(s => parts.includes(s)) || (done > 0 ? 'verify' : 'queued');
    const since = j.submit !== null ? j.submit : j.first;
    return {stage, parts, done, total: n, age: (j.end !== null ? j.end : now) - since, ended: j.end !== null};
  }

  // Jobs to show: those that go on, oldest first, then the newest that ended; at most `max`.
  jobList(max) {
    const live = [], over = [];
    for (const j of this.jobs.values()) (j.end === null ? live : over).push(j);
    live.sort((a, b) => (b.begun.size > 0) - (a.begun.size > 0)); // those under way first, each by age
    over.sort((a, b) => b.end - a.end);
    return live.concat(over).slice(0, max);
  }
}

// Why was a device idle? See the head of src/timeline/gaps.c, which this follows step by step.
class Judge {
  constructor(model, from, to) {
    this.m = model;
    this.from = from;
    const steps = [];
    const step = (a, b, what) => { if (b > a) { steps.push([a, what, 1], [b, what, -1]); } };
    for (const u of model.units) {
      if (u.synthStart === null) continue;
      const end = Model.synthEnd(u, to), sent = u.channel !== null && u.channel > end ? u.channel : end;
      const taken = u.pickup !== null ? u.pickup : u.gpuStart !== null ? u.gpuStart : u.channel !== null && u.gpuOver === null ? to : end;
      step(u.synthStart, sent, 0);
      step(this.offered(u), u.synthStart, 1);
      step(end, taken, 2);
    }
    for (const s of model.spans) step(s.from, s.to === null ? to : s.to, s.kind === 'memory' ? 3 : 4);
    for (const j of model.jobs.values())
      if (j.end === null && j.submit !== null && j.partitions > j.begun.size)
        for (let k = Math.min(j.partitions - j.begun.size, 64); k > 0; k--) step(j.submit, to + 1, 1);
    steps.sort((a, b) => a[0] - b[0]);
    this.at = []; this.state = [];
    const now = [0, 0, 0, 0, 0]; // busy, waiting, channel, memory, loads
    this.workers = Math.max(model.synthWorkers, model.workersKnown);
    for (let i = 0; i < steps.length; i++) {
      now[steps[i][1]] += steps[i][2];
      if (i + 1 < steps.length && steps[i + 1][0] === steps[i][0]) continue;
      this.at.push(steps[i][0]);
      this.state.push(now.slice());
      if (now[0] > this.workers) this.workers = now[0];
    }
  }

  offered(u) {
    const t = u.again ? null : u.job.submit;
    return t !== null ? t : u.memFrom !== null ? u.memFrom : u.synthStart;
  }

  // The last entry before a time; -1 if none.
  before(time) {
    let lo = 0, hi = this.at.length;
    while (lo < hi) { const mid = (lo + hi) >> 1; if (this.at[mid] < time) lo = mid + 1; else hi = mid; }
    return lo - 1;
  }

  gap(from, to, unit) { return {from, to, unit, cause: UNKNOWN, shares: CAUSES.map(() => 0), left: to - from}; }
  charge(g, cause, us) {
    us = Math.min(us, g.left);
    if (us > 0) { g.shares[cause] += us; g.left -= us; }
  }
  name(g) {
    g.cause = 0;
    for (let c = 1; c < CAUSES.length; c++) if (g.shares[c] > g.shares[g.cause]) g.cause = c;
    return g;
  }

  heldUpBy(u, s, from, offered) {
    const [busy, waiting, channel, memory, loads] = s;
    if (u.memFrom !== null && from < u.memTo && from >= u.memFrom) return MEMORY;
    if (from >= offered) {
      if (loads > 0) return KEY_LOAD;
      if (busy >= this.workers) return SYNTHESIS;
      if (memory > 0) return MEMORY;
      return channel > 0 ? CHANNEL : UNKNOWN;
    }
    if (busy >= this.workers) return SYNTHESIS;
    if (waiting > 0) return memory > 0 ? MEMORY : loads > 0 ? KEY_LOAD : channel > 0 ? CHANNEL : SYNTHESIS;
    if (!this.m.hasSubmits && channel >= 2) return CHANNEL;
    return NO_JOB;
  }

  beforeSynthesis(g, u) {
    const offered = this.offered(u);
    let at = u.synthStart, i = this.before(at);
    while (g.left > 0 && at > this.from) {
      let s = [0, 0, 0, 0, 0], from = this.from;
      if (i >= 0) { s = this.state[i]; if (this.at[i] > from) from = this.at[i]; }
      if (offered > from && offered < at) from = offered;
      if (u.memFrom !== null) {
        if (u.memFrom > from && u.memFrom < at) from = u.memFrom;
        if (u.memTo > from && u.memTo < at) from = u.memTo;
      }
      const c = this.heldUpBy(u, s, from, offered);
      this.charge(g, c, at - from);
      at = from;
      if (i >= 0 && this.at[i] >= at) i--;
    }
    this.charge(g, SYNTHESIS, g.left);
  }

  loadTime(from, to) {
    let sum = 0;
    for (let i = this.before(to); i >= 0; i--) {
      const a = Math.max(this.at[i], from), b = i + 1 < this.at.length && this.at[i + 1] < to ? this.at[i + 1] : to;
      if (this.state[i][4] > 0 && b > a) sum += b - a;
      if (this.at[i] <= from) break;
    }
    return sum;
  }

  // A gap that a unit ended.
  unit(from, to, u) {
    const g = this.gap(from, to, u);
    const ready = Math.min(Model.synthEnd(u, to), to);
    const sent = Math.min(u.channel !== null && u.channel > ready ? u.channel : ready, to);
    if (u.synthStart === null && u.channel === null && u.synthEnd === null) {
      this.charge(g, KEY_LOAD, this.loadTime(from, to));
      this.charge(g, UNKNOWN, g.left);
      return this.name(g);
    }
    let a = Math.max(sent, from);
    if (to > a) {
      const loads = this.loadTime(a, to);
      this.charge(g, KEY_LOAD, loads);
      this.charge(g, UNKNOWN, to - a - loads);
    }
    a = Math.max(ready, from);
    if (sent > a) this.charge(g, CHANNEL, sent - a);
    if (g.left > 0) {
      if (u.synthStart === null) this.charge(g, SYNTHESIS, g.left);
      else this.beforeSynthesis(g, u);
    }
    return this.name(g);
  }

  // A gap that nothing ended: by what the engine was doing meanwhile.
  end(start, to) {
    const g = this.gap(start, to, null), drain = this.m.drain;
    let at = to, i = this.before(at);
    while (g.left > 0) {
      let s = [0, 0, 0, 0, 0], from = start;
      if (i >= 0) { s = this.state[i]; if (this.at[i] > from) from = this.at[i]; }
      if (drain !== null && drain > from && drain < at) from = drain;
      const [busy, waiting, channel, memory, loads] = s;
      let c = NO_JOB;
      if (drain !== null && from >= drain && waiting === 0 && busy === 0) c = DRAINED;
      else if (loads > 0) c = KEY_LOAD;
      else if (channel > 0) c = UNKNOWN;
      else if (memory > 0) c = MEMORY;
      else if (busy >= this.workers && busy > 0) c = SYNTHESIS;
      else if (waiting > 0) c = UNKNOWN;
      this.charge(g, c, at - from);
      at = from;
      if (i >= 0 && this.at[i] >= at) i--;
      if (at <= start) break;
    }
    this.charge(g, UNKNOWN, g.left);
    return this.name(g);
  }
}

const api = {Model, CAUSES, parseLine, clean};
if (typeof module === 'object' && module.exports) module.exports = api;
else root.cuzkModel = api;
})(typeof globalThis === 'object' ? globalThis : this);
