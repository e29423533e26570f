-- Images to tensors for a model. The row of an image has one element of its tensor, to compare it.
local argparse = require "tidemill.argparse"
local image = require "tidemill.image"

local parser = argparse.ArgumentParser { description = "decodes images" }
parser:add_argument("--resize", { type = "integer", default = 256 })
parser:add_argument("--crop", { type = "integer", default = 224 })
local args = parser:parse_args { ... }

local function run(mini_batch, context)
  local options = { preset = "imagenet", resize = args.resize, crop = args.crop, context = context }
  local batch, numbers = image.batch(mini_batch, options)
  local rows, middle = {}, args.crop / 2
  for k, i in ipairs(numbers) do
    rows[k] = ("%s: %.4f"):format(mini_batch[i]:match "[^/]+$", batch:at(k, 2, middle, middle))
  end
  return rows
end

return { run = run }
