#!/bin/bash
# Compiles each public header alone, in each language that it supports: headers.sh INCLUDE CC
set -eu
include=$1 cc=$2
n=0
for path in "$include"/tidemill.h "$include"/tidemill/*.h; do
  header=${path#"$include"/}
  for language in 'c99 c' 'c11 c' 'c++11 c++' 'c++17 c++'; do
    read -r standard kind <<<"$language"
    echo "#include <$header>" |
      "$cc" -x "$kind" "-std=$standard" -pedantic -Wall -Wextra -Werror -fsyntax-only "-I$include" - ||
      { echo "headers.sh: <$header> as $standard" >&2; exit 1; }
    n=$((n + 1))
  done
done
[ "$n" -ge 32 ] || { echo "headers.sh: there are only $n cases in '$include'" >&2; exit 1; }
