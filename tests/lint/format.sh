#!/bin/bash
# Every C file of the tree is laid out as .clang-format says. With --fix it makes them so.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
mapfile -d '' files < <(find core lua tests -name '*.[ch]' -print0 | sort -z)
[ ${#files[@]} -gt 0 ]
if [ "${1-}" = --fix ]; then
  clang-format -i "${files[@]}"
  exit
fi
wrong=0
for file in "${files[@]}"; do
  if ! clang-format --dry-run -Werror "$file" 2>/dev/null; then
    echo "$file: not laid out as .clang-format says"
    wrong=$((wrong + 1))
  fi
done
echo "${#files[@]} files, $wrong to be laid out anew (tests/lint/format.sh --fix)"
exit $((wrong > 0))
