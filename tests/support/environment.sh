#!/bin/bash
# Tests see none of the TIDEMILL_* variables of whoever runs them: environment.sh [BUILD]
#
# Without BUILD it fails where it sees such a variable. With BUILD it sets some, and has ctest run
# the test of that build folder that is this script without BUILD.
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
