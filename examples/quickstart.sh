#!/bin/bash
# From a fresh Debian 12 to a first result: installs what is missing, builds, runs examples/digits.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tests/support/packages.sh
. tests/support/packages.sh
step=predict-digits

result=$(mktemp)
trap 'rm -f "$result"' EXIT

say()
{
  printf '\n== %s\n' "$*"
}

# The value of a string in the JSON result, the first of that name.
field()
{
  sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$result" | tail -n 1
}

say "packages"
install_packages build

say "build"
options=()
[ -f build/CMakeCache.txt ] || options+=(-G Ninja)
command -v dpkg-query >/dev/null && is_installed libcmocka-dev || options+=(-DTM_TESTS=OFF)
cmake -S . -B build "${options[@]}" >"$result" || { cat "$result"; exit 1; }
NINJA_STATUS='[%f/%t] ' cmake --build build --target tidemill -j "$(nproc)"

say "build/tidemill run examples/digits/pipeline.lua --no-reuse"
status=0 # without --no-reuse a second run would take over the result of the first, and show no work
build/tidemill run examples/digits/pipeline.lua --no-reuse --json >"$result" || status=$?
job=$(field job_dir)
if [ "$status" -ne 0 ]; then
  cat "$result"
  [ -z "$job" ] || echo "where to look: $job/$step/logs/readme.txt"
  exit "$status"
fi

output=$(field output)
[ ! -d "$output" ] || output=$output/predictions.txt
say "the first of $(wc -l <"$output") rows"
head -n 5 "$output"
say "how many are right"
build/tidemill lua examples/digits/accuracy.lua "$output"
say "where things are"
echo "result  $output"
echo "logs    $job/$step/logs/"
echo "script  examples/digits/model/score.lua; a smaller one: examples/hello/"
