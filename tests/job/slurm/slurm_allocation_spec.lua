-- Jobs that run in an allocation of Slurm (salloc), in a real cluster on this machine
-- (support/slurm.sh): slurm_allocation.
local job = require "support.job"
local json = require "tidemill.json"
local programs = require "support.programs"
local slurm = require "support.slurm"
local waiting = require "support.waiting"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local ROOT = here .. "/../../.."
local MACHINES = 3
local INPUTS = 12
local LIMIT = 120 -- seconds for a job: far more than it takes
local HELD = "held" -- the allocation's name

local NAMES = "function run(m) return names_of(m) end"

describe("in an allocation of Slurm, nodes", function()
  local cluster, on_slurm, allocation
  local function release()
    if allocation then cluster:run("scancel", allocation) end
    allocation = nil
  end
  cluster, on_slurm = slurm.cases({ nodes = MACHINES }, release)

  --- An allocation that lives until the end of the case. Returns the variables that it sets.
  local function allocate(nodes)
    cluster:run("salloc", "--no-shell", "--quiet", "--no-kill", "--nodes=" .. nodes, "--cpus-per-task=2",
                "--job-name=" .. HELD)
    local entry = cluster:queue()[1]
    assert.equal(HELD, entry.name)
    allocation = entry.id
    return { "SLURM_JOB_ID=" .. entry.id, "SLURM_JOB_NODELIST=" .. entry.host,
             ("SLURM_JOB_CPUS_PER_NODE=2(x%d)"):format(nodes) }
  end

  --- A job with `count` nodes of one worker each.
  local function new_case(count, script, more)
    local t = job.case()
    t:inputs(INPUTS)
    t:script(script)
    t:pipeline(([[compute_target = "slurm", node_count = %d, mini_batch_size = 1, process_count_per_node = 1,
      error_threshold = 0, run_max_try = 1, %s]]):format(count, more or ""))
    t.options = waiting.here(t)
    t.options.env[#t.options.env + 1] = cluster.variable
    t.options.limit = LIMIT
    return t
  end

  local function add_variables(t, variables)
    for _, variable in ipairs(variables) do t.options.env[#t.options.env + 1] = variable end
  end

  --- A job in an allocation of all machines. All of its workers, one on each node, wait in run().
  local function stopped_case(count, more)
    local t = new_case(count, waiting.WORKERS, more)
    add_variables(t, allocate(MACHINES))
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, math.min(count, MACHINES), LIMIT)
    return t
  end

  local function finish(t)
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(INPUTS), t:rows())
  end

  --- The steps in the cluster: host by name.
  local function steps()
    local hosts, count = {}, 0
    for name, host in cluster:run("squeue", "--steps", "-h", "-o", "%j %N"):gmatch "(%S+) (%S+)\n" do
      hosts[name], count = host, count + 1
    end
    return hosts, count
  end

  local function wait_for_no_step(limit)
    programs.wait_until("the end of all steps", function() return select(2, steps()) == 0 end, limit)
  end

  local function expect_allocation()
    local queue = cluster:queue()
    assert.equal(1, #queue)
    assert.equal(allocation, queue[1].id)
    assert.equal("RUNNING", queue[1].state)
  end

  local function record(t, id) return json.decode(t:read("job/nodes/" .. id .. ".json")) end

  on_slurm("give the lines that one machine gives", function()
    local t = job.case()
    local function map(...)
      local words = { "map", ROOT .. "/examples/hello/score.lua", ROOT .. "/examples/hello/texts", ... }
      return t:expect(t:run(words, t.options or { limit = LIMIT }), 0)
    end
    local function sorted(text)
      local lines = {}
      for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
      table.sort(lines)
      return lines
    end
    local expected = sorted(map().out)
    t.options = { env = { cluster.variable }, limit = LIMIT,
                  before = { "salloc", "--quiet", "--nodes=3", "--no-kill", "env", "SLURM_LABELIO=1" } }
    local r = map("--compute-target", "slurm", "--node-count", "3", "--mini-batch-size", "1")
    assert.same(expected, sorted(r.out))
    job.expect_words(r.err, { "the nodes are steps of the Slurm job " })
    assert.is_nil(r.err:find("warning", 1, true), r.err)
  end)

  on_slurm("are steps of it, one on each host, with all CPUs that it has there", function()
    local t = stopped_case(3, [[slurm_options = "--exclusive --partition=p"]])
    local found, count = steps()
    local hosts = {}
    for id = 1, 3 do
      local r = record(t, id)
      assert.equal(found[r.name], r.host)
      assert.equal(allocation, r.allocation)
      assert.equal(allocation, r.slurm_job_id)
      assert.is_true(r.may_run)
      hosts[r.host] = true
      local command = table.concat(r.command, " ")
      job.expect_words(command, { " --overlap --jobid=" .. allocation .. " --job-name=" .. r.name ..
                                  " --cpus-per-task=2 --partition=p --nodelist=" .. r.host .. " " })
    end
    assert.equal(3, count)
    assert.same({ node1 = true, node2 = true, node3 = true }, hosts)
    expect_allocation()
    finish(t)
    expect_allocation()
    assert.equal(0, select(2, steps()))
    for id = 1, 3 do assert.is_false(record(t, id).may_run) end
    local log = t:log "70_driver_log.txt"
    job.expect_words(log, { "node 1 is started with: srun --unbuffered ",
                            "these slurm_options do not apply there: --exclusive" })
  end)

  on_slurm("are as many as it has hosts, and the job says so", function()
    local t = stopped_case(5)
    assert.equal(3, select(2, steps()))
    finish(t)
    local err = t:read "run1.err"
    job.expect_words(err, { "warning: 'node_count' is 5, but the Slurm job " .. allocation .. " has 3 hosts",
                            "salloc --no-kill or sbatch --no-kill" })
  end)

  on_slurm("are not on hosts that slurm_options exclude", function()
    local t = new_case(3, NAMES, [[slurm_options = "--exclude=node[2-3]"]])
    add_variables(t, allocate(MACHINES))
    add_variables(t, { "SALLOC_NO_KILL=1" })
    local r = t:expect_job(0, nil, t.options)
    assert.same(job.names(INPUTS), t:rows())
    assert.equal("node1", record(t, 1).host)
    job.expect_words(r.err, { "'node_count' is 3, but the Slurm job " .. allocation .. " has 1 host" })
    assert.is_nil(r.err:find("--no-kill", 1, true))
  end)

  on_slurm("are replaced on an unused host when their machine dies", function()
    local t = stopped_case(2, "node_timeout = 3")
    local machine = record(t, 2).host
    local used = { [record(t, 1).host] = true, [machine] = true }
    cluster:call("kill-node", machine:match "%d+$")
    local is_well, err = pcall(function()
      waiting.wait_for_workers(t, 3, LIMIT)
      finish(t)
      expect_allocation()
    end)
    cluster:run("scancel", allocation)
    allocation = nil
    cluster:restore(machine:match "%d+$")
    assert(is_well, err)
    assert.is_nil(used[record(t, 3).host])
    job.expect_words(t:log "sys/master_role.txt", { ("lost node 2 (%s) after "):format(machine) })
  end)

  on_slurm("are Slurm jobs of their own with slurm_allocation = \"new\"", function()
    local t = new_case(1, waiting.WORKERS, [[slurm_allocation = "new"]])
    add_variables(t, allocate(1))
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, 1, LIMIT)
    assert.equal(2, #cluster:queue())
    assert.is_nil(record(t, 1).allocation)
    finish(t)
  end)

  local function kill_keeper(t)
    for _, pid in ipairs(t:processes_of "keeper") do
      if programs.parent(pid) == t.program.pid then programs.kill(pid, programs.SIGKILL) end
    end
  end

  on_slurm("end when the job is killed, and the allocation lives", function()
    local t = stopped_case(3)
    t.program:kill(programs.SIGKILL)
    t:finish(t.program, LIMIT)
    wait_for_no_step(10)
    t:wait_for_none()
    expect_allocation()
    waiting.let_go(t)
    t:expect_job(0, { "--resume" }, t.options)
    assert.same(job.names(INPUTS), t:rows())
  end)

  on_slurm("work on when the keeper of the job is killed", function()
    local t = stopped_case(3)
    kill_keeper(t)
    finish(t)
    assert.is_false(t:has "job/nodes/4.txt")
    wait_for_no_step(10)
    t:wait_for_none()
    expect_allocation()
  end)

  on_slurm("end when the job is killed with its keeper", function()
    local t = stopped_case(3)
    local keeper
    for _, pid in ipairs(t:processes_of "keeper") do
      if programs.parent(pid) == t.program.pid then keeper = pid end
    end
    programs.kill(keeper, programs.SIGSTOP)
    t.program:kill(programs.SIGKILL)
    t:finish(t.program, LIMIT)
    programs.kill(keeper, programs.SIGKILL)
    wait_for_no_step(30)
    t:wait_for_none()
    expect_allocation()
  end)

  -- A step that no process of an earlier session carries any more.
  on_slurm("that an earlier session has left are canceled when the job is resumed", function()
    local t = new_case(1, waiting.WORKERS)
    add_variables(t, allocate(1))
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, 1, LIMIT)
    t.program:kill(programs.SIGKILL)
    t:finish(t.program, LIMIT)
    wait_for_no_step(10)
    local left = record(t, 1)
    assert.is_true(left.may_run)
    local words = { "env", cluster.variable, "srun", "--overlap", "--jobid=" .. allocation, "--job-name=" .. left.name }
    for _, word in ipairs { "sleep", "1000" } do words[#words + 1] = word end
    local srun = programs.start(words, { stdout = "/dev/null", stderr = "/dev/null" })
    programs.wait_until("the step", function() return select(2, steps()) == 1 end)
    waiting.let_go(t)
    t:expect_job(0, { "--resume" }, t.options)
    srun:wait(LIMIT)
    wait_for_no_step(10)
    assert.is_false(record(t, 1).may_run)
    expect_allocation()
  end)

  on_slurm("are refused when it has ended", function()
    local t = new_case(1, NAMES)
    add_variables(t, allocate(1))
    cluster:run("scancel", allocation)
    programs.wait_until("an empty queue", function() return #cluster:queue() == 0 end)
    local r = t:run_job(nil, t.options)
    t:expect(r, 2)
    job.expect_words(r.err, { "the allocation " .. allocation .. " (SLURM_JOB_ID) does not run: CANCELLED",
                              "slurm_allocation = \"new\"" })
    assert.is_false(t:has "job")
    allocation = nil
  end)

  on_slurm("can be tried by hand: --dry-run shows their command", function()
    local t = new_case(2, NAMES)
    add_variables(t, allocate(1))
    local r = t:expect(t:run({ "run", "pipeline.lua", "--dry-run" }, t.options), 0)
    local command = r.out:match "each node is started with:\n%s+(srun [^\n]*)\n"
    job.expect_words(command, { " --overlap --jobid=" .. allocation, " --nodelist=node1 ", "tidemill node" })
    local o = { program = "sh", env = { cluster.variable }, limit = LIMIT }
    t:expect(t:run({ "-c", command:gsub("%S+ node$", "true") .. "" }, o), 0)
  end)
end)
