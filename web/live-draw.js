// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The lanes of the live page on a canvas: what to draw where, and what lies under the pointer. Knows the model's shapes
// and no network.
'use strict';
(function (root) {

const {Model, CAUSES, clean} = root.cuzkModel;
const PALETTE = ['#4477aa', '#ee6677', '#228833', '#ccbb44', '#66ccee', '#aa3377', '#e69f00', '#0072b2', '#cc6677', '#44aa99', '#999933', '#882255'];
const CAUSE_RGB = ['#d55e00', '#7b61a8', '#8c6d31', '#b22222', '#2f7f86', '#777777', '#aaaaaa'];
const KEY_RGB = {key: '#2f7f86', pce: '#8c6d31'};
const LANE = 30, BAR = 22, TOP = 24, RIGHT = 6;

function colour(job) { return PALETTE[job.number % PALETTE.length]; }
// Dark text on the light colours of the palette.
function ink(rgb) {
  const v = parseInt(rgb.slice(1), 16);
  return 0.299 * (v >> 16) + 0.587 * (v >> 8 & 255) + 0.114 * (v & 255) > 150 ? '#14181d' : '#ffffff';
}
function seconds(us) {
  if (us === null || !isFinite(us)) return '\u2013';
  const s = us / 1e6;
  return s < 0.001 ? Math.round(us) + ' \u00b5s' : s < 1 ? (s * 1e3).toFixed(s < 0.01 ? 2 : s < 0.1 ? 1 : 0) + ' ms' : s < 100 ? s.toFixed(s < 10 ? 2 : 1) + ' s'
    : s < 7200 ? Math.floor(s / 60) + ' min ' + Math.floor(s % 60) + ' s' : s < 172800 ? Math.floor(s / 3600) + ' h ' + Math.floor(s % 3600 / 60) + ' min'
    : Math.floor(s / 86400) + ' d ' + Math.floor(s % 86400 / 3600) + ' h';
}

class Lanes {
  constructor(canvas) {
    this.canvas = canvas;
    this.ctx = canvas.getContext('2d');
    this.rows = [];     // {label, items: [{from, to, ...}], gaps}
    this.view = [0, 1]; // microseconds
    this.hot = null;
    this.hatches = null;
    this.colours = null;
    this.wallEpoch = null; // milliseconds of Date at the timeline's epoch
  }

  restyle() { this.colours = null; this.hatches = null; }
  left() { return this.canvas.clientWidth < 560 ? 62 : 96; }
  plot() { return Math.max(this.canvas.clientWidth - this.left() - RIGHT, 10); }
  x(us) { return this.left() + (us - this.view[0]) / (this.view[1] - this.view[0]) * this.plot(); }
  at(px) { return this.view[0] + (px - this.left()) / this.plot() * (this.view[1] - this.view[0]); }

  // What the rows show, from the model; `usage` may be a little older than `view` and lacks nothing but its last gap.
  arrange(model, usage, view, now) {
    this.view = view;
    this.now = now;
    const lanes = model.lanes(view[0], Math.min(view[1], now)), narrow = this.canvas.clientWidth < 560;
    this.rows = lanes.devices.map(d => ({
      label: (narrow ? 'dev ' : 'device ') + d.id, kind: 'device', bad: !d.healthy,
      items: d.runs.map(u => ({unit: u, from: u.gpuStart, to: Model.gpuEnd(u, now), open: u.gpuEnd === null && u.gpuOver === null})),
      gaps: (usage.find(x => x.id === d.id) || {gaps: []}).gaps,
    })).concat(lanes.synthesis.map(s => ({
      label: (narrow ? 'synth ' : 'synthesis ') + s.id, kind: 'synthesis',
      items: s.runs.map(u => ({unit: u, from: u.synthStart, to: Model.synthEnd(u, now), open: u.synthEnd === null && u.synthOver === null})),
      gaps: [],
    })));
    if (lanes.keys.length > 0)
      this.rows.push({label: 'keys', kind: 'keys', gaps: [],
                      items: lanes.keys.map(s => ({span: s, from: s.from, to: s.to === null ? now : s.to, open: s.to === null}))});
  }

  style() {
    if (this.colours) return this.colours;
    const css = getComputedStyle(document.documentElement), get = n => css.getPropertyValue(n).trim();
    return this.colours = {card: get('--card'), fg: get('--fg'), dim: get('--dim'), line: get('--line'), lane: get('--lane'), hot: get('--hot')};
  }
  hatch(rgb) {
    const p = document.createElement('canvas'), r = root.devicePixelRatio || 1;
    p.width = p.height = Math.round(8 * r);
    const g = p.getContext('2d');
    g.fillStyle = rgb + '26'; g.fillRect(0, 0, p.width, p.height);
    g.strokeStyle = rgb + 'cc'; g.lineWidth = 1.4 * r;
    g.beginPath();
    for (const o of [-8, 0, 8]) { g.moveTo((o - 1) * r, 9 * r); g.lineTo((o + 9) * r, -r); }
    g.stroke();
    const pattern = this.ctx.createPattern(p, 'repeat');
    pattern.setTransform(new DOMMatrix().scale(1 / r));
    return pattern;
  }

  draw() {
    const c = this.canvas, ctx = this.ctx, r = root.devicePixelRatio || 1, s = this.style();
    const w = c.clientWidth, h = TOP + Math.max(this.rows.length, 1) * LANE + 4;
    if (this.height !== h) { c.style.height = h + 'px'; this.height = h; }
    if (c.width !== Math.round(w * r) || c.height !== Math.round(h * r)) { c.width = Math.round(w * r); c.height = Math.round(h * r); this.hatches = null; }
    if (!this.hatches) this.hatches = CAUSE_RGB.map(rgb => this.hatch(rgb));
    ctx.setTransform(r, 0, 0, r, 0, 0);
    ctx.fillStyle = s.card; ctx.fillRect(0, 0, w, h);
    ctx.font = '13px system-ui, "DejaVu Sans", Helvetica, Arial, sans-serif';
    ctx.textBaseline = 'middle';
    this.axis(ctx, s, w, h);
    this.rows.forEach((row, i) => this.row(ctx, s, row, TOP + i * LANE + (LANE - BAR) / 2));
    if (this.rows.length === 0) { ctx.fillStyle = s.dim; ctx.textAlign = 'left'; ctx.fillText('no lanes yet: nothing was recorded', 10, TOP + LANE / 2); }
    if (this.now >= this.view[0] && this.now <= this.view[1]) {
      const px = Math.round(this.x(this.now)) - 0.5;
      ctx.strokeStyle = s.hot; ctx.beginPath(); ctx.moveTo(px, TOP - 4); ctx.lineTo(px, h - 2); ctx.stroke();
    }
  }

  axis(ctx, s, w, h) {
    const len = (this.view[1] - this.view[0]) / 1e6, n = Math.max(this.plot() / 85, 2);
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 3600].find(x => len / x <= n) || 7200;
    ctx.textAlign = 'center';
    const a = this.view[0] / 1e6, shift = this.wallEpoch === null ? 0 : this.wallEpoch / 1e3 - new Date(this.wallEpoch).getTimezoneOffset() * 60;
    for (let t = Math.ceil((a + shift) / step) * step; t <= a + shift + len; t += step) {
      const us = (t - shift) * 1e6, px = Math.round(this.x(us)) + 0.5;
      if (px < this.left()) continue;
      ctx.strokeStyle = s.line; ctx.beginPath(); ctx.moveTo(px, TOP - 5); ctx.lineTo(px, h - 2); ctx.stroke();
      const text = this.clock(us, step), half = ctx.measureText(text).width / 2;
      if (px + half > w) continue;
      ctx.fillStyle = s.dim; ctx.fillText(text, Math.max(px, this.left() + half), 10);
    }
  }

  // Wall time of an event where the log has it, else seconds since the epoch.
  clock(us, step) {
    if (this.wallEpoch === null) return (us / 1e6).toFixed(step < 1 ? 1 : 0) + ' s';
    const d = new Date(this.wallEpoch + us / 1e3), two = n => String(n).padStart(2, '0');
    return two(d.getHours()) + ':' + two(d.getMinutes()) + (step < 60 ? ':' + two(d.getSeconds()) : '') + (step < 1 ? '.' + Math.floor(d.getMilliseconds() / 100) : '');
  }

  row(ctx, s, row, y) {
    const left = this.left(), plot = this.plot();
    ctx.textAlign = 'left';
    ctx.fillStyle = s.lane; ctx.fillRect(left, y, plot, BAR);
    ctx.save(); ctx.beginPath(); ctx.rect(left, y - 1, plot, BAR + 2); ctx.clip();
    for (const g of row.gaps) {
      const a = this.x(g.from), b = this.x(g.open ? this.now : g.to);
      if (b < left || a > left + plot || b - a < 0.5) continue;
      ctx.fillStyle = this.hatches[g.cause]; ctx.fillRect(a, y, b - a, BAR);
      this.label(ctx, CAUSES[g.cause], a, b, y, s.fg, s.lane, true);
      if (this.hot && this.hot.gap && this.hot.gap.from === g.from && this.hot.row === row.label) this.outline(ctx, s, a, b, y);
    }
    let drawn = -1;
    for (const it of row.items) {
      if (it.to < this.view[0] || it.from > this.view[1]) continue;
      const a = this.x(it.from), b = Math.max(this.x(it.to), a + 0.8);
      if (b < drawn + 0.4) continue; // less than half a pixel behind what is there
      drawn = b;
      const rgb = it.unit ? colour(it.unit.job) : KEY_RGB[it.span.kind] || '#888888';
      ctx.fillStyle = rgb; ctx.fillRect(a, y, b - a, BAR);
      if (b - a > 3) { ctx.fillStyle = s.card; ctx.fillRect(b - 1, y, 1, BAR); }
      if (it.unit && it.unit.cut) { ctx.fillStyle = s.hot; ctx.fillRect(a, y + BAR - 3, b - a, 3); }
      this.label(ctx, this.short(it), a, b, y, ink(rgb), null, false);
      if (this.hot && this.hot.item && this.hot.item.from === it.from && this.hot.item.unit === it.unit && this.hot.row === row.label) this.outline(ctx, s, a, b, y);
    }
    ctx.restore();
    ctx.fillStyle = row.bad ? s.hot : s.fg;
    ctx.fillText((row.bad ? '! ' : '') + row.label, 2, y + BAR / 2 + 1);
  }

  outline(ctx, s, a, b, y) {
    ctx.strokeStyle = s.fg; ctx.lineWidth = 2; ctx.strokeRect(a + 1, y + 1, Math.max(b - a - 2, 1), BAR - 2); ctx.lineWidth = 1;
  }

  // The text if it fits into what is visible of the bar, else nothing; a list of texts: the longest that fits.
  label(ctx, text, a, b, y, fg, bg, centre) {
    const va = Math.max(a, this.left()), vb = Math.min(b, this.left() + this.plot());
    if (vb - va < 18) return;
    for (const t of Array.isArray(text) ? text : [text]) {
      const w = ctx.measureText(t).width;
      if (w > vb - va - 10) continue;
      const x = centre ? (va + vb) / 2 - w / 2 : va + 5;
      if (bg) { ctx.fillStyle = bg; ctx.fillRect(x - 4, y + 3, w + 8, BAR - 6); }
      ctx.fillStyle = fg; ctx.fillText(t, x, y + BAR / 2 + 1);
      return;
    }
  }
  short(it) {
    if (it.span) return [clean(it.span.name ? 'key ' + it.span.name : it.span.kind), it.span.kind];
    const u = it.unit, id = clean(u.job.id), part = u.partition < 0 ? '' : u.count > 1 ? ' #' + u.partition + '\u2013' + (u.partition + u.count - 1) : ' #' + u.partition;
    return [id + part, id.slice(0, 10) + part, part.trim() || id.slice(0, 4)];
  }

  // What lies at a point of the canvas: {row, item} or {row, gap}, or null.
  find(px, py) {
    const row = this.rows[Math.floor((py - TOP) / LANE)];
    if (!row || py < TOP || px < this.left()) return null;
    const us = this.at(px), slack = (this.view[1] - this.view[0]) / this.plot() * 2;
    for (let i = row.items.length - 1; i >= 0; i--)
      if (row.items[i].from - slack <= us && row.items[i].to + slack >= us) return {row: row.label, item: row.items[i]};
    for (const g of row.gaps) if (g.from <= us && us <= (g.open ? this.now : g.to)) return {row: row.label, gap: g};
    return null;
  }

  // From `hot` to the next bar or gap: dx along the lane, dy to another lane.
  walk(hot, dx, dy) {
    if (this.rows.length === 0) return null;
    const of = row => row.items.map(item => ({row: row.label, item})).concat(row.gaps.map(gap => ({row: row.label, gap})))
      .filter(f => { const s = f.item || f.gap; return s.to >= this.view[0] && s.from <= this.view[1]; })
      .sort((a, b) => (a.item || a.gap).from - (b.item || b.gap).from);
    let r = hot ? this.rows.findIndex(x => x.label === hot.row) : -1;
    if (r < 0) { const all = of(this.rows[0]); return all[all.length - 1] || null; }
    const at = (hot.item || hot.gap).from;
    if (dy) {
      r = Math.min(Math.max(r + dy, 0), this.rows.length - 1);
      const list = of(this.rows[r]);
      return list.length ? list.reduce((a, b) => Math.abs((b.item || b.gap).from - at) < Math.abs((a.item || a.gap).from - at) ? b : a) : hot;
    }
    const list = of(this.rows[r]), next = dx > 0 ? list.find(f => (f.item || f.gap).from > at) : list.filter(f => (f.item || f.gap).from < at).pop();
    return next || hot;
  }

  describe(f) {
    if (!f) return [];
    if (f.gap) {
      const g = f.gap, to = g.open ? this.now : g.to, lines = [f.row + ' idle for ' + seconds(to - g.from) + ': ' + CAUSES[g.cause]];
      const parts = g.shares.map((us, c) => [us, c]).filter(p => p[0] > 0).sort((a, b) => b[0] - a[0]);
      if (parts.length > 1) lines.push(parts.map(p => CAUSES[p[1]] + ' ' + seconds(p[0])).join(', '));
      if (g.unit) lines.push('ended by ' + clean(g.unit.job.id) + (g.unit.partition >= 0 ? ' #' + g.unit.partition : ''));
      return lines;
    }
    if (f.item.span) return [(f.item.span.kind === 'pce' ? 'circuit program ' : 'key ') + clean(f.item.span.name), 'loaded in ' + seconds(f.item.to - f.item.from) + (f.item.open ? ' so far' : '')];
    const u = f.item.unit, lines = [clean(u.job.id) + (u.partition >= 0 ? ', partition ' + u.partition : '') + (u.count > 1 ? ' and ' + (u.count - 1) + ' more' : '')];
    lines.push(f.row + ': ' + seconds(f.item.to - f.item.from) + (f.item.open ? ' so far' : '') + ', from ' + this.clock(f.item.from, 1));
    const wait = (a, b) => a !== null && b !== null && b > a ? seconds(b - a) : null;
    const more = [['synthesis', wait(u.synthStart, u.synthEnd)], ['waited for the device', wait(u.synthEnd, u.gpuStart)], ['device', wait(u.gpuStart, u.gpuEnd)],
      ['verify', wait(u.verifyFrom, u.verifyTo)], ['waited for memory', wait(u.memFrom, u.memTo)]].filter(p => p[1]);
    if (more.length > 0) lines.push(more.map(p => p.join(' ')).join(', '));
    if (u.stages.length > 0) lines.push(u.stages.map(s => clean(s.name) + ' ' + seconds((s.to === null ? this.now : s.to) - s.from)).join(', '));
    if (u.again) lines.push('tried again');
    if (u.cut) lines.push('ended by the end of the job: ' + u.job.how + (u.job.reason ? ' (' + clean(u.job.reason) + ')' : ''));
    if (u.ok === false) lines.push('the proof did not verify');
    return lines;
  }
}

root.cuzkDraw = {Lanes, CAUSE_RGB, colour, seconds};
})(globalThis);
