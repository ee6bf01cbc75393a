#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The whole proof of the bundled 2 KiB sector, ours and, with ORACLE=PATH, the official prover's, in turn.

    ORACLE=path/to/oracle bench/whole_proof.py [--runs 2] [--levels ifma avx2 portable]

Rows as in bench.h, one JSON object a line; the official ones have "peer": "official". Like is compared with like:

  proof_cold   one proof of a process that has no key yet. Ours is a whole `cuzk prove`, from start to exit, file
               reading, check of the sector and verification included; the official one is seal_commit_phase2 alone, as
               the oracle times it, which verifies too. Key files are in the page cache for both.
  proof_warm   a later proof of a process that keeps its key: ours through a daemon (`cuzk bench`), as its client
               sees it; the official one is the second of one process.
  synthesis    official: what bellperson logs as "synthesis time" (RUST_LOG=info; the oracle must print its log), which
               computes the witness and A·w, B·w, C·w. Ours: the circuit's program, witness and evaluation, of a cold
               proof; synthesis_witness is that without the evaluation.
  stage_NAME   ours, of the cold proofs.

"cpu_ns" is the processor time of all threads of a proof, "rss_bytes" the peak of resident memory. --levels other than
the first are run once. The oracle is described in docs/interop.md.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

UNITS = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1.0}


def run(command, **env):
    """stdout, stderr, wall and processor seconds, peak resident bytes. Leaves if the command fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, env={**os.environ, **env})
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        out.seek(0), err.seek(0)
        texts = out.read().decode(), err.read().decode()
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"whole_proof: failed: {' '.join(command)}\n{texts[1]}")
    return *texts, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def levels_here():
    """Processor levels of this machine, the best one first (base/cpu.h)."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            flags = set(re.search(r"^flags\s*:(.*)$", f.read(), re.M).group(1).split())
    except (OSError, AttributeError):
        flags = set()
    levels = ["portable"]
    if {"avx2", "bmi2", "adx"} <= flags:
        levels.insert(0, "avx2")
        if {"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512ifma"} <= flags:
            levels.insert(0, "ifma")
    return levels


class Rows:
    """Times by name, level and prover; a row each when all are there."""

    def __init__(self, threads):
        self.threads, self.times, self.extra = threads, {}, {}

    def add(self, name, level, ns, **extra):
        key = (name, level)
        self.times.setdefault(key, []).append(ns)
        for field, value in extra.items():
            self.extra.setdefault(key, {}).setdefault(field, []).append(value)

    def print(self):
        for (name, level), times in self.times.items():
            who = {"peer": level} if level == "official" else {"level": level}
            extra = {k: statistics.median(v) for k, v in self.extra.get((name, level), {}).items()}
            row = {"bench": name, **who, "n": 1, "ns": statistics.median(times), "min_ns": min(times),
                   "max_ns": max(times), **extra, "threads": self.threads, "runs": len(times)}
            print(json.dumps({k: round(v) if isinstance(v, float) else v for k, v in row.items()}))


def ours_cold(rows, args, level):
    out, _, wall, cpu, rss = run(
        [args.cuzk, "prove", "--kind", "porep", "--c1", f"{args.case}/c1.json", "--params", args.params,
         "--out", args.out, "--json"], CUZK_CPU=level)
    report = json.loads(out)
    stages = {s["stage"]: s["ms"] * 1e6 for s in report["stages"]}
    rows.add("proof_cold", level, wall * 1e9, cpu_ns=cpu * 1e9, rss_bytes=rss)
    witness = stages.get("pce", stages.get("pce_load", 0)) + stages["synthesis"]
    rows.add("synthesis_witness", level, witness)
    rows.add("synthesis", level, witness + stages["evaluate"])
    for stage, ns in stages.items():
        rows.add(f"stage_{stage}", level, ns)


def ours_warm(rows, args, level):
    """Three proofs through a daemon: the first loads the key; of the other two, least and 95 % are both of them."""
    out, _, _, cpu, rss = run(
        [args.cuzk, "bench", "--kind", "porep", "--c1", f"{args.case}/c1.json", "--params", args.params, "-n", "3",
         "--json"], CUZK_CPU=level)
    report = json.loads(out)
    if report["failed"] or report["warm"]["proofs"] != 2:
        sys.exit(f"whole_proof: not one cold proof and two warm ones: {out}")
    for end in ("min", "p95"):
        rows.add("proof_warm", level, report["warm"]["seen_ms"][end] * 1e6, rss_bytes=rss)


def official(rows, args):
    """Two proofs of one process: the second finds the parameters in memory."""
    out, err, _, cpu, rss = run([args.oracle, "official-c2", args.case, "2"], RUST_LOG="info",
                                FIL_PROOFS_PARAMETER_CACHE=args.params)
    times = [float(t) * 1e9 for t in re.findall(r"^official c2 run \d+: ([0-9.]+) s", out, re.M)]
    synthesis = [float(t) * UNITS[u] for t, u in re.findall(r"synthesis time: ([0-9.]+)(s|ms|µs|ns)\b", out + err)]
    if len(times) != 2:
        sys.exit(f"whole_proof: the oracle did not time two proofs:\n{out}{err}")
    for name, ns in zip(("cold", "warm"), times):
        rows.add(f"proof_{name}", "official", ns, cpu_ns=cpu / 2 * 1e9, rss_bytes=rss)
    for ns in synthesis:
        rows.add("synthesis", "official", ns)
    if len(synthesis) != 2:
        print("whole_proof: no synthesis times: this oracle does not print bellperson's log", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cuzk", default="build/cuzk")
    parser.add_argument("--oracle", default=os.environ.get("ORACLE"))
    parser.add_argument("--params", default=os.environ.get("CUZK_PARAMS_DIR", ".cache/params"))
    parser.add_argument("--case", default="tests/vectors/cases/porep-2k-a")
    parser.add_argument("--runs", type=int, default=2, help="turns, each a cold and two warm proofs, official: one")
    parser.add_argument("--levels", nargs="+", default=levels_here())
    args = parser.parse_args()
    rows = Rows(len(os.sched_getaffinity(0)))
    with tempfile.TemporaryDirectory() as folder:
        args.out = f"{folder}/proof"
        # Not counted: puts the key's file into the page cache, and leaves the receipt of the key's check beside it.
        ours_cold(Rows(0), args, args.levels[0])
        for _ in range(args.runs):
            if args.oracle:
                official(rows, args)
            ours_cold(rows, args, args.levels[0])
            ours_warm(rows, args, args.levels[0])
        for level in args.levels[1:]:
            ours_cold(rows, args, level)
    rows.print()


if __name__ == "__main__":
    main()
