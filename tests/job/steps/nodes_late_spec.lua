-- Results that arrive after their node was given up. A node is a `tidemill node` process on this
-- machine; `delay` (tests/programs) carries its bytes, and holds them as long as the test says so.
local job = require "support.job"
local programs = require "support.programs"
local waiting = require "support.waiting"

local DELAY = assert(os.getenv "TM_DELAY", "TM_DELAY is not set: the program that carries bytes slowly")
local INPUTS = 12
local LIMIT = 120 -- seconds for a job: far more than it takes

local COMMAND = [[{ "env", "TM_NODE={node_id}", "%s", "%s/slow-{node_id}", "%d", "{program}", "node" }]]

-- Each mini-batch waits until its node may go on, and the last one until all may. They note where
-- they ran.
local SCRIPT = waiting.SCRIPT .. "local INPUTS = " .. INPUTS .. [[

local node = os.getenv "TM_NODE"
function run(m)
  mark("at-" .. node .. "-" .. number_of(m[1]))
  wait_for("go-" .. node)
  if number_of(m[1]) == INPUTS then wait_for "go-last" end
  mark("ran-" .. node .. "-" .. number_of(m[1]))
  return names_of(m)
end]]

local function start(milliseconds)
  local t = job.case()
  t:inputs(INPUTS)
  t:script(SCRIPT)
  t:pipeline(([[compute_target = "exec", node_count = 2, node_command = %s, mini_batch_size = 1,
    process_count_per_node = 2, error_threshold = 0, run_max_try = 1, node_timeout = 1]]):format(
    COMMAND:format(DELAY, t.dir, milliseconds)))
  t.options = waiting.here(t)
  t.options.limit = LIMIT
  t.program = t:start_job(nil, t.options)
  return t
end

local function find(t, what, node)
  for i = 1, INPUTS do
    if t:has(("here-%s-%d-%d"):format(what, node, i)) then return i end
  end
end

local function wait_for_mark(t, what, node)
  return programs.wait_until(what, function()
    assert(not t.last:has_ended(), "the job has ended")
    return find(t, what, node)
  end, LIMIT)
end

--- The result of node 1 is on its way when the node is lost: another one has its mini-batch then.
--- `arrive` lets it come.
local function late_result(milliseconds, arrive)
  local t = start(milliseconds)
  wait_for_mark(t, "at", 1)
  wait_for_mark(t, "at", 2)
  t:write("slow-1", "")
  t:write("here-go-1", "")
  local first = wait_for_mark(t, "ran", 1)
  for id = 2, 9 do t:write("here-go-" .. id, "") end
  t:wait_for(("here-ran-2-%d"):format(first), nil, LIMIT)
  arrive(t)
  t:wait_for("run1.err", "dropped %d+ late messages? from node 1\n", LIMIT)
  t:write("here-go-last", "")
  t:expect(t:finish(t.program, LIMIT), 0)
  assert.same(job.names(INPUTS), t:rows())
  assert.same({ RUN_DONE = INPUTS }, t:statuses())
end

describe("the result of a node that was given up", function()
  after_each(job.check_end)

  it("is dropped and counted when it arrives, and its mini-batch runs again", function()
    late_result(3600000, function(t) os.remove(t:path "slow-1") end)
  end)

  if os.getenv "TM_LONG" then
    it("is dropped and counted if every byte takes five seconds", function() late_result(5000, function() end) end)
  end
end)
