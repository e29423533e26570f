#!/bin/bash
# The quickstart, twice, in a tree of its own, with this program in the place of a built one:
# quickstart.sh PROGRAM Each time digits are classified by workers, the rows are shown, and what it
# says of logs and results is there.
set -eu -o pipefail
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset TIDEMILL_WORKSPACE

fail()
{
  cat "$dir/said"
  echo "quickstart.sh: $*" >&2
  exit 1
}

mkdir -p "$dir/tree/tests" "$dir/tree/build" "$dir/bin"
mkdir "$dir/tree/examples"
cp "$root/examples/quickstart.sh" "$dir/tree/examples/"
(cd "$root/examples" && tar -cf - --exclude=.tidemill digits) | tar -C "$dir/tree/examples" -xf -
cp -r "$root/tests/support" "$dir/tree/tests/"
ln -s "$program" "$dir/tree/build/tidemill"
cat >"$dir/bin/cmake" <<END
#!/bin/bash
echo "\$*" >>"$dir/asked"
END
cat >"$dir/bin/dpkg-query" <<'END'
#!/bin/bash
echo installed
END
chmod +x "$dir/bin/cmake" "$dir/bin/dpkg-query"

for turn in first second; do
  PATH=$dir/bin:$PATH bash "$dir/tree/examples/quickstart.sh" >"$dir/said" 2>&1 || fail "$turn: status $?"
  grep -q "40 of 40 mini-batches, 200 items, 0 failed" "$dir/said" || fail "$turn: no progress"
  grep -q "^00[0-9][0-9].pgm: [0-9]$" "$dir/said" || fail "$turn: no rows"
  grep -q "199 right: 99.5 %" "$dir/said" || fail "$turn: not as right as the README says"
  result=$(sed -n 's/^result  *//p' "$dir/said")
  logs=$(sed -n 's/^logs  *//p' "$dir/said")
  [ "$(wc -l <"$result")" = 200 ] || fail "$turn: no rows in '$result'"
  [ -s "$logs/job_result.txt" ] &&
    [ -e "$logs/user/stdout/0/process000.stdout.txt" ] || fail "$turn: no logs of workers in '$logs'"
done
grep -q -- "--build build --target tidemill" "$dir/asked" || fail "nothing was built"
