-- The models to measure with, with random weights, the same bytes every time:
--   models.lua resnet FILE SIZE WIDTH of the shape of ResNet-18, for images of SIZE x SIZE pixels;
--                                     WIDTH: filters of its first layer, 64
--   models.lua trees FILE             100 trees over 10 numbers
--   models.lua wide FILE MEGABYTES    products of matrices, nearly nothing but weights
--   models.lua table FILE ROWS        a table for the trees
--   models.lua tensors FILE NUMBER    numbers, as they lie in memory
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/../../../examples/?.lua;" .. package.path
local bit = require "bit"
local ffi = require "ffi"
local buffer = require "string.buffer"
local onnx = require "onnx_writer"

local state = 88172645
--- A whole number from 0 to n - 1 (xorshift32).
local function random(n)
  state = bit.bxor(state, bit.lshift(state, 13))
  state = bit.bxor(state, bit.rshift(state, 17))
  state = bit.bxor(state, bit.lshift(state, 5))
  return bit.band(state, 0x7fffffff) % n
end

-- n numbers of about this size, as bytes.
local function weights(n, size)
  local values = ffi.new("float[?]", n)
  for i = 0, n - 1 do values[i] = (random(2000001) / 1000000 - 1) * size end
  return ffi.string(values, n * 4)
end

-- ---- ResNet-18 ----

local function new_network()
  return { inputs = {}, outputs = {}, initializers = {}, nodes = {}, names = 0 }
end

local function add_weights(net, shape, size)
  local n = 1
  for _, axis in ipairs(shape) do n = n * axis end
  local name = "w" .. #net.initializers
  net.initializers[#net.initializers + 1] = { name, "float32", shape, weights(n, size) }
  return name
end

-- Adds a node with one output, and returns the name of that.
local function add(net, operator, inputs, attributes)
  net.names = net.names + 1
  local name = "x" .. net.names
  net.nodes[#net.nodes + 1] = { operator, inputs, { name }, attributes = attributes }
  return name
end

-- A layer of filters, the normalisation already in its weights.
local function filters(net, x, from, to, kernel, stride)
  local pad = (kernel - 1) / 2
  local size = math.sqrt(3 / (from * kernel * kernel))
  local w, b = add_weights(net, { to, from, kernel, kernel }, size), add_weights(net, { to }, 0.1)
  return add(net, "Conv", { x, w, b }, {
    kernel_shape = { kernel, kernel }, strides = { stride, stride }, pads = { pad, pad, pad, pad },
  })
end

local function block(net, x, from, to, stride)
  local y = add(net, "Relu", { filters(net, x, from, to, 3, stride) })
  y = filters(net, y, to, to, 3, 1)
  if stride ~= 1 or from ~= to then x = filters(net, x, from, to, 1, stride) end
  return add(net, "Relu", { add(net, "Add", { y, x }) })
end

local function write_resnet(path, size, width)
  local net, from = new_network(), width
  net.inputs = { { "image", "float32", { "n", 3, size, size } } }
  net.outputs = { { "scores", "float32", { "n", 1000 } } }
  local x = add(net, "Relu", { filters(net, "image", 3, width, 7, 2) })
  x = add(net, "MaxPool", { x }, { kernel_shape = { 3, 3 }, strides = { 2, 2 }, pads = { 1, 1, 1, 1 } })
  for stage = 0, 3 do
    local to = width * 2 ^ stage
    x = block(net, x, from, to, stage == 0 and 1 or 2)
    x = block(net, x, to, to, 1)
    from = to
  end
  x = add(net, "Flatten", { add(net, "GlobalAveragePool", { x }) })
  local w, b = add_weights(net, { from, 1000 }, math.sqrt(3 / from)), add_weights(net, { 1000 }, 0.1)
  net.nodes[#net.nodes + 1] = { "Gemm", { x, w, b }, { "scores" } }
  onnx.write(path, net)
end

-- ---- trees ----

local FEATURES, TREES, DEPTH, CLASSES = 10, 100, 6, 3

-- Adds a full tree: node i has the branches 2 i + 1 and 2 i + 2.
local function add_tree(a, tree)
  local inner = 2 ^ DEPTH - 1
  for i = 0, 2 ^ (DEPTH + 1) - 2 do
    local is_inner = i < inner
    table.insert(a.nodes_treeids, tree)
    table.insert(a.nodes_nodeids, i)
    table.insert(a.nodes_featureids, is_inner and random(FEATURES) or 0)
    table.insert(a.nodes_modes, is_inner and "BRANCH_LEQ" or "LEAF")
    table.insert(a.nodes_truenodeids, is_inner and 2 * i + 1 or 0)
    table.insert(a.nodes_falsenodeids, is_inner and 2 * i + 2 or 0)
    table.insert(a.nodes_values.floats, is_inner and random(100000) / 100 or 0)
    for class = 0, is_inner and -1 or CLASSES - 1 do
      table.insert(a.class_treeids, tree)
      table.insert(a.class_nodeids, i)
      table.insert(a.class_ids, class)
      table.insert(a.class_weights.floats, random(1000) / 100000)
    end
  end
end

local function write_trees(path)
  local a = {
    nodes_treeids = {}, nodes_nodeids = {}, nodes_featureids = {}, nodes_modes = {}, nodes_truenodeids = {},
    nodes_falsenodeids = {}, nodes_values = { floats = {} }, class_treeids = {}, class_nodeids = {}, class_ids = {},
    class_weights = { floats = {} }, classlabels_int64s = { 1, 2, 3 }, post_transform = "NONE",
  }
  for tree = 0, TREES - 1 do add_tree(a, tree) end
  onnx.write(path, {
    inputs = { { "features", "float32", { "n", FEATURES } } }, opsets = { ["ai.onnx.ml"] = 1 },
    outputs = { { "label", "int64", { "n" } }, { "probabilities", "float32", { "n", CLASSES } } },
    nodes = {
      { "TreeEnsembleClassifier", { "features" }, { "label", "probabilities" }, domain = "ai.onnx.ml", attributes = a },
    },
  })
end

local function write_table(path, rows)
  local file, out = assert(io.open(path, "w")), buffer.new()
  out:put "id,f0,f1,f2,f3,f4,f5,f6,f7,f8,f9\n"
  for id = 1, rows do
    out:put(id)
    for _ = 1, FEATURES do out:putf(",%d.%02d", random(1000), random(100)) end
    out:put "\n"
    if #out > 1e6 or id == rows then assert(file:write(out:get())) end
  end
  assert(file:close())
end

-- ---- weights ----

local function write_wide(path, megabytes)
  local net, side = new_network(), 1024
  net.inputs, net.outputs = { { "x", "float32", { "n", side } } }, { { "y", "float32", { "n", side } } }
  local x = "x"
  for _ = 1, math.max(1, megabytes / 4) do
    x = add(net, "MatMul", { x, add_weights(net, { side, side }, math.sqrt(3 / side)) })
  end
  net.nodes[#net.nodes][3] = { "y" }
  onnx.write(path, net)
end

local function write_tensors(path, n)
  local file = assert(io.open(path, "wb"))
  file:write(weights(n, 2))
  assert(file:close())
end

local writers = { resnet = write_resnet, trees = write_trees, table = write_table, wide = write_wide,
  tensors = write_tensors }
writers[arg[1]](arg[2], tonumber(arg[3]), tonumber(arg[4]))
