-- Commands of nodes that misbehave, and nodes that end at bad moments. A node is a `tidemill node`
-- process on this machine.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local waiting = require "support.waiting"

local INPUTS = 2 -- mini-batches
local LIMIT = 15 -- seconds for a job: far more than it takes

-- A script for sh; $1 is the program, $2 the node's id, $3 the case's folder.
local BY_SHELL = [[{ "sh", "-c", [==[%s]==], "sh", "{program}", "{node_id}", "%s" }]]

local SCRIPT = waiting.SCRIPT .. "local INPUTS = " .. INPUTS .. "\n"

local function by_shell(t, script) return BY_SHELL:format(script, t.dir) end

local function new_case(count, command, more, inputs)
  local t = job.case()
  t.count = inputs or INPUTS
  t:inputs(t.count)
  t:script(SCRIPT .. [[
function run(m)
  if number_of(m[1]) == INPUTS then
    mark "here"
    wait_for "go"
  end
  return names_of(m)
end]])
  t:pipeline(([[compute_target = "exec", node_count = %d, node_command = %s, mini_batch_size = 1,
    process_count_per_node = 1, error_threshold = 0, run_max_try = 1, %s]]):format(
             count, command:find "^{" and command:format(t.dir) or by_shell(t, command), more or ""))
  t.options = waiting.here(t)
  t.options.limit = LIMIT
  return t
end

local function start(t)
  t.program = t:start_job(nil, t.options)
  return t
end

local function finish(t)
  waiting.let_go(t)
  local r = t:expect(t:finish(t.program, LIMIT), 0)
  assert.same(job.names(t.count), t:rows())
  return r
end

local function count_nodes(t)
  local count = 0
  for name in lfs.dir(t:path "job/nodes") do
    if name:find "%.txt$" then count = count + 1 end
  end
  return count
end

describe("nodes that start", function()
  after_each(job.check_end)

  -- A command that is wrong ends at once, too; but here one node still starts.
  it("may be saved by the last one, however many others end at once", function()
    local t = new_case(7, [[[ "$2" -le 6 ] && exit 255; read line <"$3/gate"; exec "$1" node]], nil, 7)
    local open_gate = waiting.gate(t, "gate")
    start(t)
    t:wait_for("run1.err", "cannot start node 6:")
    open_gate()
    finish(t)
  end)

  -- Killed before it has reported its last launch, the keeper costs that one.
  it("go on when the keeper of the job is killed", function()
    local t = new_case(6, [[echo >"$3/here-begun-$2"; read line <"$3/gate"; exec "$1" node]], nil, 6)
    local open_gate = waiting.gate(t, "gate")
    start(t)
    for id = 1, 6 do t:wait_for("here-begun-" .. id) end
    for _, pid in ipairs(t:processes_of "keeper") do programs.kill(pid, programs.SIGKILL) end
    open_gate()
    finish(t)
    assert.is_true(count_nodes(t) <= 7)
  end)

  it("are 64 at a time", function()
    local t = new_case(100, [[echo >"$3/here-begun-$2"; read line <"$3/gate"; exec "$1" node]], nil, 100)
    local open_gate = waiting.gate(t, "gate")
    start(t)
    for id = 1, 64 do t:wait_for("here-begun-" .. id) end
    assert.equal(64, count_nodes(t))
    open_gate()
    finish(t)
  end)

  it("are only as many as there are mini-batches", function()
    local t = start(new_case(100, [[exec "$1" node]]))
    finish(t)
    assert.is_true(count_nodes(t) <= INPUTS, count_nodes(t))
  end)

  local function with_limit(n)
    return { before = { "sh", "-c", ("ulimit -n %d; exec \"$0\" \"$@\""):format(n) } }
  end

  it("are refused if they are more than descriptors", function()
    local t = new_case(100, [[exec "$1" node]])
    local r = t:run_job(nil, with_limit(200))
    assert.equal(3, r.status, r.err)
    job.expect_words(r.err, { "may open 200 files (ulimit -n)", "100 workers need about 204",
                              "or node_count" })
    assert.is_false(t:has "job")
    waiting.let_go(t)
    t.options.before = with_limit(200).before
    t:expect(t:run_job({ "--max-workers", "2" }, t.options), 0)
  end)
end)

-- Others than the first two never become nodes, so nothing but the loss itself makes the other node
-- go on.
describe("what a lost node had is done by one that is ready, without a replacement", function()
  after_each(job.check_end)

  local FIRST_TWO = [[echo $$ >"$3/here-pid-$2"; [ "$2" -gt 2 ] && exec sleep 1000
    %s export TM_NODE=$2; exec "$1" node]]

  local function two_nodes(script, before)
    local t = new_case(2, FIRST_TWO:format(before or ""))
    t:script(SCRIPT .. script)
    return t
  end

  local function lose(t, id)
    programs.kill(tonumber(t:read("here-pid-" .. id)), programs.SIGKILL)
    t:wait_for "here-pid-3"
  end

  it("if its worker was the first to load the script", function()
    local t = two_nodes([[
function init()
  if os.getenv "TM_NODE" == "2" then
    mark "loads"
    wait_for "never"
  end
end
function run(m)
  wait_for "go"
  return names_of(m)
end]], [=[[ "$2" -eq 1 ] && read line <"$3/here-loads";]=])
    waiting.fifo(t, "here-loads") -- mark() waits until it is read
    start(t)
    t:wait_for("run1.err", "node 1 %(%S+%) is ready")
    lose(t, 2)
    finish(t)
  end)

  -- The first mini-batch has failed, and waits to be tried again until the test ends the job: so
  -- the other node has nothing to do, and is not given back.
  it("if it has nothing else to do", function()
    local t = new_case(2, FIRST_TWO:format "", "run_max_try = 2, retry_delay = 3600")
    t:script(SCRIPT .. [[
function run(m)
  if number_of(m[1]) == INPUTS then
    mark("last-" .. os.getenv "TM_NODE")
    wait_for "go"
    return names_of(m)
  end
  error "the first one fails"
end]])
    start(t)
    local id
    programs.wait_until("the last mini-batch", function()
      id = t:has "here-last-1" and 1 or t:has "here-last-2" and 2
      return id
    end, LIMIT)
    t:wait_for("run1.err", ("node %d %%(%%S+%%) is ready"):format(3 - id))
    t:wait_for(t.step_dir .. "/logs/user/error.txt", "the first one fails")
    lose(t, id)
    t:wait_for("here-last-" .. 3 - id)
    t.program:kill(programs.SIGINT)
    t:wait_for("run1.err", "cancel")
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 130)
  end)
end)

describe("a command", function()
  after_each(job.check_end)

  local LATE = "node_start_timeout = 1"

  it("that cannot be run any more costs a node, while another node works", function()
    local t = new_case(2, [[{ "%s/begin", "{program}", "{node_id}" }]], nil, 4)
    t:script(SCRIPT .. "function run(m) wait_for 'go' return names_of(m) end") -- work for two
    t:write("begin", '#!/bin/sh\necho $$ >"$HERE$2"\nexec "$1" node\n')
    t:expect(t:run({ "-c", "chmod +x begin" }, { program = "sh" }), 0)
    start(t)
    t:wait_for("run2.err", "node 1 %(%S+%) is ready")
    t:wait_for("run2.err", "node 2 %(%S+%) is ready")
    assert(os.remove(t:path "begin"))
    programs.kill(tonumber(t:read "here-2"), programs.SIGKILL)
    t:wait_for("run2.err", "cannot start node 3: cannot start ")
    finish(t)
  end)

  it("that asks for something is late, and is quoted", function()
    local t = start(new_case(1, [[[ "$2" -gt 1 ] && exec "$1" node; printf 'Password: '; exec sleep 1000]], LATE))
    local r = finish(t)
    job.expect_words(r.err, { "node 1: it was not ready after 1 s", "it printed 'Password: '" })
  end)

  it("that prints something else and ends is quoted", function()
    local t = start(new_case(1, [[[ "$2" -gt 1 ] && exec "$1" node; echo no such module; exit 1]]))
    local r = finish(t)
    job.expect_words(r.err, { "exited with status 1 before the node was ready", "it printed 'no such module\\n'" })
  end)

  -- Such a process is not found by its environment, and keeps the stream open.
  it("may leave a process that hides and holds its output", function()
    local t = new_case(1, [[[ "$2" -gt 1 ] && exec "$1" node
      env -i setsid sh -c 'echo $$ >"$0/hidden"; echo >"$0/runs"; exec sleep 1000' "$3" &
      read line <"$3/runs"; exit 0]], LATE)
    waiting.fifo(t, "runs")
    start(t)
    local r = finish(t)
    job.expect_words(r.err, { "node 1: it was not ready after 1 s" })
    local hidden = t:read("hidden"):match "%d+"
    programs.wait_until("the end of the hidden process", function() return not io.open("/proc/" .. hidden) end, LIMIT)
  end)
end)

describe("tidemill node", function()
  after_each(job.check_end)

  it("says what it needs", function()
    local t = job.case()
    local r = t:run({ "node" }, { stdin = "/dev/null" })
    assert.equal(3, r.status, r.err)
    job.expect_words(r.err, { "standard input and output must be pipes or sockets" })
  end)

  it("has a help that names the page", function()
    local t = job.case()
    job.expect_words(t:expect(t:run { "node", "--help" }, 0).out, { "tidemill help nodes" })
  end)
end)

describe("a name of a machine", function()
  after_each(job.check_end)

  it("cannot be an option of the command", function()
    local t = new_case(1, [[exec "$1" node]], [[node_hosts = { "cn01", "-oProxyCommand=touch pwned" }]])
    local r = t:run_job(nil, t.options)
    assert.equal(2, r.status, r.err)
    job.expect_words(r.err, { "pipeline.lua:", "'node_hosts' has the name '-oProxyCommand=touch pwned'" })
  end)
end)
