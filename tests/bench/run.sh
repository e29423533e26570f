#!/bin/bash
# Compares tidemill with other tools, on this machine, now. Prints one table; see README.md.
set -eu -o pipefail

usage()
{
  cat <<'END'
usage: tests/bench/run.sh [--short] [--dir DIR] [--program FILE] [--figures DIR] [overhead] [trivial] [listing] [growth]
  --short         small numbers: shows that it works, not how fast it is
  --figures DIR   writes what listing and growth measure to DIR/figures.tsv, and draws DIR/figures.svg
  --dir DIR       where jobs and lists lie (default: $TMPDIR or /tmp); the trivial job is on /dev/shm
  --program FILE  the program (default: build/tidemill)
END
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
program=$root/build/tidemill
dir=${TMPDIR:-/tmp}
short=no
figures=
parts=()
while [ $# -gt 0 ]; do
  case $1 in
    --short) short=yes ;;
    --dir) dir=$2; shift ;;
    --program) program=$(realpath "$2"); shift ;;
    --figures) figures=$(realpath "$2"); shift ;;
    -h|--help) usage; exit 0 ;;
    overhead|trivial|listing|growth) parts+=("$1") ;;
    *) echo "run.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(overhead trivial listing growth)
[ -x "$program" ] || { echo "run.sh: no program at '$program'; build it first" >&2; exit 2; }

if [ $short = yes ]; then
  mini_batches=2000 repeats=3 trivial_repeats=3 scale=20
  folders=20 files=(200 2000) counts=(100 1000) scale_repeats=1
else
  mini_batches=200000 repeats=5 trivial_repeats=20 scale=100
  folders=1000 files=(10000 100000 1000000) counts=(10000 100000 1000000 10000000) scale_repeats=3
fi
workers=2
points=${figures:+$figures/figures.tsv}
[ -z "$points" ] || printf '# part\tseries\tcount\tvalues: see plot.lua\n' >"$points"

place=$(mktemp -d "$dir/tidemill-bench-XXXXXX")
fast=$(mktemp -d /dev/shm/tidemill-bench-XXXXXX)
trap 'rm -rf "$place" "$fast"' EXIT

# shellcheck source=tests/bench/common.sh
source "$here/common.sh"

# pipeline FILE SCRIPT INPUT ARGUMENT [MINI_BATCH_SIZE]: INPUT is a Lua expression.
pipeline()
{
  local script=$2 input=$3 argument=$4 size=${5:-10}
  cat >"$1" <<END
local tidemill = require "tidemill"
local config = tidemill.ParallelRunConfig {
  entry_script = "$here/$script", mini_batch_size = $size, process_count_per_node = $workers,
  output_action = "append_row", append_row_file_name = "rows.txt",
}
local step = tidemill.ParallelRunStep {
  name = "bench", parallel_run_config = config, inputs = { $input }, arguments = { $argument },
}
return tidemill.Pipeline { name = "bench", steps = { step } }
END
}

# job PIPELINE DIR: runs it in a new directory.
job()
{
  "$program" run "$1" --job-dir "$2" --progress none 2>"$place/words" ||
    { cat "$place/words" >&2; echo "run.sh: the job has failed" >&2; exit 1; }
}

# list_of COUNT FILE: paths of files that need not exist.
list_of()
{
  awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "/data/images/part_%03d/image_%07d.pgm\n", i % 1000, i }' >"$2"
}

tidemill_once() # PIPELINE ROWS: seconds
{
  rm -rf "$place/job"
  seconds job "$1" "$place/job"
  check_rows "$place/job/bench/output/rows.txt" "$2"
}

pool_once() # LIST ROWS CHUNKSIZE: seconds
{
  python3 "$here/pool.py" "$1" "$place/pool.txt" $workers "$3"
  check_rows "$place/pool.txt" "$2"
}

xargs_all()
{
  xargs -P$workers -n10 printf '%s\n' <"$1" >"$place/xargs.txt"
}

parallel_all()
{
  parallel --will-cite -j$workers -N10 "printf '%s\\n'" <"$1" >"$place/parallel.txt" 2>/dev/null
}

overhead_row() # NAME US OURS
{
  row "$1" '%10s us  %8s' "$2" "$(awk -v a="$2" -v b="$3" 'BEGIN { printf "%.1fx", a / b }')"
}

overhead()
{
  local rows=$((mini_batches * 10)) few=$((mini_batches / scale)) ours us chunksize
  list_of "$rows" "$place/list"
  head -n $((few * 10)) "$place/list" >"$place/few"
  pipeline "$place/overhead.lua" noop.lua "tidemill.Dataset.File.from_manifest(\"$place/list\")" ""
  heading "A mini-batch of 10 paths, no-op run(), $workers workers, whole process; $mini_batches of them, median of $repeats"
  ours=$(per "$(repeat $repeats tidemill_once "$place/overhead.lua" $rows)" $mini_batches)
  overhead_row "tidemill run" "$ours" "$ours"
  for chunksize in 1 16; do
    has python3 "multiprocessing.Pool, chunksize $chunksize" || continue
    us=$(per "$(repeat $repeats pool_once "$place/list" $rows $chunksize)" $mini_batches)
    overhead_row "multiprocessing.Pool, chunksize $chunksize" "$us" "$ours"
  done
  us=$(per "$(repeat $repeats seconds xargs_all "$place/few")" $few)
  check_rows "$place/xargs.txt" $((few * 10))
  overhead_row "xargs -P$workers -n10 ($few mini-batches)" "$us" "$ours"
  if has parallel "GNU parallel"; then
    us=$(per "$(repeat $repeats seconds parallel_all "$place/few")" $few)
    check_rows "$place/parallel.txt" $((few * 10))
    overhead_row "GNU parallel -j$workers -N10 ($few mini-batches)" "$us" "$ours"
  fi
}

trivial_once()
{
  rm -rf "$fast/job"
  seconds job "$fast/trivial.lua" "$fast/job"
}

trivial()
{
  list_of 10 "$fast/list"
  pipeline "$fast/trivial.lua" noop.lua "tidemill.Dataset.File.from_manifest(\"$fast/list\")" ""
  heading "The smallest job, one mini-batch, on tmpfs, whole process; median of $trivial_repeats"
  row "tidemill run" '%10s ms' "$(repeat $trivial_repeats trivial_once | awk '{ printf "%.1f", $1 * 1e3 }')"
  check_rows "$fast/job/bench/output/rows.txt" 10
}

# shellcheck source=tests/bench/scale.sh
source "$here/scale.sh"

echo "$(uname -sm), $(nproc) cores, $(df --output=fstype "$dir" | tail -n 1) at $dir, $("$program" version | head -n 1)"
for part in "${parts[@]}"; do
  "$part"
done
[ -z "$figures" ] || "$program" lua "$here/plot.lua" "$points" "$figures/figures.svg"
