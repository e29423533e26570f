-- Rows to labels, by a model that takes ten columns.
local argparse = require "tidemill.argparse"
local onnx = require "tidemill.onnx"

local parser = argparse.ArgumentParser { description = "labels rows" }
parser:add_argument("--model", { required = true })
local args = parser:parse_args { ... }

local session

local function init() session = onnx.InferenceSession(args.model) end

local function run(df)
  local features = df:select("f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9")
  return df:select("id"):with_column("label", (session:run(features, { "label" })))
end

return { init = init, run = run }
