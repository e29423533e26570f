-- What a worker takes of memory with a model, after each call: its process, and kB of its own.
local argparse = require "tidemill.argparse"
local onnx = require "tidemill.onnx"
local tensor = require "tidemill.tensor"

local parser = argparse.ArgumentParser { description = "measures memory" }
parser:add_argument("--model", { required = true })
parser:add_argument("--share_weights", { choices = { "auto", "true", "false" } })
local args = parser:parse_args { ... }

local shares = { ["true"] = true, ["false"] = false, auto = "auto" }
local session, row

local function init()
  session = onnx.InferenceSession(args.model, { share_weights = shares[args.share_weights] })
  row = tensor.new("float32", { 1, session.inputs[1].shape[2] })
end

-- Without mapped files, which processes share.
local function own_memory()
  local file = assert(io.open "/proc/self/status")
  local text = file:read "*a"
  file:close()
  return text:match "Pid:%s*(%d+)", text:match "RssAnon:%s*(%d+)" + text:match "RssShmem:%s*(%d+)"
end

local function run(mini_batch)
  local rows = {}
  for i in ipairs(mini_batch) do
    session:run(row)
    rows[i] = ("%s %d"):format(own_memory())
  end
  return rows
end

return { init = init, run = run }
