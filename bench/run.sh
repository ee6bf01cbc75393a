#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Runs benches, prints their rows and keeps them, one file a part, in build/bench/rows:
#   bench/run.sh [proof] [kernels] [scaling]          (proof and kernels)
# ORACLE=PATH also times the official prover (docs/interop.md says how to get one), RUNS=N turns of both (2). blst is
# measured beside the kernels where BLST_DIR or the local cargo registry has its sources. BUILD names another build
# folder. scripts/bench-tables.py makes tables of the rows.
#
# On two quiet cores with AVX-512 IFMA: proof takes 100 s, 330 with ORACLE; kernels 160 s; scaling 160 s.
set -euo pipefail
cd "$(dirname "$0")/.."

export BUILD=${BUILD:-build}
params=${CUZK_PARAMS_DIR:-.cache/params}
rows=$BUILD/bench/rows
mkdir -p "$rows"

# What the rows were measured on.
host() {
    local model
    model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
    printf '{"bench":"host","processor":"%s","processors":%d,"load":%s,"date":"%s","commit":"%s"}\n' "${model:-unknown}" \
        "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)" "$(date -u +%F)" "$(git rev-parse --short HEAD 2>/dev/null || true)"
}

proof() {
    host
    "$BUILD/cuzk" params --kind porep --sector-size 2KiB --insecure-test-label "cuzk test" --out "$params" >&2
    bench/whole_proof.py --cuzk "$BUILD/cuzk" --params "$params" --runs "${RUNS:-2}" ${ORACLE:+--oracle "$ORACLE"}
}

kernels() {
    host
    "$BUILD/bench/field_bench"
    "$BUILD/bench/poly_bench" 16 22 1 2 --budget 500 --skip 3000
    "$BUILD/bench/msm_bench" 16 20 1 2 --budget 600 --best
    CUZK_CPU=avx2 "$BUILD/bench/msm_bench" 16 18 1 --budget 600 --skip 6000
    bench/peer_blst.sh 16 18 --budget 600 || [ $? = 2 ]
    "$BUILD/bench/evaluate_bench"
    "$BUILD/bench/pce_bench" tests/vectors/cases/porep-2k-a/c1.json 1
    "$BUILD/bench/pce_bench"
    "$BUILD/bench/c1_bench"
    "$BUILD/bench/timeline_bench"
    "$BUILD/bench/runtime_bench"
}

scaling() {
    host
    "$BUILD/bench/poly_bench" 12 22 1 2 --budget 400 --skip 3000
    "$BUILD/bench/msm_bench" 12 22 1 2 --budget 400 --best
    CUZK_CPU=avx2 "$BUILD/bench/msm_bench" 12 18 1 --budget 400 --skip 3000
}

for part in "${@:-proof kernels}"; do
    for one in $part; do
        case $one in
        proof | kernels | scaling)
            "$one" | tee "$rows/$one.new"
            mv "$rows/$one.new" "$rows/$one.jsonl"
            ;;
        *)
            echo "bench/run.sh: no such part: $one" >&2
            exit 2
            ;;
        esac
    done
done
