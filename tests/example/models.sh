#!/bin/bash
# Runs the scripts of the manual's page about models in the examples that it names, and compares
# what they print with the page: models.sh PROGRAM
set -eu -o pipefail
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$root/lua/manual/models.md
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

TIDEMILL_ONNXRUNTIME=${TM_TEST_ONNXRUNTIME_1_30-}
if [ ! "$TIDEMILL_ONNXRUNTIME" ]; then
  echo "${TM_TEST_ONNXRUNTIME_MISSING-run it by ctest, or set TM_TEST_ONNXRUNTIME_1_30}"
  exit 77
fi
export TIDEMILL_ONNXRUNTIME TIDEMILL_WORKSPACE=$dir/workspace LC_ALL=C

# The blocks, as files: 1.lua, 2.lua, ... and 1.txt, ...
awk -v dir="$dir" '
  /^```/ { if (is_open) { is_open = 0; close(file) }
           else { is_open = 1; kind = $0 == "```lua" ? "lua" : "txt"; file = dir "/" ++n[kind] "." kind }
           next }
  is_open { print >file }' "$page"
[ "$(find "$dir" -name '*.lua' | wc -l)" = 5 ]
cp -r "$root/examples/digits_onnx" "$root/examples/iris_onnx" "$root/examples/iris" "$dir"

# shows SCRIPT TEXT: runs the command of the page that begins with `tidemill map SCRIPT`.
shows()
{
  local command
  command=$(grep -E "^    tidemill map $1" "$page" | sed -n "$2p")
  tidemill() { "$program" "$@" --progress none; }
  eval "$command" >"$dir/said"
  diff "$dir/$2.txt" "$dir/said"
}

cd "$dir/digits_onnx"
cp "$dir/1.lua" score.lua
shows score.lua 1
"$program" lua "$dir/2.lua" | grep -qE '^1\.[0-9]+\.[0-9]+$'
"$program" lua "$dir/4.lua"
cp "$dir/5.lua" page.lua
"$program" run page.lua --dry-run >"$dir/said"
grep -q 'model/digits\.onnx' "$dir/said"
cd "$dir/iris_onnx"
cp "$dir/3.lua" score.lua
shows score.lua 2
