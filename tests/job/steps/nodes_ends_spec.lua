-- Nodes that end: a mini-batch that takes nodes down, and nodes that cannot be reached for a while.
-- A node is a `tidemill node` process on this machine.
local job = require "support.job"
local waiting = require "support.waiting"

local INPUTS = 12
local LIMIT = 120 -- seconds for a job: far more than it takes

local MARKED = [[{ "env", "TM_NODE=%s/{node_id}", "{program}", "node" }]]

-- parent(pid): of the worker that is the keeper, and of the keeper that is the relay.
local SCRIPT = waiting.SCRIPT .. [[
ffi.cdef "int getpid(void); int kill(int pid, int signal);"
local function parent(pid)
  return tonumber(io.open("/proc/" .. pid .. "/stat"):read("*a"):match "%) %a (%d+)")
end
local function node_of() return parent(parent(ffi.C.getpid())) end
]]

local function new_case(count, script, more)
  local t = job.case()
  t:inputs(INPUTS)
  t:script(SCRIPT .. script)
  t:pipeline(([[compute_target = "exec", node_count = %d, node_command = %s, mini_batch_size = 1,
    process_count_per_node = 2, %s]]):format(count, MARKED:format(t.dir), more or ""))
  t.options = waiting.here(t)
  t.options.limit = LIMIT
  return t
end

local function all_but(number)
  local names = job.names(INPUTS)
  table.remove(names, number)
  return names
end

local function lost_nodes(t)
  local ids = {}
  for id in t:log("sys/master_role.txt"):gmatch "lost node (%d+) %b() after " do ids[#ids + 1] = id end
  return ids
end

describe("a mini-batch that takes its node down", function()
  after_each(job.check_end)

  -- Two workers on each node: what runs beside it is lost, too, and must not fail.
  local function runs(number)
    local t = new_case(2, ([[
function run(m)
  if number_of(m[1]) == %d then
    ffi.C.kill(node_of(), 9)
    wait_for "never"
  end
  return names_of(m)
end]]):format(number), "error_threshold = 1, run_max_try = 2, node_timeout = 600")
    t:expect_job(0, nil, t.options)
    assert.same(all_but(number), t:rows())
    assert.same({ PROCESS_DIED = 1, RUN_DONE = INPUTS - 1 }, t:statuses())
    return t
  end

  it("fails with its third node, and is the only one that fails", function()
    local t = runs(1)
    local lost = lost_nodes(t)
    assert.equal(3, #lost)
    local words = "3 nodes were lost while they ran it: node (%d+) %b(), node (%d+) %b() and node (%d+) %b()"
    local named = { t:log("user/error.txt"):match(words) }
    table.sort(lost) -- a line about a lost node waits for the end of its command
    table.sort(named)
    assert.same(lost, named)
  end)

  -- The answer of the one before may be lost with the node, so that both may be to blame.
  it("fails in the end, also if it is not the first of its worker", function()
    assert.equal(3, #lost_nodes(runs(5)))
  end)
end)

-- Five starts in a row that fail at once: without a commit before them, they would end the job.
describe("an outage of the network", function()
  after_each(job.check_end)

  local NODES = 5
  local COMMAND = [=[{ "sh", "-c", [==[[ -e "$2down" ] && [ ! -e "$2up" ] && echo 'No route to host' >&2 && exit 255
    exec "$1" node]==], "sh", "{program}", "%s" }]=]

  it("does not end a job whose nodes have committed something", function()
    local t = job.case()
    t:inputs(NODES + 1)
    t:script(SCRIPT .. [[
function run(m)
  if number_of(m[1]) > 1 then
    mark("at-" .. number_of(m[1]))
    wait_for "down"
    if not io.open(os.getenv "HERE" .. "up") then ffi.C.kill(node_of(), 9) end
    wait_for "up"
  end
  return names_of(m)
end]])
    t:pipeline(([[compute_target = "exec", node_count = %d, node_command = %s, mini_batch_size = 1,
      process_count_per_node = 1, error_threshold = 0]]):format(NODES, COMMAND:format(t:path "here-")))
    t.options = waiting.here(t)
    t.program = t:start_job(nil, t.options)
    t:wait_for(waiting.PARTIAL, "0001", LIMIT)
    for i = 2, NODES + 1 do t:wait_for("here-at-" .. i, nil, LIMIT) end
    t:write("here-down", "")
    t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", ("cannot start node .*"):rep(NODES), LIMIT)
    t:write("here-up", "")
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(NODES + 1), t:rows())
    assert.equal(NODES, #lost_nodes(t))
  end)
end)
