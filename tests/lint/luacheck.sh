#!/bin/bash
# Checks every Lua file of the tree: luacheck.sh LUACHECK
set -eu -o pipefail
cd "$(dirname "$0")/../.."
luajit tests/lint/list.lua . lua | xargs -d '\n' "$1" --quiet --
