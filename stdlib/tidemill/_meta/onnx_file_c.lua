---@meta tidemill.onnx_file_c
-- The C side of onnx.inspect; lua/model/lib_onnx_file.c. Scripts use tidemill.onnx.

---@class tidemill.onnx_file_c
local c = {}

---@param path string
---@return tidemill.OnnxFile? info, string? message, string? code
function c.inspect(path) end

return c
