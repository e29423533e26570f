#!/bin/bash
# Builds tidemill and runs all of its tests; the last line is "N passed, N failed".
#
# Each stage runs even if the one before it failed, so that one run shows everything. A build counts
# as one test. The output of a test is shown when it fails; ctest's own logs are in <build>/Testing.
set -u -o pipefail

usage()
{
  cat <<'END'
usage: tests/run.sh [--long] [--install-only]
  --long           also the long sweeps (faults, kills, random inputs), specs through a relay, Slurm clusters
                   and leaks in all specs under the sanitizers, clang-tidy and ThreadSanitizer
  --install-only   install the packages that are missing, and stop
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) || exit 1
install_only=no
test_timeout=600 # seconds; only what hangs reaches it
long=() # options of ctest
for option in "$@"; do
  case $option in
    --long) export TM_LONG=1; test_timeout=3600; long=(-C long) ;;
    --install-only) install_only=yes ;;
    -h|--help) usage; exit 0 ;;
    *) echo "run.sh: unknown option '$option'" >&2; usage >&2; exit 2 ;;
  esac
done
cd "$root" || exit 1
# Tests must not see the user's settings of the program, nor another ONNX Runtime.
unset "${!TIDEMILL@}" "${!TM_TEST_ONNXRUNTIME@}" "${!TM_TEST_TOKENIZERS@}"
# shellcheck source=tests/support/packages.sh
. tests/support/packages.sh

passed=0
failed=0
failures=()
skipped=()
declare -A background # the output of each
jobs=$(nproc)
tests_at_once=$((jobs * 3)) # many tests wait for a deadline or a disk, not for a core
export LC_ALL=C.UTF-8

stage()
{
  printf '\n== %s (%d s)\n' "$*" "$SECONDS"
}

pass()
{
  passed=$((passed + 1))
}

fail() # NAME
{
  failed=$((failed + 1))
  failures+=("$1")
}

# compile DIR CMAKE_OPTION...: builds as much as possible (-k 0), so that a broken file hides no
# other error. $targets: all, or these.
compile()
{
  local dir=$1 rc
  shift
  mkdir -p "$dir"
  if cmake -S . -B "$dir" -G Ninja -DTM_TESTS=ON "$@" >"$dir/configure.log" 2>&1; then
    NINJA_STATUS='[%f/%t] ' cmake --build "$dir" -j "$jobs" --target "${targets[@]}" -- -k 0
    return
  fi
  rc=$?
  cat "$dir/configure.log"
  return $rc
}

# build DIR CMAKE_OPTION...: a build is one test.
build()
{
  stage "build in $1"
  if compile "$@"; then
    pass
  else
    fail "$1: build"
  fi
}

# run_tests DIR NAME CTEST_OPTION...: runs tests that were built in DIR.
run_tests()
{
  local dir=$1 report="$root/$1/ctest-$2.xml"
  shift 2
  rm -f "$report"
  ctest --test-dir "$dir" --output-on-failure --timeout "$test_timeout" --output-junit "$report" "$@"
}

# add_results DIR NAME: of run_tests.
add_results()
{
  local dir=$1 name=$2 report="$root/$1/ctest-$2.xml" result test
  if ! grep -q '<testcase ' "$report" 2>/dev/null; then
    echo "no tests were run"
    fail "$dir: $name: no tests were run"
    return
  fi
  while read -r result test; do
    case $result in
      run) pass ;;
      skipped|disabled) skipped+=("$dir: $test") ;;
      *) fail "$dir: $test" ;;
    esac
  done < <(results_of "$report")
}

# check DIR NAME CTEST_OPTION...: both.
check()
{
  stage "tests in $1: $2"
  run_tests "$@"
  add_results "$1" "$2"
}

# in_background FILE COMMAND...: with its output in FILE. Sets $started, for wait_for.
in_background()
{
  local file=$1
  shift
  set -m # a process group of its own, which can be ended
  "$@" </dev/null >"$file" 2>&1 &
  started=$!
  background[$started]=$file
  set +m
}

# wait_for STARTED: shows the output; the status of the command, 3 if a signal ended it.
wait_for()
{
  local status
  wait "$1"
  status=$?
  cat "${background[$1]}"
  unset "background[$1]"
  return $((status > 128 ? 3 : status))
}

# A folder in memory for the files of tests, if it has room and can run programs; otherwise empty.
# On some disks, many short-lived small files are slow. Some whole jobs run on both.
memory_folder()
{
  local dir free
  free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)
  [ "${free:-0}" -gt 2000000 ] && dir=$(mktemp -d /dev/shm/tidemill-tests-XXXXXX) || return 0
  if install -m 755 /bin/true "$dir/true" && "$dir/true" 2>/dev/null; then
    chmod 1777 "$dir"
    echo "$dir"
  else
    rm -rf "$dir"
  fi
}

# results_of JUNIT_FILE: "run NAME", "fail NAME", "skipped NAME" (by the test's own report), "notrun
# NAME".
results_of()
{
  awk '
    /^[ \t]*<testcase / {
      name = $0; sub(/.*<testcase name="/, "", name); sub(/".*/, "", name)
      result = $0; sub(/.* status="/, "", result); sub(/".*/, "", result)
    }
    /^[ \t]*<skipped message="SKIP_/ { if (result == "notrun") result = "skipped" }
    /^[ \t]*<\/testcase>/ { print result, name }' "$1"
}

stage "packages"
if ! install_packages build test browser; then
  fail "packages"
fi
if [ $install_only = yes ]; then
  exit $((failed > 0))
fi
if is_installed slurmctld; then
  export TM_HAS_SLURM=1 # a case that needs a cluster fails without one
fi

# The usual linker needs several times as long.
if command -v mold >/dev/null; then
  export LDFLAGS="${LDFLAGS:-} -fuse-ld=mold"
fi
memory=
# shellcheck disable=SC2317 # the trap calls it
end()
{
  [ -z "$memory" ] || rm -rf "$memory"
  for group in "${!background[@]}"; do kill -- "-$group" 2>/dev/null; done
}
trap end EXIT
mkdir -p build
export TM_SKIPPED_CASES=$root/build/skipped.out # "TEST: REASON" for each test that skips cases
: >"$TM_SKIPPED_CASES"
in_background build/onnxruntime.out bash tests/support/onnxruntime/versions.sh get
onnxruntime=$started

# With line numbers alone for debuggers, a file of core/ compiles in four fifths of the time.
targets=(all)
CC=gcc build build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTM_WERROR=ON \
  -DCMAKE_C_FLAGS_RELWITHDEBINFO='-O2 -g1 -DNDEBUG'

# The sanitized build and clang's warnings, which use the cores while the tests of the plain build
# wait. The status is 1 for the build, 2 for the warnings, 3 for both.
#
# gcc's warnings under the sanitizers are not errors, because there it wrongly reports uninitialized
# uses. The lower optimization compiles faster, and the tests run as fast. -g1 is enough for line
# numbers in reports. The tests start thousands of programs. So static sanitizers at a fixed address
# save a quarter of the time; so do undefined operations that end the program with a trap instead of
# a message, as they need no tables. The handler of SIGILL reports their file and line; a build with
# only -DTM_SANITIZE=ON has the messages. Linker flags that are given replace $LDFLAGS, so they
# repeat it.
# shellcheck disable=SC2317 # in_background calls it
compile_the_rest()
{
  local result=0
  renice -n 10 "$BASHPID" >/dev/null
  targets=(tests/unit/all tests/job/all tests/programs/all tidemill)
  CC=gcc compile build-asan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTM_SANITIZE=ON \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO='-Og -g1 -fsanitize-undefined-trap-on-error' \
    -DCMAKE_EXE_LINKER_FLAGS="-no-pie -static-libasan -static-libubsan ${LDFLAGS-}" \
    -DTM_ALL_LEAKS="${TM_LONG:-0}" || result=1
  python3 -B tests/support/compiler_warnings.py build clang || result=$((result + 2))
  return "$result"
}

memory=$(memory_folder)
mkdir -p build-asan
in_background build-asan/rest.out compile_the_rest
rest=$started

check build lint -R '^lint/' -j "$jobs"

stage "ONNX Runtime, for tests"
if wait_for "$onnxruntime"; then
  pass
else
  TM_TEST_ONNXRUNTIME_MISSING=$(sed -n 's/^TM_TEST_ONNXRUNTIME_MISSING=//p' build/onnxruntime.out)
  export TM_TEST_ONNXRUNTIME_MISSING
  if [ "${CI-}" = true ]; then
    fail "ONNX Runtime, for tests: $TM_TEST_ONNXRUNTIME_MISSING"
  else
    skipped+=("what needs ONNX Runtime: $TM_TEST_ONNXRUNTIME_MISSING")
  fi
fi

on_disk='^job/(basics|kill|resume|steps|import)$'
TMPDIR=${memory:-${TMPDIR:-/tmp}} check build tests -E "^lint/|$on_disk" -j "$tests_at_once" "${long[@]}"
# These wait for the disk.
in_background build/disk.out run_tests build disk -R "$on_disk" -j "$tests_at_once"
disk=$started

stage "build in build-asan, and warnings of clang"
wait_for "$rest"
result=$?
if ((result & 1)); then fail "build-asan: build"; else pass; fi
if ((result & 2)); then fail "warnings of clang"; else pass; fi

# Each allocation keeps its stack, which costs time in thousands of programs. So a report names two
# functions; a test that ctest runs alone reports whole stacks. With one function, no leak would be
# reported, which job/logs notices. Without --long most specs do not look for leaks
# (tests/job/CMakeLists.txt).
clusters=(-E '^job/slurm')
[ -z "${TM_LONG-}" ] || clusters=()
ASAN_OPTIONS=handle_sigill=1:malloc_context_size=2 TMPDIR=${memory:-${TMPDIR:-/tmp}} \
  check build-asan sanitizers -R '^(unit|job)/' "${clusters[@]}" "${long[@]}" -j $((jobs * 2))

stage "tests in build: disk"
wait_for "$disk"
add_results build disk

# Tests that use no threads run here too: it costs little, and no list can fall behind. A race in a
# keeper or in a worker ends no test, so all reports go to files. The sanitizer keeps a signal until
# the thread's next system call, so tests that interrupt code without one cannot run.
races()
{
  local uninterruptible='^(unit/(alarm|running_call|signals|agent_interrupt|lua_interrupt)|host/console)$'
  targets=(tests/unit/all tests/host/all tidemill)
  CC=gcc build build-tsan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO='-O1 -g1' \
    -DTM_SANITIZE_THREADS=ON
  rm -f build-tsan/race.*
  TSAN_OPTIONS="log_path=$root/build-tsan/race suppressions=$root/tests/support/threads.supp" \
    TMPDIR=${memory:-${TMPDIR:-/tmp}} check build-tsan threads -R '^(unit|host)/' -E "$uninterruptible" -j $((jobs + 1))
  stage "races"
  if compgen -G 'build-tsan/race.*' >/dev/null; then
    cat build-tsan/race.*
    fail "build-tsan: races"
  else
    pass
  fi
}

if [ -n "${TM_LONG-}" ]; then
  stage "clang-tidy"
  if bash tests/lint/tidy.sh build; then
    pass
  else
    fail "clang-tidy"
  fi
  races
fi

stage "result"
for name in "${skipped[@]}"; do
  echo "skipped: $name"
done
sort -u "$TM_SKIPPED_CASES" | sed 's/^/skipped: /'
for name in "${failures[@]}"; do
  echo "failed: $name"
done
echo "$passed passed, $failed failed"
exit $((failed > 0))
