--- A real Slurm cluster for the cases of a spec: support/slurm.sh. A spec file has one for all its
--- cases:
---
---   local cluster, on_slurm = slurm.cases { nodes = 3 }    -- in describe()
---   on_slurm("run jobs", function() ... end)               -- in place of it()
---
--- or starts clusters itself, in setup() or in a case:
---
---   local cluster = slurm.start { nodes = 3 }    -- nil if Slurm is not installed
---   if cluster then cluster:stop() end
---
--- and begins each case with: if not cluster then return pending(slurm.MISSING) end
local busted = require "busted"
local job = require "support.job"
local json = require "tidemill.json"
local lfs = require "lfs"
local programs = require "support.programs"

local slurm = { MISSING = "needs Slurm: apt-get install slurmctld slurmd slurm-client munge" }
local Cluster = {}
Cluster.__index = Cluster

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local SCRIPT = (here:sub(1, 1) == "/" and here or lfs.currentdir() .. "/" .. here) .. "/slurm.sh"
local LIMIT = 300 -- seconds for a call of the script; a start takes 0.3 s on an idle machine
local SKIPPED = 77

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

--- Words before a command that make another user run it, as root can.
function slurm.as_user(uid) return { "setpriv", "--reuid=" .. uid, "--regid=" .. uid, "--clear-groups" } end

--- Calls the script. Returns its exit status and its output. `script`: a copy of it; `user`: who
--- calls it.
local function call(words, variables, script, user)
  local argv = user and slurm.as_user(user) or {}
  argv[#argv + 1] = "env"
  for name, value in pairs(variables or {}) do argv[#argv + 1] = name .. "=" .. value end
  for _, word in ipairs { "bash", script or SCRIPT } do argv[#argv + 1] = word end
  for _, word in ipairs(words) do argv[#argv + 1] = word end
  local out, err = os.tmpname(), os.tmpname()
  local status = programs.start(argv, { stdout = out, stderr = err }):wait(LIMIT)
  local text = { out = read_file(out), err = read_file(err) }
  os.remove(out)
  os.remove(err)
  return status, text
end

local function process_id() return (assert(lfs.symlinkattributes("/proc/self", "target"))) end

--- Another user may not be able to read the checkout.
local function copy_script()
  local copy = os.tmpname()
  local install = programs.start({ "install", "-m", "755", SCRIPT, copy },
                                 { stdout = "/dev/null", stderr = "/dev/null" })
  assert(install:wait() == 0)
  return copy
end

--- Starts a cluster: { nodes = 3, cpus = 2, variables = { GPUS = 2, … }, user = UID }. Returns nil
--- if this machine cannot run one; that is an error if TM_HAS_SLURM says that Slurm is installed.
--- It stops at the latest when this process ends.
function slurm.start(o)
  local dir, script = os.tmpname(), o.user and copy_script()
  os.remove(dir)
  local base = not o.user and os.getenv "TMPDIR" or "/tmp"
  dir = base .. "/tidemill-slurm-" .. dir:match "[^_/]+$"
  local variables = { WATCH_PID = process_id() }
  for name, value in pairs(o.variables or {}) do variables[name] = value end
  local words = { "start", dir, tostring(o.nodes or 3), tostring(o.cpus or 2) }
  local status, text = call(words, variables, script, o.user)
  if status == SKIPPED then
    assert(variables.NET or not os.getenv "TM_HAS_SLURM", text.err)
    return nil
  end
  assert(status == 0, text.err)
  local self = { dir = dir, variable = "SLURM_CONF=" .. dir .. "/etc/slurm.conf", script = script, user = o.user }
  return setmetatable(self, Cluster)
end

--- A command of the script, such as cluster:call("kill-node", 2). Returns its output.
function Cluster:call(command, ...)
  local words = { command, self.dir }
  for _, word in ipairs { ... } do words[#words + 1] = tostring(word) end
  local status, text = call(words, nil, self.script, self.user)
  assert(status == 0, command .. ": " .. text.err)
  return text.out
end

--- Runs a command of Slurm, and returns its output.
function Cluster:run(...) return self:call("exec", ...) end

--- The jobs in the queue: an array of { id, name, state, host } of text.
function Cluster:queue()
  local jobs = {}
  for id, name, state, host in self:run("squeue", "-h", "-o", "%i %j %T %N"):gmatch "(%S+) (%S+) (%S+) (%S*)\n" do
    jobs[#jobs + 1] = { id = id, name = name, state = state, host = host }
  end
  return jobs
end

function Cluster:nodes_are_idle()
  for state in self:run("sinfo", "-h", "-N", "-o", "%T"):gmatch "[^\n]+" do
    if state ~= "idle" then return false end
  end
  return true
end

--- The process that keeps the controller's network; nil if it has none of its own.
local function holder_of(cluster)
  local file = io.open(cluster.dir .. "/run/ctl.holder")
  if not file then return nil end
  local pid = file:read "*n"
  file:close()
  return pid
end

--- Words before a command that make it run in the controller's network, in the same process.
function Cluster:before()
  local pid = holder_of(self)
  return pid and { "nsenter", "-t", tostring(pid), "-n" } or {}
end

--- Waits until the queue is empty and every node is idle. A job may stay in the queue for some
--- seconds after its last process: the node still has to report.
function Cluster:wait_for_idle(limit)
  local ok = pcall(programs.wait_until, "an empty queue and idle nodes", function()
    return #self:queue() == 0 and self:nodes_are_idle()
  end, limit or 30)
  if not ok then error("the cluster is not idle:\n" .. self:run "squeue" .. self:run("sinfo", "-N", "-l"), 0) end
end

--- Whether Slurm may give the node to a job, now or after the present one.
function Cluster:is_usable(number)
  local state = self:run("sinfo", "-h", "-n", "node" .. number, "-o", "%T"):match "[^\n]*"
  return state == "idle" or state == "allocated" or state == "mixed"
end

--- Starts a killed node again. Slurm first ends what it believes to run there, without waiting for
--- its own limits. Others may be in use.
function Cluster:revive(number)
  self:run("scontrol", "update", "nodename=node" .. number, "state=down", "reason=test")
  self:call("start-node", number)
  programs.wait_until("a node that can be used", function() return self:is_usable(number) end, 30)
end

--- The same, and waits until all nodes are idle.
function Cluster:restore(number)
  self:revive(number)
  self:wait_for_idle()
end

--- Also checks that no process of it is left.
function Cluster:stop()
  local pid = holder_of(self)
  self:call "stop"
  programs.wait_until("the end of the cluster's network", function() return not pid or not programs.kill(pid, 0) end)
  if self.script then os.remove(self.script) end
end

--- How many Slurm jobs may still run, by the records of the job.
function slurm.count_that_may_run(t)
  local count = 0
  for name in lfs.dir(t:path "job/nodes") do
    local record = name:find "^%d+%.json$" and json.decode(t:read("job/nodes/" .. name))
    if record and record.may_run then count = count + 1 end
  end
  return count
end

--- Starts a cluster before the cases of the present describe(), and stops it after them. After each
--- case its jobs must have ended, and the cluster must get idle.
---@param o table as of start()
---@param release function|nil gives back what a case holds; called after the check of its jobs
---@return table cluster for use in cases
---@return function on_slurm as it(); its case is pending if this machine cannot run a cluster
function slurm.cases(o, release)
  local cluster, started = {}, nil
  busted.setup(function()
    started = slurm.start(o)
    setmetatable(cluster, { __index = started })
  end)
  busted.teardown(function() if started then started:stop() end end)
  busted.after_each(function()
    job.check_end()
    if not started then return end
    if release then release() end
    started:wait_for_idle()
  end)
  local function on_slurm(name, run)
    busted.it(name, function()
      -- busted makes pending() a global of specs alone
      if not started then return getfenv(run).pending(slurm.MISSING) end
      run()
    end)
  end
  return cluster, on_slurm
end

return slurm
