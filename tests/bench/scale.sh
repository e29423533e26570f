# The parts of run.sh that measure how cost and memory grow with the size of the input.

# point PART SERIES COUNT VALUE...: kept for the plot.
point()
{
  local IFS=$'\t'
  [ -z "$points" ] || echo "$*" >>"$points"
}

# watched_job PIPELINE: "SECONDS PEAK_KB BEGIN_NS", of the supervisor's process.
watched_job()
{
  rm -rf "$place/job"
  python3 "$here/watch.py" "$program" run "$1" --job-dir "$place/job" --progress none 2>"$place/words" ||
    { cat "$place/words" >&2; exit 1; }
}

make_tree() # FOLDER FOLDERS FILES_IN_EACH
{
  local i
  for i in $(seq 1 "$2"); do
    mkdir -p "$1/folder_$i"
    (cd "$1/folder_$i" && seq -f 'image_%07.0f.pgm' 1 "$3" | xargs touch)
  done
}

dry_run()
{
  "$program" run "$1" --dry-run >"$place/words" 2>&1 || { cat "$place/words" >&2; exit 1; }
}

# listing_once FILES FOLDERS: lists FILES files in FOLDERS folders; compares the memory with that of
# the previous size ($peak_before).
listing_once()
{
  local files=$1 in_folders=$2 tree=$place/tree list all peak begin first
  make_tree "$tree" "$in_folders" $((files / in_folders))
  rm -f "$place"/first.*
  pipeline "$place/listing.lua" first.lua "tidemill.Dataset.File.from_files(\"$tree\")" "\"$place/first\""
  list=$(seconds dry_run "$place/listing.lua")
  read -r all peak begin < <(watched_job "$place/listing.lua")
  check_rows "$place/job/bench/output/rows.txt" "$files"
  first=$(cat "$place"/first.* | sort -n | head -n 1 | awk -v b="$begin" '{ printf "%.1f", ($1 - b) / 1e6 }')
  row "$files files" '%8.2f s  first run() after %8.1f ms  peak %7d kB %5s  whole job %6.2f s' "$list" "$first" "$peak" \
    "$(awk -v a="$peak" -v b="${peak_before:-$peak}" 'BEGIN { printf "%.2fx", a / b }')" "$all"
  peak_before=$peak
  point listing "$in_folders" "$files" "$list" "$first" "$peak" "$all"
  rm -rf "$tree"
}

listing()
{
  local in_folders count
  for in_folders in "$folders" 1; do
    heading "Listing files in $in_folders folder(s), mini-batches of 10, from a warm cache: all of it, first run(), supervisor's memory"
    has python3 "all of it" || return 0
    peak_before=
    for count in "${files[@]}"; do
      listing_once "$count" "$in_folders"
    done
  done
}

growth_once() # COUNT: "SECONDS PEAK_KB"
{
  local all peak begin
  read -r all peak begin < <(watched_job "$place/growth.lua")
  check_rows "$place/job/bench/output/rows.txt" "$1"
  echo "$all $peak $begin"
}

growth()
{
  local count us peak
  heading "Mini-batches of one path from a list, no-op run(), $workers workers, whole process; median of $scale_repeats"
  has python3 "all of it" || return 0
  for count in "${counts[@]}"; do
    list_of "$count" "$place/list"
    pipeline "$place/growth.lua" noop.lua "tidemill.Dataset.File.from_manifest(\"$place/list\")" "" 1
    for _ in $(seq $scale_repeats); do
      growth_once "$count"
    done >"$place/runs"
    us=$(per "$(cut -d' ' -f1 "$place/runs" | median)" "$count")
    peak=$(cut -d' ' -f2 "$place/runs" | sort -n | tail -n 1)
    row "$count mini-batches" '%8.2f us each  peak %7d kB' "$us" "$peak"
    point growth tidemill "$count" "$us" "$peak"
  done
}
