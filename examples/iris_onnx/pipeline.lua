local tidemill = require "tidemill"

local flowers = tidemill.Dataset.Tabular.from_delimited_files("../iris/flowers.csv")
local config = tidemill.ParallelRunConfig {
  source_directory = "scripts",
  entry_script = "score.lua",
  mini_batch_size = "500rows",
  append_row_file_name = "kinds.csv",
}
local score = tidemill.ParallelRunStep {
  name = "score-flowers", parallel_run_config = config, inputs = flowers:as_named_input("flowers"),
}
return tidemill.Pipeline { name = "iris-onnx", steps = { score } }
