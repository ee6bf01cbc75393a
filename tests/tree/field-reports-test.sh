#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Every test that docs/field-reports.md names exists: `file:test`, the file under tests/.
set -euo pipefail
cd "$(dirname "$0")/../.."
missing=0 named=0
while IFS=: read -r file test; do
    named=$((named + 1))
    path=tests/$file
    case $file in
    *.c) want="^static void $test\\(void \\*\\*state\\)|^IN_SCRATCH\\($test\\)" ;;
    *.py) want="^    def $test\\(self\\)" ;;
    *.go) want="^func $test\\(" ;;
    *.mjs) want="^test\\('$test'" ;;
    *) want='^never$' ;;
    esac
    if [ ! -f "$path" ] || ! grep -qE "$want" "$path"; then
        echo "docs/field-reports.md names $file:$test, which does not exist" >&2
        missing=$((missing + 1))
    fi
done < <(grep -oE '`[a-z0-9_/]+/[a-z0-9_.]+\.(c|py|go|mjs):[^`]+`' docs/field-reports.md | tr -d '`' | sort -u)
echo "$named tests named, $missing missing"
[ "$named" -gt 50 ] && [ "$missing" = 0 ]
