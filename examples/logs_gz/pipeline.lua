local tidemill = require "tidemill"

local requests = tidemill.Dataset.Tabular.from_json_lines_files("*.jsonl.gz")
local slow = tidemill.ParallelRunStep {
  name = "slow",
  parallel_run_config = tidemill.ParallelRunConfig { entry_script = "slow.lua", append_row_file_name = "slow.txt" },
  inputs = requests:filter("ms", ">=", 850),
}
return tidemill.Pipeline { name = "logs-gz", steps = { slow } }
