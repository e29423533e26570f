#!/bin/bash
# Checks the README's install commands and tests/run.sh on a fresh machine. Run it as root before a
# release.
#
# The machine is a complete Debian 12 in a folder, with only the packages of
# `mmdebstrap --variant=apt`: no git, no compiler, a different locale. The script copies the tree to
# its folder `tidemill`, as git would commit it, without the files that git ignores. Then a user
# types the commands of the README's chapter "Install", runs its first minute with the installed
# program, and calls tests/run.sh. There are two forms of the check:
#
#   root   in /root
#   user   in a home that nobody else may enter (mode 0700); root has installed the packages
#
# apt in the machine uses the Acquire options of this machine, and its sources if it is a Debian 12
# too. npm uses this machine's registry, proxies and certificates, but no password or token of its
# configuration. The last lines of the output report one form each. Exit status: 0; 1 if a form has
# failed; 77 if none could run.
set -u -o pipefail

usage()
{
  cat <<'END'
usage: tests/support/fresh.sh [--only root|user] [--run COMMAND] [--keep]
  --only FORM     this form of the check alone
  --run COMMAND   instead of the check, run this command in the tree, with all packages installed
  --keep          leave the machine in its folder
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
run=
while [ $# -gt 0 ]; do
  case $1 in
    --only)
      case ${2:-} in
        root|user) forms=$2 ;;
        *) echo "fresh.sh: --only takes 'root' or 'user'" >&2; exit 2 ;;
      esac
      shift ;;
    --run)
      run=${2:-}
      [ -n "$run" ] || { echo "fresh.sh: --run takes a command" >&2; exit 2; }
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
# The script calls itself in new namespaces, so that no mount and no process of the machine outlives
# them.
own=(unshare --mount --propagation private --pid --fork --kill-child --mount-proc)
if [ -z "${TM_FRESH_DIR:-}" ]; then
  "${own[@]}" true 2>/dev/null || skip "root may not make namespaces here; run it outside the container"
  TM_FRESH_DIR=$(mktemp -d) || exit 1
  export TM_FRESH_DIR
  clean_up()
  {
    local first=
    # process 1 of the namespace: its end ends all others
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

# Puts this machine's apt sources and options into $apt_words, as arguments for mmdebstrap.
apt_of_here()
{
  local file
  # that is a program on this machine
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

# Gives the machine npm's settings, as variables in $npm_words, and the certificates that they name
# and that this machine's administrator has added.
npm_of_here()
{
  local name value certificates=/etc/fresh-certificates
  npm_words=()
  mkdir -p "$machine$certificates" "$machine/usr/local/share/ca-certificates" || return 1
  for value in /usr/local/share/ca-certificates/*.crt; do
    [ ! -f "$value" ] || install -m 644 "$value" "$machine/usr/local/share/ca-certificates/" || return 1
  done
  while IFS='=' read -r name value; do
    case $value in ''|null|undefined) continue ;; esac
    if [ "$name" = cafile ]; then
      install -m 644 "$value" "$machine$certificates/npm.pem" || return 1
      value=$certificates/npm.pem
    fi
    npm_words+=("npm_config_${name//-/_}=$value")
  done < <(npm config get registry cafile proxy https-proxy noproxy 2>/dev/null)
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
    install -m 644 "$NODE_EXTRA_CA_CERTS" "$machine$certificates/node.pem" || return 1
    npm_words+=("NODE_EXTRA_CA_CERTS=$certificates/node.pem")
  fi
}

make_machine()
{
  apt_of_here
  mmdebstrap --variant=apt "${apt_words[@]}" bookworm "$machine" "${sources[@]}" || return 1
  cp /etc/resolv.conf /etc/hosts "$machine/etc/"
  npm_of_here || return 1
  # With a mount point at its root, programs in the machine can mount, as on any machine.
  mount --bind "$machine" "$machine" &&
    mount --rbind /proc "$machine/proc" && mount --rbind /sys "$machine/sys" && mount --rbind /dev "$machine/dev" &&
    mount -t tmpfs -o mode=1777 tmpfs "$machine/dev/shm"
}

# put_tree HOME: copies the files that git would commit, as they are now, to HOME/tidemill.
put_tree()
{
  mkdir "$machine$1/tidemill" || return 1
  git -c "safe.directory=$root" -C "$root" ls-files -coz --exclude-standard |
    while IFS= read -r -d '' file; do
      if [ -e "$root/$file" ] || [ -L "$root/$file" ]; then printf '%s\0' "$file"; fi
    done | tar -C "$root" --null --no-recursion -T - -cf - | tar -C "$machine$1/tidemill" --no-same-owner -xf -
}

# in_machine USER HOME COMMAND: runs the command in HOME/tidemill, with the environment and signals
# of a login, and the proxies and npm's settings of this machine.
in_machine()
{
  local user=$1 home=$2 name given=("TERM=dumb" "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
  for name in http_proxy https_proxy ftp_proxy no_proxy; do
    [ -z "${!name:-}" ] || given+=("$name=${!name}")
  done
  given+=("${npm_words[@]}")
  chroot "$machine" setpriv --reuid="$user" --regid="$user" --init-groups \
    env -i --default-signal -C "$home/tidemill" "USER=$user" "HOME=$home" "${given[@]}" bash -c "$3" </dev/null
}

# step USER HOME COMMAND: the same; shows the output and writes it to $dir/log. It does not wait for
# processes that the command leaves behind.
step()
{
  local process
  printf '\n== %s: %s\n' "$1" "$3"
  in_machine "$@" >"$dir/log" 2>&1 &
  process=$!
  tail --pid=$process -n +1 -f "$dir/log"
  wait $process
}

# Prints the commands of the README's chapter "Install", one per line.
install_commands()
{
  sed -n '/^## Install/,/^## The/s/^    \([^#]*\).*/\1/p' "$root/README.md" | sed 's/ *$//'
}

# as_typed USER HOME COMMAND: runs `sudo apt-get install` as root, and lets apt ask nothing.
as_typed()
{
  case $3 in
    'sudo apt-get install '*) step root "$2" "apt-get install -y ${3#sudo apt-get install }" ;;
    *) step "$@" ;;
  esac
}

# installed USER HOME: runs the README's chapter "Install" and its first minute, with the package
# and from the prefix, then removes the package.
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

# After tests/run.sh without the libraries, the result must not look like that of a whole run.
skipped_models()
{
  sed -n 's/^skipped: what needs ONNX Runtime/; skipped what needs ONNX Runtime/p' "$dir/log"
}

# commands USER HOME: runs the whole check and puts the result into $said, as one line.
commands()
{
  local status=0
  if [ -n "$run" ]; then
    step root "$2" "tests/run.sh --install-only" && step "$1" "$2" "$run" || status=1
    said="$1: $run: $(tail -n 1 "$dir/log")"
    return $status
  fi
  installed "$1" "$2" || return 1
  step "$1" "$2" tests/run.sh || status=1
  said="$1: the README's commands succeeded; tests/run.sh: $(tail -n 1 "$dir/log")$(skipped_models)"
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
