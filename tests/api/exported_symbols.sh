#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# exported_symbols.sh NM LIBRARY HEADER: the shared library exports what its header declares, no more and no less.
set -eu
exported=$("$1" -D --defined-only "$2" | awk '{print $3}' | sort)
declared=$(sed -n 's/^CUZK_API .*[ *]\(cuzk_[a-z0-9_]*\)(.*/\1/p' "$3" | sort)
if [ "$exported" != "$declared" ]; then
    echo "exported:"
    echo "$exported"
    echo "declared:"
    echo "$declared"
    exit 1
fi
echo "$(echo "$exported" | wc -l) symbols, as declared"
