#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# From a fresh clone to a verified proof through a daemon: sets up, builds, makes test parameters once, starts a daemon,
# has it prove the bundled 2 KiB sector over gRPC, verifies the proof, and shows where the time went.
#   KEEP=1     leaves the daemon running, to look at its live page
#   PROOFS=3   that many more proofs, two in flight, so that there is something to see
set -euo pipefail
cd "$(dirname "$0")/.."

params=${CUZK_PARAMS_DIR:-.cache/params}
cuzk=${CUZK:-build/cuzk}
keep=${KEEP:-}
proofs=${PROOFS:-0}
c1=tests/vectors/cases/porep-2k-a/c1.json
out=.cache/demo
proof=$out/proof
log=$out/daemon.log
timeline=$out/timeline.log
page=$out/waterfall.html

say() { printf '\n== %s\n' "$*"; }

say "Setting up and building"
scripts/bootstrap.sh
[ -n "${CUZK:-}" ] || make --no-print-directory build
mkdir -p "$out"
rm -f "$log" "$timeline" "$proof" "$page"

say "Making test parameters for 2 KiB sectors in $params (once; insecure, since their secrets are public)"
"$cuzk" params --kind porep --sector-size 2KiB --insecure-test-label "cuzk test" --out "$params"

say "Starting a daemon"
"$cuzk" --listen 127.0.0.1:0 --status-listen 127.0.0.1:0 --set "srs.param_cache=$params" --set "timeline.path=$timeline" \
    2>"$log" &
daemon=$!
stop() {
    if kill -0 "$daemon" 2>/dev/null; then
        kill -TERM "$daemon"
        wait "$daemon" || true
    fi
}
trap stop EXIT
for _ in $(seq 300); do
    if grep -q 'daemon: ready' "$log" || ! kill -0 "$daemon" 2>/dev/null; then break; fi
    sleep 0.1
done
grpc=$(sed -n 's/.*daemon: gRPC at \([^ ,]*\).*/\1/p' "$log")
http=$(sed -n 's/.*daemon: HTTP at \([^ ]*\).*/\1/p' "$log")
if [ -z "$grpc" ] || [ -z "$http" ]; then
    echo "demo: the daemon did not start:" >&2
    cat "$log" >&2
    exit 1
fi
echo "gRPC at $grpc; its live page: $http"

say "Proving over gRPC that the sector of $c1 was sealed (look at the live page meanwhile)"
"$cuzk" prove --kind porep --addr "$grpc" --c1 "$c1" --out "$proof"

say "Verifying the proof"
"$cuzk" verify --kind porep --c1 "$c1" --params "$params" --proof "$proof"

if [ "$proofs" -gt 0 ]; then
    say "Proving $proofs more, two in flight; the key is there already"
    "$cuzk" bench --addr "$grpc" --c1 "$c1" -n "$proofs" -j 2
fi

say "Where the time went"
"$cuzk" waterfall "$timeline" --stages
"$cuzk" waterfall "$timeline" --format html --out "$page"

say "Done"
cat <<TEXT
A storage provider sealed a 2 KiB sector; $c1 holds the
openings of Merkle trees that show it (the output of phase C1). The daemon checked them, computed a Groth16 proof that
they are right, which anybody can check in milliseconds and which tells nothing else, and verified it before it answered.

  proof        $proof, $(wc -c <"$proof") bytes (192 for each partition)
  waterfall    $page, for any browser
  parameters   $params: made for tests, worthless for the network
  log          $log
TEXT
if [ -n "$keep" ]; then
    trap - EXIT
    echo "  daemon       process $daemon, live page $http, gRPC $grpc; kill $daemon stops it"
else
    stop
    trap - EXIT
    echo "  daemon       stopped; KEEP=1 make demo leaves it running"
fi
