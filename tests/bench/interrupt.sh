#!/usr/bin/env bash
# The cost of interruptible = true, and of "auto" before the first timeout; and the delay of an
# interruption.
#   tests/bench/interrupt.sh [--short] [--program PATH]
# The three run in turn, several times. Each figure is the shortest time: other work on the machine
# can only lengthen a run.
set -euo pipefail
program=$(dirname "$(readlink -f "$0")")/../../build/tidemill rounds=9 runs=15 loops=60
while [ $# -gt 0 ]; do
  case $1 in
    --short) rounds=1 runs=1 loops=6 ;;
    --program) program=$(readlink -f "$2") && shift ;;
    *) echo "unknown option '$1'; --short, --program PATH" >&2 && exit 2 ;;
  esac
  shift
done
program=$(readlink -f "$program")
cd "$(dirname "$(readlink -f "$0")")"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TIDEMILL_WORKSPACE=$dir/workspace
workloads="numbers_sieve numbers_mandelbrot numbers_matrix strings_words strings_build ffi_array ffi_bytes"
mkdir "$dir/in" "$dir/loops"
for name in $workloads; do : >"$dir/in/$name"; done
for i in $(seq 1 "$loops"); do : >"$dir/loops/$i"; done

for round in $(seq 1 "$rounds"); do
  for mode in false auto true; do
    "$program" map interrupt.lua "$dir/in" -j 1 --interruptible $mode -- "$runs" 2>"$dir/err" |
      sed "s/^/$mode /" >>"$dir/times" || { cat "$dir/err" >&2; exit 1; }
  done
done
expected=$((rounds * 3 * 7))
[ "$(wc -l <"$dir/times")" = "$expected" ] || { echo "not $expected times" >&2; exit 1; }

printf '  %-22s%12s%12s%12s\n' "time of one run" "false" "auto" "true"
awk -v names="$workloads" '
  { key = $1 " " $2; if (!(key in best) || $3 < best[key]) best[key] = $3 }
  END {
    n = split(names, list, " ")
    for (i = 1; i <= n; i++) {
      f = best["false " list[i]]; a = best["auto " list[i]]; t = best["true " list[i]]
      printf "  %-22s%9.2f ms%11.2fx%11.2fx\n", list[i], f * 1000, a / f, t / f
    }
  }' "$dir/times"

timeout_s=0.1
"$program" map late.lua "$dir/loops" -N 1 -j 1 --run-max-try 1 --run-invocation-timeout $timeout_s --interruptible true \
  --interrupt-grace 5 --job-dir "$dir/job" >/dev/null 2>"$dir/err" && exit 1 # not one item succeeds
report=$(find "$dir/job" -name 'processed_mini-batches.csv')
awk -F, -v timeout=$timeout_s -v loops="$loops" '
  /was interrupted/ { late = ($8 - timeout) * 1000; if (late > max) max = late; sum += late; n++ }
  END {
    if (n != loops) { print "only " n " of " loops " were interrupted" > "/dev/stderr"; exit 1 }
    printf "  interrupted %.1f ms after the deadline in the mean of %d, %.1f ms at most\n", sum / n, n, max
  }' "$report"
