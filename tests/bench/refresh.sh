#!/usr/bin/env bash
# How long a host takes to open the record of a running job, and to refresh it when a few
# mini-batches have ended since (bench_refresh).
#   tests/bench/refresh.sh [--short] [--program PATH] [--host PATH]
# The job has run most of its mini-batches; the last ones wait for bench_refresh.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
program=$here/../../build/tidemill host=$here/../../build/tests/bench/bench_refresh
counts=(10000 100000 1000000) times=25
while [ $# -gt 0 ]; do
  case $1 in
    --short) counts=(1000) times=1 ;;
    --program) program=$(readlink -f "$2") && shift ;;
    --host) host=$(readlink -f "$2") && shift ;;
    *) echo "unknown option '$1'; --short, --program PATH, --host PATH" >&2 && exit 2 ;;
  esac
  shift
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TIDEMILL_WORKSPACE=$dir/workspace
mkdir "$TIDEMILL_WORKSPACE"
cat >"$dir/score.lua" <<'END'
local waits, go
function init()
  waits, go = io.open(arg[1] .. "/waits", "w"), io.open(arg[1] .. "/go")
  waits:setvbuf "no"
  go:setvbuf "no"
end
function run(mini_batch)
  if mini_batch[1]:find "wait" then
    waits:write "x"
    go:read(1)
  end
  return mini_batch
end
END

measure() # COUNT
{
  local waits=$((times * 10 + 1000)) job=$dir/job-$1 pid
  rm -f "$dir/go" "$dir/waits"
  mkfifo "$dir/go" "$dir/waits"
  exec 3<>"$dir/go" 4<>"$dir/waits" # so that opening one waits for nobody
  { seq "$1" | sed 's#^#/in/#' && seq "$waits" | sed 's#^#/in/wait#'; } >"$dir/list"
  cat >"$dir/pipeline.lua" <<END
local tidemill = require "tidemill"
return tidemill.Pipeline { name = "refresh", steps = { tidemill.ParallelRunStep {
  name = "score", arguments = { "$dir" },
  parallel_run_config = tidemill.ParallelRunConfig {
    entry_script = "$dir/score.lua", mini_batch_size = 1, process_count_per_node = 2,
  },
  inputs = { tidemill.Dataset.File.from_manifest "$dir/list" },
} } }
END
  "$program" run "$dir/pipeline.lua" --job-dir "$job" --progress none 2>"$dir/words" &
  pid=$!
  timeout 600 head -c 2 <&4 >"$dir/waiting" # both workers have done what was before
  "$host" "$job" "$dir/go" "$times"
  head -c "$waits" /dev/zero >&3
  wait "$pid" || { cat "$dir/words" >&2 && exit 1; }
  exec 3>&- 4>&-
}

for count in "${counts[@]}"; do
  measure "$count"
done
