-- Steps whose workers run on several nodes. A node is a `tidemill node` process, which node_command
-- starts; here they all run on this machine.
--
-- TM_KILLS: how many relays, keepers and workers each are killed at random moments (2; with TM_LONG
-- 100).
local job = require "support.job"
local json = require "tidemill.json"
local lfs = require "lfs"
local programs = require "support.programs"
local waiting = require "support.waiting"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local ROOT = here .. "/../../.."
local DIGITS = ROOT .. "/examples/digits"
local KILLS = tonumber(os.getenv "TM_KILLS") or os.getenv "TM_LONG" and 100 or 2
local INPUTS = 20
local LIMIT = 120 -- seconds for a job: far more than it takes

-- A command with a mark by which the test finds the node: $TM_NODE is the case and the node's id.
local MARKED = [[{ "env", "TM_NODE=%s/{node_id}", "{program}", "node" }]]
-- A script for sh; $1 is the program, $2 the argument. In it, "%s" is the case's folder.
local BY_SHELL = [[{ "sh", "-c", [==[%s]==], "sh", "{program}", "%s" }]]

local function settings(count, command, more)
  return ([[compute_target = "exec", node_count = %d, node_command = %s, mini_batch_size = 1,
    process_count_per_node = 1, error_threshold = 0, %s]]):format(count, command, more or "")
end

local function new_case(count, command, more, script)
  local t = job.case()
  t:inputs(INPUTS)
  t:script(script or "function run(m) return names_of(m) end")
  t:pipeline(settings(count, command:format(t.dir, t.dir), more))
  t.options = waiting.here(t)
  t.options.limit = LIMIT
  return t
end

local function by_shell(script, argument) return BY_SHELL:format(script, argument or "-") end

--- A job whose workers, one on each node, all wait in run().
local function stopped_case(count, command, more)
  local t = new_case(count, command, more, waiting.WORKERS)
  t.program = t:start_job(nil, t.options)
  waiting.wait_for_workers(t, count, LIMIT)
  return t
end

local function finish(t)
  waiting.let_go(t)
  return t:expect(t:finish(t.program, LIMIT), 0)
end

local function relay_of(t, id)
  for _, p in ipairs(programs.find("TM_NODE=" .. t.dir .. "/" .. id)) do
    if p.argv[2] == "node" then return p.pid end
  end
  error("node " .. id .. " has no relay")
end

local function child_of(t, parent, kind)
  for _, pid in ipairs(t:processes_of(kind)) do
    if programs.parent(pid) == parent then return pid end
  end
  error(("process %d has no %s"):format(parent, kind))
end

local function names_in(t, dir)
  local names = {}
  for name in lfs.dir(t:path(dir)) do
    if not name:find "^%." then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function nodes_of_tries(t)
  local nodes = {}
  for line in t:log("sys/job_report/process_summary.csv"):gmatch "\nprocess%d+,(%d+)," do nodes[line] = true end
  return nodes
end

local function read_source(name)
  local file = assert(io.open(ROOT .. "/" .. name))
  local text = file:read "*a"
  file:close()
  return text
end

--- Nodes name themselves in messages if node_hosts does not.
local HOST = (function()
  local file = assert(io.open "/proc/sys/kernel/hostname")
  local name = file:read "*l"
  file:close()
  return name
end)()
local function named(id) return ("node %d (%s)"):format(id, HOST) end

local function count_of(text, words)
  local count, at = 0, 1
  while true do
    local _, stop = text:find(words, at, true)
    if not stop then return count end
    count, at = count + 1, stop + 1
  end
end

--- What the job has in its folder `nodes` after `count` launches.
local function files_of(count)
  local names = {}
  for id = 1, count do
    names[#names + 1] = id .. ".json"
    names[#names + 1] = id .. ".txt"
  end
  return names
end

describe("several nodes", function()
  after_each(job.check_end)

  local function digits(more)
    local t = job.case()
    local text = read_source "examples/digits/pipeline.lua"
    for _, change in ipairs { { '"images/', '"' .. DIGITS .. "/images/" }, { '"model"', '"' .. DIGITS .. '/model"' },
                              { "mini_batch_size = 5,", "mini_batch_size = 5, " .. more } } do
      local at, stop = text:find(change[1], 1, true)
      assert(at, change[1] .. " is not in the example")
      text = text:sub(1, at - 1) .. change[2] .. text:sub(stop + 1)
    end
    t:write("pipeline.lua", text)
    t:expect_job(0, nil, { limit = LIMIT })
    return t:sorted_lines "job/predict-digits/output/predictions.txt", t
  end

  it("give the lines that one machine gives", function()
    local expected = digits ""
    assert.equal(200, #expected)
    local lines, t = digits [[compute_target = "exec", node_command = "{program} node", node_count = 3,]]
    assert.same(expected, lines)
    assert.same(files_of(3), names_in(t, "job/nodes"))
  end)

  it("all have workers, whose logs are in folders of their own", function()
    local t = stopped_case(3, MARKED)
    finish(t)
    assert.same(job.names(INPUTS), t:rows())
    assert.same({ ["1"] = true, ["2"] = true, ["3"] = true }, nodes_of_tries(t))
    for id = 1, 3 do
      local names = names_in(t, "job/score/logs/user/stdout/" .. id)
      assert.equal(1, #names)
      assert.is_true(t:has_log(("sys/node/%d/%s"):format(id, names[1]:match "^(process%d+)%." .. ".txt")))
    end
    assert.same(files_of(3), names_in(t, "job/nodes"))
    job.expect_words(t:log "sys/master_role.txt", { "3 workers at most" })
    for id = 1, 3 do
      assert.equal("", t:read(("job/nodes/%d.txt"):format(id)))
      assert.equal("", t:log(("sys/node/%d/launcher.txt"):format(id)))
    end
  end)

  it("run a script from a shell", function()
    local t = new_case(1, MARKED)
    local r = t:run({ "map", "score.lua", "in/*", "--compute-target", "exec", "--node-command", "{program} node",
                      "--node-count", "2", "--process-count-per-node", "1" }, t.options)
    t:expect(r, 0)
    local count = select(2, r.out:gsub("%d%d%d%d%.txt\n", ""))
    assert.equal(INPUTS, count, r.out)
  end)

  it("are not started by --dry-run", function()
    local t = new_case(2, by_shell([[echo x >>"$2/started"; exec "$1" node]], "%s"))
    t:expect(t:run { "run", "pipeline.lua", "--dry-run" }, 0)
    assert.is_false(t:has "started")
    assert.is_false(t:has "job")
    t:expect_job(0, nil, t.options) -- the command does start nodes
    assert.is_true(t:has "started")
  end)
end)

describe("Ctrl-C", function()
  after_each(job.check_end)

  local function cancel(t)
    t.program:kill(programs.SIGINT)
    t:wait_for("run1.err", "cancel")
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 130)
    assert.equal(0, #t:processes())
    return t
  end

  it("ends the nodes; a resumed job has others", function()
    local t = cancel(stopped_case(2, MARKED))
    t:expect_job(0, { "--resume" }, t.options)
    assert.same(job.names(INPUTS), t:rows())
  end)

  it("ends a command that has not started its node", function()
    local t = new_case(1, by_shell([[echo >"$2/here-begun"; exec sleep 1000]], "%s"))
    t.program = t:start_job(nil, t.options)
    t:wait_for "here-begun"
    cancel(t)
  end)
end)

describe("a lost node", function()
  after_each(job.check_end)

  -- A mini-batch has one try, so a loss that counted as a try would cost its row.
  local function loses(kill)
    local t = stopped_case(3, MARKED, "run_max_try = 1")
    kill(t, relay_of(t, 2))
    waiting.wait_for_workers(t, 4, LIMIT)
    finish(t)
    assert.same(job.names(INPUTS), t:rows())
    assert.same(files_of(4), names_in(t, "job/nodes"))
    local log = t:log "sys/master_role.txt"
    job.expect_words(log, { "lost " .. named(2) .. " after ", "see 'nodes/2.txt'", named(4) .. " is ready" })
    assert.equal(1, count_of(log, "lost node "))
    assert.equal(1, count_of(log, "the connection to node 2 "))
    return t
  end

  it("is replaced when its relay is killed", function()
    local relay_of_2
    local t = loses(function(_, relay)
      relay_of_2 = relay
      programs.kill(relay, programs.SIGKILL)
    end)
    local r = json.decode(t:read "job/nodes/2.json")
    assert.same({ 2, "exec", relay_of_2 }, { r.id, r.compute_target, r.pid })
    assert.same({ "env", ("TM_NODE=%s/2"):format(t.dir) }, { r.command[1], r.command[2] })
    assert.equal("node", r.command[4])
    assert.is_true(r.asked <= r.started and r.started < r.ended)
    job.expect_words(r.why, { "lost node 2 ", ": the connection to node 2 has ended" })
    assert.is_nil(r.may_run)
    -- On a loaded machine it may find nothing to do before the job has closed.
    local why = json.decode(t:read "job/nodes/1.json").why
    assert.is_true(why == "the job has ended" or why == "it was given back: nothing was left for it to do", why)
  end)

  it("is replaced when its keeper is killed", function()
    loses(function(t, relay) programs.kill(child_of(t, relay, "keeper"), programs.SIGKILL) end)
  end)

  -- Nobody else is left to end what the worker has started: it must end before its folder does.
  local function loses_all_at_once()
    local t = new_case(1, MARKED, nil, waiting.SCRIPT .. [[
      function init()
        os.execute [=[setsid sh -c ': >"${HERE}begun"; while [ -d "$TMPDIR" ]; do :; done; : >"${HERE}outlived"' \
          >/dev/null 2>&1 &]=]
      end
      function run(m)
        wait_for "go"
        return names_of(m)
      end]])
    t.program = t:start_job(nil, t.options)
    t:wait_for "here-begun"
    local keeper, relay = child_of(t, t.program.pid, "keeper"), relay_of(t, 1)
    programs.kill(keeper, programs.SIGSTOP)
    programs.kill(child_of(t, relay, "keeper"), programs.SIGKILL)
    programs.kill(relay, programs.SIGKILL)
    programs.kill(keeper, programs.SIGKILL)
    t:wait_for "job/nodes/2.txt"
    assert.is_false(t:has "here-outlived")
    finish(t)
    assert.same(job.names(INPUTS), t:rows())
  end

  it("has no process that can write to its temporary folder when that is removed", function()
    for _ = 1, 5 do
      loses_all_at_once()
      job.check_end()
    end
  end)

  it("is not what a killed worker means", function()
    local t = stopped_case(3, MARKED)
    programs.kill(child_of(t, child_of(t, relay_of(t, 2), "keeper"), "worker"), programs.SIGKILL)
    finish(t)
    assert.same(job.names(INPUTS), t:rows())
    assert.equal(1, t:statuses().PROCESS_DIED)
    assert.same(files_of(3), names_in(t, "job/nodes"))
    assert.equal(0, count_of(t:log "sys/master_role.txt", "lost node "))
  end)

  -- A stopped command is killed 5 s after it was asked to end.
  it("gives its work back while its command still lives", function()
    local t = stopped_case(2, MARKED, "run_max_try = 1, node_timeout = 1")
    local relay = relay_of(t, 1)
    programs.kill(relay, programs.SIGSTOP)
    t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", "lost with its node", LIMIT)
    assert.is_true(programs.kill(relay, 0))
    programs.kill(relay, programs.SIGKILL)
    waiting.wait_for_workers(t, 3, LIMIT)
    finish(t)
    assert.same(job.names(INPUTS), t:rows())
    local loss = "nothing heard for 1 s: [^\n]*; %d+ mini%-batch%a* go%a* back to the queue, "
    job.expect_patterns(t:log "sys/master_role.txt", { loss })
  end)

  it("is known to be the keeper's fault if only that is stopped", function()
    local t = stopped_case(2, MARKED, "run_max_try = 1, node_timeout = 1")
    programs.kill(child_of(t, relay_of(t, 1), "keeper"), programs.SIGSTOP)
    waiting.wait_for_workers(t, 3, LIMIT)
    finish(t)
    assert.same(job.names(INPUTS), t:rows())
    job.expect_patterns(t:log "sys/master_role.txt",
                        { "the keeper of node 1 has not answered for 0%.%d s; its relay does",
                          "lost node 1 [^\n]*: its keeper has not answered for 1 s: [^\n]*; %d+ mini" })
  end)

  if os.getenv "TM_LONG" then -- these take 6 s and 8 s
    it("is replaced when its relay is stopped", function()
      local t = stopped_case(2, MARKED, "run_max_try = 1, node_timeout = 1")
      programs.kill(relay_of(t, 1), programs.SIGSTOP)
      waiting.wait_for_workers(t, 3, LIMIT)
      finish(t)
      assert.same(job.names(INPUTS), t:rows())
      job.expect_words(t:log "sys/master_role.txt", { "lost " .. named(1) .. " after ", named(3) .. " is ready" })
    end)

    it("is replaced when the job was stopped for eight times node_timeout", function()
      local t = stopped_case(2, MARKED, "run_max_try = 1, node_timeout = 1")
      t.program:kill(programs.SIGSTOP)
      programs.wait_until("the end of the nodes", function() return #t:processes_of "node" == 0 end, LIMIT)
      t.program:kill(programs.SIGCONT)
      waiting.wait_for_workers(t, 4, LIMIT)
      finish(t)
      assert.same(job.names(INPUTS), t:rows())
      assert.same(files_of(4), names_in(t, "job/nodes"))
    end)
  end

  local function loses_host(signal, more)
    local t = stopped_case(2, [[{ "sh", "-c", "echo $0 >>%s/hosts; exec env TM_NODE=$2 $1 node", "{host}",
      "{program}", "%s/{node_id}" }]], [[node_hosts = { "alpha", "beta", "gamma" }]] .. (more or ""))
    assert.same({ "alpha", "beta" }, t:sorted_lines "hosts")
    programs.kill(relay_of(t, 1), signal)
    waiting.wait_for_workers(t, 3, LIMIT)
    finish(t)
    assert.same({ "alpha", "beta", "gamma" }, t:sorted_lines "hosts")
    assert.same(job.names(INPUTS), t:rows())
    return t
  end

  it("is replaced on a spare host", function() loses_host(programs.SIGKILL) end)

  -- The command of a lost node is killed 5 s after it was asked to end, or when the job ends.
  it("is replaced on a spare host while its command does not end", function()
    local t = loses_host(programs.SIGSTOP, ", node_timeout = 1")
    local lost, replacement = json.decode(t:read "job/nodes/1.json"), json.decode(t:read "job/nodes/3.json")
    assert.equal("gamma", replacement.host)
    assert.is_true(replacement.started < lost.ended)
  end)

  it("has an id that a resumed job does not use again, and no other file decides", function()
    local t = stopped_case(2, MARKED)
    t.program:kill(programs.SIGKILL)
    t:finish(t.program, LIMIT)
    t:wait_for_none(LIMIT)
    assert.same(files_of(2), names_in(t, "job/nodes"))
    t:write("job/nodes/1000000.txt", "") -- nobody has launched so many
    waiting.let_go(t)
    t:expect_job(0, { "--resume" }, t.options)
    assert.same(job.names(INPUTS), t:rows())
    os.remove(t:path "job/nodes/1000000.txt")
    assert.same(files_of(4), names_in(t, "job/nodes"))
  end)
end)

describe("kill -9 at any moment", function()
  math.randomseed(tonumber(os.getenv "TM_SEED") or os.time())
  after_each(job.check_end)

  local BUSY = [[
function run(m)
  local until_s = os.clock() + 0.002
  repeat until os.clock() > until_s
  return names_of(m)
end]]

  local function run(t, while_it_runs)
    local begin_s = programs.now()
    local p = t:start_job(nil, t.options)
    local hit = while_it_runs and while_it_runs(p)
    t:expect(t:finish(p, LIMIT), 0)
    assert.same(job.names(INPUTS), t:rows())
    return hit, math.ceil((programs.now() - begin_s) * 1000)
  end

  --- Kills one process of a kind; the keeper of the job itself is not on a node.
  local function kill_one(t, supervisor, kind)
    local pids = {}
    for _, pid in ipairs(t:processes_of(kind)) do
      if programs.parent(pid) ~= supervisor then pids[#pids + 1] = pid end
    end
    return #pids > 0 and programs.kill(pids[math.random(#pids)], programs.SIGKILL)
  end

  for _, kind in ipairs { "node", "keeper", "worker" } do
    it("of a " .. kind .. " costs no row", function()
      local hits = 0
      local _, usual_ms = run(new_case(2, MARKED, nil, BUSY))
      for _ = 1, 20 * KILLS do -- a kill after the end hits nothing
        if hits >= KILLS then break end
        local t = new_case(2, MARKED, nil, BUSY)
        if run(t, function(p)
          programs.pass_ms(math.random(0, usual_ms))
          return kill_one(t, p.pid, kind)
        end) then hits = hits + 1 end
        job.check_end()
      end
      assert.equal(KILLS, hits)
    end)
  end
end)

describe("a command that starts nodes", function()
  after_each(job.check_end)

  -- The job gives up after a few starts.
  local function fails(command, words)
    local t = new_case(3, command)
    local r = t:run_job(nil, t.options)
    assert.equal(1, r.status, r.err)
    job.expect_words(r.err, words)
  end

  it("may be missing: the job fails, and names it", function()
    fails([[{ "no-such-command", "node" }]], { "no-such-command" })
  end)

  it("may fail: the job fails, and quotes its last line", function()
    fails(by_shell [[echo Permission denied. >&2; exit 255]], { "255", "Permission denied.", "nodes/" })
  end)

  it("may print before the node begins, which is reported once", function()
    local t = new_case(1, by_shell [[echo Welcome to alpha; exec "$1" node]])
    local r = t:expect_job(0, nil, t.options)
    assert.same(job.names(INPUTS), t:rows())
    assert.equal(1, count_of(r.err, "Welcome to alpha"), r.err)
  end)

  it("may write to stderr, which is in the node's file", function()
    local t = new_case(1, by_shell [[echo Welcome to beta >&2; exec "$1" node]])
    t:expect_job(0, nil, t.options)
    job.expect_words(t:read "job/nodes/1.txt", { "Welcome to beta" })
    assert.equal(t:read "job/nodes/1.txt", t:log "sys/node/1/launcher.txt")
    assert.is_truthy(t:expect(t:run { "logs", t.job_dir }, 0).out:find("Welcome to beta", 1, true))
  end)

  -- The first node's command prints when the test says so.
  it("may print while the node works: the node is lost, and no row", function()
    local t = new_case(1, by_shell([[mkdir "$2/first" 2>&- && (
        read -r line <"$2/print"
        echo "a message of a system administrator, longer than a header"
      ) & exec "$1" node]], "%s"), "run_max_try = 1", waiting.WORKERS)
    t:expect(t:run({ "-c", "mkfifo print" }, { program = "sh" }), 0)
    t.program = t:start_job(nil, t.options)
    waiting.wait_for_workers(t, 1, LIMIT)
    t:write("print", "now\n")
    waiting.wait_for_workers(t, 2, LIMIT)
    finish(t)
    assert.same(job.names(INPUTS), t:rows())
    job.expect_words(t:log "sys/master_role.txt", { "lost " .. named(1) .. " after ", named(2) .. " is ready" })
  end)

  -- job.check_end looks for the process.
  it("may start another process, which ends with the node", function()
    local t = new_case(1, by_shell [[sleep 1000 & exec "$1" node]])
    t:expect_job(0, nil, t.options)
    assert.same(job.names(INPUTS), t:rows())
  end)

  it("may never answer: after node_start_timeout another node is started", function()
    local t = new_case(1, by_shell([[mkdir "$2/first" 2>&- && exec sleep 1000; exec "$1" node]], "%s"),
                       "node_start_timeout = 2")
    local r = t:expect_job(0, nil, t.options)
    assert.same(job.names(INPUTS), t:rows())
    job.expect_words(r.err, { "node 1" })
    assert.same(files_of(2), names_in(t, "job/nodes"))
  end)

  -- Nodes 1 to 6 say who they are, and nothing after that.
  it("may fall silent when node_start_timeout is over, too", function()
    local t = new_case(6, by_shell([[test "$2" -gt 6 && exec "$1" node
      "$1" node | (dd bs=1 count=100 status=none; exec sleep 1000)]], "{node_id}"),
                       "node_timeout = 2, node_start_timeout = 2")
    local r = t:expect_job(0, nil, t.options)
    assert.same(job.names(INPUTS), t:rows())
    job.expect_words(r.err, { "cannot start node 1" })
  end)

  it("may never answer: after node_wait without any node the job fails", function()
    local t = new_case(2, '"sleep 1000"', "node_wait = 1")
    local r = t:run_job(nil, t.options)
    t:expect(r, 1)
    job.expect_words(r.err, { "the step had no node for 1 s (node_wait)" })
  end)
end)

-- The examples of lua/manual/nodes.md, in a copy of examples/hello.
describe("the page of nodes", function()
  after_each(job.check_end)

  local page = read_source "lua/manual/nodes.md"
  local EXPECTED = { "ebb.txt: 12 words", "flood.txt: 7 words", "flour.txt: 9 words", "gate.txt: 9 words",
                     "stones.txt: 4 words" }

  local function hello()
    local t = job.case()
    t:write("score.lua", read_source "examples/hello/score.lua")
    for name in lfs.dir(ROOT .. "/examples/hello/texts") do
      if name:find "%.txt$" then t:write("texts/" .. name, read_source("examples/hello/texts/" .. name)) end
    end
    return t
  end

  local function rows(t) return t:sorted_lines "job/count-words/output/parallel_run_step.txt" end

  it("has a command for a shell", function()
    local t = hello()
    local command = assert(page:match "\n    (tidemill map [^\n]*)\n")
    local r = t:run({ "-c", 'tidemill() { "$TIDEMILL" "$@"; }; ' .. command }, { program = "sh", limit = LIMIT })
    t:expect(r, 0)
    assert.equal(table.concat(EXPECTED, "\n") .. "\n", r.out)
    local jobs = names_in(t, "workspace/jobs")
    assert.is_true(t:has("workspace/jobs/" .. jobs[1] .. "/nodes/1.txt"))
  end)

  it("has a pipeline", function()
    local t = hello()
    t:write("pipeline.lua", assert(page:match "\n```lua\n(.-)\n```"))
    t:expect_job(0, nil, { limit = LIMIT })
    assert.same(EXPECTED, rows(t))
    assert.is_true(t:has "job/nodes/1.txt")
  end)

  -- `ssh` is a script here: it writes down its options and the host, and runs the command.
  it("has a configuration for ssh", function()
    local t = hello()
    local config = assert(page:match "\n## Over ssh\n.-\n```lua\n(.-)\n```")
    t:write("config.lua", config)
    t:write("pipeline.lua", [[
local tidemill = require "tidemill"
local step = tidemill.ParallelRunStep {
  name = "count-words", parallel_run_config = dofile "config.lua",
  inputs = tidemill.Dataset.File.from_files "texts/*.txt",
}
return tidemill.Pipeline { name = "hello", steps = { step } }
]])
    local write_hosts = assert(page:match "\n    (printf [^\n]*)\n")
    t:expect(t:run({ "-c", write_hosts }, { program = "sh" }), 0)
    t:write("bin/ssh", ('#!/bin/sh\necho "$1 $2 $3 $4" >>%s/calls\nshift 4\nexec "$@"\n'):format(t.dir))
    t:expect(t:run({ "-c", "chmod +x bin/ssh" }, { program = "sh" }), 0)
    t:expect_job(0, nil, { limit = LIMIT, env = { "PATH=" .. t.dir .. "/bin:" .. os.getenv "PATH" } })
    assert.same(EXPECTED, rows(t))
    for _, call in ipairs(t:sorted_lines "calls") do
      assert.is_truthy(call:find "^%-T %-o BatchMode=yes cn0[123]$", call)
    end
  end)
end)
