#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# program-test.sh CUZK: the sub-command waterfall as a user calls it; run in tests/.
set -euo pipefail
cuzk=$1
log=vectors/timeline/published-closed-loop.log
dir=$(mktemp -d)
follower=
trap '[ -z "$follower" ] || kill "$follower" 2>/dev/null || true; rm -rf "$dir"' EXIT

failed=0
check() { # NAME CONDITION...
    local name=$1
    shift
    if ! "$@"; then
        echo "FAILED: $name"
        failed=1
    fi
}
code() { # CODE COMMAND...
    local want=$1 got=0
    shift
    "$@" >"$dir/out" 2>"$dir/err" || got=$?
    [ "$got" -eq "$want" ] || {
        echo "expected exit code $want, found $got: $*"
        cat "$dir/err"
        return 1
    }
}

# The exit codes: 0 done, also with warnings; 1 nothing to analyse or no file; 2 usage.
check "the published log" code 0 "$cuzk" waterfall "$log" --causes
check "its table is the golden one" grep -q "121273            -            -        13557" "$dir/out"
check "its cause" grep -q "13557  no job offered" "$dir/out"
check "its warning is listed" grep -q "GPU_START without GPU_END" "$dir/out"
check "standard input" code 0 "$cuzk" waterfall - --format csv <"$log"
check "warnings of formats without a place for them" grep -q "^cuzk: warning: GPU_START" "$dir/err"
check "csv" cmp -s "$dir/out" timeline/golden/published.csv
check "json" code 0 "$cuzk" waterfall "$log" --json
check "json keys" grep -q '"idle_gap_ms": 13557.000' "$dir/out"
check "trace" code 0 "$cuzk" waterfall "$log" --format trace
check "the golden trace" cmp -s "$dir/out" timeline/golden/published.trace
check "svg into a file" code 0 "$cuzk" waterfall "$log" --format svg --out "$dir/w.svg"
check "the golden svg" cmp -s "$dir/w.svg" timeline/golden/published.svg
check "html" code 0 "$cuzk" waterfall "$log" --format html --out "$dir/w.html"
check "html is one file" bash -c '! grep -qE "(src|href)=\"?(https?:)?//|@import|url\(http" "$1"' - "$dir/w.html"
# Without --format the ending says which.
for format in svg json csv trace html; do
    ending=$format
    [ "$format" = trace ] && ending=trace.json
    check "the ending .$ending" code 0 "$cuzk" waterfall "$log" --out "$dir/e.$ending"
    check "as --format $format" code 0 "$cuzk" waterfall "$log" --format "$format" --out "$dir/f"
    check "the same file, .$ending" cmp -s "$dir/e.$ending" "$dir/f"
done
check "text" code 0 "$cuzk" waterfall "$log" --format text --out "$dir/f"
for name in e.txt e.log e .e e.d/e; do
    mkdir -p "$dir/e.d"
    check "text in $name" code 0 "$cuzk" waterfall "$log" --out "$dir/$name"
    check "the same text, $name" cmp -s "$dir/$name" "$dir/f"
done
check "an ending that no waterfall has" code 2 "$cuzk" waterfall "$log" --out "$dir/e.png"
check "it is named" grep -q "ending .png; there are .*\.svg" "$dir/err"
check "nothing was written" test ! -e "$dir/e.png"
check "--format wins" code 0 "$cuzk" waterfall "$log" --format text --out "$dir/e.png"
check "the text asked for" cmp -s "$dir/e.png" "$dir/f"
check "--json is a format, too" code 0 "$cuzk" waterfall "$log" --json --out "$dir/j.svg"
check "json as asked" cmp -s "$dir/j.svg" "$dir/e.json"
check "two runs are no picture" code 2 "$cuzk" waterfall "$log" --compare "$log" --out "$dir/c.svg"
check "by partition, one device" code 0 "$cuzk" waterfall vectors/timeline/two-devices.log --by partition --device 1
check "one row" bash -c '[ "$(grep -c "job-. #" "$1")" -eq 1 ]' - "$dir/out"
check "compare" code 0 "$cuzk" waterfall "$log" --compare vectors/timeline/two-devices.log
check "ratios" grep -q "second/first" "$dir/out"
check "colour on demand" code 0 "$cuzk" waterfall "$log" --color
check "colour" grep -q $'\033\[' "$dir/out"
check "no colour in a pipe" code 0 "$cuzk" waterfall "$log"
check "plain" bash -c '! grep -q "\[0m" "$1"' - "$dir/out"
check "warm-up" code 0 "$cuzk" waterfall "$log" --warmup 2 --format json
check "no file" code 1 "$cuzk" waterfall "$dir/none.log"
check "an empty file" code 1 "$cuzk" waterfall /dev/null
check "it says so" grep -q "nothing to analyse" "$dir/err"
head -c 100000 /dev/urandom | tr 'T' 't' >"$dir/junk"
check "junk" code 1 "$cuzk" waterfall "$dir/junk"
check "a directory" code 1 "$cuzk" waterfall "$dir"
check "no argument" code 2 "$cuzk" waterfall
check "two files" code 2 "$cuzk" waterfall "$log" "$log"
check "an unknown format" code 2 "$cuzk" waterfall "$log" --format pdf
check "an unknown device" code 2 "$cuzk" waterfall "$log" --device 9
check "an unknown run" code 2 "$cuzk" waterfall "$log" --run 2
check "a bad warm-up" code 2 "$cuzk" waterfall "$log" --warmup some
check "compare as svg" code 2 "$cuzk" waterfall "$log" --compare "$log" --format svg
check "follow standard input" code 2 "$cuzk" waterfall - --follow
check "help" code 0 "$cuzk" waterfall --help
check "a full disk" code 1 bash -c '"$1" waterfall "$2" >/dev/full' - "$cuzk" "$log"

# A growing file: shown again when a row came, a half line waits for its rest, a new file is noticed.
wait_for() { # TEXT
    for _ in $(seq 100); do
        if grep -q "$1" "$dir/follow" 2>/dev/null; then return 0; fi
        sleep 0.1
    done
    echo "no '$1' in what --follow shows"
    return 1
}
head -n 4 "$log" >"$dir/grow.log"
"$cuzk" waterfall "$dir/grow.log" --follow --format csv >"$dir/follow" 2>/dev/null &
follower=$!
check "the first look" wait_for ",0.000,47200.000,47200.000,,,,"
printf 'TIMELINE,47200,GPU_START,3f1c9a52-7d0e-4b66-9a0b-5f6c2f1d0a01,worker=0,gp' >>"$dir/grow.log"
sleep 0.7
printf 'u=0\nTIMELINE,50000,GPU_END,3f1c9a52-7d0e-4b66-9a0b-5f6c2f1d0a01,worker=0\n' >>"$dir/grow.log"
check "it grew" wait_for ",47200.000,50000.000,2800.000,"
printf 'TIMELINE,1,GPU_START,fresh,gpu=0\nTIMELINE,2,GPU_END,fresh,gpu=0\n' >"$dir/other.log"
mv "$dir/other.log" "$dir/grow.log"
check "it was replaced" wait_for "^fresh,0,"
kill "$follower"
follower=
[ "$failed" -eq 0 ] && echo "waterfall: as expected"
exit "$failed"
