-- values.lua - makes columns of Lua values, and finds their types.
local base = require "tidemill.frame.base"
local ffi = require "ffi"
local json = require "tidemill.json"

local BOOL, LONG, DOUBLE, STRING, DATETIME = base.BOOL, base.LONG, base.DOUBLE, base.STRING, base.DATETIME
local refuse, is_int64, null = base.refuse, base.is_int64, json.null

local M = {}

local function is_integer(v)
  return v % 1 == 0 and v <= 2 ^ 53 and v >= -2 ^ 53
end

local function kind_of(v)
  local t = type(v)
  if t == "number" then
    return is_integer(v) and LONG or DOUBLE
  elseif t == "string" then
    return STRING
  elseif t == "boolean" then
    return BOOL
  elseif is_int64(v) then
    return LONG
  end
end

-- Formats a value for a message.
local function shown(v)
  if type(v) == "string" then
    return ("the string %q"):format(#v > 40 and v:sub(1, 40) .. "..." or v)
  elseif type(v) == "number" or type(v) == "boolean" then
    return tostring(v)
  end
  return "a " .. type(v)
end

--- Returns the type that fits all values, of which 1 to n may be nil or json.null; if all are null,
--- string.
function M.infer(values, n, what, name)
  local kind
  for i = 1, n do
    local v = values[i]
    if v ~= nil and v ~= null then
      local this = kind_of(v)
      if not this then
        refuse("%s: column '%s', row %d: %s; accepted: booleans, numbers, strings, 64-bit integers, nil", what, name, i,
          shown(v))
      elseif kind == nil or kind == this then
        kind = this
      elseif (kind == LONG or kind == DOUBLE) and (this == LONG or this == DOUBLE) then
        kind = DOUBLE
      else
        refuse("%s: column '%s', row %d: %s in a column of type %s; accepted: values of one type", what, name, i,
          shown(v), base.type_names[kind])
      end
    end
  end
  return kind or STRING
end

local setters = {
  [BOOL] = function(to, i, v)
    if type(v) ~= "boolean" then
      return false
    end
    to.b8[i] = v and 1 or 0
    return true
  end,
  [LONG] = function(to, i, v)
    if type(v) == "number" then
      if v % 1 ~= 0 or v >= 2 ^ 63 or v < -2 ^ 63 then
        return false
      end
    elseif not is_int64(v) then
      return false
    end
    to.i64[i] = v
    return true
  end,
  [DOUBLE] = function(to, i, v)
    if type(v) ~= "number" and not is_int64(v) then
      return false
    end
    to.f64[i] = tonumber(v)
    return true
  end,
  [DATETIME] = function(to, i, v)
    local us = type(v) == "number" and math.floor(v * 1e6 + 0.5) or nil
    if not us or us ~= us or us >= 2 ^ 63 or us < -2 ^ 63 then
      return false
    end
    to.i64[i] = us
    return true
  end,
}
local wanted = {
  [BOOL] = "true or false", [LONG] = "an integer of 64 bits", [DOUBLE] = "a number", [STRING] = "a string",
  [DATETIME] = "seconds since the epoch",
}

local function clear_bit(bits, i)
  local at = bit.rshift(i, 3)
  bits[at] = bit.band(bits[at], bit.bnot(bit.lshift(1, bit.band(i, 7))))
end

local function string_bytes(values, n, what, name)
  local bytes = 0
  for i = 1, n do
    local v = values[i]
    if v ~= nil and v ~= null then
      if type(v) ~= "string" then
        refuse("%s: column '%s', row %d: %s; accepted: a string", what, name, i, shown(v))
      end
      bytes = bytes + #v
    end
  end
  return bytes
end

local function fill_strings(to, values, n, bits)
  local off = to.is_wide ~= 0 and to.off64 or to.off32
  local at = 0
  for i = 1, n do
    local v = values[i]
    if v ~= nil and v ~= null then
      ffi.copy(to.bytes + at, v, #v)
      at = at + #v
    else
      clear_bit(bits, i - 1)
    end
    off[i] = at
  end
end

local function has_nulls(values, n)
  for i = 1, n do
    if values[i] == nil or values[i] == null then
      return true
    end
  end
  return false
end

--- Makes a column of values 1 to n, with nil or json.null for null, of a type by its number (nil:
--- the one that fits). A value that does not fit raises, with column and row.
function M.column(values, n, kind, what, name)
  kind = kind or M.infer(values, n, what, name)
  local with_bits = has_nulls(values, n)
  if kind == STRING then
    local column, h = base.new_column(kind, n, string_bytes(values, n, what, name), with_bits)
    fill_strings(h.column, values, n, h.column.validity)
    return column
  end
  local column, h = base.new_column(kind, n, nil, with_bits)
  local to, set = h.column, setters[kind]
  for i = 1, n do
    local v = values[i]
    if v == nil or v == null then
      clear_bit(to.validity, i - 1)
    elseif not set(to, i - 1, v) then
      refuse("%s: column '%s', row %d: %s; accepted: %s", what, name, i, shown(v), wanted[kind])
    end
  end
  return column
end

--- Returns n copies of a value.
function M.constant(v, n, kind, what, name)
  if v == nil or v == null then
    if not kind then
      refuse("%s: column '%s' is null in all rows; give its type: %s", what, name,
        table.concat(base.type_names, ", "))
    end
    return (base.new_column(kind, n, nil, "null"))
  end
  local one = M.column({ v }, 1, kind, what, name)
  return base.take(one, base.rows_of(n), n)
end

M.shown = shown
return M
