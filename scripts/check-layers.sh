#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# The rules of the source tree that no compiler knows:
#  * a layer includes itself and the layers before it (CUZK_LAYERS in CMakeLists.txt, then app), by paths from src/;
#  * timeline includes base alone, so that the analyser stands without the prover;
#  * the public headers stand alone;
#  * no .c is included, no file is longer than 800 lines, every file names its licence;
#  * nothing names a folder of somebody's machine.
# Prints every breach as FILE:LINE: and fails if there is one. Another tree can be given as the argument.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

limit=800
breaches=0
breach() {
    echo "$1" >&2
    breaches=$((breaches + 1))
}

layers=$(sed -n 's/^set(CUZK_LAYERS \(.*\))$/\1/p' CMakeLists.txt)
if [ -z "$layers" ]; then
    echo "check-layers: no set(CUZK_LAYERS ...) in CMakeLists.txt" >&2
    exit 2
fi
declare -A rank
n=0
for layer in $layers app; do
    rank[$layer]=$n
    n=$((n + 1))
done

files=$(find . \( -path './.git' -o -path './build*' -o -path './.cache' -o -path './tests/vectors' -o -name node_modules \) -prune -o -type f -print |
    sed 's|^\./||' | LC_ALL=C sort)
code() { grep -E '\.(c|h|cpp)$' <<<"$files" || true; }
with_licence() { grep -E '\.(c|h|cc|cpp|hpp|cl|cu|cmake|sh|py|js|css|proto)$|(^|/)(CMakeLists\.txt|Makefile)$|^\.ci/run$' <<<"$files" || true; }
texts() { grep -vE '\.(png|jpg|gz|bin|params|vk|swp)$|^LICENSE|^fuzz/corpus/' <<<"$files" || true; }

# Includes. "FILE:LINE:PATH" for each quoted or cuzk include.
while IFS=: read -r file line path; do
    [ -n "$file" ] || continue
    case $path in
    *.c) breach "$file:$line: includes $path: a .c file is compiled, never included" ;;
    ../* | */../*) breach "$file:$line: includes $path: write the path from src/" ;;
    esac
    case $file in
    src/*/*)
        own=${file#src/}
        own=${own%%/*}
        if [ -z "${rank[$own]:-}" ]; then
            breach "$file:$line: src/$own is not in CUZK_LAYERS"
            continue
        fi
        target=${path%%/*}
        # Beside the file itself, or a path up, which was reported above.
        if [ "$target" = "$path" ] || [[ /$path == */../* ]]; then continue; fi
        if [ "$target" = cuzk ]; then # the public header is what api and app implement and use
            if [ "$own" != api ] && [ "$own" != app ]; then
                breach "$file:$line: includes $path: only api and app know the public interface"
            fi
        elif [ -z "${rank[$target]:-}" ]; then
            breach "$file:$line: includes $path: $target is not a layer"
        elif [ "$own" = timeline ] && [ "$target" != base ] && [ "$target" != timeline ]; then
            breach "$file:$line: includes $path: timeline knows base only"
        elif [ "${rank[$target]}" -gt "${rank[$own]}" ]; then
            breach "$file:$line: includes $path: $own stands below $target"
        fi
        ;;
    src/*) breach "$file:$line: a source file belongs to a layer's folder" ;;
    include/*)
        case $path in
        cuzk/*) ;;
        *) breach "$file:$line: includes $path: a public header stands alone" ;;
        esac
        ;;
    esac
done < <(code | tr '\n' '\0' | xargs -0 -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("|<cuzk/|<[^>]*\.c>)' |
    sed -E 's/^([^:]*):([0-9]+):[^"<]*["<]([^">]*)[">].*/\1:\2:\3/')

while read -r file; do
    [ -n "$file" ] || continue
    lines=$(wc -l <"$file")
    if [ "$lines" -gt "$limit" ]; then breach "$file:$lines: more than $limit lines"; fi
done < <(with_licence)

while read -r file; do
    [ -n "$file" ] || continue
    # The shebang comes first where there is one. grep reads all of it, so that head cannot meet a closed pipe.
    head -n 3 "$file" | grep 'SPDX-License-Identifier: MIT OR Apache-2\.0' >/dev/null ||
        breach "$file:1: no line SPDX-License-Identifier: MIT OR Apache-2.0"
done < <(with_licence)

# Built from pieces so that this file does not find itself.
homes="(w""ork|ro""ot|ho""me)"
while IFS= read -r hit; do
    [ -n "$hit" ] || continue
    breach "$hit: a path of one machine"
done < <(texts | tr '\n' '\0' | xargs -0 -r grep -HnoIE "(^|[^A-Za-z0-9_.>)}/])/$homes(/[^ ]*|\$|[\"' ,;:)])" || true)

if [ "$breaches" -ne 0 ]; then
    echo "check-layers: $breaches breaches" >&2
    exit 1
fi
echo "check-layers: $(code | wc -l) source files, $n layers, no breach"
