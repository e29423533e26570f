#!/bin/bash
# Runs an example with the program as a user would, and compares its rows: example.sh PROGRAM
# EXAMPLE
set -eu -o pipefail
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TIDEMILL_WORKSPACE=$dir/workspace

# copy_example NAME: into $dir, without what earlier runs have left there.
copy_example()
{
  tar -C "$root/examples" -cf - --exclude=.tidemill "$1" | tar -C "$dir" -xf -
}

# run_example NAME STEP FILE: leaves the path of the rows in $rows.
run_example()
{
  rows=$dir/job/$2/output/$3
  "$program" run "$root/examples/$1/pipeline.lua" --job-dir "$dir/job" --progress none --json >"$dir/result"
  cat "$dir/result"
  tail -n 1 "$dir/result" | grep -Eq '"status": ?"Completed"'
  [ ! -e "$rows.partial" ]
}

# promised EXAMPLE: the rows that its README shows.
promised()
{
  awk '/^```/ { inside = !inside; next } inside' "$root/examples/$1/README.md"
}

# as_promised EXAMPLE: the rows are those, in any order.
as_promised()
{
  [ -s "$rows" ]
  diff <(promised "$1") <(LC_ALL=C sort "$rows")
}

# needs_onnxruntime: skips the rest without the versions for tests; else they are in $libraries.
needs_onnxruntime()
{
  libraries=("${TM_TEST_ONNXRUNTIME_1_17-}" "${TM_TEST_ONNXRUNTIME_1_30-}")
  if [ ! "${libraries[0]}" ] || [ ! "${libraries[1]}" ]; then
    echo "${TM_TEST_ONNXRUNTIME_MISSING-run it by ctest, or set TM_TEST_ONNXRUNTIME_1_17 and _1_30}"
    exit 77
  fi
}

case $2 in
hello)
  run_example hello count-words parallel_run_step.txt
  LC_ALL=C sort "$rows" | diff - <(cat <<'END'
ebb.txt: 12 words
flood.txt: 7 words
flour.txt: 9 words
gate.txt: 9 words
stones.txt: 4 words
END
  )
  ;;
digits)
  run_example digits predict-digits predictions.txt
  "$program" lua "$root/examples/digits/accuracy.lua" "$rows" >"$dir/right"
  cat "$dir/right"
  right=$(sed -n 's/.*, \([0-9]*\) right: .*/\1/p' "$dir/right")
  grep -qF "$right of the 200 are right" "$root/examples/digits/README.md"
  ;;
word_count)
  run_example word_count count-words words.jsonl
  # what it shows is of one release of Debian: counted again, otherwise
  for text in /usr/share/common-licenses/*; do
    words=$(LC_ALL=C grep -aoE "[A-Za-z][A-Za-z'-]*" "$text" | wc -l)
    grep -qF "\"text\":\"${text##*/}\",\"words\":$words}" "$rows"
  done
  ;;
side_files)
  run_example side_files convert celsius.txt
  as_promised side_files
  ;;
checksums)
  run_example checksums sum SHA256SUMS
  as_promised checksums
  cd "$root/examples/checksums/files"
  sha256sum -c "$rows"
  ;;
iris)
  run_example iris score-flowers kinds.csv
  as_promised iris
  ;;
digits_onnx)
  # What it draws and writes again: the labels here, the model only in a long run; otherwise a small
  # one.
  "$program" lua "$root/examples/digits_onnx/make_images.lua" "$dir"
  cmp "$dir/truth.txt" "$root/examples/digits_onnx/truth.txt"
  [ "$(find "$dir/images" -name '0*.[pj][np]g' | wc -l)" = 200 ]
  if [ "${TM_LONG-}" ]; then
    "$program" lua "$root/examples/digits_onnx/train.lua" "$dir/digits.onnx"
    cmp "$dir/digits.onnx" "$root/examples/digits_onnx/model/digits.onnx"
  else
    "$program" lua "$root/examples/digits_onnx/train.lua" "$dir/digits.onnx" 2
    diff <("$program" head "$dir/digits.onnx") <("$program" head "$root/examples/digits_onnx/model/digits.onnx")
  fi
  needs_onnxruntime
  for library in "${libraries[@]}"; do
    export TIDEMILL_ONNXRUNTIME=$library
    run_example digits_onnx predict-digits predictions.txt
    grep -q '^0003\.png: [0-9]$' "$rows"
    "$program" lua "$root/examples/digits/accuracy.lua" "$rows" "$root/examples/digits_onnx/truth.txt" >"$dir/right"
    cat "$dir/right"
    right=$(sed -n 's/.*, \([0-9]*\) right: .*/\1/p' "$dir/right")
    grep -qF "$right of the 200 are right" "$root/examples/digits_onnx/README.md"
    rm -r "$dir/job"
  done
  # An image that is cut: all others have a row.
  copy_example digits_onnx
  truncate -s 100 "$dir/digits_onnx/images/0003.png"
  "$program" run "$dir/digits_onnx/pipeline.lua" --job-dir "$dir/job" --progress none
  [ "$(wc -l <"$rows")" = 199 ]
  grep '0003\.png' "$dir/job/predict-digits/failed_items.jsonl" | grep -q 'cut'
  ;;
iris_onnx)
  "$program" lua "$root/examples/iris_onnx/train.lua" "$dir/iris.onnx"
  cmp "$dir/iris.onnx" "$root/examples/iris_onnx/scripts/iris.onnx"
  /usr/bin/python3 -c 'import sys, onnx; onnx.checker.check_model(sys.argv[1], full_check=True)' "$dir/iris.onnx"
  needs_onnxruntime
  for library in "${libraries[@]}"; do
    export TIDEMILL_ONNXRUNTIME=$library
    run_example iris_onnx score-flowers kinds.csv
    diff <(promised iris_onnx) <("$program" lua "$root/examples/iris_onnx/confusion.lua" "$rows")
    rm -r "$dir/job"
  done
  ;;
csv_to_csv)
  run_example csv_to_csv convert orders.csv
  as_promised csv_to_csv
  ;;
logs_gz)
  run_example logs_gz slow slow.txt
  as_promised logs_gz
  ;;
registered)
  # of registrations, files and jobs
  timeless() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:.]{8,}Z?/TIME/g'; }
  "$root/examples/registered/story.sh" "$program" | timeless | diff <(promised registered | timeless) -
  ;;
groups)
  run_example groups total parallel_run_step.txt
  as_promised groups
  ;;
daily)
  # Three mornings, in a copy: the second has a day more, the third another tax.
  copy_example daily
  mv "$dir/daily/orders/2026-03-03" "$dir/later"
  morning()
  {
    "$program" run "$dir/daily/pipeline.lua" --progress none --json "$@" >"$dir/result" 2>"$dir/said"
    cat "$dir/said" "$dir/result"
    tail -n 1 "$dir/result" | grep -Eq '"status": ?"Completed"'
    grep -oE '"name": ?"[^"]*"|"reused": ?(true|false)|"(from|job_dir)": ?"[^"]*"' "$dir/result" |
      awk -F'"' '/"name"/ { name = $4 } /"reused"/ { print name ($0 ~ /true/ ? " reused" : " run") }' >"$dir/steps"
    rows=$(sed -n 's/.*"job_dir": *"\([^"]*\)".*/\1/p' "$dir/result")/report/output/totals.csv
  }
  morning
  diff - "$dir/steps" <<'END'
day-2026-03-01 run
day-2026-03-02 run
report run
END
  mv "$dir/later" "$dir/daily/orders/2026-03-03"
  morning
  diff - "$dir/steps" <<'END'
day-2026-03-01 reused
day-2026-03-02 reused
day-2026-03-03 run
report run
END
  as_promised daily
  morning --param vat=7
  diff - "$dir/steps" <<'END'
day-2026-03-01 reused
day-2026-03-02 reused
day-2026-03-03 reused
report run
END
  grep -F "step 'report' is run: arguments[1] \"19\" -> \"7\"" "$dir/said"
  grep -F '7 % tax 66.34' "$rows"
  ;;
archive_of_images)
  export IMAGES=$dir/images.tar.gz
  "$program" lua "$root/examples/archive_of_images/make_images.lua" "$IMAGES"
  run_example archive_of_images measure-images brightness.txt
  as_promised archive_of_images
  ;;
video_frames)
  # In a copy, because the result is beside the pipeline: a first run, the same run again, a
  # different threshold, a broken video.
  copy_example video_frames
  cd "$dir/video_frames"
  block() { awk -v n="$1" '/^```/ { inside = !inside; blocks += inside; next } inside && blocks == n' README.md; }
  timeless() { sed -E 's/(job )?.video-frames-[0-9a-z-]+./JOB/; s/[0-9-]{10}T[0-9:.]+Z/TIME/g' | LC_ALL=C sort; }
  run() # OPTION...: leaves the messages about the steps in $dir/steps
  {
    "$program" run pipeline.lua --progress none "$@" 2>"$dir/said" || { cat "$dir/said"; return 1; }
    grep "^step '" "$dir/said" >"$dir/steps" || true
  }
  "$program" lua make_video.lua
  "$program" graph pipeline.lua | diff <(block 1) -
  run
  diff /dev/null "$dir/steps"
  diff <(block 2) out/summary.txt
  cmp <(head -n 1 moon.y4m) <(head -n 1 out/edges.y4m)
  [ "$(stat -c %s moon.y4m)" = "$(stat -c %s out/edges.y4m)" ]
  cp out/edges.y4m "$dir/before"
  run
  diff <(block 3 | timeless) <(timeless <"$dir/steps")
  cmp "$dir/before" out/edges.y4m
  run --param threshold=300
  diff <(block 4 | timeless) <(timeless <"$dir/steps")
  diff <(block 5) out/summary.txt
  if cmp -s "$dir/before" out/edges.y4m; then echo "the other threshold has changed nothing"; exit 1; fi
  head -c 100000 moon.y4m >torn.y4m
  status=0
  run --param video=torn.y4m >"$dir/failed" || status=$?
  [ "$status" = 1 ]
  grep -F 'torn.y4m ends within frame 6' "$dir/failed"
  diff <(block 5) out/summary.txt
  ;;
troubled)
  # Each step alone, at a fiftieth of the time. The two findings do not depend on the time.
  export LISTS=$dir STEP
  "$program" lua "$root/examples/troubled/make_lists.lua" "$dir" 1000
  run_step() # STEP ROWS: leaves what stands out in $dir/STEP.json
  {
    STEP=$1
    "$program" run "$root/examples/troubled/pipeline.lua" --param pace=0.02 --job-dir "$dir/$1" --progress none
    [ "$(wc -l <"$dir/$1/$1/output/parallel_run_step.txt")" = "$2" ]
    "$program" report "$dir/$1" --json >"$dir/$1.json"
  }
  run_step download 400
  grep -qF '20 items succeeded after a try of the same mini-batch had failed' "$dir/download.json"
  run_step parse 348
  grep -qF '25 of 26 failed tries have one error' "$dir/parse.json"
  run_step count 1000
  ;;
*)
  echo "no example '$2'" >&2
  exit 2
  ;;
esac
