-- `tidemill logs`: prints all messages of a job as one log, also while it runs.
local job = require "support.job"
local programs = require "support.programs"

-- Number 5 fails at its first try, 7 always; 3 kills its worker once. Each takes some ms before and
-- after it logs, because a log needs that much to tell two moments apart.
local SCRIPT = [[
local function work()
  local until_s = os.clock() + 0.004
  while os.clock() < until_s do end
end
local e = require "tidemill.entry_script"()
function init() e.logger:info "ready to begin" end
function run(m, context)
  local n = number_of(m[1])
  work()
  print("printed " .. n)
  e.logger:info("works on %d, try %d", n, context.try)
  work()
  if n == 5 and context.try == 1 then error "five is odd" end
  if n == 7 then error "seven is bad" end
  if n == 3 and context.try == 1 then require "tidemill.process".run { "sh", "-c", "kill -9 $PPID" } end
  return names_of(m)
end]]

local function new_case()
  local t = job.case()
  t:inputs(8)
  t:script(SCRIPT)
  t:pipeline "mini_batch_size = 1, run_max_try = 2, process_count_per_node = 1"
  return t
end

local function logs(t, ...)
  local r = t:run { "logs", t.job_dir, ... }
  t:expect(r, 0)
  assert.equal("", r.err)
  return r.out
end

--- Checks that each pattern is in the text, after the previous one.
local function expect_order(text, patterns)
  local at = 1
  for _, pattern in ipairs(patterns) do
    local first, last = text:find(pattern, at)
    assert.is_truthy(first, ("'%s' is missing behind byte %d of:\n%s"):format(pattern, at, text))
    at = last + 1
  end
end

local function expect_none(text, patterns)
  for _, pattern in ipairs(patterns) do
    assert.is_nil(text:find(pattern), ("'%s' is in:\n%s"):format(pattern, text))
  end
end

describe("logs", function()
  after_each(job.check_end)

  it("shows all messages in order of time, and the printed output", function()
    local t = new_case()
    t:expect_job(0)
    local all = logs(t)
    expect_order(all, { "|supervisor|step 'score' starts", "process000 %(node " .. job.NODE .. ", pid %d+%) started",
      "|process000|ready to begin\n", "|works on 1, try 1\n", "|works on 3, try 1\n", "|process001|works on ",
      "step 'score' is Completed: 8 mini%-batches, 7 succeeded, 1 failed" })
    expect_order(all, { "mini%-batch 6, try 2: RUN_EXCEPTION: [^\n]*seven is bad\nstack traceback:\n[^\n]+\n" })
    for n = 1, 8 do assert.is_truthy(all:find("\nprocess00%d%.stdout| printed " .. n .. "\n")) end
    expect_none(all, { "RUN_DONE" })
    assert.equal(all, logs(t, "--step", "score"))
  end)

  it("shows only errors and causes", function()
    local t = new_case()
    t:expect_job(0)
    local errors = logs(t, "--errors")
    local ended = "process000 %(node " .. job.NODE .. ", pid %d+%) ended: killed by signal 9"
    expect_order(errors, { "|WARNING|%d+|supervisor|" .. ended })
    expect_order(errors, { "five is odd\nstack traceback:", "seven is bad\nstack traceback:" })
    expect_none(errors, { "|INFO|", "printed %d", "works on" })
  end)

  it("ends errors with the cause of a Failed job", function()
    local t = new_case()
    t:pipeline "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1, error_threshold = 0"
    t:expect_job(1)
    expect_order(logs(t, "--errors"), { "|ERROR|%d+|supervisor|step 'score' is Failed: [^\n]*; cause: [^\n]+\n$" })
  end)

  it("shows everything about one worker", function()
    local t = new_case()
    t:expect_job(0)
    local all = logs(t, "--worker", "process000")
    expect_order(all, { "|keeper|process000 started: pid", "ready to begin", "|mini%-batch 0, try 1: RUN_DONE",
      "|keeper|process000 ended: pid %d+, killed by signal 9" })
    expect_order(all, { "\nprocess000%.stdout| printed 3\n" })
    expect_none(all, { "process001", "step 'score'" })
    local r = t:run { "logs", t.job_dir, "--worker", "process007" }
    t:expect(r, 2)
    assert.is_truthy(r.err:find("there is no worker 'process007'; known: process000, process001", 1, true), r.err)
  end)

  it("shows everything about one mini-batch", function()
    local t = new_case()
    t:expect_job(0)
    local seven = logs(t, "--mini-batch", "6")
    expect_order(seven, { "^mini%-batch 6 of step 'score': 1 item of dataset 'in', the first is '%S+/0007.txt'\n",
      "try %d: RUN_EXCEPTION at process001; 1 item, 0 succeeded, 0 failed, 1 to be tried again; " ..
      "began [%dTZ:.-]+, %S+ s, " ..
      "run%(%) %S+ s\n", "  [^\n]*seven is bad\n", "|process001|works on 7, try 1\n",
      "mini%-batch 6, try 1: RUN_EXCEPTION: ", "stack traceback:",
      "try %d: RUN_EXCEPTION at process001;", "works on 7, try 2\n",
      "mini%-batch 6, try 2: RUN_EXCEPTION: ", "stack traceback:",
      "\nagain: tidemill replay %S+/job %-%-mini%-batch 6\n$" })
    expect_none(seven, { "works on [1-6],", "five is odd", "mini%-batch 4" })
    local three = logs(t, "--mini-batch", "2")
    expect_order(three, { "try 1: PROCESS_DIED at process000", "|ERROR|%d+|process000|[^\n]*signal 9",
      "try 2: RUN_DONE at process001" })
    local r = t:run { "logs", t.job_dir, "--mini-batch", "8" }
    t:expect(r, 2)
    assert.is_truthy(r.err:find("step 'score' has no mini-batch 8; it has 8, numbered from 0", 1, true), r.err)
  end)

  it("distinguishes tries of parts", function()
    local t = job.case()
    t:inputs(4)
    t:script [[
      function run(m)
        for _, path in ipairs(m) do if number_of(path) == 3 then os.exit(7) end end
        return names_of(m)
      end]]
    t:pipeline [[mini_batch_size = 4, process_count_per_node = 1, run_max_try = 1, retry_delay = 0,
                 isolate_failures = true]]
    t:expect_job(0)
    local text = logs(t, "--mini-batch", "0")
    expect_order(text, { "^[^\n]*: 4 items of dataset 'in', [^\n]*\n  %S+/in/0001.txt\n  %S+/0002.txt\n" ..
      "  %S+/0003.txt\n  %S+/0004.txt\ntry " })
    expect_order(text, { "try %d: RUN_DONE at %S+ 2 items, 2 succeeded, 0 failed %(of its items 1%-2%)",
      "RUN_DONE at %S+ 1 item, 1 succeeded, 0 failed %(of its items 4%-4%)" })
    assert.is_truthy(text:find "PROCESS_DIED at %S+ 1 item, 0 succeeded, 1 failed %(of its items 3%-3%)")
    for good in text:gmatch "RUN_DONE[^\n]*\n(.-)%f[^\n]try %d:" do
      assert.is_nil(good:find "exited with status 7")
    end
  end)

  it("names the step in each line if there are several", function()
    local t = new_case()
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      local function step(name)
        return tm.ParallelRunStep { name = name, inputs = { tm.Dataset.File.from_files "in/*" },
          parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", process_count_per_node = 1 } }
      end
      return tm.Pipeline { name = "case", steps = { step "one", step "two" } }]])
    t:run_job()
    local all = logs(t)
    for _, name in ipairs { "one", "two" } do
      expect_order("\n" .. all, { "\n%[" .. name .. "%] [^\n]*step '" .. name .. "' starts",
        "\n%[" .. name .. "%] process%d+%.stdout| printed 1\n" })
    end
    expect_none(all, { "\n[^%[]" })
    -- they ran at the same time, and the output says so
    expect_order(all, { "'two' starts", "'one' is Completed" })
    expect_none(logs(t, "--step", "two"), { "%[two%]", "step 'one'" })
    expect_order(logs(t, "--mini-batch", "0"), { "mini%-batch 0 of step 'one'", "%-%-step one %-%-mini%-batch 0\n",
      "mini%-batch 0 of step 'two'", "%-%-step two %-%-mini%-batch 0\n" })
    expect_order(logs(t, "--mini-batch", "0", "--step", "two"),
                 { "tidemill replay %S+ %-%-step two %-%-mini%-batch 0\n$" })
    local r = t:run { "logs", t.job_dir, "--step", "tow" }
    t:expect(r, 2)
    assert.is_truthy(r.err:find("there is no step 'tow'; known: one, two", 1, true), r.err)
  end)

  it("refuses options that do not fit", function()
    local t = new_case()
    t:expect_job(0)
    local function refused(words, message)
      local r = t:run { "logs", unpack(words) }
      t:expect(r, 2)
      assert.is_truthy(r.err:find(message, 1, true), r.err)
    end
    refused({}, "there is no job yet")
    refused({ t.job_dir, "--mini-batch", "x" }, "'--mini-batch' is \"x\"; accepted: a number from 0 on")
    refused({ t.job_dir, "--mini-batch", "1", "--follow" }, "'--mini-batch' goes with '--step' alone")
    refused({ t.job_dir, "--folow" }, "--follow")
    refused({ t.dir .. "/none" }, t.dir .. "/none")
  end)

  it("shows a log torn by a kill as far as it goes", function()
    local t = new_case()
    t:expect_job(0)
    local path = t.step_dir .. "/logs/sys/master_role.txt"
    t:write(path, t:read(path) .. "2026-01-31 23:59:5")
    expect_order(logs(t), { "2026%-01%-31 23:59:5\n" })
    os.execute("rm -r '" .. t.step_dir .. "/logs'")
    local r = t:run { "logs", t.job_dir }
    t:expect(r, 0)
    assert.is_truthy(r.err:find("has no logs yet", 1, true))
    assert.equal("", r.out)
    r = t:run { "logs", t.job_dir, "--errors" }
    t:expect(r, 0)
    assert.is_truthy(r.err:find("has no logs yet", 1, true))
  end)

  it("shows no errors if there are none", function()
    local t = job.case()
    t:inputs(2)
    t:script "function run(m) return names_of(m) end"
    t:pipeline ""
    t:expect_job(0)
    local r = t:run { "logs", t.job_dir, "--errors" }
    t:expect(r, 0)
    assert.equal("", r.out .. r.err)
  end)
end)

--- A job whose mini-batch N waits for the file goN, and a command that follows its log.
local function followed_case(words)
  local t = job.case()
  t:inputs(3)
  t:script [[
    function run(m)
      local n = number_of(m[1])
      print("printed " .. n)
      while not require "tidemill.fs".exists(os.getenv "GO" .. n) do end
      if n == 2 then error "two is bad" end
      return names_of(m)
    end]]
  t:pipeline "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1"
  local runs = t:start_job(nil, { env = { "GO=" .. t.dir .. "/go" } })
  t:wait_for("job/score/logs/sys/master_role.txt", "is ready")
  local follows = t:start { "logs", t.job_dir, "--follow", unpack(words or {}) }
  return t, runs, follows
end

local function wait_told(t, follows, pattern)
  t.last = follows
  return t:wait_for(follows.out_file, pattern, 60)
end

describe("logs --follow", function()
  after_each(job.check_end)

  it("shows new lines at once, and ends with the job", function()
    local t, runs, follows = followed_case()
    wait_told(t, follows, "process000%.stdout| printed 1\n")
    local text = t:read(follows.out_file)
    expect_none(text, { "printed 2" })
    t:write("go1", "")
    wait_told(t, follows, "printed 2\n")
    t:write("go2", "")
    wait_told(t, follows, "two is bad\nstack traceback:\n")
    wait_told(t, follows, "printed 3\n")
    assert.is_false(follows:has_ended())
    t:write("go3", "")
    t:expect(t:finish(runs), 0)
    local r = t:finish(follows, 60)
    t:expect(r, 0)
    expect_order(r.out, { "step 'score' starts", "two is bad", "step 'score' is Completed" })
    expect_order(r.out, { "printed 1\n", "printed 2\n", "printed 3\n", "step 'score' is Completed" })
    for _, line in ipairs { "printed 1", "printed 2", "two is bad", "is Completed" } do
      local _, n = r.out:gsub(line, "")
      assert.equal(1, n, line)
    end
  end)

  it("ends when the job is killed", function()
    local t, runs, follows = followed_case()
    wait_told(t, follows, "printed 1\n")
    runs:kill(programs.SIGKILL)
    t:finish(runs)
    t:expect(t:finish(follows, 60), 0)
    t:wait_for_none()
  end)

  it("shows only errors", function()
    local t, runs, follows = followed_case { "--errors" }
    for n = 1, 3 do t:write("go" .. n, "") end
    t:expect(t:finish(runs), 0)
    local r = t:finish(follows, 60)
    t:expect(r, 0)
    expect_order(r.out, { "two is bad\nstack traceback:" })
    expect_none(r.out, { "printed", "|INFO|" })
  end)

  it("shows a finished job, and ends", function()
    local t = new_case()
    t:expect_job(0)
    assert.equal(logs(t), logs(t, "-f"))
  end)
end)
