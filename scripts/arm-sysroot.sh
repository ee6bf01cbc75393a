#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Puts the arm64 builds of the libraries that tests need into a folder, for cross building and qemu (make check-arm).
# The machine's own packages and package lists stay as they are: apt works on a state of its own inside the folder.
# usage: arm-sysroot.sh FOLDER
set -euo pipefail
out=${1:?usage: arm-sysroot.sh FOLDER}

missing=()
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v "$tool" >/dev/null || missing+=("$tool")
done
if [ ${#missing[@]} -gt 0 ]; then
    echo "arm-sysroot: missing ${missing[*]}; please run: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" >&2
    exit 1
fi

packages=(libcmocka0 libcmocka-dev libgmp10 libgmp-dev libyajl2 libyajl-dev libjansson4 libjansson-dev)
stamp=$out/complete
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "${packages[*]}" ]; then exit 0; fi

mkdir -p "$out"
out=$(cd "$out" && pwd)
sources=/etc/apt/sources.list.d/debian.sources
[ -f "$sources" ] || sources=/etc/apt/sources.list
mkdir -p "$out/apt/lists/partial" "$out/apt/cache/archives/partial" "$out/apt/packages" "$out/root"
: >"$out/apt/status"
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State::lists=$out/apt/lists"
    -o "Dir::State::status=$out/apt/status" -o "Dir::Cache=$out/apt/cache" -o "Dir::Etc::sourcelist=$sources"
    -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root -o Acquire::Languages=none)
"${apt[@]}" update
(cd "$out/apt/packages" && "${apt[@]}" download "${packages[@]}")
for deb in "$out"/apt/packages/*.deb; do dpkg -x "$deb" "$out/root"; done
rm -rf "$out/apt"
echo "${packages[*]}" >"$stamp"
