#!/bin/bash
# Looks for commands, topics and options in the documents that the program does not know: printed.sh
# PROGRAM DOCUMENTS
set -eu -o pipefail
program=$1 documents=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Each "tidemill ..." in code, up to what ends a command.
cd "$documents"
{
  grep -ohE '^    tidemill [^#|>&)]*' README.md lua/manual/*.md || true
  sed -n '/^```sh/,/^```$/p' README.md | grep -oE '^tidemill [^#|>&]*' || true
  grep -ohE '`tidemill [^`]*`' README.md lua/manual/*.md | tr -d '`'
} | sed 's/ -- .*//; s/^ *//' | sort -u >"$dir/commands"
[ "$(wc -l <"$dir/commands")" -gt 60 ] || { echo "printed.sh: the documents print few commands"; exit 1; }

"$program" help >"$dir/overview"
failed=0
fail()
{
  echo "printed.sh: $*"
  failed=1
}

check_topic() # COMMAND-LINE TOPIC
{
  case $2 in [A-Z]*|'') return ;; esac # TOPIC, PARAMETER
  "$program" help "$2" >/dev/null 2>&1 || fail "'$1': help does not know '$2'"
}

while read -r line; do
  read -r _ command rest <<<"$line"
  case ${command:-} in
    help) read -r topic _ <<<"$rest"; case ${topic:-} in -*) ;; *) check_topic "$line" "${topic:-}" ;; esac ;;
    ''|-*|*.lua|*.txt|'<'*|[A-Z]*|.*|\$*) continue ;;
  esac
  grep -qE "^  $command +" "$dir/overview" || { fail "'$line': there is no command '$command'"; continue; }
  [ -e "$dir/$command" ] || "$program" help "$command" >"$dir/$command"
  for word in $rest; do
    case $word in
      --*) option=${word%%=*} ;;
      -[a-zA-Z0-9]) option=$word ;;
      *) continue ;;
    esac
    option=${option%,}
    grep -qE -- "(^| |\[)$option( |$|\]|\||\[=)" "$dir/$command" || fail "'$line': '$command' has no option '$option'"
  done
done <"$dir/commands"
exit $failed
