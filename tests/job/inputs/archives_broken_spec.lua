-- Archives that cannot be listed, or only in part: each is one failed item, the others are read,
-- and killed supervisors make no difference.
--
-- TM_KILLS: how many supervisors are killed at random moments (15).
local archives = require "support.archives"
local job = require "support.job"
local json = require "dkjson"
local programs = require "support.programs"

local SCRIPT = archives.reading_script [[item:match "/in/(.*)" .. "=" .. #text]]

local function pipeline(t, options, config)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
local config = tm.ParallelRunConfig { entry_script = "score.lua", %s }
local found = tm.Dataset.File.from_archives("in", %s)
local step = tm.ParallelRunStep { name = "score", parallel_run_config = config, inputs = { found } }
return tm.Pipeline { name = "case", steps = { step } }
]]):format(config or "mini_batch_size = 2", options or "{}"))
end

local function members(n, size)
  local list = {}
  for i = 1, n do list[i] = { ("%d.txt"):format(i), ("%d"):format(i % 10):rep(size or 700) } end
  return list
end

local function gzip(t, name, text)
  t:write("packed", text)
  assert(os.execute(("cd '%s' && gzip -c packed > '%s' && rm packed"):format(t.dir, name)) == 0)
end

-- A newc archive without its end.
local function cpio(list)
  local out = {}
  for _, m in ipairs(list) do
    local head = ("070701" .. ("%08x"):rep(13)):format(1, 0x81a4, 0, 0, 1, 0, #m[2], 0, 0, 0, 0, #m[1] + 1, 0) .. m[1]
      .. "\0"
    out[#out + 1] = head .. ("\0"):rep(-#head % 4) .. m[2] .. ("\0"):rep(-#m[2] % 4)
  end
  return table.concat(out)
end

-- The messages for each path, in the order of the lines.
local function failed_items(t)
  local items = {}
  for line in t:read("job/score/failed_items.jsonl"):gmatch "[^\n]+" do
    local item = json.decode(line)
    items[#items + 1] = item
    items[item.item:match "/in/(.*)"] = item
  end
  return items
end

local function again(t) os.execute(("rm -rf '%s'"):format(t.job_dir)) end

describe("an archive that cannot be listed", function()
  after_each(job.check_end)

  local three = archives.tar(members(3))
  local overlapping = members(9)
  for i = 2, #overlapping do overlapping[i].at = 0 end
  local cases = {
    { "no archive", "a.zip", "hello", {}, "it is not an archive; accepted: zip, tar" },
    { "an empty file", "a.tar", "", {}, "it is empty" },
    { "a zip that is cut off", "a.zip", archives.zip(members(3)):sub(1, -30), {}, "it may be cut off" },
    { "a zip without what its directory names", "a.zip", archives.zip(members(3)):sub(1500), {},
      "it is not an archive" },
    { "a zip with a damaged directory", "a.zip",
      (archives.zip(members(3)):gsub("PK\1\2(.-)PK\1\2", "PK\1\2%1PK\1\1", 1)), { "1.txt" },
      "its directory is damaged" },
    { "a tar that is cut off", "a.tar", three:sub(1, 4 * 512 + 100), { "1.txt" }, "runcated", "2.txt" },
    { "a tar with a damaged header", "a.tar", three:sub(1, 1636) .. "x" .. three:sub(1638), { "1.txt" }, "amaged" },
    { "a tar.gz that is cut off", "a.tgz", function(t)
      gzip(t, "in/a.tgz", archives.tar(members(40)))
      local packed = t:read "in/a.tgz"
      t:write("in/a.tgz", packed:sub(1, -12))
    end, true, "the file ends too early" },
    { "a tar.gz with a wrong check sum", "a.tgz", function(t)
      gzip(t, "in/a.tgz", three)
      local packed = t:read "in/a.tgz"
      t:write("in/a.tgz", packed:sub(1, -9) .. "\1\2\3\4" .. packed:sub(-4))
    end, { "1.txt", "2.txt", "3.txt" }, "check" },
    { "a cpio that is cut off", "a.cpio", cpio(members(3)), { "1.txt", "2.txt", "3.txt" },
      "it is damaged, or cut off" },
    { "a 7z of nonsense", "a.7z", "7z\188\175\39\28" .. ("\255"):rep(100), {}, "cannot be listed" },
    { "too many entries", "a.zip", archives.zip(members(30)), true, "it has more than 20 entries" },
    { "a bomb", "a.tgz", function(t)
      gzip(t, "in/a.tgz", archives.tar { { "1.txt", "x" }, { "zeros", ("\0"):rep(2 ^ 25) } })
    end, { "1.txt" }, "it holds more than 200 times its own" },
    { "entries that overlap", "a.zip", archives.zip(overlapping), true, "its entries overlap" },
  }

  for _, case in ipairs(cases) do
    local what, name, bytes, found, why, cut = unpack(case)
    it("is a failed item: " .. what, function()
      local t = job.case()
      t:script(SCRIPT)
      t:write("in/b.zip", archives.zip(members(3)))
      if type(bytes) == "function" then
        bytes(t)
      else
        t:write("in/" .. name, bytes)
      end
      pipeline(t, "{ extract = false, max_entries = 20 }")
      if what ~= "too many entries" then pipeline(t, "{ extract = false }") end
      local r = t:expect_job(0)
      local items, rows = failed_items(t), {}
      local item = items[name]
      assert.truthy(item and item.error:find(why, 1, true), item and item.error or "not failed")
      assert.truthy(r.err:find("\n      1 item: " .. item.error:sub(1, 60), 1, true), r.err)
      assert.equal(1, item.try)
      assert.equal(cut and 2 or 1, #items)
      assert.truthy(not cut or items[name .. "/" .. cut])
      for _, row in ipairs(t:rows()) do rows[row:match "^[^=]*"] = true end
      for i = 1, 3 do assert.truthy(rows[("b.zip/%d.txt"):format(i)]) end
      if found == true then
        assert.truthy(rows[name .. "/1.txt"])
        found = { n = r.result.steps[1].items.succeeded - 3 }
      end
      for _, entry in ipairs(found) do assert.truthy(rows[name .. "/" .. entry], entry) end
      local counts = r.result.steps[1].items
      assert.same({ 3 + (found.n or #found), #items }, { counts.succeeded, counts.failed })
      assert.equal(counts.total, counts.succeeded + counts.failed)
      for _, status in ipairs(t:statuses()) do assert.equal("RUN_DONE", status) end
      t:expect(t:run { "verify", t.job_dir }, 0)
    end)
  end

  it("is a failed item with any on_unreadable, entries, extract or partition_keys", function()
    local t = job.case()
    t:script(SCRIPT)
    t:write("in/a.zip", "PK\3\4")
    t:write("in/b.tar", archives.tar { { "x/1.txt", "one" }, { "/etc/passwd", "x" } })
    pipeline(t, '{ extract = false, on_unreadable = "skip", entries = "x/*.txt" }')
    t:expect_job(0)
    assert.same({ "b.tar/x/1.txt=3" }, t:rows())
    assert.equal(1, #failed_items(t))
    again(t)
    t:script [[function run(m, context)
      return { tostring(context.partition_key_value.side) .. " " .. #m }
    end]]
    pipeline(t, '{ partition_format = "{side}/*.txt" }', 'partition_keys = "side"')
    t:expect_job(0)
    assert.same({ "x 1" }, t:rows())
    assert.equal(2, #failed_items(t))
    again(t)
    t:script(SCRIPT)
    pipeline(t, '{ partition_format = "{side}/*.txt", extract = false }')
    t:expect_job(0)
    assert.same({ "b.tar/x/1.txt=3" }, t:rows())
  end)

  it("keeps its own reason when run() raises; entries with long names are listed", function()
    local t = job.case()
    local long, far = ("n"):rep(300), ("f/"):rep(2040) .. "far"
    t:write("in/a.zip", "PK\3\4")
    t:write("in/b.zip",
      archives.zip { { "1.txt", "one" }, { "secret", "x", flags = 1 }, { long, "two" }, { far, "x" } })
    t:script 'function run() error "always" end'
    pipeline(t, "{ extract = false }", "mini_batch_size = 9, run_max_try = 1")
    t:expect_job(1)
    local items = failed_items(t)
    assert.truthy(items["a.zip"].error:find("it may be cut off", 1, true))
    assert.truthy(items["b.zip/secret"].error:find("it is encrypted", 1, true))
    assert.truthy(items["b.zip/1.txt"].error:find("always", 1, true))
    again(t)
    t:script [[local before
    function run(m, context)
      local rows = {}
      if before then assert(not io.open(before), before .. " is still there") end
      before = m[1]
      for i, path in ipairs(m) do
        assert(path:find(os.getenv "TMPDIR", 1, true) or path:find(os.getenv "TIDEMILL_MEMORY_DIR" or "none", 1, true))
        rows[i] = io.open(path):read "*a"
      end
      return rows
    end]]
    t:write("in/c.zip", archives.zip(members(6, 1)))
    pipeline(t, "{}", "mini_batch_size = 3, process_count_per_node = 1, run_max_try = 1")
    t:expect_job(0)
    assert.same({ "1", "2", "3", "4", "5", "6", "one" }, t:rows())
    items = failed_items(t)
    for _, name in ipairs { long, far } do
      local item = items["b.zip/" .. name]
      assert.truthy(item and item.error:find("its name is too long for a file of this machine", 1, true), item.error)
    end
  end)

  it("gets one warning with a count if many files are not archives", function()
    local t = job.case()
    t:script(SCRIPT)
    t:inputs(20)
    for _, words in ipairs { { "map" }, { "map", "--dry-run" }, { "try", "-N", "20" } } do
      local argv = { words[1], "score.lua", "in", "--entries", "*", unpack(words, 2) }
      local r = t:run(argv)
      assert.equal(1, select(2, r.err:gsub("lz4%), 7z and cpio; it is a failed item", "")), r.err)
      assert.truthy(r.err:find("19 more warnings like the one about 'in/0001.txt': 'in/0002.txt', 'in/0003.txt', "
        .. "'in/0004.txt' and 16 others", 1, true), r.err)
    end
  end)

  it("counts against error_threshold, and every report names it", function()
    local t = job.case()
    t:script(SCRIPT)
    t:write("in/a.zip", "PK\3\4")
    t:write("in/b.zip", archives.zip(members(3)))
    pipeline(t, "{ extract = false }", "mini_batch_size = 2, error_threshold = 0")
    local r = t:run { "run", "pipeline.lua", "--dry-run" }
    t:expect(r, 0)
    assert.truthy(r.err:find("it may be cut off; it is a failed item", 1, true), r.err)
    r = t:expect_job(1)
    assert.truthy(r.err:find("error_threshold", 1, true), r.err)
    assert.truthy(r.err:find("it may be cut off; it is a failed item", 1, true), r.err)
    r = t:run { "status", t.job_dir }
    assert.truthy(r.out:find("in/a.zip' cannot be listed: it begins as a zip file and has no end", 1, true), r.out)
    t:expect_job(1, { "--resume" }) -- the archive is still broken
    pipeline(t, "{ extract = false }", "mini_batch_size = 2, error_threshold = 1")
    t:expect_job(0, { "--resume" })
    assert.equal(3, #t:rows())
    r = t:run { "replay", t.job_dir, "--mini-batch", "0" }
    t:expect(r, 1)
    assert.truthy(r.err:find("item 1 fails: the archive '", 1, true), r.err)
    t:write("ask.lua", ([[
      local tidemill = require "tidemill"
      local found = tidemill.Dataset.File.from_archives(%q, { extract = false })
      for m in found:mini_batches(2) do print(#m) end
      local job = dofile("pipeline.lua"):submit()
      job:wait()
      for _, f in ipairs(job:failures()) do print(f.error) end
    ]]):format(t:path "in"))
    r = t:run { "ask.lua" }
    t:expect(r, 0)
    assert.truthy(r.out:find("1\n2\nthe archive '", 1, true), r.out .. r.err)
    r = t:run { "run", "pipeline.lua", "--progress", "none", "--only-failed", t.job_dir, "--job-dir", t:path "again" }
    t:expect(r, 1) -- the same item, which fails again
    assert.truthy(r.err:find("the only item failed", 1, true), r.err)
    t:write("in/a.zip", archives.zip(members(2))) -- the archive is now whole, and is listed again
    r = t:run { "run", "pipeline.lua", "--progress", "none", "--only-failed", t.job_dir, "--job-dir", t:path "more",
      "--json" }
    t:expect(r, 0)
    assert.same({ total = 2, succeeded = 2, failed = 0 }, r.result.steps[1].items)
  end)

  it("is the same item after a kill at any moment and a resume", function()
    math.randomseed(tonumber(os.getenv "TM_SEED") or os.time())
    local t = job.case()
    t:script(SCRIPT)
    for i = 1, 10 do
      t:write(("in/%02d.zip"):format(i), archives.zip(members(20)))
      t:write(("in/%02d.tar"):format(i), archives.tar(members(20)):sub(1, 5000 + 512 * i))
      t:write(("in/%02d.txt"):format(i), "no archive")
    end
    pipeline(t, "{ extract = false }", "mini_batch_size = 1")
    local function seen()
      local items = {}
      for i, item in ipairs(failed_items(t)) do items[i] = item.mini_batch .. " " .. item.item .. " " .. item.error end
      table.sort(items) -- a job may write its last items before earlier ones
      return items
    end
    local begin_s = programs.now()
    t:expect_job(0)
    local usual_ms = math.ceil((programs.now() - begin_s) * 1000)
    local rows, items = t:rows(), seen()
    assert.is_true(#items >= 20)
    for _ = 1, tonumber(os.getenv "TM_KILLS") or 15 do
      again(t)
      local p = t:start_job()
      programs.pass_ms(math.random(0, usual_ms))
      p:kill(programs.SIGKILL)
      t:finish(p, 30)
      t:wait_for_none(30)
      t:expect_job(0, { "--resume" })
      assert.same(rows, t:rows())
      assert.same(items, seen())
      t:expect(t:run { "verify", t.job_dir }, 0)
    end
  end)
end)

describe("an entry of an archive", function()
  after_each(job.check_end)

  local function new_case()
    local t = job.case()
    t:write("in/a.zip", archives.zip { { "below/1.txt", "1" }, { "below/2.txt", "2" } })
    return t
  end

  it("has the same name in errors as in the list of failed items, not that of its extracted file", function()
    local t = new_case()
    pipeline(t, nil, "mini_batch_size = 1, run_max_try = 2, process_count_per_node = 2")
    for _, script in ipairs {
      [[function run(m) error("cannot parse " .. m[1] .. ", in " .. m[1]:match ".*/") end]],
      [[function run(m, c) c:fail(1, "cannot parse " .. m[1] .. ", in " .. m[1]:match ".*/") return {} end]],
    } do
      t:script(script)
      local r = t:expect_job(1)
      local archive = t:path "in/a.zip/below/"
      assert.equal("cannot parse " .. archive .. "1.txt, in " .. archive, failed_items(t)["a.zip/below/1.txt"].error)
      -- One cause is one error, with its first item.
      local at = select(2, r.err:find("cannot parse " .. archive, 1, true))
      assert.is_truthy(at and r.err:find("^[12]%.txt", at + 1), r.err)
      assert.is_nil(r.err:find "entries/1/")
      assert.is_nil(t:read("job/score/logs/user/error.txt"):find "entries/1/")
      again(t)
    end
  end)

  it("is named by context:name(), even when other entries cannot be read", function()
    local t = new_case()
    t:write("in/b.zip", archives.zip { { "bad", "x", crc = 7 }, { "good", "x" } })
    t:script [[function run(m, c)
      local rows = {}
      for i = 1, #m do rows[i] = c:name(i) end
      assert(not pcall(c.name, c, #m + 1) and not pcall(c.name, c, 0))
      return rows
    end]]
    local want = { t:path "in/a.zip/below/1.txt", t:path "in/a.zip/below/2.txt", t:path "in/b.zip/good" }
    for _, options in ipairs { "{}", "{ extract = false }" } do
      pipeline(t, options, "mini_batch_size = 9")
      t:expect_job(0)
      if options ~= "{}" then want[3] = t:path "in/b.zip/bad" want[4] = t:path "in/b.zip/good" end
      assert.same(want, t:rows())
      again(t)
    end
    local r = t:run { "try", "score.lua", "in", "--entries", "**/*.txt" }
    t:expect(r, 0)
    assert.equal(want[1] .. "\n" .. want[2] .. "\n", r.out)
    r = t:run { "map", "score.lua", "in/a.zip", "--progress", "none" }
    t:expect(r, 0)
    assert.equal(t:path "in/a.zip" .. "\n", r.out)
  end)

  it("is named at once, also as one of very many", function()
    local t = new_case()
    t:script [[function run(m, c)
      for i = #m, 1, -1 do assert(c:name(i) == m[i]) end
      return {}
    end]]
    t:write("list", (t:path "in/a.zip" .. "\n"):rep(200000))
    local r = t:run({ "map", "score.lua", "-", "-N", "200000", "-j", "1", "--progress", "none", "--returns", "any",
      "--run-max-try", "1", "--error-threshold", "0", "--output-action", "summary_only" }, { stdin = t:path "list" })
    t:expect(r, 0)
  end)

  it("is named in the errors of try", function()
    local t = new_case()
    t:script [[function run(m) error("cannot parse " .. m[1]) end]]
    local r = t:run { "try", "score.lua", "in", "--entries", "**" }
    t:expect(r, 1)
    assert.truthy(r.err:find("cannot parse " .. t:path "in/a.zip/below/1.txt", 1, true), r.err)
  end)

  it("in a folder is not matched by its bare name, and the message says which pattern does", function()
    local t = new_case()
    t:script(SCRIPT)
    pipeline(t, '{ entries = "*.txt" }')
    local r = t:expect_job(1)
    local words = "none of the 2 files in 1 archive matches '*.txt'; '**/*.txt' matches 2 of them, which are in folders"
    assert.truthy(r.err:find(words, 1, true), r.err)
  end)
end)
