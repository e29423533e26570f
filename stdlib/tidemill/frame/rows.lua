-- rows.lua - frames row by row: one cursor that moves.
--
-- A cursor is {handles by name, row from 0, rows, state}. Its fields are numbers, so that no name of a column meets
-- them; names go through __index, which compiled code takes apart: a step allocates nothing.
local base = require "tidemill.frame.base"
local ffi = require "ffi"

local read, refuse = base.read, base.refuse
local handle_p = ffi.typeof "struct tm_column_handle *"

local M = {}

--- A row of a data frame. Valid until the next step.
---@class tidemill.Row
---@field [string] boolean|number|string|nil
local row_meta = {}

-- row:copy(): a plain table of the values, which stays. Nulls are left out.
local function copy(row)
  local values = {}
  for name, h in pairs(rawget(row, 1)) do
    values[name] = read(h, rawget(row, 2))
  end
  return values
end

local function refuse_name(row, name)
  local names = rawget(row, 4).names
  refuse("no column '%s'; columns: %s%s", tostring(name), table.concat(names, ", "), base.hint(name, names))
end

function row_meta.__index(row, name)
  local h = row[1][name]
  if h then
    return read(h, row[2])
  end
  if name == "copy" then
    return copy
  end
  refuse_name(row, name)
end

function row_meta.__newindex(_, name)
  refuse("a row does not change (column '%s'); row:copy() is a table of its own", tostring(name))
end

function row_meta.__tostring(row)
  local parts = {}
  for i, name in ipairs(rawget(row, 4).names) do
    local v = read(rawget(row, 1)[name], rawget(row, 2))
    parts[i] = name .. " = " .. (type(v) == "string" and ("%q"):format(v) or v == nil and "null" or tostring(v))
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

--- A cursor before the first row.
function M.cursor(state)
  local handles = {}
  for i, name in ipairs(state.names) do
    handles[name] = ffi.cast(handle_p, state.columns[i])
  end
  return setmetatable({ handles, -1, state.len, state }, row_meta)
end

function M.step(row)
  local at = row[2] + 1
  if at < row[3] then
    row[2] = at
    return row
  end
end

function M.numbered_step(row)
  local at = row[2] + 1
  if at < row[3] then
    row[2] = at
    return at + 1, row
  end
end

return M
