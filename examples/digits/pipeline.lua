-- Reads 200 small images and writes which digit each shows.
local tidemill = require "tidemill"
local Dataset = tidemill.Dataset
local ParallelRunConfig, ParallelRunStep = tidemill.ParallelRunConfig, tidemill.ParallelRunStep

local images = Dataset.File.from_files("images/*.pgm")

local config = ParallelRunConfig {
  entry_script = "score.lua",
  source_directory = "model", -- the script, and all that it needs
  mini_batch_size = 5,        -- files for one run()
  error_threshold = 10,       -- images that may fail
  output_action = "append_row",
  append_row_file_name = "predictions.txt",
  process_count_per_node = tidemill.PipelineParameter { name = "workers", default_value = 2 },
}

local score = ParallelRunStep {
  name = "predict-digits",
  parallel_run_config = config,
  inputs = { images:as_named_input("images") },
  output = tidemill.OutputFileDatasetConfig { name = "scores" },
  arguments = { "--threshold", "0.5" },
  allow_reuse = true,
}

return tidemill.Pipeline { name = "digits", steps = { score } }
