---@meta tidemill.tensor_c

--- The C half of `tidemill.tensor`. Not for scripts.
---@class tidemill.tensor_c
---@field ops lightuserdata a struct tm_tensor_ops (core/data/tensor/tensor_ops.h)
---@field ended string why a tensor cannot be used any more
local tensor_c = {}

--- Keeps the metatable of tensors.
---@param meta table
function tensor_c.setup(meta) end

--- Makes a tensor that is all zero, in memory of its own.
---@param type integer its number
---@param shape integer[]
---@param bytes? integer for strings: the bytes of all
---@return tidemill.Tensor
---@return lightuserdata? room for strings: where their bytes go
function tensor_c.new(type, shape, bytes) end

--- Makes the userdata of a tensor over other memory. Its struct is all zero.
---@param keep table the environment, with the owner of the memory
---@return tidemill.Tensor
function tensor_c.new_handle(keep) end

return tensor_c
