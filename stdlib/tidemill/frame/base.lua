-- base.lua - the userdata of columns and frames, and their memory.
--
-- A column is a userdata with a struct tm_column_handle (lua/entry/frame_ffi.h), which points to
-- its memory. A frame is a userdata without bytes; its contents are in a table, its state: {names,
-- columns, len}. Both are userdata because `#` ignores the metatable of a plain table. Neither
-- changes once it is made, so frames can share columns.
--
--   * A cast from a userdata to a pointer costs nothing in compiled code, and all columns share one
--     metatable: a loop over one column is compiled once and works for the next.
--   * `states` is weak on both sides: the frame keeps its state alive, as the environment of the
--     userdata.
--   * The memory of columns made here comes from ffi.new(), so the collector knows its size.
local bit = require "bit"
local c = require "tidemill.frame_c"
local ffi = require "ffi"
local plan = require "tidemill.plan"

local band, rshift = bit.band, bit.rshift
local cast, string_of = ffi.cast, ffi.string

local M = {}

--- Declares the headers of `module`, and returns the functions of x_ops.h, where x is `name`, from
--- their address.
function M.load_ops(module, name, headers, address)
  for _, header in ipairs(headers) do
    local text = require(module .. "." .. header .. "_h"):gsub("\n%s*#[^\n]*", "\n")
    ffi.cdef(text)
  end
  local ops = cast("const struct tm_" .. name .. "_ops *", address)
  assert(tonumber(ops["size_of_" .. name]) == ffi.sizeof("struct tm_" .. name),
    name .. ".h is read differently by C and by Lua")
  return ops
end

---@type table the functions in core/data/frame/column_ops.h
local ops = M.load_ops("tidemill.frame", "column", { "column", "column_ops", "frame_ffi" }, c.ops)
M.ops = ops

local BOOL, LONG, DOUBLE, STRING, DATETIME = 1, 2, 3, 4, 5
M.BOOL, M.LONG, M.DOUBLE, M.STRING, M.DATETIME = BOOL, LONG, DOUBLE, STRING, DATETIME

M.type_names = { "bool", "long", "double", "string", "datetime" }
M.type_numbers = { bool = BOOL, long = LONG, double = DOUBLE, string = STRING, datetime = DATETIME }
M.ROWS_MAX = 2 ^ 31 - 2

--- Raises at the innermost line of the script.
function M.refuse(...)
  plan.raise(string.format(...))
end
local refuse = M.refuse

--- Returns the keys of a table, sorted.
function M.sorted_keys(from)
  local keys = {}
  for key in pairs(from) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

--- Raises unless a path was given.
function M.check_path(what, path)
  if type(path) ~= "string" or path:find("\0", 1, true) then
    refuse("%s: a %s was given; accepted: a path", what, type(path))
  end
end

--- "; did you mean 'x'?" or ""
function M.hint(given, names)
  local nearest = c.nearest(tostring(given), names)
  return nearest and ("; did you mean '%s'?"):format(nearest) or ""
end

--- Returns the number of a type's name; raises for another name.
function M.type_of(name, what)
  local number = M.type_numbers[name]
  if not number then
    refuse("%s: '%s' is not a type; accepted: %s%s", what, tostring(name), table.concat(M.type_names, ", "),
      M.hint(name, M.type_names))
  end
  return number
end

--- Accepted values of the option `invalid`: a value that does not fit is an error, or becomes null.
M.INVALID = "|error|null|"

--- Checks a table of options; `kinds` is {name = type}, where a type is a result of type(), "any",
--- or the accepted words between bars.
function M.options(what, options, kinds)
  if options == nil then
    return {}
  end
  if type(options) ~= "table" then
    refuse("%s: options are a %s; accepted: a table", what, type(options))
  end
  local names = M.sorted_keys(kinds)
  for name, value in pairs(options) do
    local kind = kinds[name]
    if not kind then
      refuse("%s: unknown option '%s'; accepted: %s%s", what, tostring(name), table.concat(names, ", "),
        M.hint(name, names))
    elseif kind:sub(1, 1) == "|" then
      if not kind:find("|" .. tostring(value) .. "|", 1, true) then
        refuse("%s: option '%s' is '%s'; accepted: %s", what, name, tostring(value), kind:sub(2, -2):gsub("|", ", "))
      end
    elseif kind ~= "any" and type(value) ~= kind then
      refuse("%s: option '%s' is a %s; accepted: a %s", what, name, type(value), kind)
    end
  end
  return options
end

-- ---- columns ----

local handle_p = ffi.typeof "struct tm_column_handle *"
local int64 = ffi.typeof "int64_t"
local column_meta = { __metatable = "column of a data frame", __name = "column of a data frame" }
M.column_meta = column_meta

function M.is_column(v)
  return type(v) == "userdata" and debug.getmetatable(v) == column_meta
end

local function refuse_ended()
  refuse("this data frame was given to run() and ended when run() returned; keep df:copy() instead")
end
M.refuse_ended = refuse_ended

--- Returns the struct behind a column, which may be read now. Ask for it where you use it, and
--- again after anything that allocates: neither a pointer nor, in compiled code, an unused local
--- keeps a column alive.
local function handle(column)
  local h = cast(handle_p, column)
  if h.ended[0] ~= 0 then
    refuse_ended()
  end
  return h
end
M.handle = handle

local has_said = false
local function say_large()
  has_said = true
  io.stderr:write("a long beyond 2^53 is read as a 64-bit integer: it prints with LL behind it and finds nothing as a ",
    "key of a table; column:as_string() gives its digits (said once)\n")
end

--- Returns the value of row `i`, from 0, of a handle; nil for null. All readers of rows use it.
local function read(h, i)
  if h.ended[0] ~= 0 then
    refuse_ended()
  end
  local v = h.column
  local validity = v.validity
  if validity ~= nil and band(rshift(validity[rshift(i, 3)], band(i, 7)), 1) == 0 then
    return nil
  end
  local kind = v.type
  if kind == DOUBLE then
    return v.f64[i]
  elseif kind == LONG then
    local x = v.i64[i]
    if x > 9007199254740992LL or x < -9007199254740992LL then
      if not has_said then
        say_large()
      end
      return x
    end
    return tonumber(x)
  elseif kind == STRING then
    if v.is_wide ~= 0 then
      local from = v.off64[i]
      return string_of(v.bytes + from, v.off64[i + 1] - from)
    end
    local from = v.off32[i]
    return string_of(v.bytes + from, v.off32[i + 1] - from)
  elseif kind == BOOL then
    return v.b8[i] ~= 0
  end
  return tonumber(v.i64[i]) / 1e6
end
M.read = read

-- The collector does about two bytes of work for each byte of an allocation, but at most 2 KB for
-- one. So columns would be made faster than they are collected; this tells it how much memory is
-- really allocated. A step ends with its cycle, so that few large steps make fewer cycles than many
-- small ones.
local owed = 0
local function charge(bytes)
  owed = owed + bytes
  if owed >= 1048576 then
    collectgarbage("step", math.min(owed / 1024, 2 ^ 30))
    owed = 0
  end
end

--- Allocates memory for `n` values of a C type, all zero.
function M.new_array(array_type, n)
  local array = array_type(n)
  charge(ffi.sizeof(array))
  return array
end
local new_array = M.new_array

local array_types = {
  [BOOL] = ffi.typeof "uint8_t[?]",
  [LONG] = ffi.typeof "int64_t[?]",
  [DOUBLE] = ffi.typeof "double[?]",
  [STRING] = ffi.typeof "int32_t[?]",
  [DATETIME] = ffi.typeof "int64_t[?]",
}
local fields = { [BOOL] = "b8", [LONG] = "i64", [DOUBLE] = "f64", [STRING] = "off32", [DATETIME] = "i64" }
local bytes_of = ffi.typeof "uint8_t[?]"
local chars_of = ffi.typeof "char[?]"
local offsets_of = ffi.typeof "int64_t[?]"

--- Makes a column of `n` rows, all zero: the userdata and its handle. `bytes`: space for the bytes
--- of strings. `bits`: with validity bits, all of them 1 ("null": all 0).
function M.new_column(kind, n, bytes, bits)
  if n > M.ROWS_MAX then
    refuse("a data frame has at most 2^31 - 2 rows; %.0f are too many", n)
  end
  local keep = {}
  local column = c.new_column(keep)
  local h = cast(handle_p, column)
  local v = h.column
  v.type, v.len = kind, n
  if kind == STRING then
    bytes = bytes or 0
    if bytes > 0x7fffffff then
      keep.data = new_array(offsets_of, n + 1)
      v.off64, v.is_wide = keep.data, 1
    else
      keep.data = new_array(array_types[kind], n + 1)
      v.off32 = keep.data
    end
    keep.bytes = new_array(chars_of, bytes + 1)
    v.bytes = keep.bytes
  else
    keep.data = new_array(array_types[kind], n)
    v[fields[kind]] = keep.data
  end
  if bits then
    local size = math.floor((n + 7) / 8)
    keep.validity = new_array(bytes_of, size)
    ffi.fill(keep.validity, size, bits == "null" and 0 or 0xff)
    v.validity = keep.validity
  end
  return column, h
end

--- Makes a column over the memory of another column or of C, from row `first` (from 0) on. Keeps
--- `owner` alive.
function M.view_column(v, first, n, owner, ended)
  local keep = { owner = owner }
  local column = c.new_column(keep)
  local h = cast(handle_p, column)
  local to = h.column
  to.type, to.len, to.is_wide, to.is_date, to.bytes = v.type, n, v.is_wide, v.is_date, v.bytes
  if v.type == STRING then
    if v.is_wide ~= 0 then
      to.off64 = v.off64 + first
    else
      to.off32 = v.off32 + first
    end
  else
    local field = fields[v.type]
    to[field] = v[field] + first
  end
  if v.validity ~= nil then
    if first % 8 == 0 then
      to.validity = v.validity + first / 8
    elseif n > 0 then
      keep.validity = bytes_of(math.floor((n + 7) / 8))
      ops.copy_bits(v.validity, first, n, keep.validity)
      to.validity = keep.validity
    end
  end
  h.ended = ended
  return column
end

--- Selects rows of a column by their numbers from 0, with -1 for null; `may_lack`: there may be a
--- -1.
function M.take(column, rows, n, may_lack)
  local from = handle(column).column
  local bytes = from.type == STRING and tonumber(ops.take_bytes(from, rows, n)) or nil
  local taken, h = M.new_column(from.type, n, bytes, may_lack or from.validity ~= nil)
  h.column.is_date = from.is_date
  local nulls = ops.take(handle(column).column, rows, n, h.column)
  if nulls == 0 then
    h.column.validity = nil
  end
  return taken
end

--- Makes a column with the rows of all `parts`. They have one type, or long and double. It is a
--- column of dates if all parts are.
function M.join_columns(parts)
  local n, bytes, has_nulls, is_date, kind = 0, 0, false, 1, nil
  for _, part in ipairs(parts) do
    local v = handle(part).column
    n = n + tonumber(v.len)
    is_date = bit.band(is_date, v.is_date)
    has_nulls = has_nulls or v.validity ~= nil
    kind = kind == DOUBLE and DOUBLE or v.type
    if v.type == STRING and v.len > 0 then
      local off = v.is_wide ~= 0 and v.off64 or v.off32
      bytes = bytes + tonumber(off[v.len] - off[0])
    end
  end
  local joined, h = M.new_column(kind, n, bytes, has_nulls)
  h.column.is_date = is_date
  local at, byte_at, nulls = 0, 0, 0
  for _, part in ipairs(parts) do
    local v = handle(part).column
    nulls = nulls + tonumber(ops.append(v, h.column, at, byte_at))
    if v.type == STRING and v.len > 0 then
      local off = v.is_wide ~= 0 and v.off64 or v.off32
      byte_at = byte_at + tonumber(off[v.len] - off[0])
    end
    at = at + tonumber(v.len)
  end
  if nulls == 0 then
    h.column.validity = nil
  end
  return joined
end

--- Allocates memory for the numbers of rows.
local numbers_of = ffi.typeof "int32_t[?]"
function M.rows_of(n)
  return new_array(numbers_of, n)
end

--- Allocates the slots of a hash table: a power of two, at least twice the number of rows. Returns
--- them and their number.
function M.slots_for(n)
  local size = 16
  while size < 2 * n do
    size = size * 2
  end
  return M.rows_of(size), size
end

function M.is_int64(v)
  return type(v) == "cdata" and ffi.istype(int64, v)
end

function M.type_name(column)
  return M.type_names[handle(column).column.type]
end

function M.len(column)
  return tonumber(handle(column).column.len)
end

--- Makes a column of an object of another module, such as a tensor: by its metatable, a function
--- (object, what, name of the column) -> column.
M.column_makers = {}

-- ---- frames ----

local states = setmetatable({}, { __mode = "kv" })
local frame_meta = { __metatable = "data frame", __name = "data frame" }
M.frame_meta = frame_meta

local names_meta = {}
M.names_meta = names_meta
function names_meta.__index(columns, name)
  local names = M.sorted_keys(columns)
  refuse("no column '%s'; columns: %s%s", tostring(name), table.concat(names, ", "), M.hint(name, names))
end
function names_meta.__newindex()
  refuse("a data frame does not change; df:with_column(name, values) makes one with another column")
end

--- Makes a frame of a list of columns; `names` has the same length, without duplicates. Without
--- columns, `len` is 0.
function M.new_frame(names, columns)
  local by_name = {}
  for i, name in ipairs(names) do
    by_name[name] = columns[i]
  end
  local state = {
    names = names,
    columns = columns,
    len = columns[1] and M.len(columns[1]) or 0,
    c = setmetatable(by_name, names_meta),
  }
  local frame = c.new_frame(state)
  states[frame] = state
  return frame
end

function M.is_frame(v)
  return states[v] ~= nil
end

--- Returns the state of a frame that may be read now; `what` is the calling method.
function M.state(frame, what)
  local state = states[frame]
  if not state then
    refuse("%s: a %s was given; accepted: a data frame (methods are called with ':')", what, type(frame))
  end
  if state.ended and state.ended[0] ~= 0 then
    refuse_ended()
  end
  return state
end

--- Returns the place of a column in the lists; raises if there is no such column.
function M.place(state, name, what)
  if type(name) ~= "string" then
    refuse("%s: a %s was given; accepted: the name of a column: %s", what, type(name), table.concat(state.names, ", "))
  end
  for i, known in ipairs(state.names) do
    if known == name then
      return i
    end
  end
  refuse("%s: no column '%s'; columns: %s%s", what, tostring(name), table.concat(state.names, ", "),
    M.hint(name, state.names))
end

--- Returns a list that was given as one table or as arguments. A table with names, as in
--- drop { columns = { "a" } }, would be an empty list; it raises.
function M.list(what, ...)
  local first = ...
  if select("#", ...) ~= 1 or type(first) ~= "table" then
    return { ... }
  end
  for key in pairs(first) do
    if type(key) ~= "number" then
      refuse("%s: the list has the key '%s'; accepted: a list without keys, %s { x, y }, or %s(x, y)", what,
        tostring(key), what, what)
    end
  end
  return first
end

local never = ffi.new "int32_t[1]"

--- Makes a frame with copies of columns in C memory; `owner` keeps that memory until then.
function M.read_frame(names, columns, len, owner)
  local list = {}
  columns = cast("const struct tm_column *", columns)
  for i in ipairs(names) do
    list[i] = M.join_columns { M.view_column(columns[i - 1], 0, len, owner, never) }
  end
  return M.new_frame(names, list)
end

--- Makes a frame over columns in C memory, for the time of a lease (lua/entry/lua_frame.c).
local function wrap(names, columns, lease, len)
  local ended = cast("const int32_t *", lease)
  local list = {}
  columns = cast("const struct tm_column *", columns)
  if len > M.ROWS_MAX then
    refuse("a data frame has at most 2^31 - 2 rows; %.0f are too many", len)
  end
  for i in ipairs(names) do
    list[i] = M.view_column(columns[i - 1], 0, len, lease, ended)
  end
  local frame = M.new_frame(names, list)
  states[frame].ended, states[frame].lease = ended, lease
  return frame
end

c.setup(frame_meta, column_meta, wrap)

-- The methods are in tidemill.frame. Code that only makes frames or columns, such as that of
-- tensors, does not load it; the first use of one does, and replaces these functions.
local function lazily(meta, event, use)
  local function first(v, key)
    if meta[event] == first then
      meta[event] = nil
    end
    require "tidemill.frame"
    return use(v, key)
  end
  meta[event] = first
end

for _, meta in ipairs { frame_meta, column_meta } do
  lazily(meta, "__index", function(v, key) return v[key] end)
  lazily(meta, "__len", function(v) return #v end)
  lazily(meta, "__newindex", function(v, key) v[key] = nil end)
  lazily(meta, "__call", function(v) return v() end)
  lazily(meta, "__tostring", tostring)
end

return M
