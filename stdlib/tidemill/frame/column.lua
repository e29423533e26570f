-- column.lua - a column: its values by number, its sums, its memory.
local base = require "tidemill.frame.base"
local c = require "tidemill.frame_c"
local ffi = require "ffi"
local refuse_name = require("tidemill.names").refuse

local BOOL, LONG, DOUBLE, STRING, DATETIME = base.BOOL, base.LONG, base.DOUBLE, base.STRING, base.DATETIME
local cast, refuse, read, handle = ffi.cast, base.refuse, base.read, base.handle
local handle_p = ffi.typeof "struct tm_column_handle *"
local summary_of = ffi.typeof "struct tm_column_summary"

--- A column of a data frame: `df:column "price"` or `df.c.price`. It never changes. `c[i]` is row
--- i, from 1: nil for null and after the last row. `#c` is the number of rows, `c.type` the type.
--- Call methods with ':'.
---@class tidemill.Column
---@field type "bool"|"long"|"double"|"string"|"datetime"
---@operator len: integer
---@field [integer] boolean|number|string|nil
local methods = {}

local meta = base.column_meta
meta.methods = methods -- for code that lists them

function meta.__index(column, key)
  if type(key) == "number" then
    local h = cast(handle_p, column)
    if key >= 1 and key <= tonumber(h.column.len) and key % 1 == 0 then
      return read(h, key - 1)
    end
    if h.ended[0] ~= 0 then
      base.refuse_ended()
    end
    return nil
  end
  local method = methods[key]
  if method then
    return method
  elseif key == "type" then
    return base.type_name(column)
  end
  refuse_name("a column", key, methods, { "type" })
end

function meta.__len(column)
  return tonumber(handle(column).column.len)
end

function meta.__newindex()
  refuse("a column does not change; df:with_column(name, values) makes a frame with another one")
end

local function check(column, what)
  if not base.is_column(column) then
    refuse("column:%s: a %s was given; accepted: a column (methods are called with ':')", what, type(column))
  end
  return handle(column).column
end

local function summarize(column)
  local s = summary_of()
  base.ops.summarize(handle(column).column, s)
  return s
end

local function exact(x)
  local n = tonumber(x)
  return n <= 2 ^ 53 and n >= -2 ^ 53 and n or x
end

local function refuse_type(v, what)
  refuse("column:%s: a column of type %s has none; accepted: %s", what, base.type_names[v.type],
    what == "sum" and "bool, long, double" or "bool, long, double, datetime")
end

--- Returns the sum without nulls; 0 if there is no value. For a bool column, the number of true
--- rows. Exact for integers: beyond 2^53 it is a 64-bit integer, and beyond that a double. Strings
--- and datetimes have no sum.
---
---     local df = frame.from_table { price = { 1.5, nil, 2.5 } }
---     assert(df.c.price:sum() == 4)
---@return number
function methods.sum(column)
  local v = check(column, "sum")
  if v.type == STRING or v.type == DATETIME then
    refuse_type(v, "sum")
  end
  local s = summarize(column)
  return s.is_exact ~= 0 and exact(s.sum_i64) or s.sum
end

local function divided(column, what, divide)
  local v = check(column, what)
  if v.type == STRING then
    refuse_type(v, what)
  end
  local unit = v.type == DATETIME and 1e6 or 1
  local s = summarize(column)
  return divide(s, tonumber(s.count), unit)
end

--- Returns the mean without nulls; nil if there is no value. For a datetime column, a moment in
--- seconds.
---
---     local df = frame.from_table { price = { 1, nil, 2 } }
---     assert(df.c.price:mean() == 1.5)
---@return number?
function methods.mean(column)
  return divided(column, "mean", function(s, count, unit)
    return count > 0 and s.sum / count / unit or nil
  end)
end

--- Returns the standard deviation of a sample (divided by count - 1) without nulls; nil for fewer
--- than two values.
---
---     local df = frame.from_table { a = { 1, 3 } }
---     assert(df.c.a:std() == math.sqrt(2))
---@return number?
function methods.std(column)
  return divided(column, "std", function(s, count, unit)
    return count > 1 and math.sqrt(s.spread / (count - 1)) / unit or nil
  end)
end

local function value_at(column, row)
  if row >= 0 then
    return read(handle(column), tonumber(row))
  end
end

--- Returns the smallest value without nulls and NaN; nil if there is none. Strings compare by
--- bytes, false before true.
---
---     local df = frame.from_table { name = { "b", "a", nil } }
---     assert(df.c.name:min() == "a")
---@return boolean|number|string|nil
function methods.min(column)
  check(column, "min")
  return value_at(column, summarize(column).min_row)
end

--- Returns the largest value, like min().
---
---     local df = frame.from_table { name = { "b", "a", nil } }
---     assert(df.c.name:max() == "b")
---@return boolean|number|string|nil
function methods.max(column)
  check(column, "max")
  return value_at(column, summarize(column).max_row)
end

--- Returns how many rows have a value.
---
---     local df = frame.from_table { a = { 1, nil, 3 } }
---     assert(df.c.a:count() == 2 and #df.c.a == 3)
---@return integer
function methods.count(column)
  check(column, "count")
  return tonumber(summarize(column).count)
end

--- Whether row i, from 1, is null. Null is neither NaN nor "".
---
---     local df = frame.from_table { a = { 1, nil, 0 / 0 } }
---     assert(df.c.a:is_null(2) and not df.c.a:is_null(3))
---@param i integer
---@return boolean
function methods.is_null(column, i)
  local v = check(column, "is_null")
  if type(i) ~= "number" or i % 1 ~= 0 or i < 1 or i > tonumber(v.len) then
    refuse("column:is_null: no row %s; the column has %.0f", tostring(i), tonumber(v.len))
  end
  local bits = v.validity
  return bits ~= nil and bit.band(bit.rshift(bits[bit.rshift(i - 1, 3)], bit.band(i - 1, 7)), 1) == 0
end

--- Returns the values as a plain table, and the number of rows, which `#` does not give if the last
--- one is null. `null` stands for nulls; by default nil.
---
---     local df = frame.from_table { a = { 1, nil, 3 } }
---     local values, n = df.c.a:to_table()
---     assert(n == 3 and values[2] == nil and values[3] == 3)
---     assert(df.c.a:to_table(0)[2] == 0)
---@param null? any
---@return table values
---@return integer n
function methods.to_table(column, null)
  local n = tonumber(check(column, "to_table").len)
  local values = {}
  for i = 1, n do
    local v = read(cast(handle_p, column), i - 1)
    if v == nil then
      v = null
    end
    values[i] = v
  end
  return values, n
end

--- Returns the values as text, as in a file: a column of strings, or with i the text of that row.
--- Use it for the digits of a long beyond 2^53.
---
---     local df = frame.from_table { id = { 9007199254740993LL } }
---     assert(df.c.id:as_string(1) == "9007199254740993")
---     assert(df.c.id:as_string()[1] == "9007199254740993")
---@param i? integer
---@return tidemill.Column|string|nil
function methods.as_string(column, i)
  local v = check(column, "as_string")
  if i ~= nil then
    return not methods.is_null(column, i) and c.text(column, i - 1) or nil
  end
  if v.type == STRING then
    return column
  end
  local n = tonumber(v.len)
  local text, offsets = c.texts(column)
  local made, h = base.new_column(STRING, n, #text, handle(column).column.validity ~= nil)
  local to, from = h.column, cast("const int64_t *", offsets)
  ffi.copy(to.bytes, text, #text)
  local off = to.is_wide ~= 0 and to.off64 or to.off32
  for row = 0, n do
    off[row] = from[row]
  end
  if to.validity ~= nil then
    ffi.copy(to.validity, handle(column).column.validity, math.floor((n + 7) / 8))
  end
  return made
end

local pointers = { [BOOL] = "const bool *", [LONG] = "const int64_t *", [DOUBLE] = "const double *",
  [DATETIME] = "const int64_t *" }

--- Returns the memory of the values, for fast loops: a pointer of the column's type, from 0. A bool
--- is a bool, a datetime is microseconds since the epoch. For strings it returns two pointers,
--- offsets and bytes: row i is the bytes from offsets[i] up to, not including, offsets[i + 1]. The
--- value of a null row is undefined: see validity(). Keep the column while you use the pointers;
--- those of a frame that was given to run() are invalid when run() has returned.
---
---     local df = frame.from_table { price = { 1.5, 2.5 } }
---     local price, sum = df.c.price:data(), 0
---     for i = 0, #df - 1 do
---       sum = sum + price[i]
---     end
---     assert(sum == 4)
---@return ffi.cdata* data
---@return ffi.cdata*? bytes
function methods.data(column)
  local v = check(column, "data")
  if v.type == STRING then
    return v.is_wide ~= 0 and cast("const int64_t *", v.off64) or cast("const int32_t *", v.off32),
      cast("const char *", v.bytes)
  end
  return cast(pointers[v.type], v.data)
end

--- Returns the validity bits, from 0: row i has a value if bit `i % 8` of byte `i / 8` is 1. nil:
--- no row is null.
---
---     local df = frame.from_table { a = { 1, nil, 3 } }
---     local bits = df.c.a:validity()
---     assert(bit.band(bits[0], 7) == 5)
---     assert(frame.from_table({ a = { 1 } }).c.a:validity() == nil)
---@return ffi.cdata*?
function methods.validity(column)
  local v = check(column, "validity")
  return v.validity ~= nil and cast("const uint8_t *", v.validity) or nil
end

function meta.__tostring(column)
  local v = handle(column).column
  local n = tonumber(v.len)
  local shown = {}
  for i = 1, math.min(n, 10) do
    shown[i] = methods.is_null(column, i) and "null" or c.text(column, i - 1)
  end
  return ("column of %d x %s: %s%s"):format(n, base.type_names[v.type], table.concat(shown, ", "),
    n > 10 and ", ..." or "")
end

return methods
