-- The job, its keeper or both are killed at random moments of a job on Slurm: within ten seconds
-- nothing is left in the queue or on the machines, and a resumed job writes each row once.
--
-- TM_SEED repeats a run; TM_KILLS says how many moments there are (5; with TM_LONG 50).
local job = require "support.job"
local programs = require "support.programs"
local slurm = require "support.slurm"

local KILLS = tonumber(os.getenv "TM_KILLS") or (os.getenv "TM_LONG" and 50 or 5)
local INPUTS = 300
local LIMIT = 120 -- seconds for a job: far more than it takes
local LEFT_LIMIT = 10 -- seconds, as promised; it takes less than half a second

local SCRIPT = [[
function run(m)
  local until_s = os.clock() + 0.002
  repeat until os.clock() > until_s
  return names_of(m)
end]]

local seed = tonumber(os.getenv "TM_SEED") or os.time()

--- The keeper that the job itself has started.
local function keeper_of(t)
  for _, pid in ipairs(t:processes_of "keeper") do
    if programs.parent(pid) == t.last.pid then return pid end
  end
end

local function kill_keeper(t)
  local pid = keeper_of(t)
  return pid and programs.kill(pid, programs.SIGKILL)
end

local function kill_job(t)
  local is_in_time = not t.last:has_ended()
  t.last:kill(programs.SIGKILL)
  return is_in_time
end

--- The keeper must not clean up between the two.
local function kill_both(t)
  local pid = keeper_of(t)
  if pid then programs.kill(pid, programs.SIGSTOP) end
  local is_in_time = kill_job(t)
  if pid then programs.kill(pid, programs.SIGKILL) end
  return is_in_time
end

local KINDS = {
  { name = "the job", kill = kill_job, ends_job = true },
  { name = "its keeper", kill = kill_keeper },
  { name = "both", kill = kill_both, ends_job = true },
}

describe("a job on Slurm that is killed at any moment", function()
  math.randomseed(seed)
  local cluster
  setup(function() cluster = slurm.start { nodes = 3 } end)
  teardown(function() if cluster then cluster:stop() end end)
  after_each(job.check_end)

  local function case()
    local t = job.case()
    t:inputs(INPUTS)
    t:script(SCRIPT)
    t:pipeline [[compute_target = "slurm", slurm_options = "--exclusive", node_count = 3, mini_batch_size = 1,
      process_count_per_node = 2, error_threshold = 0, run_max_try = 1, node_timeout = 1]]
    t.options = { env = { cluster.variable }, limit = LIMIT }
    return t
  end

  local function expect_nothing_left(t)
    programs.wait_until("an empty queue", function() return #cluster:queue() == 0 end, LEFT_LIMIT)
    t:wait_for_none(LEFT_LIMIT)
  end

  --- False: it had ended before.
  local function kill_once(kind, usual_ms)
    local t = case()
    t:start_job(nil, t.options)
    programs.pass_ms(math.random(0, usual_ms))
    local is_in_time = kind.kill(t)
    local r = t:finish(t.last, LIMIT)
    if kind.ends_job and is_in_time then
      expect_nothing_left(t)
      r = t:run_job({ "--resume" }, t.options)
    end
    t:expect(r, 0)
    assert.same(job.names(INPUTS), t:rows())
    expect_nothing_left(t)
    job.check_end()
    return is_in_time
  end

  local function usual_ms()
    local t, begin_s = case(), programs.now()
    t:expect_job(0, nil, t.options)
    return math.ceil((programs.now() - begin_s) * 1000)
  end

  it("leaves nothing behind, and loses no row when it is resumed", function()
    if not cluster then return pending(slurm.MISSING) end
    local count, limit_ms = 0, usual_ms()
    for tries = 1, 10 * KILLS do -- a kill after the end hits nothing
      if count >= KILLS then break end
      local kind = KINDS[(seed + tries) % #KINDS + 1]
      local ok, answer = pcall(kill_once, kind, limit_ms)
      if not ok then error(("kill -9 of %s (TM_SEED=%d, moment %d): %s"):format(kind.name, seed, tries, answer), 0) end
      count = count + (answer and 1 or 0)
    end
    assert.equal(KILLS, count)
  end)
end)
