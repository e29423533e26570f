#!/bin/bash
# The hosts of examples/embed, built against the installed library through pkg-config and run:
# embed.sh BUILD CC LIBDIR
set -eu -o pipefail
build=$1 cc=$2 libdir=$3
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export LC_ALL=C TIDEMILL_WORKSPACE=$dir/workspace PKG_CONFIG_PATH=$dir/prefix/$libdir/pkgconfig LD_LIBRARY_PATH=$dir/prefix/$libdir
unset TIDEMILL_PROGRAM

fail()
{
  echo "embed.sh: $*" >&2
  exit 1
}

cmake --install "$build" --prefix "$dir/prefix" >"$dir/install.log"
tar -C "$examples" -cf - --exclude=.tidemill hello | tar -C "$dir" -xf -
cat >"$dir/failing.lua" <<'END'
local tm = require "tidemill"
return tm.Pipeline { name = "failing", steps = { tm.ParallelRunStep { name = "score",
  parallel_run_config = tm.ParallelRunConfig { entry_script = "failing_score.lua", error_threshold = 0, run_max_try = 1 },
  inputs = tm.Dataset.File.from_files "hello/texts/*.txt" } } }
END
echo 'function run() error "not today" end' >"$dir/failing_score.lua"

rows() # the rows of the newest job of hello
{
  local jobs=("$TIDEMILL_WORKSPACE"/jobs/hello-*)
  sort "${jobs[-1]}/count-words/output/parallel_run_step.txt"
}
"$dir/prefix/bin/tidemill" run "$dir/hello/pipeline.lua" --progress none
rows >"$dir/expected"
[ "$(wc -l <"$dir/expected")" = 5 ] || fail "the program's own rows"

try() # NAME COMMAND...: Completed with those rows; Failed, and no pipeline at all
{
  local name=$1 status
  shift
  rm -r "$TIDEMILL_WORKSPACE"
  "$@" "$dir/hello/pipeline.lua" >"$dir/out" 2>"$dir/err" || { cat "$dir/err"; fail "$name: status $?"; }
  grep -q Completed "$dir/out" || fail "$name: $(cat "$dir/out")"
  rows | cmp - "$dir/expected" || fail "$name: other rows"
  status=0
  "$@" "$dir/failing.lua" >"$dir/out" 2>"$dir/err" || status=$?
  [ "$status" = 1 ] || fail "$name: status $status of a job that fails: $(cat "$dir/err")"
  grep -q Failed "$dir/out" "$dir/err" || fail "$name: $(cat "$dir/out" "$dir/err")"
  status=0
  "$@" "$dir/none.lua" >"$dir/out" 2>"$dir/err" || status=$?
  [ "$status" != 0 ] || fail "$name: no pipeline file, and status 0"
  grep -q "cannot open pipeline file" "$dir/err" || fail "$name: $(cat "$dir/err")"
}

cd "$dir"
for host in minimal own_loop poll; do
  packages=tidemill
  [ "$host" != own_loop ] || packages="tidemill libuv"
  # shellcheck disable=SC2086,SC2046
  "$cc" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -Werror -o "$host" "$examples/embed/$host.c" \
    $(pkg-config --cflags --libs $packages)
  try "$host" "./$host"
done
[ "$(wc -l <"$examples/embed/minimal.c")" -le 30 ] || fail "minimal.c is no longer minimal"

export LUA_CPATH="$dir/prefix/lib/lua/5.1/?.so"
module=$dir/prefix/lib/lua/5.1/tidemill.so
readelf -d "$module" | grep -q 'NEEDED.*lua' && fail "the module needs a Lua of its own"
[ "$(nm -D --defined-only "$module" | awk '{ print $3 }')" = luaopen_tidemill ] || fail "the module exports more than its opening"
try script.lua luajit "$examples/embed/script.lua"
luajit -e 'require "tidemill"; local f = require("tidemill.frame").from_rows({{1, "a"}, {2, "b"}}, {"n", "s"}); assert(#f == 2)'
exit 0
