local tidemill = require "tidemill"

local pace = tidemill.PipelineParameter { name = "pace", default_value = 1 } -- of all waits
local lists = os.getenv "LISTS" or "."
local only = os.getenv "STEP" -- nil: all of them

local steps = {}
local function add(name, list, config)
  config.source_directory = "scripts"
  config.entry_script = name .. ".lua"
  config.error_threshold = -1
  config.process_count_per_node = 4
  if only == nil or only == name then
    steps[#steps + 1] = tidemill.ParallelRunStep {
      name = name,
      parallel_run_config = tidemill.ParallelRunConfig(config),
      inputs = tidemill.Dataset.File.from_manifest(lists .. "/" .. list),
      arguments = { pace },
    }
  end
end

add("download", "pages.txt", { mini_batch_size = 1, run_max_try = 5, run_invocation_timeout = 3 })
add("parse", "pages.txt", { mini_batch_size = 2, run_max_try = 1 })
add("count", "words.txt", { mini_batch_size = 1 })

return tidemill.Pipeline { name = only and "troubled-" .. only or "troubled", steps = steps }
