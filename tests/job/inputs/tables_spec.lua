-- Rows of tables: how files are cut, what run() gets, what is counted, what is refused.
local job = require "support.job"
local tables = require "support.tables"
local lfs = require "lfs"

local csv, pipeline, IDS, ids = tables.csv, tables.pipeline, tables.IDS, tables.ids

describe("a table", function()
  after_each(job.check_end)

  it("is split between rows, never across files", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 3000)
    csv(t, "in/b.csv", 3001, 3010)
    t:script [[
      function run(df, context)
        local rows = {}
        for row in df:rows() do
          rows[#rows + 1] = ("%d %s %s"):format(row.id, context.source:match "[^/]+$", row.name)
        end
        return rows
      end]]
    pipeline(t, [[mini_batch_size = "10KB"]])
    local r = t:expect_job(0)
    local step = r.result.steps[1]
    assert.same({ total = 3010, succeeded = 3010, failed = 0 }, step.items)
    assert.is_true(step.mini_batches.total > 8)
    local want = {}
    for i = 1, 3010 do want[i] = ("%d %s name%d"):format(i, i <= 3000 and "a.csv" or "b.csv", i) end
    table.sort(want)
    assert.same(want, t:rows())
  end)

  it("may be filtered and aggregated by run() without failed rows", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 100)
    t:script "function run(df) return df:filter(function(row) return row.id > 90 end) end"
    local function items(settings, status)
      os.execute(("rm -rf '%s'"):format(t.job_dir))
      pipeline(t, [[mini_batch_size = "20rows"]] .. settings)
      local r = t:expect_job(status)
      return r.result.steps[1].items.failed, r.err
    end
    local failed, err = items("", 0)
    assert.equal(0, failed)
    assert.equal(10, #t:rows())
    assert.is_nil(err:find("warning", 1, true), err)
    -- a user who sets it wants to count rows, and gets a warning
    failed, err = items(", error_threshold = 90", 0)
    assert.equal(90, failed)
    assert.equal(1, select(2, err:gsub("warning: step 'score': run%(%) returned 0 elements for 20 rows", "")), err)
    assert.is_truthy(err:find('filter by dataset:filter(), or set returns = "any"; ', 1, true), err)
    assert.is_truthy(err:find("90 items: run() returned fewer elements", 1, true), err)
    failed, err = items(", error_threshold = 0, returns = 'any'", 0)
    assert.equal(0, failed)
    assert.is_nil(err:find("warning", 1, true), err)
    failed, err = items(", returns = 'rows'", 0)
    assert.equal(90, failed)
    assert.is_nil(err:find("warning", 1, true), err)
    items(", error_threshold = 89, returns = 'rows'", 1)
  end)

  it("split by rows has numbered rows", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 1201)
    t:script [[function run(df, context)
      local rows = {}
      for i in ipairs(df.c.id:to_table()) do
        rows[i] = ("%d %d"):format(df.c.id[i], context.global_row_index_lower_bound + i)
      end
      return rows
    end]]
    pipeline(t, [[mini_batch_size = "500rows"]])
    local r = t:expect_job(0)
    assert.same({ total = 3, succeeded = 3, failed = 0 }, r.result.steps[1].mini_batches)
    for _, row in ipairs(t:rows()) do
      local id, number = row:match "(%d+) (%d+)"
      assert.equal(id, number)
    end
  end)

  it("has types that are inferred once, in the first file", function()
    local t = job.case()
    t:write("in/a.csv", "a,b,c\n1,x,2024-01-01\n")
    t:write("in/b.csv", "a,b,c\nno,2,never\n")
    t:script [[function run(df)
      local types = {}
      for _, name in ipairs(df.columns) do types[#types + 1] = df.types[name] end
      return { table.concat(types, " ") .. " " .. tostring(df.c.a[1]) }
    end]]
    pipeline(t, "")
    t:expect_job(0)
    assert.same({ "long string datetime 1", "long string datetime nil" }, t:rows())
    assert.truthy(t:read("job/score/state/schema.json"):find('"type": "datetime"', 1, true))
  end)

  it("may be JSON lines, with columns from the path and the path itself", function()
    local t = job.case()
    t:write("in/north/2026/02/01.jsonl", '{"a":1,"b":"x"}\n{"b":"y","a":2}\n')
    t:write("in/south/2026/02/02.jsonl", '{"a":3,"b":"z"}\n')
    t:script [[function run(df)
      local rows = {}
      for row in df:rows() do
        rows[#rows + 1] = ("%d %s %s %d %s"):format(row.a, row.b, row.store, row.day, row.Path:match "[^/]+$")
      end
      return rows
    end]]
    pipeline(t, "", [[tm.Dataset.Tabular.from_json_lines_files("in", { include_path = true,
      partition_format = "{store}/{day:yyyy/MM/dd}.jsonl" })]])
    t:expect_job(0)
    assert.same({ "1 x north 1769904000 01.jsonl", "2 y north 1769904000 01.jsonl", "3 z south 1769990400 02.jsonl" },
      t:rows())
  end)

  it("counts missing, marked and failed rows", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 10)
    csv(t, "in/b.csv", 11, 20)
    t:script [[function run(df, context)
      if df.c.id[1] == 11 then error "no good" end
      context:fail(3, "third")
      return { 1, 2, 3, 4, 5, 6, 7 }
    end]]
    pipeline(t, "run_max_try = 2, error_threshold = 13")
    local r = t:expect_job(0)
    assert.same({ total = 20, succeeded = 7, failed = 13 }, r.result.steps[1].items)
    local failed = t:read "job/score/failed_items.jsonl"
    assert.truthy(failed:find('"row":2,"number":3,"rows":1,[^\n]*"error":"third"'), failed)
    pipeline(t, "run_max_try = 2, error_threshold = 12")
    local other = t:run { "run", "pipeline.lua", "--progress", "none" }
    t:expect(other, 1)
    assert.truthy(other.err:find("error_threshold tolerates 12", 1, true), other.err)
  end)

  it("counts the rows of a mini-batch whose workers die", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 7)
    csv(t, "in/b.csv", 8, 9)
    t:script [[function run(df)
      if df.c.id[1] == 1 then os.exit(3) end
      return { 8, 9 }
    end]]
    pipeline(t, "run_max_try = 2")
    local r = t:expect_job(0)
    assert.same({ total = 9, succeeded = 2, failed = 7 }, r.result.steps[1].items)
  end)

  it("fails to load a value that does not fit if that is an error, and reports its place", function()
    local t = job.case()
    t:write("in/a.csv", "a,b\n1,2\n3,x\n")
    t:script "function run(df) return { 1, 2 } end"
    pipeline(t, "run_max_try = 1", [[tm.Dataset.Tabular.from_delimited_files("in/a.csv",
      { set_column_types = { b = "long" }, on_misfit = "error" })]])
    local r = t:run_job()
    t:expect(r, 1)
    assert.same({ LOAD_EXCEPTION = 1 }, t:statuses())
    assert.truthy(r.err:find("a.csv', line 3", 1, true), r.err)
    assert.same({ total = 2, succeeded = 0, failed = 2 }, r.result.steps[1].items)
  end)

  it("logs every odd mini-batch with logging_level DEBUG, otherwise only the first", function()
    for level, lines in pairs { INFO = { 2 }, DEBUG = { 2, 4, 6 } } do
      local t = job.case()
      t:write("in/a.csv", "a,b\n1\n2,x\n3\n4,x\n5\n6,x\n")
      t:script "function run(df) return df end"
      pipeline(t, ([[mini_batch_size = "2rows", logging_level = "%s"]]):format(level))
      t:expect_job(0)
      local found = {}
      for line in t:log("sys/master_role.txt"):gmatch "a.csv', line (%d+) %(byte" do
        found[#found + 1] = tonumber(line)
      end
      table.sort(found)
      assert.same(#lines, #found)
      if #lines > 1 then assert.same(lines, found) end
    end
  end)

  it("of JSON lines without an object that has a key is refused", function()
    local t = job.case()
    for _, text in ipairs { "nothing\n", "{}\n{}\n" } do
      t:write("in/a.csv", text)
      t:script "function run(df) return df end"
      pipeline(t, "run_max_try = 1", [[tm.Dataset.Tabular.from_json_lines_files("in/a.csv")]])
      require "tidemill.fs".remove(t:path "job", { recursive = true })
      local r = t:run_job()
      t:expect(r, 1)
      assert.truthy(r.err:find("none of the first lines is a JSON object with a key", 1, true), r.err)
      assert.truthy(r.err:find("jq -c '.[]' makes one of a JSON array", 1, true), r.err)
    end
  end)

  it("shows column names on one line, with escapes", function()
    local t = job.case()
    t:write("odd.csv", "a\27[31m,b\n1\n")
    local r = t:run { "head", "odd.csv" }
    t:expect(r, 0)
    assert.equal("columns: a\\x1B[31m long, b string\nrows:    1, null\n", r.out)
    assert.falsy(r.err:find("\27", 1, true))
  end)

  it("closes the frame after run(), and a later use explains that", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 5)
    csv(t, "in/b.csv", 6, 10)
    t:script [[
      local kept
      function run(df)
        local said = kept and select(2, pcall(function() return kept.c.id[1] end)) or "first"
        kept = df
        return { tostring(said), 2, 3, 4, 5 }
      end]]
    pipeline(t, "process_count_per_node = 1")
    t:expect_job(0)
    assert.truthy(table.concat(t:rows(), "\n"):find "copy%(%)")
  end)

  it("is resumed where it stopped, with the same schema", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 500)
    t:script [[function run(df)
      if df.c.id[1] > 200 and not os.getenv "GOOD" then error "not yet" end
      local rows = {}
      for i = 1, #df do rows[i] = df.c.id[i] end
      return rows
    end]]
    pipeline(t, [[mini_batch_size = "100rows", run_max_try = 1, error_threshold = 0, process_count_per_node = 1]])
    t:expect_job(1)
    t:expect_job(0, { "--resume" }, { env = { "GOOD=1" } })
    assert.same(ids(1, 500), t:rows())
  end)

  it("that has changed is detected by the worker that opens it", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 500)
    t:script [[function run(df)
      if df.c.id[1] > 100 and not os.getenv "GOOD" then error "not yet" end
      local rows = {}
      for i = 1, #df do rows[i] = df.c.id[i] end
      return rows
    end]]
    pipeline(t, [[mini_batch_size = "100rows", run_max_try = 1, error_threshold = 0, process_count_per_node = 1]])
    t:expect_job(1)
    csv(t, "in/a.csv", 1, 501)
    local r = t:run_job({ "--resume" }, { env = { "GOOD=1" } })
    t:expect(r, 1)
    assert.truthy(r.err:find("changed since it was listed: size", 1, true), r.err)
    r = t:run_job({ "--resume", "--verify-input" }, { env = { "GOOD=1" } })
    t:expect(r, 2)
    assert.truthy(r.err:find("has changed: in mini-batch 0", 1, true), r.err)
  end)

  it("that has changed is counted by its current rows", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 3000)
    t:script [[function run(df, context)
      if context.minibatch_index == 0 then
        local file = io.open(context.source, "a")
        file:write("3001,1,2024-01-01,x\n")
        file:close()
      end
      return df.c.id:to_table()
    end]]
    pipeline(t, [[mini_batch_size = "10KB", run_max_try = 1, process_count_per_node = 1, error_threshold = -1]])
    local r = t:expect_job(0)
    local step = r.result.steps[1]
    assert.same({ total = 3000, succeeded = step.items.succeeded, failed = 3000 - step.items.succeeded }, step.items)
    assert.equal(step.mini_batches.total - 1, step.mini_batches.failed)
  end)

  it("works with try, replay and head", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 30)
    t:script(IDS)
    pipeline(t, [[mini_batch_size = "10rows"]])
    t:expect_job(0)
    local r = t:run { "replay", t.job_dir, "--mini-batch", "1" }
    t:expect(r, 0)
    local rows = {}
    for row in r.out:gmatch "%d+" do rows[#rows + 1] = tonumber(row) end
    assert.same({ 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 }, rows)
    r = t:run { "try", "score.lua", "in/a.csv", "--rows", "-N", "2rows" }
    t:expect(r, 0)
    assert.equal("1\n2\n", r.out)
    assert.truthy(r.err:find("columns: id long, price double, day datetime, name string", 1, true), r.err)
    r = t:run { "head", "in/a.csv", "-n", "1" }
    t:expect(r, 0)
    assert.equal("columns: id long, price double, day datetime, name string\n" ..
      "rows:    1, 0.5, 2024-01-02, name1\n", r.out)
    r = t:run { "map", "score.lua", "in/a.csv", "--rows", "--limit", "3" }
    t:expect(r, 0)
    assert.equal("1\n2\n3\n", r.out)
    r = t:run { "run", "pipeline.lua", "--dry-run" }
    t:expect(r, 0)
    assert.truthy(r.out:find("3 mini-batches, 30 items\n  columns: id long,", 1, true), r.out)
    t:write("odd.csv", "a,b\n1,2\n3\n")
    r = t:run { "head", "odd.csv" }
    t:expect(r, 0)
    assert.truthy(r.err:find("--on-ragged drop leaves such rows out, --on-ragged error refuses", 1, true), r.err)
    assert.truthy(r.err:find("odd.csv', line 3 (byte 8)", 1, true), r.err)
  end)

  it("has faults of its rows reported by try and replay", function()
    local t = job.case()
    t:script(IDS)
    t:write("in/a.csv", "id,b\n1,x\n3\n5,caf\233\n")
    local function expect_warnings(r)
      t:expect(r, 0)
      for _, words in ipairs { "warning: rows with fewer fields than columns", "a.csv', line 3 (byte 9)",
                               "warning: texts with bytes that are not of the encoding" } do
        assert.truthy(r.err:find(words, 1, true), r.err)
      end
    end
    expect_warnings(t:run { "try", "score.lua", "in/a.csv", "--rows" })
    pipeline(t, "run_max_try = 1")
    t:expect_job(0)
    expect_warnings(t:run { "replay", t.job_dir, "--mini-batch", "0" })
    t:write("in/a.csv", "id,b\n1,x\n3,y\n5,z\n")
    local r = t:run { "try", "score.lua", "in/a.csv", "--rows" }
    t:expect(r, 0)
    assert.is_nil(r.err:find("warning", 1, true), r.err)
  end)

  it("with two columns of the same name causes a warning", function()
    local t = job.case()
    t:write("two.csv", "a,a,a_2,\n1,2,3,4\n")
    local r = t:run { "head", "two.csv" }
    t:expect(r, 0)
    assert.truthy(r.err:find("two.csv': several columns of the header have one name; the later ones are called 'a_2'",
      1, true), r.err)
    t:write("two.csv", ("a,"):rep(1000) .. "b\n" .. ("1,"):rep(1000) .. "2\n")
    r = t:run { "head", "two.csv" }
    assert.truthy(r.err:find("are called 'a_2', 'a_3', 'a_4', 'a_5', 'a_6' and 994 more\n", 1, true), r.err)
    t:write("two.csv", "a,a_2,b\n1,2,3\n")
    assert.equal("", t:run { "head", "two.csv" }.err)
  end)

  it("in UTF-16 with a lone surrogate causes a warning", function()
    local t = job.case()
    t:write("wide.csv", "\255\254a\0\n\0x\0\0\216\n\0")
    local r = t:run { "head", "wide.csv", "--encoding", "utf16" }
    t:expect(r, 0)
    assert.truthy(r.err:find("warning: texts with bytes that are not of the encoding", 1, true), r.err)
    assert.truthy(r.err:find("wide.csv', line 2", 1, true), r.err)
  end)

  it("is isolated row by row", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 40)
    t:script [[function run(df)
      local rows = {}
      for i = 1, #df do
        if df.c.id[i] == 17 then error "seventeen" end
        rows[i] = df.c.id[i]
      end
      return rows
    end]]
    pipeline(t, "run_max_try = 1, isolate_failures = true")
    local r = t:expect_job(0)
    assert.same({ total = 40, succeeded = 39, failed = 1 }, r.result.steps[1].items)
    assert.equal(39, #t:rows())
  end)

  it("is refused with too many columns, or too long a row", function()
    local t = job.case()
    t:write("in/a.csv", ("a,"):rep(999) .. "a\n" .. ("1,"):rep(999) .. ("x"):rep(5000) .. "\n")
    t:script [[function run(df) return { #df.columns } end]]
    local input = [[tm.Dataset.Tabular.from_delimited_files("in/*.csv", { %s })]]
    pipeline(t, "", input:format "max_columns = 999")
    local r = t:expect_job(1)
    assert.truthy(r.err:find(
        "in/a.csv', line 1 (byte 1998): column 1000 is beyond the limit; accepted: up to 999 columns, "
                             .. "which max_columns raises to 16777216 at most", 1, true), r.err)
    r = t:run { "head", "in/a.csv", "--max-columns", "999" }
    t:expect(r, 1)
    assert.truthy(r.err:find("column 1000 is beyond the limit", 1, true), r.err)
    r = t:run { "map", "--rows", "score.lua", "in/a.csv", "--max-record-size", "6KB", "--progress", "none" }
    t:expect(r, 1)
    assert.truthy(r.err:find("in/a.csv', line 2 (byte 2000): a record of more than 6KB; --max-record-size ",
                             1, true), r.err)
    r = t:run { "map", "--rows", "score.lua", "in/a.csv", "--max-record-size", "7KB", "--max-columns", "1000" }
    t:expect(r, 0)
    assert.equal("1000\n", r.out)
    r = t:run { "map", "score.lua", "in/a.csv", "--max-columns", "5" }
    t:expect(r, 2)
    assert.truthy(r.err:find("'--max-columns' goes with --rows", 1, true), r.err)
  end)

  it("warns of each kind of fault once, names the option, and adds up", function()
    local t = job.case()
    local bad = 'a,b\n1,x\nfoo,y\n2\n3,z,w\n4,caf\233\n5,"open\nclose"\n'
    t:write("in/a.csv", bad)
    t:write("in/b.csv", bad)
    t:script "function run(df) return df end"
    pipeline(t, "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv", { set_column_types = { a = "long" } })]])
    local r = t:expect_job(0)
    local function count(text) return select(2, r.err:gsub(text:gsub("%p", "%%%0"), "")) end
    for words, place in pairs {
      ['their column, and are null: 2; set_column_types gives the column another type, on_misfit = "error"'] =
        "line 3 (byte 8), column 'a': 'foo' is not a valid long",
      ['of the encoding, replaced by U+FFFD: 1; set the encoding of the files, such as encoding = "latin1"'] =
        "line 6 (byte 24), column 'b': 'caf\\xE9' is not text in the given encoding",
      ['than columns; the missing fields are null: 2; on_ragged = "drop" leaves such rows out'] =
        "line 4 (byte 14), a row of 1 field in a table of 2 columns",
      ['than columns; the surplus fields are left out: 1; on_ragged = "drop"'] =
        "line 5 (byte 16), a row of 3 fields in a table of 2 columns",
      ["quotes that are not closed where their row ends: 1; a row with a line break within quotes is torn there"] =
        "line 7 (byte 31), column 'b': a quote is not closed where its row ends; for line breaks within quotes set "
          .. "support_multi_line = true",
    } do
      assert.equal(1, count(words), r.err)
      assert.truthy(r.err:find(place .. " (said once", 1, true), place .. "\n" .. r.err)
    end
    assert.equal(5, count "(said once")
    for _, words in ipairs { "their column, and are null: 4 in 2", "replaced by U+FFFD: 2 in 2",
                             "the missing fields are null: 4 in 2", "the surplus fields are left out: 2 in 2",
                             "quotes that are not closed where their row ends: 2 in 2" } do
      assert.equal(1, count(words .. " mini-batches\n"), words .. "\n" .. r.err)
    end
    assert.equal(5, count "warning: step 'score': ")
    os.remove(t:path "in/b.csv")
    t.job_dir = t:path "other" -- the only mini-batch with faults: its warning has the numbers
    r = t:expect_job(0)
    assert.equal(0, count "warning: step")
  end)

  it("of JSON lines in another encoding causes a warning or is refused", function()
    for misfit, status in pairs { null = 0, error = 1 } do
      local t = job.case()
      t:write("in/a.jsonl", '{"id":1}\n{"id":2,"s":"caf\233"}\n')
      t:script "function run(df) return df end"
      pipeline(t, "", ([[tm.Dataset.Tabular.from_json_lines_files("in/*.jsonl",
        { encoding = "ascii", on_misfit = "%s" })]]):format(misfit))
      local r = t:expect_job(status)
      local words = "in/a.jsonl', line 2 (byte 25), '\\xE9\"}\\n' is not text in the given encoding"
      assert.truthy(r.err:find(words, 1, true), r.err)
      assert.equal(status == 0, r.err:find('replaced by U+FFFD: 1; set the encoding of the files', 1, true) ~= nil)
    end
  end)

  it("distinguishes late keys of JSON lines from values that do not fit", function()
    local t = job.case()
    local lines = { '{"id":"x"}' }
    for i = 2, 203 do lines[i] = ('{"id":%d}'):format(i) end
    lines[204], lines[205] = '{"id":4,"late":1}', '{"id":"y"}'
    t:write("in/a.jsonl", table.concat(lines, "\n") .. "\n")
    t:script "function run(df) return df end"
    pipeline(t, "", [[tm.Dataset.Tabular.from_json_lines_files("in/*.jsonl", { set_column_types = { id = "long" } })]])
    local r = t:expect_job(0)
    assert.truthy(r.err:find("and are null: 2; set_column_types", 1, true), r.err)
    assert.truthy(r.err:find("the first key is 'late'; columns = { ... }", 1, true), r.err)
    assert.equal(2, select(2, r.err:gsub("%(said once", "")))
  end)

  it("returns dates and doubles unchanged", function()
    local t = job.case()
    local text = "day,at,price\n2026-01-28,2026-01-28T00:00:00Z,175.0\n2024-02-29,2026-01-28T10:00:00Z,2.5\n"
    t:write("in/a.csv", text)
    t:script "function run(df) return df end"
    pipeline(t, [[append_row_file_name = "rows.csv"]], [[tm.Dataset.Tabular.from_delimited_files("in/*.csv")]])
    t:expect_job(0)
    assert.equal(text, t:read "job/score/output/rows.csv")
  end)

  it("counts values with late keys, and reads the named columns", function()
    local lines = {}
    for i = 1, 300 do
      local text = i <= 200 and '{"id":%d,"":"e%d"}' or '{"id":%d,"amount":%d.5,"note":"n"}'
      lines[i] = text:format(i, i)
    end
    for options, want in pairs {
      [""] = { "e200 nil 2", "200 (the first key is 'amount'; columns = { ... }" },
      [ [[columns = { "amount", "id" }, set_column_types = { amount = "double" }]] ] =
        { "e200 300.5 3", "100 (the first key is 'note'" },
    } do
      local t = job.case()
      t:write("in/a.jsonl", table.concat(lines, "\n") .. "\n")
      t:script [[function run(df)
        return { ("%s %s %s"):format(df.c[""][200], rawget(df.c, "amount") and df.c.amount[300], #df.columns) }
      end]]
      pipeline(t, "", ([[tm.Dataset.Tabular.from_json_lines_files("in/*.jsonl", { %s })]]):format(options))
      local r = t:expect_job(0)
      assert.same({ want[1] }, t:rows())
      assert.truthy(r.err:find("do not have their keys: " .. want[2], 1, true), r.err)
      assert.truthy(r.err:find("in/a.jsonl', line 201 (byte ", 1, true), r.err)
    end
  end)

  it("of a file whose name has a line break gives head one line for each message", function()
    local t = job.case()
    local name = "a\ntidemill: forged\27[31m"
    t:write(name .. ".csv", "id\n1\n2,3\n")
    for _, words in ipairs { { name .. ".csv" }, { name .. ".csv", "--on-ragged", "error" }, { name .. "gone.csv" } } do
      local r = t:run { "head", unpack(words) }
      assert.is_truthy(r.err:find("a\\ntidemill: forged\\x1B[31m", 1, true), r.err)
      assert.is_nil(r.err:find("\ntidemill: forged", 1, true), r.err)
      assert.is_nil(r.err:find("\27", 1, true), r.err)
    end
  end)

  it("is refused beside files, with wrong sizes, and with unknown options", function()
    local t = job.case()
    csv(t, "in/a.csv", 1, 5)
    t:script(IDS)
    local tabular = [[tm.Dataset.Tabular.from_delimited_files("in/*.csv")]]
    local file = [[tm.Dataset.File.from_files("in")]]
    for _, case in ipairs {
      { "", ("{ %s, %s }"):format(tabular, file), "'inputs[2]' is a FileDataset and 'inputs[1]' a TabularDataset" },
      { [[mini_batch_size = "10 lines"]], tabular, [['mini_batch_size' is "10 lines"; accepted: ]] },
      { "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv", { separater = ";" })]],
        "pipeline.lua:4: Dataset.Tabular.from_delimited_files: unknown key 'separater'; did you mean 'separator'?" },
      { "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv", { header = "sometimes" })]],
        [['header' is "sometimes"; accepted: true, "all_files_same"]] },
      { "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv", { validate = false })]],
        "infer_column_types = false" },
      { "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv", { set_column_types = { a = "flaot" } })]],
        "'set_column_types' is a table; accepted: a table of names and types" },
      { "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv",
        { set_column_types = { day = tm.DataType.to_datetime "%d.%q" } })]], "format '%d.%q' is not known" },
    } do
      pipeline(t, case[1], case[2])
      local r = t:run { "run", "pipeline.lua", "--dry-run" }
      t:expect(r, 2)
      assert.truthy(r.err:find(case[3], 1, true), r.err)
    end
    assert.is_nil(lfs.attributes(t.dir .. "/workspace", "mode"))
  end)
end)
