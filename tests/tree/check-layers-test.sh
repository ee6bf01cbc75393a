#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Plants one breach at a time in a small tree; check-layers.sh has to name the file and the line of each.
set -euo pipefail
check=$(realpath "$(dirname "$0")/../../scripts/check-layers.sh")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
spdx='// SPDX-License-Identifier: MIT OR Apache-2.0'
mkdir -p src/base src/field/x86 src/api src/app src/odd include/cuzk
printf '# SPDX-License-Identifier: MIT OR Apache-2.0\nset(CUZK_LAYERS base field api)\n' >CMakeLists.txt
printf '%s\n#include "base/b.h"\n#include "a.h"\n#include <stdio.h>\n' "$spdx" >src/base/a.c
printf '%s\n#include "base/a.h"\n#include "field/x86/k.h"\n' "$spdx" >src/field/x86/f.c
printf '%s\n#include "cuzk/cuzk.h"\n#include <cuzk/cuzk.h>\n#include "field/f.h"\n' "$spdx" >src/app/main.c
printf '%s\n#include <stdint.h>\n' "$spdx" >include/cuzk/cuzk.h
printf 'See src/%s/x and https://example.org/%s/ for more.\n' work home >README.md

"$check" . >/dev/null || { echo "the clean tree is refused"; exit 1; }

failed=0
planted() { # planted FILE TEXT-OF-THE-BREACH: FILE was written by the caller; it is removed afterwards
    local out
    if out=$("$check" . 2>&1); then
        echo "not found: $1: $2"
        failed=1
    elif ! grep -F "$1" <<<"$out" | grep -F -- "$2" >/dev/null || [ "$(wc -l <<<"$out")" != 2 ]; then
        printf 'expected one breach, %s: %s; got\n%s\n' "$1" "$2" "$out"
        failed=1
    fi
    rm "$(cut -d: -f1 <<<"$1")"
}
plant() { printf '%s\n%s\n' "$spdx" "$2" >"$1"; }

plant src/base/x.c '#include "field/f.h"'
planted src/base/x.c:2 "base stands below field"
plant src/base/x.c '  #  include "field/f.h" // why'
planted src/base/x.c:2 "base stands below field"
plant src/field/x86/x.h '#include "api/a.h"'
planted src/field/x86/x.h:2 "field stands below api"
plant src/api/x.c '#include "app/a.h"'
planted src/api/x.c:2 "api stands below app"
plant src/base/x.c '#include "nowhere/f.h"'
planted src/base/x.c:2 "nowhere is not a layer"
plant src/odd/x.c '#include "base/b.h"'
planted src/odd/x.c:2 "src/odd is not in CUZK_LAYERS"
plant src/field/x.c '#include "../base/b.h"'
planted src/field/x.c:2 "write the path from src/"
plant src/field/x.c '#include "field/y.c"'
planted src/field/x.c:2 "never included"
plant src/field/x.c '#include <cuzk/cuzk.h>'
planted src/field/x.c:2 "only api and app"
plant include/cuzk/x.h '#include "base/b.h"'
planted include/cuzk/x.h:2 "stands alone"
plant src/base/x.c "$(printf 'int x;\n%.0s' {1..800})"
planted src/base/x.c:801 "more than 800 lines"
plant src/base/x.c "$(printf 'int x;\n%.0s' {1..799})"
"$check" . >/dev/null || { echo "800 lines are refused" && failed=1; }
rm src/base/x.c
echo 'int x;' >src/base/x.c
planted src/base/x.c:1 "SPDX"
printf 'all:\n' >Makefile
planted Makefile:1 "SPDX"
plant src/base/x.c "// see /""work/x"
planted src/base/x.c:2 "a path of one machine"
printf 'in /%s\n' root >x.md
planted x.md:1 "a path of one machine"
printf 'in "/%s/me"\n' home >x.md
planted x.md:1 "a path of one machine"
exit $failed
