-- Draws digits, trains the network and writes it: tidemill lua train.lua [MODEL] [WRITERS]
-- Its images are drawn by 300 writers of its own; those of images/ are not among them. The same
-- model each time, byte for byte, on machines with the same mathematical library.
local ffi = require "ffi"

local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. here .. "/../digits/?.lua;" .. here .. "/../?.lua;" .. package.path
local Cnn, draw, onnx, Random = require "cnn", require "draw", require "onnx_writer", require "random"

local IMAGES_EACH, ROUNDS, RATE, SEED = 4, 2, 0.01, 1
local path, writers = arg[1] or here .. "/model/digits.onnx", tonumber(arg[2] or 300)
local random = Random.new(SEED)

local function draw_images(count)
  local images = {}
  for _ = 1, count do
    local writer = draw.writer(random)
    for _ = 1, IMAGES_EACH do
      for digit = 0, 9 do
        images[#images + 1] = { pixels = draw.digit(digit, writer, random, Cnn.SIZE), digit = digit }
      end
    end
  end
  return images
end

local function shuffle(images)
  for i = #images, 2, -1 do
    local j = random:pick(i)
    images[i], images[j] = images[j], images[i]
  end
end

local function accuracy(net, images)
  local right = 0
  for _, image in ipairs(images) do
    if net:classify(image.pixels) == image.digit then right = right + 1 end
  end
  return 100 * right / #images
end

local function floats(values, n) return ffi.string(ffi.new("float[?]", n, values), 4 * n) end

local function initializer(name, shape, values)
  local n, list = 1, {}
  for _, axis in ipairs(shape) do n = n * axis end
  for i = 1, n do list[i] = values[i - 1] end
  return { name, "float32", shape, floats(list, n) }
end

local function as_onnx(net)
  local first, second = unpack(Cnn.FILTERS)
  local filters = { kernel_shape = { 3, 3 }, pads = { 1, 1, 1, 1 } }
  local pools = { kernel_shape = { 2, 2 }, strides = { 2, 2 } }
  return {
    name = "digits", metadata = { trained_by = "examples/digits_onnx/train.lua" },
    inputs = { { "image", "float32", { "n", 1, Cnn.SIZE, Cnn.SIZE } } },
    outputs = { { "probabilities", "float32", { "n", Cnn.CLASSES } } },
    initializers = {
      initializer("filters1", { first, 1, 3, 3 }, net.first.weights),
      initializer("bias1", { first }, net.first.bias),
      initializer("filters2", { second, first, 3, 3 }, net.second.weights),
      initializer("bias2", { second }, net.second.bias),
      initializer("weights", { Cnn.CLASSES, net.features }, net.weights),
      initializer("bias", { Cnn.CLASSES }, net.bias),
    },
    nodes = {
      { "Conv", { "image", "filters1", "bias1" }, { "a" }, attributes = filters },
      { "Relu", { "a" }, { "b" } },
      { "MaxPool", { "b" }, { "c" }, attributes = pools },
      { "Conv", { "c", "filters2", "bias2" }, { "d" }, attributes = filters },
      { "Relu", { "d" }, { "e" } },
      { "MaxPool", { "e" }, { "f" }, attributes = pools },
      { "Flatten", { "f" }, { "g" } },
      { "Gemm", { "g", "weights", "bias" }, { "h" }, attributes = { transB = 1 } },
      { "Softmax", { "h" }, { "probabilities" } },
    },
  }
end

local images, unseen = draw_images(writers), draw_images(math.ceil(writers / 6))
print(("%d images to learn from, %d to judge by"):format(#images, #unseen))
local net = Cnn.new(random)
for round = 1, ROUNDS do
  shuffle(images)
  for i, image in ipairs(images) do
    local progress = (round - 1 + i / #images) / ROUNDS
    net:learn(image.pixels, image.digit, RATE * (1 - progress))
  end
  print(("round %d: %.2f %% right"):format(round, accuracy(net, unseen)))
end
onnx.write(path, as_onnx(net))
