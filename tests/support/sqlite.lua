-- Creates databases for specs, with the SQLite library that the program uses.
--
--   sqlite.make(path, "CREATE TABLE t(a); INSERT INTO t VALUES (1);")
--   local db = sqlite.open(path)   -- to hold a lock: db:exec "BEGIN EXCLUSIVE"
--   db:close()
local ffi = require "ffi"

ffi.cdef [[
typedef struct sqlite3 sqlite3;
int sqlite3_open(const char *path, sqlite3 **db);
int sqlite3_exec(sqlite3 *db, const char *sql, void *callback, void *data, char **message);
int sqlite3_close(sqlite3 *db);
const char *sqlite3_errmsg(sqlite3 *db);
]]
local lib = ffi.load "libsqlite3.so.0"

local sqlite, Db = {}, {}
Db.__index = Db

function sqlite.open(path)
  local out = ffi.new "sqlite3 *[1]"
  assert(lib.sqlite3_open(path, out) == 0, path)
  return setmetatable({ handle = out[0] }, Db)
end

function Db:exec(text)
  if lib.sqlite3_exec(self.handle, text, nil, nil, nil) ~= 0 then
    error(ffi.string(lib.sqlite3_errmsg(self.handle)), 2)
  end
end

function Db:close() lib.sqlite3_close(self.handle) end

function sqlite.make(path, text)
  local db = sqlite.open(path)
  db:exec(text)
  db:close()
end

return sqlite
