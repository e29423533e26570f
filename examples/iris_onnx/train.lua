-- Learns a decision tree from the flowers of ../iris/model/train.csv and writes it as an ONNX model
-- with text labels: tidemill lua train.lua [MODEL]
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/../?.lua;" .. package.path
local frame = require "tidemill.frame"
local onnx = require "onnx_writer"

local MEASURES = { "sepal_length", "sepal_width", "petal_length", "petal_width" }
local DEPTH = 3 -- questions from the root to a leaf, at most

local function read_flowers(path)
  local flowers = {}
  for row in assert(frame.read_csv(path)):rows() do
    local flower = { kind = row.kind }
    for i, name in ipairs(MEASURES) do flower[i] = row[name] end
    flowers[#flowers + 1] = flower
  end
  return flowers
end

local function count_kinds(flowers)
  local counts = {}
  for _, flower in ipairs(flowers) do counts[flower.kind] = (counts[flower.kind] or 0) + 1 end
  return counts
end

-- Gini's impurity times the number of flowers: 0 if all are of one kind.
local function impurity(flowers)
  local sum = 0
  for _, n in pairs(count_kinds(flowers)) do sum = sum + n * n end
  return #flowers - sum / math.max(1, #flowers)
end

local function split(flowers, measure, limit)
  local yes, no = {}, {}
  for _, flower in ipairs(flowers) do
    local side = flower[measure] <= limit and yes or no
    side[#side + 1] = flower
  end
  return yes, no
end

-- The measure and the limit between two of its values that separate the kinds best.
local function best_question(flowers)
  local best, measure, limit = impurity(flowers), nil, nil
  for i = 1, #MEASURES do
    local values = {}
    for k, flower in ipairs(flowers) do values[k] = flower[i] end
    table.sort(values)
    for k = 2, #values do
      local middle = (values[k - 1] + values[k]) / 2
      local yes, no = split(flowers, i, middle)
      local left = impurity(yes) + impurity(no)
      if values[k] > values[k - 1] and left < best then best, measure, limit = left, i, middle end
    end
  end
  return measure, limit
end

-- Adds the nodes for these flowers to `tree`; returns the number of the first.
local function grow(tree, flowers, depth)
  local node = { flowers = flowers }
  tree[#tree + 1] = node
  local number = #tree
  if depth < DEPTH then node.measure, node.limit = best_question(flowers) end
  if node.measure then
    local yes, no = split(flowers, node.measure, node.limit)
    node.yes, node.no = grow(tree, yes, depth + 1), grow(tree, no, depth + 1)
  end
  return number
end

-- The attributes of a TreeEnsembleClassifier with one tree: a list for each property of its nodes,
-- and the weights of the kinds at its leaves. It counts from 0.
local function attributes(tree, kinds)
  local a = {
    nodes_treeids = {}, nodes_nodeids = {}, nodes_featureids = {}, nodes_modes = {}, nodes_truenodeids = {},
    nodes_falsenodeids = {}, nodes_values = { floats = {} }, class_treeids = {}, class_nodeids = {}, class_ids = {},
    class_weights = { floats = {} }, classlabels_strings = kinds, post_transform = "NONE",
  }
  local function add(name, value) a[name][#a[name] + 1] = value end
  for i, node in ipairs(tree) do
    add("nodes_treeids", 0)
    add("nodes_nodeids", i - 1)
    add("nodes_featureids", node.measure and node.measure - 1 or 0)
    add("nodes_modes", node.measure and "BRANCH_LEQ" or "LEAF")
    add("nodes_truenodeids", node.yes and node.yes - 1 or 0)
    add("nodes_falsenodeids", node.no and node.no - 1 or 0)
    table.insert(a.nodes_values.floats, node.limit or 0)
    local counts = node.measure and {} or count_kinds(node.flowers)
    for k, kind in ipairs(kinds) do
      if counts[kind] then
        add("class_treeids", 0)
        add("class_nodeids", i - 1)
        add("class_ids", k - 1)
        table.insert(a.class_weights.floats, counts[kind] / #node.flowers)
      end
    end
  end
  return a
end

local function as_onnx(tree, kinds)
  local inputs = {}
  for i, name in ipairs(MEASURES) do inputs[i] = { name, "float32", { "n", 1 } } end
  return {
    name = "iris", inputs = inputs, opsets = { ["ai.onnx.ml"] = 1 },
    outputs = { { "label", "string", { "n" } }, { "probabilities", "float32", { "n", #kinds } } },
    nodes = {
      { "Concat", MEASURES, { "measures" }, attributes = { axis = 1 } },
      { "TreeEnsembleClassifier", { "measures" }, { "label", "probabilities" }, domain = "ai.onnx.ml",
        attributes = attributes(tree, kinds) },
    },
  }
end

local flowers = read_flowers(here .. "/../iris/model/train.csv")
local kinds = {}
for kind in pairs(count_kinds(flowers)) do kinds[#kinds + 1] = kind end
table.sort(kinds)
local tree = {}
grow(tree, flowers, 0)
onnx.write(arg[1] or here .. "/scripts/iris.onnx", as_onnx(tree, kinds))
print(("a tree of %d nodes, learned from %d flowers"):format(#tree, #flowers))
