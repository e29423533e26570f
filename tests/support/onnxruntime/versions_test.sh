#!/bin/bash
# Checks versions.sh with an npm of its own: a registry that fails, a package with other contents,
# no npm, a folder that cannot be written; then, if this machine has the real packages, a damaged
# file and two runs at once.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
real=${TM_TEST_ONNXRUNTIME_NODE_1_17-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME=$dir/cache

# says REASON: `get` fails with this reason.
says()
{
  local out
  if out=$(bash "$here/versions.sh" get 2>&1) || [[ $out != "TM_TEST_ONNXRUNTIME_MISSING="*"$1"* ]]; then
    echo "wanted: $1"
    echo "got: $out"
    exit 1
  fi
}

mkdir "$dir/bin"
cat >"$dir/bin/npm" <<'END'
#!/bin/bash
echo "npm error code ENOTFOUND" >&2
exit 1
END
chmod +x "$dir/bin/npm"
old=$PATH
PATH=$dir/bin:$PATH
says "'npm pack onnxruntime-node@1.30.0' failed: npm error code ENOTFOUND"
cat >"$dir/bin/npm" <<'END'
#!/bin/bash
echo other >x.tgz
echo x.tgz
END
says "the hash of onnxruntime-node@1.30.0 is sha512-"
[ "$(ls "$dir/cache/tidemill-tests")" = lock ] || { ls "$dir/cache/tidemill-tests"; echo "something is left"; exit 1; }

# Only what the script itself calls.
mkdir "$dir/few"
for program in bash basename base64 cat cut cp dirname find flock head mkdir mktemp mv rm sed sha512sum sort tail tar timeout tr uname xargs; do
  ln -s "$(command -v $program)" "$dir/few/$program"
done
PATH=$dir/few says "ONNX Runtime 1.30.0: npm is not installed"
PATH=$old
XDG_CACHE_HOME=/dev/null says "'/dev/null/tidemill-tests' cannot be written"

[ -n "$real" ] || { echo "there is no ONNX Runtime: the rest is not tested"; exit 77; }
# The real packages, one of them damaged.
copy=$dir/cache/tidemill-tests/$(basename "${real%/node_modules}")
cp -r "${real%/node_modules}" "$copy"
rm "$copy/checked"
bash "$here/versions.sh" find >"$dir/first" & # both write what they have checked
bash "$here/versions.sh" find >"$dir/second" || true
wait $! || true
cmp "$dir/first" "$dir/second"
grep -q "^TM_TEST_ONNXRUNTIME_NODE_1_17=$copy/node_modules$" "$dir/first"
[ -f "$copy/checked" ]
echo more >>"$copy/node_modules/onnxruntime-common/package.json"
bash "$here/versions.sh" find >"$dir/third" && exit 1
[ "$(cat "$dir/third")" = "TM_TEST_ONNXRUNTIME_MISSING=ONNX Runtime 1.30.0: run tests/support/onnxruntime/versions.sh get" ]
