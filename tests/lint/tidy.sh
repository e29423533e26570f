#!/bin/bash
# Runs clang-tidy (.clang-tidy) over core/ and lua/: tidy.sh BUILD_FOLDER. It reads the build's
# compile_commands.json, and takes some minutes; tests/run.sh --long runs it.
set -eu -o pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
mapfile -t files < <(luajit tests/lint/list.lua . c | grep -E '^(core|lua)/')
[ ${#files[@]} -gt 0 ]
# A few files per process: a process per file would spend much of its time starting.
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 8 clang-tidy -p "$build" --quiet 2>/dev/null
