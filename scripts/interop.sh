#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Has our proofs judged by the official implementation, and our reader by its vanilla checks.
#
# Needs the oracle, a small Rust program around filecoin-proofs (see docs/interop.md): ORACLE=PATH names its binary.
# PEER=1 also times the official prover beside ours, same machine, same parameters, alternating.
set -euo pipefail
cd "$(dirname "$0")/.."

oracle=${ORACLE:-}
if [ -z "$oracle" ] || [ ! -x "$oracle" ]; then
    echo "interop: set ORACLE to the oracle's binary (docs/interop.md says how to build one)" >&2
    exit 2
fi
params=$(realpath -m "${CUZK_PARAMS_DIR:-.cache/params}")
cuzk=${CUZK:-build/cuzk}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

"$cuzk" params --kind porep --sector-size 2KiB --insecure-test-label "cuzk test" --out "$params"
export FIL_PROOFS_PARAMETER_CACHE=$params

failed=0 passed=0
verdict() { # verdict EXPECTED NAME COMMAND...
    local expected=$1 name=$2 got=0
    shift 2
    "$@" >"$out/log" 2>&1 || got=1
    if [ "$got" = "$expected" ]; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        sed 's/^/     /' "$out/log" | tail -5
    fi
}

for case in ${CASES:-porep-2k-a porep-2k-v10 porep-2k-synth porep-2k-zero}; do
    dir=tests/vectors/cases/$case
    verdict 0 "$case: our reader and checks accept" "$cuzk" prove --kind porep --c1 "$dir/c1.json" --params "$params" --out "$out/$case.proof"
    verdict 0 "$case: official verifier accepts our proof" "$oracle" verify "$dir" "$out/$case.proof"
    verdict 0 "$case: official check accepts the C1 file" "$oracle" check-c1 "$dir/c1.json"
    # One flipped bit in the last point must be refused by both.
    cp "$out/$case.proof" "$out/bad.proof"
    printf '\x01' | dd of="$out/bad.proof" bs=1 seek=150 conv=notrunc status=none
    verdict 1 "$case: official verifier refuses a damaged proof" "$oracle" verify "$dir" "$out/bad.proof"
    verdict 1 "$case: our verifier refuses a damaged proof" "$cuzk" verify --kind porep --c1 "$dir/c1.json" --params "$params" --proof "$out/bad.proof"
done

if [ "${PEER:-0}" != 0 ]; then
    dir=tests/vectors/cases/porep-2k-a
    for run in $(seq "${RUNS:-3}"); do
        "$oracle" official-c2 "$dir" 1 | sed "s/^/peer $run: /"
        /usr/bin/time -f "ours $run: %e s wall, %U s user, %M KiB peak" "$cuzk" prove --kind porep --c1 "$dir/c1.json" --params "$params" \
            --out "$out/bench.proof" 2> >(tee -a "$out/stages" | grep '^ours' >&2)
    done
    cat "$out/stages"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
