#!/bin/bash
# Checks that tests see none of the caller's TIDEMILL_* variables: environment.sh [BUILD]
#
# Without BUILD it fails if such a variable is set. With BUILD it sets some of them and lets ctest
# run the test in that build folder that calls this script without BUILD.
set -eu -o pipefail
if [ $# = 0 ]; then
  if env | grep '^TIDEMILL'; then exit 1; fi
  exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo "subdirs(\"$1\")" >"$dir/CTestTestfile.cmake"
TIDEMILL_WORKSPACE=$dir/workspace TIDEMILL_LATER='a;b [c' TIDEMILL=$dir \
  ctest --test-dir "$dir" --no-tests=error --output-on-failure -R '^support/no_variables$'
