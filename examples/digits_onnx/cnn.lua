-- A small convolutional network that learns: two layers of 3 x 3 filters, each with the largest of
-- 2 x 2 after it, and a dense layer. It learns from one image after another, in plain Lua over FFI
-- memory; train.lua writes what it has learned as ONNX.
--
-- A plane of size x size has a border of zeros, so that a filter needs no special case at the edge:
-- pixel (x, y) is at (y + 1) * (size + 2) + x + 1, from 0. The nine pixels around it begin at
-- y * (size + 2) + x.
local ffi = require "ffi"

local M = { SIZE = 28, FILTERS = { 8, 16 }, CLASSES = 10 }
M.__index = M

local function numbers(n) return ffi.new("double[?]", n) end

local function fill_normal(values, n, deviation, random)
  for i = 0, n - 1 do values[i] = random:normal() * deviation end
end

-- Filters of planes of size x size. Their results, the largest of each 2 x 2, are `pixels`
-- numbers; number i is at out[place[i]], because `out` has borders.
local function new_filters(inputs, outputs, size, random)
  local half = size / 2
  local layer = {
    inputs = inputs, outputs = outputs, size = size, pixels = outputs * half * half,
    weights = numbers(outputs * inputs * 9), bias = numbers(outputs),
    raw = numbers(size * size), -- what one filter makes of all inputs, without a border
    out = numbers(outputs * (half + 2) * (half + 2)), slope = numbers(outputs * (half + 2) * (half + 2)),
    place = ffi.new("int32_t[?]", outputs * half * half),
    from = ffi.new("int32_t[?]", outputs * half * half), -- where in `raw`; -1: all are below 0
  }
  for i = 0, layer.pixels - 1 do
    local x, y, o = i % half, math.floor(i / half) % half, math.floor(i / half / half)
    layer.place[i] = (o * (half + 2) + y + 1) * (half + 2) + x + 1
  end
  fill_normal(layer.weights, outputs * inputs * 9, math.sqrt(2 / (inputs * 9)), random)
  return layer
end

-- A network that has learned nothing yet.
function M.new(random)
  local first, second = unpack(M.FILTERS)
  local net = setmetatable({
    input = numbers((M.SIZE + 2) * (M.SIZE + 2)),
    first = new_filters(1, first, M.SIZE, random), second = new_filters(first, second, M.SIZE / 2, random),
    scores = numbers(M.CLASSES), bias = numbers(M.CLASSES),
  }, M)
  net.features = net.second.pixels
  net.flat, net.back = numbers(net.features), numbers(net.features)
  net.weights = numbers(net.features * M.CLASSES)
  fill_normal(net.weights, net.features * M.CLASSES, math.sqrt(1 / net.features), random)
  return net
end

-- Adds to `out` the plane at `p`, filtered by the nine weights at `w`.
local function add_filtered(out, p, w, size)
  local w0, w1, w2, w3, w4, w5, w6, w7, w8 = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]
  for y = 0, size - 1 do
    local a, to = p + y * (size + 2), out + y * size
    local b, c = a + size + 2, a + 2 * (size + 2)
    for x = 0, size - 1 do
      to[x] = to[x] + w0 * a[x] + w1 * a[x + 1] + w2 * a[x + 2] + w3 * b[x] + w4 * b[x + 1] + w5 * b[x + 2]
        + w6 * c[x] + w7 * c[x + 1] + w8 * c[x + 2]
    end
  end
end

-- The largest of each 2 x 2 of layer.raw, at least 0, as output plane `o`.
local function pool(layer, o)
  local size, raw = layer.size, layer.raw
  local i = o * size * size / 4
  for y = 0, size - 2, 2 do
    for x = 0, size - 2, 2 do
      local best = y * size + x
      local below = best + size
      if raw[best + 1] > raw[best] then best = best + 1 end
      if raw[below] > raw[best] then best = below end
      if raw[below + 1] > raw[best] then best = below + 1 end
      local is_above = raw[best] > 0
      layer.out[layer.place[i]] = is_above and raw[best] or 0
      layer.from[i] = is_above and best or -1
      i = i + 1
    end
  end
end

local function filter(layer, input)
  local size = layer.size
  for o = 0, layer.outputs - 1 do
    for i = 0, size * size - 1 do layer.raw[i] = layer.bias[o] end
    for i = 0, layer.inputs - 1 do
      add_filtered(layer.raw, input + i * (size + 2) * (size + 2), layer.weights + (o * layer.inputs + i) * 9, size)
    end
    pool(layer, o)
  end
end

-- In place: scores become probabilities.
local function softmax(scores, n)
  local most, sum = -math.huge, 0
  for i = 0, n - 1 do most = math.max(most, scores[i]) end
  for i = 0, n - 1 do
    scores[i] = math.exp(scores[i] - most)
    sum = sum + scores[i]
  end
  for i = 0, n - 1 do scores[i] = scores[i] / sum end
end

-- Fills net.scores with the probability of each class. `pixels`: SIZE * SIZE brightnesses, from 1.
function M:apply(pixels)
  for y = 0, M.SIZE - 1 do
    for x = 0, M.SIZE - 1 do self.input[(y + 1) * (M.SIZE + 2) + x + 1] = pixels[y * M.SIZE + x + 1] end
  end
  filter(self.first, self.input)
  filter(self.second, self.first.out)
  for i = 0, self.features - 1 do self.flat[i] = self.second.out[self.second.place[i]] end
  for c = 0, M.CLASSES - 1 do
    local score, w = self.bias[c], self.weights + c * self.features
    for i = 0, self.features - 1 do score = score + w[i] * self.flat[i] end
    self.scores[c] = score
  end
  softmax(self.scores, M.CLASSES)
end

-- The most probable class, from 0.
function M:classify(pixels)
  self:apply(pixels)
  local best = 0
  for c = 1, M.CLASSES - 1 do
    if self.scores[c] > self.scores[best] then best = c end
  end
  return best
end

-- For each input: adds g times the 3 x 3 numbers at `from` to those at `to`. A row, and an input,
-- has so many numbers.
local function add_nines(to, to_row, to_input, from, from_row, from_input, inputs, g)
  for _ = 1, inputs do
    local a, b, c, d, e, f = to, to + to_row, to + 2 * to_row, from, from + from_row, from + 2 * from_row
    a[0], a[1], a[2] = a[0] + g * d[0], a[1] + g * d[1], a[2] + g * d[2]
    b[0], b[1], b[2] = b[0] + g * e[0], b[1] + g * e[1], b[2] + g * e[2]
    c[0], c[1], c[2] = c[0] + g * f[0], c[1] + g * f[1], c[2] + g * f[2]
    to, from = to + to_input, from + from_input
  end
end

-- Where the 3 x 3 numbers begin that `at`, a number of layer.raw, was made from.
local function window(layer, at)
  local x = at % layer.size
  return (at - x) / layer.size * (layer.size + 2) + x
end

-- Fills `back` with the slope of each number of the layer's input.
local function slope_of_input(layer, back)
  local row, from, each = layer.size + 2, layer.from, layer.pixels / layer.outputs
  ffi.fill(back, layer.inputs * row * row * 8)
  for i = 0, layer.pixels - 1 do
    if from[i] >= 0 then
      local w = layer.weights + (i - i % each) / each * layer.inputs * 9
      add_nines(back + window(layer, from[i]), row, row * row, w, 3, 9, layer.inputs, layer.slope[layer.place[i]])
    end
  end
end

local function learn_filters(layer, input, rate)
  local row, from, each = layer.size + 2, layer.from, layer.pixels / layer.outputs
  for i = 0, layer.pixels - 1 do
    if from[i] >= 0 then
      local o, step = (i - i % each) / each, -rate * layer.slope[layer.place[i]]
      local w = layer.weights + o * layer.inputs * 9
      add_nines(w, 3, 9, input + window(layer, from[i]), row, row * row, layer.inputs, step)
      layer.bias[o] = layer.bias[o] + step
    end
  end
end

-- Learns that the image shows `class`.
function M:learn(pixels, class, rate)
  self:apply(pixels)
  ffi.fill(self.back, self.features * 8)
  for c = 0, M.CLASSES - 1 do
    local slope, w = self.scores[c] - (c == class and 1 or 0), self.weights + c * self.features
    for i = 0, self.features - 1 do
      self.back[i] = self.back[i] + w[i] * slope
      w[i] = w[i] - rate * slope * self.flat[i]
    end
    self.bias[c] = self.bias[c] - rate * slope
  end
  for i = 0, self.features - 1 do self.second.slope[self.second.place[i]] = self.back[i] end
  slope_of_input(self.second, self.first.slope)
  learn_filters(self.second, self.first.out, rate)
  learn_filters(self.first, self.input, rate)
end

return M
