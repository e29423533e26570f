#!/bin/sh
# story.sh PROGRAM: what the README shows, in a copy of this folder.
set -eu
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$here/." "$copy"
cd "$copy"
export TIDEMILL_WORKSPACE=$copy/workspace

# say COMMAND...: shows it, and what it says of the datasets
say()
{
  printf '$ tidemill'
  for word; do
    case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  echo
  "$program" "$@" 2>"$copy/said" || { cat "$copy/said" >&2; exit 1; }
  grep -e "has changed since" -e "is reused" "$copy/said" || true
}

# levels OPTION...: runs the pipeline, and shows its rows
levels()
{
  jobs=$((jobs + 1))
  say run pipeline.lua --job-dir "job$jobs" "$@"
  LC_ALL=C sort "job$jobs/highest/output/parallel_run_step.txt"
}
jobs=0

say lua register.lua --description "to February"
levels
echo "# a station had been forgotten in January, and March comes in"
echo "weir,4.45" >>readings/2026-01.csv
printf 'station,level\nharbour,2.30\nlock,1.55\n' >readings/2026-03.csv
levels
say lua register.lua --description "to March, January mended"
levels
say dataset list readings
levels --params-file first_version.lua
say dataset list
