#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Writes the table of docs/pipelines.md between its markers: published figures beside those of `cuzk simulate`.
# Usage: scripts/pipelines.sh [CUZK [FILE]]   (default: build/cuzk, docs/pipelines.md; FILE - is standard output)
# With --check the file is compared, not written: a figure that changed fails.
set -euo pipefail
check=
if [ "${1:-}" = --check ]; then
    check=1
    shift
fi
root=$(cd "$(dirname "$0")/.." && pwd)
cuzk=${1:-$root/build/cuzk}
file=${2:-$root/docs/pipelines.md}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# EXPRESSION [FLAG...]: a Python expression over the JSON document d of a run.
evaluate() {
    local expression=$1
    shift
    "$cuzk" simulate --json "$@" | python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$expression"
}
# PART KEY [FLAG...]: one figure; PART is summary, steady or simulation.
figure() {
    local part=$1 key=$2
    shift 2
    evaluate "d['$part']['$key']" "$@"
}
seconds() { LC_ALL=C awk -v v="$1" 'BEGIN { printf "%.2f s", v }'; }
from_ms() { LC_ALL=C awk -v v="$1" 'BEGIN { printf "%.3f s", v / 1000 }'; }
percent() { LC_ALL=C awk -v v="$1" 'BEGIN { printf "%.1f %%", v }'; }
gib() { LC_ALL=C awk -v v="$1" 'BEGIN { printf "%.1f GiB", v / 1073741824 }'; }
row() { printf '| %s | %s | %s | %s |\n' "$1" "$2" "$3" "$([ "$4" = same ] && echo same || echo "\`$4\`")"; }

table() {
    echo '| what | published | simulated | `cuzk simulate` with |'
    echo '|---|---|---|---|'
    local f

    f=(--policy standard --proofs 10 --synth 38s --gpu 26s)
    row "standard: GPU idle in each cycle" "12 s" "$(from_ms "$(figure steady avg_idle_gap_ms "${f[@]}")")" "${f[*]}"
    row "standard: GPU utilisation" "57 % (70.9 % later)" "$(percent "$(figure steady gpu_utilization_pct "${f[@]}")")" "same"
    row "standard: time a proof, steady" "" "$(seconds "$(figure steady seconds_per_proof "${f[@]}")")" "same"

    f=(--policy standard --proofs 20 --synth 38s --gpu 26s --synthesis-concurrency 2 --concurrency 4)
    row "two syntheses, no contention: utilisation" "99.3 %" "$(percent "$(figure steady gpu_utilization_pct "${f[@]}")")" "${f[*]}"

    f=(--policy standard --synth 39s --gpu 26s)
    local g=("${f[@]}" --synthesis-concurrency 2 --synth-contention 1.18 --gpu-contention 1.077)
    row "two clients, one synthesis: a proof, first three" "46.1 s" "$(seconds "$(figure summary seconds_per_proof "${f[@]}" --proofs 3)")" "${f[*]} --proofs 3"
    row "the same, two syntheses with contention" "45.4 s" "$(seconds "$(figure summary seconds_per_proof "${g[@]}" --proofs 3)")" "${g[*]} --proofs 3"
    row "one synthesis: utilisation, steady" "70.9 %" "$(percent "$(figure steady gpu_utilization_pct "${f[@]}" --proofs 20)")" "${f[*]} --proofs 20"
    row "two with contention: utilisation, steady" "78.1 %" "$(percent "$(figure steady gpu_utilization_pct "${g[@]}" --proofs 20)")" "${g[*]} --proofs 20"

    f=(--policy standard --proofs 10 --partition-bytes 13.6GiB --key-bytes 47GiB)
    row "standard: peak memory" "" "$(gib "$(figure simulation peak_memory_bytes "${f[@]}")")" "${f[*]}"
    f=(--policy slotted --slot-size 2 --proofs 10 --partition-bytes 13.6GiB --key-bytes 47GiB)
    row "slots of two: peak memory" "less" "$(gib "$(figure simulation peak_memory_bytes "${f[@]}")")" "${f[*]}"
    row "slots of two: time a proof, steady" "no better" "$(seconds "$(figure steady seconds_per_proof "${f[@]}")")" "same"

    f=(--policy partition --proofs 20 --concurrency 3 --synth 35.3s --gpu 28s)
    row "partitions across sectors (PCE: 26.5 s + 8.8 s of CPU): a proof" "32.1 to 37.7 s" "$(seconds "$(figure steady seconds_per_proof "${f[@]}")")" "${f[*]}"

    f=(--policy standard --proofs 3 --synthesis-concurrency 2 --pickup 19ms --synth 47.2s,47.474s,47.34s --gpu 26.733s,33.764s,30s)
    row "the published waterfall: gap before P2" "0.019 s" "$(from_ms "$(evaluate "d['jobs'][1]['idle_gap_ms']" "${f[@]}")")" "${f[*]}"
    row "the published waterfall: gap before P3" "13.557 s" "$(from_ms "$(evaluate "d['jobs'][2]['idle_gap_ms']" "${f[@]}")")" "same"
    row "its cause" "\"synthesis\"" "$(evaluate "[g['cause'] for g in d['gaps'] if 'P3' in g.values()][0]" "${f[@]}")" "same"
    f=(--policy standard --proofs 12 --concurrency 3 --synthesis-concurrency 2 --pickup 19ms --synth 47.2s,47.474s,47.34s --gpu 26.733s,33.764s,30s)
    row "with three in flight: longest gap" "" "$(from_ms "$(evaluate "max(j['idle_gap_ms'] or 0 for j in d['jobs'])" "${f[@]}")")" "${f[*]}"
}

table >"$work/table"
if [ "$file" = - ]; then
    cat "$work/table"
    exit 0
fi
awk -v table="$work/table" '
    /^<!-- table -->$/ { print; while ((getline line < table) > 0) print line; skip = 1; next }
    /^<!-- end -->$/ { skip = 0 }
    !skip { print }' "$file" >"$work/out"
if [ -n "$check" ]; then
    diff -u "$file" "$work/out" || { echo "pipelines: $file is not what scripts/pipelines.sh makes" >&2; exit 1; }
else
    cat "$work/out" >"$file"
fi
