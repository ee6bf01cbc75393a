#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# From a fresh clone to a verified proof: sets up, builds, makes test parameters once, proves the bundled 2 KiB sector,
# verifies the proof and says what happened.
set -euo pipefail
cd "$(dirname "$0")/.."

params=${CUZK_PARAMS_DIR:-.cache/params}
cuzk=${CUZK:-build/cuzk}
c1=tests/vectors/cases/porep-2k-a/c1.json
proof=.cache/demo.proof

say() { printf '\n== %s\n' "$*"; }

say "Setting up and building"
scripts/bootstrap.sh
make --no-print-directory build
mkdir -p .cache

say "Making test parameters for 2 KiB sectors in $params (once; insecure, since their secrets are public)"
"$cuzk" params --kind porep --sector-size 2KiB --insecure-test-label "cuzk test" --out "$params"

say "Proving that the sector of $c1 was sealed"
start=$(date +%s%N)
"$cuzk" prove --kind porep --c1 "$c1" --params "$params" --out "$proof"
end=$(date +%s%N)

say "Verifying the proof"
"$cuzk" verify --kind porep --c1 "$c1" --params "$params" --proof "$proof"

say "Done"
cat <<TEXT
A storage provider sealed a 2 KiB sector; $c1 holds the
openings of Merkle trees that show it (the output of phase C1). cuzk checked them, computed a Groth16 proof that they
are right, which anybody can check in milliseconds and which tells nothing else, and then verified that proof.

  proof        $proof, $(wc -c <"$proof") bytes (192 for each partition)
  proving took $(((end - start) / 1000000)) ms, reading the parameters and verifying included
  parameters   $params: made for tests, worthless for the network
TEXT
