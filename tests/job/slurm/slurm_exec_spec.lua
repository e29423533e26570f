-- Nodes whose command is srun, in a real Slurm cluster on this machine (support/slurm.sh).
local job = require "support.job"
local programs = require "support.programs"
local slurm = require "support.slurm"
local waiting = require "support.waiting"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local ROOT = here .. "/../../.."
local SRUN = "srun --unbuffered --nodes=1 --ntasks=1 --kill-on-bad-exit=0 --wait=0 --no-kill --mpi=none " ..
             "--propagate=NONE --chdir=/ --exclusive {program} node"
local INPUTS = 20
local LIMIT = 120 -- seconds for a job: far more than it takes

describe("nodes that srun starts", function()
  local cluster, on_slurm = slurm.cases { nodes = 4 }

  local function options(t)
    local o = waiting.here(t)
    o.env[#o.env + 1] = cluster.variable
    o.limit = LIMIT
    return o
  end

  local function new_case(count, script, more)
    local t = job.case()
    t:inputs(INPUTS)
    t:script(script)
    t:pipeline(([[compute_target = "exec", node_command = %q, node_count = %d, mini_batch_size = 1,
      process_count_per_node = 1, error_threshold = 0, run_max_try = 1, %s]]):format(SRUN, count, more or ""))
    t.options = options(t)
    return t
  end

  --- A job whose workers, one on each node, all wait in run().
  local function stopped_case(count, more)
    local t = new_case(count, waiting.WORKERS, more)
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, count, LIMIT)
    return t
  end

  local function finish(t)
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(INPUTS), t:rows())
  end

  local function hosts()
    local names = {}
    for _, entry in ipairs(cluster:queue()) do names[#names + 1] = entry.host end
    table.sort(names)
    return names
  end

  on_slurm("give the lines that one machine gives", function()
    local t = job.case()
    local function map(...)
      local words = { "map", ROOT .. "/examples/hello/score.lua", ROOT .. "/examples/hello/texts", ... }
      return t:expect(t:run(words, t.options or { limit = LIMIT }), 0).out
    end
    local expected = map()
    assert.equal(5, select(2, expected:gsub("\n", "")))
    t.options = options(t)
    assert.equal(expected, map("--compute-target", "exec", "--node-command", SRUN, "--node-count", "3"))
  end)

  on_slurm("work side by side, each on a machine of its own", function()
    local t = stopped_case(3)
    local used = hosts()
    assert.equal(3, #used)
    assert.is_true(used[1] ~= used[2] and used[2] ~= used[3])
    finish(t)
    local nodes = {}
    for id in t:log("sys/job_report/process_summary.csv"):gmatch "\nprocess%d+,(%d+)," do nodes[id] = true end
    assert.same({ ["1"] = true, ["2"] = true, ["3"] = true }, nodes)
  end)

  -- All bytes that a row may have, in no order that a text would have.
  on_slurm("send results of 512 KB", function()
    local ROW = [[
local function row_of(number)
  local bytes, seed = {}, number
  for i = 1, 524288 do
    seed = (seed * 1103515245 + 12345) % 2147483648
    local byte = math.floor(seed / 65536) % 256
    bytes[i] = string.char((byte == 10 or byte == 13) and 0 or byte)
  end
  return table.concat(bytes)
end]]
    local t = new_case(2, ROW .. " function run(m) return { row_of(number_of(m[1])) } end")
    t:expect_job(0, nil, t.options)
    local row_of = assert(loadstring(ROW .. " return row_of"))()
    local expected = {}
    for i = 1, INPUTS do expected[i] = row_of(i) end
    table.sort(expected)
    local rows = t:rows()
    assert.equal(INPUTS, #rows)
    for i = 1, INPUTS do assert.is_true(expected[i] == rows[i], "row " .. i) end
  end)

  -- srun says nothing of a dead node: only its silence does. Another machine is free.
  on_slurm("are replaced when their machine dies, and no row is lost or doubled", function()
    local t = stopped_case(3, "node_timeout = 5")
    local machine = hosts()[2]:match "%d+$"
    cluster:call("kill-node", machine)
    waiting.wait_for_workers(t, 4, LIMIT)
    finish(t)
    cluster:restore(machine)
    local log = t:log "sys/master_role.txt"
    job.expect_patterns(log, { "lost node %d %(%S+%) after ", "node 4 %(%S+%) is ready" })
    assert.equal(1, select(2, log:gsub("lost node %d %(%S+%) after ", "")))
  end)

  on_slurm("end with Ctrl-C, and leave no job in the queue", function()
    local t = stopped_case(3)
    t.program:kill(programs.SIGINT)
    t:wait_for("run1.err", "cancel")
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 130)
    assert.equal(0, #t:processes())
    programs.wait_until("an empty queue", function() return #cluster:queue() == 0 end)
  end)

  on_slurm("end while they wait for a machine, and leave no job in the queue", function()
    local t = new_case(5, waiting.WORKERS, "node_start_timeout = 100")
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, 4, LIMIT)
    programs.wait_until("a job that waits", function() return #cluster:queue() == 5 end)
    t.program:kill(programs.SIGINT)
    t:wait_for("run1.err", "cancel")
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 130)
    assert.equal(0, #t:processes())
    programs.wait_until("an empty queue", function() return #cluster:queue() == 0 end)
  end)
end)
