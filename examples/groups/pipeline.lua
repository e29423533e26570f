local tidemill = require "tidemill"

local sales = tidemill.Dataset.Tabular.from_delimited_files("sales.csv")
local total = tidemill.ParallelRunStep {
  name = "total",
  parallel_run_config = tidemill.ParallelRunConfig { entry_script = "total.lua", partition_keys = { "city" } },
  inputs = sales,
}
return tidemill.Pipeline { name = "groups", steps = { total } }
