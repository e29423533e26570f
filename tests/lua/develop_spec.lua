-- Working on entry scripts: load_script(), mini_batches().
local tidemill = require "tidemill"
local folder = require "support.folder"
local fs = require "tidemill.fs"

describe("an entry script in this process", function()
  local dir

  before_each(function()
    dir = folder.new()
    dir:write("helper.lua", "return { suffix = '!' }")
    dir:write("score.lua", [[
      local entry = require "tidemill.entry_script"()
      local helper = require "helper"
      arguments = { ... }
      function init()
        runs = 0
        entry.logger:info("init of %s", entry.agent_name)
      end
      function run(mini_batch, context)
        runs = runs + 1
        last = context
        index, name = context.minibatch_index, context.dataset_name
        local rows = {}
        for i, path in ipairs(mini_batch) do
          if path:find "mark" then return context:fail(i, "marked") or {} end
          if path:match "[^/]+$":find "bad" then error("cannot take " .. path:match "[^/]+$") end
          rows[i] = path:match "[^/]+$" .. helper.suffix
        end
        return rows
      end
      function shutdown() entry.logger:warning "over" end
    ]])
    for i = 1, 5 do dir:write(("in/%d.txt"):format(i), "x") end
  end)

  after_each(function() dir:remove() end)

  local function load(options) return tidemill.load_script(dir:at "score.lua", options) end

  it("is loaded with its arguments, its modules, a logger and folders", function()
    local s = load { arguments = { 1, "b" } }
    assert.same({ "1", "b" }, s.globals.arguments)
    s:init()
    assert.same({ "x.txt!" }, s:run { "/a/x.txt" })
    assert.equal("x.txt!\n", s:rows())
    s:shutdown()
    local log = assert(fs.read(s.log))
    assert.matches("|INFO|%d+|process000|init of process000\n", log)
    assert.matches("|WARNING|%d+|process000|over\n", log)
    assert.equal("directory", fs.stat(s.output_dir).type)
    assert.is_nil(rawget(_G, "run"), "its globals are its own")
    assert.matches("init%(%) has", tostring(s))
  end)

  it("has init() called before run(), once", function()
    local s = load()
    s:run {}
    s:run {}
    assert.equal(2, s.globals.runs)
  end)

  it("has prefetch() called before run(), with the same mini-batch", function()
    dir:write("score.lua", [[
      function prefetch(mini_batch)
        if #mini_batch == 2 then error "two" end
        return { of = mini_batch }
      end
      function run(mini_batch, context)
        assert(context.prefetched.of == mini_batch)
        return mini_batch
      end
    ]])
    local s = load()
    for _ = 1, 2 do
      assert.same({ "a" }, s:run { "a" })
      local ok, message = pcall(s.run, s, { "a", "b" })
      assert.is_false(ok)
      assert.matches("prefetch%(%) failed at .*score.lua:2: two", message)
    end
  end)

  it("is reloaded, with the modules beside it", function()
    local s = load()
    s:run { "a" }
    assert.is_false(s:reload())
    dir:write("helper.lua", "return { suffix = '?' }")
    dir:write("score.lua", (dir:read "score.lua":gsub("runs = 0", "runs = 10")) .. "\n")
    assert.is_true(s:reload())
    assert.same({ "a?" }, s:run { "a" })
    assert.equal(11, s.globals.runs)
  end)

  it("fails with its own line and stack, and can continue", function()
    local s = load()
    local ok, message = pcall(s.run, s, { "/in/bad.txt" })
    assert.is_false(ok)
    assert.matches("^run%(%) failed at .*score.lua:15: cannot take bad.txt\nstack traceback:", message)
    assert.matches("score.lua:15: in function", message)
    assert.is_nil(message:find "[%s<]tidemill/", "a line of the library's own Lua is shown")
    assert.same({ "a!" }, s:run { "a" })
    assert.is_false((pcall(function() return s.globals.last:fail(1) end)), "its context is over")
  end)

  it("that cannot be loaded raises, and can be fixed", function()
    dir:write("score.lua", "function run(")
    local ok, message = pcall(load)
    assert.is_false(ok)
    assert.matches("^loading the script failed at .*score.lua:1", message)
    dir:write("score.lua", "function run() return {} end")
    local s = load()
    dir:write("score.lua", "error 'no'")
    assert.is_false((pcall(s.reload, s)))
    assert.matches("could not be loaded", select(2, pcall(s.run, s, {})))
    dir:write("score.lua", "function run() return { 'x' } end")
    s:reload()
    assert.same({ "x" }, s:run { "y" })
    dir:write("score.lua", "x = 1")
    assert.matches("defines no function run", select(2, pcall(s.reload, s)))
  end)

  it("is judged as in a job", function()
    dir:write("score.lua", "function run() return 5 end")
    assert.matches("run%(%) returned a number", select(2, pcall(function() return load():run { "x" } end)))
    dir:write("score.lua", "function run() return { 'a\\nb' } end")
    assert.matches("line break", select(2, pcall(function() return load():run { "x" } end)))
  end)

  it("can be run from a coroutine, and under a debug hook", function()
    local s, lines = load(), 0
    local rows = coroutine.wrap(function() return s:run { "a" } end)()
    assert.same({ "a!" }, rows)
    debug.sethook(function() lines = lines + 1 end, "l")
    s:run { "a", "b" }
    debug.sethook()
    assert.is_true(lines > 5)
  end)

  it("processes the mini-batches of a dataset, with their numbers", function()
    local s, seen = load(), {}
    local files = tidemill.Dataset.File.from_files(dir:at "in"):as_named_input "texts"
    for mini_batch, index in files:mini_batches(2) do
      assert.equal(index, #seen)
      seen[#seen + 1] = #mini_batch
      s:run(mini_batch)
      assert.same({ index, "texts" }, { s.globals.index, s.globals.name })
    end
    assert.same({ 2, 2, 1 }, seen)
  end)

  it("leaves nothing behind but its own files", function()
    local s = load()
    local log_dir, output_dir, temp_dir = s.log_dir, s.output_dir, s.temp_dir
    s = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.same({ false, false, false }, { fs.exists(log_dir), fs.exists(output_dir), fs.exists(temp_dir) })
    local t = load()
    output_dir = t.output_dir
    fs.write(output_dir .. "/kept", "x")
    t = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.is_true(fs.exists(output_dir .. "/kept"))
    fs.remove(output_dir:match "^(.*)/", { recursive = true })
  end)

  it("refuses an invalid script, option or mini-batch", function()
    assert.matches("unknown key 'argument'; did you mean 'arguments'", folder.refused(function()
      load { argument = {} }
    end))
    assert.matches("the script is a number", folder.refused(function() tidemill.load_script(5) end))
    assert.matches("it is a nil; accepted: a list of paths", folder.refused(function() load():run() end))
    assert.matches("no such file", select(2, pcall(tidemill.load_script, dir:at "none.lua")))
  end)
end)

describe("the mini-batches of a dataset", function()
  local dir
  before_each(function() dir = folder.new() end)
  after_each(function() dir:remove() end)

  local function all(dataset, size)
    local list = {}
    for mini_batch in dataset:mini_batches(size) do list[#list + 1] = mini_batch end
    return list
  end

  it("of a table are independent data frames", function()
    dir:write("a.csv", "id,name\n1,x\n2,y\n3,z\n")
    local t = tidemill.Dataset.Tabular.from_delimited_files(dir:at "*.csv")
    local frames = all(t, "2rows")
    assert.same({ 2, 1 }, { #frames[1], #frames[2] })
    assert.equal("y", frames[1].c.name[2])
    assert.equal(1, #all(t))
    assert.equal(3, #all(t:filter("id", ">", 0), { mini_batch_size = "1rows" }))
  end)

  it("of archives are files that live as long as the mini-batch", function()
    local members = { { "one.txt", "1" }, { "two.txt", "2" }, { "bad.txt", "3", crc = 0 } }
    dir:write("a.zip", require("support.archives").zip(members))
    dir:write("score.lua", [[
      function run(mini_batch, context)
        local rows = {}
        for i, path in ipairs(mini_batch) do rows[i] = path:match "[^/]+$" .. io.open(path):read "*a" end
        return rows
      end
    ]])
    local given = all(tidemill.Dataset.File.from_archives(dir:at "a.zip"), 5)
    assert.equal(2, #given[1])
    assert.same({ "one.txt1", "two.txt2" }, tidemill.load_script(dir:at "score.lua"):run(given[1]))
    local kept = given[1][1]
    given = nil -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    assert.is_false(fs.exists(kept))
  end)

  it("are split by partition keys", function()
    for _, store in ipairs { "a", "b" } do
      for i = 1, 3 do dir:write(("%s/%d.txt"):format(store, i), "x") end
    end
    local files = tidemill.Dataset.File.from_files(dir:at "*/*.txt", { partition_format = "{store}/{n}.txt" })
    local mini_batches = all(files, { partition_keys = "store" })
    assert.same({ 3, 3 }, { #mini_batches[1], #mini_batches[2] })
  end)

  it("refuse whatever a job would refuse", function()
    local files = tidemill.Dataset.File.from_files(dir:at "*.txt")
    assert.matches("no input: nothing matches", folder.refused(function() files:mini_batches()() end))
    assert.matches("of files it is a number", folder.refused(function() files:mini_batches "1MB" end))
    assert.matches("unknown key 'size'", folder.refused(function() files:mini_batches { size = 1 } end))
    assert.matches("exclude each other", folder.refused(function()
      files:mini_batches { mini_batch_size = 1, partition_keys = "x" }
    end))
    assert.matches("has no partition_format", folder.refused(function()
      files:mini_batches { partition_keys = "x" }
    end))
  end)
end)
