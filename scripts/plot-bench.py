#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Draws bench rows as one SVG: a panel a kernel, size against time per element, a line a processor level and thread count.

    make bench-scaling
    scripts/plot-bench.py build/bench/rows/scaling.jsonl --panels msm_g1 msm_g2 ntt_forward > kernels.svg

The dotted line is the limit of the best level on one thread, where rows have one. Both axes are logarithmic. A row is what bench/bench.h prints; "level" is the processor level, where it is given. Time
per element and not per call, so that a kernel whose cost is linear is a level line, and what it is not can be seen.
"""
import argparse
import json
import math
import sys
from xml.sax.saxutils import escape

COLOURS = {"": "#3b6fb6", "portable": "#7a7f87", "avx2": "#c77d0a", "ifma": "#0b7a75"}  # levels, the best last
WIDTH, PANEL_W, PANEL_H, LEFT, TOP, GAP_X, GAP_Y = 960, 360, 190, 78, 74, 110, 84


def read(paths):
    """Rows as (kernel, level, threads, n, time for one), and limits as {(kernel, level): {n: time for one}}."""
    rows, limits = [], {}
    for path in paths:
        with (sys.stdin if path == "-" else open(path, encoding="utf-8")) as f:
            for number, line in enumerate(f, 1):
                if not line.startswith("{"):
                    continue
                try:
                    row = json.loads(line)
                    if row["bench"] in ("host", "machine") or "peer" in row:
                        continue
                    rows.append((row["bench"], row.get("level", ""), row["threads"], row["n"], row["ns"] / row["n"]))
                    if row["threads"] == 1 and "limit_ns" in row:
                        limits.setdefault((row["bench"], row["level"]), {})[row["n"]] = row["limit_ns"] / row["n"]
                except (ValueError, KeyError, ZeroDivisionError) as e:
                    sys.exit(f"{path}:{number}: not a bench row: {e}")
    return rows, limits


def time_text(ns):
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= unit:
            return f"{ns / unit:g} {name}"
    return f"{ns:g} ns"


def ticks(low, high):
    """1, 2 and 5 times powers of ten in the range."""
    out = []
    for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        out += [m * 10.0**e for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    return out


def panel(name, rows, limit, x0, y0):
    sizes = sorted({n for _, _, n, _ in rows})
    times = [t for _, _, _, t in rows] + [*limit.values()]
    x_low, x_high = math.log2(sizes[0]), max(math.log2(sizes[-1]), math.log2(sizes[0]) + 1)
    y_low, y_high = math.log10(min(times) / 1.25), math.log10(max(times) * 1.25)

    def x(n):
        return x0 + (math.log2(n) - x_low) / (x_high - x_low) * PANEL_W

    def y(t):
        return y0 + PANEL_H - (math.log10(t) - y_low) / (y_high - y_low) * PANEL_H

    out = [f'<text class="h" x="{x0}" y="{y0 - 12}">{escape(name)}</text>']
    for t in ticks(10**y_low, 10**y_high):
        out.append(f'<path class="g" d="M{x0} {y(t):.1f}h{PANEL_W}"/>')
        out.append(f'<text x="{x0 - 8}" y="{y(t) + 4:.1f}" text-anchor="end">{time_text(t)}</text>')
    for n in sizes:
        label = f'2<tspan dy="-5" font-size="9">{round(math.log2(n))}</tspan>'
        out.append(f'<text x="{x(n):.1f}" y="{y0 + PANEL_H + 20}" text-anchor="middle">{label}</text>')
    if limit:
        path = "M" + "L".join(f"{x(n):.1f} {y(t):.1f}" for n, t in sorted(limit.items()))
        out.append(f'<path class="k" d="{path}" fill="none" stroke-dasharray="1 4"><title>limit</title></path>')
    for level, threads in sorted({(r[0], r[1]) for r in rows}):
        points = sorted((r[2], r[3]) for r in rows if r[:2] == (level, threads))
        colour = COLOURS.get(level, COLOURS[""])
        dash = "" if threads == 1 else ' stroke-dasharray="5 4"'
        path = "M" + "L".join(f"{x(n):.1f} {y(t):.1f}" for n, t in points)
        out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        for n, t in points:
            title = f"{level or 'this level'}, {threads} thread{'s' if threads > 1 else ''}, n = {n}: {t:.1f} ns each"
            out.append(f'<circle cx="{x(n):.1f}" cy="{y(t):.1f}" r="3" fill="{colour}"><title>{title}</title></circle>')
    return out


def legend(rows):
    out, at = [], LEFT
    for level in [level for level in COLOURS if any(r[1] == level for r in rows)]:
        out.append(f'<path d="M{at} 26h26" stroke="{COLOURS[level]}" stroke-width="3"/>')
        out.append(f'<text x="{at + 34}" y="30">{level or "level in use"}</text>')
        at += 130
    for threads in sorted({r[2] for r in rows}):
        dash = "" if threads == 1 else ' stroke-dasharray="5 4"'
        out.append(f'<path class="k" d="M{at} 26h26"{dash}/>')
        out.append(f'<text x="{at + 34}" y="30">{threads} thread{"s" if threads > 1 else ""}</text>')
        at += 120
    out.append(f'<path class="k" d="M{at} 26h26" stroke-dasharray="1 4"/><text x="{at + 34}" y="30">limit</text>')
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="+", help="files of bench rows; - is standard input")
    parser.add_argument("--panels", nargs="*", help="kernels to draw, in order; all by default")
    args = parser.parse_args()
    rows, limits = read(args.rows)
    names = args.panels or sorted({r[0] for r in rows})
    missing = [n for n in names if not any(r[0] == n for r in rows)]
    if missing or not names:
        sys.exit(f"no rows of: {', '.join(missing) or 'anything'}")
    lines = math.ceil(len(names) / 2)
    height = TOP + lines * (PANEL_H + GAP_Y)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="system-ui, sans-serif" font-size="12">',
        "<style>text{fill:#30343a}.h{font-size:14px;font-weight:600}.g{stroke:#d9dce0}.k{stroke:#30343a;stroke-width:2}"
        "@media(prefers-color-scheme:dark){svg{background:#15181c}text{fill:#d5d9de}.g{stroke:#343a41}.k{stroke:#d5d9de}}"
        "</style>",
        *legend([r for r in rows if r[0] in names]),
        f'<text x="{LEFT}" y="50">time for one element, by the number of elements</text>',
    ]
    for i, name in enumerate(names):
        x0, y0 = LEFT + (i % 2) * (PANEL_W + GAP_X), TOP + 24 + (i // 2) * (PANEL_H + GAP_Y)
        best = max((r[1] for r in rows if r[0] == name), key=list(COLOURS).index)
        out += panel(name, [r[1:] for r in rows if r[0] == name], limits.get((name, best), {}), x0, y0)
    print("\n".join([*out, "</svg>"]))


if __name__ == "__main__":
    main()
