local tidemill = require "tidemill"
local config = tidemill.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 2 }
local count = tidemill.ParallelRunStep {
  name = "count-words",
  parallel_run_config = config,
  inputs = { tidemill.Dataset.File.from_files("texts/*.txt"):as_named_input("texts") },
}
return tidemill.Pipeline { name = "hello", steps = { count } }
