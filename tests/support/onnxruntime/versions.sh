#!/bin/bash
# The versions of ONNX Runtime that tests use: the oldest that tidemill accepts, and a new one. And
# npm's package of tokenizers, which tokens are compared with.
#
#   versions.sh get     gets what is missing, with npm, and checks it
#   versions.sh find    gets nothing
#
# Both print an assignment per line, which ctest (environment.cmake) gives to every test:
#
#   TM_TEST_ONNXRUNTIME_1_17=FILE           the library
#   TM_TEST_ONNXRUNTIME_NODE_1_17=FOLDER    NODE_PATH of its onnxruntime-node, for comparisons
#
# and the same for 1.30, and
#
#   TM_TEST_TOKENIZERS=FOLDER               NODE_PATH of @huggingface/tokenizers
#
# If a version is missing, TM_TEST_ONNXRUNTIME_MISSING says why, tests that
# need it are skipped (versions.h, versions.lua), and the exit status is 1.
#
# They are kept in $XDG_CACHE_HOME/tidemill-tests (~/.cache), so a fresh clone does not get them
# again. A package is checked by npm's integrity hash before it is unpacked. The unpacked files are
# checked by a digest: each time by `get`, and by `find` if a file has changed since the last check.
# Several runs may use the folder at the same time: a lock makes them take turns, and a version is
# unpacked aside and then renamed.
set -u -o pipefail
umask 022 # others may read a library, and not write it

versions="tokenizers-0.2.0 onnxruntime-1.17.0 onnxruntime-1.30.0"
declare -A integrity=( # of npm's packages
  [onnxruntime-node@1.17.0]=pRxdqSP3a6wtiFVkVX1V3/gsEMwBRUA9D2oYmcN3cjF+j+ILS+SIY2L7KxdWapsG6z64i5rUn8ijFZdIvbojBg==
  [onnxruntime-node@1.30.0]=twhs1C2C/BFkz1yc5OY0KIU2GUq6DURO7hD4bx5Q2Qy3nAMJwRXW8xU3NVczE29VA9lolLOYepoD8fjTGOfIqw==
  [@huggingface/tokenizers@0.2.0]=LidMHe1FpcSYH4vcSjXooda34pC0M8m1gmDOv7SQi6Iv+ib1zX7J3sHBCC9/3FPCkn2k1b55FneVqMRxrr99pg==
  [onnxruntime-common@1.17.0]=Vq1remJbCPITjDMJ04DA7AklUTnbYUp4vbnm6iL7ukSt+7VErH0NGYfekRSTjxxurEtX7w41PFfnQlE6msjPJw==
  [onnxruntime-common@1.30.0]=7fdVWjAID1dVhH/G8qK3APARunV4VkBFoCQAP7qp4Wkab0mrorvmc+sqiT+mKXOzDqdjN5j+/Z9nb4gzNPWcyA==
)
declare -A digests=( # of the files that are unpacked, by version and architecture
  [tokenizers-0.2.0]=5d0ad6a68a66eed1a3153d75901be8bb2db87dfb6a353be3976c490f4f70b9df
  [onnxruntime-1.17.0-x64]=38ca42b670d655cb559fe4d9ad3894c963d3b7f23ae4dc48f9196f54c135fc8d
  [onnxruntime-1.17.0-arm64]=c960bc5b912562468a7a1fc51bb4cfbb2199df50cfb40a6dbb250c0cf2a95b57
  [onnxruntime-1.30.0-x64]=e25c0bd6d6a72fe65be23c85cab987285a12527a6ce1cdc9dd19062b8428ad36
  [onnxruntime-1.30.0-arm64]=595d21ead8a3bca431b8c082ba9be9328c035119b83bbe36b4a3b7b74477cf1d
)
seconds=300 # for one package of 110 MB

say_missing() # REASON
{
  echo "TM_TEST_ONNXRUNTIME_MISSING=$*"
  exit 1
}

digest_of() # FOLDER
{
  (cd "$1" && find node_modules -type f -print0 | LC_ALL=C sort -z | xargs -0 sha512sum | sha512sum | cut -c 1-64) 2>/dev/null
}

# A file of another content has another line here, unless somebody takes pains.
state_of() # FOLDER
{
  (cd "$1" && find node_modules -type f -printf '%p %s %i %C@\n' | LC_ALL=C sort) 2>/dev/null
}

# is_whole FOLDER DIGEST: whether the folder has these files. The file `checked` remembers that.
is_whole()
{
  local state
  state=$(state_of "$1")
  if [ "$mode" = find ] && [ "$(cat "$1/checked" 2>/dev/null)" = "$2 $state" ]; then return 0; fi
  [ "$(digest_of "$1")" = "$2" ] || return 1
  { echo "$2 $state" >"$1/checked.$$" && mv "$1/checked.$$" "$1/checked"; } 2>/dev/null
  return 0
}

# get_package PACKAGE FOLDER: writes FOLDER/PACKAGE.tgz and checks it. $why: why not.
get_package()
{
  local package=$1 file=$2/${1//\//+}.tgz said hash
  said=$(cd "$2" && timeout "$seconds" npm pack "$package" --ignore-scripts --loglevel error --cache "$2/npm" \
    --fetch-retries 1 --fetch-retry-mintimeout 1000 2>&1 >"$2/name") ||
    { why="'npm pack $package' failed: $(head -n 1 <<<"${said:-no answer in $seconds s}")"; return 1; }
  mv "$2/$(tail -n 1 "$2/name")" "$file" || { why="'npm pack $package' made no file"; return 1; }
  # shellcheck disable=SC2059 # the format is the bytes of the hash
  hash=$(printf "$(sha512sum "$file" | cut -d ' ' -f 1 | sed 's/../\\x&/g')" | base64 -w 0)
  if [ "$hash" != "${integrity[$package]}" ]; then
    why="the hash of $package is sha512-$hash, not sha512-${integrity[$package]}"
    return 1
  fi
}

# unpack_package NAME VERSION FOLDER FILE...: gets a package, and unpacks these files of it into
# FOLDER/node_modules.
unpack_package()
{
  local name=$1 package=$1@$2 folder=$3
  shift 3
  get_package "$package" "$folder" || return 1
  mkdir -p "$folder/node_modules/$name"
  tar -xzf "$folder/${package//\//+}.tgz" -C "$folder/node_modules/$name" --strip-components=1 --no-same-owner \
    --no-same-permissions --wildcards package/package.json "$@" || { why="$package cannot be unpacked in '$folder'"; return 1; }
}

# unpack NAME-VERSION FOLDER: gets its packages into FOLDER/node_modules, only what this machine
# needs.
unpack()
{
  local version=${1#*-}
  case $1 in
    tokenizers-*) unpack_package @huggingface/tokenizers "$version" "$2" package/dist/tokenizers.cjs ;;
    *) unpack_package onnxruntime-node "$version" "$2" 'package/dist/*.js' "package/bin/napi-v*/linux/$arch/*" &&
         unpack_package onnxruntime-common "$version" "$2" 'package/dist/cjs/*.js' 'package/dist/cjs/package.json' ;;
  esac || return 1
  rm -rf "$2/npm" "$2/name" "$2"/*.tgz
}

# get NAME-VERSION FOLDER DIGEST: with the lock held.
get()
{
  local aside status=0
  command -v npm >/dev/null || { why="npm is not installed"; return 1; }
  aside=$(mktemp -d "$cache/new-XXXXXX") || { why="'$cache' cannot be written"; return 1; }
  if unpack "$1" "$aside" && { is_whole "$aside" "$3" || { why="other files than expected"; false; }; }; then
    rm -rf "$2"
    mv -T "$aside" "$2" || { why="'$2' cannot be made"; status=1; }
  else
    status=1
  fi
  rm -rf "$aside"
  return $status
}

print() # NAME-VERSION FOLDER
{
  local name library
  if [[ $1 = tokenizers-* ]]; then
    echo "TM_TEST_TOKENIZERS=$2/node_modules"
    return
  fi
  name=$(cut -d - -f 2 <<<"$1" | cut -d . -f 1,2 | tr . _)
  library=$(echo "$2"/node_modules/onnxruntime-node/bin/napi-v*/linux/"$arch"/libonnxruntime.so*)
  echo "TM_TEST_ONNXRUNTIME_$name=$library"
  echo "TM_TEST_ONNXRUNTIME_NODE_$name=$2/node_modules"
}

mode=${1-}
case $mode in
  get|find) ;;
  *) echo "usage: versions.sh get|find" >&2; exit 2 ;;
esac
case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) say_missing "onnxruntime-node has no library for $(uname -m)" ;;
esac
case ${XDG_CACHE_HOME-} in
  /*) cache=$XDG_CACHE_HOME/tidemill-tests ;;
  *) cache=${HOME-}/.cache/tidemill-tests ;;
esac
if [ "$mode" = get ]; then
  mkdir -p "$cache" 2>/dev/null
  { exec 9>"$cache/lock"; } 2>/dev/null || say_missing "'$cache' cannot be written"
  flock 9
  rm -rf "$cache"/new-* # of a run that was killed
fi
why="run tests/support/onnxruntime/versions.sh get"
missing=
for version in $versions; do
  case $version in
    onnxruntime-*) key=$version-$arch label="ONNX Runtime ${version#*-}" ;;
    *) key=$version label=$version ;;
  esac
  folder=$cache/$key
  digest=${digests[$key]}
  if is_whole "$folder" "$digest" || { [ "$mode" = get ] && get "$version" "$folder" "$digest"; }; then
    print "$version" "$folder"
  else
    missing="$label: $why"
  fi
done
[ -z "$missing" ] || say_missing "$missing"
