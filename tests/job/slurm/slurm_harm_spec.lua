-- Nodes of Slurm come to harm at random moments of jobs of 20,000 mini-batches: each row is written
-- once, and nothing is left in the queue or on the machines. Each job comes to harm several times.
--
-- TM_SEED repeats a run; TM_HARMS says how many harms there are (5; with TM_LONG 500); TM_HARM is
-- the only kind; TM_MACHINES says how many machines there are (3; with TM_LONG 8), at least two.
local job = require "support.job"
local programs = require "support.programs"
local slurm = require "support.slurm"

local HARMS = tonumber(os.getenv "TM_HARMS") or (os.getenv "TM_LONG" and 500 or 5)
local HARMS_OF_JOB = 5
local MACHINES = tonumber(os.getenv "TM_MACHINES") or (os.getenv "TM_LONG" and 8 or 3)
local MINI_BATCHES = 20000
local LIMIT = 240 -- seconds for a job: far more than it takes
local OUTPUT = "job/score/output/parallel_run_step.txt"

-- Jobs of `urgent` take the machines of the others away: after a warning, or by Slurm's way to put
-- a job into the queue again, which srun does not have.
local PARTITIONS = {
  "PreemptType=preempt/partition_prio",
  "PreemptMode=REQUEUE",
  "PartitionName=warned Nodes=ALL PriorityTier=1 PreemptMode=CANCEL GraceTime=1",
  "PartitionName=requeued Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE",
  "PartitionName=urgent Nodes=ALL PriorityTier=9 PreemptMode=OFF",
}

-- A try takes a quarter of a millisecond.
local SCRIPT = [[
function run(m)
  local until_s = os.clock() + 0.0002
  repeat until os.clock() > until_s
  return names_of(m)
end]]

local function row(i) return ("%05d.txt"):format(i) end

local seed = tonumber(os.getenv "TM_SEED") or os.time()
local cluster, has_networks

local function start_cluster()
  local o = { nodes = MACHINES, variables = { NET = "netns", EXTRA = table.concat(PARTITIONS, "\n") } }
  cluster = slurm.start(o)
  has_networks = cluster ~= nil
  if not cluster then
    o.variables.NET = nil
    cluster = slurm.start(o)
  end
end

local function case()
  local t, names = job.case(), {}
  for i = 1, MINI_BATCHES do names[i] = "/nowhere/" .. row(i) .. "\n" end
  t:write("names.txt", table.concat(names))
  t:script(SCRIPT)
  t:pipeline(([[compute_target = "slurm", slurm_options = "--exclusive --partition=%s", node_count = %d,
    mini_batch_size = 1, process_count_per_node = 2, error_threshold = 0, node_timeout = 1]]):format(
    math.random(2) == 1 and "warned" or "requeued", MACHINES))
  local pipeline = t:read "pipeline.lua"
  t:write("pipeline.lua", (pipeline:gsub([[from_files%("in/%*"%)]], [[from_manifest("names.txt")]])))
  t.options = { env = { cluster.variable }, limit = LIMIT, before = cluster:before() }
  return t
end

--- Waits until the output has so many rows. False: the job has ended.
local function wait_for_rows(t, rows)
  programs.wait_until("a moment of the job", function()
    local file = io.open(t:path(OUTPUT .. ".partial")) or io.open(t:path(OUTPUT))
    local size = file and file:seek "end" or -1
    if file then file:close() end
    return size >= rows * #(row(1) .. "\n") or t.last:has_ended()
  end, LIMIT)
  return not t.last:has_ended()
end

local function master_log(t)
  return t:has "job/score/logs/sys/master_role.txt" and t:log "sys/master_role.txt" or ""
end

local function count_lost(t) return select(2, master_log(t):gsub("lost node %d+ ", "")) end

local function wait_for_loss(t, before)
  programs.wait_until("a lost node", function()
    return count_lost(t) > before or t.last:has_ended()
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

local function has_node_on(machine)
  for _, entry in ipairs(cluster:queue()) do
    if entry.host == "node" .. machine and entry.state == "RUNNING" then return true end
  end
  return false
end

local function set_state(machine, state)
  cluster:run("scontrol", "update", "nodename=node" .. machine, "state=" .. state, "reason=test")
end

--- Slurm refuses "resume" while something is on its way to another state, and where it is not due.
local function resume(machine)
  programs.wait_until("a node that can be used", function()
    return cluster:is_usable(machine) or pcall(set_state, machine, "resume") and cluster:is_usable(machine)
  end, 60)
end

local function renew(machine)
  cluster:call("kill-node", machine)
  cluster:revive(machine)
end

local function resume_job(t)
  t:finish(t.last, LIMIT)
  t:start_job({ "--resume" }, t.options)
end

--- Each harms the job, or one of the machines, and returns a function that mends it, or nil.
local harms = {
  ["a machine dies"] = function(_, machine)
    cluster:call("kill-node", machine)
    return function() cluster:revive(machine) end
  end,
  ["a machine dies, and is back before Slurm notices"] = function(_, machine)
    cluster:call("kill-node", machine)
    cluster:call("start-node", machine)
    return function() renew(machine) end
  end,
  ["a machine freezes for a moment"] = function(_, machine)
    cluster:call("freeze-node", machine)
    programs.pass_ms(math.random(0, 500))
    cluster:call("thaw-node", machine)
  end,
  ["a machine freezes, and thaws when it was given up"] = function(t, machine)
    local before, is_used = count_lost(t), has_node_on(machine)
    cluster:call("freeze-node", machine)
    if is_used then wait_for_loss(t, before) end
    cluster:call("thaw-node", machine)
    return function() renew(machine) end
  end,
  ["slurmd dies"] = function(_, machine)
    cluster:call("kill-daemon", "slurmd-node" .. machine)
    return function() renew(machine) end
  end,
  ["slurmstepd dies"] = function(_, machine)
    cluster:call("kill-steps", machine)
    return function() renew(machine) end
  end,
  -- One that is killed forgets the jobs of the last 5 s, and ends them when it is back.
  ["slurmctld ends, and is back later"] = function(t)
    t.had_no_controller = true
    cluster:call("end-daemon", "slurmctld")
    programs.pass_ms(math.random(0, 2000))
    cluster:call "start-controller"
  end,
  ["a Slurm job is canceled"] = function()
    local queue = cluster:queue()
    if #queue > 0 then cluster:run("scancel", queue[math.random(#queue)].id) end
  end,
  ["a machine is drained"] = function(_, machine)
    set_state(machine, "drain")
    return function() resume(machine) end
  end,
  ["a machine is down for Slurm"] = function(_, machine)
    set_state(machine, "down")
    return function() resume(machine) end
  end,
  ["an urgent job gets the machine"] = function(_, machine)
    cluster:run("salloc", "--no-shell", "--quiet", "--exclusive", "--partition=urgent", "--job-name=urgent",
                "--nodelist=node" .. machine)
    return function() cluster:run("scancel", "--name=urgent") end
  end,
  ["a relay dies"] = function(t) kill_one(t, "node", false) end,
  ["a keeper of a node dies"] = function(t) kill_one(t, "keeper", false) end,
  ["a worker dies"] = function(t) kill_one(t, "worker", false) end,
  ["the keeper of the job dies"] = function(t) kill_one(t, "keeper", true) end,
  ["the job dies, and is resumed"] = function(t)
    t.last:kill(programs.SIGKILL)
    resume_job(t)
  end,
  ["the job dies with its keeper, and is resumed"] = function(t)
    local keeper
    for _, p in ipairs(t:processes()) do
      if p.argv[2] == "keeper" and programs.parent(p.pid) == t.last.pid then keeper = p.pid end
    end
    t.last:kill(programs.SIGKILL)
    if keeper then programs.kill(keeper, programs.SIGKILL) end
    resume_job(t)
  end,
}
local networks = {
  ["a machine is cut off, and comes back when it was given up"] = function(t, machine)
    local before, is_used = count_lost(t), has_node_on(machine)
    cluster:call("cut-node", machine)
    if is_used then wait_for_loss(t, before) end
    cluster:call("heal-node", machine)
    return function() renew(machine) end
  end,
  ["a machine is cut off"] = function(_, machine)
    cluster:call("cut-node", machine)
    return function()
      cluster:call("heal-node", machine)
      renew(machine)
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

local function expect_all(t)
  local rows = t:sorted_lines(OUTPUT)
  assert.equal(MINI_BATCHES, #rows)
  for i = 1, MINI_BATCHES do assert.equal(row(i), rows[i]) end
  t:expect(t:run { "verify", t.job_dir }, 0)
end

--- If a node ends while there is no controller, slurmstepd does not end. The Slurm job ends all the
--- same.
local function end_forgotten()
  for _, entry in ipairs(cluster:queue()) do
    if entry.state ~= "COMPLETING" then error("left in the queue:\n" .. cluster:run "squeue", 0) end
  end
  for machine = 1, MACHINES do renew(machine) end
end

--- A job that ends while there is no controller warns. When it is resumed, it cancels its Slurm
--- jobs.
local function cancel_left(t, warnings)
  if warnings:find("it may still run: ", 1, true) then t:expect(t:run_job({ "--resume" }, t.options), 0) end
end

local function expect_nothing_left(t)
  if t.had_no_controller then end_forgotten() end
  cluster:wait_for_idle(60)
  t:wait_for_none(30)
  for _, dir in ipairs(t:temp_dirs()) do -- of nodes that were killed, with no other one after
    os.execute("rm -rf '" .. dir .. "'")
  end
  job.check_end()
end

local function random_moments()
  local moments = {}
  for i = 1, HARMS_OF_JOB do moments[i] = math.random(0, MINI_BATCHES - 1) end
  table.sort(moments)
  return moments
end

--- A job with harms of the kinds that next_kind() returns, until that returns nil. What a harm
--- leaves is mended before the next one. `done`: the kinds so far.
local function harm_job(next_kind, done)
  local t, mend = case(), nil
  t:start_job(nil, t.options)
  for _, rows in ipairs(random_moments()) do
    if not wait_for_rows(t, rows) then break end
    if mend then mend() end
    local kind = next_kind()
    if not kind then break end
    done[#done + 1] = kind
    mend = harms[kind](t, math.random(MACHINES))
  end
  local r = t:finish(t.last, LIMIT)
  t:expect(r, 0)
  expect_all(t)
  if mend then mend() end
  cancel_left(t, r.err)
  expect_nothing_left(t)
end

describe("nodes of Slurm that come to harm", function()
  math.randomseed(seed)
  setup(start_cluster)
  teardown(function() if cluster then cluster:stop() end end)
  after_each(job.check_end)

  it("write each row once, and leave nothing behind", function()
    if not cluster then return pending(slurm.MISSING) end
    local names, count = names_of_harms(), 0
    local function next_kind()
      count = count + 1
      if count > HARMS then return nil end
      return count < #names and names[(seed + count) % #names + 1] or names[math.random(#names)]
    end
    while count < HARMS do
      local done = {}
      local ok, answer = pcall(harm_job, next_kind, done)
      if not ok then
        error(("%s (TM_SEED=%d, until harm %d): %s"):format(table.concat(done, "; "), seed, count, tostring(answer)), 0)
      end
    end
  end)

  if os.getenv "TM_LONG" then -- eight times node_timeout, and more
    it("end by themselves when nobody can reach them", function()
      if not has_networks then return pending "needs root: networks of its own" end
      local t = case()
      t:start_job(nil, t.options)
      assert.is_true(wait_for_rows(t, 1000))
      programs.wait_until("a node", function() return has_node_on(1) end, LIMIT)
      cluster:call("cut-node", 1)
      t:expect(t:finish(t.last, LIMIT), 0)
      expect_all(t)
      t:wait_for_none(60)
      assert.same({}, t:temp_dirs())
      cluster:call("heal-node", 1)
      renew(1)
      expect_nothing_left(t)
    end)
  end
end)
