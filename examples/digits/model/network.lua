-- A network with one hidden layer: what it is made of, and what it makes of an image. layers: {
-- hidden = { inputs, outputs, weights, bias }, output = … }; weights[(o - 1) * inputs + i].
local M = {}

local function apply(layer, input)
  local out, inputs, weights = {}, layer.inputs, layer.weights
  for o = 1, layer.outputs do
    local sum, row = layer.bias[o], (o - 1) * inputs
    for i = 1, inputs do sum = sum + weights[row + i] * input[i] end
    out[o] = sum
  end
  return out
end
M.apply = apply

-- In place: values below 0 become 0.
function M.rectify(values)
  for i, value in ipairs(values) do
    if value < 0 then values[i] = 0 end
  end
  return values
end

-- In place: scores become probabilities.
function M.softmax(scores)
  local most, sum = -math.huge, 0
  for _, score in ipairs(scores) do most = math.max(most, score) end
  for i, score in ipairs(scores) do
    scores[i] = math.exp(score - most)
    sum = sum + scores[i]
  end
  for i, value in ipairs(scores) do scores[i] = value / sum end
  return scores
end

-- The digit that an image most probably shows, and that probability.
function M.classify(network, pixels)
  local hidden = M.rectify(apply(network.hidden, pixels))
  local probabilities = M.softmax(apply(network.output, hidden))
  local best = 1
  for i, p in ipairs(probabilities) do
    if p > probabilities[best] then best = i end
  end
  return best - 1, probabilities[best]
end

local function decode_numbers(hex, scale)
  local numbers = {}
  for byte in hex:gmatch "%x%x" do numbers[#numbers + 1] = (tonumber(byte, 16) - 128) * scale end
  return numbers
end

local function encode_numbers(numbers)
  local most = 0
  for _, value in ipairs(numbers) do most = math.max(most, math.abs(value)) end
  local scale, hex = most / 127, {}
  for i, value in ipairs(numbers) do hex[i] = ("%02x"):format(math.floor(value / scale + 0.5) + 128) end
  return table.concat(hex):gsub(("."):rep(96), "%0\n"), scale
end

local function decode_layer(text)
  return {
    inputs = text.inputs, outputs = text.outputs,
    weights = decode_numbers(text.weights, text.weights_scale), bias = decode_numbers(text.bias, text.bias_scale),
  }
end

-- Back from what encode() wrote, as require returns it.
function M.decode(text) return { hidden = decode_layer(text.hidden), output = decode_layer(text.output) } end

-- A Lua file that returns the network: one byte, two hexadecimal digits, for each number.
function M.encode(network)
  local out = { "-- Written by train.lua.\nreturn {\n" }
  for _, name in ipairs { "hidden", "output" } do
    local layer = network[name]
    local weights, weights_scale = encode_numbers(layer.weights)
    local bias, bias_scale = encode_numbers(layer.bias)
    out[#out + 1] = ("  %s = {\n    inputs = %d, outputs = %d, weights_scale = %.9g, bias_scale = %.9g,\n"):format(
      name, layer.inputs, layer.outputs, weights_scale, bias_scale)
    out[#out + 1] = ("    bias = [[\n%s]],\n    weights = [[\n%s]],\n  },\n"):format(bias, weights)
  end
  out[#out + 1] = "}\n"
  return table.concat(out)
end

return M
