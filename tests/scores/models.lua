-- Writes the models that are made for these tests into a folder: models.lua FOLDER. The weights are
-- random, and the same each time.
local folder = ...
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
package.path = here .. "/../../examples/?.lua;" .. package.path
local onnx_writer = require "onnx_writer"

math.randomseed(17)

-- An initializer of random numbers; products of it keep the size of their input.
local function weights(name, ...)
  local shape, n = { ... }, 1
  for _, size in ipairs(shape) do n = n * size end
  local values, most = {}, math.sqrt(6 * shape[1] / n)
  for i = 1, n do values[i] = (2 * math.random() - 1) * most end
  return { name, "float32", shape, values }
end

-- A network for small colour pictures.
onnx_writer.write(folder .. "/colours.onnx", {
  inputs = { { "image", "float32", { "n", 3, 32, 32 } } }, outputs = { { "scores", "float32", { "n", 5 } } },
  initializers = { weights("w1", 16, 3, 3, 3), weights("b1", 16), weights("w2", 24, 16, 3, 3), weights("b2", 24),
    weights("w3", 5, 24), weights("b3", 5) },
  nodes = {
    { "Conv", { "image", "w1", "b1" }, { "a" },
      attributes = { kernel_shape = { 3, 3 }, pads = { 1, 1, 1, 1 }, strides = { 2, 2 } } },
    { "Relu", { "a" }, { "b" } },
    { "Conv", { "b", "w2", "b2" }, { "c" }, attributes = { kernel_shape = { 3, 3 }, pads = { 1, 1, 1, 1 } } },
    { "Relu", { "c" }, { "d" } },
    { "GlobalAveragePool", { "d" }, { "e" } },
    { "Flatten", { "e" }, { "f" } },
    { "Gemm", { "f", "w3", "b3" }, { "g" }, attributes = { transB = 1 } },
    { "Softmax", { "g" }, { "scores" } },
  },
})

-- One number as each type, and texts as they are. float16 is missing because onnxruntime-node 1.17
-- does not return it.
local types = { float64 = 11, int8 = 3, uint8 = 2, int16 = 5, uint16 = 4, int32 = 6, uint32 = 12,
                int64 = 7, uint64 = 13, bool = 9 }
local model = { inputs = { { "x", "float32", { "n" } }, { "texts", "string", { "n" } } },
                outputs = { { "same_texts", "string", { "n" } } },
                nodes = { { "Identity", { "texts" }, { "same_texts" } } } }
for name, number in pairs(types) do
  table.insert(model.outputs, { "as_" .. name, name, { "n" } })
  table.insert(model.nodes, { "Cast", { "x" }, { "as_" .. name }, attributes = { to = number } })
end
onnx_writer.write(folder .. "/types.onnx", model)
