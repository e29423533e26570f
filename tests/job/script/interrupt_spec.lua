-- Calls that hang: if Lua can be interrupted, the worker survives; otherwise it is killed.
local job = require "support.job"
local programs = require "support.programs"

local ONE = "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, "

-- Shapes of loops, by number of the item; the last item is good.
local SHAPES = [[
local ffi = require "ffi"
local shapes = {
  { "an empty loop", function() while true do end end },
  { "a counter", function() local x = 0 while true do x = x + 1 end end },
  { "nested numeric loops", function() for i = 1, 1e9 do for j = 1, 1e9 do if i * j < 0 then return end end end end },
  { "inlined calls", function() local function f(x) return x + 1 end local x = 0 while true do x = f(f(x)) end end },
  { "an FFI array", function()
    local a = ffi.new("double[1000]")
    while true do
      for i = 0, 999 do
        a[i] = a[i] + 1
      end
    end
  end },
  { "a coroutine", function() coroutine.wrap(function() while true do end end)() end },
  { "coroutines that are resumed", function()
    local function spin() local x = 0 while true do x = x + 1 coroutine.yield(x) end end
    local co = coroutine.create(spin)
    while true do coroutine.resume(co) end
  end },
  { "pcall", function() while true do pcall(function() while true do end end) end end },
  { "pcall that is tried again", function()
    local function again() return pcall(again) end
    while true do pcall(again) end
  end },
  { "a comparator", function() table.sort({ 3, 1, 2 }, function(a, b) while true do end return a < b end) end },
  { "a metamethod", function()
    local t = setmetatable({}, { __index = function(self, k) while true do k = k + 1 end end })
    return t[1]
  end },
  { "compiled before", function()
    local function sum(n) local s = 0 for i = 1, n do s = s + i end return s end
    for _ = 1, 100 do sum(10000) end
    sum(1e15)
  end },
  { "strings that are built", function() while true do local s = "" for i = 1, 1000 do s = s .. i end end end },
  { "gsub with a function", function() while true do ("abc"):gsub(".", function(c) return c:upper() end) end end },
}
]]
local COUNT = select(2, SHAPES:gsub("\n  { \"", ""))

local function failures(t)
  local by_number = {}
  for _, try in ipairs(t:tries()) do
    local n = tonumber(try["Mini-batch Id"]) + 1
    by_number[n] = by_number[n] or {}
    table.insert(by_number[n], try)
  end
  return by_number
end

describe("a run() that is stuck in Lua", function()
  after_each(job.check_end)

  it("is interrupted, whatever it does, and its worker survives", function()
    local t = job.case()
    t:inputs(COUNT + 1)
    t:script(SHAPES .. [[
      local pid = io.open("/proc/self/stat"):read "*n"
      function recover(reason) print("recovered: " .. reason) end
      function run(m)
        local shape = shapes[number_of(m[1])]
        if shape then shape[2]() end
        return { "done by " .. pid }
      end]])
    t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 0.2, interrupt_grace = 30")
    t:expect_job(0, nil, { limit = 120 })
    assert.same({ RUN_TIMEOUT = COUNT, RUN_DONE = 1 }, t:statuses())
    for n, tries in pairs(failures(t)) do
      assert.equal("process000", tries[1].Process)
      if n <= COUNT then
        assert.is_truthy(tries[1]["Error Message"]:find("run_invocation_timeout (0.2 s) and was interrupted", 1, true))
      end
    end
    local text = t:log "user/error/0/process000.txt"
    assert.equal(COUNT, select(2, text:gsub("score.lua:%d+: run%(%) took longer", "")), text)
    assert.equal(COUNT, select(2, text:gsub("was interrupted\nstack traceback:\n\t", "")), text)
    assert.equal(COUNT, select(2, t:log("user/stdout/0/process000.stdout.txt"):gsub("recovered: run%(%) took", "")))
    assert.is_truthy(t:log("sys/node/0/_main.txt"):find("passed run_invocation_timeout and is interrupted", 1, true))
  end)

  it("is reported with its line, even within a coroutine", function()
    local t = job.case()
    t:inputs(1)
    t:script [[
      local function spin()
        local x = 0
        while true do x = x + 1 end -- line 4
      end
      local function outside() return (coroutine.wrap(spin)()) end
      function run(m) local r = outside() return r end]]
    t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 0.2, interrupt_grace = 30")
    t:expect_job(1)
    local text = t:log "user/error/0/process000.txt"
    assert.is_truthy(text:find("RUN_TIMEOUT: %S+score.lua:4: run%(%) took longer"), text)
    assert.is_truthy(text:find("score.lua:4: in function <%S+score.lua:2>\nin a coroutine; outside of it:\n"), text)
    assert.is_truthy(text:find("score.lua:6: in function 'outside'", 1, true), text)
  end)

  it("is killed if interruptible is false, without mention of interruption", function()
    local t = job.case()
    t:inputs(2)
    t:script [[function run(m)
      while number_of(m[1]) == 1 do end
      return { require "tidemill.entry_script"().agent_name }
    end]]
    t:pipeline(ONE .. "interruptible = false, run_invocation_timeout = 0.3")
    t:expect_job(0)
    assert.same({ "process001" }, t:rows())
    local message = failures(t)[1][1]["Error Message"]
    assert.equal("run() took longer than run_invocation_timeout (0.3 s); its worker was killed", message)
  end)

  it("with auto is killed the first time, and reports its line the next time", function()
    local t = job.case()
    t:inputs(4)
    t:script [[function recover() end
    function run(m)
      local n = number_of(m[1])
      while n == 2 do end
      return { name_of(m[1]) }
    end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2, run_max_try = 3, run_invocation_timeout = 0.3"
    t:expect_job(0, nil, { limit = 60 })
    assert.same({ "0001.txt", "0003.txt", "0004.txt" }, t:rows())
    local tries = failures(t)[2]
    assert.equal(3, #tries)
    assert.is_truthy(tries[1]["Error Message"]:find("its worker was killed", 1, true))
    for i = 2, 3 do assert.is_truthy(tries[i]["Error Message"]:find("was interrupted", 1, true)) end
    assert.is_truthy(t:log("user/error.txt"):find("score.lua:5: run() took longer", 1, true), t:log "user/error.txt")
    assert.is_truthy(t:log("sys/master_role.txt"):find("workers can be interrupted from now on", 1, true))
    -- an interrupted worker continues
    assert.is_falsy(t:log("sys/node/0/_main.txt"):find("exited", 1, true))
  end)

  it("twice in a row without a recover() costs its worker", function()
    local t = job.case()
    t:inputs(6)
    t:script [[function run(m)
      local n = number_of(m[1])
      while n == 1 or n == 3 or n == 4 do end
      return { n .. " " .. require "tidemill.entry_script"().agent_name }
    end]]
    t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 0.5, interrupt_grace = 30")
    local r = t:expect_job(0, nil, { limit = 60 })
    assert.same({ "2 process000", "5 process001", "6 process001" }, t:rows())
    assert.same({ RUN_TIMEOUT = 3, RUN_DONE = 3 }, t:statuses())
    assert.is_truthy(r.err:find("process000 is replaced: it was interrupted 2 times in a row, and its script has "
      .. "no recover()", 1, true), r.err)
  end)
end)

describe("a call in C that can be stopped", function()
  after_each(job.check_end)

  -- One call that takes much longer than the limit: 1,000 times the same picture.
  local DECODE = [[
    local image = require "tidemill.image"
    local function decode()
      local sources = {}
      for i = 1, 1000 do sources[i] = os.getenv "PICTURE" end
      image.batch(sources, { width = 8, height = 8 }) -- line 6, after one of the helpers
    end
    local name = require "tidemill.entry_script"().agent_name
  ]]

  local function decoding_case(script, settings)
    local t = job.case()
    t:inputs(2)
    t:write("picture.pgm", "P5\n3000 3000\n255\n" .. ("x"):rep(9e6))
    t:script(DECODE .. script)
    t:pipeline(ONE .. settings)
    return t, { limit = 60, env = { "PICTURE=" .. t:path "picture.pgm" } }
  end

  it("is interrupted the first time, also with auto, and its worker survives", function()
    local t, options = decoding_case([[
      function run(m)
        if number_of(m[1]) == 1 then decode() end
        return { name }
      end]], "run_invocation_timeout = 1, interrupt_grace = 30")
    t:expect_job(0, nil, options)
    assert.same({ "process000" }, t:rows())
    assert.same({ RUN_TIMEOUT = 1, RUN_DONE = 1 }, t:statuses())
    local text = t:log "user/error/0/process000.txt"
    assert.is_truthy(text:find("score.lua:6: run() took longer than run_invocation_timeout (1 s) and was "
      .. "interrupted", 1, true), text)
  end)

  it("is interrupted in init(), too", function()
    local t, options = decoding_case([[
      function init() decode() end
      function run(m) return { name } end]], "init_timeout = 0.3, interrupt_grace = 30")
    local r = t:expect_job(1, nil, options)
    assert.is_truthy(r.err:find("score.lua:%d+: init%(%) took longer than init_timeout %(0.3 s%) and was "
      .. "interrupted"), r.err)
  end)
end)

describe("recover()", function()
  after_each(job.check_end)

  it("that fails costs the worker, and is reported", function()
    local t = job.case()
    t:inputs(2)
    t:script [[
      function recover(reason) error("cannot put it right: " .. reason) end
      function run(m)
        while number_of(m[1]) == 1 do end
        return { require "tidemill.entry_script"().agent_name }
      end]]
    t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 0.3, interrupt_grace = 30")
    local r = t:expect_job(0, nil, { limit = 60 })
    assert.same({ "process001" }, t:rows())
    assert.is_truthy(r.err:find("process000 is replaced: its recover%(%) failed: %S+score.lua:2: "
      .. "cannot put it right: run%(%)"), r.err)
    assert.is_truthy(t:log("user/error/0/process000.txt"):find("recover() failed", 1, true))
    assert.same({ RUN_TIMEOUT = 1, RUN_DONE = 1 }, t:statuses())
  end)

  it("that kills its worker costs no further try", function()
    local t = job.case()
    t:inputs(3)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int raise(int);"
      function recover() ffi.C.raise(9) end
      function run(m)
        while number_of(m[1]) == 1 do end
        return { name_of(m[1]) }
      end]]
    t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 0.3, interrupt_grace = 30")
    t:expect_job(0, nil, { limit = 60 })
    assert.same({ "0002.txt", "0003.txt" }, t:rows())
    assert.same({ RUN_TIMEOUT = 1, RUN_DONE = 2 }, t:statuses())
    assert.is_truthy(t:log("sys/node/0/_main.txt"):find("killed by signal 9 (Killed) in recover()", 1, true))
  end)
end)

describe("a system call that a signal ends", function()
  after_each(job.check_end)

  it("is interrupted", function()
    local t = job.case()
    t:inputs(2)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *, unsigned long, int);"
      function run(m)
        if number_of(m[1]) == 1 then while true do ffi.C.poll(nil, 0, 60000) end end
        return { require "tidemill.entry_script"().agent_name }
      end]]
    t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 0.3, interrupt_grace = 30")
    t:expect_job(0, nil, { limit = 25 })
    assert.same({ "process000" }, t:rows())
  end)
end)

describe("code that cannot be interrupted", function()
  after_each(job.check_end)

  -- The worker is killed in the call. A try that a busy machine does not let reach the call in time
  -- is interrupted, and repeated at the same worker.
  local function expect_kill(body)
    local t = job.case()
    t:inputs(2)
    t:script([[
      local name = require "tidemill.entry_script"().agent_name
      function recover() end
      function run(m)
        if number_of(m[1]) == 1 and name == "process000" then ]] .. body .. [[ end
        return { name_of(m[1]) .. " " .. name }
      end]])
    t:pipeline("mini_batch_size = 1, process_count_per_node = 1, run_max_try = 100, interruptible = true, "
      .. "run_invocation_timeout = 0.3, interrupt_grace = 0.2")
    t:expect_job(0, nil, { limit = 60 })
    assert.equal("0001.txt process001", t:sorted_lines("job/score/output/parallel_run_step.txt")[1])
    local tries = failures(t)[1]
    assert.equal("RUN_DONE", table.remove(tries).Status)
    for i, try in ipairs(tries) do
      local message = try["Error Message"]
      assert.same({ "RUN_TIMEOUT", "process000" }, { try.Status, try.Process })
      assert.equal(i == #tries, message:find("its worker was killed, for it could not be interrupted", 1, true) ~= nil,
                   message)
      assert.equal(i < #tries, message:find("and was interrupted", 1, true) ~= nil, message)
    end
  end

  it("is killed after interrupt_grace: a pattern that backtracks", function()
    expect_kill [[string.find(("a"):rep(5000), (".-"):rep(30) .. "b")]]
  end)

  it("is killed after interrupt_grace: waiting for a program", function()
    expect_kill [[os.execute "tail -f /dev/null"]]
    expect_kill [[require "tidemill.process".run { "tail", "-f", "/dev/null" }]]
  end)

  it("is killed after interrupt_grace: an FFI call", function()
    expect_kill [[local ffi = require "ffi" ffi.cdef "int pipe(int *); long read(int, void *, unsigned long);"
      local fds = ffi.new "int[2]" assert(ffi.C.pipe(fds) == 0) ffi.C.read(fds[0], ffi.new "char[1]", 1)]]
  end)

  it("is killed after interrupt_grace: user code that replaced the signal handler", function()
    local t = job.case()
    t:inputs(2)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "void *signal(int, void *);"
      function run(m)
        if number_of(m[1]) == 1 then ffi.C.signal(14, nil) while true do end end
        return names_of(m)
      end]]
    t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 0.3")
    t:expect_job(0, nil, { limit = 60 })
    assert.same({ RUN_TIMEOUT = 1, RUN_DONE = 1 }, t:statuses())
  end)
end)

describe("user code that uses the means of interruption", function()
  after_each(job.check_end)

  it("gets its debug.sethook back", function()
    local t = job.case()
    t:inputs(2)
    t:script [[
      local n = 0
      local function hook() n = n + 1 end
      function init() debug.sethook(hook, "", 10) end
      function recover()
        local f, mask, count = debug.gethook()
        print("hook", f == hook, mask == "", count)
        n = 0
      end
      function run(m)
        while number_of(m[1]) == 1 do end
        jit.off(true, true)
        for _ = 1, 1000 do end
        return { n > 0 and "counted" or "lost" }
      end]]
    t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 0.3, interrupt_grace = 30")
    t:expect_job(0, nil, { limit = 60 })
    assert.same({ "counted" }, t:rows())
    assert.equal("hook\ttrue\ttrue\t10\n", t:log "user/stdout/0/process000.stdout.txt")
  end)

  it("can profile with jit.p and jit.profile, and is still interrupted", function()
    local t = job.case()
    t:inputs(4)
    t:script [[
      local temp = require "tidemill.entry_script"().temp_dir
      local function burn(s) local stop = os.clock() + s repeat until os.clock() > stop end
      -- a host that takes processors away delays ticks: so burn until there are some, for 2 s
      local function burn_until(is_done)
        local stop = os.time() + 2
        repeat burn(0.02) until is_done() or os.time() > stop
      end
      local function count_ticks()
        local profile, ticks = require "jit.profile", 0
        profile.start("i5", function(thread, samples, state)
          assert(type(thread) == "thread" and #state == 1 and #profile.dumpstack(thread, "l", 1) > 0)
          ticks = ticks + samples
        end)
        burn_until(function() return ticks > 0 end)
        profile.stop()
        local before = ticks
        burn(0.02)
        return ticks == before and ticks > 0
      end
      local function profiles_itself()
        local found
        burn_until(function()
          require "jit.p".start("l", temp .. "/profile")
          burn(0.05)
          require "jit.p".stop()
          found = io.open(temp .. "/profile"):read "*a":find("score.lua", 1, true) ~= nil
          return found
        end)
        return found
      end
      function recover() end
      function run(m)
        local n = number_of(m[1])
        if n == 1 then
          return { "jit.p: " .. tostring(profiles_itself()) }
        elseif n == 2 then
          return { "jit.profile: " .. tostring(count_ticks()) }
        elseif n == 3 then
          require "jit.profile".start("i2", function() end)
          while true do end
        end
        return { "after: " .. tostring(count_ticks()) }
      end]]
    t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 4, interrupt_grace = 30",
      [[arguments = { "--profiling_module", "jit" }]])
    t:expect_job(0, nil, { limit = 60 })
    assert.same({ "after: true", "jit.p: true", "jit.profile: true" }, t:rows())
    assert.same({ RUN_TIMEOUT = 1, RUN_DONE = 3 }, t:statuses())
  end)

  it("may run threads in a C library that receive the signal", function()
    local t = job.case()
    t:write("burn.c", [[
      #include <pthread.h>
      static volatile unsigned long n;
      static void *burn(void *p) { for (;;) n++; return p; }
      int burn_start(void) { pthread_t t; return pthread_create(&t, 0, burn, 0); }
    ]])
    local cc = programs.start({ os.getenv "CC" or "cc", "-shared", "-fPIC", "-o", t:path "libburn.so", t:path "burn.c",
      "-lpthread" }, { stdout = t:path "cc.out", stderr = t:path "cc.err" })
    assert.equal(0, cc:wait(60), t:read "cc.err")
    t:inputs(6)
    t:script(([[
      local ffi = require "ffi"
      ffi.cdef "int burn_start(void);"
      local burn = ffi.load %q
      function init() assert(burn.burn_start() == 0) end
      function recover() end
      function run(m)
        local x = 0
        while number_of(m[1]) < 6 do x = x + 1 end
        return names_of(m)
      end]]):format(t:path "libburn.so"))
    t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 0.3, interrupt_grace = 30",
      [[arguments = { "--profiling_module=profile" }]])
    t:expect_job(0, nil, { limit = 60 })
    assert.same({ RUN_TIMEOUT = 5, RUN_DONE = 1 }, t:statuses())
    assert.is_truthy(t:log("sys/node/0/process000.profile"):find "score.lua:%d+ %d+\n")
  end)
end)

describe("init()", function()
  after_each(job.check_end)

  it("that exceeds init_timeout fails, and reports its line if it can be interrupted", function()
    local t = job.case()
    t:inputs(1)
    t:script [[
      function init()
        while true do end
      end
      function run(m) return m end]]
    t:pipeline(ONE .. "interruptible = true, init_timeout = 0.2, interrupt_grace = 30")
    local r = t:expect_job(1, nil, { limit = 60 })
    assert.is_truthy(r.err:find("init() took longer than init_timeout (0.2 s) and was interrupted", 1, true), r.err)
    assert.is_truthy(t:log("user/error/0/process000.txt"):find("score.lua:3: in function <%S+score.lua:2>"))
  end)

  it("that exceeds init_timeout and cannot be interrupted is killed", function()
    local t = job.case()
    t:inputs(1)
    t:script [[
      os.execute "tail -f /dev/null"
      function run(m) return m end]]
    t:pipeline(ONE .. "init_timeout = 0.2")
    local r = t:expect_job(1, nil, { limit = 60 })
    assert.is_truthy(r.err:find("killed because init() took longer than init_timeout, after ", 1, true), r.err)
    assert.is_truthy(t:log("sys/node/0/_main.txt"):find("init() took longer than init_timeout", 1, true))
  end)
end)

-- Takes the 30 s that a shutdown() may take, so it needs TM_LONG.
describe("shutdown()", function()
  after_each(job.check_end)

  if os.getenv "TM_LONG" then
    it("that does not end is killed after 30 s, and the job is Completed", function()
      local t = job.case()
      t:inputs(1)
      t:script "function run(m) return names_of(m) end function shutdown() while true do end end"
      t:pipeline(ONE .. "interruptible = true")
      t:expect_job(0, nil, { limit = 90 })
      assert.same({ "0001.txt" }, t:rows())
      local text = t:log "sys/node/0/_main.txt"
      assert.is_truthy(text:find "killed for not ending in time when told to stop, in shutdown%(%) after 3%d", text)
    end)
  end
end)

describe("tidemill try", function()
  after_each(job.check_end)

  it("shows where Ctrl-C interrupted the script", function()
    local t = job.case()
    t:inputs(1)
    t:script [[
      function run(m)
        io.stderr:write "it runs\n"
        while true do end -- line 4
      end]]
    local p = t:start({ "try", "score.lua", "in" })
    programs.wait_until("run()", function() return t:read(p.err_file):find("it runs", 1, true) end)
    p:kill(programs.SIGINT)
    assert.equal(130, (p:wait(60)))
    assert.is_truthy(t:read(p.err_file):find("run() failed at ", 1, true), t:read(p.err_file))
    assert.is_truthy(t:read(p.err_file):find("score.lua:4: in function <", 1, true), t:read(p.err_file))
  end)

  it("ends uninterruptible code at the second Ctrl-C", function()
    local t = job.case()
    t:inputs(1)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int pipe(int *); long read(int, void *, unsigned long);"
      function run(m)
        local fds = ffi.new "int[2]"
        assert(ffi.C.pipe(fds) == 0)
        io.stderr:write "it runs\n"
        ffi.C.read(fds[0], ffi.new "char[1]", 1)
      end]]
    t:write("other/x", "") -- files that a killed program leaves in its temporary folder stay
    local p = t:start({ "try", "score.lua", "in" }, { env = { "TMPDIR=" .. t:path "other" } })
    programs.wait_until("run()", function() return t:read(p.err_file):find("it runs", 1, true) end)
    p:kill(programs.SIGINT)
    programs.wait_until("its end", function() p:kill(programs.SIGINT) return p:has_ended() end)
    assert.equal(programs.SIGINT, p.signal)
  end)
end)

describe("a sampling profile", function()
  after_each(job.check_end)

  it("is written for each worker, with file and line, even if it is killed", function()
    local t = job.case()
    t:inputs(2)
    t:write("src/lib/deep.lua", "return function(s)\n  local stop = os.clock() + s\n"
      .. "  repeat until os.clock() > stop\nend\n")
    t:script([[
      local deep = require "lib.deep"
      function run(m)
        deep(0.3)
        if number_of(m[1]) == 2 then
          local ffi = require "ffi"
          ffi.cdef "int raise(int);"
          ffi.C.raise(9)
        end
        return names_of(m)
      end]], "src/score.lua")
    t:pipeline([[source_directory = "src", ]] .. ONE .. "interruptible = false",
      [[arguments = { "--profiling_module", "cProfile" }]])
    local begin_s = programs.now()
    t:expect_job(0, nil, { limit = 60 })
    local most = 20 + 100 * (programs.now() - begin_s) -- a sample every 10 ms
    assert.same({ PROCESS_DIED = 1, RUN_DONE = 1 }, t:statuses())
    local total = 0
    for line in t:log("sys/node/0/process000.profile"):gmatch "([^\n]*)\n" do
      local stack, n = line:match "^(%S.*) (%d+)$"
      assert.is_truthy(stack, line)
      if stack:find "^score.lua:4;lib/deep.lua:3" then total = total + tonumber(n) end
    end
    -- about 60; a host that takes processors away delays ticks, and late ticks are one sample
    assert.is_true(total >= 5 and total <= most, total .. " samples")
    assert.is_truthy(t:log("readme.txt"):find("--profiling_module", 1, true))
  end)

  it("is refused for an unknown module", function()
    local t = job.case()
    t:inputs(1)
    t:script "function run(m) return m end"
    t:pipeline("", [[arguments = { "--profiling_module", "perf" }]])
    local r = t:expect_job(2)
    local words = [['profiling_module' is "perf"; accepted: "jit", "cProfile" or "profile"]]
    assert.is_truthy(r.err:find(words, 1, true), r.err)
  end)
end)
