-- tidemill.process: programs run to their end, and started ones. Each ends by itself or is ended
-- here.
local folder = require "support.folder"
local lfs = require "lfs"
local process = require "tidemill.process"
local programs = require "support.programs"

local dir
local refused = folder.refused

local function count_descriptors()
  local n = 0
  for _ in lfs.dir "/proc/self/fd" do n = n + 1 end
  return n
end

local function captured(argv, options)
  options = options or {}
  options.capture_output = true
  return assert(process.run(argv, options))
end

local function shell(text, options) return captured({ "sh", "-c", text }, options) end

describe("process.run", function()
  before_each(function() dir = folder.new() end)
  after_each(function() dir:remove() end)

  it("returns the exit status, the signal and the output", function()
    assert.same({ code = 0, stdout = "out\n", stderr = "err\n", timed_out = false }, shell "echo out; echo err >&2")
    assert.same({ code = 3, stdout = "", stderr = "", timed_out = false }, shell "exit 3")
    assert.same({ signal = 15, stdout = "", stderr = "", timed_out = false }, shell "kill -TERM $$")
    assert.same({ code = 0, timed_out = false }, process.run { "true" })
    assert.same({ code = 1, timed_out = false }, process.run { "false" })
  end)

  it("uses no shell, and accepts numbers", function()
    local r = captured { "printf", "%s|%s|%s|%s|%s|", "$HOME", "a b", "*", ";", 1.5 }
    assert.equal("$HOME|a b|*|;|1.5|", r.stdout)
  end)

  it("passes input of any size, even to a program that does not read it", function()
    local input = ("0123456789abcdef\0"):rep(3e6)
    assert.is_true(input == captured({ "cat" }, { input = input }).stdout)
    assert.equal(0, captured({ "true" }, { input = input }).code)
    assert.equal("0123", captured({ "head", "-c", 4 }, { input = input }).stdout)
    assert.equal("", captured({ "cat" }, { input = "" }).stdout)
  end)

  it("captures 50 MB", function()
    local r = captured { "head", "-c", 50000000, "/dev/zero" }
    assert.equal(50000000, #r.stdout)
    assert.is_nil(r.stdout:find "[^%z]")
  end)

  it("runs a program in a folder, with its own variables", function()
    assert(lfs.mkdir(dir:at "sub"))
    assert.equal("sub\n", shell("basename $PWD", { cwd = dir:at "sub" }).stdout)
    local r = shell("echo $A $B ${HOME-none} ${PATH:+path}", { env = { A = "x=y", B = 2, HOME = false } })
    assert.equal("x=y 2 none path\n", r.stdout)
  end)

  it("finds a program with '/' in its name relative to its folder", function()
    dir:write("say", "#!/bin/sh\necho here\n")
    process.run({ "chmod", "+x", dir:at "say" }, { check = true })
    assert.equal("here\n", captured({ "./say" }, { cwd = dir.path }).stdout)
  end)

  it("writes to files", function()
    dir:write("out", "what was there before, and longer")
    local r = process.run({ "sh", "-c", "echo out; echo err >&2" }, { stdout = dir:at "out", stderr = dir:at "err" })
    assert.same({ code = 0, timed_out = false }, r)
    assert.equal("out\n", dir:read "out")
    assert.equal("err\n", dir:read "err")
  end)

  it("kills a program after its timeout, with all processes that it started", function()
    local r = shell("tail -f /dev/null & echo $!; tail -f /dev/null", { timeout = 2 })
    assert.is_true(r.timed_out)
    assert.equal(9, r.signal)
    programs.wait_until("the end of the program's own child", function()
      local state = io.open("/proc/" .. tonumber(r.stdout) .. "/stat")
      local text = state and state:read "*a" or ""
      if state then state:close() end
      -- gone, or dead and not yet reaped by its new parent
      return text == "" or text:find "%) [ZX] "
    end)
    assert.is_false(shell("echo", { timeout = 60 }).timed_out)
  end)

  it("says why a program cannot be started", function()
    dir:write("plain", "echo\n")
    for _, case in ipairs {
      { { "no-such-program" }, "ENOENT", "cannot start 'no-such-program': there is no such program in PATH (" },
      { { dir:at "no" }, "ENOENT", "cannot start '" .. dir:at "no" .. "'" },
      { { dir:at "plain" }, "EACCES", "it is not executable (chmod +x makes it so)" },
      { { dir.path }, "EACCES", "it is a folder" },
      { { "true" }, "ENOENT", "in the folder '" .. dir:at "no" .. "'", { cwd = dir:at "no" } },
      { { "true" }, "ENOTDIR", "in the folder '" .. dir:at "plain" .. "'", { cwd = dir:at "plain" } },
      { { "true" }, "ENOENT", "cannot open '" .. dir:at "no/x" .. "'", { stdout = dir:at "no/x" } },
    } do
      for _, start in ipairs { process.run, process.spawn } do
        local r, message, code = start(case[1], case[4])
        assert.is_nil(r)
        assert.equal(case[2], code)
        assert.is_truthy(message:find(case[3], 1, true), message)
      end
    end
  end)

  it("leaks no descriptor, whatever happens", function()
    local function all()
      shell("cat; echo err >&2", { input = "x" })
      process.run { "true" }
      process.run { "no-such-program" }
      process.run({ "true" }, { cwd = dir:at "no" })
      process.run({ "true" }, { stdout = dir:at "out", stderr = dir:at "no/err" })
      shell("tail -f /dev/null", { timeout = 0.01 })
    end
    all()
    local before = count_descriptors()
    for _ = 1, 5 do all() end
    assert.equal(before, count_descriptors())
    local open = assert(io.open(dir:write("open", "")))
    local each = "i=0; while [ $i -lt 64 ]; do [ -e /proc/$$/fd/$i ] && echo $i; i=$((i + 1)); done"
    assert.equal("0\n1\n2\n", shell(each).stdout)
    open:close()
  end)

  it("refuses wrong arguments and options at the caller's line", function()
    for _, case in ipairs {
      { "ls", nil, "the program and its arguments are a string; accepted: a list of strings" },
      { {}, nil, "no program is named" },
      { { "" }, nil, "no program is named" },
      { { "ls", true }, nil, "argument 1 is a boolean" },
      { { "ls", "a\0b" }, nil, "argument 1 is a string; accepted: a string without NUL bytes" },
      { { "ls", nil, "x" }, nil, "has the key '3'; accepted: 1, 2, 3, ... without holes" },
      { { "ls", cwd = "/" }, nil, "has the key 'cwd'" },
      { { "ls" }, "x", "options are a string" },
      { { "ls" }, { capture = true }, "unknown option 'capture'; accepted: capture_output, check, input, cwd" },
      { { "ls" }, { check = 1 }, "option 'check' is a number; accepted: a boolean" },
      { { "ls" }, { cwd = "a\0b" }, "option 'cwd' has a NUL byte in it" },
      { { "ls" }, { timeout = 0 }, "option 'timeout' is 0; accepted: seconds, from 0.001 to 1e9" },
      { { "ls" }, { timeout = 0 / 0 }, "option 'timeout' is nan" },
      { { "ls" }, { capture_output = true, stderr = "x" }, "capture_output and a file for stderr are given" },
      { { "ls" }, { env = { ["A=B"] = "" } }, "'env' has the name 'A=B'" },
      { { "ls" }, { env = { A = true } }, "'env' has a boolean for 'A'; accepted: a string, or false" },
    } do
      local words = refused(function() process.run(case[1], case[2]) end)
      assert.equal("process.run: ", words:sub(1, 13))
      assert.is_truthy(words:find(case[3], 1, true), words)
    end
    local words = refused(function() process.spawn({ "ls" }, { timeout = 1 }) end)
    assert.equal("process.spawn: unknown option 'timeout'; accepted: input, cwd, env, stdout, stderr", words)
  end)
end)

describe("process.run with check", function()
  it("returns the same if nothing fails", function()
    assert.same({ code = 0, timed_out = false }, process.run({ "true" }, { check = true }))
    assert.same({ code = 0, stdout = "x", stderr = "", timed_out = false },
      captured({ "printf", "x" }, { check = true }))
  end)

  it("raises with the command, the status and stderr", function()
    local function words_of(text, o)
      o = o or {}
      o.check, o.capture_output = true, true
      return refused(function() process.run({ "sh", "-c", text }, o) end)
    end
    assert.equal("'sh -c exit 3' ended with exit status 3", words_of "exit 3")
    assert.equal("'sh -c echo no model >&2; exit 1' ended with exit status 1; its stderr ends:\nno model",
      words_of "echo no model >&2; exit 1")
    assert.equal("'sh -c kill -TERM $$' was ended by signal 15", words_of "kill -TERM $$")
    assert.equal("'sh -c tail -f /dev/null' was killed: it took longer than its timeout of 0.05 s",
      words_of("tail -f /dev/null", { timeout = 0.05 }))
    assert.is_truthy(refused(function() process.run({ "no-such-program" }, { check = true }) end)
      :find "^cannot start 'no%-such%-program'")
  end)

  it("shows the end of a long stderr, from the beginning of a line", function()
    local words = refused(function()
      process.run({ "sh", "-c", "seq 1000000 >&2; exit 1" }, { check = true, capture_output = true })
    end)
    assert.is_true(#words < 2000)
    assert.is_truthy(words:find "its stderr ends:\n%.%.%. %d+\n%d+\n", words)
    assert.equal("999999\n1000000", words:sub(-14))
    words = refused(function()
      process.run({ "sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1" },
        { check = true, capture_output = true })
    end)
    assert.is_true(#words > 1000 and #words < 2000)
  end)

  it("cuts a long command", function()
    local words = refused(function() process.run({ "false", ("x"):rep(10000) }, { check = true }) end)
    assert.is_truthy(words:find("^'false x+%.%.%.' ended with exit status 1$"), words)
    assert.is_true(#words < 300)
  end)
end)

describe("process.spawn", function()
  before_each(function() dir = folder.new() end)
  after_each(function() dir:remove() end)

  it("returns while the program runs; wait and kill may be called again", function()
    local p = assert(process.spawn { "tail", "-f", "/dev/null" })
    assert.is_truthy(lfs.attributes("/proc/" .. p.pid))
    local ended, message, code = p:wait(0)
    assert.is_nil(ended)
    assert.is_truthy(message:find "still runs")
    assert.equal("ETIMEDOUT", code)
    assert.is_true(p:kill(15))
    assert.same({ signal = 15 }, p:wait())
    assert.same({ signal = 15 }, p:wait(0))
    assert.is_true(p:kill())
  end)

  it("writes to files, reads its input and returns its status", function()
    local p = assert(process.spawn({ "sh", "-c", "cat; echo err >&2; exit 4" },
      { input = "in", stdout = dir:at "out", stderr = dir:at "err", cwd = dir.path, env = { A = "b" } }))
    assert.same({ code = 4 }, p:wait(60))
    assert.equal("in", dir:read "out")
    assert.equal("err\n", dir:read "err")
  end)

  it("leaves no zombie, even without a wait", function()
    local pids = {}
    for i = 1, 5 do pids[i] = assert(process.spawn { "true" }).pid end
    collectgarbage()
    local last = assert(process.spawn { "true" })
    last:wait()
    for _ = 1, 200 do -- each call looks at those that were started before
      process.run { "true" }
      local left = 0
      for _, pid in ipairs(pids) do left = left + (lfs.attributes("/proc/" .. pid) and 1 or 0) end
      if left == 0 then return end
    end
    error "there are dead programs that nobody has reaped"
  end)

  it("refuses an invalid signal and an invalid time", function()
    local p = assert(process.spawn { "true" })
    assert.is_false(pcall(p.kill, p, 65))
    assert.is_false(pcall(p.kill, p, -1))
    assert.is_false(pcall(p.wait, p, -1))
    assert.is_false(pcall(p.wait, {}))
    assert.same({ code = 0 }, p:wait())
  end)
end)
