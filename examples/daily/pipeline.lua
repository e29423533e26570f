-- One step for each day that is there, and one over all of them. Next morning only the new day is
-- run, and the report.
local fs = require "tidemill.fs"
local tidemill = require "tidemill"
local here = debug.getinfo(1, "S").source:match "^@(.*)/"

local function config(script)
  return tidemill.ParallelRunConfig {
    entry_script = script, source_directory = "scripts", mini_batch_size = 1, process_count_per_node = 1,
    append_row_file_name = "totals.csv",
  }
end

local steps, totals = {}, {}
for _, day in ipairs(fs.list(here .. "/orders")) do
  local total = tidemill.OutputFileDatasetConfig { name = "day-" .. day }
  steps[#steps + 1] = tidemill.ParallelRunStep {
    name = "day-" .. day, parallel_run_config = config "day.lua",
    inputs = { tidemill.Dataset.File.from_files("orders/" .. day .. "/*.csv") }, output = total,
  }
  totals[#totals + 1] = total
end
steps[#steps + 1] = tidemill.ParallelRunStep {
  name = "report", parallel_run_config = config "report.lua", inputs = totals,
  arguments = { tidemill.PipelineParameter { name = "vat", default_value = 19 } },
}
return tidemill.Pipeline { name = "daily", steps = steps }
