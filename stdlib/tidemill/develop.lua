--- Tools for developing entry scripts, at a prompt or in a Lua file: run a script in this process,
--- iterate over mini-batches, rerun the failed ones of a job.
local c = require "tidemill.develop_c"
local fs = require "tidemill.fs"
local path = require "tidemill.path"
local plan = require "tidemill.plan"

--- Runs entry scripts at a prompt: load_script(), mini_batches(), rerun().
---@class tidemill.develop
local M = {}

-- What is known about a mini-batch from mini_batches() or a job. The keys are the lists and frames
-- given to run().
local known = setmetatable({}, { __mode = "k" })

local function say(words)
  if words then
    io.stdout:flush()
    io.stderr:write("tidemill: ", words:gsub("\n", "\ntidemill: "), "\n")
  end
end

---@class tidemill.FileDataset
local FileDataset = {}
M.datasets = FileDataset

--- Iterates over the mini-batches that a job would make, to look at them or for script:run(): `for
--- mini_batch, index in dataset:mini_batches(5) do`. Each is what run() gets: a list of paths, or a
--- data frame with its own memory.
---@param size? integer|string|tidemill.MiniBatchesOptions mini_batch_size, or a table with it or
--- partition_keys
---@return fun(): (string[]|tidemill.DataFrame)?, integer?
function FileDataset:mini_batches(size)
  local options = type(size) == "table" and size or { mini_batch_size = size }
  local walk = c.walk(self, options)
  return function()
    local mini_batch, info, index, warnings = c.next(walk)
    say(warnings)
    if mini_batch ~= nil then
      known[mini_batch] = info
    end
    return mini_batch, index
  end
end

-- ---- scripts ----

--- An entry script in this process, from load_script(). `print` prints here; the logger writes to
--- `s.log`.
---@class tidemill.Script
---@field path string
---@field globals table the script's own globals
---@field output_dir string a new folder, as in a worker; removed with the script if it is empty
---@field log_dir string removed with the script, as temp_dir
---@field temp_dir string
---@field log string the file that its logger writes
local Script = {}

local states = setmetatable({}, { __mode = "k" })

local script_meta = { __metatable = "Script", methods = Script }

function script_meta.__index(script, key)
  local method = Script[key]
  if method then
    return method
  end
  local state = states[script]
  if key == "globals" then
    return c.environment(state.handle)
  elseif key == "path" then
    return state.path
  end
  return c.places(state.handle)[key]
end

function script_meta.__tostring(script)
  local state = states[script]
  return ("script %s, %s"):format(state.path, state.is_ready and "init() has been called"
    or "loaded, init() has not been called")
end

-- The size and time of the file, which show whether it has changed.
local function stamp_of(file)
  local stat = fs.stat(file)
  return stat and ("%d %.9f"):format(stat.size, stat.mtime) or "gone"
end

-- Modules in the script's folder: they may have changed too, and another script may have modules of
-- the same names.
local function forget_modules(dir)
  local beside = dir .. "/?.lua;" .. dir .. "/?/init.lua"
  for name in pairs(package.loaded) do
    if package.searchpath(name, beside) then
      package.loaded[name] = nil
    end
  end
end

local function load_it(state)
  forget_modules(state.dir)
  package.loaded["tidemill.entry_script"] = nil
  package.loaded["tidemill.entry_script_c"] = nil
  state.is_ready = false
  state.stamp = stamp_of(state.file)
  c.load(state.handle)
end

local function state_of(script, method)
  local state = states[script]
  if not state then
    plan.raise(("script:%s(): call it with a colon, on what load_script() returned"):format(method))
  end
  return state
end

--- Calls init(), if the script has one. If you do not, the first run() does.
function Script:init()
  local state = state_of(self, "init")
  c.init(state.handle)
  state.is_ready = true
end

--- Loads the file again, with the modules in its folder that it required. The next run() calls
--- init(). Returns true if the file has changed.
---@return boolean
function Script:reload()
  local state = state_of(self, "reload")
  local was = state.stamp
  load_it(state)
  return state.stamp ~= was
end

local function length_of(mini_batch)
  local ok, n = pcall(function() return #mini_batch end)
  return ok and n or 0
end

-- Describes, for a message, which of the given items count as failed.
local function say_counts(items, returned, marks)
  for i, message in pairs(marks) do
    say(("item %d is marked as failed: %s"):format(i, message))
  end
  if returned < items then
    say(("%d items, %d elements returned: the missing ones count as failed items"):format(items, returned))
  elseif returned > items then
    say(("%d items, %d elements returned: more than one for an item"):format(items, returned))
  end
end

--- Calls run() with a mini-batch: one of dataset:mini_batches(), or your own list of paths or data
--- frame. Checks the result as a job does. An error has the script's stack.
---@param mini_batch string[]|tidemill.DataFrame
---@return any returned the result of run()
function Script:run(mini_batch)
  local state = state_of(self, "run")
  if type(mini_batch) ~= "table" and type(mini_batch) ~= "userdata" then
    plan.raise(("script:run(mini_batch): it is a %s; accepted: a list of paths, or a data frame")
      :format(type(mini_batch)))
  end
  if not state.is_job and stamp_of(state.file) ~= state.stamp then
    say(("'%s' has changed since it was loaded; script:reload() loads it again"):format(state.path))
  end
  if not state.is_ready then
    Script.init(self)
  end
  local items = length_of(mini_batch)
  local returned, count, marks = c.run(state.handle, mini_batch, items, known[mini_batch])
  say_counts(items, count, marks)
  return returned
end

--- Returns the rows of the last run(), as in the output file.
---@return string
function Script:rows()
  return c.rows(state_of(self, "rows").handle)
end

--- Calls shutdown(), if the script has one.
function Script:shutdown()
  local state = state_of(self, "shutdown")
  c.shutdown(state.handle)
  state.is_ready = false
end

local function new_script(state)
  local script = setmetatable({}, script_meta)
  states[script] = state
  return script
end

local levels = { DEBUG = 0, INFO = 1, WARNING = 2 }

--- Loads an entry script into this process, to develop it: `s = tidemill.load_script "score.lua"`,
--- then `s:run(mini_batch)`. It has a logger and folders as in a worker, in new places.
---@param file string its path
---@param options? tidemill.LoadScriptOptions
---@return tidemill.Script
function M.load_script(file, options)
  options = options == nil and {} or options
  plan.check("load_script", options)
  if type(file) ~= "string" then
    plan.raise(("load_script: the script is a %s; accepted: the path of a Lua file"):format(type(file)))
  end
  local whole, arguments = path.absolute(file), {}
  for i, word in ipairs(options.arguments or {}) do
    arguments[i] = tostring(word)
  end
  local state = { path = file, file = whole, dir = path.dirname(whole) }
  state.handle = c.open {
    script = whole, script_name = file, script_dir = state.dir, arguments = arguments,
    level = levels[(options.logging_level or "INFO"):upper()],
  }
  load_it(state)
  return new_script(state)
end

-- ---- mini-batches of jobs ----

--- Loads the script of a step of a job, as its workers had it (the job's copy, with its arguments
--- and settings), and one of its mini-batches, for script:run(). Sets the variables of the job's
--- environment in this process.
---@param dir string of the job
---@param step? string needed if the job has several
---@param index integer number of the mini-batch
---@param is_over? boolean the job has ended, but is still open in this process
---@return tidemill.Script script
---@return string[]|tidemill.DataFrame mini_batch
function M.of_job(dir, step, index, is_over)
  local handle, mini_batch, info, notes = c.again(dir, step, index, is_over)
  say(notes)
  known[mini_batch] = info
  local state = { handle = handle, path = ("mini-batch %d of %s"):format(index, dir), is_job = true,
                  file = "", dir = c.places(handle).script_dir }
  load_it(state)
  return new_script(state), mini_batch
end

return M
