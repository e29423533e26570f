#!/bin/bash
# Runs every command of the README, in its order, as a reader would: readme.sh PROGRAM
#
# What a block of "sh" prints is compared with the block after it, if that has no language; "..."
# there stands for any text, and the worker may be another one. The commands of the chapter
# "Install" are indented; tests/install runs these.
set -eu -o pipefail
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin" "$dir/home"
ln -s "$program" "$dir/bin/tidemill"
export PATH="$dir/bin:$PATH" HOME="$dir/home" LC_ALL=C
unset TIDEMILL_WORKSPACE

fail()
{
  echo "readme.sh: $*" >&2
  exit 1
}

# The blocks, as files: 01.sh, 02.txt, ...
awk -v dir="$dir" '
  /^```/ { if (is_open) { is_open = 0; close(file) }
           else { is_open = 1; file = sprintf("%s/%02d.%s", dir, ++n, $0 == "```sh" ? "sh" : "txt"); printf "" >file }
           next }
  is_open { print >file }' "$root/README.md"

cd "$dir/home"
statuses=
for block in "$dir"/*.sh; do
  status=0
  bash "$block" >"$dir/said" 2>&1 </dev/null || status=$?
  statuses="$statuses$status "
  cat "$dir/said"
  name=$(basename "$block" .sh)
  shown=$dir/$(printf %02d $((10#$name + 1))).txt
  [ -e "$shown" ] || continue
  while IFS= read -r line; do
    pattern=$(sed -E 's/[][\\.*^$+?(){}|]/\\&/g; s/(\\\.){3}/.*/g; s/process[0-9]+/process[0-9]+/' <<<"$line")
    grep -qE -- "^$pattern\$" "$dir/said" || fail "block $name does not print: $line"
  done <"$shown"
done
# The third block is the job that fails; the fourth replays, mends and resumes it.
[ "$statuses" = "0 0 1 0 " ] || fail "the blocks ended with $statuses"
rows=$(find .tidemill/jobs/sums-* -name parallel_run_step.txt -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
[ "$(sort "$rows" | sed -n 3p)" = "part-ac 25050" ] || fail "the rows of the job that was resumed"
words=$(wc -w <"$root/README.md")
[ "$words" -le 700 ] || fail "the README has $words words; a first page has 700"
