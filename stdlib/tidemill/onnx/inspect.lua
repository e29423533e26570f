-- inspect.lua - onnx.inspect(): what the file of a model says, read without a library.
local c = require "tidemill.onnx_file_c"
local plan = require "tidemill.plan"

local M = {}

--- An input or output of a model.
---@class tidemill.OnnxValue
---@field name string
---@field type string "float32", as tensors have it, or "sequence<map<int64,float32>>"
---@field shape? (integer|string)[] a free axis has its name or -1; nil: any rank, or not a tensor

--- A file beside a model that has data of its tensors.
---@class tidemill.OnnxDataFile
---@field file string relative to the model
---@field tensors integer
---@field bytes integer

--- What the file of a model says.
---@class tidemill.OnnxFile
---@field inputs tidemill.OnnxValue[] without those that have a value in the file
---@field outputs tidemill.OnnxValue[]
---@field opsets table<string, integer> by domain; "ai.onnx" is the standard one
---@field operators table<string, integer> nodes by kind: "Conv", "ai.onnx.ml.ZipMap"
---@field nodes integer in all graphs
---@field weights integer bytes
---@field size integer bytes of the file
---@field data_files tidemill.OnnxDataFile[]
---@field producer string the program that wrote it, and its version
---@field metadata table<string, string>
---@field ir_version integer

--- Reads what the file of an ONNX model says. It needs no ONNX Runtime and skips the weights, so
--- it is quick for large models, too. A file that is not an ONNX model, or not a whole one: nil,
--- and a message that says what it is.
---
---     local info, message = onnx.inspect(model)
---     assert(info, message)
---     assert(info.inputs[1].name == "scores" and info.inputs[1].type == "float32")
---     assert(info.inputs[1].shape[1] == "n" and info.inputs[1].shape[2] == 2)
---     assert(info.opsets["ai.onnx"] == 13 and info.operators.ArgMax == 1)
---@param path string
---@return tidemill.OnnxFile? info, string? message, string? code
function M.inspect(path)
  if type(path) ~= "string" then
    plan.raise("onnx.inspect: a " .. type(path) .. " was given; accepted: the path of a model")
  end
  return c.inspect(path)
end

return M
