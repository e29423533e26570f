-- Others interfere with a running job, or with its directory between two sessions: nothing hangs,
-- and no row is lost, doubled or invented.
local ffi = require "ffi"
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local waiting = require "support.waiting"

ffi.cdef "int mkfifo(const char *path, unsigned mode);"

local ECHO = "function run(m) return names_of(m) end"
local PARTIAL = waiting.PARTIAL

local expect_words = job.expect_words

local function fifo_case(script, config)
  local t = job.case()
  t:inputs(6)
  t:script(script)
  t:pipeline(config)
  t:write("pipeline.lua", (t:read "pipeline.lua":gsub('from_files%("in/%*"%)', 'from_manifest("list")')))
  assert.equal(0, ffi.C.mkfifo(t:path "list", 384))
  return t
end

describe("a list of paths whose end never comes", function()
  after_each(job.check_end)
  local CONFIG = "mini_batch_size = 1, process_count_per_node = 2, run_max_try = 1, error_threshold = 0"

  it("without a writer does not delay a cancellation", function()
    local t = fifo_case(ECHO, CONFIG)
    local p = t:start_job()
    t:wait_for "job/score/state/manifest"
    p:kill(programs.SIGINT)
    t:expect(t:finish(p, 10), 130)
  end)

  it("is used as far as it came, and does not delay a cancellation", function()
    local t = fifo_case(ECHO, CONFIG)
    local p = t:start_job()
    local list = assert(io.open(t:path "list", "w"))
    list:write "in/0001.txt\nin/0002.txt\nin/0003.txt\n"
    list:flush()
    programs.wait_until("three rows", function()
      return t:has(PARTIAL) and #t:sorted_lines(PARTIAL) == 3
    end)
    p:kill(programs.SIGINT)
    t:expect(t:finish(p, 10), 130)
    list:close()
  end)

  it("does not delay the end of a failed job", function()
    local t = fifo_case("function run() error 'no' end", CONFIG)
    local p = t:start_job()
    local list = assert(io.open(t:path "list", "w"))
    list:write "in/0001.txt\n"
    list:flush()
    t:expect(t:finish(p, 10), 1)
    list:close()
  end)

  it("is read to its end if that comes", function()
    local t = fifo_case(ECHO, CONFIG)
    local p = t:start_job()
    local list = assert(io.open(t:path "list", "w"))
    for i = 1, 6 do list:write(("in/%04d.txt\n"):format(i)) end
    list:close()
    t:expect(t:finish(p, 10), 0)
    assert.same(job.names(6), t:rows())
  end)
end)

describe("a worker", function()
  after_each(job.check_end)

  it("that sends an invalid frame is killed, and the job ends", function()
    local t = job.case()
    t:inputs(6)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "long write(int fd, const void *p, unsigned long n); int pause(void);"
      function run(m)
        if number_of(m[1]) == 3 then
          ffi.C.write(3, ("\255"):rep(64), 64)
          ffi.C.pause() -- else it may have begun the next mini-batch when it is killed
        end
        return names_of(m)
      end]]
    t:pipeline "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 2"
    local r = t:expect_job(0, nil, { limit = 15 })
    assert.same({ "0001.txt", "0002.txt", "0004.txt", "0005.txt", "0006.txt" }, t:rows())
    expect_words(r.err, { "sent bytes that cannot be read; it is killed", "1 time: killed by the supervisor " })
  end)

  it("that dies loses no other mini-batch for good", function()
    local t = job.case()
    t:inputs(300)
    t:script "function run(m) if number_of(m[1]) % 5 == 0 then os.exit(1) end return names_of(m) end"
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
    -- 180 workers start. A sanitizer need not list what os.exit() leaves allocated: nothing is
    -- freed.
    local r = t:expect_job(0, nil, { limit = 150, env = { "ASAN_OPTIONS=detect_leaks=0" } })
    assert.same({ total = 300, succeeded = 240, failed = 60 }, r.result.steps[1].items)
    assert.equal(180, t:statuses().PROCESS_DIED)
  end)
end)

describe("a stopped keeper", function()
  after_each(job.check_end)

  it("is woken to end its processes", function()
    local t = waiting.case()
    local keeper = t:processes_of "keeper"[1]
    programs.kill(keeper, 19) -- SIGSTOP
    t.program:kill(programs.SIGINT)
    t:wait_for("run1.err", "canceling")
    programs.pass_ms(600)
    t.program:kill(programs.SIGINT)
    t:expect(t:finish(t.program, 10), 130)
    assert.equal(0, #t:processes())
  end)
end)

describe("a killed keeper", function()
  after_each(job.check_end)

  it("leaves no process that its workers had started", function()
    local t = job.case()
    t:inputs(2)
    t:script [[function run(m)
      local go = io.open(os.getenv "HERE" .. "go") -- looks before it signals its start
      io.open(os.getenv "HERE" .. name_of(m[1]), "w"):close()
      if not go then
        os.execute "tail -f /dev/null & setsid tail -f /dev/null"
      end
      return names_of(m)
    end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
    local p = t:start_job(nil, { env = { "HERE=" .. t:path "here-" } })
    t:wait_for "here-0001.txt"
    t:wait_for "here-0002.txt"
    t:write("here-go", "")
    programs.wait_until("four programs", function()
      local n = 0
      for _, q in ipairs(t:processes()) do if q.argv[1] == "tail" then n = n + 1 end end
      return n == 4
    end)
    programs.kill(t:processes_of "keeper"[1], programs.SIGKILL)
    t:expect(t:finish(p, 15), 0)
    assert.same(job.names(2), t:rows())
    assert.equal(0, #t:processes())
  end)
end)

describe("an output file", function()
  after_each(job.check_end)

  it("that was shortened stops the job", function()
    local t = waiting.case()
    t:write(PARTIAL, "0001")
    local r = waiting.go_on(t)
    t:expect(r, 3)
    expect_words(r, { "shorter" })
  end)

  it("that somebody wrote to ends up with only the committed rows", function()
    local t = waiting.case()
    local file = assert(io.open(t:path(PARTIAL), "a"))
    file:write(("another's\n"):rep(100))
    file:close()
    t:expect(waiting.go_on(t), 0)
    assert.same(job.names(12), t:rows())
  end)

  it("that was replaced is not published", function()
    local t = waiting.case()
    os.remove(t:path(PARTIAL))
    t:write(PARTIAL, ("another's\n"):rep(100))
    local r = waiting.go_on(t)
    t:expect(r, 3)
    expect_words(r, { "replaced" })
    assert.is_false(t:has "job/score/output/parallel_run_step.txt")
  end)

  it("at its size limit ends the job, which can be resumed with more room", function()
    for _, size in ipairs { 100000, 1500000 } do
      local t = job.case()
      t:inputs(12)
      t:script("function run(m) return { name_of(m[1]) .. ('x'):rep(" .. size .. ") } end")
      t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
      local r = t:expect_job(3, nil, { before = { "prlimit", "--fsize=" .. 4 * size } })
      expect_words(r, { "file too large" })
      local done = r.result.steps[1].mini_batches
      assert.equal(0, done.failed)
      t:expect_job(0, { "--resume" })
      local rows = t:rows()
      assert.equal(12, #rows)
      for i, row in ipairs(rows) do assert.equal(("%04d.txt"):format(i) .. ("x"):rep(size), row) end
    end
  end)
end)

describe("a job directory", function()
  after_each(job.check_end)

  it("may have a long name", function()
    local t = job.case()
    t:inputs(2)
    t:script(ECHO)
    t:pipeline()
    t.job_dir = t:path(("j"):rep(250))
    t.step_dir = t.job_dir .. "/score"
    t:expect_job(0)
    assert.same(job.names(2), t:rows())
  end)

  it("refuses steps named like its own files", function()
    for _, name in ipairs { "lock", "nodes", "owner", "script" } do
      local t = job.case()
      t:inputs(2)
      t:script(ECHO)
      t:pipeline()
      t:write("pipeline.lua", (t:read "pipeline.lua":gsub('name = "score"', 'name = "' .. name .. '"')))
      expect_words(t:expect_job(2), { "'" .. name .. "'", "pipeline.lua:4" })
      assert.is_false(t:has "job")
    end
  end)

  it("with a complete list of mini-batches ignores a changed input, with a warning", function()
    local t = job.case()
    t:inputs(4)
    t:script [[function run(m)
      if number_of(m[1]) == 3 and not io.open(os.getenv "HERE" .. "go") then error "not yet" end
      return names_of(m)
    end]]
    local CONFIG = "mini_batch_size = 1, run_max_try = 1, error_threshold = 0"
    local o = waiting.here(t)
    t:pipeline(CONFIG)
    t:expect_job(1, nil, o)
    t:inputs(9, "more")
    waiting.let_go(t)
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub('"in/%*"', '"more/*"')))
    expect_words(t:expect_job(0, { "--resume", "--accept-changes" }, o),
      { "inputs[1].paths has changed", "stays as it was" })
    assert.same(job.names(4), t:rows())
  end)

  it("taken over by another process is left alone", function()
    local t = waiting.case()
    t:write("job/owner", '{"pid":1,"host":"another","epoch":"0000000000000001"}')
    local r = waiting.go_on(t)
    t:expect(r, 3)
    expect_words(r, { "taken over" })
    assert.is_false(t:has "job/job_result.json")
    assert.is_false(t:has "job/score/output/parallel_run_step.txt")
  end)

  it("that was moved is resumed with its own copy of the script", function()
    local t = waiting.case()
    t.program:kill(programs.SIGKILL)
    t.program:wait()
    t:wait_for_none()
    assert(os.rename(t:path "job", t:path "moved"))
    t.job_dir, t.step_dir = t:path "moved", t:path "moved/score"
    waiting.let_go(t)
    t:expect_job(0, { "--resume" }, t.options)
    assert.same(job.names(12), t:rows())
    assert.is_nil(lfs.attributes(t:path "job"))
  end)

  it("started by two at once becomes the job of one", function()
    local t = job.case()
    t:inputs(12)
    t:script(ECHO)
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
    for i = 1, 5 do
      t.job_dir = t:path("job" .. i)
      local a, b = t:start_job(), t:start_job()
      local statuses = { t:finish(a, 20).status, t:finish(b, 20).status }
      table.sort(statuses)
      assert.equal(0, statuses[1])
      assert.is_true(statuses[2] == 2 or statuses[2] == 3, "there is a job, or one that runs")
    end
  end)
end)
