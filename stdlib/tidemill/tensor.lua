-- tensor.lua - tensors: numbers of one type in C memory, of any rank; what models take and return.
local base = require "tidemill.tensor.base"
local c = require "tidemill.tensor_c"

--- Tensors: numbers of one type in C memory, of any rank.
---@class tidemill.tensor
local M = {}

--- Makes a tensor of zeros. Strings are empty, and bools are false.
---
---     local t = tensor.new("float32", { 2, 3 })
---     assert(t.type == "float32" and #t == 2 and t.shape[2] == 3)
---@param type string
---@param shape integer[]
---@return tidemill.Tensor
function M.new(type, shape)
  return (c.new(base.type_of(type, "new"), base.check_shape(shape, "new")))
end

return M
