#!/bin/bash
# The writer of ONNX files writes corpus/onnx_file, byte for byte, and onnx.checker accepts it. In a
# long run, onnx.inspect() also reads the models of the tests of onnx itself, 924 of them:
# onnx_models.sh PROGRAM
set -eu -o pipefail
program=$1
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TIDEMILL_WORKSPACE=$dir/workspace

mkdir "$dir/models"
"$program" lua "$here/onnx_models.lua" "$dir/models"
diff -r "$here/corpus/onnx_file" "$dir/models"
truncate -s 32 "$dir/models/elsewhere.bin"
/usr/bin/python3 - "$dir"/models/*.onnx <<'END'
import sys
import onnx
for path in sys.argv[1:]:
    # its inference of types does not know ZipMap
    onnx.checker.check_model(path, full_check=not path.endswith("labels.onnx"))
END

# Hundreds of models, written by onnx: what onnx.inspect() reads in them.
if [ "${TM_LONG-}" ]; then
  mkdir "$dir/cases"
  /usr/bin/python3 "$here/onnx_cases.py" "$dir/cases"
  "$program" lua "$here/onnx_cases.lua" "$dir/cases"
fi
