-- Why workers die, and what follows: the job reports the cause of each death, waits before it
-- retries a lost mini-batch, slows down when workers die at once, and enforces memory limits.
local job = require "support.job"
local programs = require "support.programs"

local DIE = [[
local ffi = require "ffi"
ffi.cdef "int getpid(void); int kill(int pid, int signal); void _exit(int status);"
ffi.cdef "void *malloc(size_t n); void *memset(void *p, int c, size_t n);"
]]
local NOW = [[
local ffi = require "ffi"
ffi.cdef "typedef struct { long s, ns; } tm_spec_time; int clock_gettime(int id, tm_spec_time *t);"
local function now()
  local t = ffi.new "tm_spec_time"
  ffi.C.clock_gettime(1, t)
  return tonumber(t.s) + tonumber(t.ns) / 1e9
end
]]

local expect_patterns = job.expect_patterns

local function dying_case(script, config)
  local t = job.case()
  t:inputs(3)
  t:script(DIE .. script)
  t:pipeline("mini_batch_size = 1, process_count_per_node = 1, retry_delay = 0, " .. (config or ""))
  return t
end

describe("a worker that dies", function()
  after_each(job.check_end)

  it("by a signal is reported with the signal, the place and its last output", function()
    local t = dying_case([[
      function run(m)
        if number_of(m[1]) == 2 then
          io.stderr:write "one\ntwo\nthe tensor is gone\n"
          ffi.C.kill(ffi.C.getpid(), 10)
        end
        return names_of(m)
      end]], "run_max_try = 2")
    local r = t:expect_job(0)
    local line = "killed by signal 10 %(User defined signal 1%) in run%(%) after [%d.]+ %a+; "
      .. "at most [%d.]+ MB resident; last on stderr: the tensor is gone"
    expect_patterns(r.err, { "2 times: " .. line, "first: mini%-batch 1 %(PROCESS_DIED%) at process000, %S+/0002.txt" })
    assert.is_nil(r.err:find "1 time:", r.err) -- two deaths of one kind are one distinct error
    local whole = line .. "; mini%-batch 1, try 1; lived [^\n]+, at most [%d.]+ MB resident"
    local tail = "the last lines of its stderr:\n\tone\n\ttwo\n\tthe tensor is gone\n"
    expect_patterns(t:log "sys/node/0/_main.txt", { whole .. "\n" .. tail })
    expect_patterns(t:log "user/error/0/process000.txt", { whole, tail })
    expect_patterns(t:log "job_result.txt", { "failed tries: 0 by an error, 0 by a timeout, 2 with their worker" })
    expect_patterns(t:log "sys/master_role.txt", { "failed tries: 0 by an error, 0 by a timeout, 2 with their worker" })
    expect_patterns(t:run({ "status", t.job_dir }).out, { "0 by an error, 0 by a timeout, 2 with their worker" })
    assert.equal(2, t:statuses().PROCESS_DIED)
  end)

  it("by exit is reported with its status", function()
    local t = dying_case("function run(m) if number_of(m[1]) == 2 then ffi.C._exit(7) end return names_of(m) end",
                         "run_max_try = 1")
    expect_patterns(t:expect_job(0).err, { "exited with status 7 in run%(%) after" })
  end)

  it("by a stray SIGKILL is not reported as out of memory", function()
    local t = dying_case([[function run(m)
      if number_of(m[1]) == 2 then ffi.C.kill(ffi.C.getpid(), 9) end
      return names_of(m)
    end]], "run_max_try = 1")
    local r = t:expect_job(0)
    expect_patterns(r.err, { "killed by signal 9 %(Killed%) in run%(%) after" })
  end)

  it("is counted apart from errors and timeouts", function()
    local t = dying_case([[function run(m)
      local n = number_of(m[1])
      if n == 1 then error "no" end
      if n == 2 then while true do end end
      ffi.C._exit(1)
    end]], "run_max_try = 2, run_invocation_timeout = 1")
    expect_patterns(t:expect_job(1).err, { "failed tries: 2 by an error, 2 by a timeout, 2 with their worker" })
  end)
end)

describe("retry_delay", function()
  after_each(job.check_end)

  --- The seconds between the tries of mini-batch 0, as the script saw them.
  local function delays(config, how)
    local t = job.case()
    t:inputs(1)
    t:script(NOW .. [[
      function run(m)
        local file = io.open(os.getenv "TIMES", "a")
        file:write(now(), "\n")
        file:close()
        ]] .. how .. [[
      end]])
    t:pipeline("process_count_per_node = 1, " .. config)
    t:expect_job(1, nil, { env = { "TIMES=" .. t:path "times" } })
    local times, between = {}, {}
    for line in t:read("times"):gmatch "[^\n]+" do times[#times + 1] = tonumber(line) end
    for i = 2, #times do between[i - 1] = times[i] - times[i - 1] end
    return between
  end

  it("is half a second after a worker died, and doubles", function()
    local d = delays("run_max_try = 3", "os.exit(1)")
    assert.equal(2, #d)
    assert.is_true(d[1] >= 0.375 and d[2] >= 0.75, d[1] .. " " .. d[2])
  end)

  it("is zero after errors unless it is set", function()
    local d = delays("run_max_try = 20", "error 'no'")
    local sum = 0
    for _, s in ipairs(d) do sum = sum + s end
    assert.is_true(sum < 9, sum) -- with the delay for lost workers it would take minutes
    d = delays("run_max_try = 3, retry_delay = 0.2", "error 'no'")
    assert.is_true(d[1] >= 0.15 and d[2] >= 0.3, d[1] .. " " .. d[2])
  end)

  it("delays no other mini-batch", function()
    local t = job.case()
    t:inputs(20)
    t:script [[function run(m, context)
      local file = io.open(os.getenv "ORDER", "a")
      file:write(name_of(m[1]), " ", context.try, "\n")
      file:close()
      if number_of(m[1]) == 1 and context.try == 1 then os.exit(1) end
      return names_of(m)
    end]]
    -- gives the other workers time
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, retry_delay = 4"
    t:expect_job(0, nil, { env = { "ORDER=" .. t:path "order" } })
    assert.same(job.names(20), t:rows())
    expect_patterns(t:read "order", { "^0001.txt 1\n0002.txt 1\n", "\n0001.txt 2\n$" })
  end)
end)

describe("a worker slot whose workers die at once", function()
  after_each(job.check_end)

  it("is refilled a few times a second, and its mini-batches finish", function()
    local t = job.case()
    t:inputs(20)
    t:script "function run(m) os.exit(1) end"
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, retry_delay = 0"
    local begin_s = programs.now()
    local r = t:expect_job(1, nil, { limit = 120 })
    local took_s = programs.now() - begin_s
    assert.equal(20, r.result.steps[1].mini_batches.failed)
    assert.is_true(took_s > 1.5, took_s) -- 0, 10, 20, 40, 80, 160, 160, ... ms, less a quarter
  end)
end)

describe("worker_memory_limit", function()
  after_each(job.check_end)

  it("fails a try that exceeds it in Lua, and keeps the worker", function()
    local t = job.case()
    t:inputs(6)
    t:script [[
      local calls = 0
      function run(m)
        calls = calls + 1
        if number_of(m[1]) == 3 then return { #("x"):rep(1e9) } end
        return { name_of(m[1]) .. " " .. calls .. " " .. tostring(jit.status()) }
      end]]
    t:pipeline 'mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, worker_memory_limit = "400MB"'
    local r = t:expect_job(0)
    assert.same({ "0001.txt 1 true", "0002.txt 2 true", "0004.txt 4 true", "0005.txt 5 true", "0006.txt 6 true" },
                t:rows())
    expect_patterns(r.err, { "not enough memory %(worker_memory_limit is 400 MB: Lua may have 384 MB of it, had "
      .. "%d+ MB, and asked for %d+%.%d MB in one piece%)", "1 by an error" })
    assert.equal(1, t:statuses().RUN_EXCEPTION)
  end)

  it("ends a worker that exceeds it outside Lua, and reports the figures", function()
    local t = dying_case([[
      local function eat(n)
        local p = ffi.C.malloc(n)
        ffi.C.memset(p, 1, n)
        while true do end
      end
      function run(m)
        if number_of(m[1]) == 2 then eat(700e6) end
        return names_of(m)
      end]], 'run_max_try = 1, worker_memory_limit = "400MB"')
    local r = t:expect_job(0, nil, { limit = 60 })
    expect_patterns(r.err, { "killed for passing worker_memory_limit in run%(%) after [%d.]+ %a+; it had %d+ MB "
      .. "of its own, which count, and [%d.]+ MB of mapped files; worker_memory_limit is 400 MB" })
    assert.same({ "0001.txt", "0003.txt" }, t:rows())
    assert.equal(1, t:statuses().PROCESS_DIED)
  end)

  it("does not count mapped files, whose pages the kernel can drop", function()
    local large = os.tmpname():gsub("^.*/", "/var/tmp/") -- a file in memory would count
    local file = assert(io.open(large, "w"))
    file:seek("set", 150 * 2^20 - 1)
    file:write "x"
    file:close()
    local t = dying_case([[
      ffi.cdef "void *mmap(void *, size_t, int, int, int, long); int open(const char *, int, ...);"
      local function sum(p, n)
        local sum = 0
        for i = 0, n - 1, 4096 do sum = sum + p[i] end
        return sum
      end
      local function resident()
        for line in io.lines "/proc/self/status" do
          local kb = line:match "^VmRSS:%s+(%d+)"
          if kb then return tonumber(kb) end
        end
      end
      function run(m)
        if number_of(m[1]) == 2 then
          local size, begun = 150 * 2^20, os.clock()
          local bytes = ffi.C.mmap(nil, size, 1, 2, ffi.C.open(os.getenv "LARGE", 0), 0)
          repeat sum(ffi.cast("const uint8_t *", bytes), size) until os.clock() > begun + 0.25 -- it looks each 100 ms
          assert(resident() > 140 * 1024, resident())
        end
        return names_of(m)
      end]], 'run_max_try = 1, worker_memory_limit = "100MB"')
    if os.getenv "TM_SANITIZE" then -- which needs more
      t:pipeline 'mini_batch_size = 1, worker_memory_limit = "1GB"'
    end
    t:expect_job(0, nil, { env = { "LARGE=" .. large } })
    os.remove(large)
    assert.same(job.names(3), t:rows())
  end)

  it("is refused below the memory that a worker needs", function()
    local t = dying_case("function run(m) return m end", 'worker_memory_limit = "1MB"')
    expect_patterns(t:expect_job(2).err, { "pipeline.lua:3: ParallelRunConfig: 'worker_memory_limit' is \"1MB\"; "
      .. "accepted: a size from 32MB on" })
  end)

  it("at its minimum is enough for a small script", function()
    if os.getenv "TM_SANITIZE" then return end -- the sanitizer alone needs more
    local t = dying_case("function run(m) return names_of(m) end", 'worker_memory_limit = "32MB"')
    t:expect_job(0)
    assert.same(job.names(3), t:rows())
  end)

  it("does not matter to the OOM killer: it takes workers before the supervisor", function()
    local t = dying_case [[function run(m)
      local file = io.open "/proc/self/oom_score_adj"
      local score = file:read "*l"
      file:close()
      return { score }
    end]]
    t:expect_job(0)
    assert.same({ "500", "500", "500" }, t:rows())
  end)
end)
