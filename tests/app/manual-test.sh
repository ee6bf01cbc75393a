#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Do the man pages in the folder $1 render without a warning?
set -euo pipefail

asked=0
for page in "$1"/*.[0-9]; do
    if command -v groff >/dev/null; then
        asked=$((asked + 1))
        said=$(groff -man -Tutf8 -ww -z "$page" 2>&1) || true
        [ -z "$said" ] || { echo "$said"; exit 1; }
    fi
    if command -v mandoc >/dev/null; then
        asked=$((asked + 1))
        mandoc -T lint -W warning "$page"
    fi
done
echo "manual-test: $asked renderings without a warning"
