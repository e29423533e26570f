-- Reports of a job about the nodes that commands start: while it runs, in its logs and tables, and
-- at its end. A node is a `tidemill node` process on this machine.
local job = require "support.job"
local json = require "tidemill.json"
local waiting = require "support.waiting"

local CLOCKS = assert(os.getenv "TIDEMILL_CLOCKS", "TIDEMILL_CLOCKS is not set: the program with clocks of its own")
local INPUTS = 6
local LIMIT = 120 -- seconds for a job: far more than it takes

-- node_of(): the relay of the node, whose child is the keeper, whose children are workers.
local SCRIPT = waiting.SCRIPT .. [[
ffi.cdef "int getpid(void); int kill(int pid, int signal);"
local function parent(pid)
  return tonumber(io.open("/proc/" .. pid .. "/stat"):read("*a"):match "%) %a (%d+)")
end
local function node_of() return parent(parent(ffi.C.getpid())) end
]]

local function new_case(count, command, script, more, step)
  local t = job.case()
  t:inputs(INPUTS)
  t:script(SCRIPT .. script)
  t:pipeline(([[compute_target = "exec", node_count = %d, node_command = %s, mini_batch_size = 1,
    process_count_per_node = 1, %s]]):format(count, command, more or ""), step)
  t.options = waiting.here(t)
  t.options.limit = LIMIT
  return t
end

-- The rows of a table without quoted fields, by its columns.
local function rows_of(t, name)
  local rows, columns = {}, nil
  for line in t:log("sys/job_report/" .. name):gmatch "[^\n]+" do
    local fields = {}
    for field in (line .. ","):gmatch "([^,]*)," do fields[#fields + 1] = field end
    if columns then
      local row = {}
      for i, column in ipairs(columns) do row[column] = fields[i] end
      rows[#rows + 1] = row
    end
    columns = columns or fields
  end
  return rows, columns
end

local function by_node(t)
  local nodes = {}
  local rows, columns = rows_of(t, "node_summary.csv")
  for _, row in ipairs(rows) do nodes[row.Node] = row end
  return nodes, columns
end

local MOMENT = "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d+Z$"

-- Its first mini-batch takes its node down, once; all others wait until the test lets them go.
local LOSES_A_NODE = [[
function run(m)
  if number_of(m[1]) == 1 and not io.open(os.getenv "HERE" .. "killed") then
    mark "killed"
    ffi.C.kill(node_of(), 9)
  end
  wait_for "go"
  return names_of(m)
end]]

describe("a job that loses a node", function()
  local t, r, lost

  -- One job for all reports: the node is killed, its replacement is ready, then all continue.
  setup(function()
    t = new_case(2, [[{ "sh", "-c", "echo said by a node >&2; exec $0 node", "{program}" }]], LOSES_A_NODE, "",
      [[arguments = { "--resource_monitor_interval", "0.1" }]])
    t.program = t:start_job(nil, t.options)
    t:wait_for("job/score/logs/sys/master_role.txt", "node 3 .* is ready")
    lost = t:log("sys/master_role.txt"):match "lost node (%d) %b() after "
    t:wait_for("job/score/logs/sys/running.json", '"ready":2,"requested":2')
    t:wait_for("job/score/logs/perf/3/processes_resource_usage.csv", ",process%d+,")
    t:wait_for("job/score/logs/perf/supervisor/processes_resource_usage.csv", ",launcher of 3,")
  end)

  teardown(function() job.check_end() end)

  it("shows its nodes while it runs", function()
    local said = t:run { "status", "job" }
    assert.equal(0, said.status, said.err)
    assert.truthy(said.out:find("\n  nodes:        2 nodes\n", 1, true), said.out)
    local result = json.decode(t:run({ "status", "job", "--json" }).out)
    assert.same({ ready = 2, requested = 2, waiting = 0 }, result.steps[1].nodes)
    waiting.let_go(t)
    r = t:expect(t:finish(t.program, LIMIT), 0)
  end)

  it("names the lost node in its last lines, with the reason and the log", function()
    local file = t:path("job/score/logs/sys/node/" .. lost .. "/launcher.txt"):gsub("%p", "%%%0")
    local last = r.err:match "Completed: case, .*"
    job.expect_patterns(last, { table.concat {
      "\n  nodes:        3 requested, 3 started, 1 lost; [^\n]* in all, workers %d+ %% busy\n",
      "    lost node " .. lost .. " %b() after [^\n]*killed by signal 9[^\n]*\n",
      "      " .. file .. "\n",
    } })
  end)

  it("records the life of each node in master_role.txt", function()
    local log = t:log "sys/master_role.txt"
    for _, id in ipairs { "1", "2", "3" } do
      local requested = log:find("|node " .. id .. " is requested\n", 1, true)
      local ready = log:find("|node " .. id .. " %b() is ready: pid %d+, %d+ CPUs?[^\n]*round trip [%d.]+ ms, "
        .. "clock [+-][%d.]+ ms\n")
      local over = log:find(id == lost and "|lost node " .. id .. " %b() after "
        or "|node " .. id .. " %b() has ended: it was ready for ")
      assert.truthy(requested and ready and over, log)
      assert.is_true(requested < ready and ready < over)
      local _, ends = log:gsub("|node " .. id .. " %b() [a-z]+ [a-z]+: it was ready for ", "")
      assert.equal(id == lost and 0 or 1, ends)
    end
  end)

  it("has the times of each node in node_summary.csv", function()
    local nodes, columns = by_node(t)
    assert.same({ "Started", "Seconds", "Busy Percent", "Ended" },
      { columns[#columns - 3], columns[#columns - 2], columns[#columns - 1], columns[#columns] })
    for _, id in ipairs { "1", "2", "3" } do
      assert.matches(MOMENT, nodes[id].Started)
      assert.matches(MOMENT, nodes[id].Ended)
      assert.is_true(tonumber(nodes[id].Seconds) > 0)
      assert.is_true(nodes[id].Started < nodes[id].Ended)
    end
    assert.equal("0", nodes[lost].Tries) -- and yet it has a row
    assert.equal("0.00", nodes[lost]["Busy Percent"])
    local busy = tonumber(nodes["3"]["Busy Percent"])
    assert.is_true(busy > 0 and busy <= 100)
  end)

  it("sums up its nodes in job_result.json and in its status", function()
    for _, result in ipairs { t:result(), r.result, json.decode(t:run({ "status", "job", "--json" }).out) } do
      local nodes = result.nodes
      assert.same({ 3, 3, 1 }, { nodes.asked, nodes.started, nodes.lost })
      assert.is_true(nodes.seconds > 0 and nodes.busy_percent > 0 and nodes.busy_percent <= 100)
    end
    assert.matches("\nnodes:   3 requested, 3 started, 1 lost; ", t:run({ "status", "job" }).out)
  end)

  it("measures its nodes, and the commands that carry them", function()
    job.expect_words(t:log "perf/3/processes_resource_usage.csv", { ",relay,", ",keeper,", ",process" })
    local here = t:log "perf/supervisor/processes_resource_usage.csv"
    job.expect_words(here, { ",supervisor,", ",keeper,", ",launcher of 3," })
    assert.falsy(t:log("perf/3/processes_resource_usage.csv"):find ",supervisor,")
    assert.falsy(t:has_log "sys/node/0")
  end)

  it("shows the logs of one node together", function()
    local said = t:run { "logs", "job", "--node", lost }
    assert.equal(0, said.status, said.err)
    job.expect_patterns(said.out, { "|node " .. lost .. " is requested\n", "|keeper|process00%d started: pid ",
                                    "launcher of node " .. lost .. "| said by a node\n" })
    assert.falsy(said.out:find "|node 3 " or said.out:find "launcher of node 3", said.out)
    said = t:run { "logs", "job", "--node", "99" }
    assert.equal(2, said.status)
    job.expect_words(said, { "there is no node '99'; known: 1, 2, 3" })
    assert.equal(2, t:run({ "logs", "job", "--node", "1", "--mini-batch", "1" }).status)
  end)
end)

describe("the nodes of a job", function()
  after_each(job.check_end)

  it("stay in the table when it is resumed", function()
    local t = new_case(1, [[{ "{program}", "node" }]], [[
function run(m)
  assert(number_of(m[1]) ~= 6 or io.open(os.getenv "HERE" .. "go"), "not yet")
  return names_of(m)
end]], "error_threshold = 0, run_max_try = 1")
    t:expect_job(1, nil, t.options)
    local first = by_node(t)["1"]
    assert.matches(MOMENT, first.Ended)
    waiting.let_go(t)
    t:expect_job(0, { "--resume" }, t.options)
    local nodes = by_node(t)
    assert.same(first, nodes["1"])
    assert.matches(MOMENT, nodes["2"].Ended)
    assert.equal(1, t:result().nodes.asked) -- of the last session
  end)

  it("count only as requested if they cannot start", function()
    local t = new_case(5, [[{ "sh", "-c", "echo no such luck >&2; exit 3" }]], "function run(m) return m end")
    local r = t:expect_job(1, nil, t.options)
    local nodes = t:result().nodes
    assert.same({ 0, 0, 0, 0 }, { nodes.started, nodes.lost, nodes.seconds, nodes.busy_percent })
    assert.is_true(nodes.asked >= 5)
    job.expect_patterns(r.err, { "\n  nodes:        %d+ requested, 0 started, 0 lost; " })
    assert.matches("launcher of node 1| no such luck\n", t:run({ "logs", "job", "--node", "1" }).out)
  end)

  it("reach a script that listens", function()
    local t = new_case(1, [[{ "{program}", "node" }]], "function run(m) return names_of(m) end")
    t:write("submit.lua", [[
      local states = {}
      local pipeline = dofile "pipeline.lua"
      local job = pipeline:submit { job_dir = "job", on_event = function(e)
        if e.kind == "node" then
          assert(e.node_id == "1" and e.text:find "^node 1" and e.level == "info")
          assert(e.state == "requested" or e.node_address ~= "")
          states[#states + 1] = e.state
        end
      end }
      job:wait()
      print(table.concat(states, " "))
    ]])
    local r = t:run({ "submit.lua" }, t.options)
    assert.equal(0, r.status, r.err)
    assert.equal("requested ready ended\n", r.out)
  end)

  it("are not counted in a job that runs on this machine", function()
    local t = job.case()
    t:inputs(INPUTS)
    t:script "function run(m) return names_of(m) end"
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1"
    local r = t:expect_job(0)
    assert.is_nil(t:result().nodes)
    assert.falsy(r.err:find "nodes:")
    local nodes = by_node(t)
    assert.matches(MOMENT, nodes["0"].Started)
    assert.matches(MOMENT, nodes["0"].Ended)
  end)

  it("may have other clocks", function()
    local t = new_case(1, [[{ "env", "TM_CLOCK_AHEAD=7200", "{program}", "node" }]], [[
function run(m)
  require "tidemill.entry_script"().logger:warning("this is %s", m[1])
  return names_of(m)
end]])
    t.options.program = CLOCKS
    local before = os.time()
    local r = t:expect_job(0, nil, t.options)
    job.expect_patterns(r.err, { "warning: the clock of node 1 %b() is 7%d%d%d%.%d s ahead of that of this machine: " })
    local _, told = r.err:gsub("the clock of node", "")
    assert.equal(1, told)
    local after = os.time()
    for _, try in ipairs(t:tries()) do
      local began = try["Process Start Time"]
      assert.is_true(began >= os.date("!%Y-%m-%dT%H:%M:%S", before - 1) and
        began <= os.date("!%Y-%m-%dT%H:%M:%S", after + 1), began)
    end
    -- The lines of a worker have its own clock, and are found nevertheless.
    local said = t:run { "logs", "job", "--mini-batch", "0" }
    assert.matches("this is [^\n]*0001%.txt", said.out)
  end)
end)
