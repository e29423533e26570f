-- Names the kind of each flower with a decision tree that is an ONNX model.
local EntryScript = require "tidemill.entry_script"
local onnx = require "tidemill.onnx"

local session

function init() session = onnx.InferenceSession(EntryScript().script_dir .. "/iris.onnx") end

-- The model's inputs have the names of columns. What the flower is known to be is not among them;
-- it is kept, for comparison.
function run(df)
  local kinds, probabilities = session:run(df)
  local _, highest = probabilities:argmax()
  return df:select("kind"):rename({ kind = "known" }):with_column("kind", kinds):with_column("probability", highest)
end
