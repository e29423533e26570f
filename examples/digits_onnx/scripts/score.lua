-- The entry script: says which digit each image shows.
local argparse = require "tidemill.argparse"
local EntryScript = require "tidemill.entry_script"
local image = require "tidemill.image"
local onnx = require "tidemill.onnx"

local parser = argparse.ArgumentParser { description = "says which digits images show" }
parser:add_argument("--model", { required = true, help = "the ONNX file" })
parser:add_argument("--labels_dir", { required = true, help = "the folder with labels.txt: a line for each class" })
local args = parser:parse_args { ... }

local session, labels

-- Once per worker: the expensive part.
function init()
  session = onnx.InferenceSession(args.model)
  labels = {}
  for line in io.lines(args.labels_dir .. "/labels.txt") do labels[#labels + 1] = line end
  EntryScript().logger:info("%s is loaded, for %d classes", args.model, #labels)
end

-- One row for each image. An image that cannot be read is marked as failed, with the reason.
function run(mini_batch, context)
  local images, numbers = image.batch(mini_batch, { width = 28, height = 28, channels = "gray", context = context })
  local rows = {}
  if #numbers > 0 then
    local best = session:run(images):argmax()
    for k, i in ipairs(numbers) do
      rows[k] = mini_batch[i]:match "[^/]+$" .. ": " .. labels[best[k]]
    end
  end
  return rows
end
