--- Jobs: what pipeline:submit() returns.
---
--- A job runs while something waits for it (job:wait()). At a prompt, and in a host with a loop of
--- its own, it runs by itself. At the end of a script, `tidemill script.lua` waits for the jobs
--- that still run. If the program ends first, for example by os.exit(), the job ends too, and can
--- be resumed.
local c = require "tidemill.job_c"
local json = require "tidemill.json"
local plan = require "tidemill.plan"

---@class tidemill.Job
---@field name string the name of its pipeline
---@field dir string its directory
local Job = {}
Job.__index = Job
setmetatable(Job, { __index = require("tidemill.names").guard("Job", Job, { "name", "dir" }) })
Job.__name = "Job"

local handles = setmetatable({}, { __mode = "k" })
local closed = setmetatable({}, { __mode = "k" })
local on_close = setmetatable({}, { __mode = "k" }) -- functions to call when a job is closed

function Job:__tostring()
  return ("job '%s': %s (%s)"):format(self.name, closed[self] and "closed" or self:status(), self.dir)
end

--- Returns "Running", "Completed", "Failed" or "Canceled".
---@return string
function Job:status()
  return c.status(handles[self])
end

--- Waits until the job has ended, or for so many seconds. Returns its status; or nil, a message and
--- "ETIMEDOUT" if it is still running.
---@param seconds? number
---@return string?, string?, string?
function Job:wait(seconds)
  if seconds ~= nil and not (type(seconds) == "number" and seconds >= 0 and seconds <= 1e6) then
    plan.raise(("job:wait: 'seconds' is %s; accepted: a number from 0 to 1e6, or nothing"):format(
      type(seconds) == "number" and seconds or "a " .. type(seconds)))
  end
  local ended, message, code = c.wait(handles[self], seconds)
  if not ended then return nil, message, code end
  return self:status()
end

--- Cancels the job: starts no more mini-batches, and lets running ones end; with `now` kills them.
---@param now? boolean
function Job:cancel(now)
  c.cancel(handles[self], now)
end

---@class tidemill.JobCounts
---@field created integer mini-batches
---@field all_created boolean `created` is final
---@field succeeded integer mini-batches
---@field failed integer mini-batches
---@field running integer mini-batches
---@field items integer of mini-batches that have ended
---@field items_succeeded integer
---@field items_failed integer
---@field uncounted integer failed mini-batches of tables whose rows could not be counted; each
--- counts as one item

--- Returns the counts of all steps together.
---@return tidemill.JobCounts
function Job:progress()
  return c.counts(handles[self])
end

--- Returns its steps: { name, status, output_dir, output_file, logs_dir, cause, counts }.
---@return table[]
function Job:steps()
  return c.steps(handles[self])
end

-- The step with that name, or the last one.
local function step_of(self, name)
  local steps = self:steps()
  if name == nil then return steps[#steps] end
  for _, step in ipairs(steps) do
    if step.name == name then return step end
  end
  local names = {}
  for i, step in ipairs(steps) do names[i] = step.name end
  plan.raise(("there is no step '%s'; there are: %s"):format(tostring(name), table.concat(names, ", ")))
end

--- Returns the path of the file with the rows of a step, or of its output folder if it writes no
--- rows. Without a name, of the last step. Also knows the outputs of a Completed job that was
--- resumed and ran no step: they are in its result.
---@param step? string
---@return string?
function Job:output(step)
  local found = step_of(self, step)
  return found and (found.output_file or found.output_dir)
end

--- Returns the folder with the logs of a step; without a name, of the last step.
---@param step? string
---@return string?
function Job:logs(step)
  local found = step_of(self, step)
  return found and found.logs_dir
end

---@class tidemill.Failure
---@field step string
---@field mini_batch integer
---@field item? string
---@field keys? string of rows that partition_keys group: "store=north, n=3"
---@field error string
---@field status string
---@field log string the file with the complete message
local Failure = {}

local jobs = setmetatable({}, { __mode = "k" }) -- of failures

--- Loads the script, as the job's workers had it, and the mini-batch into this process. Call
--- script:run(mini_batch), or look at them under a debugger. The job must have ended, and is not
--- changed.
---@return tidemill.Script script
---@return string[]|tidemill.DataFrame mini_batch
function Failure:load()
  local job = jobs[self]
  local is_over = not job:is_closed() and job:status() ~= "Running"
  local script, mini_batch = require("tidemill.develop").of_job(job.dir, self.step, self.mini_batch, is_over)
  return script, mini_batch
end

--- Runs the failed mini-batch in this process. Returns what run() returns, or raises its error with
--- the stack.
---@return any
function Failure:rerun()
  local script, mini_batch = self:load()
  local returned = script:run(mini_batch)
  return returned
end

local failure_meta = { __index = Failure, __name = "Failure" }

--- Returns the failed items of all steps, when the job has ended.
---@return tidemill.Failure[]
function Job:failures()
  local failures = {}
  for _, step in ipairs(self:steps()) do
    local file = io.open(self.dir .. "/" .. step.name .. "/failed_items.jsonl")
    if file then
      for line in file:lines() do
        local failure = json.decode(line)
        if failure.item == json.null then failure.item = nil end
        failure.step = step.name
        jobs[failure] = self
        failures[#failures + 1] = setmetatable(failure, failure_meta)
      end
      file:close()
    end
  end
  return failures
end

--- Returns the result, as in job_result.json; nil while the job is running.
---@return table?
function Job:result()
  local text = c.result(handles[self])
  return text and json.decode(text)
end

--- Returns why the job failed; nil if it did not.
---@return string?
function Job:cause()
  return c.info(handles[self]).cause
end

--- Frees the job. A running job ends at once, and can be resumed.
function Job:close()
  c.close(handles[self])
  closed[self] = true
  if on_close[self] then on_close[self]() end
end

--- Whether the job was closed.
---@return boolean
function Job:is_closed()
  return closed[self] == true
end

local M = {}

-- Implements tidemill.load(path).
function M.load(path)
  if type(path) ~= "string" then
    plan.raise(("load: the path is a %s; accepted: the path of a pipeline file"):format(type(path)))
  end
  return c.load(path)
end

-- The values of parameters: datasets and lists of paths as they are, others as text, as on the
-- command line.
local function values_of(parameters)
  local out = {}
  for name, value in pairs(parameters or {}) do out[name] = type(value) == "table" and value or tostring(value) end
  return out
end

-- The parameters without datasets and lists of paths, which the job checks. A key that is not a
-- name stays, and is refused.
local function plain_of(parameters)
  if type(parameters) ~= "table" or getmetatable(parameters) then return parameters end
  local out = {}
  for name, value in pairs(parameters) do
    if type(value) ~= "table" then
      out[name] = value
    elseif type(name) ~= "string" then
      out[name] = ""
    end
  end
  return out
end

---@class tidemill.SubmitOptions
---@field on_event? fun(event: table) called with each event: { kind = "state", "progress", "step",
--- "mini_batch", "worker", "log" or "node", ... }. An event about a worker names it: `worker`, and
--- `node_id` ("0" for this machine) and `node_address` of its node. A "node" event is about a node
--- that a command or Slurm has started: `state` = "requested", "waiting", "ready", "leaving",
--- "lost" or "ended", and `text`. It is called at the prompt, within job:wait(), and, if 10,000
--- events have come meanwhile, within job:status() and job:progress()

---@class tidemill.Pipeline
local Pipeline = {}
M.methods = Pipeline

--- Submits a job of the pipeline. The job has its directory when this returns. It runs while
--- something waits for it, or at a prompt by itself. Relative paths in the definition start in the
--- folder of the pipeline file.
---@param options? tidemill.SubmitOptions
---@return tidemill.Job
function Pipeline:submit(options)
  require("tidemill.names").check_self(self, "Pipeline")
  if options ~= nil and type(options) ~= "table" then
    plan.raise(("pipeline:submit: the argument is a %s; a job has no experiment; accepted: nothing, or a table "
      .. "{ job_dir, parameters, ... }"):format(type(options)))
  end
  local given, checked = {}, {}
  for key, value in pairs(options or {}) do
    given[key] = value
    if key ~= "on_event" then checked[key] = value end
  end
  checked.parameters = plain_of(checked.parameters)
  plan.check("pipeline:submit", checked)
  if given.on_event ~= nil and type(given.on_event) ~= "function" then
    plan.raise(("pipeline:submit: 'on_event' is a %s; accepted: a function"):format(type(given.on_event)))
  end
  given.parameters = values_of(given.parameters)
  local on_job = M.watch and M.watch(self, given)
  local handle = c.submit(self, given)
  local info = c.info(handle)
  local job = setmetatable({ name = info.name, dir = info.dir }, Job)
  handles[job] = handle
  if on_job then on_close[job] = on_job(job) end
  return job
end

return M
