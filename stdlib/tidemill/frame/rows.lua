-- rows.lua - iterating over the rows of a frame.
--
-- A row is a userdata without bytes, so that every key, a number too, goes through __index and
-- __newindex, and nothing takes the row for an empty table. Its position is in the array part of
-- the row's own metatable: {handles by name, row from 0, rows, names}. All rows share the
-- functions, so a loop over one frame is compiled once and works for the next, and a step allocates
-- nothing.
local base = require "tidemill.frame.base"
local ffi = require "ffi"

local read, refuse = base.read, base.refuse
local newproxy, getmetatable, setmetatable = newproxy, getmetatable, debug.setmetatable
local handle_p = ffi.typeof "struct tm_column_handle *"

local M = {}

--- A row of a data frame, valid until the next step. Read its fields by the names of columns:
--- `row.price`, or `row[df.columns[2]]` for the second column. A number, or a name without a
--- column, raises. `row:copy()` returns a plain table of the values, which stays valid. A row
--- itself cannot be returned by run(), nor walked with pairs().
---@class tidemill.Row
---@field [string] boolean|number|string|nil

-- Returns a table of the values, which stays valid. Nulls are left out.
local function copy(row)
  local fields, values = getmetatable(row), {}
  for name, h in pairs(fields[1]) do
    values[name] = read(h, fields[2])
  end
  return values
end

local function refuse_key(fields, key)
  local names, all = fields[4], table.concat(fields[4], ", ")
  if rawget(fields[1], key) then
    refuse("a row is read after the first step of the loop over the rows")
  elseif type(key) == "number" then
    refuse("a row has no field %s: columns go by name, row.NAME or row[df.columns[i]]; columns: %s", tostring(key), all)
  end
  refuse("no column '%s'; columns: %s%s", tostring(key), all, base.hint(key, names))
end

local function index(row, name)
  local fields = getmetatable(row)
  local h, at = fields[1][name], fields[2]
  if h and at >= 0 then
    return read(h, at)
  elseif name == "copy" and not h then
    return copy
  end
  refuse_key(fields, name)
end

local function refuse_write(_, key)
  refuse("a row does not change (column '%s'); row:copy() is a table of its own", tostring(key))
end

local function refuse_len()
  refuse("a row has no length; #df.columns is the number of columns")
end

local function text_of(row)
  local fields, parts = getmetatable(row), {}
  if fields[2] < 0 then
    return fields.__name
  end
  for i, name in ipairs(fields[4]) do
    local v = read(fields[1][name], fields[2])
    parts[i] = name .. " = " .. (type(v) == "string" and ("%q"):format(v) or v == nil and "null" or tostring(v))
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

--- Makes a row before the first one. It keeps `state`, and so the columns, alive.
function M.cursor(state)
  local handles = {}
  for i, name in ipairs(state.names) do
    handles[name] = ffi.cast(handle_p, state.columns[i])
  end
  local fields = {
    handles, -1, state.len, state.names, state,
    __index = index, __newindex = refuse_write, __len = refuse_len, __tostring = text_of,
    __metatable = false, __name = "row of a data frame",
  }
  fields.__metatable = fields -- what getmetatable() gives, in compiled code without a search
  local row = newproxy()
  setmetatable(row, fields)
  return row
end

-- The body of a loop loads the same things to read a field as this step does; compiled code then
-- loads them only once, before the loop.

--- Moves a row. Returns it, or nil after the last row. Use: `for row in M.step, row, row do`.
function M.step(_, row)
  local fields = getmetatable(row)
  local at, _, _ = fields[2] + 1, fields[1], fields.__index
  if at < fields[3] then
    fields[2] = at
    return row
  end
end

--- Moves a row, and returns its number, from 1, too. Use: `for i, row in M.numbered_step, row do`.
function M.numbered_step(row)
  local fields = getmetatable(row)
  local at, _, _ = fields[2] + 1, fields[1], fields.__index
  if at < fields[3] then
    fields[2] = at
    return at + 1, row
  end
end

return M
