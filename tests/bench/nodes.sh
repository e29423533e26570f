#!/bin/bash
# Measures nodes that a command starts on this machine, over plain pipes, or those of a real Slurm
# cluster on this machine, beside workers without them; see README.md.
set -eu -o pipefail

usage()
{
  cat <<'END'
usage: tests/bench/nodes.sh [--short] [--slurm] [--dir DIR] [--program FILE] [overhead] [start] [loss] [silence] [rows]
                            [distance] [busy]
  --short         small numbers: shows that it works, not how fast it is
  --slurm         the nodes are those of Slurm; without `distance`
  --dir DIR       where jobs and lists lie (default: $TMPDIR or /tmp)
  --program FILE  the program (default: build/tidemill)
END
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$here/../../build/tidemill
dir=${TMPDIR:-/tmp}
mini_batches=200000 large=800 timed=10000 repeats=5 times=10 silences=3 slurm=
parts=()
while [ $# -gt 0 ]; do
  case $1 in
    --short) mini_batches=2000 large=20 timed=200 repeats=1 times=1 silences=1 ;;
    --slurm) slurm=1 ;;
    --dir) dir=$2; shift ;;
    --program) program=$2; shift ;;
    -h|--help) usage; exit 0 ;;
    overhead|start|loss|silence|rows|distance|busy) parts+=("$1") ;;
    *) echo "nodes.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
if [ ${#parts[@]} -eq 0 ]; then
  parts=(overhead start loss silence rows busy)
  [ -n "$slurm" ] || parts+=(distance)
fi
[ -z "$slurm" ] || [[ " ${parts[*]} " != *" distance "* ]] || { echo "nodes.sh: no part 'distance' with --slurm" >&2; exit 2; }
[ -x "$program" ] || { echo "nodes.sh: no program at '$program'; build it first" >&2; exit 2; }
program=$(realpath "$program")
place=$(mktemp -d "$dir/tidemill-bench-XXXXXX")
job_dir=$place/job
end()
{
  [ -z "$slurm" ] || bash "$here/../support/slurm.sh" stop "$place/slurm"
  rm -rf "$place"
}
trap end EXIT
if [ -n "$slurm" ]; then
  chmod 755 "$place" # for munge
  bash "$here/../support/slurm.sh" start "$place/slurm" 3 2
  eval "$(bash "$here/../support/slurm.sh" env "$place/slurm")"
fi

# shellcheck source=tests/bench/common.sh
source "$here/common.sh"

plain='{ "{program}", "node" }'
node_timeout=15 # seconds, the default

# pipeline SCRIPT SIZE ROWS NODES [COMMAND [ARGUMENT [FOLDER]]]: mini-batches of SIZE paths. NODES
# is 0: the workers are those of this machine.
pipeline()
{
  local nodes="compute_target = \"exec\", node_command = ${5:-$plain},"
  [ -z "$slurm" ] || nodes="compute_target = \"slurm\", slurm_options = \"--exclusive\","
  nodes+=" node_count = $4, node_timeout = $node_timeout,"
  [ "$4" -gt 0 ] || nodes=
  awk -v n="$3" -v more="${7:-}" 'BEGIN { for (i = 0; i < n; i++) printf "/data/images%s/part_%03d/image_%07d.pgm\n", more, i % 1000, i }' >"$place/list"
  cat >"$place/pipeline.lua" <<END
local tidemill = require "tidemill"
local config = tidemill.ParallelRunConfig {
  entry_script = "$here/$1", mini_batch_size = $2, process_count_per_node = 2, $nodes
  output_action = "append_row", append_row_file_name = "rows.txt",
}
local step = tidemill.ParallelRunStep {
  name = "bench", parallel_run_config = config, arguments = { "${6:-$place/mark}" },
  inputs = { tidemill.Dataset.File.from_manifest("$place/list") },
}
return tidemill.Pipeline { name = "bench", steps = { step } }
END
}

job() # in a new directory
{
  exec "$program" run "$place/pipeline.lua" --job-dir "$job_dir" --progress none >"$place/words" 2>&1
}

run()
{
  (job) || fail "the job has failed"
}

fail() # WORDS
{
  cat "$place/words" >&2
  echo "nodes.sh: $1" >&2
  exit 1
}

once() # ROWS: seconds
{
  rm -rf "$job_dir"
  seconds run
  check_rows "$job_dir/bench/output/rows.txt" "$1"
}

ratio() # A B
{
  awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1fx", a / b }'
}

overhead()
{
  local nodes s us ours=
  heading "A mini-batch of 10 paths, no-op run(), 2 workers on each node, whole process; $mini_batches of them, median of $repeats"
  for nodes in 0 1 3; do
    pipeline noop.lua 10 $((mini_batches * 10)) $nodes
    s=$(repeat $repeats once $((mini_batches * 10)))
    us=$(per "$s" $mini_batches)
    ours=${ours:-$us}
    row "$(name_of $nodes)" '%10s us  %8s' "$us" "$(ratio "$us" "$ours")"
  done
}

name_of() # NODES
{
  case $1 in
    0) echo "this machine, without nodes" ;;
    1) echo "1 node" ;;
    *) echo "$1 nodes" ;;
  esac
}

# await_begin: sets `begun` to the time of the next first run() of a worker.
await_begin()
{
  local name
  if ! read -t 60 -r name begun <&7; then
    kill "$job_pid" 2>/dev/null || true
    fail "no run() has begun for a minute"
  fi
}

begin_job() # with mark.lua
{
  rm -rf "$job_dir" "$place"/mark.* "$place"/relay.*
  mkfifo "$place/mark.begun" "$place/mark.go"
  exec 7<>"$place/mark.begun"
  job &
  job_pid=$!
}

finish_job() # ROWS
{
  exec 8<>"$place/mark.go"
  wait "$job_pid" || fail "the job has failed"
  exec 7<&- 8<&-
  check_rows "$job_dir/bench/output/rows.txt" "$1"
}

ms_since() # NANOSECONDS NANOSECONDS: from the first to the second
{
  awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f\n", (b - a) / 1e6 }'
}

# When a node was asked for: its file is made right before its command is started.
asked_at() # ID
{
  date -r "$job_dir/nodes/$1.txt" +%s%N
}

start_once() # milliseconds
{
  begin_job
  await_begin
  ms_since "$(asked_at 1)" "$begun"
  finish_job 10
}

start()
{
  local ms
  pipeline nodes/mark.lua 1 10 1
  heading "From the request for a node to its first run(); median of $times"
  ms=$(repeat $times start_once)
  row "1 node" '%10.1f ms' "$ms"
}

# await_ready ID: sets `relay` to the process of the node, and `host` to its machine's name. The log
# is written a moment after the node is ready.
await_ready()
{
  local i
  for ((i = 0; i < 500; i++)); do
    read -r host relay < <(sed -n "s/.*node $1 (\([^)]*\)) is ready: pid \([0-9]*\).*/\1 \2/p" "$job_dir/bench/logs/sys/master_role.txt") && return
    sleep 0.02 # lint: allow no-sleep, it is the time between two looks
  done
  fail "node $1 is not ready"
}

kill_relay()
{
  kill -9 "$relay"
}

# A machine of Slurm, or a relay, is stopped, and continues at the end.
silence_node()
{
  if [ -n "$slurm" ]; then
    bash "$here/../support/slurm.sh" freeze-node "$place/slurm" "${host#node}"
  else
    kill -STOP "$relay"
  fi
}

end_silence()
{
  if [ -n "$slurm" ]; then
    bash "$here/../support/slurm.sh" thaw-node "$place/slurm" "${host#node}"
  else
    kill -CONT "$relay" 2>/dev/null || true
  fi
}

# The only node comes to harm while both workers are in run(). The job gives it up, and asks for
# another one at once.
loss_once() # HARM: prints milliseconds until that, and from then to its first run()
{
  local begun_harm
  begin_job
  await_begin
  await_begin
  await_ready 1
  begun_harm=$(date +%s%N)
  "$1"
  await_begin
  printf '%s %s\n' "$(ms_since "$begun_harm" "$(asked_at 2)")" "$(ms_since "$(asked_at 2)" "$begun")"
}

losses() # HARM TIMES AFTERWARDS
{
  local i
  for ((i = 0; i < $2; i++)); do
    loss_once "$1"
    "$3"
    finish_job 10
  done >"$place/losses"
  row "until another node is asked for" '%10.1f ms' "$(cut -d ' ' -f 1 "$place/losses" | median)"
  row "from then to its first run()" '%10.1f ms' "$(cut -d ' ' -f 2 "$place/losses" | median)"
}

loss()
{
  pipeline nodes/mark.lua 1 10 1
  heading "The relay of the only node is killed; median of $times"
  losses kill_relay "$times" true
}

silence()
{
  node_timeout=2
  pipeline nodes/mark.lua 1 10 1
  heading "The only node falls silent; node_timeout is $node_timeout s; median of $silences"
  losses silence_node "$silences" end_silence
  node_timeout=15
}

# A node whose keeper cannot be heard for a second is lost: heartbeats must not wait behind rows.
rows()
{
  local nodes s ours=
  node_timeout=1
  heading "Rows of 512 KB, 2 workers, node_timeout 1 s, whole process; $large of them, median of $repeats"
  for nodes in 0 1; do
    pipeline nodes/large.lua 1 "$large" $nodes
    s=$(repeat $repeats once "$large")
    ours=${ours:-$s}
    row "$(name_of $nodes)" '%10.0f MB/s  %6s' "$(awk -v s="$s" -v n="$large" 'BEGIN { print n * 0.524288 / s }')" "$(ratio "$s" "$ours")"
    [ ! -e "$job_dir/nodes/2.txt" ] || fail "a node was lost"
  done
  node_timeout=15
}

# A round trip of 90 ms, beside none.
distance()
{
  local delay s ours=
  has python3 "a node behind a delay" || return 0
  heading "A run() of 1 ms, 2 workers on 1 node, whole process; $timed of them, median of $repeats"
  for delay in 0 0.045; do
    pipeline nodes/short.lua 10 $((timed * 10)) 1 "{ \"python3\", \"$here/nodes/delay.py\", \"$delay\", \"{program}\", \"node\" }" 1000
    s=$(repeat $repeats once $((timed * 10)))
    ours=${ours:-$s}
    row "each message arrives $delay s later" '%10.2f s  %8s' "$s" "$(ratio "$s" "$ours")"
  done
}

# Lists of 40 paths of 60 bytes: more than srun passes on at once.
busy()
{
  local nodes
  heading "A run() of 1 ms with 40 paths of 60 bytes, 2 workers; $timed mini-batches, median of $repeats"
  for nodes in 0 1; do
    pipeline nodes/short.lua 40 $((timed * 40)) $nodes "" 940 /a-folder-with-a-name
    row "$(name_of $nodes)" '%10.1f %% busy' "$(repeat $repeats busy_once)"
  done
}

# Per cent of the time from the first run() to the end of the last that workers were in run().
busy_once()
{
  once $((timed * 40)) >/dev/null
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
      split($at["Process Start Time"], t, /[T:Z]/)
      begin = t[2] * 3600 + t[3] * 60 + t[4]
      end = begin + $at["Run Method Seconds"]
      if (NR == 2 || begin < first) first = begin
      if (end > last) last = end
      sum += $at["Run Method Seconds"]
    }
    END { print 100 * sum / (2 * (last - first)) }' "$job_dir/bench/logs/sys/job_report/processed_mini-batches.csv"
}

echo "$(uname -sm), $(nproc) cores, $(df --output=fstype "$dir" | tail -n 1) at $dir, $("$program" version | head -n 1)"
for part in "${parts[@]}"; do
  "$part"
done
