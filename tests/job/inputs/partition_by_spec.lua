-- dataset:partition_by(): writes rows to files in folders named by the values of columns,
-- completely or not at all, and only once.
local job = require "support.job"
local fs = require "tidemill.fs"
local frame = require "tidemill.frame"

local SHOW = [[
local function text(v) return v == nil and "null" or "<" .. tostring(v) .. ">" end
function run(df, context)
  local rows, group = {}, {}
  for i, row in df:irows() do
    local cells = {}
    for c, name in ipairs(WANTED) do cells[c] = text(row[name]) end
    rows[i] = (table.concat(cells, " "):gsub("\n", "\\n"):gsub("\r", "\\r"):gsub("%z", "\\0"))
  end
  return rows
end
]]

--- A pipeline on the dataset `input`: Lua in which `rows` is the dataset of in/*.csv.
local function pipeline(t, input, config)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
local rows = tm.Dataset.Tabular.from_delimited_files("in/*.csv", { support_multi_line = true })
local config = tm.ParallelRunConfig { entry_script = "score.lua", process_count_per_node = 2, %s }
return tm.Pipeline { name = "case", steps = {
  tm.ParallelRunStep { name = "score", parallel_run_config = config, inputs = %s } } }
]]):format(config or "", input))
end

local function show(t, columns)
  t:script("local WANTED = { '" .. table.concat(columns, "', '") .. "' }\n" .. SHOW)
end

local function simple(t)
  t:write("in/a.csv", "id,city\n1,Ulm\n2,Bonn\n3,Ulm\n")
  show(t, { "id", "city" })
end

--- Runs a job in a new directory.
local function expect_new_job(t)
  fs.remove(t:path "job", { recursive = true })
  return t:expect_job(0)
end

local function refused(t, words)
  fs.remove(t:path "job", { recursive = true })
  local r = t:run_job()
  assert.equal(2, r.status, r.err)
  assert.is_truthy(r.err:find(words, 1, true), r.err)
  assert.is_truthy(r.err:find("pipeline.lua:%d+: dataset:partition_by"), r.err)
  assert.is_falsy(r.err:find("stack traceback", 1, true))
end

describe("partition_by", function()
  after_each(job.check_end)

  it("returns the rows unchanged, whatever they hold", function()
    local t = job.case()
    local nasty = { "a", "a/b", "..", ".x", "%null", "%2F", "", frame.null, "l1\nl2", "tab\t", " blank ", "\"q\"", "é",
                    ("x"):rep(200), "a,b", "1", "-", "*", "{k}", "null" }
    local key, id, text, at, price, good = {}, {}, {}, {}, {}, {}
    for i = 1, 400 do
      key[i], text[i] = nasty[i % #nasty + 1], nasty[(i * 7 + math.floor(i / 20)) % #nasty + 1]
      id[i], at[i] = i % 13 == 0 and frame.null or i * 1e12, i % 11 == 0 and frame.null or i * 1e6 + i % 3 / 4
      price[i], good[i] = i % 7 == 0 and frame.null or i / 3, i % 5 == 0 and frame.null or i % 2 == 0
    end
    local columns = { "key", "id", "text", "at", "price", "good" }
    local df = frame.from_table({ { "key", key }, { "id", id }, { "text", text }, { "at", at }, { "price", price },
      { "good", good } }, { at = "datetime" })
    t:write("in/a.csv", df:to_csv())
    show(t, columns)
    pipeline(t, "rows")
    t:expect_job(0)
    local rows = t:rows()
    assert.equal(400, #rows)
    for _, keys in ipairs { "'key'", "{ 'good', 'key' }", "'price'", "{ 'at', 'id' }" } do
      local again = job.case()
      again:write("in/a.csv", df:to_csv())
      show(again, columns)
      pipeline(again, ("rows:partition_by(%s, 'parts')"):format(keys))
      again:expect_job(0)
      assert.same(rows, again:rows(), keys)
    end
  end)

  it("makes a mini-batch for each key, with its type", function()
    local t = job.case()
    t:write("in/a.csv", "id,city,n\n1,Ulm,7\n2,Bonn,8\n3,Ulm,7\n4,,8\n")
    t:script [[function run(df, context)
      local k, rows = context.partition_key_value, {}
      for i = 1, #df do rows[i] = ("%s %s %d %s"):format(k.city, type(k.n), #df, df.columns[3]) end
      return rows
    end]]
    pipeline(t, "rows:partition_by({ 'city', 'n' }, 'parts')", "partition_keys = { 'city', 'n' }")
    t:expect_job(0)
    assert.same({ "Bonn number 1 n", "Ulm number 2 n", "Ulm number 2 n", "nil number 1 n" }, t:rows())
    assert.same({ "%null", ".tidemill-partition", "Bonn", "Ulm" }, fs.list(t:path "parts"))
    assert.equal("id\n1\n3\n", t:read "parts/Ulm/7/rows.csv")
  end)

  it("writes the rows left by the dataset's operations to a datastore, as files", function()
    local t = job.case()
    t:write("in/a.csv", "id,city,n\n1,Ulm,7\n2,Bonn,8\n3,Ulm,9\n4,Rom,8\n")
    t:script [[function run(files, context)
      local rows = {}
      for i, path in ipairs(files) do
        rows[i] = context.partition_key_value.city .. " " .. io.open(path):read "*a":gsub("\n", ";")
      end
      return rows
    end]]
    pipeline(t, [[rows:filter("n", "<", 9):drop_columns("n"):partition_by("city",
      tm.Workspace.from_config():get_default_datastore(), "by/city", { partition_as_file_dataset = true })]],
      "partition_keys = { 'city' }")
    t:expect_job(0)
    assert.same({ "Bonn id;2;", "Rom id;4;", "Ulm id;1;" }, t:rows())
  end)

  it("reads and writes only once while nothing changes", function()
    local t = job.case()
    simple(t)
    pipeline(t, "rows:partition_by('city', 'parts')")
    t:expect_job(0)
    local before = fs.stat(t:path "parts/Ulm/rows.csv").mtime
    expect_new_job(t)
    assert.equal(before, fs.stat(t:path "parts/Ulm/rows.csv").mtime)
    t:write("in/b.csv", "id,city\n4,Rom\n")
    refused(t, "was made of other rows, or by other keys")
    pipeline(t, "rows:partition_by('city', 'parts', { overwrite = true })")
    expect_new_job(t)
    assert.same({ "<1> <Ulm>", "<2> <Bonn>", "<3> <Ulm>", "<4> <Rom>" }, t:rows())
    assert.same({ ".tidemill-partition", "Bonn", "Rom", "Ulm" }, fs.list(t:path "parts"))
    pipeline(t, "rows:partition_by('city', 'parts')")
    t:write("parts/Rom/rows.csv", "id\n5\n6\n")
    refused(t, "has changed since partition_by made it")
  end)

  it("may be registered, fetched, and partitioned again", function()
    local t = job.case()
    local lines = { "id,g,h" }
    for i = 1, 300 do lines[#lines + 1] = ("%d,%d,%d"):format(i, i % 7, i % 3) end
    t:write("in/a.csv", table.concat(lines, "\n") .. "\n")
    t:script [[function run(df, context)
      local keys, rows = context.partition_key_value, {}
      for i = 1, #df do
        assert(df.c.id[i] % 7 == keys.g and df.c.id[i] % 3 == keys.h)
        rows[i] = df.c.id[i]
      end
      return rows
    end]]
    t:write("pipeline.lua", [[
local tm = require "tidemill"
local workspace = tm.Workspace.from_config()
local rows = tm.Dataset.Tabular.from_delimited_files("in/*.csv"):skip(100)
rows:partition_by("g", "by g/"):register(workspace, "parted")
local again = tm.Dataset.get_by_name(workspace, "parted"):filter("g", ">=", 5):partition_by({ "h", "g" }, "by {h}*")
local config = tm.ParallelRunConfig { entry_script = "score.lua", partition_keys = { "g", "h" } }
return tm.Pipeline { name = "case", steps = {
  tm.ParallelRunStep { name = "score", parallel_run_config = config, inputs = again } } }
]])
    t:expect_job(0)
    local ids = {}
    for i = 101, 300 do ids[#ids + 1] = i % 7 >= 5 and tostring(i) or nil end
    table.sort(ids)
    assert.same(ids, t:rows())
  end)

  it("leaves folders of others alone", function()
    local t = job.case()
    simple(t)
    t:write("parts/mine.txt", "mine")
    for _, options in ipairs { "nil", "{ overwrite = true }" } do
      pipeline(t, ("rows:partition_by('city', 'parts', %s)"):format(options))
      refused(t, "is not empty, and partition_by has not made it")
    end
    assert.equal("mine", t:read "parts/mine.txt")
    assert.same({ "mine.txt" }, fs.list(t:path "parts"))
    pipeline(t, "rows:partition_by('city', 'parts/mine.txt')")
    refused(t, "is not a folder")
    assert(fs.mkdir(t:path "empty"))
    pipeline(t, "rows:partition_by('city', 'empty')")
    expect_new_job(t)
  end)

  it("reports what is wrong, and leaves nothing", function()
    local t = job.case()
    simple(t)
    t:write("long/a.csv", "id,k\n1," .. ("x"):rep(256) .. "\n")
    t:write("nul/a.csv", "id,k\n1,a\0b\n")
    t:write("only/a.csv", 's,k\n"",1\n,2\n')
    t:write("bare/a.csv", "k\n1\n")
    t:write("none/a.csv", "id,k\n")
    local from = [[tm.Dataset.Tabular.from_delimited_files("%s/*.csv"):partition_by("k", "parts")]]
    local cases = {
      { "rows:partition_by('ctiy', 'parts')", "names 'ctiy', which is not a column of the table; did you mean 'city'" },
      { "rows:partition_by({}, 'parts')", "keys, a name of a column or a list of them" },
      { "rows:partition_by({ 'city', 7 }, 'parts')", "keys, a name of a column or a list of them" },
      { "rows:partition_by({ 'city', 'city' }, 'parts')", "the key 'city' is named twice" },
      { "rows:partition_by('a/b', 'parts')", "the column 'a/b' cannot be a key" },
      { "rows:partition_by('city')", "a target, the path of a folder" },
      { "rows:partition_by('city', '')", "a target, the path of a folder" },
      { "rows:partition_by('city', 'parts', { overwirte = true })", "did you mean 'overwrite'?" },
      { "rows:partition_by({ 'id', 'city' }, 'parts')", "every column is a key" },
      { from:format "long", "longer than a name of 255 bytes" },
      { from:format "nul", "has a NUL byte" },
      { from:format "only", "column 's' is the only one that is not a key, and has a null" },
      { from:format "bare", "every column is a key" },
      { from:format "none", "no input: there is no row in 1 file" },
      { from:format "missing", "nothing matches 'missing/*.csv'" },
      { "tm.Dataset.File.from_files('in'):partition_by('city', 'parts')", "partition_format" },
    }
    for _, case in ipairs(cases) do
      pipeline(t, case[1])
      refused(t, case[2])
      assert.is_falsy(fs.exists(t:path "parts"), case[1])
    end
    for _, name in ipairs(fs.list(t.dir)) do
      assert.is_falsy(name:find "partial", name)
    end
    pipeline(t, [[tm.Dataset.Tabular.from_delimited_files("in"):partition_by("city", "in/parts")]])
    expect_new_job(t)
    refused(t, "is within what the dataset reads")
  end)

  it("reports values that do not fit", function()
    local t = job.case()
    local lines = { "id,n" }
    for i = 1, 300 do lines[#lines + 1] = ("%d,%s"):format(i, i == 250 and "odd" or i % 2) end
    t:write("in/a.csv", table.concat(lines, "\n") .. "\n")
    show(t, { "id" })
    pipeline(t, "rows:partition_by('n', 'parts')")
    local r = t:expect_job(0)
    assert.equal(300, #t:rows())
    assert.is_truthy(r.err:find("dataset:partition_by: values that do not fit", 1, true), r.err)
    assert.is_truthy(r.err:find("line 251", 1, true), r.err)
  end)
end)
