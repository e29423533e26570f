#!/bin/bash
# Measures archives: how long it takes to list one and to read its entries, compared with the same
# files in folders; see README.md.
set -eu -o pipefail

usage()
{
  cat <<'END'
usage: tests/bench/archives.sh [--short] [--dir DIR] [--program FILE]
  --short         small numbers: shows that it works, not how fast it is
  --dir DIR       where files, archives and jobs lie (default: $TMPDIR or /tmp)
  --program FILE  the program (default: build/tidemill)
END
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$here/../../build/tidemill
dir=${TMPDIR:-/tmp}
count=100000 times=5
while [ $# -gt 0 ]; do
  case $1 in
    --short) count=500 times=1 ;;
    --dir) dir=$2; shift ;;
    --program) program=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    *) echo "archives.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
[ -x "$program" ] || { echo "archives.sh: no program at '$program'; build it first" >&2; exit 2; }
program=$(realpath "$program")
place=$(mktemp -d "$dir/tidemill-bench-XXXXXX")
trap 'rm -rf "$place"' EXIT
unset TMPDIR TIDEMILL_MEMORY_DIR # the default is measured

# shellcheck source=tests/bench/common.sh
source "$here/common.sh"

# pipeline NAME DATASET SCRIPT: DATASET is a Lua expression.
pipeline()
{
  cat >"$place/$1.lua" <<END
local tidemill = require "tidemill"
local config = tidemill.ParallelRunConfig {
  entry_script = "$here/archives/$3", mini_batch_size = 100, process_count_per_node = 2, append_row_file_name = "rows",
}
local step = tidemill.ParallelRunStep {
  name = "bench", parallel_run_config = config, inputs = { $2 }, allow_reuse = false,
}
return tidemill.Pipeline { name = "$1", steps = { step } }
END
}

run() # NAME: a job in the workspace of the same name, whose index it takes, and all rows of it
{
  rm -rf "$place/workspace-$1/jobs"
  TIDEMILL_WORKSPACE="$place/workspace-$1" "$program" run "$place/$1.lua" --progress none >"$place/log" 2>&1 \
    || { cat "$place/log" >&2; exit 1; }
  check_rows "$place/workspace-$1/jobs"/*/bench/output/rows "$count"
}

run_anew() # NAME: the same, with a new listing
{
  rm -rf "$place/workspace-$1"
  run "$1"
}

list() # NAME
{
  TIDEMILL_WORKSPACE="$place/workspace-$1" "$program" run "$place/$1.lua" --dry-run >"$place/log" 2>&1 \
    || { cat "$place/log" >&2; exit 1; }
}

shortest() # COMMAND...
{
  for _ in $(seq "$times"); do
    seconds "$@"
  done | sort -n | head -n 1
}

python3 "$here/archives/generate.py" "$place" "$count"
from="tidemill.Dataset.File.from"
pipeline plain "${from}_files 'plain'" paths.lua
for kind in zip tar tar.gz; do
  pipeline "${kind/./-}-names" "${from}_archives('a.$kind', { extract = false })" names.lua
  pipeline "${kind/./-}-paths" "${from}_archives('a.$kind')" paths.lua
done

heading "$count entries of 1 KB, listed (whole process, the shortest of $times)"
for kind in plain zip-names tar-names tar-gz-names; do
  time=$(shortest list $kind)
  row "${kind%-names}" '%8.3f s' "$time"
done

heading "all of them read by 2 workers, 100 in a mini-batch (whole process, the shortest of $times)"
base=$(shortest run plain)
measure() # WHAT NAME [run_anew]
{
  local time
  time=$(shortest "${3:-run}" "$2")
  row "$1" '%8.3f s %8.1fx' "$time" "$(awk -v a="$time" -v b="$base" 'BEGIN { print a / b }')"
}
row "plain files" '%8.3f s %8.1fx' "$base" 1
for kind in zip tar tar.gz; do
  measure "$kind, context:open(), the first time" "${kind/./-}-names" run_anew
  measure "$kind, context:open(), listed before" "${kind/./-}-names"
done
for kind in zip tar tar.gz; do
  measure "$kind, extracted" "${kind/./-}-paths"
  TMPDIR=$place measure "$kind, extracted, TMPDIR=$dir" "${kind/./-}-paths"
done
