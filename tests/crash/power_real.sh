#!/bin/bash
# Power cuts of real file systems: power_real.sh TIDEMILL POWER_OFF
#
# ext4 (data=ordered, and data=writeback,noauto_da_alloc) and xfs are mounted from image files and
# shut down without flushing their logs, at a random moment of a job or within 20 ms of its end.
# After a new mount, a job that had exited with 0 must be Completed and verify clean as it is. Any
# other is resumed, and must then have every row once. TM_LONG=1: hundreds of cuts. Exits with 77
# and a reason where such file systems cannot be mounted.
set -u
tidemill=$(realpath "$1") power_off=$(realpath "$2")
items=30 at_end=1 in_middle=1
[ -n "${TM_LONG:-}" ] && at_end=170 in_middle=80
cuts=0 resumed=0 verified=0 failures=0 skipped= usual_ms=

skip() { echo "skipped: $1"; exit 77; }

[ "$(id -u)" = 0 ] || skip "only root can mount file systems"
# In a mount namespace of its own, no mount outlives the script, however it ends.
if [ -z "${TM_POWER_NAMESPACE:-}" ]; then
  unshare --mount true 2>/dev/null || skip "no mount namespace can be made here"
  TM_POWER_NAMESPACE=1 exec unshare --mount --propagation private "$0" "$@"
fi

dir=$(mktemp -d) job=
disk=$dir/disk
clean_up() {
  [ -n "$job" ] && kill -9 "$job" 2>/dev/null
  umount -l "$disk" 2>/dev/null
  rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

# What each job reads and is; its directory and its destination are on the disk that is cut.
mkdir -p "$disk" "$dir/in" "$dir/tmp"
for ((i = 1; i <= items; i++)); do printf 'x' > "$dir/in/$(printf %04d "$i")"; done
(cd "$dir/in" && ls | sort) > "$dir/expected"
echo 'function run(m) local r = {} for i, p in ipairs(m) do r[i] = p:match "[^/]+$" end return r end' > "$dir/score.lua"
cat > "$dir/pipeline.lua" <<'L'
local tm = require "tidemill"
local out = tm.OutputFileDatasetConfig { name = "out", destination = "disk/place" }
local how = os.getenv "HOW"
return tm.Pipeline { name = "power", steps = { tm.ParallelRunStep {
  name = "one", allow_reuse = false, inputs = { tm.Dataset.File.from_files "in/*" },
  output = how == "upload" and out:as_upload() or how == "archive" and out:as_archive "tar" or nil,
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 1,
    process_count_per_node = 2, sync_interval = 0.02, overwrite = true } } } }
L
export TMPDIR=$dir/tmp TIDEMILL_WORKSPACE=$dir/ws HOW
mkdir "$dir/ws"
cd "$dir" || exit 1

run_job() { exec "$tidemill" run pipeline.lua --job-dir disk/job --resume --progress none > log 2>&1; }

now_ms() { echo $(($(date +%s%N) / 1000000)); }

fail() {
  failures=$((failures + 1))
  echo "FAILED: $name, $HOW, cut $cuts: $1"
  sed 's/^/  /' log | tail -5
}

rows_of() {
  case $1 in
    job) sort disk/job/one/output/parallel_run_step.txt ;;
    upload) sort disk/place/parallel_run_step.txt ;;
    archive) tar -xOf disk/place parallel_run_step.txt | sort ;;
  esac
}

check() {
  grep -q '"status": *"Completed"' disk/job/job_result.json || { fail "it is not Completed"; return; }
  rows_of job 2>/dev/null | cmp -s - expected || { fail "its rows are not exact"; return; }
  [ "$HOW" = none ] || rows_of "$HOW" 2>/dev/null | cmp -s - expected || { fail "its upload is not exact"; return; }
  ls disk | grep -q tidemill- && { fail "something is left beside the destination"; return; }
  "$tidemill" verify disk/job > log 2>&1 || { fail "verify finds faults"; return; }
  verified=$((verified + 1))
}

mount_disk() { mount -o "loop$options" image "$disk"; }

# The job's processes notice that it is gone; until then the disk is busy.
cut_power() {
  "$power_off" "$disk" || exit 1
  cuts=$((cuts + 1))
  [ -n "$job" ] && kill -9 "$job" 2>/dev/null
  [ -n "$job" ] && wait "$job" 2>/dev/null
  job=
  for ((i = 0; i < 3000; i++)); do
    umount "$disk" 2>/dev/null && break
    after 10
  done
  [ "$i" -lt 3000 ] || { echo "FAILED: $name: a process of the job does not end"; exit 1; }
  mount_disk || { echo "FAILED: $name cannot be mounted any more"; exit 1; }
}

after() { sleep "$(printf '0.%03d' "$1")"; }

one_at_end() {
  (run_job) || { fail "the job fails by itself"; return; }
  after $((RANDOM % 18))
  cut_power
  check
}

one_in_middle() {
  local status
  (run_job) & job=$!
  after $((RANDOM % usual_ms))
  kill -0 "$job" 2>/dev/null || { wait "$job"; status=$?; job=; }
  cut_power
  if [ "${status:-1}" != 0 ]; then
    resumed=$((resumed + 1))
    (run_job) || { fail "it cannot be resumed"; return; }
  fi
  check
}

make_disk() {
  rm -f image
  truncate -s 320M image
  $make image > log 2>&1 && mount_disk 2>> log && "$power_off" "$disk" 2>> log && umount "$disk" && mount_disk
}

# How long a job takes, at most 999 ms.
measure_job() {
  local begin_ms
  begin_ms=$(now_ms) HOW=none
  (run_job) || { fail "the job fails by itself"; return 1; }
  usual_ms=$(($(now_ms) - begin_ms + 10))
  [ "$usual_ms" -gt 999 ] && usual_ms=999
  return 0
}

try_disk() {
  name=$1 make=$2 options=$3
  if ! make_disk; then
    skipped="$skipped $name ($(tail -1 log));"
    umount -l "$disk" 2>/dev/null
    return
  fi
  local before_cuts=$cuts before_failures=$failures
  [ -n "$usual_ms" ] || measure_job || return
  for ((n = 0; n < at_end + in_middle; n++)); do
    rm -rf disk/job disk/place*
    sync -f disk # else the cut may bring the job before this one back
    local ways=(upload archive none)
    HOW=${ways[n % 3]}
    if ((n < at_end)); then one_at_end; else one_in_middle; fi
  done
  umount "$disk"
  echo "$name: $((cuts - before_cuts)) cuts, $((failures - before_failures)) failures"
}

try_disk "ext4" "mkfs.ext4 -q -F" ""
try_disk "ext4, writeback" "mkfs.ext4 -q -F" ",data=writeback,noauto_da_alloc"
try_disk "xfs" "mkfs.xfs -q -f" ""
[ -n "$skipped" ] && echo "not mounted:$skipped"
[ "$cuts" = 0 ] && [ "$failures" = 0 ] && skip "no file system can be mounted and shut down here:$skipped"
echo "$cuts cuts, $resumed resumed, $verified verified, $failures failures"
[ "$failures" = 0 ]
