-- What a script requires, in whole jobs: modules of tidemill, and its own from source_directory.
local job = require "support.job"

local function new_case(n, config)
  local t = job.case()
  t:inputs(n)
  t:pipeline("mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, " .. (config or ""))
  return t
end

describe("tidemill.process in a worker", function()
  after_each(job.check_end)

  it("includes the end of a failing program's stderr in the error of the try", function()
    local t = new_case(3)
    t:script [[
      local process = require "tidemill.process"
      function run(m)
        local text = "seq 100000 >&2; echo out of tide >&2; test " .. number_of(m[1]) .. " != 2"
        process.run({ "sh", "-c", text }, { check = true })
        return names_of(m)
      end]]
    t:expect_job(0)
    assert.same({ "0001.txt", "0003.txt" }, t:rows())
    local text = t:log "user/error/0/process000.txt"
    assert.is_truthy(text:find("ended with exit status 1; its stderr ends:", 1, true), text)
    assert.is_truthy(text:find("100000", 1, true) and text:find("out of tide", 1, true), text)
    assert.is_truthy(text:find "score.lua:%d+", text)
    assert.is_truthy(t:log("user/stderr/0/process000.stderr.txt"):find("out of tide", 1, true))
  end)

  it("leaves no process of a try whose run() took too long", function()
    local t = new_case(3, "run_invocation_timeout = 1")
    t:script [[
      local process = require "tidemill.process"
      function run(m)
        if number_of(m[1]) == 2 then
          assert(process.spawn { "tail", "-f", "/dev/null" })
          process.run { "sh", "-c", "tail -f /dev/null & tail -f /dev/null" }
        end
        return names_of(m)
      end]]
    t:expect_job(0, nil, { limit = 20 })
    assert.same({ "0001.txt", "0003.txt" }, t:rows())
    assert.same({ RUN_TIMEOUT = 1, RUN_DONE = 2 }, t:statuses())
    assert.equal(0, #t:processes())
  end)

  it("writes a program's output among the worker's own, in order", function()
    local t = new_case(1)
    t:script [[
      local process = require "tidemill.process"
      function run(m)
        io.write "one\n"
        process.run { "echo", "two" }
        print "three"
        process.run({ "cat" }, { input = "four\n" })
        assert(process.run({ "cat" }, { capture_output = true }).stdout == "")
        return names_of(m)
      end]]
    t:expect_job(0)
    assert.equal("one\ntwo\nthree\nfour\n", t:log "user/stdout/0/process000.stdout.txt")
  end)
end)

describe("a script", function()
  after_each(job.check_end)

  local C_MODULE = [[
#include <lauxlib.h>
static int twice(lua_State *L)
{
  lua_pushnumber(L, 2 * luaL_checknumber(L, 1));
  return 1;
}
int luaopen_doubler(lua_State *L)
{
  lua_pushcfunction(L, twice);
  return 1;
}
]]

  it("requires Lua and C modules of its source_directory", function()
    local t = new_case(2, [[source_directory = "source"]])
    t:write("doubler.c", C_MODULE)
    t:write("source/lib/names.lua", "return { prefix = 'row ' }")
    t:script([[
      local names, twice = require "lib.names", require "doubler"
      function run(m) return { names.prefix .. twice(number_of(m[1])) } end]], "source/score.lua")
    local r = t:run({ "-shared", "-fPIC", "-I" .. os.getenv "TM_LUA_INCLUDE", "-o", "source/doubler.so", "doubler.c" },
                    { before = { "sh", "-c", 'shift; exec "${CC:-cc}" "$@"', "sh" } })
    t:expect(r, 0)
    t:expect_job(0)
    assert.same({ "row 2", "row 4" }, t:rows())
  end)

  it("names the missing module, and the places searched", function()
    local t = new_case(1)
    t:script "require 'no_such_module' function run(m) return m end"
    t:expect_job(1)
    local text = t:log "user/error/0/process000.txt"
    assert.is_truthy(text:find("module 'no_such_module' not found", 1, true), text)
    assert.is_truthy(text:find("score.lua', nor by package.path and package.cpath", 1, true), text)
  end)

  it("returns rows with json.null and json.object", function()
    local t = new_case(4)
    t:script [[
      local json = require "tidemill.json"
      local rows = {
        { b = json.null, a = json.object {} },
        json.object {},
        { tags = {}, value = 1.5 },
        json.decode '{"z":{},"a":[null,9007199254740993]}',
      }
      function run(m) return { rows[number_of(m[1])] } end]]
    t:expect_job(0)
    assert.same({ '{"a":[null,9007199254740993],"z":{}}', '{"a":{},"b":null}', '{"tags":[],"value":1.5}', "{}" },
                t:rows())
  end)

  it("reads and writes files with tidemill.fs", function()
    local t = new_case(3)
    t:script [[
      local EntryScript = require "tidemill.entry_script"
      local fs, path = require "tidemill.fs", require "tidemill.path"
      function run(m)
        local out = EntryScript().output_dir
        assert(fs.write(path.join(out, path.stem(m[1]) .. ".copy"), assert(fs.read(m[1]))))
        assert(fs.append(path.join(out, "all"), path.basename(m[1]) .. "\n"))
        return names_of(m)
      end]]
    t:expect_job(0)
    assert.same(job.names(3), t:sorted_lines "job/score/output/all")
    assert.equal("2\n", t:read "job/score/output/0002.copy")
  end)
end)

describe("the code that a script requires", function()
  after_each(job.check_end)

  it("is a copy from the start of the job: modules, and folders behind links", function()
    local t = new_case(4, [[source_directory = "src", environment = { module_paths = { "lib" } }]])
    t:write("lib/helper.lua", "return 1")
    t:write("library/deep.lua", "return 1")
    t:script([[
      package.path = package.path .. ";" .. require("tidemill.entry_script")().script_dir .. "/?.lua"
      local function write(path) local f = assert(io.open(path, "w")); f:write "return 2"; f:close() end
      function run(m)
        local row = require "helper" .. " " .. require "link.deep" -- loaded anew in each mini-batch
        package.loaded.helper, package.loaded["link.deep"] = nil, nil
        write "]] .. t:path "lib/helper.lua" .. [["
        write "]] .. t:path "library/deep.lua" .. [["
        return { row }
      end]], "src/score.lua")
    assert(require("lfs").link("../library", t:path "src/link", true))
    t:expect_job(0)
    assert.same({ "1 1", "1 1", "1 1", "1 1" }, t:rows())
    assert.equal("return 2", t:read "lib/helper.lua")
    os.remove(t:path "job/job_result.json")
    local r = t:expect_job(2, { "--resume" }) -- the script is different now
    assert.is_truthy(r.err:find("'script", 1, true) or r.err:find("script", 1, true), r.err)
    t:expect_job(0, { "--resume", "--keep-script" })
  end)
end)
