#!/bin/bash
# What the README says about installing, and tests/run.sh, on a fresh machine: a release is checked
# with it, as root.
#
# The machine is a Debian 12 of its own in a folder, with the packages of `mmdebstrap --variant=apt`
# and nothing else: no git, no compiler, another locale. The tree goes there as git would commit it,
# in a folder `tidemill`, without the files that git ignores. A form of the check is a user who
# types the commands of the README's chapter "Install", runs its first minute with the installed
# program, and then calls tests/run.sh:
#
#   root   in /root
#   user   in a home that nobody else may enter (mode 0700); root has installed the packages
#
# apt works there as here: it has this machine's sources, where this is a Debian 12 too, and its
# Acquire options. The last lines are one for each form. Exit status: 0, or 1 where a form has
# failed, or 77 where none could be tried.
set -u -o pipefail

usage()
{
  cat <<'END'
usage: tests/support/fresh.sh [--only root|user] [--keep]
  --only FORM   this form of the check alone
  --keep        leave the machine in its folder
END
}

skip() # REASON
{
  for form in $forms; do
    echo "$form: skipped: $1"
  done
  exit 77
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || exit 1
words=("$@")
forms="root user"
keep=no
while [ $# -gt 0 ]; do
  case $1 in
    --only)
      case ${2:-} in
        root|user) forms=$2 ;;
        *) echo "fresh.sh: --only takes 'root' or 'user'" >&2; exit 2 ;;
      esac
      shift ;;
    --keep) keep=yes ;;
    -h|--help) usage; exit 0 ;;
    *) echo "fresh.sh: unknown option '$1'" >&2; usage >&2; exit 2 ;;
  esac
  shift
done

[ "$(id -u)" = 0 ] || skip "only root can make a machine; run it as root"
for program in mmdebstrap git; do
  command -v "$program" >/dev/null || skip "there is no $program; apt-get install $program"
done
# The script calls itself in namespaces: no mount and no process of the machine outlives them,
# however they end.
own=(unshare --mount --propagation private --pid --fork --kill-child --mount-proc)
if [ -z "${TM_FRESH_DIR:-}" ]; then
  "${own[@]}" true 2>/dev/null || skip "root may not make namespaces here; run it outside the container"
  TM_FRESH_DIR=$(mktemp -d) || exit 1
  export TM_FRESH_DIR
  clean_up()
  {
    local first=
    # process 1 of the namespace: with it all others go
    read -r first _ <"/proc/$inner/task/$inner/children"
    kill -KILL "${first:-$inner}"
    wait "$inner"
    if [ $keep = yes ]; then
      echo "kept: $TM_FRESH_DIR/machine"
    else
      rm -rf --one-file-system "$TM_FRESH_DIR"
    fi
  } 2>/dev/null
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  "${own[@]}" "${BASH_SOURCE[0]}" "${words[@]}" &
  inner=$!
  wait $inner
  exit
fi

dir=$TM_FRESH_DIR
machine=$dir/machine

# apt's sources and options of this machine, as words for mmdebstrap in $apt_words.
apt_of_here()
{
  local file
  # that is a program of this machine
  apt-config dump Acquire | grep -v 'Proxy-Auto-Detect' >"$dir/apt.conf"
  apt_words=("--aptopt=$dir/apt.conf")
  sources=()
  grep -qx 'VERSION_CODENAME=bookworm' /etc/os-release || return 0
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
    if grep -q '^[^#]' "$file" 2>/dev/null; then
      sources+=("$file")
    fi
  done
}

make_machine()
{
  apt_of_here
  mmdebstrap --variant=apt "${apt_words[@]}" bookworm "$machine" "${sources[@]}" || return 1
  cp /etc/resolv.conf /etc/hosts "$machine/etc/"
  # A mount point at its root lets programs in it have mounts of their own, as on any machine.
  mount --bind "$machine" "$machine" &&
    mount --rbind /proc "$machine/proc" && mount --rbind /sys "$machine/sys" && mount --rbind /dev "$machine/dev" &&
    mount -t tmpfs -o mode=1777 tmpfs "$machine/dev/shm"
}

# put_tree HOME: the files that git would commit, as they are now, in HOME/tidemill.
put_tree()
{
  mkdir "$machine$1/tidemill" || return 1
  git -c "safe.directory=$root" -C "$root" ls-files -coz --exclude-standard |
    while IFS= read -r -d '' file; do
      if [ -e "$root/$file" ] || [ -L "$root/$file" ]; then printf '%s\0' "$file"; fi
    done | tar -C "$root" --null --no-recursion -T - -cf - | tar -C "$machine$1/tidemill" --no-same-owner -xf -
}

# in_machine USER HOME COMMAND: in HOME/tidemill, with the environment and the signals of a login,
# and with the proxies of this machine.
in_machine()
{
  local user=$1 home=$2 name given=("TERM=dumb" "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
  for name in http_proxy https_proxy ftp_proxy no_proxy; do
    [ -z "${!name:-}" ] || given+=("$name=${!name}")
  done
  chroot "$machine" setpriv --reuid="$user" --regid="$user" --init-groups \
    env -i --default-signal -C "$home/tidemill" "USER=$user" "HOME=$home" "${given[@]}" bash -c "$3" </dev/null
}

# step USER HOME COMMAND: the same; what it prints is shown, and is in $dir/log. Nothing waits for
# processes that it leaves.
step()
{
  local process
  printf '\n== %s: %s\n' "$1" "$3"
  in_machine "$@" >"$dir/log" 2>&1 &
  process=$!
  tail --pid=$process -n +1 -f "$dir/log"
  wait $process
}

# Each command of the README's chapter "Install", one a line.
install_commands()
{
  sed -n '/^## Install/,/^## The/s/^    \([^#]*\).*/\1/p' "$root/README.md" | sed 's/ *$//'
}

# as_typed USER HOME COMMAND: sudo is a call as root, who need not confirm.
as_typed()
{
  case $3 in
    'sudo apt-get install '*) step root "$2" "apt-get install -y ${3#sudo apt-get install }" ;;
    *) step "$@" ;;
  esac
}

# installed USER HOME: the README's chapter "Install", and its first minute with the package and
# from the prefix; the package is removed again.
installed()
{
  local command
  while IFS= read -r command; do
    as_typed "$1" "$2" "$command" || { said="$1: $command failed"; return 1; }
  done < <(install_commands)
  for command in /usr/bin/tidemill "$2/.local/bin/tidemill"; do
    step "$1" "$2" "tests/example/readme.sh $command" || { said="$1: the README's first minute failed with $command"; return 1; }
  done
  step root "$2" "apt-get remove -y tidemill" || { said="$1: the package cannot be removed"; return 1; }
}

# commands USER HOME: all of it; what came of them is one line in $said.
commands()
{
  local status=0
  installed "$1" "$2" || return 1
  step "$1" "$2" tests/run.sh || status=1
  said="$1: the README's commands succeeded; tests/run.sh: $(tail -n 1 "$dir/log")"
  return $status
}

check_root()
{
  put_tree "/$1" && commands "$1" "/$1"
}

check_user()
{
  local home=/home/$1
  chroot "$machine" useradd --create-home --home-dir "$home" "$1" && chmod 0700 "$machine$home" &&
    put_tree "$home" && step root "$home" "tests/run.sh --install-only" &&
    chroot "$machine" chown -R "$1:$1" "$home/tidemill" && commands "$1" "$home"
}

failed=0
results=()
if ! make_machine; then
  echo "fresh.sh: the machine could not be made; what mmdebstrap or mount says is above" >&2
  exit 1
fi
for form in $forms; do
  said="$form: the machine could not be prepared"
  "check_$form" "$form" || failed=1
  results+=("$said")
done
printf '%s\n' "${results[@]}"
exit $failed
