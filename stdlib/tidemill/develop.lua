--- Working on entry scripts, at a prompt or in a file of one's own: a script in this process, mini-batches to walk,
--- the failing ones of a job.
local c = require "tidemill.develop_c"
local fs = require "tidemill.fs"
local path = require "tidemill.path"
local plan = require "tidemill.plan"

---@class tidemill.develop
local M = {}

-- What is known of a mini-batch that mini_batches() or a job gave, by the list or the frame that run() gets.
local known = setmetatable({}, { __mode = "k" })

local function say(words)
  if words then
    io.stdout:flush()
    io.stderr:write("tidemill: ", words:gsub("\n", "\ntidemill: "), "\n")
  end
end

---@class tidemill.MiniBatchesOptions
---@field mini_batch_size? integer|string files; of tables "1MB" or "500rows"
---@field partition_keys? string|string[] instead of a size: each combination of their values is one

---@class tidemill.FileDataset
local FileDataset = {}
M.datasets = FileDataset

--- Walks the mini-batches that a job would make of it, for a look at them, or for script:run(): `for mini_batch, index
--- in dataset:mini_batches(5) do`. Each is what run() is given: a list of paths, or a data frame with its own memory.
---@param size? integer|string|tidemill.MiniBatchesOptions as mini_batch_size; or a table, with that or partition_keys
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

--- An entry script in this process: what load_script() returns. `print` writes here, the logger to `s.log`.
---@class tidemill.Script
---@field path string
---@field globals table the script's own globals
---@field output_dir string a fresh folder, as of a worker; it goes with the script when nothing is in it
---@field log_dir string it and temp_dir go with the script
---@field temp_dir string
---@field log string the file of its logger
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

-- What says whether the file is another one: its size and time.
local function stamp_of(file)
  local stat = fs.stat(file)
  return stat and ("%d %.9f"):format(stat.size, stat.mtime) or "gone"
end

-- Modules beside the script: it may have changed with them, and another script may have others of these names.
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

--- Calls init(), where there is one. run() does so, too, when nobody has.
function Script:init()
  local state = state_of(self, "init")
  c.init(state.handle)
  state.is_ready = true
end

--- Loads the file again, and the modules that it required from beside it; init() is called by the next run(). True:
--- the file has changed since.
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

-- What counts as failed of what was given, for people.
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

--- Calls run() over a mini-batch: one of dataset:mini_batches(), or a list of paths or a data frame of one's own.
--- What it returns is judged as in a job, its error has its own stack.
---@param mini_batch string[]|tidemill.DataFrame
---@return any returned what run() returned
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

--- The rows of the last run(), as they would stand in the output file.
---@return string
function Script:rows()
  return c.rows(state_of(self, "rows").handle)
end

--- Calls shutdown(), where there is one.
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

---@class tidemill.LoadScriptOptions
---@field arguments? (string|number|boolean)[] what the script finds in `arg`
---@field logging_level? "WARNING"|"INFO"|"DEBUG"

--- An entry script in this process, for working on it: `s = tidemill.load_script "score.lua"`, then
--- `s:run(mini_batch)`. It has a logger and folders as in a worker, in fresh places.
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

-- ---- of a job ----

--- The script of a step of a job, as its workers had it (a copy of the job's copy, with its arguments and settings),
--- and a mini-batch of it, for script:run(). Variables of the job's environment are set in this process.
---@param dir string of the job
---@param step? string where it has several
---@param index integer number of the mini-batch
---@param is_over? boolean the job has ended, and is still open here
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
