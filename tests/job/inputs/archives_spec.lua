-- Entries of archives as items: as files and as names, by pattern, hostile ones, failed ones again.
-- The job leaves nothing behind.
local archives = require "support.archives"
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"

-- The last part of each path and the content of the file.
local PATHS = [[function run(m)
  local rows = {}
  for i, path in ipairs(m) do
    local file = assert(io.open(path))
    rows[i] = name_of(path) .. "=" .. file:read "*a"
    file:close()
  end
  return rows
end]]
local NAMES = [[function run(m, context)
  local rows = {}
  for i, item in ipairs(m) do
    local reader = assert(context:open(item))
    rows[i] = name_of(item) .. "=" .. assert(reader:read "*a")
  end
  return rows
end]]

local NAMES_THAT_MAY_FAIL = archives.reading_script [[name_of(item) .. "=" .. text]]

local function pipeline(t, arguments, config)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
local config = tm.ParallelRunConfig { entry_script = "score.lua", %s }
local found = tm.Dataset.File.from_archives(%s)
local step = tm.ParallelRunStep { name = "score", parallel_run_config = config, inputs = { found } }
return tm.Pipeline { name = "case", steps = { step } }
]]):format(config or "mini_batch_size = 3", arguments))
end

local function numbered(n, below)
  local members, rows = {}, {}
  for i = 1, n do
    members[i] = { (below or "") .. ("%03d.txt"):format(i), "text " .. i }
    rows[i] = ("%03d.txt=text %d"):format(i, i)
  end
  return members, rows
end

-- By number and by path.
local function failed_items(t)
  local items = {}
  for line in t:read("job/score/failed_items.jsonl"):gmatch "[^\n]+" do
    local item = json.decode(line)
    items[#items + 1], items[item.item] = item, item
  end
  return items
end

local function again(t) os.execute("rm -rf " .. t.job_dir) end

describe("an archive as a dataset", function()
  after_each(job.check_end)

  it("gives its entries as files, or as names to read without extracting", function()
    local t = job.case()
    local members, rows = numbered(20, "d/")
    t:write("a.zip", archives.zip(members))
    t:write("a.tar", archives.tar(members))
    os.execute(("cd %s && gzip -k a.tar && tar xf a.tar && mkdir plain && mv d plain"):format(t.dir))
    for _, name in ipairs { "a.zip", "a.tar", "a.tar.gz" } do
      for _, extract in ipairs { true, false } do
        again(t)
        t:script(extract and PATHS or NAMES)
        pipeline(t, ("%q, { extract = %s }"):format(name, extract))
        local r = t:expect_job(0)
        assert.same(rows, t:rows(), name)
        assert.equal(20, r.result.steps[1].items.succeeded)
        assert.equal(7, r.result.steps[1].mini_batches.total)
        t:expect(t:run { "verify", t.job_dir }, 0)
      end
    end
    again(t)
    t:script(NAMES) -- context:open() on files
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub("from_archives%b()", 'from_files "plain"')))
    t:expect_job(0)
    assert.same(rows, t:rows())
  end)

  it("keeps its listing in the workspace for the next run", function()
    local t = job.case()
    t:write("a.zip", archives.zip((numbered(5))))
    t:script(NAMES)
    pipeline(t, '"a.zip", { extract = false }')
    t:expect(t:run { "run", "pipeline.lua", "--progress", "none" }, 0)
    local index
    for name in lfs.dir(t:path "workspace/index") do index = name:match "%.entries$" and name or index end
    assert.truthy(index)
    local before = lfs.attributes(t:path("workspace/index/" .. index)).ino
    t:expect(t:run { "run", "pipeline.lua", "--progress", "none" }, 0)
    assert.equal(before, lfs.attributes(t:path("workspace/index/" .. index)).ino)
    t:write("a.zip", archives.zip((numbered(6)))) -- a different size: a different list
    t:expect(t:run { "run", "pipeline.lua", "--progress", "none" }, 0)
    assert.are_not.equal(before, lfs.attributes(t:path("workspace/index/" .. index)).ino)
  end)

  it("selects entries by pattern, and groups them by keys in their names", function()
    local t = job.case()
    t:script(NAMES)
    t:write("in/1.zip", archives.zip { { "north/a.txt", "1" }, { "north/b.png", "2" }, { ".hidden", "3" } })
    t:write("in/2.tar", archives.tar { { "./south/c.txt", "4" }, { "south/.d.txt", "5" }, { "e.txt", "6" } })
    local cases = {
      { '"in"', { "a.txt=1", "b.png=2", "c.txt=4", "e.txt=6" } },
      { '"in/*", { entries = "**/*.txt" }', { "a.txt=1", "c.txt=4", "e.txt=6" } },
      { '{ "in/1.zip", "in/2.tar" }, { entries = { "north", ".hidden" } }', { ".hidden=3", "a.txt=1", "b.png=2" } },
      { '"in/2.tar", { entries = "south/.d.txt" }', { ".d.txt=5" } },
    }
    for _, case in ipairs(cases) do
      again(t)
      pipeline(t, case[1])
      t:expect_job(0)
      assert.same(case[2], t:rows(), case[1])
    end
    again(t)
    t:script [[function run(m, context)
      return { context.partition_key_value.side .. " " .. #m }
    end]]
    pipeline(t, '"in", { entries = "*/*", partition_format = "{side}/*" }',
      'partition_keys = "side", error_threshold = -1')
    t:expect_job(0)
    assert.same({ "north 2", "south 1" }, t:rows())
    again(t)
    pipeline(t, '"in", { entries = "*.jpg" }')
    local r = t:run_job()
    t:expect(r, 1)
    assert.truthy(r.err:find("no input: none of the 6 files in 2 archives matches '*.jpg'", 1, true), r.err)
    assert.is_nil(r.err:find "in folders")
  end)

  it("if malicious, fails only its bad entries and writes nothing outside the scratch folder", function()
    local t = job.case()
    local bad = {
      { "/etc/passwd", "x", why = "its name is absolute" },
      { "../../../../../../../../tmp/tidemill-out", "x",
        why = "its name leads out of the archive's folder, by '..'" },
      { "good.txt", "twice", why = "its name occurs twice" },
    }
    local zip_only = {
      { "secret", "x", flags = 1, why = "it is encrypted" },
      { "damaged", "x", crc = 7, why = "its check sum is wrong" },
      { "link", "/etc/passwd", mode = 0xA1FF, why = "it is a symbolic link" },
      { "bomb", ("x"):rep(100), method = 8, size = 2 ^ 31, why = "more than max_ratio (200)" },
      { "large", ("x"):rep(100), method = 8, size = 2 ^ 32 - 2 ^ 20, why = "more than max_ratio (200)" },
    }
    local tar_only = {
      { "out", type = "2", link = "../../etc/passwd", why = "it is a link that leads out of the archive" },
      { "hard", type = "1", link = "/etc/passwd", why = "it is a link that leads out of the archive" },
      { "null", type = "3", why = "it is a device" },
    }
    for kind, more in pairs { zip = zip_only, tar = tar_only } do
      local members, whys = { { "good.txt", "good" } }, {}
      for _, list in ipairs { bad, more } do
        for _, m in ipairs(list) do
          members[#members + 1] = m
          whys[#whys + 1] = m
        end
      end
      members[#members + 1] = { "last.txt", "last" }
      t:write("a." .. kind, archives[kind](members))
      for _, extract in ipairs { true, false } do
        again(t)
        t:script(extract and PATHS or NAMES_THAT_MAY_FAIL)
        pipeline(t, ("%q, { extract = %s }"):format("a." .. kind, extract), "mini_batch_size = 4")
        local r = t:run_job()
        t:expect(r, 0)
        assert.same({ "good.txt=good", "last.txt=last" }, t:rows())
        local items = failed_items(t)
        assert.equal(#whys, #items)
        assert.equal(2, r.result.steps[1].items.succeeded)
        assert.equal(#whys, r.result.steps[1].items.failed)
        for _, m in ipairs(whys) do
          local item = items[t.dir .. "/a." .. kind .. "/" .. m[1]]
          assert.truthy(item and item.error:find(m.why, 1, true), m[1] .. ": " .. (item and item.error or "none"))
        end
        assert.is_nil(lfs.attributes "/tmp/tidemill-out")
      end
    end
  end)

  it("with a wrong definition is refused with its line", function()
    local t = job.case()
    t:script(PATHS)
    local cases = {
      { '"a.zip", { entires = "*" }', "'entires'; did you mean 'entries'?" },
      { '"a.zip", { entries = 7 }', "'entries' is 7" },
      { '"a.zip", { entries = "/a" }', "'entries': '/a' begins with '/'" },
      { '"a.zip", { extract = "yes" }', "'extract' is \"yes\"" },
      { '"a.zip", { max_entries = 0 }', "'max_entries' is 0" },
      { '"a.zip", { max_entry_size = "much" }', "'max_entry_size' is \"much\"" },
      { '"a.zip", { max_ratio = 0.5 }', "'max_ratio' is 0.5" },
      { "{}", "the list of paths is empty" },
    }
    for _, case in ipairs(cases) do
      pipeline(t, case[1])
      local r = t:run { "run", "pipeline.lua", "--progress", "none" }
      t:expect(r, 2)
      assert.truthy(r.err:find("pipeline.lua:3", 1, true) and r.err:find(case[2], 1, true), case[1] .. ": " .. r.err)
      assert.is_false(t:has "job")
    end
  end)

  it("offers its failed items to another job and to --only-failed", function()
    local t = job.case()
    t:write("a.zip", archives.zip((numbered(9))))
    t:script [[function run(m, context)
      local rows = {}
      for i, item in ipairs(m) do
        local text = assert(context:open(item)):read "*a"
        if number_of(item) % 4 == 0 and not io.open(os.getenv "GOOD") then
          context:fail(i, "not today")
        else
          rows[#rows + 1] = name_of(item) .. "=" .. text
        end
      end
      return rows
    end]]
    local env = { env = { "GOOD=" .. t:path "good" } }
    for _, extract in ipairs { true, false } do
      again(t)
      os.remove(t:path "good")
      pipeline(t, ('"a.zip", { extract = %s }'):format(extract))
      t:expect_job(0, nil, env)
      assert.equal(7, #t:rows())
      t:write("good", "")
      t:expect(t:run({ "run", "pipeline.lua", "--progress", "none", "--only-failed", t.job_dir, "--job-dir",
        t:path("again" .. tostring(extract)) }, env), 0)
      assert.same({ "004.txt=text 4", "008.txt=text 8" },
        t:sorted_lines("again" .. tostring(extract) .. "/score/output/parallel_run_step.txt"))
    end
  end)

  it("works with map, try and replay", function()
    local t = job.case()
    t:script(PATHS)
    t:write("a.zip", archives.zip((numbered(5))))
    local mapped = t:run { "map", "score.lua", "a.zip", "--entries", "00[1-3]*" }
    t:expect(mapped, 0)
    t:write("mapped.txt", mapped.out)
    assert.same({ "001.txt=text 1", "002.txt=text 2", "003.txt=text 3" }, t:sorted_lines "mapped.txt")
    local tried = t:run { "try", "score.lua", "a.zip", "--entries", "**/*.txt", "-N", "2" }
    t:expect(tried, 0)
    assert.equal("001.txt=text 1\n002.txt=text 2\n", tried.out)
    local refused = t:expect(t:run { "map", "score.lua", "-", "--entries", "*" }, 2).err
    assert.truthy(refused:find("'--entries' goes with archives as inputs", 1, true), refused)
    refused = t:expect(t:run { "map", "score.lua", "a.zip", "--rows", "--entries", "*" }, 2).err
    assert.truthy(refused:find("'--rows' and '--entries' exclude each other", 1, true), refused)
    pipeline(t, '"a.zip"')
    t:expect_job(0)
    local r = t:run { "replay", t.job_dir, "--mini-batch", "1" }
    t:expect(r, 0)
    assert.equal("004.txt=text 4\n005.txt=text 5\n", r.out)
  end)

  it("changed after its listing fails the entries that are read from it", function()
    local t = job.case()
    t:write("a.zip", archives.zip((numbered(5))))
    t:script(([[function init()
      local file = io.open(%q, "a")
      file:write "x"
      file:close()
    end
    function run(m, context)
      local _, why, code = context:open(m[1])
      return { code .. " " .. why:match "[^/]*$" }
    end]]):format(t:path "a.zip"))
    pipeline(t, '"a.zip", { extract = false }', "mini_batch_size = 5, process_count_per_node = 1")
    t:expect_job(0)
    assert.same({ "ECHANGED a.zip' has changed since it was listed: it has another size or time" }, t:rows())
  end)

  it("leaves no extracted file behind, whichever process is killed", function()
    local t = job.case()
    t:write("a.zip", archives.zip((numbered(8))))
    t:script(([[local ffi = require "ffi"
    ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
    function run(m)
      local file = assert(io.open(m[1]))
      local text = file:read "*a"
      file:close()
      io.open(%q, "w"):close()
      while not io.open(%q) do ffi.C.poll(nil, 0, 5) end
      return { text }
    end]]):format(t:path "ready", t:path "go"))
    pipeline(t, '"a.zip"', "mini_batch_size = 1, process_count_per_node = 2, run_max_try = 3")
    for _, kind in ipairs { "worker", "keeper", "supervisor", "all" } do
      again(t)
      os.remove(t:path "ready")
      os.remove(t:path "go")
      local p = t:start_job()
      t:wait_for "ready"
      local workers, keeper = t:processes_of "worker", t:processes_of("keeper")[1]
      if kind == "supervisor" or kind == "all" then p:kill(programs.SIGKILL) end
      if kind == "keeper" or kind == "all" then programs.kill(keeper, programs.SIGKILL) end
      if kind == "worker" or kind == "all" then
        for _, worker in ipairs(workers) do programs.kill(worker, programs.SIGKILL) end
      end
      t:write("go", "")
      local r = t:finish(p, 60)
      t:wait_for_none(30)
      if kind == "supervisor" or kind == "all" then
        t:expect_job(0, { "--resume" })
      else
        t:expect(r, 0)
      end
      assert.equal(8, #t:rows(), kind)
      assert.same({}, t:temp_dirs(), kind)
    end
  end)
end)

describe("context:open", function()
  after_each(job.check_end)

  it("reads bytes, lines and everything, and reports misuse", function()
    local t = job.case()
    t:write("a.zip", archives.zip { { "a", "one\ntwo\n\nfour" }, { "empty", "" } })
    t:script [[local kept
    function run(m, context)
      local r, rows = context:open(m[1]), {}
      rows[1] = r:size() .. r:read(2) .. "|" .. r:read() .. "|" .. r:read "*l" .. "|" .. r:read(3):byte(1)
      rows[2] = r:read "*a" .. "|" .. r:read "*a" .. "|" .. tostring(r:read(1)) .. tostring(r:read())
      r:close()
      r:close()
      local lines = {}
      for line in context:open(m[1]):lines() do lines[#lines + 1] = line end
      rows[3] = table.concat(lines, ",")
      local e = context:open(m[2])
      rows[4] = tostring(e:read(1)) .. e:read "*a" .. tostring(e:read(0))
      rows[5] = select(2, pcall(r.read, r)):match "the reader is closed" .. select(2, pcall(e.read, e, "x"))
        .. select(2, pcall(context.open, context, "/etc/passwd"))
      rows[6] = tostring(kept and select(2, pcall(kept.read, kept)):match "until the run%(%)")
      kept = context:open(m[1])
      return rows
    end]]
    pipeline(t, '{ "a.zip", "a.zip" }, { extract = false }', "mini_batch_size = 2, process_count_per_node = 1")
    t:expect_job(0)
    local first = { "13on|e|two|10", "ur||nilnil", "nilnil", "one,two,,four", "until the run()" }
    local found = table.concat(t:rows(), "\n")
    for _, row in ipairs(first) do assert.truthy(found:find(row, 1, true), row .. " in " .. found) end
    assert.truthy(found:find("the reader is closedreader:read('x'): accepted: a number of bytes, '*l', '*a'"
      .. "context:open(item): '/etc/passwd' is not an item of this mini-batch", 1, true), found)
  end)
end)

describe("a reader that finds damage", function()
  after_each(job.check_end)

  local WAYS = {
    bytes = "while r:read(1000) do end",
    lines = [[while r:read "*l" do end]],
    iterator = "for _ in r:lines() do end",
    all = [[r:read "*a"]],
    probe = "while r:read(0) do r:read(8192) end",
  }
  local LINES = ("a line of some length\n"):rep(2000)

  -- Two damaged entries between sound ones.
  local function damaged_zip()
    return archives.zip { { "1", LINES }, { "2", LINES, crc = 7 }, { "3", LINES, method = 8 }, { "4", LINES } }
  end

  it("raises from every method, and the item fails even if the script catches the error", function()
    local t = job.case()
    t:write("a.zip", damaged_zip())
    pipeline(t, '"a.zip", { extract = false }', "mini_batch_size = 4, error_threshold = -1, run_max_try = 1")
    for way, code in pairs(WAYS) do
      again(t)
      t:script(([[function run(m, context)
        local raised = {}
        for i, item in ipairs(m) do
          local r = assert(context:open(item))
          local is_good, why = pcall(function() %s end)
          raised[i] = name_of(item) .. " " .. (is_good and "good" or why:match "score.lua:%%d+: (cannot read)")
        end
        return { table.concat(raised, ", "), "end" } -- two items are good
      end]]):format(code))
      t:expect_job(0)
      assert.same({ "1 good, 2 cannot read, 3 cannot read, 4 good", "end" }, t:rows(), way)
      local items = failed_items(t)
      assert.truthy(items[t:path "a.zip/2"].error:find("^cannot read '2' of '.*a.zip': its check sum is wrong$"), way)
      assert.truthy(items[t:path "a.zip/3"].error:find "^cannot read '3' of '.*a.zip': ", way)
    end
  end)

  it("fails the try of a script that does not catch it, with the reason", function()
    local t = job.case()
    t:write("a.zip", damaged_zip())
    t:script [[function run(m, context)
      local rows = {}
      for i, item in ipairs(m) do rows[i] = name_of(item) .. "=" .. #context:open(item):read "*a" end
      return rows
    end]]
    pipeline(t, '"a.zip", { extract = false }',
      "mini_batch_size = 4, error_threshold = -1, run_max_try = 1, isolate_failures = true")
    t:expect_job(0)
    assert.same({ "1=" .. #LINES, "4=" .. #LINES }, t:rows())
    local items = failed_items(t)
    assert.equal(2, #items)
    assert.truthy(items[t:path "a.zip/2"].error:find("its check sum is wrong", 1, true))
  end)

  -- The size and time of the archive do not change, so the job uses the index of its first run.
  it("finds damage done to a .tar.gz after the first run", function()
    local t = job.case()
    local members = {}
    math.randomseed(7)
    for i = 1, 20 do
      local parts = {}
      for k = 1, 2500 do parts[k] = ("%08x"):format(math.random(0, 2 ^ 31)) end
      members[i] = { ("%02d"):format(i), table.concat(parts) }
    end
    t:write("a.tar", archives.tar(members))
    os.execute(("cd '%s' && gzip -1 a.tar"):format(t.dir))
    t:script "function run(m) return names_of(m) end"
    local function map() return t:run { "map", "score.lua", "a.tar.gz", "--entries", "**", "--progress", "none" } end
    local first = map()
    t:expect(first, 0)
    assert.equal(20, select(2, first.out:gsub("\n", "")))
    local whole, place = t:read "a.tar.gz", 100000
    os.execute(("cd '%s' && touch -r a.tar.gz time"):format(t.dir))
    t:write("a.tar.gz", whole:sub(1, place) .. string.char((whole:byte(place + 1) + 1) % 256) .. whole:sub(place + 2))
    os.execute(("cd '%s' && touch -r time a.tar.gz"):format(t.dir))
    local second = map()
    local good = select(2, second.out:gsub("\n", ""))
    assert.truthy(good > 0 and good < 20, good)
    assert.truthy(second.err:find(("%d succeeded, %d failed"):format(good, 20 - good), 1, true), second.err)
    local file = assert(io.open((assert(second.err:match "failed items: (%S+)", second.err))))
    local words = file:read "*a"
    file:close()
    assert.equal(20 - good, select(2, words:gsub("has been damaged since it was first read", "")))
  end)

  it("treats an I/O error as damage", function()
    local t = job.case()
    t:inputs(2)
    t:script [[function run(m, context)
      local rows = {}
      for i, item in ipairs(m) do
        if number_of(item) == 1 then
          assert(os.remove(item))
          assert(require "tidemill.fs".mkdir(item))
        end
        local r = assert(context:open(item))
        rows[i] = tostring(pcall(r.read, r))
      end
      return rows
    end]]
    pipeline(t, "", "mini_batch_size = 2, error_threshold = -1, run_max_try = 1")
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub("from_archives%b()", 'from_files "in/*"')))
    t:expect_job(0)
    assert.same({ "false", "true" }, t:rows())
    local items = failed_items(t)
    assert.truthy(#items == 1 and items[1].error:find "operation on a directory", items[1] and items[1].error)
  end)
end)

describe("an output packed as an archive", function()
  after_each(job.check_end)

  local SCRIPT = [[function run(m, context)
    for _, path in ipairs(m) do
      local file = io.open(context:output_file("d/" .. name_of(path)), "w")
      file:write("made of " .. name_of(path))
      file:close()
    end
    if io.open(os.getenv "BAD") then error "bad" end
    return names_of(m)
  end]]

  local function define(t, output, more)
    t:write("pipeline.lua", ([[
local tm = require "tidemill"
local packed = tm.OutputFileDatasetConfig { name = "packed"%s }%s
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
  name = "score", inputs = { tm.Dataset.File.from_files "in/*" }, output = packed,
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 2, %s },
} } }
]]):format(output[1], output[2], more or ""))
  end

  local function names_in(t, name)
    local names = {}
    for found in lfs.dir(t:path(name)) do
      if not found:find "^%.+$" then names[#names + 1] = found end
    end
    table.sort(names)
    return names
  end

  it("exists only once its step is Completed, is whole, and can be read back", function()
    for _, format in ipairs { "zip", "tar", "tar.gz", "tar.zst" } do
      local t = job.case()
      local env = { env = { "BAD=" .. t:path "bad" } }
      t:inputs(5)
      t:script(SCRIPT)
      define(t, { ([[, destination = "out/all.%s"]]):format(format), format == "zip" and ":as_archive()"
        or (":as_archive %q"):format(format) }, "error_threshold = 0, run_max_try = 1")
      t:write("bad", "")
      t:expect(t:run_job(nil, env), 1)
      assert.is_false(t:has("out/all." .. format))
      os.remove(t:path "bad")
      again(t)
      t:expect_job(0, nil, env)
      assert.same({ "all." .. format }, names_in(t, "out"))
      t:expect_job(0, { "--resume" }, env)
      t:script [[function run(m, context)
        local rows = {}
        for i, item in ipairs(m) do
          rows[i] = item:match "all[^/]*/(.*)" .. "=" .. assert(context:open(item)):read "*a":gsub("%c", ";")
        end
        return rows
      end]]
      pipeline(t, ('"out/all.%s", { extract = false }'):format(format))
      again(t)
      t:expect_job(0)
      local rows = t:rows()
      assert.equal(6, #rows)
      assert.equal("d/0001.txt=made of 0001.txt", rows[1])
      assert.truthy(rows[6]:find "^parallel_run_step.txt=%d+.txt;", rows[6])
    end
  end)

  it("is whole or absent, whenever the supervisor is killed", function()
    math.randomseed(tonumber(os.getenv "TM_SEED") or os.time())
    local t = job.case()
    local env = { env = { "BAD=" .. t:path "bad" } }
    t:inputs(30)
    t:script(SCRIPT)
    define(t, { [[, destination = "out/all.zip"]], ":as_archive()" })
    local begin_s = programs.now()
    t:expect_job(0, nil, env)
    local usual_ms = math.ceil((programs.now() - begin_s) * 1000)
    local function expect_whole() -- reading to its end counts its entries
      local text = t:read "out/all.zip"
      assert.equal("PK\5\6", text:sub(-22, -19))
      assert.equal(31, text:byte(-12))
    end
    expect_whole()
    for _ = 1, tonumber(os.getenv "TM_KILLS") or 15 do
      again(t)
      os.execute("rm -rf " .. t:path "out")
      local p = t:start_job(nil, env)
      programs.pass_ms(math.random(0, usual_ms))
      p:kill(programs.SIGKILL)
      t:finish(p, 30)
      t:wait_for_none(30)
      if t:has "out/all.zip" then expect_whole() end
      t:expect_job(0, { "--resume" }, env)
      expect_whole()
      assert.same({ "all.zip" }, names_in(t, "out"))
    end
  end)

  it("replaces an existing file only with overwrite", function()
    local t = job.case()
    t:inputs(2)
    t:script(SCRIPT)
    t:write("out/all.zip", "somebody's")
    define(t, { [[, destination = "out/all.zip"]], ":as_archive()" })
    local env = { env = { "BAD=" .. t:path "bad" } }
    local r = t:run_job(nil, env)
    t:expect(r, 2)
    assert.truthy(r.err:find("out/all.zip' of output 'packed' is taken, and its contents are not this job's", 1, true),
      r.err)
    assert.equal("somebody's", t:read "out/all.zip")
    again(t)
    define(t, { [[, destination = "out/all.zip"]], ":as_archive()" }, "overwrite = true")
    t:expect_job(0, nil, env)
    assert.equal("PK", t:read("out/all.zip"):sub(1, 2))
    assert.same({ "all.zip" }, names_in(t, "out"))
  end)

  it("with a wrong definition is refused with its line", function()
    local t = job.case()
    t:inputs(1)
    t:script(SCRIPT)
    local cases = {
      { { "", ":as_archive()" }, "'packed' is packed into an archive, and has no 'destination'" },
      { { [[, destination = "a.rar"]], [[:as_archive "rar"]] }, "'archive_format' is \"rar\"" },
      { { [[, destination = "a.zip"]], ":as_archive(7)" }, "'archive_format' is 7" },
      { { [[, destination = "a", archive_format = "zip"]], "" }, "has an 'archive_format', and is not packed" },
    }
    for _, case in ipairs(cases) do
      define(t, case[1])
      local r = t:run { "run", "pipeline.lua", "--progress", "none" }
      t:expect(r, 2)
      assert.truthy(r.err:find("pipeline.lua:2", 1, true) and r.err:find(case[2], 1, true), r.err)
    end
  end)
end)
