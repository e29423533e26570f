-- `tidemill try`: runs a script on its first mini-batch, in the program's own process.
local job = require "support.job"
local lfs = require "lfs"
local folder = require "support.folder"
local programs = require "support.programs"

local ECHO = "function run(m) return names_of(m) end"

-- Runs `text` in bash, where "$0" "$@" is the program and its arguments.
local function shell(text) return { "bash", "-c", text } end

local function case(n, script)
  local t = job.case()
  t:inputs(n)
  t:script(script or ECHO)
  return t
end

describe("try", function()
  after_each(job.check_end)

  local function clean(t) assert.is_false(t:has "workspace") assert.is_false(t:has ".tidemill") end

  it("runs only the first mini-batch, in this process", function()
    local t = case(5, [[
      local words = table.concat(arg, " ")
      function init() words = words .. " " .. os.getenv "WHO" print "printed" end
      function run(m) local r = names_of(m) r[1] = r[1] .. " " .. words return r end
      function shutdown() io.stderr:write "shut down\n" end]])
    local r = t:run { "try", "score.lua", "in", "-N", "2", "--environment-variables", "WHO=me", "--", "a", "b" }
    t:expect(r, 0)
    assert.equal("0001.txt a b me\n0002.txt\n", r.out)
    assert.truthy(r.err:find("printed\n", 1, true))
    assert.truthy(r.err:find("shut down\n", 1, true))
    assert.truthy(r.err:find("2 items, 2 elements returned", 1, true))
    clean(t)
  end)

  it("lists the items that the script marks as failed, with reasons", function()
    local t = case(2, "function run(m, context) context:fail(2, 'too dark') return { 'one' } end")
    local r = t:run { "try", "score.lua", "in" }
    t:expect(r, 1)
    assert.equal("one\n", r.out)
    assert.truthy(r.err:find("warning: item 2, '" .. t:path "in/0002.txt" .. "', fails: too dark\n", 1, true), r.err)
    clean(t)
  end)

  it("ends with 1 if an item failed, and with 0 if all succeeded", function()
    local t = case(3)
    local missing = ": an item without an element counts as failed"
    for _, c in ipairs {
      { "return { 1, 2, 3 }", 0, "3 items, 3 elements returned\n" },
      { "return { 1 }", 1, "3 items, 1 element returned; 2 items have failed" .. missing .. "\n" },
      { "context:fail(1, 'no') return { 1, 2 }", 1, "3 items, 2 elements returned; 1 item has failed" },
      { "context:fail(1, 'no') return { 1 }", 1, "1 element returned; 2 items have failed" .. missing .. "\n" },
      { "context:fail(1, 'no') return { 1, 2, 3 }", 1, "3 items, 3 elements returned; 1 item has failed\n" },
      { "return { 1, 2, 3, 4 }", 0, "3 items, 4 elements returned; more than one for an item\n" },
      { "return { 1 }", 0, "3 items, 1 element returned\n", "any" },
      { "context:fail(3, 'no') return { 1 }", 1, "3 items, 1 element returned; 1 item has failed\n", "any" },
    } do
      t:script(("function run(m, context) %s end function shutdown() print 'shut down' end"):format(c[1]))
      local r = t:run { "try", "score.lua", "in", "--error-threshold", "-1", "--returns", c[4] or "auto" }
      t:expect(r, c[2])
      assert.truthy(r.err:find(c[3], 1, true), r.err)
      assert.truthy(r.err:find("shut down", 1, true), r.err)
    end
    clean(t)
  end)

  it("warns of a timeout, which has no effect here", function()
    local t = case(1, "function run(m) return m end")
    local r = t:run { "try", "score.lua", "in", "--run-invocation-timeout", "5" }
    t:expect(r, 0)
    assert.truthy(r.err:find("'--run-invocation-timeout' has no effect: try has no timeouts", 1, true), r.err)
  end)

  it("shows an error with its stack", function()
    local t = job.case()
    t:inputs(1)
    t:write("score.lua", "local function deep() error 'boom' end\nfunction run(m)\n  deep()\nend\n")
    local r = t:run { "try", "score.lua", "in" }
    t:expect(r, 1)
    assert.equal("", r.out)
    assert.truthy(r.err:find("run() failed at " .. t:path "score.lua" .. ":1: boom", 1, true), r.err)
    assert.truthy(r.err:find("score.lua:3: in function", 1, true), r.err)
    for script, words in pairs {
      ["function init() error 'no model' end function run(m) return m end"] = "init() failed",
      ["error 'not loaded'"] = "loading the script failed",
      ["function run(m) return 1 end"] = "run() failed",
      ["function run(m) for _ in ipairs(io.stdout) do end end"] =
        "data frame: for row in mini_batch:rows() do; a column: for i = 1, #column do",
      ["x = 1"] = "defines no function run(mini_batch)" } do
      t:write("score.lua", script)
      r = t:run { "try", "score.lua", "in" }
      t:expect(r, 1)
      assert.truthy(r.err:find(words, 1, true), r.err)
    end
    clean(t)
  end)

  it("gives the script new folders, and keeps their files", function()
    local t = case(1, [[
      function run(m)
        local e = require "tidemill.entry_script"()
        e.logger:info "logged"
        io.open(e.output_dir .. "/mine", "w"):close()
        io.open(e.temp_dir .. "/gone", "w"):close()
        return { e.output_dir, e.temp_dir, e.agent_name, e.working_dir, e.cores }
      end]])
    local r = t:run { "try", "score.lua", "in" }
    t:expect(r, 0)
    local output_dir, temp_dir, name, cwd, cores =
      r.out:match "^([^\n]+)\n([^\n]+)\n([^\n]+)\n([^\n]+)\n([^\n]+)\n$"
    assert.is_true(tonumber(cores) >= 1)
    assert.equal("process000", name)
    assert.equal(t.dir, cwd)
    assert.is_true(t:has(output_dir .. "/mine"))
    assert.is_false(t:has(temp_dir))
    assert.truthy(r.err:find("output_dir: " .. output_dir, 1, true), r.err)
    assert.truthy(t:read(output_dir:gsub("output$", "log/process000.log.txt")):find "|logged\n")
    os.execute("rm -r " .. output_dir:match "^(.+)/output$")
    clean(t)
  end)

  it("removes empty folders", function()
    local t = case(1)
    t:expect(t:run { "try", "score.lua", "in" }, 0)
    for name in lfs.dir(t:path "tmp") do assert.is_nil(name:find "tidemill") end
  end)

  local function temporary(t)
    local names = {}
    for name in lfs.dir(t:path "tmp") do
      if name:find "tidemill" then names[#names + 1] = name end
    end
    return names
  end

  it("removes folders of killed runs, and none in use", function()
    local ENDS = {
      "os.exit(3)",
      "require 'ffi'.cast('int *', 0)[0] = 1",
      "require 'ffi'.cdef 'void abort(void)' require 'ffi'.C.abort()",
      "assert(io.open(os.getenv 'BEGUN', 'w')):close() while true do end",
    }
    local t = case(2)
    for i, code in ipairs(ENDS) do
      t:write("ends.lua", "function run(m) " .. code .. " end")
      local p = t:start({ "try", "ends.lua", "in" }, { env = { "BEGUN=" .. t:path "begun" } })
      if i == #ENDS then
        t:wait_for "begun"
        assert.equal(1, #temporary(t))
        t:expect(t:run { "try", "score.lua", "in" }, 0)
        assert.equal(1, #temporary(t))
        p:kill(programs.SIGTERM)
      end
      local r = t:finish(p, 20)
      if i == 2 or i == 3 then
        assert.truthy(r.err:find("run() crashed the program; a worker would have died", 1, true), r.err)
      end
      t:expect(t:run { "try", "score.lua", "in" }, 0)
      assert.same({}, temporary(t))
    end
  end)

  it("keeps files that a killed script wrote to output_dir", function()
    local t = case(2)
    t:write("ends.lua", [[
      function run(m)
        assert(io.open(require "tidemill.entry_script"().output_dir .. "/kept", "w")):close()
        require 'ffi'.cast('int *', 0)[0] = 1
      end]])
    t:run { "try", "ends.lua", "in" }
    t:expect(t:run { "try", "score.lua", "in" }, 0)
    local left = temporary(t)
    assert.equal(1, #left)
    assert.is_true(t:has("tmp/" .. left[1] .. "/output/kept"))
    assert.is_false(t:has("tmp/" .. left[1] .. "/temp"))
    t:expect(t:run { "try", "score.lua", "in" }, 0)
    assert.same(left, temporary(t))
    folder.remove_tree(t:path("tmp/" .. left[1]))
  end)

  it("reads paths from standard input, and refuses whatever map refuses", function()
    local t = case(3)
    local r = t:run({ "try", "score.lua", "-", "-N1" }, { before = shell [[ls -d in/* | "$0" "$@"]] })
    t:expect(r, 0)
    assert.equal("0001.txt\n", r.out)
    r = t:run { "try", "score.lua", "nothing-*" }
    t:expect(r, 1)
    assert.truthy(r.err:find("nothing matches 'nothing-*'", 1, true), r.err)
    r = t:run { "try", "score.lua" }
    t:expect(r, 2)
    r = t:run { "try", "score.lua", "in", "--output", "x" }
    t:expect(r, 2)
  end)
end)
