#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# exported_symbols.sh NM HEADERS LIBRARY...: each library shows what the headers of a folder declare, no more, no less.
set -eu
nm=$1 headers=$2
shift 2
declared=$(sed -n 's/^CUZK_API .*[ *]\(cuzk_[a-z0-9_]*\)(.*/\1/p' "$headers"/*.h | sort)
for library; do
    case $library in
    *.a) table=-g ;;
    *) table=-D ;;
    esac
    shown=$("$nm" "$table" --defined-only "$library" | awk 'NF == 3 {print $3}' | sort)
    if [ "$shown" != "$declared" ]; then
        printf '%s shows:\n%s\n%s declares:\n%s\n' "$library" "$shown" "$headers" "$declared"
        exit 1
    fi
done
echo "$(echo "$declared" | wc -l) symbols, as declared"
