# Sourced by tests/run.sh and examples/quickstart.sh: installs the packages of packages.txt
# that are missing. Changes nothing if none is missing.
# shellcheck shell=bash

# packages_of GROUP...: prints the packages in these groups of packages.txt, one per line: NAME, or
# NAME(PROGRAM).
packages_of()
{
  awk -v groups=" $* " '
    { sub(/#.*/, ""); gsub(/[ \t]/, "") }
    /^\[/ { wanted = index(groups, " " substr($0, 2, length($0) - 2) " ") > 0; next }
    wanted && length($0)' "$(dirname "${BASH_SOURCE[0]}")/packages.txt"
}

is_installed()
{
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# is_there NAME|NAME(PROGRAM): whether the package is installed, or the program exists, which may
# have come otherwise.
is_there()
{
  local program=${1#*\(}
  if [ "$program" != "$1" ] && command -v "${program%)}" >/dev/null; then return 0; fi
  is_installed "${1%%\(*}"
}

# install_packages GROUP...: succeeds if all of them are now installed.
install_packages()
{
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "packages: not a Debian system; what is needed is listed in tests/support/packages.txt"
    return 0
  fi
  local missing=() as_root=() name
  for name in $(packages_of "$@"); do
    is_there "$name" || missing+=("${name%%\(*}")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "packages: nothing is missing"
    return 0
  fi
  if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
    if ! command -v sudo >/dev/null; then
      echo "packages: missing, and there is no sudo; as root: apt-get install ${missing[*]}" >&2
      return 1
    fi
  fi
  echo "packages: installing ${missing[*]}"
  "${as_root[@]}" apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}"
}
