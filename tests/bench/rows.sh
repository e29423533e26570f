#!/bin/bash
# Measures tables: the time of a job over the rows of one big file, compared with DuckDB, Miller and
# Python; see README.md.
set -eu -o pipefail

usage()
{
  cat <<'END'
usage: tests/bench/rows.sh [--short] [--dir DIR] [--program FILE] [--modules DIR] [jobs] [gzip] [growth] [memory]
  --short         small numbers: shows that it works, not how fast it is
  --dir DIR       where tables and jobs lie (default: $TMPDIR or /tmp)
  --program FILE  the program (default: build/tidemill)
  --modules DIR   a folder in which 'npm install @duckdb/node-api' was run; without it DuckDB is left out
END
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$here/../../build/tidemill
dir=${TMPDIR:-/tmp}
short=no
modules=
parts=()
while [ $# -gt 0 ]; do
  case $1 in
    --short) short=yes ;;
    --dir) dir=$2; shift ;;
    --program) program=$2; shift ;;
    --modules) modules=$(realpath "$2"); shift ;;
    -h|--help) usage; exit 0 ;;
    jobs|gzip|growth|memory) parts+=("$1") ;;
    *) echo "rows.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(jobs gzip growth memory)
[ -x "$program" ] || { echo "rows.sh: no program at '$program'; build it first" >&2; exit 2; }
program=$(realpath "$program")

if [ $short = yes ]; then
  megabytes=4 repeats=1 size=1MB sizes=(1 4) tables=2
else
  megabytes=500 repeats=5 size=8MB sizes=(100 1000 10000) tables=20
fi
place=$(mktemp -d "$dir/tidemill-bench-XXXXXX")
trap 'rm -rf "$place"' EXIT
table=$place/table.csv

# shellcheck source=tests/bench/common.sh
source "$here/common.sh"

# step FILE SCRIPT DATASET WORKERS ACTION SIZE: DATASET is a Lua expression.
step()
{
  cat >"$1" <<END
local tidemill = require "tidemill"
local from_delimited_files = tidemill.Dataset.Tabular.from_delimited_files
local config = tidemill.ParallelRunConfig {
  entry_script = "$here/rows/$2", mini_batch_size = "$6", process_count_per_node = $4,
  output_action = "$5", append_row_file_name = "rows.csv",
}
local step = tidemill.ParallelRunStep { name = "bench", parallel_run_config = config, inputs = { $3 } }
return tidemill.Pipeline { name = "bench", steps = { step } }
END
}

job() # PIPELINE
{
  rm -rf "$place/workspace/jobs"
  "$program" run "$1" --job-dir "$place/workspace/jobs/bench" --progress none --json \
    >"$place/result" 2>"$place/words" || { cat "$place/words" >&2; echo "rows.sh: the job has failed" >&2; exit 1; }
}

# items_of_job: how many rows succeeded in the last one.
items_of_job()
{
  sed -n 's/.*"items": *{[^}]*"succeeded": *\([0-9]*\).*/\1/p' "$place/result" | tail -n 1
}

timed() # COMMAND...: seconds, the median
{
  repeat $repeats seconds "$@"
}

beside() # NAME SECONDS OURS
{
  row "$1" '%8.2f s  %6.0f MB/s  %6sx' "$2" "$(awk -v s="$2" -v m=$megabytes 'BEGIN { print m / s }')" \
    "$(awk -v a="$2" -v b="$3" 'BEGIN { printf "%.1f", a / b }')"
}

# sums_of_job OUT: the sums of all mini-batches, summed.
sums_of_job()
{
  cat "$place"/workspace/jobs/bench/bench/output/sums.*.csv | awk -F, '$1 != "store" { p[$1] += $2; t[$1] += $3 }
    END { for (s in p) printf "%s,%.2f,%.2f\n", s, p[s], t[s] }' | sort >"$1"
}

# same_sums FILE: compares another tool's sums with ours, to a hundredth, because the order in which
# doubles are added differs.
same_sums()
{
  sort "$1" | join -t, - "$place/sums" | awk -F, '
    function far(a, b) { return a - b > 0.011 || b - a > 0.011 }
    far($2, $4) || far($3, $5) { differ = 1 }
    END { exit differ || NR == 0 }' && [ "$(wc -l <"$1")" = "$(wc -l <"$place/sums")" ] ||
    { echo "rows.sh: the sums in '$1' are others than ours" >&2; exit 1; }
}

miller()
{
  case $1 in
    sum) mlr --icsv --ocsv --headerless-csv-output stats1 -a sum -f price,tax -g store "$table" >"$2" ;;
    score) mlr --icsv --ocsv put -q 'emit {"id": $id, "score": $price * $quantity + $tax}' "$table" >"$2" ;;
  esac
}

others() # JOB OURS
{
  local name out=$place/others
  if [ -n "$modules" ] && has node "DuckDB"; then
    beside "DuckDB, 2 threads" "$(timed node "$here/rows/duckdb.js" "$modules" "$1" "$table" "$out")" "$2"
    [ "$1" != sum ] || same_sums "$out"
  fi
  if has python3 "Python"; then
    beside "Python's csv, multiprocessing.Pool(2)" "$(timed python3 "$here/rows/pool.py" "$1" "$table" "$out" 2)" "$2"
    [ "$1" != sum ] || same_sums "$out"
  fi
  if has mlr "Miller"; then
    repeats=1
    name="Miller $(mlr --version | cut -d' ' -f2)"
    beside "$name" "$(timed miller "$1" "$out")" "$2"
    [ "$1" != sum ] || same_sums "$out"
  fi
}

jobs()
{
  local ours all=$repeats
  heading "$megabytes MB of 10 columns, $rows rows, 2 workers, warm cache, whole process, median of $repeats"
  step "$place/sum.lua" sum.lua "from_delimited_files(\"$table\"):keep_columns { \"store\", \"price\", \"tax\" }" 2 summary_only $size
  ours=$(timed job "$place/sum.lua")
  sums_of_job "$place/sums"
  beside "sums of two columns by a third: tidemill" "$ours" "$ours"
  others sum "$ours"
  repeats=$all
  step "$place/score.lua" score.lua \
    "from_delimited_files(\"$table\"):keep_columns { \"id\", \"quantity\", \"price\", \"tax\" }" 2 append_row $size
  ours=$(timed job "$place/score.lua")
  check_rows "$place/workspace/jobs/bench/bench/output/rows.csv" $((rows + 1))
  beside "a score of each row, appended: tidemill" "$ours" "$ours"
  others score "$ours"
  repeats=$all
}

gzip_job() # WORKERS: a gzip index is found in the workspace, or not
{
  step "$place/gzip.lua" touch.lua "from_delimited_files(\"$table.gz\")" "$1" summary_only $size
  seconds job "$place/gzip.lua"
}

gzip_row() # NAME SECONDS OF_ONE
{
  row "$1" '%8.2f s  %6sx as fast as one worker' "$2" "$(awk -v a="$3" -v b="$2" 'BEGIN { printf "%.2f", a / b }')"
}

gzip()
{
  local one two
  heading "The same file packed by gzip, every column read"
  command gzip -kf -6 "$table"
  one=$(for _ in $(seq $repeats); do rm -rf "$place/workspace"; gzip_job 1; done | median)
  two=$(for _ in $(seq $repeats); do rm -rf "$place/workspace"; gzip_job 2; done | median)
  gzip_row "no index yet, 1 worker" "$one" "$one"
  gzip_row "no index yet, 2 workers" "$two" "$one"
  one=$(repeat $repeats gzip_job 1)
  two=$(repeat $repeats gzip_job 2)
  gzip_row "with the index, 1 worker" "$one" "$one"
  gzip_row "with the index, 2 workers" "$two" "$one"
  [ "$(items_of_job)" = "$rows" ] || { echo "rows.sh: not $rows rows" >&2; exit 1; }
}

growth()
{
  local mb times
  heading "How it grows: the sums again, of a file repeated"
  for mb in "${sizes[@]}"; do
    times=$((mb * 2 / megabytes))
    if [ "$times" -lt 2 ]; then
      "$program" lua "$here/rows/generate.lua" "$place/growth.csv" "$mb" >/dev/null
    else
      { cat "$table"; for _ in $(seq 2 $((times / 2))); do tail -n +2 "$table"; done; } >"$place/growth.csv"
    fi
    step "$place/growth.lua" sum.lua \
      "from_delimited_files(\"$place/growth.csv\"):keep_columns { \"store\", \"price\", \"tax\" }" 2 summary_only $size
    row "$mb MB" '%8.2f s  %6.2f s per 100 MB' "$(seconds job "$place/growth.lua" | tee "$place/took")" \
      "$(awk -v m="$mb" '{ print $1 * 100 / m }' "$place/took")"
  done
  rm -f "$place/growth.csv"
}

# memory: a worker's peak over many mini-batches of 1 MB; the script touches the strings of every
# row.
memory()
{
  heading "Peak memory of a worker, mini-batches of 1 MB, a script that touches every string"
  step "$place/memory.lua" strings.lua \
    "from_delimited_files { $(for _ in $(seq $tables); do printf '"%s", ' "$table"; done) }" 1 summary_only 1MB
  job "$place/memory.lua"
  [ "$(items_of_job)" = $((rows * tables)) ] || { echo "rows.sh: not all rows have come" >&2; exit 1; }
  row "$(cat "$place"/workspace/jobs/bench/bench/output/count) mini-batches" '%8s kB' "$(cat "$place"/workspace/jobs/bench/bench/output/peak)"
}

rows=$("$program" lua "$here/rows/generate.lua" "$table" $megabytes)
echo "$(uname -sm), $(nproc) cores, $(df --output=fstype "$dir" | tail -n 1) at $dir, $("$program" version | head -n 1)"
for part in "${parts[@]}"; do
  "$part"
done
