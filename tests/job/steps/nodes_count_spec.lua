-- How many nodes a job has at a time. A node is a `tidemill node` process on this machine.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local waiting = require "support.waiting"

local LIMIT = 120 -- seconds for a job: far more than it takes

-- A command with a mark by which the test finds the node: $TM_NODE is the case and the node's id.
local MARKED = [[{ "env", "TM_NODE=%s/{node_id}", "{program}", "node" }]]

local function settings(t, count)
  return ([[compute_target = "exec", node_command = %s, mini_batch_size = 1, process_count_per_node = 1,
    error_threshold = 0%s]]):format(MARKED:format(t.dir), count and ", node_count = " .. count or "")
end

local function new_case(inputs, script)
  local t = job.case()
  t.count = inputs
  t:inputs(inputs)
  t:script(waiting.SCRIPT .. script)
  t.options = waiting.here(t)
  t.options.limit = LIMIT
  return t
end

local function wait_for_log(t, pattern)
  return t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", pattern, LIMIT)
end

local function processes_of(t, id) return programs.find("TM_NODE=" .. t.dir .. "/" .. id) end

local function ids(t)
  local found = {}
  for name in lfs.dir(t:path "job/nodes") do found[#found + 1] = tonumber(name:match "^(%d+)%.txt$") end
  table.sort(found)
  return found
end

--- The nodes whose workers wrote to stdout.
local function nodes_of(t, step)
  local found = {}
  for name in lfs.dir(t:path("job/" .. step .. "/logs/user/stdout")) do found[#found + 1] = tonumber(name) end
  table.sort(found)
  return found
end

describe("the number of nodes", function()
  after_each(job.check_end)

  -- Each of three nodes has a mini-batch that waits for "go-<number>".
  local EACH = [[
function run(m)
  mark("at-" .. number_of(m[1]))
  wait_for("go-" .. number_of(m[1]))
  return names_of(m)
end
function shutdown() mark("shut-" .. os.getenv("TM_NODE"):match "%d+$") end]]

  it("falls when nothing is left to do for a node, which ends as at the end of the job", function()
    local t = new_case(3, EACH)
    t:pipeline(settings(t, 3))
    t.program = t:start_job(nil, t.options)
    for i = 1, 3 do t:wait_for("here-at-" .. i, nil, LIMIT) end
    t:write("here-go-1", "")
    t:write("here-go-2", "")
    local first = wait_for_log(t, "node %d %(%S+%) is given back"):match "node (%d) %(%S+%) is given back"
    wait_for_log(t, "is given back.*is given back")
    programs.wait_until("the end of a node", function() return #processes_of(t, first) == 0 end, LIMIT)
    t:wait_for("here-shut-" .. first, nil, LIMIT)
    t:write("here-go-3", "")
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(3), t:rows())
    assert.same({ 1, 2, 3 }, ids(t))
    local log = t:log "sys/master_role.txt"
    assert.is_nil(log:find "lost node")
    assert.equal(2, select(2, log:gsub("is given back", "")))
    assert.equal(4, select(2, t:log "sys/job_report/node_summary.csv":gsub("\n", "")))
  end)

  -- The second node never becomes one. When the first has the last mini-batch, nobody needs it.
  it("does not wait for a node that still starts and is not needed", function()
    local t = new_case(2, [[function run(m) return names_of(m) end]])
    t:pipeline(([[compute_target = "exec", node_count = 2, mini_batch_size = 1, process_count_per_node = 1,
      node_command = { "sh", "-c", "[ $0 -eq 2 ] && exec sleep 1000; exec $1 node", "{node_id}", "{program}" }]]))
    t:expect_job(0, nil, t.options)
    assert.same(job.names(2), t:rows())
    assert.is_nil(t:log("sys/master_role.txt"):find "cannot start")
  end)

  it("is one while there is one mini-batch", function()
    local t = new_case(1, [[function run(m) return names_of(m) end]])
    t:pipeline(settings(t, 5))
    t:expect_job(0, nil, t.options)
    assert.same({ 1 }, ids(t))
  end)

  it("is no more than --max-workers need", function()
    local t = new_case(8, [[function run(m) return names_of(m) end]])
    t:pipeline(settings(t, 5))
    t:expect_job(0, { "--max-workers", "2" }, t.options)
    assert.is_true(#ids(t) <= 2)
    assert.same(job.names(8), t:rows())
  end)

  -- Both steps wait until both have as many workers as they may: 1 and 3, on three nodes.
  it("is the largest of the steps that share them, and none has more than its own", function()
    local t = new_case(8, [[
ffi.cdef "int getpid(void);"
function run(m)
  mark(os.getenv "STEP" .. "-" .. ffi.C.getpid())
  wait_for "go"
  return names_of(m)
end]])
    t:write("pipeline.lua", ([[
local tidemill = require "tidemill"
local function step(name, count)
  return tidemill.ParallelRunStep {
    name = name, inputs = tidemill.Dataset.File.from_files "in/*",
    parallel_run_config = tidemill.ParallelRunConfig {
      entry_script = "score.lua", environment_variables = { STEP = name }, %s, node_count = count,
    },
  }
end
return tidemill.Pipeline { name = "two", steps = {
  step("few", 1), step("many", 3) } }
]]):format(settings(t)))
    t.program = t:start_job(nil, t.options)
    local function count(step)
      local found = 0
      for name in lfs.dir(t.dir) do
        if name:find("^here%-" .. step .. "%-%d+$") then found = found + 1 end
      end
      return found
    end
    programs.wait_until("workers of both steps", function()
      assert(not t.last:has_ended(), "the job has ended")
      return count "few" == 1 and count "many" == 3
    end, LIMIT)
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same({ 1, 2, 3 }, ids(t))
    assert.equal(1, #nodes_of(t, "few"))
    assert.same({ 1, 2, 3 }, nodes_of(t, "many"))
  end)
end)
