-- The files of tables, and what happens to rows before run(): headers, types, encodings,
-- operations.
local job = require "support.job"
local tables = require "support.tables"
local csv, pipeline, IDS, ids = tables.csv, tables.pipeline, tables.IDS, tables.ids

describe("a table", function()
  after_each(job.check_end)

  it("has the same header in all its files, unless an option says otherwise", function()
    local t = job.case()
    t:write("in/a.csv", "a,b\n1,2\n")
    t:write("in/b.csv", "b,a\n3,4\n")
    t:write("in/c.csv", "c\nx\n")
    t:script [[function run(df)
      local c = df.c
      return { ("%s %s %s"):format(tostring(c.a[1]), tostring(c.b[1]), tostring(c.c[1])) }
    end]]
    pipeline(t, "")
    local r = t:run { "run", "pipeline.lua", "--progress", "none" }
    t:expect(r, 2)
    assert.truthy(r.err:find("pipeline.lua:4: TabularDataset: '" .. t.dir .. "/in/b.csv': column 1 of the header", 1,
      true), r.err)
    pipeline(t, "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv", { header = "all_files_different" })]])
    t:expect_job(0)
    assert.same({ "1 2 nil", "4 3 nil", "nil nil x" }, t:rows())
  end)

  it("reports the right line of a bad row, however the file is split", function()
    local t = job.case()
    local lines = { "", "", "id,text" } -- a header after empty lines
    for i = 1, 60000 do
      local row = i % 100 == 0 and "" or ("%d,%s"):format(i, ("text "):rep(i % 20))
      lines[#lines + 1] = i == 50000 and "odd,x" or row
    end
    t:write("in/a.csv", table.concat(lines, "\n") .. "\n")
    os.execute(("gzip -k '%s'"):format(t:path "in/a.csv"))
    t:script "function run(df) return df end"
    for _, file in ipairs { "a.csv", "a.csv.gz", "a.csv.gz" } do -- the second time with its index
      for _, size in ipairs { '"100KB"', '"7000rows"' } do
        for _, option in ipairs { "false", "true" } do
          os.execute("rm -rf " .. t.job_dir)
          pipeline(t, "run_max_try = 1, mini_batch_size = " .. size, ([[tm.Dataset.Tabular.from_delimited_files("in/%s",
            { on_misfit = "error", support_multi_line = %s, set_column_types = { id = "long" } })]])
            :format(file, option))
          local r = t:run_job()
          local words = ("line %d (byte %d): column 'id': 'odd' is not a valid long"):format(50003,
            #table.concat(lines, "\n", 1, 50002) + 1)
          assert.truthy(r.err:find(words, 1, true), words .. "\n" .. r.err)
        end
      end
    end
  end)

  it("takes its types from the first file with rows", function()
    local t = job.case()
    t:write("in/a.csv", "")
    t:write("in/b.csv", "id,day\n\n")
    t:write("in/c.csv", "id,day\n7,2024-01-01\n")
    t:script [[function run(df) return { df.types.id .. " " .. df.types.day } end]]
    for _, header in ipairs { "all_files_same", "all_files_different" } do
      os.execute("rm -rf " .. t.job_dir)
      pipeline(t, "", ([[tm.Dataset.Tabular.from_delimited_files("in/*.csv", { header = %q })]]):format(header))
      t:expect_job(0)
      assert.same({ "long datetime" }, t:rows())
    end
  end)

  it("in UTF-16 is not read as UTF-8", function()
    local t = job.case()
    t:write("in/a.csv", "\255\254i\0d\0\n\0007\0\n\0")
    t:script(IDS)
    pipeline(t, "")
    local r = t:run { "run", "pipeline.lua", "--progress", "none" }
    t:expect(r, 2)
    assert.truthy(r.err:find("a.csv': it begins with the byte order mark of UTF-16, and is read as UTF-8; set",
      1, true), r.err)
    pipeline(t, "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv", { encoding = "utf16" })]])
    os.execute("rm -rf " .. t.job_dir)
    t:expect_job(0)
    assert.same({ "7" }, t:rows())
  end)

  it("reports the first values that did not fit, and their number at the end", function()
    local t = job.case()
    t:write("in/a.csv", "a\n1\n2\nx\n")
    t:write("in/b.csv", "a\ny\nz\n")
    t:script [[function run(df)
      local rows = {}
      for i = 1, #df do rows[i] = tostring(df.c.a[i]) end
      return rows
    end]]
    pipeline(t, "process_count_per_node = 1", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv",
      { set_column_types = { a = "long" } })]])
    local r = t:expect_job(0)
    assert.same({ "1", "2", "nil", "nil", "nil" }, t:rows())
    assert.truthy(r.err:find("mini%-batch %d: values that do not fit[^\n]*%w.csv', line %d"), r.err)
    assert.truthy(r.err:find("step 'score': values that do not fit[^\n]*: 3 in 2 mini%-batches\n"), r.err)
    local _, said = r.err:gsub("do not fit", "")
    assert.equal(2, said, r.err)
  end)

  it("without a row, or with a missing column, ends the job", function()
    local t = job.case()
    t:write("in/a.csv", "")
    t:script(IDS)
    pipeline(t, "")
    local r = t:run_job()
    t:expect(r, 1)
    assert.truthy(r.err:find("no input: there is no row in 1 file", 1, true), r.err)
    csv(t, "in/a.csv", 1, 5)
    pipeline(t, "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv",
      { set_column_types = { pirce = "double" } })]])
    r = t:run { "run", "pipeline.lua", "--progress", "none" }
    t:expect(r, 2)
    assert.truthy(r.err:find("pirce", 1, true) and r.err:find("pipeline.lua:4", 1, true), r.err)
  end)

  describe("has operations that are done before run():", function()
    local COLUMNS = [[function run(df)
      local rows = {}
      for i = 1, #df do rows[i] = table.concat(df.columns, " ") .. " " .. df.c.id[i] end
      return rows
    end]]

    local function rows_of(t, ops, size)
      t:script(COLUMNS)
      os.execute("rm -rf " .. t.job_dir)
      pipeline(t, ("mini_batch_size = %q"):format(size or "25rows"),
        [[tm.Dataset.Tabular.from_delimited_files("in/*.csv")]] .. ops)
      local r = t:expect_job(0)
      local found = {}
      for _, row in ipairs(t:rows()) do found[#found + 1] = tonumber(row:match "%d+$") end
      table.sort(found)
      return found, t:rows(), r
    end

    local function span(first, last)
      local rows = {}
      for i = first, last do rows[#rows + 1] = i end
      return rows
    end

    local function case()
      local t = job.case()
      csv(t, "in/a.csv", 1, 60)
      csv(t, "in/b.csv", 61, 100)
      return t
    end

    it("take and skip, over all files, however they are split", function()
      local t = case()
      for _, size in ipairs { "25rows", "1KB", "1MB" } do
        assert.same(span(1, 70), (rows_of(t, ":take(70)", size)))
        assert.same(span(51, 100), (rows_of(t, ":skip(50)", size)))
        assert.same(span(31, 40), (rows_of(t, ":skip(30):take(10)", size)))
        assert.same(span(31, 40), (rows_of(t, ":take(40):skip(30)", size)))
      end
      local _, _, r = rows_of(t, ":take(70)")
      assert.same({ total = 70, succeeded = 70, failed = 0 }, r.result.steps[1].items)
    end)

    it("filter, in the types of the columns", function()
      local t = case()
      assert.same(span(90, 100), (rows_of(t, ':filter("id", ">=", 90)')))
      assert.same({ 7 }, (rows_of(t, ':filter("name", "==", "name7")')))
      assert.same(span(1, 5), (rows_of(t, ':filter("price", "<", 2.75)')))
      assert.same({ 27, 55, 83 }, (rows_of(t, ':filter("day", ">", "2024-01-27"):filter("id", "<", 100)')))
    end)

    it("keep_columns and drop_columns", function()
      local t = case()
      local _, rows = rows_of(t, ':keep_columns("name", "id"):take(1)')
      assert.same({ "name id 1" }, rows)
      _, rows = rows_of(t, ':drop_columns { "price", "day" }:take(1)')
      assert.same({ "id name 1" }, rows)
    end)

    it("which do not read dropped columns, so no value there can be wrong", function()
      local t = job.case()
      t:write("in/a.csv", "id,n,m\n1,x,1\n2,2,y\n")
      t:write("in/a.jsonl", '{"id":1,"n":"x","m":1}\n{"id":2,"n":2,"m":"y"}\n')
      t:script [[function run(df) return { #df .. " " .. table.concat(df.columns, " ") } end]]
      for source, words in pairs {
        from_delimited_files = "a.csv', line 2 (byte 9): column 'n': 'x' is not a valid long",
        from_json_lines_files = "a.jsonl', line 1 (byte 0): column 'n': 'x' is not a valid long",
      } do
        for ops, want in pairs {
          [':keep_columns("id")'] = { "2 id" },
          [':filter("id", "==", 2):drop_columns { "n", "m" }'] = { "1 id" },
          [':filter("n", ">", 1):keep_columns("id")'] = false,
        } do
          os.execute("rm -rf " .. t.job_dir)
          pipeline(t, "error_threshold = -1", ([[tm.Dataset.Tabular.%s("in/a.%s", { on_misfit = "error",
            set_column_types = { n = "long", m = "long" } })%s]]):format(source, words:match "%w+'":sub(1, -2), ops))
          local r = t:expect_job(want and 0 or 1)
          if want then
            assert.same(want, t:rows())
          else
            assert.truthy(r.err:find(words, 1, true), r.err)
          end
        end
      end
    end)

    it("take_sample and random_split, with the same rows however the files are split", function()
      local t = case()
      local some = rows_of(t, ":take_sample(0.3, 7)")
      assert.is_true(#some > 10 and #some < 60)
      assert.same(some, (rows_of(t, ":take_sample(0.3, 7)", "1KB")))
      assert.is_not.same(some, (rows_of(t, ":take_sample(0.3, 8)")))
      local drawn, others = {}, {}
      for _, part in ipairs { drawn, others } do
        local nth = part == drawn and 1 or 2
        t:script(COLUMNS)
        os.execute("rm -rf " .. t.job_dir)
        pipeline(t, [[mini_batch_size = "25rows"]], "half",
          ([[local half = select(%d, tm.Dataset.Tabular.from_delimited_files("in/*.csv"):random_split(0.5, 3))]])
            :format(nth))
        t:expect_job(0)
        for _, row in ipairs(t:rows()) do part[#part + 1] = tonumber(row:match "%d+$") end
      end
      for _, id in ipairs(others) do drawn[#drawn + 1] = id end
      table.sort(drawn)
      assert.same(span(1, 100), drawn)
    end)

    it("which leave no input if they leave no row", function()
      local t = case()
      t:script(COLUMNS)
      for ops, words in pairs {
        [':filter("id", ">", 1000)'] = "no input: there is no row in 2 mini-batches; what was asked of the dataset",
        [":take(0)"] = "no input: there is no row, or take() and skip() leave none",
        [":skip(100)"] = "no input: there is no row, or take() and skip() leave none",
      } do
        os.execute("rm -rf " .. t.job_dir)
        pipeline(t, "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv")]] .. ops)
        local r = t:expect_job(1)
        assert.truthy(r.err:find(words, 1, true), r.err)
      end
    end)

    it("which are refused if they cannot work", function()
      local t = case()
      t:script(IDS)
      for ops, words in pairs {
        [':filter("id", ">", 1):take(5)'] = "take() after filter()",
        [':filter("id", "=", 1)'] = "the sign is not a comparison",
        [':filter("id", ">")'] = "accepted: a number, a string or a boolean",
        [':take(-1)'] = "take(count): accepted: an integer from 0 on",
        [':take_sample(2)'] = "accepted: a number from 0 to 1",
        [':keep_columns()'] = "one or more names of columns",
        [':filter(function(row) return row.id > 1 end)'] = "df:filter(function) in run() takes a function",
      } do
        pipeline(t, "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv")]] .. ops)
        local r = t:run { "run", "pipeline.lua", "--dry-run" }
        t:expect(r, 2)
        assert.truthy(r.err:find(words, 1, true), r.err)
        assert.truthy(r.err:find("pipeline.lua:4", 1, true), r.err)
      end
      for ops, words in pairs {
        [':filter("di", ">", 1)'] = "there is no column 'di'; did you mean 'id'?",
        [':filter("id", ">", "x")'] = "the column is of type long",
        [':drop_columns("nmae")'] = "did you mean 'name'?",
      } do
        pipeline(t, "", [[tm.Dataset.Tabular.from_delimited_files("in/*.csv")]] .. ops)
        local r = t:run { "run", "pipeline.lua", "--progress", "none" }
        t:expect(r, 2)
        assert.truthy(r.err:find(words, 1, true), r.err)
      end
    end)
  end)

  describe("with partition keys", function()
    local GROUPS = [[function run(df, context)
      local rows = {}
      for i = 1, #df do
        local keys = context.partition_key_value
        rows[i] = ("%s %s %d/%d %s %s"):format(keys.city, tostring(keys.year), i, #df, df.c.name[i], df.types.year)
      end
      assert(context.source == nil)
      return rows
    end]]
    local TABLE = "city,year,name\nulm,2024,a\nbonn,2025,b\nulm,2024,c\n,2024,d\nulm,2025,e\nbonn,2025,f\n"
    local ROWS = { "bonn 2025 1/2 b long", "bonn 2025 2/2 f long", "nil 2024 1/1 d long", "ulm 2024 1/2 a long",
                   "ulm 2024 2/2 c long", "ulm 2025 1/1 e long" }

    it("puts rows with the same values into one mini-batch", function()
      local t = job.case()
      t:write("in/a.csv", TABLE)
      t:script(GROUPS)
      pipeline(t, [[partition_keys = { "city", "year" }]])
      local r = t:expect_job(0)
      assert.same({ total = 4, succeeded = 4, failed = 0 }, r.result.steps[1].mini_batches)
      assert.same({ total = 6, succeeded = 6, failed = 0 }, r.result.steps[1].items)
      assert.same(ROWS, t:rows())
    end)

    it("is identified by its keys in reports and logs", function()
      local t = job.case()
      t:write("in/a.csv", TABLE)
      t:script [[function run(df, context)
        if context.partition_key_value.city == "bonn" then error "no" end
        return df
      end]]
      pipeline(t, [[partition_keys = { "city", "year" }, logging_level = "DEBUG"]])
      local r = t:expect_job(0)
      assert.matches("first: mini%-batch %d %(RUN_EXCEPTION%) at process%d+, city=bonn, year=2025, 2 rows\n", r.err)
      assert.matches('"item":"[^"]+","keys":"city=bonn, year=2025","begin":', t:read "job/score/failed_items.jsonl")
      local mini_batch = r.err:match "first: mini%-batch (%d)"
      assert.matches("handed to process%d+, 2 items, city=bonn, year=2025\n", t:log "sys/master_role.txt")
      assert.matches('manifest=%d+ keys=city=bonn, year=2025"', t:log "sys/job_report/processed_mini-batches.csv")
      r = t:run { "logs", "job", "--mini-batch", mini_batch }
      assert.matches("^mini%-batch %d of step 'score': 2 items, city=bonn, year=2025\n", r.out)
      t:script [[function run(df, context)
        if context.partition_key_value.city == "bonn" then context:fail(2, "bad name") end
        return context.partition_key_value.city == "bonn" and { 1 } or df:to_table()
      end]]
      r = t:run { "run", "pipeline.lua" }
      t:expect(r, 0)
      assert.matches("1 item: bad name\n +first: mini%-batch %d at process%d+, city=bonn, year=2025\n", r.err)
    end)

    it("groups many rows of several files, without filtered rows", function()
      local t = job.case()
      csv(t, "in/a.csv", 1, 5000)
      csv(t, "in/b.csv", 5001, 9000)
      t:script [[function run(df, context)
        local rows, day = {}, context.partition_key_value.day
        for i = 1, #df do
          assert(df.c.day[i] == day)
          rows[i] = df.c.id[i]
        end
        return rows
      end]]
      pipeline(t, [[partition_keys = "day"]],
        [[tm.Dataset.Tabular.from_delimited_files("in/*.csv"):skip(10):filter("id", "<=", 8000)]])
      local r = t:expect_job(0)
      assert.equal(28, r.result.steps[1].mini_batches.total)
      assert.same(ids(11, 8000), t:rows())
    end)

    it("resumes with the same groups, and refuses other files", function()
      local t = job.case()
      t:write("in/a.csv", TABLE)
      t:script((GROUPS:gsub("local rows", [[
        if df.c.city[1] == "ulm" and not os.getenv "GOOD" then error "no" end
        local rows]], 1)))
      pipeline(t, [[partition_keys = { "city", "year" }, run_max_try = 1, error_threshold = 0]])
      t:expect_job(1)
      t:write("in/a.csv", TABLE .. "kiel,2024,g\n")
      local r = t:run_job({ "--resume", "--verify-input" }, { env = { "GOOD=1" } })
      t:expect(r, 2)
      assert.truthy(r.err:find("the input has changed: the files of the table", 1, true), r.err)
      t:expect_job(0, { "--resume" }, { env = { "GOOD=1" } })
      assert.same(ROWS, t:rows())
    end)

    it("is refused if a key is not a column", function()
      local t = job.case()
      t:write("in/a.csv", TABLE)
      t:script(GROUPS)
      pipeline(t, [[partition_keys = { "cty" }]])
      local r = t:run { "run", "pipeline.lua", "--progress", "none" }
      t:expect(r, 2)
      assert.truthy(r.err:find("'partition_keys' names 'cty', which is not a column of the table; did you mean 'city'?",
        1, true), r.err)
    end)
  end)
end)
