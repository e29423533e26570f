-- json.lua - writes values as JSON text, and reads JSON text. Rows that are tables are written in
-- the same way.
--
--   local json = require "tidemill.json"
--   json.encode { b = 1, a = { 1, "x" } }             -- {"a":[1,"x"],"b":1}
--   json.encode { tags = {}, extra = json.object {} } -- {"extra":{},"tags":[]}
--   local value, message = json.decode(text)          -- nil, "cannot read JSON: line 1, ..."
local c = require "tidemill.json_c"
local ffi = require "ffi"
local plan = require "tidemill.plan"

--- Converts Lua values to JSON text, and back.
---@class tidemill.json
local M = {}

--- Stands for null, because nil in a table means no entry. Compare with `==`; it is not false.
---@type lightuserdata
M.null = c.null

local mark = { __jsontype = "object" }

--- Marks a table as an object, so that it is written as {} if it is empty. When it is written, all
--- its keys must be strings. A table with another metatable is refused.
---@param fields? table by default a new table
---@return table fields the same table
function M.object(fields)
  if fields == nil then
    fields = {}
  end
  if type(fields) ~= "table" then
    plan.raise("json.object: a " .. type(fields) .. " was given; accepted: a table")
  end
  local meta = getmetatable(fields)
  if meta ~= nil and meta ~= mark then
    plan.raise("json.object: the table has a metatable of its own")
  end
  return setmetatable(fields, mark)
end

--- Returns the value as JSON, with the keys sorted by bytes, on one line unless `indent` is given.
--- A table with the keys 1..n is a list, and so is `{}`; a table with only string keys is an
--- object. Integers below 2^53 and 64-bit integers are written in digits, nan and inf as null.
---@param value any
---@param options? { indent?: integer } indent: one member per line, indented by that many blanks, 0
--- to 16
---@return string? text nil if the value cannot be written
---@return string? message with the place: "cannot write JSON: 'a.b[3]' is a function"
---@return string? code
function M.encode(value, options)
  local indent = 0
  if options ~= nil and type(options) ~= "table" then
    plan.raise("json.encode: options are a table: { indent = 2 }")
  end
  for key, given in pairs(options or {}) do
    if key ~= "indent" then
      plan.raise(("json.encode: unknown option '%s'; accepted: indent"):format(tostring(key)))
    end
    if type(given) ~= "number" or given < 0 or given > 16 or given % 1 ~= 0 then
      plan.raise(("json.encode: 'indent' is %s; accepted: an integer from 0 to 16"):format(tostring(given)))
    end
    indent = given
  end
  local text, message, code = c.encode(value, indent)
  if not text then
    return nil, "cannot write JSON: " .. message, code
  end
  return text
end

local function int64(high, low)
  return ffi.cast("int64_t", high) * 4294967296LL + ffi.cast("int64_t", low)
end

--- Returns the value of exactly one JSON text. null becomes `json.null`, an empty object is marked
--- as by `json.object`. An integer beyond 2^53 becomes a 64-bit integer, and beyond 2^63 a number.
--- If a key occurs twice, the last one wins. At most 100 levels deep.
---@param text string
---@return any value nil if the text is not JSON
---@return string? message "cannot read JSON: line 2, column 5: ..."; columns count bytes
---@return string? code
function M.decode(text)
  if type(text) ~= "string" then
    plan.raise("json.decode: a " .. type(text) .. " was given; accepted: a string")
  end
  return c.decode(text, int64, mark)
end

return M
