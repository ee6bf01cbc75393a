#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds blst from a source folder and runs peer_blst.c against it, for a comparison on the same machine:
#   bench/peer_blst.sh [BLST_DIR] [from to] [options of bench.h]
# BLST_DIR (or the environment variable) is a checkout of blst, or the blst/ folder of its crate; without it the newest
# one in the local cargo registry is taken. Nothing is downloaded; the build and the tests never need this. Wants the
# benches built in build/ (BUILD names another folder). Exit code 2: there is no blst.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build}
if [ $# -gt 0 ] && [ -d "$1" ]; then
  BLST_DIR=$1
  shift
fi
if [ -z "${BLST_DIR:-}" ]; then
  BLST_DIR=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -maxdepth 3 -type d -path '*/blst-*/blst' 2>/dev/null |
    sort -V | tail -n 1)
fi
if [ -z "$BLST_DIR" ] || [ ! -f "$BLST_DIR/bindings/blst.h" ]; then
  echo "peer_blst: no blst sources; name a folder that holds bindings/blst.h" >&2
  exit 2
fi
out=$build/peer
mkdir -p "$out"
cc=${CC:-cc}
# The same two objects its own build script makes; it picks ADX by the machine it is built on, as that script does.
flags="-O2 -fno-builtin -fPIC"
if grep -q -w adx /proc/cpuinfo 2>/dev/null; then flags="$flags -D__ADX__"; fi
# shellcheck disable=SC2086
"$cc" $flags -c "$BLST_DIR/src/server.c" -o "$out/server.o"
# shellcheck disable=SC2086
"$cc" $flags -c "$BLST_DIR/build/assembly.S" -o "$out/assembly.o"
"$cc" -O2 -std=c17 -D_POSIX_C_SOURCE=200809L -I"$BLST_DIR/bindings" -I"$root/src" -I"$root/bench" \
  "$root/bench/peer_blst.c" "$out/server.o" "$out/assembly.o" "$build/bench/libbench_support.a" \
  "$build/src/base/libcuzk_base.a" -lm -lpthread -o "$out/peer_blst"
exec "$out/peer_blst" "$@"
