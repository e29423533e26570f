# What the scripts of this folder share: lines of a table, times, medians.

heading()
{
  printf '\n%s\n' "$1"
}

row() # NAME FORMAT VALUE...
{
  local name=$1 format=$2
  shift 2
  # shellcheck disable=SC2059
  printf "  %-46s $format\\n" "$name" "$@"
}

# median: of the numbers on standard input, one a line.
median()
{
  sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

seconds() # COMMAND...: how long it takes
{
  local begin end
  begin=$(date +%s%N)
  "$@" >&2
  end=$(date +%s%N)
  awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.6f\n", (b - a) / 1e9 }'
}

# check_rows FILE COUNT: fails if the measured job did not write all its rows.
check_rows()
{
  local rows
  rows=$(wc -l <"$1")
  [ "$rows" -eq "$2" ] || { echo "run.sh: $rows rows in '$1', not $2" >&2; exit 1; }
}

repeat() # COUNT COMMAND...: median
{
  local count=$1
  shift
  for _ in $(seq "$count"); do
    "$@"
  done | median
}

per() # SECONDS COUNT: microseconds each
{
  awk -v s="$1" -v n="$2" 'BEGIN { printf "%.2f", s * 1e6 / n }'
}

# has COMMAND NAME: else says so in the table.
has()
{
  command -v "$1" >/dev/null || { row "$2" '%s' "$1 is not installed"; return 1; }
}
