local tidemill = require "tidemill"
local Dataset = tidemill.Dataset

local ws = tidemill.Workspace.from_config()
local readings = tidemill.PipelineParameter { name = "readings", default_value = Dataset.get_by_name(ws, "readings") }
local highest = tidemill.ParallelRunStep {
  name = "highest",
  parallel_run_config = tidemill.ParallelRunConfig { entry_script = "highest.lua", mini_batch_size = 1 },
  inputs = readings,
  output = tidemill.OutputFileDatasetConfig { name = "levels" }:register_on_complete "levels",
}
return tidemill.Pipeline { name = "levels", steps = { highest } }
