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
  local cluster
  setup(function()
    cluster = slurm.start { nodes = 4, variables = { EXTRA = table.concat(PARTITIONS, "\n") } }
  end)
  teardown(function() if cluster then cluster:stop() end end)
  after_each(function()
    job.check_end()
    if cluster then cluster:wait_for_idle() end
  end)

  local function on_slurm(name, run)
    it(name, function()
      if not cluster then return pending(slurm.MISSING) end
      run()
    end)
  end

  --- Each mini-batch waits for "go-<number>"; a node has one worker. One that fails is not tried
  --- again.
  local function start(count, more)
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
