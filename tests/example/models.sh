#!/bin/bash
# Runs the scripts and commands of the manual's page about models in the examples that it names, and
# compares what they print with the page: models.sh PROGRAM
#
# A script with a run() becomes the score.lua of the commands after it, a pipeline is only planned,
# and any other script is run. "..." in what is printed stands for any text.
set -eu -o pipefail
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

TIDEMILL_ONNXRUNTIME=${TM_TEST_ONNXRUNTIME_1_30-}
if [ ! "$TIDEMILL_ONNXRUNTIME" ]; then
  echo "${TM_TEST_ONNXRUNTIME_MISSING-run it by ctest, or set TM_TEST_ONNXRUNTIME_1_30}"
  exit 77
fi
export TIDEMILL_ONNXRUNTIME TIDEMILL_WORKSPACE=$dir/workspace LC_ALL=C

# The blocks and the commands, as files in their order: 01.Images.lua, 02.Images.sh, 03.Images.txt;
# the second word is the chapter's first.
mkdir "$dir/blocks"
awk -v dir="$dir/blocks" '
  function open(kind) { file = sprintf("%s/%02d.%s.%s", dir, ++n, chapter, kind) }
  BEGIN { chapter = "Start" }
  /^## / { chapter = $2 }
  /^```/ { if (is_open) { is_open = 0; close(file) } else { is_open = 1; open($0 == "```lua" ? "lua" : "txt") } next }
  is_open { print >file }
  !is_open && /^    tidemill map / { open("sh"); print >file; close(file) }' "$root/lua/manual/models.md"
cp -r "$root/examples/digits_onnx" "$root/examples/iris_onnx" "$root/examples/iris" "$dir"
mkdir "$dir/texts" "$dir/bin"
"$program" lua "$root/tests/example/texts.lua" "$dir/texts"
ln -s "$program" "$dir/bin/tidemill"
PATH=$dir/bin:$PATH

# as_shown FILE: what was printed is that.
as_shown()
{
  local line pattern
  [ "$(wc -l <"$dir/said")" = "$(wc -l <"$1")" ]
  while IFS= read -r line; do
    pattern=$(sed -E 's/[][\\.*^$+?(){}|]/\\&/g; s/(\\\.){3}/.*/g' <<<"$line")
    grep -qE -- "^$pattern\$" "$dir/said" || { echo "models.sh: '${1##*/}' is not printed: $line" >&2; exit 1; }
  done <"$1"
}

scripts=0 texts=0
for block in "$dir"/blocks/*; do
  echo "${block##*/}"
  case $block in
  *.Rows.*) cd "$dir/iris_onnx" ;;
  *.Texts.*) cd "$dir/texts" ;;
  *) cd "$dir/digits_onnx" ;;
  esac
  case $block in
  *.sh) bash -o pipefail "$block" >"$dir/said" ;;
  *.txt) as_shown "$block"; texts=$((texts + 1)) ;;
  *.lua)
    scripts=$((scripts + 1))
    if grep -q '^function run' "$block"; then
      cp "$block" score.lua
    elif grep -q '^return tidemill.Pipeline' "$block"; then
      cp "$block" page.lua
      "$program" run page.lua --dry-run >"$dir/planned"
      grep -q 'model/digits\.onnx' "$dir/planned"
    else
      "$program" lua "$block"
    fi ;;
  esac
done
[ $scripts -ge 6 ] && [ $texts -ge 3 ]
