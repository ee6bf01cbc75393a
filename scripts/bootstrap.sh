#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Installs what building and testing needs and the machine lacks (Debian 12 names; docs/dependencies.md says why each).
# Does nothing, and asks for no rights, when nothing is missing.
set -euo pipefail

packages=(gcc g++ clang libc6-dev make cmake ninja-build python3 libgmp-dev libcmocka-dev libyajl-dev libjansson-dev
    libmicrohttpd-dev libgrpc-dev libprotobuf-c-dev protobuf-c-compiler libclang-rt-14-dev libtomlplusplus-dev)

if ! command -v dpkg-query >/dev/null; then
    missing=()
    for tool in gcc g++ clang make cmake ninja python3; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        echo "bootstrap: not a Debian system, please install: ${missing[*]}" >&2
        echo "bootstrap: and the headers of GMP, cmocka, yajl, jansson, toml++, gRPC C core and protobuf-c with its compiler" >&2
        exit 1
    fi
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

echo "bootstrap: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "bootstrap: neither root nor sudo; please run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
# A list of packages that is out of date is the usual reason for a failure, so it is fetched, and its own failure is
# not yet one: the packages may be at hand.
"${as_root[@]}" apt-get update -qq || echo "bootstrap: apt-get update failed, trying with the lists at hand" >&2
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
