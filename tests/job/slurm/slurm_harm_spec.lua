-- Nodes of Slurm come to harm at random moments of a job: each row is written once, and nothing is
-- left in the queue or on the machines. TM_SEED repeats a run; TM_HARMS says how many; TM_HARM is
-- the only kind.
local job = require "support.job"
local programs = require "support.programs"
local slurm = require "support.slurm"

local HARMS = tonumber(os.getenv "TM_HARMS") or (os.getenv "TM_LONG" and 500 or 3)
local MACHINES = 3
local MINI_BATCHES = 20000
local LIMIT = 240 -- seconds for a job: far more than it takes
local OUTPUT = "job/score/output/parallel_run_step.txt"

-- A try takes a quarter of a millisecond.
local SCRIPT = [[
local ffi = require "ffi"
ffi.cdef "int usleep(unsigned);"
function run(m) ffi.C.usleep(200) return names_of(m) end]]

local function row(i) return ("%05d.txt"):format(i) end

local seed = tonumber(os.getenv "TM_SEED") or os.time()
local cluster, has_networks

local function start_cluster()
  local o = { nodes = MACHINES, variables = { NET = "netns" } }
  cluster = slurm.start(o)
  has_networks = cluster ~= nil
  if not cluster then
    o.variables = nil
    cluster = slurm.start(o)
  end
end

local function case()
  local t, names = job.case(), {}
  for i = 1, MINI_BATCHES do names[i] = "/nowhere/" .. row(i) .. "\n" end
  t:write("names.txt", table.concat(names))
  t:script(SCRIPT)
  t:pipeline(([[compute_target = "slurm", slurm_options = "--exclusive", node_count = %d, mini_batch_size = 1,
    process_count_per_node = 2, error_threshold = 0, node_timeout = 1]]):format(MACHINES))
  local pipeline = t:read "pipeline.lua"
  t:write("pipeline.lua", (pipeline:gsub([[from_files%("in/%*"%)]], [[from_manifest("names.txt")]])))
  t.options = { env = { cluster.variable }, limit = LIMIT, before = cluster:before() }
  return t
end

--- Waits until the output has some number of rows, which may be all.
local function wait_for_moment(t)
  local bytes = math.random(0, MINI_BATCHES - 1) * #(row(1) .. "\n")
  programs.wait_until("a moment of the job", function()
    local file = io.open(t:path(OUTPUT .. ".partial")) or io.open(t:path(OUTPUT))
    local size = file and file:seek "end" or -1
    if file then file:close() end
    return size >= bytes or t.last:has_ended()
  end, LIMIT)
end

local function wait_for_loss(t, what)
  programs.wait_until("a lost node", function()
    local log = t:has "job/score/logs/sys/master_role.txt" and t:log "sys/master_role.txt" or ""
    return log:find(what) or t.last:has_ended()
  end, LIMIT)
end

--- Kills one of the job's processes of a kind on a node, or on this machine.
local function kill_one(t, kind, is_of_job)
  local found = {}
  for _, p in ipairs(t:processes()) do
    local is_child = programs.parent(p.pid) == t.last.pid
    if p.argv[2] == kind and not p.argv[1]:find "srun" and is_child == is_of_job then found[#found + 1] = p.pid end
  end
  if #found > 0 then programs.kill(found[math.random(#found)], programs.SIGKILL) end
end

local function restore(machine)
  cluster:call("kill-node", machine)
  cluster:restore(machine)
end

--- Each harms the job, or one of the machines, and returns a function that mends it, or nil.
local harms = {
  ["a machine dies"] = function(_, machine)
    cluster:call("kill-node", machine)
    return function() cluster:restore(machine) end
  end,
  ["a machine freezes, and thaws when it was given up"] = function(t, machine)
    cluster:call("freeze-node", machine)
    wait_for_loss(t, "lost node")
    cluster:call("thaw-node", machine)
    return function() restore(machine) end
  end,
  ["slurmd dies"] = function(_, machine)
    cluster:call("kill-daemon", "slurmd-node" .. machine)
    return function() restore(machine) end
  end,
  ["slurmstepd dies"] = function(_, machine)
    cluster:call("kill-steps", machine)
    return function() restore(machine) end
  end,
  ["a Slurm job is canceled"] = function()
    local queue = cluster:queue()
    if #queue > 0 then cluster:run("scancel", queue[math.random(#queue)].id) end
  end,
  ["a machine is drained"] = function(_, machine)
    cluster:run("scontrol", "update", "nodename=node" .. machine, "state=drain", "reason=test")
    return function() cluster:run("scontrol", "update", "nodename=node" .. machine, "state=resume") end
  end,
  ["a relay dies"] = function(t) kill_one(t, "node", false) end,
  ["a keeper of a node dies"] = function(t) kill_one(t, "keeper", false) end,
  ["a worker dies"] = function(t) kill_one(t, "worker", false) end,
  ["the keeper of the job dies"] = function(t) kill_one(t, "keeper", true) end,
  ["the job dies"] = function(t) t.last:kill(programs.SIGKILL) end,
}
local networks = {
  ["a machine is cut off, and comes back when it was given up"] = function(t, machine)
    cluster:call("cut-node", machine)
    wait_for_loss(t, "lost node")
    cluster:call("heal-node", machine)
    return function() restore(machine) end
  end,
  ["a machine is cut off"] = function(_, machine)
    cluster:call("cut-node", machine)
    return function()
      cluster:call("heal-node", machine)
      restore(machine)
    end
  end,
}

local function names_of_harms()
  local names = {}
  if has_networks then
    for name, harm in pairs(networks) do harms[name] = harm end
  end
  for name in pairs(harms) do
    if name:find(os.getenv "TM_HARM" or "", 1, true) then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

--- The job, resumed if the harm was its own death.
local function finish(t)
  local r = t:finish(t.last, LIMIT)
  if r.signal then r = t:run_job({ "--resume" }, t.options) end
  return t:expect(r, 0)
end

local function expect_all(t)
  local rows = t:sorted_lines(OUTPUT)
  assert.equal(MINI_BATCHES, #rows)
  for i = 1, MINI_BATCHES do assert.equal(row(i), rows[i]) end
  t:expect(t:run { "verify", t.job_dir }, 0)
end

--- False: the job had ended before.
local function harm_once(name)
  local t, machine = case(), math.random(MACHINES)
  t:start_job(nil, t.options)
  wait_for_moment(t)
  local is_in_time = not t.last:has_ended()
  local mend = harms[name](t, machine)
  finish(t)
  expect_all(t)
  if mend then mend() end
  cluster:wait_for_idle(60)
  t:wait_for_none(30)
  for _, dir in ipairs(t:temp_dirs()) do -- of nodes that were killed, with no other one after
    os.execute("rm -rf '" .. dir .. "'")
  end
  job.check_end()
  return is_in_time
end

describe("nodes of Slurm that come to harm", function()
  math.randomseed(seed)
  setup(start_cluster)
  teardown(function() if cluster then cluster:stop() end end)
  after_each(job.check_end)

  it("write each row once, and leave nothing behind", function()
    if not cluster then return pending(slurm.MISSING) end
    local names = names_of_harms()
    local count = 0
    while count < HARMS do
      local name = count < #names and names[(seed + count) % #names + 1] or names[math.random(#names)]
      local ok, answer = pcall(harm_once, name)
      if not ok then error(("%s (TM_SEED=%d, harm %d): %s"):format(name, seed, count + 1, tostring(answer)), 0) end
      count = count + (answer and 1 or 0)
    end
  end)
end)
