-- Pipelines of several steps for cases of support/job.lua: builds a pipeline file from a short
-- description of each step.
local steps = {}

local HEAD = [[
local tm = require "tidemill"
local output = setmetatable({}, { __index = function(t, name)
  t[name] = tm.OutputFileDatasetConfig { name = name }
  return t[name]
end })
local function step(name, script, inputs, o)
  o = o or {}
  local config = { entry_script = script, mini_batch_size = 1, process_count_per_node = 1 }
  for k, v in pairs(o.config or {}) do config[k] = v end
  if config.partition_keys then config.mini_batch_size = nil end
  local new = tm.ParallelRunStep {
    name = name, parallel_run_config = tm.ParallelRunConfig(config), inputs = inputs,
    output = o.output, arguments = o.arguments, allow_reuse = o.allow_reuse,
  }
  return new
end
local files = tm.Dataset.File.from_files
]]

--- Writes pipeline.lua: `text` goes between the braces of `steps`: step(name, script, inputs,
--- options), with `output.NAME` for an OutputFileDatasetConfig, and files(path); `before` goes
--- above it.
function steps.pipeline(t, text, before)
  t:write("pipeline.lua",
    HEAD .. (before or "") .. "\nreturn tm.Pipeline { name = \"case\", steps = {\n" .. text .. "\n} }\n")
end

--- The results of the steps by name.
function steps.by_name(result)
  local found = {}
  for _, s in ipairs(result.steps) do found[s.name] = s end
  return found
end

--- name -> status
function steps.statuses(result)
  local found = {}
  for _, s in ipairs(result.steps) do found[s.name] = s.status end
  return found
end

return steps
