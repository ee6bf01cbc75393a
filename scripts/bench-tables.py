#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes tables of bench rows, and puts them where a document has a place for them.

    scripts/bench-tables.py build/bench/rows/*                              # all tables, Markdown
    scripts/bench-tables.py build/bench/rows/* --ratios                     # {"ratio": ...} rows: peers / ours
    scripts/bench-tables.py build/bench/rows/* --write docs/performance.md  # into the document

A place is what stands between the lines "<!-- bench:NAME -->" and "<!-- /bench:NAME -->". A table whose rows are not all
there leaves its place as it is. Rows are what bench/bench.h and bench/whole_proof.py print; of equal ones the first counts.
Files NAME.md among them are tables already (bench/profile.py leaves one); other files are passed over.
"""
import argparse
import json
import os
import re
import sys

LEVELS = ("portable", "avx2", "ifma")
# Kernels over arrays that a peer has for single elements.
SAME_AS = {"fp_vec_mul": "fp_mul", "fr_vec_mul": "fr_mul", "fr_vec_add": "fr_add"}


class Missing(Exception):
    """A table lacks rows."""


class Rows:
    def __init__(self, paths):
        self.rows, self.hosts = {}, {}
        for path in paths:
            if not path.endswith(".jsonl"):
                continue
            with open(path, encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    if line.startswith("{"):
                        try:
                            self.take(json.loads(line))
                        except (ValueError, KeyError) as e:
                            sys.exit(f"{path}:{number}: not a bench row: {e}")

    def take(self, row):
        if row["bench"] in ("host", "machine"):
            self.hosts.setdefault(row["bench"], row)
            if row["bench"] == "machine":  # the best of each figure: others only take away, lower levels have none
                best = self.hosts["machine"]
                self.hosts["machine"] = {**row, **{k: max(v, best[k]) for k, v in row.items() if k != "bench"}}
            return
        who = row.get("peer") or row["level"]
        self.rows.setdefault((row["bench"], who, row["n"], row["threads"]), row)

    def find(self, name, who, n=1, threads=1):
        return self.rows.get((name, who, n, threads))

    def need(self, name, who, n=1, threads=1):
        row = self.find(name, who, n, threads)
        if row is None:
            raise Missing(f"{name} of {who}, n = {n}, {threads} threads")
        return row

    def keys(self, position, **fixed):
        """The values of one part of the keys that have the others as given, ascending."""
        names = ("name", "who", "n", "threads")
        return sorted({key[names.index(position)] for key in self.rows
                       if all(key[names.index(k)] == v for k, v in fixed.items())})


def cost(row):
    """Processor time where there is one: others' use of the machine does not count."""
    return row.get("cpu_ns", row["ns"])


def number(x):
    if x >= 1000:
        return f"{x:,.0f}"
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def time_text(ns, digits=3):
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= unit:
            return f"{ns / unit:.{digits}g} {name}"
    return f"{ns:.{digits}g} ns"


def seconds(row):
    """Median, and the spread of more than one run."""
    if row["runs"] < 2:
        return f"{row['ns'] / 1e9:.1f}"
    return f"{row['ns'] / 1e9:.1f} ({row['min_ns'] / 1e9:.1f} to {row['max_ns'] / 1e9:.1f})"


def table(head, lines):
    align = [":---" if i == 0 else "---:" for i in range(len(head))]
    return ["| " + " | ".join(cells) + " |" for cells in (head, align, *lines)]


def power(n):
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n:,}"


def threads_of(rows, name):
    found = rows.keys("threads", name=name)
    if not found:
        raise Missing(name)
    return found[-1]


# --- Tables ---


def proof(rows):
    threads = threads_of(rows, "proof_cold")
    peers = {kind: rows.find(f"proof_{kind}", "official", 1, threads) for kind in ("cold", "warm")}
    lines = []
    for who in ("official", *LEVELS):
        cold, warm = (rows.find(f"proof_{kind}", who, 1, threads) for kind in ("cold", "warm"))
        if cold is None:
            if who == "official":
                raise Missing("the official prover")
            continue
        name = {"official": "official (bellperson, blst)", "ifma": "cuzk, AVX-512 IFMA", "avx2": "cuzk, AVX2 and FMA",
                "portable": "cuzk, portable C"}[who]
        cells = [name, seconds(cold), seconds(warm) if warm else ""]
        for mine, peer in ((cold, peers["cold"]), (warm, peers["warm"])):
            cells.append(f"**{peer['ns'] / mine['ns']:.1f}**" if mine and peer and who != "official" else "")
        cells += [f"{cold['cpu_ns'] / 1e9:.1f}", f"{cold['rss_bytes'] / 2**30:.2f}"]
        lines.append(cells)
    return table(["prover", "cold, s", "warm, s", "official / ours, cold", "warm", "processor time, s", "peak, GiB"], lines)


def synthesis(rows):
    threads = threads_of(rows, "synthesis")
    official = rows.need("synthesis", "official", 1, threads)
    lines = [["official: witness and A·w, B·w, C·w", f"{official['ns'] / 1e6:,.0f}", ""]]
    best = [level for level in LEVELS if rows.find("synthesis", level, 1, threads)][-1]
    for name, text in (("synthesis", "ours: program, witness and A·w, B·w, C·w"),
                       ("synthesis_witness", "ours: program and witness")):
        row = rows.need(name, best, 1, threads)
        lines.append([text, f"{row['ns'] / 1e6:,.0f}", f"{official['ns'] / row['ns']:.1f}"])
    return table(["what", "ms", "official / ours"], lines)


def stages(rows):
    threads = threads_of(rows, "proof_cold")
    levels = [level for level in LEVELS if rows.find("proof_cold", level, 1, threads)]
    names = [key[0] for key in rows.rows if key[0].startswith("stage_") and key[1] == levels[-1]]
    if not names:
        raise Missing("stages")
    lines = []
    for name in names:
        times = [rows.find(name, level, 1, threads) for level in levels]
        if max(t["ns"] if t else 0 for t in times) >= 1e6:
            lines.append([name.removeprefix("stage_"), *(f"{t['ns'] / 1e6:,.0f}" if t else "" for t in times)])
    return table(["stage, ms", *levels], lines)


def field(rows):
    lines = []
    for name in dict.fromkeys(key[0] for key in rows.rows if key[1] == "blst" and key[2] == 1):
        mine, peer = rows.need(name, "ifma"), rows.need(name, "blst")
        lines.append(field_line(name, mine, 1, peer))
    for name, single in SAME_AS.items():
        for level in reversed(LEVELS):
            for n in rows.keys("n", name=name, who=level):
                lines.append(field_line(f"{name}, {level}", rows.need(name, level, n), n, rows.need(single, "blst")))
    if not lines:
        raise Missing("blst")
    return table(["one operation", "ns", "cycles", "of the limit", "blst, ns", "blst / ours"], lines)


def field_line(name, mine, n, peer):
    share = f"{mine['share'] * 100:.0f} %" if "share" in mine else ""
    return [name, number(cost(mine) / n), number(mine["cycles"] / n), share, number(cost(peer)),
            f"{cost(peer) * n / cost(mine):.2f}"]


def by_size(rows, kernels, peer=None):
    """A line a kernel and size: time at each level on one thread, cycles and share at the best, two threads, peer."""
    lines = []
    for name, text in kernels:
        sizes = [n for n in rows.keys("n", name=name) if n >= 1 << 16]
        if not sizes:
            raise Missing(name)
        for n in sizes:
            found = {level: rows.find(name, level, n) for level in LEVELS}
            best = next((found[level] for level in reversed(LEVELS) if found[level]), None)
            if best is None:
                continue
            cells = [text, power(n)]
            cells += [number(cost(r) / 1e6) if r else "" for r in found.values()]
            cells += [number(best["cycles"] / n), f"{best['share'] * 100:.0f} %" if "share" in best else ""]
            many = max(rows.keys("threads", name=name, who=best["level"], n=n))
            row = rows.need(name, best["level"], n, many)
            cells.append(number(row["ns"] / 1e6) if many > 1 else "")
            if peer:
                theirs = rows.find(name, peer, n)
                cells += [number(cost(theirs) / 1e6), f"{cost(theirs) / cost(best):.1f}"] if theirs else ["", ""]
            lines.append(cells)
            text = ""
    head = ["ms", "n", *LEVELS, "cycles an element", "of the limit", "all threads, wall"]
    return table(head + ([peer, f"{peer} / ours"] if peer else []), lines)


def ntt(rows):
    return by_size(rows, (("ntt_forward", "one transform"), ("ntt_quotient", "quotient, six transforms")))


def msm(rows):
    return by_size(rows, (("msm_g1", "G1, random scalars"), ("msm_g2", "G2, random scalars"),
                          ("msm_g1_bits", "G1, 98 % bits"), ("msm_g2_bits", "G2, 98 % bits"),
                          ("msm_g1_sum_bits", "G1, sum over bits, half of them set")), "blst")


def additions(rows):
    lines = []
    for name, text in (("add_batch_g1", "G1, in a second-level cache"), ("add_batch_g2", "G2, the same"),
                       ("add_pairs_g1", "G1, points from memory"), ("add_pairs_g2", "G2, the same")):
        for n in rows.keys("n", name=name)[-1:]:
            found = [rows.find(name, level, n) for level in LEVELS]
            best = next(r for r in reversed(found) if r)
            lines.append([text, *(number(cost(r) / n) if r else "" for r in found), number(best["limit_ns"] / n),
                          f"{best['share'] * 100:.0f} %"])
    if not lines:
        raise Missing("add_batch_g1")
    for name, text in (("fixed_base_g1", "G1, a multiple of the generator by tables"), ("fixed_base_g2", "G2, the same")):
        found = [rows.find(name, level) for level in LEVELS]
        lines.append([text, *(number(cost(r)) if r else "" for r in found), "", ""])
    return table(["ns", *LEVELS, "limit", "share"], lines)


def evaluate(rows):
    lines = []
    for name, who, n, threads in sorted(rows.rows, key=lambda key: (key[2], key[3])):
        if name != "evaluate" or rows.find("evaluate_check", who, n, threads) is None:
            continue
        whole, check = (rows.need(one, who, n, threads) for one in ("evaluate", "evaluate_check"))
        memory = [rows.need(f"memory_{one}", who, rows.keys("n", name=f"memory_{one}")[-1], threads)
                  for one in ("fill", "copy", "triad")]
        speeds = [row["gbps"] for row in (whole, *memory)]
        lines.append([str(threads), f"{whole['cpu_ns'] / threads / 1e9:.2f}", f"{whole['cpu_ns'] / n:.1f}",
                      f"{whole['cycles'] / n:.0f}", *(f"{speed:.1f}" for speed in speeds),
                      f"{speeds[0] / speeds[1] * 100:.0f} %", f"{check['cpu_ns'] / threads / 1e9:.2f}"])
    if not lines:
        raise Missing("evaluate")
    return table(["threads", "evaluation, s", "ns a constraint", "cycles", "GB/s", "memory: fill, GB/s", "copy", "triad",
                  "of fill", "without storing, s"], lines)


def host(rows):
    if "host" not in rows.hosts or "machine" not in rows.hosts:
        raise Missing("host")
    h, m = rows.hosts["host"], rows.hosts["machine"]
    compiler = next((r["compiler"] for r in rows.rows.values() if "compiler" in r), "")
    vector = f", {m['fma_per_ns']:.2f} G multiply-adds of four doubles" if m.get("fma_per_ns", 0) > 0 else ""
    vector += f", {m['ifma_per_ns']:.2f} G 512-bit IFMA a second" if m["ifma_per_ns"] > 0 else ""
    return [f"{h['processors']} processors \"{h['processor']}\", {m['ghz']:.2f} GHz, {m['mul_per_ns']:.2f} G products of "
            f"64 bits{vector} a core, {compiler}, commit {h['commit']} of {h['date']}; load at the start {h['load']}."]


TABLES = {"host": host, "proof": proof, "synthesis": synthesis, "stages": stages, "ntt": ntt, "msm": msm,
          "additions": additions, "field": field, "evaluate": evaluate}


def ratios(rows):
    """Every row of a peer beside ours of the best level that has it."""
    for (name, who, n, threads), theirs in rows.rows.items():
        if "peer" not in theirs:
            continue
        pairs = [(name, n)] + [(many, size) for many, single in SAME_AS.items() if single == name
                               for size in rows.keys("n", name=many)]
        for ours, size in pairs:
            for level in LEVELS:
                mine = rows.find(ours, level, size, threads)
                if mine is None:
                    continue
                # Of whole proofs the wall time counts: that is what somebody waits for.
                a, b = (r["ns"] if who == "official" else cost(r) for r in (theirs, mine))
                print(json.dumps({"ratio": ours, "n": size, "threads": threads, "level": level, "peer": who,
                                  "ours_ns": b, "peer_ns": a * size / n, "peer_over_ours": round(a * size / n / b, 3)}))


def write(path, texts):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for name, lines in texts.items():
        place = re.compile(f"(<!-- bench:{name} -->\n).*?(<!-- /bench:{name} -->)", re.S)
        text, found = place.subn(lambda m, lines=lines: m.group(1) + "\n".join(lines) + "\n" + m.group(2), text)
        print(f"{path}: {name}: {'written' if found else 'no place for it'}", file=sys.stderr)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="+", help="files of rows")
    parser.add_argument("--ratios", action="store_true", help="print ratios to the peers as rows, no tables")
    parser.add_argument("--write", metavar="FILE", help="put the tables into this document")
    args = parser.parse_args()
    rows = Rows(args.rows)
    if args.ratios:
        ratios(rows)
        return
    texts = {}
    for name, make in TABLES.items():
        try:
            texts[name] = make(rows)
        except Missing as e:
            print(f"bench-tables: no table {name}: no rows of {e}", file=sys.stderr)
    for path in args.rows:
        if path.endswith(".md"):
            with open(path, encoding="utf-8") as f:
                texts[os.path.basename(path).removesuffix(".md")] = f.read().splitlines()
    if args.write:
        write(args.write, texts)
    else:
        print("\n\n".join("\n".join([f"<!-- bench:{name} -->", *lines]) for name, lines in texts.items()))


if __name__ == "__main__":
    main()
