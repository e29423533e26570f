#!/usr/bin/env bash
# How long it takes to plan a pipeline of many steps: the whole process of `tidemill graph`.
#   tests/bench/graph.sh [--short] [--program PATH]
# Each figure is the shortest of several runs: other work on the machine can only lengthen a run.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
program=$here/../../build/tidemill steps=1000 runs=25
while [ $# -gt 0 ]; do
  case $1 in
    --short) steps=50 runs=1 ;;
    --program) program=$(readlink -f "$2") && shift ;;
    *) echo "unknown option '$1'; --short, --program PATH" >&2 && exit 2 ;;
  esac
  shift
done
program=$(readlink -f "$program")
# shellcheck source=tests/bench/common.sh
source "$here/common.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo 'function run(m) return m end' >"$dir/score.lua"

# pipeline READS: each step reads the outputs of the READS steps before it; 0: files.
pipeline()
{
  cat >"$dir/pipeline.lua" <<END
local tm = require "tidemill"
local config = tm.ParallelRunConfig { entry_script = "score.lua" }
local outputs, steps = {}, {}
for i = 1, $steps do
  local inputs = {}
  for k = math.max(1, i - $1), i - 1 do inputs[#inputs + 1] = outputs[k] end
  outputs[i] = tm.OutputFileDatasetConfig { name = "rows" }
  steps[i] = tm.ParallelRunStep {
    name = ("step-%04d"):format(i), parallel_run_config = config, output = outputs[i],
    inputs = #inputs > 0 and inputs or tm.Dataset.File.from_files "in",
  }
end
return tm.Pipeline { name = "graph", steps = steps }
END
}

# shortest READS LINES: every step and every edge must be there.
shortest()
{
  pipeline "$1"
  for _ in $(seq "$runs"); do
    seconds sh -c "'$program' graph '$dir/pipeline.lua' --format dot >'$dir/out'"
    check_rows "$dir/out" "$2"
  done | sort -n | head -1
}

heading "a pipeline of $steps steps is planned, and drawn"
for reads in 0 1 10; do
  edges=$((reads == 0 ? 0 : reads * steps - reads * (reads + 1) / 2))
  time=$(shortest $reads $((steps + edges + 4))) # four are around them
  row "each step reads $reads others" '%8.1f ms' "$(awk -v s="$time" 'BEGIN { print s * 1000 }')"
done
