#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Rows become tables: peers are divided by ours, a table goes to its place and nowhere else, and one without its rows
# leaves its place alone. With a bench's path as the argument its rows too: of equal work the share is that of the limit.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() {
    echo "bench-test: $1" >&2
    exit 1
}

row() { # row BENCH WHO WHO_VALUE N NS SHARE
    printf '{"bench":"%s","%s":"%s","n":%d,"ns":%s,"min_ns":%s,"max_ns":%s,"cpu_ns":%s,"cycles":%s,"share":%s,"threads":1,"runs":1}\n' \
        "$1" "$2" "$3" "$4" "$5" "$5" "$5" "$5" "$5" "$6"
}
{
    row msm_g1 level ifma 65536 100000000 0.5
    row msm_g1 level portable 65536 400000000 0.3
    row msm_g1 peer blst 65536 300000000 0.4
    row msm_g1 level ifma 65536 999000000 0.1 # the same once more: the first counts
    row fp_vec_mul level ifma 1024 10240 0.5
    row fp_mul level ifma 1 40 0.5
    row fp_mul peer blst 1 30 0.5
    for name in msm_g2 msm_g1_bits msm_g2_bits msm_g1_sum_bits; do row $name level ifma 65536 1000000 0.5; done
    echo 'not a row'
} >"$out/rows.jsonl"
printf 'before\n<!-- bench:msm -->\nold\n<!-- /bench:msm -->\nbetween\n<!-- bench:ntt -->\nkept\n<!-- /bench:ntt -->\nafter\n' >"$out/page.md"

scripts/bench-tables.py "$out/rows.jsonl" --ratios >"$out/ratios"
grep -q '"ratio": "msm_g1", "n": 65536, "threads": 1, "level": "ifma", "peer": "blst".*"peer_over_ours": 3.0}' "$out/ratios" ||
    fail "a ratio to a peer is wrong"
grep -q '"ratio": "fp_vec_mul", "n": 1024, .*"peer_over_ours": 3.0}' "$out/ratios" ||
    fail "an array is not compared with the peer's single element"

scripts/bench-tables.py "$out/rows.jsonl" --write "$out/page.md" 2>"$out/said"
grep -q '^| G1, random scalars | 2^16 | 400 |  | 100 | 1,526 | 50 % |  | 300 | 3.0 |$' "$out/page.md" || fail "the table is not in its place"
if grep -q '^old$' "$out/page.md"; then fail "the old table is still there"; fi
for line in before between kept after; do grep -q "^$line\$" "$out/page.md" || fail "'$line' is gone"; done
grep -q 'no table ntt' "$out/said" || fail "nothing is said of a table without rows"

# Both provers in turn, played by scripts: what they print becomes rows, and the rows the table.
cat >"$out/cuzk" <<'SH'
#!/bin/sh
if [ "$1" = bench ]; then
    echo '{"failed": 0, "warm": {"proofs": 2, "seen_ms": {"min": 4000, "median": 5000, "p95": 6000}}}'
else
    echo '{"stages": [{"stage": "pce", "ms": 20}, {"stage": "synthesis", "ms": 5}, {"stage": "evaluate", "ms": 75}]}'
fi
SH
cat >"$out/oracle" <<'SH'
#!/bin/sh
[ "$RUST_LOG" = info ] && echo 'INFO bellperson: synthesis time: 1.5s' >&2
echo 'official c2 run 0: 54.0 s, 192 bytes'
[ "$RUST_LOG" = info ] && echo 'INFO bellperson: synthesis time: 500ms' >&2
echo 'official c2 run 1: 50.0 s, 192 bytes'
SH
chmod +x "$out/cuzk" "$out/oracle"
bench/whole_proof.py --cuzk "$out/cuzk" --oracle "$out/oracle" --params "$out" --runs 1 --levels ifma portable >"$out/proof.jsonl"
scripts/bench-tables.py "$out/proof.jsonl" >"$out/tables" 2>/dev/null
grep -q '^| official (bellperson, blst) | 54.0 | 50.0 |  |  |' "$out/tables" || fail "the official prover's row is wrong"
grep -q '^| cuzk, AVX-512 IFMA | [0-9.]* | 5.0 (4.0 to 6.0) | \*\*[0-9.]*\*\* | \*\*10.0\*\* |' "$out/tables" || fail "the row of warm proofs is wrong"
grep -q '^| official: .* | 1,000 |  |$' "$out/tables" || fail "the official synthesis is wrong"
grep -q '^| ours: program, witness and A·w, B·w, C·w | 100 | 10.0 |$' "$out/tables" || fail "our synthesis is wrong"

# The page itself has a place for every table, each once.
for name in proof synthesis stages host msm additions ntt field evaluate profile; do
    [ "$(grep -c "^<!-- bench:$name -->\$" docs/performance.md)" = 1 ] && [ "$(grep -c "^<!-- /bench:$name -->\$" docs/performance.md)" = 1 ] ||
        fail "docs/performance.md has not one place for $name"
done

if [ $# -gt 0 ]; then
    "$1" 12 12 1 --budget 1 --best >"$out/bench"
    python3 - "$out/bench" <<'PY'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
machine, rows = rows[0], rows[1:]
assert machine["bench"] == "machine" and machine["ghz"] > 0 and machine["mul_per_ns"] > 0, machine
assert len(rows) == 3, rows
for row in rows:
    assert abs(row["share"] - row["limit_ns"] / row["cpu_ns"]) < 1e-3, row
    assert abs(row["cycles"] / row["cpu_ns"] / machine["ghz"] - 1) < 1e-2, row
    rate = machine["ifma_per_ns"] if row["level"] == "ifma" else machine["mul_per_ns"]
    products = (12 * 2048 - 4095) * (6 if row["bench"] == "ntt_quotient" else 1)
    assert abs(row["limit_ns"] * rate / products / (59 / 8 if row["level"] == "ifma" else 36) - 1) < 1e-2, row
PY
fi
echo "bench-test: ok"
