-- Readings of sensors in degrees Fahrenheit, as rows with the name of the place and degrees
-- Celsius.
local tidemill = require "tidemill"

local convert = tidemill.ParallelRunStep {
  name = "convert",
  parallel_run_config = tidemill.ParallelRunConfig {
    entry_script = "convert.lua",
    source_directory = "scripts", -- copied for the workers: the script, its module and its table
    mini_batch_size = 1,
    append_row_file_name = "celsius.txt",
  },
  inputs = { tidemill.Dataset.File.from_files("readings/*.txt"):as_named_input("readings") },
}

return tidemill.Pipeline { name = "side-files", steps = { convert } }
