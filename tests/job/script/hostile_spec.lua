-- Scripts that misbehave: the job continues with the rest, or ends and says why.
local job = require "support.job"

local POSIX = [[
local ffi = require "ffi"
ffi.cdef "int fork(void); void _exit(int); int chdir(const char *); int close(int); int getpid(void); int setsid(void);"
ffi.cdef "int poll(void *fds, unsigned long n, int ms); void *malloc(size_t); void *memset(void *, int, size_t);"
ffi.cdef "struct limit { unsigned long soft, hard; }; int setrlimit(int, const struct limit *);"
]]

local function new_case(script, config, n)
  local t = job.case()
  t:inputs(n or 4)
  t:script(POSIX .. script)
  t:pipeline("mini_batch_size = 1, process_count_per_node = 2, " .. (config or ""))
  return t
end

describe("a script that", function()
  after_each(job.check_end)

  it("prints megabytes finds every byte in its log files", function()
    local t = new_case [[
      function run(m)
        local line = ("x"):rep(1023)
        for _ = 1, 4096 do print(line) io.stderr:write(line, "\n") end
        return names_of(m)
      end]]
    t:expect_job(0, nil, { limit = 60 })
    assert.same(job.names(4), t:rows())
    for _, stream in ipairs { "stdout", "stderr" } do
      local total = 0
      for i = 0, 1 do
        total = total + #t:log(("user/%s/0/process%03d.%s.txt"):format(stream, i, stream))
      end
      assert.equal(4 * 4096 * 1024, total)
    end
  end)

  it("closes its standard streams can continue", function()
    local t = new_case [[
      function run(m)
        for fd = 0, 2 do ffi.C.close(fd) end
        print "nobody hears it"
        io.stderr:write "nor this\n"
        return names_of(m)
      end]]
    t:expect_job(0)
    assert.same(job.names(4), t:rows())
    t = new_case "function run(m) io.stdout:close() return names_of(m) end"
    t:expect_job(0)
    assert.same(job.names(4), t:rows())
  end)

  it("changes its directory finds its files, and ours stay in place", function()
    local t = new_case([[
      function run(m)
        assert(ffi.C.chdir "/" == 0)
        require "tidemill.entry_script"().logger:info("at " .. name_of(m[1]))
        assert(io.open(m[1])):close()
        if number_of(m[1]) == 2 then error "in /" end
        return { name_of(m[1]) .. ("x"):rep(1500000) }
      end]], "run_max_try = 1")
    t:expect_job(0)
    assert.equal(3, #t:rows())
    local said = t:log "user/entry_script_log/0/process000.log.txt"
    if t:has_log "user/entry_script_log/0/process001.log.txt" then
      said = said .. t:log "user/entry_script_log/0/process001.log.txt"
    end
    for i = 1, 4 do assert.truthy(said:find(("at %04d.txt"):format(i), 1, true)) end
    assert.truthy(t:log("user/error.txt"):find("in /", 1, true))
  end)

  it("allocates until memory runs out fails its try", function()
    local t = new_case([[
      function init()
        assert(ffi.C.setrlimit(9, ffi.new("struct limit", 400e6, 400e6)) == 0) -- RLIMIT_AS
      end
      function run(m)
        local n = number_of(m[1])
        if n == 2 then local t = {} while true do t[#t + 1] = ("x"):rep(1e6) .. #t end end
        if n == 3 then while true do ffi.C.memset(ffi.C.malloc(1e7), 1, 1e7) end end
        return names_of(m)
      end]], "run_max_try = 1")
    local r = t:expect_job(0, nil, { limit = 60 })
    assert.same({ "0001.txt", "0004.txt" }, t:rows())
    assert.equal(2, r.result.steps[1].mini_batches.failed)
    local said = t:log "user/error.txt"
    -- a sanitizer ends the program itself at the limit
    assert.truthy(said:find "exited with status 1 in run" or (said:find "memory" and said:find "signal"), said)
  end)

  it("forks gives one answer for each mini-batch, whatever the child does", function()
    for _, child in ipairs { "ffi.C._exit(0)", "os.exit(0)", "error 'in the child'", "", "while true do end" } do
      local t = new_case("function run(m) if ffi.C.fork() == 0 then " .. child .. " end return names_of(m) end",
                         nil, 12)
      local r = t:expect_job(0, nil, { limit = 30 })
      assert.same(job.names(12), t:rows(), child)
      assert.same({ total = 12, succeeded = 12, failed = 0 }, r.result.steps[1].mini_batches, child)
      assert.same({ RUN_DONE = 12 }, t:statuses(), child)
      job.check_end()
    end
  end)

  it("leaves a daemon behind loses it at the end of the job", function()
    local t = new_case [[
      function run(m)
        if ffi.C.fork() == 0 then
          ffi.C.setsid()
          if ffi.C.fork() > 0 then ffi.C._exit(0) end
          while true do ffi.C.poll(nil, 0, 1000) end
        end
        return names_of(m)
      end]]
    t:expect_job(0)
    assert.same(job.names(4), t:rows())
    assert.equal(0, #t:processes())
  end)
end)
