-- json.lua - JSON text of a value, and the value of a text; rows that are tables are written in the same way.
--
--   local json = require "tidemill.json"
--   json.encode { b = 1, a = { 1, "x" } }             -- {"a":[1,"x"],"b":1}
--   json.encode { tags = {}, extra = json.object {} } -- {"extra":{},"tags":[]}
--   local value, message = json.decode(text)          -- nil and "cannot read JSON: line 1, column 7: ..."
local c = require "tidemill.json_c"
local ffi = require "ffi"
local plan = require "tidemill.plan"

--- JSON text as Lua values, and back.
---@class tidemill.json
local M = {}

--- Stands for null: a nil in a table is no entry. Compare with `==`; it is not false.
---@type lightuserdata
M.null = c.null

local mark = { __jsontype = "object" }

--- Marks a table as an object, so that it is written as {} when it is empty. Its keys must be strings when it is
--- written. A table that has a metatable of its own is refused.
---@param fields? table a new one when not given
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

--- The value as JSON: keys sorted by bytes, one line unless `indent` is given. A table with the keys 1..n is a list,
--- `{}` too; one whose keys are all strings is an object. Integers below 2^53 and 64-bit integers are written in
--- digits, nan and inf as null.
---@param value any
---@param options? { indent?: integer } one member a line, so many blanks deep: 0 to 16
---@return string? text nil when the value cannot be written
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

--- The value of exactly one JSON text. null becomes `json.null`, an empty object is marked as by `json.object`, an
--- integer beyond 2^53 becomes a 64-bit integer (beyond 2^63 a number), of equal keys the last counts. At most 100
--- levels deep.
---@param text string
---@return any value nil when the text is not JSON
---@return string? message "cannot read JSON: line 2, column 5: ..."; columns count bytes
---@return string? code
function M.decode(text)
  if type(text) ~= "string" then
    plan.raise("json.decode: a " .. type(text) .. " was given; accepted: a string")
  end
  return c.decode(text, int64, mark)
end

return M
