-- Images to scores, in one worker: images.lua with one thread for the model, and images that are
-- read ahead within a mini-batch (--batch), or across mini-batches (no --batch).
local argparse = require "tidemill.argparse"
local image = require "tidemill.image"
local onnx = require "tidemill.onnx"

local parser = argparse.ArgumentParser { description = "scores images that are read ahead" }
parser:add_argument("--model", { required = true })
parser:add_argument("--resize", { type = "integer", default = 256 })
parser:add_argument("--crop", { type = "integer", default = 224 })
parser:add_argument("--batch", { type = "integer" })
local args = parser:parse_args { ... }

local session

local function options_for(context)
  return { preset = "imagenet", resize = args.resize, crop = args.crop, threads = 1, batch = args.batch,
           context = context }
end

local function add_rows(rows, mini_batch, batch, numbers)
  local classes, scores = session:run(batch):argmax()
  for k, i in ipairs(numbers) do
    rows[#rows + 1] = ("%s: %d %.3f"):format(mini_batch[i]:match "[^/]+$", classes[k] - 1, scores[k])
  end
  return rows
end

local hooks = {}

function hooks.init() session = onnx.InferenceSession(args.model, { intra_op_num_threads = 1 }) end

if args.batch then
  function hooks.run(mini_batch, context)
    local rows = {}
    for batch, numbers in image.batches(mini_batch, options_for(context)) do
      add_rows(rows, mini_batch, batch, numbers)
    end
    return rows
  end
else
  function hooks.prefetch(mini_batch, context) return image.start(mini_batch, options_for(context)) end

  function hooks.run(mini_batch, context)
    return add_rows({}, mini_batch, context.prefetched:wait())
  end
end

return hooks
