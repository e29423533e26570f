#!/bin/bash
# Installs into a fresh prefix, moves it, and uses it like a new user: install.sh BUILD VERSION CC
# LIBDIR
set -eu -o pipefail
build=$1 version=$2 cc=$3 libdir=$4
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export LC_ALL=C

fail()
{
  echo "install.sh: $*" >&2
  exit 1
}

cmake --install "$build" --prefix "$dir/first" >"$dir/install.log"
mv "$dir/first" "$dir/moved here"
prefix="$dir/moved here"
for file in bin/tidemill include/tidemill.h include/tidemill/job.h "$libdir/libtidemill.a" "$libdir/libtidemill.so" \
    "$libdir/pkgconfig/tidemill.pc" share/man/man1/tidemill.1 share/man/man3/tidemill.h.3 \
    share/man/man7/tidemill-entry-script.7 share/man/man7/tidemill-troubleshooting.7 share/doc/tidemill/README.md \
    share/doc/tidemill/LICENSE share/doc/tidemill/lua-api.md share/doc/tidemill/lua/manual/migrating.md \
    share/doc/tidemill/examples/hello/pipeline.lua share/bash-completion/completions/tidemill \
    share/zsh/site-functions/_tidemill share/tidemill/lua/tidemill.lua \
    share/tidemill/lua/tidemill/entry_script.lua; do
  [ -s "$prefix/$file" ] || fail "'$file' is missing or empty"
done
[ "$(cd "$prefix/include" && find . -type f | sort)" = "$(cd "$here/../../core/include" && find . -name '*.h' | sort)" ] ||
  fail "the installed headers are not those of core/include"

# The library, by pkg-config.
export PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig"
[ "$(pkg-config --modversion tidemill)" = "$version" ] || fail "pkg-config says another version"
expected="$version EUSAGE: wrong usage or definition"
eval "$cc -Wall -Wextra -Werror -o '$dir/host' '$here/host.c' $(pkg-config --cflags --libs tidemill)"
readelf -d "$dir/host" | grep -q 'NEEDED.*libtidemill\.so\.0\.' || fail "the host does not need the library by its soname"
[ "$(LD_LIBRARY_PATH="$prefix/$libdir" "$dir/host")" = "$expected" ] || fail "the host with the shared library"
mkdir "$dir/static"
cp "$prefix/$libdir/libtidemill.a" "$dir/static/"
eval "$cc -o '$dir/host' '$here/host.c' '-L$dir/static' $(pkg-config --static --cflags --libs tidemill | sed 's/-ltidemill/-l:libtidemill.a/')"
readelf -d "$dir/host" | grep -q 'NEEDED.*libtidemill' && fail "the static host needs the shared library"
[ "$("$dir/host")" = "$expected" ] || fail "the host with the static library"
cat "$prefix/include/tidemill.h" "$prefix"/include/tidemill/*.h | tr -s ' \n' ' ' | grep -oE 'TIDEMILL_API [a-z_ *]+[ *][a-z_]+\(' | grep -oE '[a-z_]+\($' | tr -d '(' |
  sort >"$dir/named"
nm -D --defined-only "$build"/core/include/libtidemill.so | awk '$2 ~ /[TDB]/ { print $3 }' | sort >"$dir/exported"
[ "$(wc -l <"$dir/named")" -gt 40 ] || fail "the header names few functions"
diff "$dir/named" "$dir/exported" || fail "the header names (<), the library exports (>)"

bash "$here/../host/headers.sh" "$prefix/include" "$cc" || fail "a header alone"

# The CMake package.
mkdir "$dir/cmake"
cp "$here/host.c" "$dir/cmake/"
cat >"$dir/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(host LANGUAGES C)
find_package(tidemill REQUIRED)
add_executable(shared host.c)
target_link_libraries(shared PRIVATE tidemill::tidemill)
END
cmake -S "$dir/cmake" -B "$dir/cmake/build" "-DCMAKE_C_COMPILER=$cc" "-DCMAKE_PREFIX_PATH=$prefix" >"$dir/cmake.log" &&
  cmake --build "$dir/cmake/build" >>"$dir/cmake.log" || { cat "$dir/cmake.log"; fail "find_package(tidemill)"; }
[ "$("$dir/cmake/build/shared")" = "$expected" ] || fail "the host of the CMake package"

# The memory that an idle runtime costs a host, including the pages of all its libraries.
echo 'local tm = require "tidemill"
return tm.Pipeline { name = "idle", steps = { tm.ParallelRunStep { name = "score", inputs = tm.Dataset.File.from_files "in",
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua" } } } }' >"$dir/idle.lua"
eval "$cc -Wall -Wextra -Werror -o '$dir/alone' '$here/idle.c'"
eval "$cc -Wall -Wextra -Werror -DWITH_TIDEMILL -o '$dir/idle' '$here/idle.c' $(pkg-config --cflags --libs tidemill)"
added=$(( $(LD_LIBRARY_PATH="$prefix/$libdir" "$dir/idle" "$dir/idle.lua") - $("$dir/alone" "$dir/idle.lua") ))
echo "an idle runtime adds $added kB to its host"
[ "$added" -le 15360 ] || fail "an idle runtime adds $added kB, more than 15 MB"

# The program, with nothing but PATH, from another folder.
mkdir "$dir/elsewhere"
cd "$dir/elsewhere"
if [ -e "$prefix/libexec/tidemill/tidemill-portal" ]; then
  status=0
  said=$(TIDEMILL_WORKSPACE="$dir/none" "$prefix/bin/tidemill" portal 2>&1) || status=$?
  case $status-$said in 2-*"there is no workspace"*) ;; *) fail "the portal: $status, $said" ;; esac
fi
mkdir in
echo a >in/a.txt
echo 'function run(files) return files end' >score.lua
cat >pipeline.lua <<'END'
local tm = require "tidemill"
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep { name = "score",
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", process_count_per_node = 1 },
  inputs = tm.Dataset.File.from_files "in/*" } } }
END
env -i "PATH=$prefix/bin" "HOME=$dir" "TMPDIR=$dir" tidemill run pipeline.lua --progress none
rows=$(echo .tidemill/jobs/case-*/score/output/parallel_run_step.txt)
[ "$(cat "$rows")" = "$PWD/in/a.txt" ] || fail "the rows of a job of the installed program"

# Completion, as bash asks for it.
# shellcheck disable=SC2016
complete() # WORD...: the last one is being typed
{
  PATH="$prefix/bin:$PATH" bash -c '. "$0"; COMP_WORDS=(tidemill "$@"); COMP_CWORD=$#; _tidemill; echo "${COMPREPLY[*]}"' \
    "$prefix/share/bash-completion/completions/tidemill" "$@"
}
[ "$(complete resu)" = resume ] || fail "completion of a command"
[ "$(complete run --accept)" = --accept-changes ] || fail "completion of an option"
[ "$(complete run --progress pl)" = plain ] || fail "completion of an option's value"
[ "$(complete help mini_b)" = mini_batch_size ] || fail "completion of a parameter"
[ "$(complete help troub)" = troubleshooting ] || fail "completion of a page of the manual"
[ "$(complete status case-)" = "$(basename "$PWD"/.tidemill/jobs/case-*)" ] || fail "completion of a job"
[ "$(complete clean case-)" = "$(basename "$PWD"/.tidemill/jobs/case-*)" ] || fail "completion of a job to remove"
PATH="$prefix/bin:$PATH" tidemill dataset register letters in/a.txt >/dev/null
[ "$(complete dataset sh)" = show ] || fail "completion behind dataset"
[ "$(complete dataset show let)" = letters ] || fail "completion of a dataset"
if command -v zsh >/dev/null; then
  zsh_complete() # LINE: as an interactive zsh completes it
  {
    PATH="$prefix/bin:$PATH" zsh -f "$here/complete.zsh" "$prefix/share/zsh/site-functions" "$1"
  }
  [ "$(zsh_complete 'tidemill resu')" = 'tidemill resume ' ] || fail "zsh: completion of a command"
  [ "$(zsh_complete 'tidemill run --accept')" = 'tidemill run --accept-changes ' ] || fail "zsh: completion of an option"
  [ "$(zsh_complete 'tidemill run --progress pl')" = 'tidemill run --progress plain ' ] ||
    fail "zsh: completion of an option's value"
  [ "$(zsh_complete 'tidemill help mini_b')" = 'tidemill help mini_batch_size ' ] || fail "zsh: completion of a parameter"
  [ "$(zsh_complete 'tidemill status lat')" = 'tidemill status latest ' ] || fail "zsh: completion of a job"
else
  echo "there is no zsh: its completion is not tested"
fi

# The manual page names every command and every parameter of the program, and groff reports nothing
# about it.
"$prefix/bin/tidemill" help >"$dir/overview"
for command in $(sed -n '/^Topics/q; s/^  \([a-z][a-z]*\) .*/\1/p' "$dir/overview"); do
  grep -q "^\.SS tidemill $command$" "$prefix/share/man/man1/tidemill.1" || fail "'$command' is not in the manual page"
done
"$prefix/bin/tidemill" help parameters | sed -n 's/^  \([a-z_][a-z_]*\) .*/\1/p' >"$dir/parameters"
[ "$(wc -l <"$dir/parameters")" -gt 20 ] || fail "there are few parameters"
while read -r parameter; do
  grep -q "^.fB$parameter.fR$" "$prefix/share/man/man1/tidemill.1" || fail "'$parameter' is not in the manual page"
done <"$dir/parameters"
while read -r function; do
  grep -q "\b$function(" "$prefix/share/man/man3/tidemill.h.3" || fail "'$function' is not in tidemill.h(3)"
done <"$dir/named"
pages="man1/tidemill.1 man3/tidemill.h.3 man7/tidemill-entry-script.7"
for topic in $(sed -n '/^Topics/,$s/^  \([a-z][a-z]*\) .*/\1/p' "$dir/overview"); do
  [ -s "$prefix/share/man/man7/tidemill-$topic.7" ] || fail "there is no tidemill-$topic(7)"
  [ -s "$prefix/share/doc/tidemill/lua/manual/$topic.md" ] || fail "the page '$topic' is not among the documents"
  grep -qF "($topic.md)" "$prefix/share/doc/tidemill/lua/manual/README.md" || fail "the list of pages lacks '$topic'"
  pages="$pages man7/tidemill-$topic.7"
done
for page in $pages; do
  if command -v groff >/dev/null; then
    groff -man -ww -Tutf8 "$prefix/share/man/$page" 2>&1 >/dev/null | grep . && fail "groff warns of $page"
  fi
  if command -v mandoc >/dev/null; then
    mandoc -Tlint -Wwarning "$prefix/share/man/$page" | grep -v 'missing date' | grep . && fail "mandoc warns of $page"
  fi
done

# Every link of the installed documents leads to an installed file.
(cd "$prefix/share/doc/tidemill" && grep -oE '\]\([^)#]+' README.md core/*.md stdlib/*.md tests/bench/*.md lua/manual/*.md examples/README.md |
  sed 's/:](/ /') >"$dir/links"
[ "$(wc -l <"$dir/links")" -gt 30 ] || fail "the documents have few links"
while read -r document link; do
  case $link in http*) continue ;; esac
  [ -e "$prefix/share/doc/tidemill/$(dirname "$document")/$link" ] || fail "'$document' links to '$link', which is not installed"
done <"$dir/links"

# Every command and option that the manual prints exists.
"$here/printed.sh" "$prefix/bin/tidemill" "$prefix/share/doc/tidemill" || exit 1

# The page for users of other tools names only existing options (-n is nice's, -1 is head's).
{ "$prefix/bin/tidemill" help map; "$prefix/bin/tidemill" help run; "$prefix/bin/tidemill" help repl; } >"$dir/options"
# shellcheck disable=SC2016
sed -n '/^| GNU parallel/,$s/^|.*| \([^|]*\) |$/\1/p' "$prefix/share/doc/tidemill/lua/manual/migrating.md" | grep -oE '`[^`]*`' |
  grep -oE -- '[ `]--?[a-zA-Z0-9][-a-z]*' | tr -d ' `' | grep -vx -- '-[n1]' | sort -u >"$dir/meant"
[ "$(wc -l <"$dir/meant")" -gt 10 ] || fail "there are few options in migrating.md"
while read -r option; do
  grep -q -- "^  $option " "$dir/options" || fail "migrating.md speaks of '$option', which there is not"
done <"$dir/meant"
exit 0
