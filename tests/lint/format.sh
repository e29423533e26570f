#!/bin/bash
# Checks that every C file of the tree follows .clang-format. With --fix, formats them.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
mapfile -t files < <(luajit tests/lint/list.lua . c h | grep -E '^(core|lua|tests)/')
[ ${#files[@]} -gt 0 ]
clang-format --version >/dev/null
if [ "${1-}" = --fix ]; then
  clang-format -i "${files[@]}"
  exit
fi
# Many files per process, and one process per core: a process per file would spend most of its time
# starting.
mapfile -t wrong < <(printf '%s\0' "${files[@]}" |
  xargs -0 -P "$(nproc)" -n 32 clang-format --dry-run 2>&1 | sed -nE 's/^([^:]+):[0-9]+:[0-9]+: .*/\1/p' | sort -u)
for file in "${wrong[@]}"; do
  echo "$file: not laid out as .clang-format says"
done
echo "${#files[@]} files, ${#wrong[@]} to be laid out anew (tests/lint/format.sh --fix)"
exit $((${#wrong[@]} > 0))
