-- entry_script.lua - what a worker offers to its entry script: a log, and folders to write to.
--
--   local EntryScript = require "tidemill.entry_script"
--   local entry = EntryScript()                   -- the same object every time
--   entry.logger:info("threshold %g", threshold)
--
-- Outside a worker (`tidemill lua`, a host) EntryScript() raises: there is no log and no output
-- folder.

--- The log of the worker. Each function takes a message, which is written as it is, or a format and
--- its arguments. Messages below the step's `logging_level` are not written.
---@class tidemill.Logger
---@field debug fun(self: tidemill.Logger, message: any, ...: any) details for debugging
---@field info fun(self: tidemill.Logger, message: any, ...: any) normal events
---@field warning fun(self: tidemill.Logger, message: any, ...: any) unexpected events
---@field error fun(self: tidemill.Logger, message: any, ...: any) failures

---@class tidemill.EntryScript
---@field logger tidemill.Logger writes to
--- logs/user/entry_script_log/<node_id>/<process_name>.log.txt
---@field log_dir string logs/user/entry_script_log/<node_id>/, also for the script's own log files
---@field output_dir string the step's output folder
---@field agent_name string the worker's name: process000, process001, ...
---@field temp_dir string the worker's own folder; removed with it
---@field node_id string the number of the node: "0", "1", ...
---@field script_dir string the folder of the script's copy
---@field working_dir string the current directory when the script was loaded
---@field cores integer how many cores the worker may use: those of its node (affinity and quota),
--- divided by the number of workers that the step may have there at once; at least 1
---@field arguments string[] the script's own arguments
---@field runner_arguments string[] the arguments that the runner took

local names = require "tidemill.names"

local function format(...)
  local text = string.format(...) -- not a tail call, so that its errors name it
  return text
end

-- Formats a message that has arguments. If the format does not fit them, they are appended: a
-- mistake in a log line must not fail a mini-batch.
local function text_of(message, ...)
  if select("#", ...) == 0 then
    return tostring(message)
  end
  local ok, text = pcall(format, message, ...)
  if ok then
    return text
  end
  local parts = { tostring(message) }
  for i = 1, select("#", ...) do
    parts[i + 1] = tostring((select(i, ...)))
  end
  return table.concat(parts, " ") .. " (" .. text:gsub("^tidemill/[^ ]* ", "") .. ")"
end

local function new_logger(lowest, write)
  local logger = names.guarded("logger", {})
  for level, name in ipairs { "debug", "info", "warning", "error" } do
    local number = level - 1 -- as in C
    logger[name] = number < lowest and function() end
      or function(self, ...)
        if self == logger then
          write(number, text_of(...))
        else -- logger.info(message): the message is not lost
          write(number, text_of(self, ...))
        end
      end
  end
  return logger
end

local function new_entry()
  local ok, c = pcall(require, "tidemill.entry_script_c")
  if not ok then
    error("EntryScript() works only in an entry script that a worker runs (tidemill run, map or try)", 3)
  end
  local entry = c.properties
  entry.logger = new_logger(c.level, c.write)
  return names.guarded("EntryScript", entry)
end

local entry

--- What a worker offers to its entry script. The module is a function: `EntryScript()` returns the
--- same object every time, and raises outside a worker.
---@class tidemill.entry_script
---@overload fun(): tidemill.EntryScript
return function()
  if not entry then
    entry = new_entry()
  end
  return entry
end
