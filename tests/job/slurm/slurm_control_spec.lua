-- Slurm takes machines away, its controller dies, and the job itself is killed or stopped, in a
-- real Slurm cluster on this machine (support/slurm.sh).
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local slurm = require "support.slurm"
local waiting = require "support.waiting"

local INPUTS = 8
local LIMIT = 120 -- seconds for a job: far more than it takes

-- A job of `urgent` gets the machine of one of `low`, which has half a minute to end.
local PARTITIONS = {
  "PreemptType=preempt/partition_prio",
  "PreemptMode=REQUEUE",
  "PartitionName=low Nodes=ALL PriorityTier=1 PreemptMode=CANCEL GraceTime=30",
  "PartitionName=urgent Nodes=ALL PriorityTier=9 PreemptMode=OFF",
}

describe("nodes of Slurm", function()
  local cluster, on_slurm = slurm.cases { nodes = 4, variables = { EXTRA = table.concat(PARTITIONS, "\n") } }

  --- Each mini-batch waits for "go-<number>"; a node has one worker. One that fails is not tried
  --- again.
  local function new_case(count, more)
    local t = job.case()
    t:inputs(INPUTS)
    t:script(waiting.SCRIPT .. [[
function run(m)
  mark("at-" .. number_of(m[1]))
  wait_for("go-" .. number_of(m[1]))
  return names_of(m)
end]])
    t:pipeline(([[compute_target = "slurm", slurm_options = "--exclusive --partition=low", node_count = %d,
      mini_batch_size = 1, process_count_per_node = 1, error_threshold = 0, run_max_try = 1, %s]]):format(count,
                                                                                                      more or ""))
    t.options = waiting.here(t)
    t.options.env[#t.options.env + 1] = cluster.variable
    t.options.limit = LIMIT
    return t
  end

  local function start(count, more)
    local t = new_case(count, more)
    t.program = t:start_job(nil, t.options)
    return t
  end

  local function let_go(t, ...)
    for _, number in ipairs { ... } do t:write("here-go-" .. number, "") end
  end

  local function wait_at(t, ...)
    for _, number in ipairs { ... } do t:wait_for("here-at-" .. number, nil, LIMIT) end
  end

  local function wait_for_log(t, pattern)
    return t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", pattern, LIMIT)
  end

  local function count_in_log(t, pattern) return select(2, t:log "sys/master_role.txt":gsub(pattern, "")) end

  local function finish(t)
    for i = 1, INPUTS do let_go(t, i) end
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(INPUTS), t:rows())
    assert.same({ RUN_DONE = INPUTS }, t:statuses())
    assert.equal(0, #t:processes())
  end

  --- The number of the machine of a node that is ready; with `log`, nil if it never was.
  local function machine_of(t, id, log)
    local pattern = "node " .. id .. " %(node(%d+)%) is ready"
    return (log or wait_for_log(t, pattern)):match(pattern)
  end

  on_slurm("work on undisturbed when their machine is drained", function()
    local t = start(1)
    wait_at(t, 1)
    local machine = machine_of(t, 1)
    cluster:run("scontrol", "update", "nodename=node" .. machine, "state=drain", "reason=test")
    let_go(t, 1, 2)
    wait_at(t, 3)
    finish(t)
    cluster:run("scontrol", "update", "nodename=node" .. machine, "state=resume")
    assert.equal(0, count_in_log(t, "asked to end"))
    assert.equal(1, count_in_log(t, "node %d+ %b() is ready"))
  end)

  -- What it runs may end within GraceTime, and counts.
  on_slurm("drain when they are preempted", function()
    local t = start(1)
    wait_at(t, 1)
    local machine = machine_of(t, 1)
    local urgent = programs.start({ "env", cluster.variable, "salloc", "--no-shell", "--quiet", "--exclusive",
                                    "--partition=urgent", "--job-name=urgent", "--nodelist=node" .. machine },
                                  { stdout = "/dev/null", stderr = "/dev/null" })
    wait_for_log(t, "node 1 %b() was asked to end")
    let_go(t, 1)
    wait_for_log(t, "node 1 %b() has ended: all of its work is over")
    assert.equal(0, urgent:wait(LIMIT))
    local second = machine_of(t, 2)
    finish(t)
    cluster:run("scancel", "--name=urgent")
    assert.is_true(second ~= machine)
    assert.equal(0, count_in_log(t, "lost node %d+ "))
  end)

  on_slurm("are on other machines when a killed job is resumed and their machines are dead", function()
    local t = start(2)
    wait_at(t, 1, 2)
    let_go(t, 1)
    wait_at(t, 3)
    local first = { machine_of(t, 1), machine_of(t, 2) }
    t.program:kill(programs.SIGKILL)
    t:finish(t.program, LIMIT)
    for _, machine in ipairs(first) do cluster:call("kill-node", machine) end
    for _, machine in ipairs(first) do
      cluster:run("scontrol", "update", "nodename=node" .. machine, "state=down", "reason=test")
    end
    t:wait_for_none(LIMIT)
    t.program = t:start_job({ "--resume" }, t.options)
    for i = 1, INPUTS do let_go(t, i) end
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(INPUTS), t:rows())
    for id = 3, 4 do
      local machine = machine_of(t, id, t:log "sys/master_role.txt")
      assert.is_true(not machine or (machine ~= first[1] and machine ~= first[2]), machine)
    end
    for _, machine in ipairs(first) do cluster:revive(machine) end
  end)

  --- The states of the job's Slurm jobs that Slurm does not end already.
  local function living()
    local states = {}
    for _, entry in ipairs(cluster:queue()) do
      if entry.name:find "^tidemill%-" and entry.state ~= "COMPLETING" then states[#states + 1] = entry.state end
    end
    return states
  end

  --- A step that ends while the controller is away leaves a slurmstepd that waits for ever.
  local function restore(...)
    for _, machine in ipairs { ... } do
      cluster:call("kill-node", machine)
      cluster:revive(machine)
    end
  end

  --- A job that ends while the controller is away. Returns what it says of its Slurm jobs.
  local function end_without_controller(count)
    local t = start(count)
    wait_at(t, 1, count)
    local machines = {}
    for id = 1, count do machines[id] = machine_of(t, id) end
    cluster:call("end-daemon", "slurmctld")
    finish(t)
    local said = t:read "run1.err":match "[^\n]*cannot ask Slurm about[^\n]*"
    assert.equal(count, slurm.count_that_may_run(t))
    cluster:call "start-controller"
    programs.wait_until("the Slurm jobs", function() return #living() == count end, LIMIT)
    return t, assert(said), machines
  end

  on_slurm("that end while the controller is away are canceled when the job ends", function()
    local t = start(2)
    wait_at(t, 1, 2)
    local machines = { machine_of(t, 1), machine_of(t, 2) }
    cluster:call("end-daemon", "slurmctld")
    let_go(t, 2, 3, 4, 5, 6, 7, 8)
    local id = wait_for_log(t, "node %d %b() is given back"):match "node (%d) %b() is given back"
    t:wait_for("job/nodes/" .. id .. ".json", '"ended"', LIMIT)
    cluster:call "start-controller"
    assert.equal(2, slurm.count_that_may_run(t))
    finish(t)
    assert.same({}, living())
    assert.equal(0, slurm.count_that_may_run(t))
    restore(unpack(machines))
  end)

  on_slurm("are canceled by the next session if the controller is away when the job ends", function()
    local t, said, machines = end_without_controller(1)
    assert.is_truthy(said:find("the Slurm job of node 1: .*; it may still run: scancel "
      .. "%-%-name=tidemill%-job%-%x+%-1; 'tidemill resume' cancels it, too"), said)
    t:expect_job(0, { "--resume" }, t.options)
    assert.same({}, living())
    assert.equal(0, slurm.count_that_may_run(t))
    restore(unpack(machines))
  end)

  on_slurm("can be canceled with the command that the job names when it ends", function()
    local t, said, machines = end_without_controller(2)
    local command = assert(said:match "node %d and of 1 more: .*; it may still run: (.*); '", said)
    cluster:run("sh", "-c", command)
    assert.same({}, living())
    t:expect_job(0, { "--resume" }, t.options)
    assert.equal(0, slurm.count_that_may_run(t))
    restore(unpack(machines))
  end)

  --- A command of Slurm that never answers, and ignores SIGTERM but for a mark.
  local function replace(t, name)
    local gate, dir = waiting.fifo(t, "gate"), t:path "bin"
    assert(lfs.mkdir(dir))
    t:write("bin/" .. name, ([[#!/bin/bash
trap 'touch "%s/%s-asked"' TERM
touch "%s/%s-runs"
exec 3<>"%s"
until read -r _ <&3; do :; done
]]):format(dir, name, dir, name, gate))
    assert(os.execute(("chmod 755 '%s/%s'"):format(dir, name)))
    table.insert(t.options.env, "PATH=" .. dir .. ":" .. os.getenv "PATH")
  end

  on_slurm("whose squeue ignores SIGTERM do not delay the end of the job", function()
    local t = new_case(1)
    replace(t, "squeue")
    t.program = t:start_job(nil, t.options)
    t:wait_for("bin/squeue-runs", nil, LIMIT)
    finish(t)
    assert.is_false(t:has "bin/squeue-asked")
    assert.equal(0, slurm.count_that_may_run(t))
  end)

  if os.getenv "TM_LONG" then -- five seconds
    on_slurm("are named at the end of the job if scancel does not answer", function()
      local t = new_case(1)
      replace(t, "scancel")
      t.program = t:start_job(nil, t.options)
      finish(t)
      assert.is_false(t:has "bin/scancel-asked")
      job.expect_words(t:read "run1.err", {
        "cannot ask Slurm about the Slurm job of node 1: Slurm does not answer in time; it may still run: ",
      })
      assert.equal(1, slurm.count_that_may_run(t))
    end)
  end

  --- Slurm's controller writes down what it knows every 5 s.
  local function wait_for_save()
    local now = os.time()
    programs.wait_until("the controller's files", function()
      return (lfs.attributes(cluster.dir .. "/state/job_state", "modification") or 0) > now
    end, LIMIT)
  end

  if os.getenv "TM_LONG" then -- ten and twenty-five seconds
    on_slurm("do not notice that the controller is killed, and requests wait until it is back", function()
      local t = start(2, "node_timeout = 5")
      wait_at(t, 1, 2)
      wait_for_save()
      cluster:call("kill-daemon", "slurmctld")
      let_go(t, 1, 2)
      wait_at(t, 3, 4)
      local machine = machine_of(t, 2)
      cluster:call("kill-node", machine)
      wait_for_log(t, "Slurm does not answer: ")
      cluster:call "start-controller"
      wait_for_log(t, ("node %d+ %(node%d%) is ready.*"):rep(3))
      finish(t)
      assert.equal(1, count_in_log(t, "lost node %d+ "))
      cluster:restore(machine)
    end)

    on_slurm("are replaced when the job was stopped for eight times node_timeout", function()
      local t = start(2, "node_timeout = 1")
      wait_at(t, 1, 2)
      t.program:kill(programs.SIGSTOP)
      programs.wait_until("the end of the nodes", function() return #t:processes_of "node" == 0 end, LIMIT)
      t.program:kill(programs.SIGCONT)
      wait_for_log(t, "node 4 %(node%d%) is ready")
      finish(t)
    end)
  end
end)
