-- Images to scores: the class of each, and its score.
local argparse = require "tidemill.argparse"
local image = require "tidemill.image"
local onnx = require "tidemill.onnx"

local parser = argparse.ArgumentParser { description = "scores images" }
parser:add_argument("--model", { required = true })
parser:add_argument("--resize", { type = "integer", default = 256 })
parser:add_argument("--crop", { type = "integer", default = 224 })
local args = parser:parse_args { ... }

local session

local function init() session = onnx.InferenceSession(args.model) end

local function run(mini_batch, context)
  local options = { preset = "imagenet", resize = args.resize, crop = args.crop, context = context }
  local batch, numbers = image.batch(mini_batch, options)
  local classes, scores = session:run(batch):argmax()
  local rows = {}
  for k, i in ipairs(numbers) do
    rows[k] = ("%s: %d %.3f"):format(mini_batch[i]:match "[^/]+$", classes[k] - 1, scores[k])
  end
  return rows
end

return { init = init, run = run }
