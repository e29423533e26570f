-- The SHA-256 sums of files, by a program that is there already.
local tidemill = require "tidemill"

local sum = tidemill.ParallelRunStep {
  name = "sum",
  parallel_run_config = tidemill.ParallelRunConfig {
    entry_script = "sum.lua",
    mini_batch_size = 2,
    append_row_file_name = "SHA256SUMS",
  },
  inputs = { tidemill.Dataset.File.from_files("files/*.txt"):as_named_input("files") },
}

return tidemill.Pipeline { name = "checksums", steps = { sum } }
