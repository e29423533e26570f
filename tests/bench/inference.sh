#!/bin/bash
# Measures models and images, each beside another program that does the same in the same run; see
# README.md.
set -eu -o pipefail

usage()
{
  cat <<'END'
usage: tests/bench/inference.sh [--short] [--dir DIR] [--program FILE] [--beside FILE] [--before FILE] [--runtime VERSION]
                                [--times N] [--share] [images] [prefetch] [node] [decode] [rows] [threads] [memory] [start]
  --short            small numbers: shows that it works, not how fast it is
  --dir DIR          where files and jobs lie (default: $TMPDIR or /tmp)
  --program FILE     the program (default: build/tidemill)
  --beside FILE      bench_inference (default: build/tests/bench/bench_inference)
  --before FILE      an older build of the program, for 'start'
  --times N          how often each is measured (default: 5; the shortest counts)
  --share            'memory' measures workers with weights of their own, and workers that share
  --runtime VERSION  the ONNX Runtime of tests/support/onnxruntime: 1_17 (default of --short), or 1_30
END
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$here/../../build/tidemill
beside=$here/../../build/tests/bench/bench_inference
dir=${TMPDIR:-/tmp}
short=no before='' runtime='' given='' share=no
parts=()
while [ $# -gt 0 ]; do
  case $1 in
    --short) short=yes ;;
    --dir) dir=$2; shift ;;
    --program) program=$2; shift ;;
    --beside) beside=$2; shift ;;
    --before) before=$(realpath "$2"); shift ;;
    --runtime) runtime=$2; shift ;;
    --times) given=$2; shift ;;
    --share) share=yes ;;
    -h|--help) usage; exit 0 ;;
    images|prefetch|node|decode|rows|threads|memory|start) parts+=("$1") ;;
    *) echo "inference.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
[ ${#parts[@]} -gt 0 ] || parts=(images prefetch node decode rows threads memory start)
for file in "$program" "$beside"; do
  [ -x "$file" ] || { echo "inference.sh: no program at '$file'; build it first" >&2; exit 2; }
done
program=$(realpath "$program") beside=$(realpath "$beside")

# shellcheck source=tests/bench/common.sh
source "$here/common.sh"

[ "$runtime" ] || runtime=$([ $short = yes ] && echo 1_17 || echo 1_30)
library=TM_TEST_ONNXRUNTIME_$runtime modules=TM_TEST_ONNXRUNTIME_NODE_$runtime
if [ ! "${!library-}" ]; then
  while IFS= read -r line; do declare "${line?}"; done < <(bash "$here/../support/onnxruntime/versions.sh" find)
fi
[ "${!library-}" ] || { echo "${TM_TEST_ONNXRUNTIME_MISSING-no ONNX Runtime $runtime}"; exit 77; }
export TIDEMILL_ONNXRUNTIME=${!library} NODE_PATH=${!modules} ORT_DISABLE_TELEMETRY=1

if [ $short = yes ]; then
  repeats=1 images=8 width=160 height=120 resize=40 crop=32 filters=8 quick=8 several=4 table=2000 times=1 batches=1 items=4 weights=8 calls=4
  workers_of_memory=(1 2) threads=(threads_two threads_default) starts=2
else
  repeats=5 images=400 width=1152 height=864 resize=256 crop=224 filters=64 quick=20 several=10 table=1000000 times=5 batches=8 items=40 weights=128
  calls=200 workers_of_memory=(1 2 4) threads=(threads_two threads_one threads_default threads_quiet) starts=1000
fi
repeats=${given:-$repeats}
place=$(mktemp -d "$dir/tidemill-bench-XXXXXX")
trap 'rm -rf "$place"' EXIT
export TIDEMILL_WORKSPACE=$place/workspace

# ---- measuring ----

# note FILE COMMAND...: adds the wall and processor time of a command to FILE.
note()
{
  local file=$1
  shift
  TIMEFORMAT='%R %U %S'
  { time "$@" >"$place/said" 2>&1; } 2>"$place/time" ||
    { cat "$place/said" >&2; echo "inference.sh: '$*' has failed" >&2; exit 1; }
  awk '{ print $1, $2 + $3 }' "$place/time" >>"$file"
}

shortest() # FILE COLUMN
{
  awk -v c="$2" 'NR == 1 || $c < best { best = $c } END { print best }' "$1"
}

# beside NAME FILE OURS : the shortest times in FILE, and how many times as fast those in
# OURS are.
beside()
{
  local wall used
  wall=$(shortest "$2" 1) used=$(shortest "$2" 2)
  row "$1" '%9.3f s wall %6sx  %9.3f s processor %6sx' "$wall" "$(over "$wall" "$(shortest "$3" 1)")" \
    "$used" "$(over "$used" "$(shortest "$3" 2)")"
}

over() # A B
{
  awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "-" }'
}

# turns FUNCTION FUNCTION...: each in turn, several times; the times are in $place/FUNCTION.
turns()
{
  local function
  rm -f "${@/#/$place/}"
  for _ in $(seq "$repeats"); do
    for function in "$@"; do "$function"; done
  done
}

# same FILE FILE: fails if they have other lines, in whatever order.
same()
{
  diff <(LC_ALL=C sort "$1") <(LC_ALL=C sort "$2") >"$place/difference" ||
    { head -n 6 "$place/difference" >&2; echo "inference.sh: the results in '$1' and '$2' differ" >&2; exit 1; }
}

# map NAME OUTPUT ARGUMENTS...: a job; its times are added to $place/NAME.
map()
{
  local name=$1 output=$2
  shift 2
  note "$place/$name" "$program" map --output "$output" --overwrite --progress none "$@"
}

make() # KIND FILE ARGUMENTS...: once
{
  [ -e "$2" ] || "$program" lua "$here/inference/models.lua" "$@"
}

make_items() # NUMBER: empty files
{
  seq "$1" | sed "s|^|$place/item|" >"$place/items"
  xargs touch <"$place/items"
}

make_pictures()
{
  [ ! -e "$place/pictures" ] || return 0
  mkdir "$place/pictures"
  "$program" lua "$here/inference/pictures.lua" "$place/pictures" $images $width $height
  find "$place/pictures" -name '*.jpg' | LC_ALL=C sort >"$place/list"
}

has_python() # NAME
{
  /usr/bin/python3 -c 'import numpy, PIL' 2>/dev/null || { row "$1" '%s' "python3-pil and python3-numpy are not installed"; return 1; }
}

# ---- images to scores ----

images_ours()
{
  map images_ours "$place/scores" "$here/inference/images.lua" "$place/pictures" -N 8 -j 2 -- \
    --model "$place/resnet.onnx" --resize $resize --crop $crop
}

images_in_c()
{
  note "$place/images_in_c" "$beside" images "$place/list" "$place/resnet.onnx" "$place/scores_in_c" 2 $resize $crop
}

images()
{
  heading "$images JPEGs of $width x $height through a ResNet-18 to scores, 2 workers, whole process, shortest of $repeats"
  make resnet "$place/resnet.onnx" $crop $filters
  make_pictures
  turns images_ours images_in_c
  same "$place/scores" "$place/scores_in_c"
  beside "tidemill" "$place/images_ours" "$place/images_ours"
  beside "C: libjpeg, our resample, ONNX Runtime" "$place/images_in_c" "$place/images_ours"
}

# ---- images that are read ahead ----

# One worker with one thread for the model; a decode takes about as long as a run().
ahead() # NAME ARGUMENTS...
{
  local name=$1
  shift
  map "$name" "$place/$name.scores" "$here/inference/ahead.lua" "$place/pictures" -N $several -j 1 -- \
    --model "$place/quick.onnx" --resize $resize --crop $crop "$@"
}

ahead_whole() { ahead ahead_whole --batch $several; }
ahead_half() { ahead ahead_half --batch $((several / 2)); }
ahead_prefetch() { ahead ahead_prefetch; }

prefetch()
{
  heading "The same JPEGs through a model that is as fast as the decoder, 1 worker, mini-batches of $several, whole process"
  make resnet "$place/quick.onnx" $crop $quick
  make_pictures
  turns ahead_whole ahead_half ahead_prefetch
  same "$place/ahead_prefetch.scores" "$place/ahead_whole.scores"
  same "$place/ahead_prefetch.scores" "$place/ahead_half.scores"
  beside "prefetch()" "$place/ahead_prefetch" "$place/ahead_prefetch"
  beside "image.batches, batches of $several" "$place/ahead_whole" "$place/ahead_prefetch"
  beside "image.batches, batches of $((several / 2))" "$place/ahead_half" "$place/ahead_prefetch"
}

# ---- the same tensors ----

session_ours()
{
  "$program" lua "$here/inference/session.lua" "$place/resnet.onnx" "$place/tensors" 8 $crop $times "$place/out" >>"$place/session_ours"
}

session_in_node()
{
  command node "$here/inference/session.js" "$place/resnet.onnx" "$place/tensors" 8 $crop $times "$place/out_in_node" >>"$place/session_in_node"
}

node()
{
  local name="onnxruntime-node"
  heading "$((8 * batches * times)) tensors of 3 x $crop x $crop through that model, batches of 8, 1 thread, shortest of $repeats"
  type -P node >/dev/null || { row "$name" '%s' "node is not installed"; return 0; }
  make resnet "$place/resnet.onnx" $crop $filters
  make tensors "$place/tensors" $((batches * 8 * 3 * crop * crop))
  turns session_ours session_in_node
  cmp "$place/out" "$place/out_in_node"
  beside "tidemill" "$place/session_ours" "$place/session_ours"
  beside "$name" "$place/session_in_node" "$place/session_ours"
}

# ---- decode and resize ----

decode_ours()
{
  map decode_ours "$place/decoded" "$here/inference/decode.lua" "$place/pictures" -N 8 -j 2 -- --resize $resize --crop $crop
}

decode_in_python()
{
  note "$place/decode_in_python" /usr/bin/python3 "$here/inference/pool.py" "$place/list" "$place/decoded_in_python" 2 $resize $crop
}

decode()
{
  local name="Pillow and numpy, multiprocessing.Pool(2)"
  heading "The same JPEGs to tensors of 3 x $crop x $crop, 2 workers, whole process, shortest of $repeats"
  has_python "$name" || return 0
  make_pictures
  turns decode_ours decode_in_python
  same "$place/decoded" "$place/decoded_in_python"
  beside "tidemill" "$place/decode_ours" "$place/decode_ours"
  beside "$name" "$place/decode_in_python" "$place/decode_ours"
}

# ---- rows ----

rows_ours()
{
  map rows_ours "$place/labels.csv" "$here/inference/rows.lua" "$place/table.csv" --rows -N 1MB -j 2 -- --model "$place/trees.onnx"
}

rows_in_c()
{
  note "$place/rows_in_c" "$beside" rows "$place/table.csv" "$place/trees.onnx" "$place/labels_in_c" 2
}

rows()
{
  heading "$table rows of 10 columns through 100 trees, CSV to CSV, 2 workers, whole process, shortest of $repeats"
  make trees "$place/trees.onnx"
  make table "$place/table.csv" $table
  turns rows_ours rows_in_c
  tail -n +2 "$place/labels.csv" >"$place/labels"
  same "$place/labels" "$place/labels_in_c"
  beside "tidemill" "$place/rows_ours" "$place/rows_ours"
  beside "C: a parser for this table, ONNX Runtime" "$place/rows_in_c" "$place/rows_ours"
}

# ---- threads ----

threads_job() # NAME WORKERS ARGUMENTS...
{
  local name=$1 workers=$2
  shift 2
  map "$name" "$place/classes" "$here/inference/threads.lua" - -N 1 -j "$workers" -- \
    --model "$place/resnet.onnx" --size $crop "$@" <"$place/items"
}

threads_two() { threads_job threads_two 2; }
threads_one() { threads_job threads_one 1; }
threads_default() { threads_job threads_default 2 --threads "$(nproc)" --spinning; }
threads_quiet() { threads_job threads_quiet 2 --threads "$(nproc)"; }

declare -A ways=(
  [threads_two]="2 workers: tidemill's threads" [threads_one]="1 worker: tidemill's threads"
  [threads_default]="2 workers: ONNX Runtime's default" [threads_quiet]="2 workers: the default without spinning"
)

images_a_second() # NAME FILE
{
  row "$1" '%9s images/s  %9.3f s processor' "$(awk -v n=$((items * 8)) -v s="$(shortest "$2" 1)" 'BEGIN { printf "%.1f", n / s }')" \
    "$(shortest "$2" 2)"
}

threads()
{
  local way
  heading "$((items * 8)) tensors through that model, batches of 8, whole process, shortest of $repeats"
  make resnet "$place/resnet.onnx" $crop $filters
  make_items $items
  turns "${threads[@]}"
  for way in "${threads[@]}"; do images_a_second "${ways[$way]}" "$place/$way"; done
}

# ---- memory ----

# memory_row NAME MODEL WORKERS ARGUMENTS...: what each worker takes of its own, and all of them.
memory_row()
{
  local name=$1 model=$2 workers=$3
  shift 3
  map memory "$place/memory.txt" "$here/inference/memory.lua" - -N 1 -j "$workers" -- --model "$model" "$@" <"$place/items"
  awk -v name="$name" -v workers="$workers" '
    !($1 in most) { n++; most[$1] = 0 }
    $2 > most[$1] { most[$1] = $2 }
    END {
      for (pid in most) { sum += most[pid]; if (most[pid] > max) max = most[pid] }
      if (n != workers) name = name " (" n " of them had work)"
      printf "  %-46s %9.1f MB at most in a worker %9.1f MB in all\n", name, max / 1024, sum / 1024
      exit n == 0 || sum == 0
    }' "$place/memory.txt"
}

memory()
{
  local workers own=()
  heading "Memory of workers with $weights MB of weights, without mapped files"
  make wide "$place/wide.onnx" $weights
  make_items $calls
  [ $share = no ] || own=(--share_weights false)
  for workers in "${workers_of_memory[@]}"; do
    memory_row "workers: $workers" "$place/wide.onnx" "$workers" "${own[@]}"
    [ $share = no ] || memory_row "workers that share: $workers" "$place/wide.onnx" "$workers" --share_weights true
  done
}

# ---- start ----

start()
{
  local programs=("$program")
  heading "The start of a process: 'tidemill version', shortest and median of $starts in turn, ms"
  [ ! "$before" ] || programs+=("$before")
  "$beside" start $starts "${programs[@]}" >"$place/starts"
  row "tidemill" '%s' "$(sed -n 1p "$place/starts")"
  [ ! "$before" ] || row "the build of --before" '%s' "$(sed -n 2p "$place/starts")"
}

echo "$(uname -sm), $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg), $(df --output=fstype "$dir" | tail -n 1) at $dir," \
  "$("$program" version | head -n 1), ONNX Runtime ${runtime/_/.}"
for part in "${parts[@]}"; do
  "$part"
done
