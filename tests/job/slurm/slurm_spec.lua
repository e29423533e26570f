-- compute_target = "slurm", in a real Slurm cluster on this machine (support/slurm.sh).
local job = require "support.job"
local json = require "tidemill.json"
local lfs = require "lfs"
local programs = require "support.programs"
local slurm = require "support.slurm"
local waiting = require "support.waiting"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local ROOT = here .. "/../../.."
local INPUTS = 20
local LIMIT = 120 -- seconds for a job: far more than it takes

local NAMES = "function run(m) return names_of(m) end"

describe("nodes of Slurm", function()
  local cluster, on_slurm = slurm.cases { nodes = 4, variables = { GPUS = 2 } }

  --- A job with `count` nodes of one worker each; a node takes a whole machine.
  local function new_case(count, script, more, processes)
    local t = job.case()
    t:inputs(INPUTS)
    t:script(script)
    t:pipeline(([[compute_target = "slurm", node_count = %d, mini_batch_size = 1, process_count_per_node = %d,
      error_threshold = 0, run_max_try = 1, %s]]):format(count, processes or 1,
                                                         more or 'slurm_options = "--exclusive"'))
    t.options = waiting.here(t)
    t.options.env[#t.options.env + 1] = cluster.variable
    t.options.limit = LIMIT
    return t
  end

  --- A job whose workers, one on each node, all wait in run().
  local function stopped_case(count, more)
    local t = new_case(count, waiting.WORKERS, more)
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, count, LIMIT)
    return t
  end

  --- The names of Slurm jobs that may still run, as the job has recorded them.
  local function recorded(t)
    local names = {}
    for name in lfs.dir(t:path "job/nodes") do
      local record = name:find "^%d+%.json$" and json.decode(t:read("job/nodes/" .. name))
      if record and record.may_run then names[#names + 1] = record.name end
    end
    table.sort(names)
    return names
  end

  local function expect_rows(t)
    assert.same(job.names(INPUTS), t:rows())
    assert.same({}, recorded(t))
  end

  local function finish(t)
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 0)
    expect_rows(t)
  end

  local function wait_for_empty_queue(limit)
    programs.wait_until("an empty queue", function() return #cluster:queue() == 0 end, limit)
  end

  local function cancel(t)
    t.program:kill(programs.SIGINT)
    t:wait_for("run1.err", "cancel")
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 130)
    assert.equal(0, #t:processes())
    assert.same({}, recorded(t))
    wait_for_empty_queue()
  end

  on_slurm("give the lines that one machine gives", function()
    local t = job.case()
    local page = assert(io.open(ROOT .. "/lua/manual/nodes.md")):read "*a"
    local command = assert(page:match "\n    (tidemill map [^\n]*%-%-compute%-target slurm[^\n]*)\n")
    local function map(text)
      local words = { "-c", 'tidemill() { "$TIDEMILL" "$@"; }; ' .. text }
      local o = { program = "sh", cwd = ROOT .. "/examples/hello", env = { cluster.variable }, limit = LIMIT }
      return t:expect(t:run(words, o), 0).out
    end
    local expected = map "tidemill map score.lua texts"
    assert.equal(5, select(2, expected:gsub("\n", "")))
    assert.equal(expected, map(command))
  end)

  on_slurm("are Slurm jobs of their own, whose names the job records", function()
    local t = stopped_case(3)
    local names, hosts = {}, {}
    for _, entry in ipairs(cluster:queue()) do
      names[#names + 1] = entry.name
      hosts[entry.host] = true
    end
    table.sort(names)
    assert.equal(3, #names)
    assert.same(names, recorded(t))
    assert.is_truthy(names[1]:find "^tidemill%-job%-%x+%-1$", names[1])
    local count = 0
    for _ in pairs(hosts) do count = count + 1 end
    assert.equal(3, count)
    finish(t)
  end)

  -- Each worker of a node has one of the GPUs that Slurm granted to the node.
  on_slurm("have the GPUs that slurm_options ask for", function()
    local t = new_case(1, waiting.SCRIPT .. [[
function run(m)
  local gpu = os.getenv "CUDA_VISIBLE_DEVICES"
  mark("gpu-" .. gpu)
  wait_for("gpu-" .. (gpu == "0" and "1" or "0"))
  return names_of(m)
end]], [[slurm_options = "--gres=gpu:2"]], 2)
    t:expect_job(0, nil, t.options)
    expect_rows(t)
  end)

  on_slurm("run the program that --bcast has sent to them", function()
    local t = new_case(1, waiting.WORKERS)
    if not pcall(cluster.run, cluster, "srun", "--bcast=" .. t:path "probe", "/bin/true") then
      return pending "needs root: only then slurmd may write for --bcast"
    end
    local config = t:read("pipeline.lua"):gsub("%-%-exclusive", "--bcast=" .. t:path "sent")
    t:write("pipeline.lua", config)
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, 1, LIMIT)
    local pid = json.decode(t:read "job/nodes/1.json").pid
    assert.equal(t:path "sent", lfs.symlinkattributes(("/proc/%d/exe"):format(pid), "target"))
    finish(t)
  end)

  on_slurm("are replaced when their machine dies, and no row is lost or doubled", function()
    local t = stopped_case(3, [[slurm_options = "--exclusive", node_timeout = 5]])
    local machine = cluster:queue()[2].host:match "%d+$"
    cluster:call("kill-node", machine)
    waiting.wait_for_workers(t, 4, LIMIT)
    finish(t)
    cluster:restore(machine)
    local log = t:log "sys/master_role.txt"
    assert.equal(1, select(2, log:gsub(("lost node %%d %%(node%s%%) after "):format(machine), "")))
    assert.is_truthy(log:find "node 4 %(node%d%) is ready", log)
  end)

  on_slurm("take whole machines, and decide how many workers they have", function()
    local t = new_case(2, NAMES, [[process_count_per_node = nil, logging_level = "DEBUG"]])
    t:expect_job(0, nil, t.options)
    expect_rows(t)
    local record = json.decode(t:read "job/job.json")
    assert.same({ value = "node", origin = "default" }, record.steps[1].definition.settings.process_count_per_node)
    local log = t:log "sys/master_role.txt"
    assert.is_truthy(log:find "node 1 is started with: srun .*%-%-exclusive", log)
    assert.is_truthy(log:find "node %d %(node%d%) is ready: [^\n]* CPUs? %(", log)
  end)

  -- One more node than machines: time in the queue does not count as time to start.
  on_slurm("may wait in the queue for longer than node_start_timeout", function()
    local t = new_case(5, waiting.WORKERS, [[slurm_options = "--exclusive", node_start_timeout = 6]])
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, 4, LIMIT)
    t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", "node %d waits in the queue of Slurm", LIMIT)
    finish(t)
    assert.is_nil(t:log("sys/master_role.txt"):find "cannot start")
  end)

  on_slurm("may wait in the queue for no longer than node_wait", function()
    local first = stopped_case(4)
    local t = new_case(1, NAMES, [[slurm_options = "--exclusive", node_wait = 8]])
    local r = t:run_job(nil, t.options)
    t:expect(r, 1)
    job.expect_words(r.err, { "the step had no node for 8 s (node_wait): 0 of 1 nodes, 1 waiting: Resources" })
    finish(first)
  end)

  on_slurm("end with Ctrl-C while they work", function() cancel(stopped_case(3)) end)

  on_slurm("end with Ctrl-C while they wait in the queue", function()
    local t = new_case(5, waiting.WORKERS)
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, 4, LIMIT)
    t:wait_for("run1.err", "4 of 5 nodes, 1 waiting: Resources", LIMIT)
    t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", "|node %d waits in the queue of Slurm: Resources", LIMIT)
    t:wait_for(t.step_dir .. "/logs/sys/running.json", '"requested":5,"waiting":1,"reason":"Resources"', LIMIT)
    local said = t:run { "status", "job" }
    t.last = t.program
    job.says(said, 0, "\n  nodes:        4 of 5 nodes, 1 waiting: Resources\n")
    cancel(t)
  end)

  on_slurm("end when the job is killed", function()
    local t = new_case(5, waiting.WORKERS)
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, 4, LIMIT)
    t.program:kill(programs.SIGKILL)
    t:finish(t.program, LIMIT)
    wait_for_empty_queue(10)
    t:wait_for_none()
    waiting.let_go(t)
    t:expect_job(0, { "--resume" }, t.options)
    expect_rows(t)
  end)

  -- srun is stopped, so that SIGTERM does not end it, nor the Slurm job.
  if os.getenv "TM_LONG" then -- it takes 14 s
    on_slurm("end when the job is killed and srun does not answer", function()
      local t = stopped_case(1)
      for _, p in ipairs(t:processes()) do
        if p.argv[1]:find "srun$" then programs.kill(p.pid, programs.SIGSTOP) end
      end
      t.program:kill(programs.SIGKILL)
      t:finish(t.program, LIMIT)
      wait_for_empty_queue(20)
      t:wait_for_none(30)
      waiting.let_go(t)
      t:expect_job(0, { "--resume" }, t.options)
      expect_rows(t)
    end)
  end

  local function keeper_of(t)
    for _, pid in ipairs(t:processes_of "keeper") do
      if programs.parent(pid) == t.program.pid then return pid end
    end
  end

  on_slurm("work on when the keeper of the job is killed", function()
    local t = stopped_case(2)
    local keeper, before = keeper_of(t), cluster:queue()
    programs.kill(keeper, programs.SIGKILL)
    programs.wait_until("another keeper", function()
      local other = keeper_of(t)
      return other and other ~= keeper
    end)
    assert.equal(2, #before)
    assert.same(before, cluster:queue())
    finish(t)
    assert.is_false(t:has "job/nodes/3.txt")
    wait_for_empty_queue()
  end)

  -- Nobody is left who could cancel the Slurm job that waits: its machine is held by somebody else.
  on_slurm("of a job that was killed with its keeper are canceled when it is resumed", function()
    cluster:run("salloc", "--no-shell", "--quiet", "--exclusive", "--nodelist=node4", "--job-name=held")
    local t = new_case(1, NAMES, [[slurm_options = "--exclusive --nodelist=node4"]])
    t.program = t:start_job(nil, t.options)
    programs.wait_until("a Slurm job that waits", function() return #cluster:queue() == 2 end)
    local keeper = t:processes_of("keeper")[1]
    programs.kill(keeper, programs.SIGSTOP)
    t.program:kill(programs.SIGKILL)
    t:finish(t.program, LIMIT)
    programs.kill(keeper, programs.SIGKILL)
    local left = recorded(t)
    assert.equal(1, #left)
    t.program = t:start_job({ "--resume" }, t.options)
    programs.wait_until("the end of the Slurm job", function()
      return cluster:run("squeue", "-h", "--states=all", "-o", "%T", "--name=" .. left[1]) == "CANCELLED\n"
    end)
    cluster:run("scancel", "--name=held")
    t:expect(t:finish(t.program, LIMIT), 0)
    expect_rows(t)
  end)

  on_slurm("of a job that runs are not canceled when a copy of its directory is resumed", function()
    local t = stopped_case(2)
    local copying = programs.start({ "cp", "-r", t:path "job", t:path "copy" },
                                   { stdout = "/dev/null", stderr = "/dev/null" })
    assert.equal(0, copying:wait(LIMIT))
    t.job_dir = "copy"
    local copy = t:start_job({ "--resume" }, t.options)
    t:wait_for("run2.err", "node %d and of 1 more: another directory had started it", LIMIT)
    finish(t)
    t:expect(t:finish(copy, LIMIT), 0)
  end)

  on_slurm("are not steps of the allocation that the job runs in with slurm_allocation = \"new\"", function()
    local t = new_case(2, NAMES, [[slurm_options = "--exclusive", slurm_allocation = "new"]])
    t.options.before = { "salloc", "--quiet", "--nodes=1", "--exclusive", "env", "SLURM_LABELIO=1" }
    t:expect_job(0, nil, t.options)
    expect_rows(t)
  end)

  local function refused(more, words, change)
    local t = new_case(1, NAMES, more)
    if change then change(t.options) end
    local r = t:run_job(nil, t.options)
    t:expect(r, 2)
    job.expect_words(r.err, words)
    assert.is_false(t:has "job")
    return r
  end

  on_slurm("that can never be granted are refused before there is a job", function()
    local r = refused([[slurm_options = "--partition=none"]], {
      "cannot get a node from Slurm: 'Invalid partition name specified' (asked with: srun --test-only ",
    })
    job.expect_patterns(r, { "pipeline%.lua:%d+: " })
    refused([[process_count_per_node = 64]], { "cannot get a node from Slurm: 'Requested node conf" })
    refused([[slurm_options = "--nosuch"]], { "cannot get a node from Slurm: 'srun: unrecognized option '--nosuch''" })
    refused([[slurm_options = "--time=soon"]], { "cannot get a node from Slurm: 'Invalid --time specification'" })
    refused([[slurm_options = "--gres=gpu:3"]], { "cannot get a node from Slurm: 'Requested node conf" })
    refused([[slurm_options = "--exclude=node[1-4]"]], { "cannot get a node from Slurm: '" })
  end)

  on_slurm("are refused while all nodes are drained, with the command that shows them", function()
    local function set(state)
      cluster:run("scontrol", "update", "nodename=node[1-4]", "state=" .. state, "reason=test")
    end
    set "drain"
    local ok, why = pcall(refused, 'slurm_options = "--exclusive"',
                          { "or wait for nodes that are down or drained: sinfo" })
    set "resume"
    assert(ok, why)
  end)

  -- The configuration of lua/manual/nodes.md, which asks for a partition that is not here.
  on_slurm("are asked for as the manual says", function()
    local t = new_case(1, NAMES)
    local page = assert(io.open(ROOT .. "/lua/manual/nodes.md")):read "*a"
    local config = assert(page:match "\n## On Slurm\n.-\n```lua\n(.-)\n```")
    local changes = { ["--partition=long"] = "-p p", ["process_count_per_node = 8"] = "process_count_per_node = 2" }
    for from, to in pairs(changes) do
      local at, stop = config:find(from, 1, true)
      config = config:sub(1, assert(at) - 1) .. to .. config:sub(stop + 1)
    end
    t:write("config.lua", config)
    t:pipeline("", "", [[local config_of_page = dofile "config.lua"]])
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub("parallel_run_config = config", "%0_of_page")))
    t:expect_job(0, nil, t.options)
    expect_rows(t)
    assert.is_true(t:has "job/nodes/1.txt")
  end)

  on_slurm("are refused without srun", function()
    refused(nil, { "there is no srun in PATH" }, function(o) o.env[#o.env + 1] = "PATH=/nonexistent" end)
  end)
end)
