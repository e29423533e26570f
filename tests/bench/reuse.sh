#!/usr/bin/env bash
# How long it takes to find out that a step over many files need not run: the whole process, with
# the job and its result.
#   tests/bench/reuse.sh [--short] [--program PATH]
# Each figure is the shortest of several runs: other work on the machine can only lengthen a run.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
program=$here/../../build/tidemill files=100000 runs=10
while [ $# -gt 0 ]; do
  case $1 in
    --short) files=2000 runs=2 ;;
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
export TIDEMILL_WORKSPACE=$dir/workspace
echo 'function run(m) return m end' >"$dir/score.lua"
cat >"$dir/pipeline.lua" <<'END'
local tm = require "tidemill"
return tm.Pipeline { name = "reuse", steps = { tm.ParallelRunStep {
  name = "score", inputs = tm.Dataset.File.from_files "in",
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 100 },
} } }
END
mkdir "$dir/in"
for ((i = 0; i < files; i += 1000)); do
  mkdir "$dir/in/$i"
  (cd "$dir/in/$i" && seq -f '%g.txt' "$i" $((i + 999)) | xargs touch)
done

# shortest WORD COMMAND...: the shortest time of several runs, each of which must print WORD.
shortest()
{
  local word=$1
  shift
  for _ in $(seq "$runs"); do
    seconds sh -c '"$@" >"$0" 2>&1' "$dir/out" "$@"
    grep -q "$word" "$dir/out" || { echo "not $word: $(cat "$dir/out")" >&2 && exit 1; }
  done | sort -n | head -1
}

"$program" run "$dir/pipeline.lua" --progress none 2>/dev/null
heading "a step over $files files that were there before"
run=$(shortest "is reused" "$program" run "$dir/pipeline.lua" --progress none)
row "it is reused: tidemill run" '%8.1f ms' "$(awk -v s="$run" 'BEGIN { print s * 1000 }')"
anew=$(shortest "Completed" "$program" run "$dir/pipeline.lua" --progress none --no-reuse)
row "it is run: --no-reuse" '%8.1f ms' "$(awk -v s="$anew" 'BEGIN { print s * 1000 }')"
echo changed >"$dir/in/0/7.txt"
why=$(shortest "7.txt': size 0 -> 8" "$program" run "$dir/pipeline.lua" --dry-run --explain)
row "one has changed: --dry-run --explain" '%8.1f ms' "$(awk -v s="$why" 'BEGIN { print s * 1000 }')"
