-- Says which digit each of 200 images shows, with a network as an ONNX file.
local tidemill = require "tidemill"
local Dataset = tidemill.Dataset

local images = Dataset.File.from_files { "images/*.png", "images/*.jpg" }
local model = Dataset.File.from_files("model/digits.onnx"):as_named_input("model")
local labels = Dataset.File.from_files("labels"):as_named_input("labels")

local config = tidemill.ParallelRunConfig {
  entry_script = "score.lua",
  source_directory = "scripts", -- a copy for the workers; a model may be too large for that
  mini_batch_size = 5,          -- files for one run()
  error_threshold = 10,         -- images that may fail
  output_action = "append_row",
  append_row_file_name = "predictions.txt",
  process_count_per_node = tidemill.PipelineParameter { name = "workers", default_value = 2 },
}

local score = tidemill.ParallelRunStep {
  name = "predict-digits",
  parallel_run_config = config,
  inputs = { images:as_named_input("images") },
  side_inputs = { model, labels }, -- every worker reads all of them
  arguments = { "--model", model, "--labels_dir", labels },
}

return tidemill.Pipeline { name = "digits-onnx", steps = { score } }
