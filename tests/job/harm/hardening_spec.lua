-- What a machine does to a job: it runs out of descriptors, logs vanish or their disk is full, the
-- wall clock jumps, one job directory has two names. Nothing hangs; the job continues if it can,
-- and otherwise says why not.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local waiting = require "support.waiting"

local CLOCKS = assert(os.getenv "TIDEMILL_CLOCKS", "TIDEMILL_CLOCKS is not set: the program with clocks of its own")
local FAULTS = assert(os.getenv "TIDEMILL_FAULTS", "TIDEMILL_FAULTS is not set: the program over files that fail")
local function echo_case(n, config)
  local t = job.case()
  t:inputs(n)
  t:script "function run(m) return names_of(m) end"
  t:pipeline("mini_batch_size = 1, " .. (config or "process_count_per_node = 2"))
  return t
end

local function waiting_case()
  local t = waiting.case()
  programs.wait_until("the second worker", function() return #t:processes_of "worker" == 2 end, 20)
  return t
end

local function remove_tree(path)
  if lfs.symlinkattributes(path, "mode") ~= "directory" then return os.remove(path) end
  for name in lfs.dir(path) do
    if name ~= "." and name ~= ".." then remove_tree(path .. "/" .. name) end
  end
  lfs.rmdir(path)
end

local function count_of(text, pattern) return select(2, text:gsub(pattern, "")) end

--- Arguments to put before the program's, so that it runs with a file system of its own, which
--- disappears with it. Nil if mounting is not allowed.
local function with_mount(t, mount)
  local words = { "unshare", "-m", "sh", "-c", mount .. ' && exec "$@"', "sh" }
  local probe = programs.start({ "unshare", "-m", "sh", "-c", mount },
                               { stdout = "/dev/null", stderr = t:path "probe" })
  return probe:wait(20) == 0 and words or nil
end

describe("a process that may open no more files", function()
  after_each(job.check_end)

  --- `pid` keeps its open files and can open no more.
  local function starve(t, pid)
    local p = programs.start({ "prlimit", "--pid", tostring(pid), "--nofile=3:3" },
                             { stdout = "/dev/null", stderr = t:path "prlimit" })
    assert.equal(0, p:wait(20))
  end

  it("if a keeper, starts no worker, and the others continue", function()
    local t = waiting_case()
    starve(t, t:processes_of "keeper"[1])
    -- the keeper has to start another worker in its place, and cannot
    programs.kill(t:processes_of "worker"[1], programs.SIGKILL)
    t:wait_for("job/score/logs/sys/node/0/_main.txt", "could not be started: [^\n]*too many open files")
    waiting.let_go(t)
    t:expect(t:finish(t.program, 60), 0)
    assert.same(job.names(12), t:rows())
  end)

  it("if the supervisor, ends the job with a reason, and it can be resumed", function()
    local t = waiting_case()
    starve(t, t.program.pid)
    waiting.let_go(t)
    local r = t:finish(t.program, 60)
    -- which must open files itself, and fails
    if not r.err:find "LeakSanitizer" then t:expect(r, 3) end
    assert.is_truthy(r.err:find "too many open files", r.err)
    t:expect_job(0, { "--resume" }, t.options)
    assert.same(job.names(12), t:rows())
  end)
end)

describe("a log", function()
  after_each(job.check_end)

  it("whose folder is deleted during the run does not harm the job", function()
    local t = waiting_case()
    remove_tree(t.step_dir .. "/logs")
    waiting.let_go(t)
    local r = t:finish(t.program, 60)
    t:expect(r, 0)
    assert.same(job.names(12), t:rows())
    for line in r.err:gmatch "[^\n]*continues without it" do
      assert.equal(1, count_of(r.err, (line:gsub("%p", "%%%0"))), line)
    end
  end)

  it("that a disk error keeps from being written is reported once, and the job continues", function()
    local t = echo_case(30)
    t:expect_job(0, nil, { program = FAULTS, env = { "TM_FAULTS=record:" .. t:path "calls" } })
    local calls = {}
    for number, name, path in t:read("calls"):gmatch "(%d+) %S+ (%S+) (%S+)\n" do
      if name == "pwrite" and path:find "/logs/" then calls[#calls + 1] = tonumber(number) end
    end
    assert.is_true(#calls >= 3)
    local hit = 0
    for i = 1, #calls do
      local u = echo_case(30)
      local r = u:run_job(nil, { program = FAULTS, env = { ("TM_FAULTS=fail@%d:EIO"):format(calls[i]) } })
      -- calls of threads vary: the fault may have hit another file
      if r.err:find "/logs/[^\n]*i/o error" then
        hit = hit + 1
        u:expect(r, 0)
        assert.same(job.names(30), u:rows())
        assert.equal(1, count_of(r.err, "i/o error[^\n]*the job continues without it"), r.err)
      end
    end
    assert.is_true(hit > 0)
  end)

  it("on a full disk is reported once, and the output is still written", function()
    local t = job.case()
    t:inputs(1500)
    t:script [[function run(m)
      if not os.getenv "GO" then error "not yet" end
      return names_of(m)
    end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2, run_max_try = 1, error_threshold = 0"
    t:expect_job(1)
    local before = with_mount(t, "mount -t tmpfs -o size=64k none " .. t.step_dir .. "/logs")
    if not before then return pending "needs the right to mount" end
    local r = t:expect_job(0, { "--resume" }, { before = before, env = { "GO=1" }, limit = 60 })
    assert.equal(1500, #t:rows())
    assert.is_truthy(r.err:find "no space left on device[^\n]*the job continues without it", r.err)
    for line in r.err:gmatch "[^\n]*continues without it" do
      assert.equal(1, count_of(r.err, (line:gsub("%p", "%%%0"))), line)
    end
  end)
end)

describe("a wall clock that jumps by days", function()
  after_each(job.check_end)

  it("delays nothing and causes no timeout", function()
    local t = echo_case(200, "process_count_per_node = 2, run_max_try = 1, run_invocation_timeout = 20")
    local r = t:expect_job(0, nil, { program = CLOCKS, env = { "TM_CLOCK_JUMPS=1" }, limit = 60 })
    assert.same(job.names(200), t:rows())
    assert.same({ RUN_DONE = 200 }, t:statuses())
    assert.equal("Completed", r.result.status)
  end)
end)

describe("a job directory with a second mount", function()
  after_each(job.check_end)

  it("is in use by both paths", function()
    local t = waiting_case()
    lfs.mkdir(t:path "other")
    local before = with_mount(t, ("mount --bind %s %s"):format(t.job_dir, t:path "other"))
    if before then
      local second = t:start({ "run", "pipeline.lua", "--resume", "--job-dir", t:path "other", "--progress", "none" },
                             { before = before, env = t.options.env })
      local r = t:finish(second, 60)
      assert.equal(3, r.status, r.err)
      assert.is_truthy(r.err:find "in use", r.err)
    end
    waiting.let_go(t)
    t:expect(t:finish(t.program, 60), 0)
    assert.same(job.names(12), t:rows())
    if not before then pending "needs the right to mount" end
  end)
end)
