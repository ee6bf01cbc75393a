#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Other people's programs against ours (docs/interop.md). Two parts, each left out with its reason when something is
# missing; exit code 2 when nothing was left to run.
#  * oracle: our proofs judged by the official implementation, our reader by its vanilla checks. Needs ORACLE=PATH, a small
#    Rust program around filecoin-proofs.
#  * go: a Go client with the options of Curio's, and grpcurl, against running daemons. Needs go 1.25, protoc and openssl; fetches
#    modules through the Go proxy once.
# PARTS="oracle go" chooses.
set -euo pipefail
cd "$(dirname "$0")/.."

params=$(realpath -m "${CUZK_PARAMS_DIR:-.cache/params}")
cuzk=$(realpath "${CUZK:-build/cuzk}")
parts=" ${PARTS:-oracle go} "
out=$(mktemp -d)
daemons=()
finish() {
    for pid in ${daemons[@]+"${daemons[@]}"}; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$out"
}
trap finish EXIT

failed=0 passed=0 ran=0
left_out() { echo "left out: $1"; }
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

make_params() {
    "$cuzk" params --kind porep --sector-size 2KiB --insecure-test-label "cuzk test" --out "$params"
}

judge_by_oracle() {
    local oracle=$1 case dir
    export FIL_PROOFS_PARAMETER_CACHE=$params
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
}

# The tools at fixed versions, in .cache/go: the messages' generators (Curio's versions) and grpcurl.
go_tools() {
    export GOBIN=$PWD/.cache/go
    export GOFLAGS=-mod=mod
    [ -x "$GOBIN/protoc-gen-go" ] || go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.11
    [ -x "$GOBIN/protoc-gen-go-grpc" ] || go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.0
    [ -x "$GOBIN/grpcurl" ] || go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3
}

start_daemon() { # start_daemon NAME LISTEN BACKEND [LINES]: a daemon with toy circuits; its log is $out/NAME.log
    cat >"$out/$1.toml" <<TOML
[daemon]
listen = "$2"
max_pending = 12
${4:-}
[srs]
param_cache = "$params"
[gpus]
backend = ["$3"]
gpu_workers_per_device = 1
[scheduler]
critical_places = 0
[testing]
toy_circuits = true
TOML
    "$cuzk" --config "$out/$1.toml" >"$out/$1.log" 2>&1 &
    daemons+=($!)
}

# make_certificate NAME: $out/NAME.pem and $out/NAME.key.
make_certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout "$out/$1.key" -out "$out/$1.pem" -subj "/CN=$1" \
        -addext subjectAltName=IP:127.0.0.1 2>"$out/openssl.log" || { cat "$out/openssl.log" >&2; return 1; }
}

# The port that a daemon took, from its log.
port_of() {
    local i port
    for i in $(seq 100); do
        port=$(sed -nE 's/.*(gRPC|grpc).*127\.0\.0\.1:([0-9]+).*/\2/p' "$out/$1.log" | head -1)
        if [ -n "$port" ]; then
            echo "$port"
            return 0
        fi
        sleep 0.1
    done
    echo "interop: no port in the log of the daemon:" >&2
    cat "$out/$1.log" >&2
    return 1
}

run_go() {
    local dir=tests/interop/go port i
    go_tools
    mkdir -p "$dir/cuzkv1"
    PATH=$GOBIN:$PATH protoc -I proto cuzk/v1/proving.proto \
        --go_out="$dir" --go_opt=module=interop --go_opt=Mcuzk/v1/proving.proto=interop/cuzkv1 \
        --go-grpc_out="$dir" --go-grpc_opt=module=interop --go-grpc_opt=Mcuzk/v1/proving.proto=interop/cuzkv1
    start_daemon tcp 127.0.0.1:0 "sim:kernel=150ms"
    start_daemon unix "unix://$out/cuzk.sock" cpu
    for i in server client other; do make_certificate "$i"; done
    start_daemon tls 127.0.0.1:0 cpu "tls_cert = \"$out/server.pem\"
tls_key = \"$out/server.key\"
tls_client_ca = \"$out/client.pem\""
    port=$(port_of tcp)
    CUZK_TLS=127.0.0.1:$(port_of tls)
    export CUZK_TLS CUZK_TLS_FILES=$out
    for i in $(seq 100); do [ -S "$out/cuzk.sock" ] && break || sleep 0.1; done
    export CUZK_ADDR=127.0.0.1:$port CUZK_UNIX=$out/cuzk.sock CUZK_BIN=$cuzk CUZK_PARAMS_DIR=$params
    export CUZK_VECTORS=$PWD/tests/vectors GRPCURL=$GOBIN/grpcurl
    (cd "$dir" && go test -count=1 -v -timeout 10m . ) >"$out/go.log" 2>&1 || true
    sed -nE 's/^ *--- (PASS|FAIL|SKIP): ([^ ]*) .*/\1 \2/p' "$out/go.log" >"$out/verdicts"
    if [ ! -s "$out/verdicts" ]; then cat "$out/go.log"; failed=$((failed + 1)); return; fi
    while read -r verdict name; do
        case $verdict in
        PASS) passed=$((passed + 1)) && echo "ok   go: $name" ;;
        *) failed=$((failed + 1)) && echo "FAIL go: $name ($verdict)" ;;
        esac
    done <"$out/verdicts"
    if grep -q '^FAIL\|^--- FAIL\|^    --- SKIP\|^panic' "$out/go.log"; then grep -v '^=== ' "$out/go.log" | tail -60; fi
}

make_params
if [[ $parts == *" oracle "* ]]; then
    if [ -n "${ORACLE:-}" ] && [ -x "${ORACLE:-}" ]; then
        ran=1
        judge_by_oracle "$ORACLE"
    else
        left_out "oracle: set ORACLE to the oracle's binary (docs/interop.md says how to build one)"
    fi
fi
if [[ $parts == *" go "* ]]; then
    if ! command -v go >/dev/null; then
        left_out "go: there is no go"
    elif ! command -v protoc >/dev/null; then
        left_out "go: there is no protoc (protobuf-compiler)"
    elif ! command -v openssl >/dev/null; then
        left_out "go: there is no openssl"
    else
        ran=1
        run_go
    fi
fi
if [ "$ran" = 0 ]; then
    echo "interop: nothing was left to run" >&2
    exit 2
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
