-- The same tensor through a model for each item, with tidemill's threads or a given number.
local argparse = require "tidemill.argparse"
local ffi = require "ffi"
local onnx = require "tidemill.onnx"
local tensor = require "tidemill.tensor"

local parser = argparse.ArgumentParser { description = "keeps threads busy" }
parser:add_argument("--model", { required = true })
parser:add_argument("--batch", { type = "integer", default = 8 })
parser:add_argument("--size", { type = "integer", default = 224 })
parser:add_argument("--threads", { type = "integer" })
parser:add_argument("--spinning", { action = "store_true" })
local args = parser:parse_args { ... }

local session, batch

local function init()
  local options = args.threads and { intra_op_num_threads = args.threads, allow_spinning = args.spinning } or nil
  session = onnx.InferenceSession(args.model, options)
  batch = tensor.new("float32", { args.batch, 3, args.size, args.size })
  local data = ffi.cast("float *", batch:data())
  for i = 0, args.batch * 3 * args.size ^ 2 - 1 do data[i] = (i * 7919) % 400 / 100 - 2 end
end

local function run(mini_batch)
  local rows = {}
  for i in ipairs(mini_batch) do rows[i] = session:run(batch):argmax()[1] end
  return rows
end

return { init = init, run = run }
