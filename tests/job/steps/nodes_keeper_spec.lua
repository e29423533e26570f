-- The keeper of the supervisor's machine runs the commands that carry nodes. It is killed while
-- they work: no node is lost, and the next keeper ends their commands.
--
-- TM_KILLS: how often it is killed at random moments (1; with TM_LONG 50).
local job = require "support.job"
local programs = require "support.programs"
local waiting = require "support.waiting"
local lfs = require "lfs"

local KILLS = tonumber(os.getenv "TM_KILLS") or os.getenv "TM_LONG" and 50 or 1
local INPUTS = 20
local NODES = 2
local LIMIT = 120 -- seconds for a job: far more than it takes
local LEFT_LIMIT = 60 -- seconds; the dead-man timer of a node needs 8

-- Each run() leaves a line, before it does what WORKERS does.
local SCRIPT = waiting.WORKERS .. [[

local wait = run
function run(m)
  local file = io.open(os.getenv "HERE" .. "ran", "a")
  file:write(names_of(m)[1], "\n")
  file:close()
  return wait(m)
end]]

local COMMAND = [[{ "env", "TM_NODE=%s/{node_id}", "{program}", "node" }]]

local function new_case(script)
  local t = job.case { for_others = true }
  t:inputs(INPUTS)
  t:script(script)
  t:pipeline(([[compute_target = "exec", node_count = %d, node_command = %s, mini_batch_size = 1,
    process_count_per_node = 1, error_threshold = 0, run_max_try = 1, node_timeout = 1]])
    :format(NODES, COMMAND:format(t.dir)))
  t.options = waiting.here(t)
  t.options.limit = LIMIT
  return t
end

--- A job whose workers, one on each node, all wait in run().
local function stopped_case()
  local t = new_case(SCRIPT)
  t.program = t:start_job(nil, t.options)
  waiting.wait_for_workers(t, NODES, LIMIT)
  return t
end

--- nil: there is none at the moment.
local function keeper_of(t)
  for _, pid in ipairs(t:processes_of "keeper") do
    if programs.parent(pid) == t.last.pid then return pid end
  end
end

local function relay_of(t, id)
  for _, p in ipairs(programs.find("TM_NODE=" .. t.dir .. "/" .. id)) do
    if p.argv[2] == "node" then return p.pid end
  end
end

--- Kills the keeper, and waits for the next one to have adopted the commands.
local function kill_keeper(t)
  local keeper = assert(keeper_of(t))
  programs.kill(keeper, programs.SIGKILL)
  programs.wait_until("another keeper", function()
    local other = keeper_of(t)
    return other and other ~= keeper
  end, LIMIT)
end

local function finish(t)
  waiting.let_go(t)
  return t:expect(t:finish(t.program, LIMIT), 0)
end

local function ids_in(t)
  local ids = {}
  for name in lfs.dir(t:path "job/nodes") do
    ids[#ids + 1] = name:match "^(%d+)%.txt$"
  end
  table.sort(ids)
  return ids
end

local function expect_nothing_lost(t)
  assert.same(job.names(INPUTS), t:rows())
  assert.same(job.names(INPUTS), t:sorted_lines "here-ran")
  assert.same({ "1", "2" }, ids_in(t))
  assert.is_nil(t:log("sys/master_role.txt"):find("lost node", 1, true))
end

describe("a killed keeper of the job", function()
  after_each(job.check_end)

  it("costs no node, and no mini-batch runs twice", function()
    local t = stopped_case()
    local relays = { relay_of(t, 1), relay_of(t, 2) }
    for _ = 1, 3 do kill_keeper(t) end
    assert.same(relays, { relay_of(t, 1), relay_of(t, 2) })
    finish(t)
    expect_nothing_lost(t)
  end)

  it("has a successor that notices the end of a command, and starts another node", function()
    local t = stopped_case()
    kill_keeper(t)
    programs.kill(relay_of(t, 1), programs.SIGKILL)
    waiting.wait_for_workers(t, NODES + 1, LIMIT)
    finish(t)
    assert.same(job.names(INPUTS), t:rows())
    assert.same({ "1", "2", "3" }, ids_in(t))
    job.expect_words(t:log "sys/master_role.txt", { "lost node 1 ", "the connection to node 1 " })
  end)

  -- A stopped relay does not end by itself, and is killed 5 s after it was asked to.
  it("has a successor that ends commands", function()
    local t = stopped_case()
    local relay = relay_of(t, 1)
    kill_keeper(t)
    programs.kill(relay, programs.SIGSTOP)
    waiting.wait_for_workers(t, NODES + 1, LIMIT)
    programs.wait_until("the end of the relay", function() return not programs.kill(relay, 0) end, LIMIT)
    finish(t)
    assert.same(job.names(INPUTS), t:rows())
  end)

  it("has a successor that ends everything if the job is killed", function()
    local t = stopped_case()
    kill_keeper(t)
    t.program:kill(programs.SIGKILL)
    t:finish(t.program, LIMIT)
    t:wait_for_none(LEFT_LIMIT)
  end)

  it("has no successor if the job is killed, too: the nodes end by themselves", function()
    local t = stopped_case()
    local keeper = assert(keeper_of(t))
    programs.kill(t.program.pid, programs.SIGSTOP)
    programs.kill(keeper, programs.SIGKILL)
    t.program:kill(programs.SIGKILL)
    t:finish(t.program, LIMIT)
    t:wait_for_none(LEFT_LIMIT)
    waiting.let_go(t)
    t:expect_job(0, { "--resume" }, t.options)
    assert.same(job.names(INPUTS), t:rows())
  end)

  local function replace_program(t, text)
    t:write("next", text)
    assert(os.execute(("chmod 755 '%s'"):format(t:path "next")))
    os.rename(t:path "tidemill", t:path "real")
    os.rename(t:path "next", t:path "tidemill")
  end

  it("has no successor if none can be started: the nodes end, and the job is Failed", function()
    local t = stopped_case()
    os.remove(t:path "tidemill")
    programs.kill(assert(keeper_of(t)), programs.SIGKILL)
    local r = t:finish(t.program, LIMIT)
    assert.equal(3, r.status, r.err)
    job.expect_words(r.err, { "cannot start the keeper of node 0" })
    t:wait_for_none(LEFT_LIMIT)
  end)

  it("has five successors at most if none of them can work: the job is Failed", function()
    local t = stopped_case()
    replace_program(t, ([[#!/bin/sh
      if [ "$1" = keeper ]; then echo >>"%s/keepers"; exit 7; fi
      exec "%s/real" "$@"]]):format(t.dir, t.dir))
    programs.kill(assert(keeper_of(t)), programs.SIGKILL)
    local r = t:finish(t.program, LIMIT)
    assert.equal(3, r.status, r.err)
    job.expect_words(r.err, { "the keeper of this machine, which starts the nodes, was lost 5 times in a row: ",
                              "the keeper of the workers has ended" })
    assert.is_true(#t:read "keepers" <= 5)
    t:wait_for_none(LEFT_LIMIT)
  end)

  it("costs its nodes if four keepers in a row are lost", function()
    local t = stopped_case()
    replace_program(t, ([[#!/bin/sh
      if [ "$1" = keeper ] && [ ! -e "%s/x3" ]; then
        for i in 1 2 3; do
          if [ ! -e "%s/x$i" ]; then : >"%s/x$i"; exit 1; fi
        done
      fi
      exec "%s/real" "$@"]]):format(t.dir, t.dir, t.dir, t.dir))
    programs.kill(assert(keeper_of(t)), programs.SIGKILL)
    waiting.wait_for_workers(t, 2 * NODES, LIMIT)
    assert.is_nil(relay_of(t, 1))
    finish(t)
    assert.same(job.names(INPUTS), t:rows())
    assert.same({ "1", "2", "3", "4" }, ids_in(t))
    job.expect_words(t:log "sys/master_role.txt",
                     { "lost node 1 ", "the keeper of this machine, which ran its command, is lost" })
  end)

  it("does not disturb Ctrl-C", function()
    local t = stopped_case()
    kill_keeper(t)
    t.program:kill(programs.SIGINT)
    t:wait_for("run1.err", "cancel")
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 130)
    assert.equal(0, #t:processes())
  end)
end)

describe("kill -9 at random moments", function()
  after_each(job.check_end)

  local seed = tonumber(os.getenv "TM_SEED") or os.time()
  local BUSY = [[
    function run(m)
      local until_s = os.clock() + 0.003
      repeat until os.clock() > until_s
      return names_of(m)
    end]]

  --- False: it had ended before.
  local function kill_keeper_once(t)
    local keeper = keeper_of(t)
    return keeper and programs.kill(keeper, programs.SIGKILL)
  end

  local kinds = {
    { name = "the keeper of the job", kill = kill_keeper_once },
    { name = "the keeper of the job, and then the job", ends = true, kill = function(t)
      if not kill_keeper_once(t) then return false end
      programs.pass_ms(math.random(0, 20))
      return not t.last:has_ended() and (t.last:kill(programs.SIGKILL) or true)
    end },
    { name = "the job, and then its keeper", ends = true, kill = function(t)
      local keeper = keeper_of(t)
      if t.last:has_ended() then return false end
      t.last:kill(programs.SIGKILL)
      programs.pass_ms(math.random(0, 20))
      if keeper then programs.kill(keeper, programs.SIGKILL) end
      return true
    end },
  }

  local function kill_once(kind, usual_ms)
    local t = new_case(BUSY)
    t:start_job(nil, t.options)
    programs.pass_ms(math.random(0, usual_ms))
    local is_hit = kind.kill(t)
    local r = t:finish(t.last, LIMIT)
    if is_hit and kind.ends then
      t:wait_for_none(LEFT_LIMIT)
      r = t:run_job({ "--resume" }, t.options)
    end
    t:expect(r, 0)
    assert.same(job.names(INPUTS), t:rows())
    t:wait_for_none(LEFT_LIMIT)
    job.check_end()
    return is_hit
  end

  for _, kind in ipairs(kinds) do
    it("of " .. kind.name .. " costs no row, and leaves nothing", function()
      math.randomseed(seed)
      local begin_s, hits = programs.now(), 0
      new_case(BUSY):expect_job(0)
      local usual_ms = math.ceil((programs.now() - begin_s) * 1000)
      for _ = 1, 20 * KILLS do -- a kill after the end hits nothing
        if hits >= KILLS then break end
        local ok, answer = pcall(kill_once, kind, usual_ms)
        if not ok then error(("TM_SEED=%d: %s"):format(seed, answer), 0) end
        hits = hits + (answer and 1 or 0)
      end
      assert.equal(KILLS, hits)
    end)
  end
end)
