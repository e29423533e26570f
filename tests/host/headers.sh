#!/bin/bash
# Compiles each public header alone, in each language that it supports, and looks at its names:
# headers.sh INCLUDE CC [PAGE]. PAGE: a page of the manual; its pieces of C must compile, in order.
set -eu
include=$1 cc=$2 page=${3:-}
n=0
for path in "$include"/tidemill.h "$include"/tidemill/*.h; do
  header=${path#"$include"/}
  for language in 'c99 c' 'c11 c' 'c++11 c++' 'c++17 c++'; do
    read -r standard kind <<<"$language"
    printf '#include <%s>\nextern int i;\n' "$header" |
      "$cc" -x "$kind" "-std=$standard" -pedantic -Wall -Wextra -Werror -fsyntax-only "-I$include" - ||
      { echo "headers.sh: <$header> as $standard" >&2; exit 1; }
    n=$((n + 1))
  done
done

# Each _INIT macro, in each language.
inits=$(cat "$include"/tidemill/*.h | grep -oE '#define TIDEMILL_[A-Z_]+_INIT TIDEMILL_SIZED(_WITH)?\(struct [a-z_]+' |
  sed -E 's/#define ([A-Z_]+) .*(struct [a-z_]+)/  { \2 o = \1; (void)o; }/')
[ "$(echo "$inits" | wc -l)" -ge 12 ] || { echo "headers.sh: there are few _INIT macros" >&2; exit 1; }
for language in 'c99 c' 'c11 c' 'c++11 c++' 'c++17 c++' 'c++20 c++'; do
  read -r standard kind <<<"$language"
  printf '#include <tidemill.h>\nvoid f(void);\nvoid f(void)\n{\n%s\n}\n' "$inits" |
    "$cc" -x "$kind" "-std=$standard" -pedantic -Wall -Wextra -Werror -fsyntax-only "-I$include" - ||
    { echo "headers.sh: the _INIT macros as $standard" >&2; exit 1; }
done

if [ -n "$page" ]; then
  pieces=$(sed -n '/^```c$/,/^```$/p' "$page" | grep -v '^```')
  [ -n "$pieces" ] || { echo "headers.sh: there is no C in '$page'" >&2; exit 1; }
  printf '#include <stdio.h>\n#include <tidemill.h>\nvoid f(void);\nvoid f(void)\n{\n%s\n}\n' "$pieces" |
    "$cc" -x c -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only "-I$include" - ||
    { echo "headers.sh: the C in '$page'" >&2; exit 1; }
fi

# Every macro, struct, enumeration, enumerator and function has the prefix.
macros() # FILE: the macros that it leaves defined
{
  echo "$1" | "$cc" -std=c11 -dM -E "-I$include" - | sort
}
std=$(macros '#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>')
macros '#include <tidemill.h>' | comm -13 <(echo "$std") - | grep -v '^#define TIDEMILL_' &&
  { echo "headers.sh: macros without a prefix" >&2; exit 1; }
names=$(echo '#include <tidemill.h>' | "$cc" -std=c11 -P -E "-I$include" - | tr -s ' \n' ' ' |
  grep -oE '(struct|enum) [A-Za-z_0-9]+|\b[A-Z][A-Z_0-9]{3,}\b|[A-Za-z_0-9]+\(')
echo "$names" | grep -vE '^((struct|enum) tidemill_|TIDEMILL_|tidemill_[a-z_]+\($|__[a-z_]+\($|visibility\($|struct (uv_loop_s|lua_State)$)' | sort -u | grep . &&
  { echo "headers.sh: names without a prefix" >&2; exit 1; }
# The values of `enum tidemill_worker_state` begin with TIDEMILL_WORKER_, errors with TIDEMILL_E.
enums=$(echo '#include <tidemill.h>' | "$cc" -std=c11 -P -E "-I$include" - | tr -s ' \n' ' ' |
  grep -oE 'enum tidemill_[a-z_]+ \{[^}]*\}' | sed -E 's/ = -?[0-9]+//g')
while read -r _ name values; do
  family=TIDEMILL_$(echo "${name#tidemill_}" | cut -d_ -f1 | tr a-z A-Z)_
  [ "$name" != tidemill_error_code ] || family=TIDEMILL_E
  echo "$values" | tr -d '{} ' | tr , '\n' | grep -v "^$family" | grep . &&
    { echo "headers.sh: values of 'enum $name' without '$family'" >&2; exit 1; }
done <<<"$enums"
[ "$(echo "$enums" | wc -l)" -ge 14 ] || { echo "headers.sh: there are few enumerations" >&2; exit 1; }
echo '#include <tidemill.h>' | "$cc" -std=c11 -P -E "-I$include" - | tr -s ' \n' ' ' | grep -oE '\(void \*data, [^)]*\)' &&
  { echo "headers.sh: a callback whose data is not its last argument" >&2; exit 1; }
[ "$(echo "$names" | wc -l)" -gt 500 ] || { echo "headers.sh: there are few names" >&2; exit 1; }
[ "$n" -ge 32 ] || { echo "headers.sh: there are only $n cases in '$include'" >&2; exit 1; }
