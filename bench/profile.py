#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Where the processor time of a whole proof goes, by function, as a table.

    bench/profile.py                      `cuzk prove` of the bundled sector, under perf
    bench/profile.py --count BENCH ARGS   instructions of one bench by function, under callgrind

perf samples the clock (cpu-clock, a thousand times a second and thread), which needs no hardware counters: virtual machines
seldom have them. CUZK_CPU chooses the processor level. callgrind knows neither ADX nor AVX-512 IFMA, so what it counts is
portable code. Static functions of one name are told apart by their file. Needs perf (linux-perf) or valgrind; exit code
2 without. The first also leaves its table in build/bench/rows, for scripts/bench-tables.py.
"""
import argparse
import bisect
import os
import re
import shutil
import subprocess
import sys

CASE = "tests/vectors/cases/porep-2k-a/c1.json"


def need(program):
    if shutil.which(program) is None:
        print(f"profile: there is no {program}", file=sys.stderr)
        sys.exit(2)


def output(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Symbols:
    """Functions of a program by address, local ones with the file they are from."""

    def __init__(self, path):
        found, file = [], ""
        for line in output(["readelf", "-sW", path]).splitlines():
            cells = line.split()
            if len(cells) < 8 or not cells[0].endswith(":"):
                continue
            if cells[3] == "FILE":
                # Functions hidden from other programs come behind the last file, which is the linker's own.
                file = cells[7] if cells[7] != "crtstuff.c" else ""
            elif cells[3] == "FUNC" and cells[6] != "UND":
                found.append((int(cells[1], 16), cells[7], file))
        self.found = sorted(found)
        self.starts = [f[0] for f in self.found]

    def name(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return self.found[i][1:] if i >= 0 else ("?", "")


def sample(args):
    """Samples by (function, file) of a proof; and its table of stages."""
    need("perf")
    data = f"{args.out}/perf.data"
    program = os.path.realpath(f"{args.build}/cuzk")
    stages = subprocess.run(
        ["perf", "record", "-q", "-e", "cpu-clock", "-F", "1000", "-o", data, "--", program, "prove", "--kind", "porep",
         "--c1", CASE, "--params", args.params, "--out", f"{args.out}/proof"], check=True, capture_output=True, text=True).stderr
    symbols, counts, base = Symbols(program), {}, 0
    script = output(["perf", "script", "-i", data, "-F", "ip,sym,dso", "--show-mmap-events"])
    for line in script.splitlines():
        mapped = re.search(r"PERF_RECORD_MMAP2? .*: \[0x([0-9a-f]+)\(0x[0-9a-f]+\) @ (0x[0-9a-f]+|0) .*: r-xp (.*)$", line)
        if mapped:
            if mapped.group(3) == program:
                base = int(mapped.group(1), 16) - int(mapped.group(2), 16)
            continue
        hit = re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line)
        if hit is None:
            continue
        if hit.group(3) == program:
            key = symbols.name(int(hit.group(1), 16) - base)
        else:
            where = os.path.basename(hit.group(3)).strip("[]")
            key = (hit.group(2).split("+")[0], "kernel" if "kernel" in where else where)
        counts[key] = counts.get(key, 0) + 1
    return counts, stages


def count(args):
    """Instructions by (function, file)."""
    need("valgrind")
    bench, *rest = args.count
    data = f"{args.out}/callgrind"
    subprocess.run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={data}", f"{args.build}/bench/{bench}", *rest],
                   check=True, stdout=subprocess.DEVNULL)
    counts = {}
    for line in output(["callgrind_annotate", "--threshold=99", data]).splitlines():
        hit = re.match(r"\s*([0-9,]+) \(\s*[0-9.]+%\)\s+(?:(.*):)?([A-Za-z_][\w.']*)", line)
        if hit and hit.group(3) != "PROGRAM":
            key = (hit.group(3), os.path.basename(hit.group(2) or "").replace("???", ""))
            counts[key] = counts.get(key, 0) + int(hit.group(1).replace(",", ""))
    return counts


def table(counts, what, least):
    total = sum(counts.values())
    rest = total
    out = [f"| {what} | function | of |", "| ---: | :--- | :--- |"]
    for (name, file), n in sorted(counts.items(), key=lambda item: -item[1]):
        if n < least * total:
            break
        rest -= n
        out.append(f"| {100 * n / total:.1f} % | `{name}` | {file} |")
    return "\n".join([*out, f"| {100 * rest / total:.1f} % | all others | |"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.environ.get("BUILD", "build"))
    parser.add_argument("--params", default=os.environ.get("CUZK_PARAMS_DIR", ".cache/params"))
    parser.add_argument("--least", type=float, default=0.005, help="share below which functions are summed up (0.005)")
    parser.add_argument("--count", nargs=argparse.REMAINDER, metavar="BENCH ARGS")
    args = parser.parse_args()
    args.out = f"{args.build}/bench/profile"
    os.makedirs(args.out, exist_ok=True)
    if args.count is not None:
        if not args.count:
            parser.error("--count takes a bench")
        print(table(count(args), f"instructions of {args.count[0]}", args.least))
        return
    counts, stages = sample(args)
    text = table(counts, "processor time", args.least)
    os.makedirs(f"{args.build}/bench/rows", exist_ok=True)
    with open(f"{args.build}/bench/rows/profile.md", "w", encoding="utf-8") as f:
        print(text, file=f)
    print(f"{text}\n\n{sum(counts.values())} samples of a millisecond of processor time\n\n{stages}")


if __name__ == "__main__":
    main()
