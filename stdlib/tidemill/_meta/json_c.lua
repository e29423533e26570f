---@meta tidemill.json_c
-- The C side of tidemill.json; lua/bind/lib_json.c. Scripts use tidemill.json.

---@class tidemill.json_c
---@field null lightuserdata
local c = {}

---@param value any
---@param indent integer 0: one line
---@return string? text, string? message, string? code
function c.encode(value, indent) end

---@param text string
---@param int64 fun(high: integer, low: integer): any makes a 64-bit integer
---@param mark table the metatable for an empty object
---@return any value, string? message, string? code
function c.decode(text, int64, mark) end

return c
