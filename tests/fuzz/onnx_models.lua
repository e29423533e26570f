-- Writes corpus/onnx_file, with the writer of the examples: onnx_models.lua FOLDER
-- Small models, each of which shows something that an ONNX file may have. Unit tests read them,
-- too.
local root = arg[0]:match "^(.*)/tests/fuzz/" or "."
package.path = root .. "/examples/?.lua;" .. package.path
local onnx = require "onnx_writer"

local models = {
  -- a weight that is an input as well, with a free axis
  scale = {
    inputs = { { "x", "float32", { "n", 3 } }, { "factor", "float32", { 3 } } },
    outputs = { { "y", "float32", { "n", 3 } } },
    initializers = { { "factor", "float32", { 3 }, { 2, 3, 4 } } },
    nodes = { { "Mul", { "x", "factor" }, { "y" }, name = "scaling" } },
    producer = "onnx_models.lua", metadata = { purpose = "a test", author = "tidemill" },
  },
  -- data in another file
  elsewhere = {
    inputs = { { "x", "float32", { "n", 4 } } }, outputs = { { "y", "float32", { "n", 4 } } },
    initializers = {
      { "first", "float32", { 4 }, { file = "elsewhere.bin", length = 16 } },
      { "second", "float32", { 4 }, { file = "elsewhere.bin", offset = 16, length = 16 } },
    },
    nodes = { { "Mul", { "x", "first" }, { "a" } }, { "Add", { "a", "second" }, { "y" } } },
  },
  -- a graph within a graph, and a tensor in an attribute
  branches = {
    inputs = { { "is_large", "bool", {} } }, outputs = { { "y", "int64", { 2 } } },
    nodes = {
      { "If", { "is_large" }, { "y" }, attributes = {
        then_branch = { graph = { outputs = { { "large", "int64", { 2 } } }, nodes = {
          { "Constant", {}, { "large" }, attributes = { value = { tensor = { "", "int64", { 2 }, { 1000, -1 } } } } },
        } } },
        else_branch = { graph = { outputs = { { "small", "int64", { 2 } } }, initializers = {
          { "one", "int64", { 2 }, { 1, 1 } },
        }, nodes = { { "Identity", { "one" }, { "small" } } } } },
      } },
    },
  },
  -- texts and a list of maps, as scikit-learn's classifiers have them
  labels = {
    inputs = { { "scores", "float32", { "n", 2 } } },
    outputs = { { "labels", "string", { "n" } }, { "probabilities", sequence = { map = { "string", "float32" } } } },
    initializers = { { "names", "string", { 2 }, { "cat", "dog" } } },
    nodes = {
      { "ArgMax", { "scores" }, { "best" }, attributes = { axis = 1, keepdims = 0 } },
      { "Gather", { "names", "best" }, { "labels" } },
      { "ZipMap", { "scores" }, { "probabilities" }, domain = "ai.onnx.ml", attributes = {
        classlabels_strings = { "cat", "dog" },
      } },
    },
    opsets = { ["ai.onnx.ml"] = 1 },
  },
  -- more types of tensors
  types = {
    inputs = { { "halves", "float16", { 2 } }, { "number", "float64", {} } }, outputs = { { "same", "float64", {} } },
    initializers = {
      { "bytes", "uint8", { 2, 2 }, { 0, 1, 128, 255 } }, { "signed", "int8", { 1 }, { -128 } },
      { "large", "uint64", { 1 }, { 2 ^ 53 } }, { "flags", "bool", { 2 }, { 1, 0 } }, { "none", "float32", { 0 }, {} },
    },
    nodes = { { "Identity", { "number" }, { "same" } } },
  },
}

for name, model in pairs(models) do onnx.write(arg[1] .. "/" .. name .. ".onnx", model) end
