--- Sweeps: disturbs a job at one of its file calls after another: at all of them with TM_LONG, and
--- otherwise at a random choice, which TM_SEED repeats.
local assert = require "luassert"

local sweep = { LONG = os.getenv "TM_LONG" ~= nil, LIMIT = 20 }

--- The seed of the choice; a test that prints its counts prints this too.
sweep.SEED = tonumber(os.getenv "TM_SEED") or os.time()
math.randomseed(sweep.SEED)

--- Options of run_job(): what happens to the supervisor's file calls (tests/fault).
---@param plan string "kill@7", "fail@7:EIO", "short@7", "record:FILE"
---@param limit? number seconds
---@return table
function sweep.faults(plan, limit)
  return { env = { "TM_FAULTS=" .. plan }, limit = limit or sweep.LIMIT }
end

--- Runs the case undisturbed: how many file calls that takes, and how many of them change
--- something.
---@param t table a case of support.job
---@param arguments? string[] of the run
---@return integer calls
---@return integer changes
function sweep.count(t, arguments)
  t:expect_job(0, arguments, sweep.faults("record:" .. t:path "calls"))
  local calls, changes = 0, 0
  for call, change in t:read("calls"):gmatch "(%d+) (%S+) [^\n]*\n" do
    calls = math.max(calls, tonumber(call))
    changes = math.max(changes, tonumber(change) or 0)
  end
  return calls, changes
end

--- The calls to disturb among 1 .. n: all of them, or about `wanted`, evenly spread after a random
--- first one.
---@param n integer
---@param wanted integer
---@return integer[]
function sweep.some_of(n, wanted)
  local step = sweep.LONG and 1 or math.max(1, n / wanted)
  local list, at = {}, 1 + (sweep.LONG and 0 or math.random() * (step - 1))
  while at <= n do
    list[#list + 1] = math.floor(at)
    at = at + step
  end
  return list
end

--- Runs the case with a call that fails: the job completes, or ends in order and says why.
---@param t table a case of support.job
---@param plan string as of faults()
---@param limit? number seconds
---@return boolean completed
function sweep.run_with_failure(t, plan, limit)
  local r = t:run_job(nil, sweep.faults(plan, limit))
  assert.is_true(r.status == 0 or r.status == 2 or r.status == 3, ("%s: status %s, signal %s\n%s"):format(plan,
    r.status, r.signal, r.err))
  assert.is_true(r.status == 0 or r.err:find "%S" ~= nil, plan .. ": no words")
  return r.status == 0
end

return sweep
