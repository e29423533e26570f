-- Sick nodes: work fails there that succeeds elsewhere. A node is a `tidemill node` process on this
-- machine; its command gives the script a host, and on some hosts the script fails.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local waiting = require "support.waiting"

local INPUTS = 40
local LIMIT = 120 -- seconds for a job: far more than it takes
local TRIES = 8 -- that must fail on a node with two workers

local SCRIPT = waiting.SCRIPT .. [[local host = os.getenv "TM_HOST"
]]

local COMMAND = [[{ "env", "TM_HOST={host}", "{program}", "node" }]]

local function sick_case(hosts, script, more, command)
  local t = job.case()
  t:inputs(INPUTS)
  t:script(SCRIPT .. script)
  t:pipeline(([[compute_target = "exec", node_command = %s,
    node_count = %d, node_hosts = { %s }, mini_batch_size = 1, process_count_per_node = 2, %s]]):format(
    command or COMMAND, math.min(#hosts, 3), '"' .. table.concat(hosts, '", "') .. '"', more or ""))
  t.options = waiting.here(t)
  t.options.limit = LIMIT
  return t
end

local function log_of(t) return t:log "sys/master_role.txt" end

local function wait_for_log(t, pattern)
  t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", pattern, LIMIT)
end

local function count_marks(t, name)
  local count = 0
  for file in lfs.dir(t.dir) do
    if file:find("here-" .. name, 1, true) then count = count + 1 end
  end
  return count
end

local function hosts_of(t)
  local hosts = {}
  for host in log_of(t):gmatch "node %d+ %((%a+)%) is ready" do hosts[#hosts + 1] = host end
  table.sort(hosts)
  return hosts
end

local function finish(t)
  t:write("here-finish", "")
  t:expect(t:finish(t.program, LIMIT), 0)
  assert.same(job.names(INPUTS), t:rows())
end

describe("a sick node", function()
  after_each(job.check_end)

  -- The sick node begins when workers of the others are ready. They wait until it has failed often
  -- enough.
  it("is replaced on another host; failed mini-batches succeed elsewhere", function()
    local t = sick_case({ "a", "b", "c", "d" }, [[
function run(m)
  mark("at-" .. host)
  if host == "b" then
    wait_for "at-a"
    wait_for "at-c"
    mark("failed-" .. number_of(m[1]))
    error "no GPU was found"
  end
  wait_for "go"
  if number_of(m[1]) > 20 then wait_for "finish" end -- there is work for the replacement
  return names_of(m)
end]], "error_threshold = 0, run_max_try = 2")
    t.program = t:start_job(nil, t.options)
    programs.wait_until("tries that have failed", function()
      if t.last:has_ended() then error("the job has ended: " .. t:read "run1.err" .. log_of(t)) end
      return count_marks(t, "failed-") >= TRIES
    end, LIMIT)
    t:write("here-go", "")
    wait_for_log(t, "node 2 %(b%) is sick: ")
    wait_for_log(t, "node 2 %(b%) has ended")
    wait_for_log(t, "node 4 %(d%) is ready")
    finish(t)
    local failed, percent, elsewhere = log_of(t):match(
      "node 2 %(b%) is sick: its last (%d+) tries all failed, while (%d+) %% of (%d+) tries elsewhere succeeded; "
        .. "it gets no more work, and no node is started on 'b' for 10 minutes while another one works")
    assert.is_true(tonumber(failed) >= TRIES and tonumber(percent) == 100 and tonumber(elsewhere) >= 3, log_of(t))
    assert.same({ "a", "b", "c", "d" }, hosts_of(t))
    assert.equal(INPUTS, t:statuses().RUN_DONE)
    assert.is_true(t:statuses().RUN_EXCEPTION >= tonumber(failed))
  end)

  -- There is no spare host: its own rests while the other one works.
  it("is a node where init() fails although it succeeds elsewhere", function()
    local t = sick_case({ "a", "b" }, [[
function init() if host == "b" then error "no licence" end end
function run(m)
  wait_for "finish"
  return names_of(m)
end]], "error_threshold = 0, run_max_try = 1")
    t.program = t:start_job(nil, t.options)
    wait_for_log(t, "node 2 %(b%) is sick: init%(%) has failed %d times in a row there, while it succeeded in "
      .. "100 %% of %d workers? elsewhere")
    wait_for_log(t, "node 2 %(b%) has ended")
    finish(t)
    assert.same({ "a", "b" }, hosts_of(t))
    local counts = t:statuses()
    assert.is_true(counts.INIT_EXCEPTION >= 6) -- one more may have been starting
    assert.equal(INPUTS, counts.RUN_DONE)
    assert.is_nil(counts.RUN_EXCEPTION)
  end)

  -- It is ready long before the other one, which may be the one that works.
  it("does not fail the step while another node starts", function()
    local t = sick_case({ "a", "b" }, [[
function init() if host == "a" then error "no licence" end end
function run(m) return names_of(m) end]], "", [==[{ "sh", "-c",
      '[ "$1" = a ] || read line <"${{HERE}}start"; TM_HOST=$1 exec "$0" node', "{program}", "{host}" }]==])
    local open_gate = waiting.gate(t, "here-start")
    t.program = t:start_job(nil, t.options)
    wait_for_log(t, "init%(%) failed: ")
    programs.wait_until("failures of init()", function()
      if t.last:has_ended() then error("the job has ended: " .. log_of(t)) end
      local _, count = log_of(t):gsub("init%(%) failed: ", "")
      return count >= 6
    end, LIMIT)
    open_gate()
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(INPUTS), t:rows())
    assert.same({ "a", "b" }, hosts_of(t))
  end)

  it("fails the step if no other node can come", function()
    local t = sick_case({ "a", "b" }, "function init() error 'no licence' end function run() end")
    local r = t:run_job(nil, t.options)
    assert.equal(1, r.status, r.err)
    job.expect_words(r.err, { "loading or init() failed", "no licence" })
    assert.is_nil(log_of(t):find("is sick", 1, true))
  end)

  it("is not a node where the script fails as it does everywhere", function()
    local t = sick_case({ "a", "b", "c" }, [[
function run()
  mark("at-" .. host)
  for _, name in ipairs { "a", "b", "c" } do wait_for("at-" .. name) end
  error "bad data"
end]], "run_max_try = 2")
    local r = t:run_job(nil, t.options)
    assert.equal(1, r.status, r.err)
    assert.same({ "a", "b", "c" }, hosts_of(t))
    assert.equal(2 * INPUTS, t:statuses().RUN_EXCEPTION)
    assert.is_nil(log_of(t):find("is sick", 1, true))
  end)
end)
