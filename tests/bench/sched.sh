#!/usr/bin/env bash
# The scheduler with many nodes, in the simulator: bench_sched, each case in a process of its own,
# so that its peak memory is its own.
#   tests/bench/sched.sh [--short] [--program PATH] [CASE...]
# Seconds are processor time: other work on the machine matters less than for wall time.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
program=$here/../../build/tests/bench/bench_sched
size="--nodes 1000 --slots 100 --mini-batches 10000000"
while [ $# -gt 0 ]; do
  case $1 in
    --short) size="--nodes 20 --slots 5 --mini-batches 20000" ;;
    --program) program=$(readlink -f "$2") && shift ;;
    -*) echo "unknown option '$1'; --short, --program PATH" >&2 && exit 2 ;;
    *) break ;;
  esac
  shift
done
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046 # the names are words
  set -- $("$program" --list | awk '{ print $1 }')
fi
echo "$size"
first=1
for name in "$@"; do
  # shellcheck disable=SC2086 # several options
  "$program" $size "$name" | tail -n "+$first"
  first=2
done
