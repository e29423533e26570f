#!/bin/bash
# Builds the Debian package, checks its contents, and uses its program: deb.sh BUILD VERSION
set -eu -o pipefail
build=$1 version=$2
here=$(cd "$(dirname "$0")" && pwd)
for tool in dpkg-deb dpkg-shlibdeps; do
  command -v $tool >/dev/null || { echo "there is no $tool: the package is not tested"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export LC_ALL=C

fail()
{
  echo "deb.sh: $*" >&2
  exit 1
}

cpack -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip --config "$build/CPackConfig.cmake" -B "$dir" >"$dir/log" 2>&1 || { cat "$dir/log"; fail "cpack"; }
deb=$(echo "$dir"/tidemill_*.deb)
[ "$(basename "$deb")" = "tidemill_${version}_$(dpkg --print-architecture).deb" ] || fail "the package is called '$deb'"

# The fields that apt reads.
dpkg-deb -I "$deb" >"$dir/control"
cat "$dir/control"
for line in 'Package: tidemill' "Version: $version" 'Section: utils' 'Maintainer: .* <.*@.*>' 'Description: runs a Lua function .*'; do
  grep -qE "^ $line\$" "$dir/control" || fail "the package does not say '$line'"
done
depends=$(sed -n 's/^ Depends: //p' "$dir/control")
for library in libc6 libarchive13 libedit2 libisal2 libjpeg62-turbo libluajit-5.1-2 libpng16-16 libsqlite3-0 libutf8proc2 libuv1 libwebp7 libxxhash0 \
  libyajl2 zlib1g; do
  [[ ", $depends" == *", $library "* ]] || fail "the package does not depend on $library: $depends"
done

# The installed files.
dpkg-deb -c "$deb" >"$dir/files"
if grep -q ' \./usr/libexec/tidemill/tidemill-portal$' "$dir/files"; then
  [[ ", $depends" == *", libmicrohttpd12 "* ]] || fail "the package does not depend on libmicrohttpd12: $depends"
fi
while read -r file; do
  grep -qE "^[-l].* \./usr/$file( -> .*)?\$" "$dir/files" || fail "'$file' is not in the package"
done <<'LIST'
bin/tidemill
include/tidemill\.h
include/tidemill/job\.h
lib/libtidemill\.so\.[0-9.]+
share/doc/tidemill/copyright
share/doc/tidemill/README\.md
share/doc/tidemill/examples/hello/pipeline\.lua
share/man/man1/tidemill\.1\.gz
share/man/man7/tidemill-troubleshooting\.7\.gz
share/bash-completion/completions/tidemill
LIST
awk '$2 != "root/root" || $1 ~ /^.....w|^........w/ && $1 !~ /^l/' "$dir/files" | grep . && fail "others could write these files"

# Its program runs the example of the first page.
dpkg-deb -x "$deb" "$dir/root"
"$here/../example/readme.sh" "$dir/root/usr/bin/tidemill" >"$dir/readme" 2>&1 || { cat "$dir/readme"; fail "the README's commands"; }
if command -v luajit >/dev/null; then
  module=$(find "$dir/root/usr/lib" -path '*-linux-gnu*/lua/5.1/tidemill.so')
  [ -z "$module" ] || [ "$(luajit -e "package.cpath = '${module%/*}/?.so' print(require 'tidemill'.version)")" = "$version" ] ||
    fail "the module of a stock LuaJIT"
fi
