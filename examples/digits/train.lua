-- Trains the network and writes model/weights.lua: luajit train.lua
-- Its images are drawn as it goes, by writers of its own; those in images/ are not among them.
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. here .. "/model/?.lua;" .. package.path
local draw, network, Random = require "draw", require "network", require "random"

local WRITERS, IMAGES_EACH, HIDDEN, ROUNDS, SEED = 300, 4, 40, 20, 1
local random = Random.new(SEED)

local function draw_images(writers)
  local images = {}
  for _ = 1, writers do
    local writer = draw.writer(random)
    for _ = 1, IMAGES_EACH do
      for digit = 0, 9 do
        images[#images + 1] = { pixels = draw.digit(digit, writer, random), digit = digit }
      end
    end
  end
  return images
end

local function new_layer(inputs, outputs)
  local layer = { inputs = inputs, outputs = outputs, weights = {}, bias = {} }
  for i = 1, inputs * outputs do layer.weights[i] = random:normal() * math.sqrt(2 / inputs) end
  for o = 1, outputs do layer.bias[o] = 0 end
  return layer
end

-- Moves a layer against the slope of the error; returns the slope at its input.
local function learn(layer, input, slope, rate)
  local back, weights, inputs = {}, layer.weights, layer.inputs
  for i = 1, inputs do back[i] = 0 end
  for o = 1, layer.outputs do
    local row, step = (o - 1) * inputs, slope[o] * rate
    if step ~= 0 then
      for i = 1, inputs do
        back[i] = back[i] + weights[row + i] * slope[o]
        weights[row + i] = weights[row + i] - step * input[i]
      end
      layer.bias[o] = layer.bias[o] - step
    end
  end
  return back
end

local function learn_image(net, image, rate)
  local hidden = network.rectify(network.apply(net.hidden, image.pixels))
  local slope = network.softmax(network.apply(net.output, hidden))
  slope[image.digit + 1] = slope[image.digit + 1] - 1
  local back = learn(net.output, hidden, slope, rate)
  for i, value in ipairs(hidden) do
    if value == 0 then back[i] = 0 end
  end
  learn(net.hidden, image.pixels, back, rate)
end

local function accuracy(net, images)
  local right = 0
  for _, image in ipairs(images) do
    if network.classify(net, image.pixels) == image.digit then right = right + 1 end
  end
  return 100 * right / #images
end

local images, unseen = draw_images(WRITERS), draw_images(50)
local net = { hidden = new_layer(draw.SIZE * draw.SIZE, HIDDEN), output = new_layer(HIDDEN, 10) }
print(("%d images to learn from, %d to judge by"):format(#images, #unseen))
for round = 1, ROUNDS do
  for i = #images, 2, -1 do
    local j = random:pick(i)
    images[i], images[j] = images[j], images[i]
  end
  for _, image in ipairs(images) do learn_image(net, image, 0.02 * (1 - (round - 1) / ROUNDS)) end
  print(("round %d: %.2f %% right"):format(round, accuracy(net, unseen)))
end
local f = assert(io.open(here .. "/model/weights.lua", "w"))
f:write(network.encode(net))
f:close()
