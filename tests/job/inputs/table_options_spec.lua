-- Tables from a shell: the options of `map --rows`, `try --rows` and `head`, and the format of the
-- rows that map writes.
local job = require "support.job"

local ECHO = [[function run(df)
  local rows = {}
  for row in df:rows() do
    local cells = {}
    for i, name in ipairs(df.columns) do
      local value = row[name]
      cells[i] = name .. "=" .. (value == nil and "null" or ("%q"):format(tostring(value)))
    end
    rows[#rows + 1] = table.concat(cells, " ")
  end
  return rows
end]]

local function with(words, more)
  local all = {}
  for _, word in ipairs(words) do all[#all + 1] = word end
  for _, word in ipairs(more) do all[#all + 1] = word end
  return all
end

local function lines(text)
  local found = {}
  for line in text:gmatch "[^\n]+" do found[#found + 1] = line end
  return found
end

-- The content of the file, the options, the first row as ECHO writes it, and the output of head.
local FORMS = {
  { "a;b\n1;x\n", { "--separator", ";" }, [[a="1" b="x"]], "1, x" },
  { "1|x\n", { "--separator=|", "--header", "none" }, [[Column1="1" Column2="x"]], "1, x" },
  { "a\tb\n1\tx\n", { "--separator", "\\t" }, [[a="1" b="x"]], "1, x" },
  { "a\ncaf\xe9\n", { "--encoding", "latin1" }, [[a="café"]], "café" },
  { "\255\254a\0\n\0007\0\n\0", { "--encoding", "utf16" }, [[a="7"]], "7" },
  { "a,b\n\"x\ny\",2\n", { "--support-multi-line", "true" }, "a=\"x\\\ny\" b=\"2\"" },
  { "a,b\n,2\n", { "--empty-as-string", "true" }, [[a="" b="2"]] },
  { "a,b\n,2\n", {}, [[a=null b="2"]] },
  { "a,b\n1\n2,3\n", { "--on-ragged", "drop" }, [[a="2" b="3"]], "2, 3" },
  { "id\n7\n", { "--infer_column_types", "false" }, [[id="7"]], "7", "id string" },
  { "id,n\n7,1.50\n", { "--set-column-types", "id=double,n=string" }, [[id="7" n="1.50"]], "7.0, 1.50",
    "id double, n string" },
  { "day\n31.01.2026\n", { "--set-column-types", '{"day": {"type": "datetime", "formats": ["%d.%m.%Y"]}}' },
    nil, "2026-01-31", "day datetime" },
  { '{"a": 1}\n{"a": 2, "b": 3}\n', { "--columns", "c" }, [[a="1" b=null c=null]], "1, null, null",
    nil, "x.JSONL" },
  { 'no\n{"a": 1}\n', { "--invalid-lines", "drop" }, [[a="1"]], "1", nil, "x.ndjson" },
}

describe("the options of a table", function()
  after_each(job.check_end)

  it("are the same for map, try and head", function()
    for _, form in ipairs(FORMS) do
      local t = job.case()
      local name = form[6] or "x.csv"
      t:write(name, form[1])
      t:script(form[3] and ECHO or "function run(df) return { df.types.day } end")
      t:write("multi.lua", [[function run(df) return { (df.c.a[1]:gsub("\n", "|")) } end]])
      local is_multi = form[3] and form[3]:find "\n"
      local script, want = is_multi and "multi.lua" or "score.lua", is_multi and "x|y" or form[3] or "datetime"
      local r = t:run(with({ "map", "--rows", script, name, "--progress", "none" }, form[2]))
      t:expect(r, 0)
      assert.equal(want, lines(r.out)[1])
      r = t:run(with({ "try", "--rows", script, name }, form[2]))
      t:expect(r, 0)
      assert.equal(want, lines(r.out)[1])
      r = t:run(with({ "head", name }, form[2]))
      t:expect(r, 0)
      if form[4] then assert.equal("rows:    " .. form[4], lines(r.out)[2]) end
      if form[5] then assert.equal("columns: " .. form[5], lines(r.out)[1]) end
    end
  end)

  it("are named in errors as the user wrote them", function()
    local t = job.case()
    t:write("x.csv", "a\n1\n")
    t:write("x.jsonl", '{"a": 1}\n')
    t:script(ECHO)
    local function refused(words, pattern)
      for _, command in ipairs { { "map", "--rows", "score.lua" }, { "try", "--rows", "score.lua" }, { "head" } } do
        local r = t:run(with(command, words))
        t:expect(r, 2)
        assert.truthy(r.err:find(pattern, 1, true), r.err)
        assert.equal("", r.out)
      end
      assert.is_false(t:has "workspace")
    end
    refused({ "x.csv", "--header", "yes" }, [['--header' is "yes"; accepted: ]])
    refused({ "x.csv", "--separator", ";;" }, [['--separator' is ";;"; accepted: one character]])
    refused({ "x.csv", "--max-columns", "0" }, [['--max-columns' is "0"; accepted: an integer from 1]])
    refused({ "x.csv", "--set-column-types", "a=lng" }, [['--set-column-types' is "a=lng"; accepted: NAME=TYPE,...]])
    refused({ "x.csv", "--columns", "a" }, "'--columns' goes with JSON lines, and 'x.csv' is read as CSV")
    refused({ "x.jsonl", "--header", "none" }, "'--header' goes with CSV, and 'x.jsonl' is read as JSON lines")
    refused({ "x.csv", "--suport-multi-line", "true" }, "did you mean '--support-multi-line'?")
    local missing = t:run { "head", "x.csv", "--set-column-types", "b=long" }
    t:expect(missing, 2)
    assert.truthy(missing.err:find("--set-column-types: there is no column 'b'; did you mean 'a'?", 1, true),
                  missing.err)
    for _, words in ipairs { { "--separator", ";" }, { "--columns", "a" }, { "--on-misfit", "error" } } do
      local r = t:run(with({ "map", "score.lua", "x.csv" }, words))
      t:expect(r, 2)
      assert.truthy(r.err:find("'" .. words[1] .. "' goes with --rows: it says how tables are read", 1, true), r.err)
    end
    local r = t:run { "map", "score.lua", "x.csv", "--max-ratio", "5" }
    t:expect(r, 2)
    assert.truthy(r.err:find("'--max-ratio' goes with --entries", 1, true), r.err)
    r = t:run { "map", "score.lua", "-", "--on-unreadable", "skip" }
    t:expect(r, 2)
    assert.truthy(r.err:find("'--on-unreadable' goes with files, folders and patterns", 1, true), r.err)
  end)

  it("are in the help and the completion of each command", function()
    local t = job.case()
    local bash = t:run { "help", "--completion", "bash" }
    t:expect(bash, 0)
    for _, command in ipairs { "map", "try", "head" } do
      local help = t:run { "help", command }
      t:expect(help, 0)
      local completed = bash.out:match("    " .. command .. "%) options='([^']*)'")
      for _, name in ipairs { "separator", "header", "encoding", "support-multi-line", "set-column-types", "columns",
                              "on-ragged", "partition-format" } do
        assert.truthy(help.out:find("\n  --" .. name .. " ", 1, true), name)
        assert.truthy((" " .. completed .. " "):find(" --" .. name .. " ", 1, true), name)
      end
      assert.truthy(bash.out:find(command .. "--on-ragged) values='null drop error' ;;", 1, true))
    end
  end)
end)

describe("data frames written by map", function()
  after_each(job.check_end)

  it("go to a pipe as CSV on request, with one header", function()
    local t = job.case()
    t:write("x.csv", "id,text\n1,\"a,b\"\n2,c d\n")
    t:script "function run(df) return df end"
    local function out(words)
      local r = t:run(with({ "map", "--rows", "score.lua", "x.csv", "-N", "1rows", "-j", "1", "--progress", "none" },
                           words))
      t:expect(r, 0)
      return r.out
    end
    assert.equal("id,text\n1,\"a,b\"\n2,c d\n", out { "--output-format", "csv" })
    assert.equal("id\ttext\n1\ta,b\n2\tc d\n", out { "--output-format", "tsv" })
    assert.equal("1 a,b\n2 \"c d\"\n", out { "--output-format", "text" })
    assert.equal("1 a,b\n2 \"c d\"\n", out {})
    assert.equal("id;text\n1;a,b\n2;c d\n", out { "--output-format", "csv", "--append-row-separator", ";" })
    assert.equal("1,\"a,b\"\n2,c d\n", out { "--append-row-header", "false", "--output-format", "csv" })
    local r = t:run { "try", "--rows", "score.lua", "x.csv", "--output-format", "csv" }
    t:expect(r, 0)
    assert.equal("id,text\n1,\"a,b\"\n2,c d\n", r.out)
    r = t:run { "map", "--rows", "score.lua", "x.csv", "--output-format", "json" }
    t:expect(r, 2)
    assert.truthy(r.err:find("it is one of 'text', 'csv', 'tsv'", 1, true), r.err)
  end)

  it("are written in the format of the --output name, in upper or lower case", function()
    local t = job.case()
    t:write("x.TSV", "id\ttext\n1\ta\n")
    t:script "function run(df) return df end"
    local want = { ["a.csv"] = "id,text\n1,a\n", ["b.CSV"] = "id,text\n1,a\n", ["c.Tsv"] = "id\ttext\n1\ta\n",
                   ["d.txt"] = "1 a\n" }
    for name, text in pairs(want) do
      t:expect(t:run { "map", "--rows", "score.lua", "x.TSV", "--output", name }, 0)
      assert.equal(text, t:read(name))
    end
    t:expect(t:run { "map", "--rows", "score.lua", "x.TSV", "--output", "e.txt", "--output-format", "csv" }, 0)
    assert.equal("id,text\n1,a\n", t:read "e.txt")
  end)
end)

describe("a file that is not compressed but has such a name", function()
  after_each(job.check_end)

  it("is not read as text", function()
    local t = job.case()
    t:write("y.csv.gz", "a,b\n1,2\n")
    t:script(ECHO)
    local words = "y.csv.gz' is not compressed, although its name says so: it begins with \"a,b\\n1,2\\n\"; "
      .. "to read it as text, give it a name without '.gz'"
    for _, command in ipairs { { "map", "--rows", "score.lua" }, { "try", "--rows", "score.lua" }, { "head" } } do
      local r = t:run(with(command, { "y.csv.gz" }))
      assert.is_true(r.status ~= 0)
      assert.truthy(r.err:find(words, 1, true), r.err)
      assert.equal("", r.out)
    end
  end)
end)

describe("the format of a table", function()
  after_each(job.check_end)

  it("follows the file name, or --input-format", function()
    local t = job.case()
    t:script(ECHO)
    t:write("events.log", '{"a": 1}\n')
    t:write("list.tsv", "a,b\n1,x\n")
    t:write("list", "a\tb\n1\tx\n")
    for _, case in ipairs {
      { "events.log", "jsonl", [[a="1"]], "--invalid-lines", "drop" },
      { "list.tsv", "csv", [[a="1" b="x"]], "--header", "true" },
      { "list", "tsv", [[a="1" b="x"]], "--on-ragged", "error" },
    } do
      for _, command in ipairs { { "map", "--rows", "score.lua" }, { "try", "--rows", "score.lua" }, { "head" } } do
        local r = t:run(with(command, { case[1], case[4], case[5], "--input-format", case[2] }))
        t:expect(r, 0)
        assert.truthy(command[1] == "head" or lines(r.out)[1] == case[3], r.out)
        assert.is_nil(r.err:find("warning", 1, true), r.err)
      end
    end
    for _, command in ipairs { { "map", "score.lua", "--rows" }, { "try", "score.lua", "--rows" }, { "head" } } do
      local r = t:run(with(command, { "list", "list.tsv" }))
      assert.is_nil(r.err:find("--input-format", 1, true), r.err)
      r = t:run(with(command, { "list.tsv", "list", "more.JSON.gz" }))
      t:expect(r, 2)
      assert.truthy(r.err:find("'list.tsv' is a tsv file, and 'more.JSON.gz' a jsonl file; ", 1, true), r.err)
    end
    local r = t:run { "head", "list.tsv", "--input-format", "jsonl", "--separator", ";" }
    t:expect(r, 2)
    assert.truthy(r.err:find("'--separator' goes with CSV, and 'list.tsv' is read as JSON lines", 1, true), r.err)
    r = t:run { "map", "score.lua", "list", "--input-format", "csv" }
    t:expect(r, 2)
    assert.truthy(r.err:find("'--input-format' goes with --rows", 1, true), r.err)
  end)
end)

describe("a table that seems to have another format", function()
  after_each(job.check_end)

  it("is reported, with the option that reads it", function()
    local t = job.case()
    t:script(ECHO)
    t:write("semicolons.csv", "a;b\n1;2\n")
    t:write("folder/tabs.tsv", "a\tb\n1\t2\n")
    t:write("quoted.csv", "\"a;b\",c\n1,2\n")
    t:write("comma.csv", "\"a,b\"\n1\n")
    t:write("one.csv", "a\n1\n")
    local cases = { ["semicolons.csv"] = ";", folder = "\\t", ["quoted.csv"] = false, ["one.csv"] = false,
                    ["comma.csv"] = false }
    for name, separator in pairs(cases) do
      for _, command in ipairs { { "map", "--rows", "score.lua" }, { "try", "--rows", "score.lua" }, { "head" } } do
        local r = t:run(with(command, { name }))
        t:expect(r, 0)
        if separator then
          local words = ("' has a single column, 'a%sb'; if '%s' separates its fields, use --separator '%s'")
            :format(separator, separator, separator)
          assert.truthy(r.err:find(words, 1, true), r.err)
          r = t:run(with(command, { name, "--separator", separator }))
          t:expect(r, 0)
        end
        assert.is_nil(r.err:find("single column", 1, true), r.err)
      end
    end
    t:write("header.csv", "a,b\n")
    t:write("lines.jsonl", '{"a": 1}\nx\n')
    t:write("utf16.csv", "\255\254a\0\n\0")
    for name, words in pairs {
      ["header.csv"] = "no row in 1 file; the first line of a file is its header: if it is a row, use --header none",
      ["lines.jsonl"] = "'x' is not a JSON object; --invalid-lines drop leaves such lines out",
      ["utf16.csv"] = "is read as UTF-8; use --encoding utf16" } do
      local r = t:run { "map", "--rows", "score.lua", name }
      assert.not_equal(0, r.status)
      assert.truthy(r.err:find(words, 1, true), r.err)
    end
    t:write("book.xlsx", "PK\3\4\20\0\n1,2\n")
    t:write("shop.db", "SQLite format 3\0\16\0\n1,2\n")
    t:write("rows.tar", "a.csv" .. ("\0"):rep(252) .. "ustar  \0\n1,2\n")
    t:write("rows.parquet", "PAR1\21\4\21\2\n1,2\n")
    for name, words in pairs {
      ["rows.parquet"] = "/rows.parquet': it is a Parquet file, which this program cannot read",
      ["rows.tar"] = "/rows.tar': it is a tar archive, not a table; from_archives, or map --entries, reads its",
      ["book.xlsx"] = "/book.xlsx': it is a zip archive (as .xlsx files are), not a table; from_archives",
      ["shop.db"] = "/shop.db': it is an SQLite database, not a table; from_sql_query(path, query)" } do
      for _, command in ipairs { { "head" }, { "map", "--rows", "score.lua" }, { "try", "--rows", "score.lua" } } do
        local r = t:run(with(command, { name }))
        assert.equal(2, r.status, r.err)
        assert.truthy(r.err:find(words, 1, true), r.err)
      end
    end
    t:write("parameters.csv", "PAR1,PAR2\n1,2\n")
    t:expect(t:run { "head", "parameters.csv" }, 0)
    t:write("first.csv", "a,b\n1,2\n")
    local second = t:run { "map", "--rows", "score.lua", "first.csv", "book.xlsx" }
    assert.truthy(second.err:find("/book.xlsx': it is a zip archive", 1, true), second.err)
    t:write("late.csv", "a\n" .. ("1\n"):rep(200) .. "x\n")
    local late = t:run { "map", "--rows", "score.lua", "late.csv" }
    t:expect(late, 0)
    assert.truthy(late.err:find("--set-column-types gives the column another type, --on-misfit error refuses", 1, true),
                  late.err)
    t:write("events.log", '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n')
    local r = t:run { "head", "events.log" }
    assert.truthy(r.err:find("events.log' looks like JSON lines and is read as CSV; ", 1, true), r.err)
    r = t:run { "head", "semicolons.csv", "--header", "all_files_different" }
    assert.truthy(r.err:find("' has a single column, 'a;b'", 1, true), r.err)
    r = t:run { "head", "semicolons.csv", "--header", "none" }
    assert.is_nil(r.err:find("single column", 1, true), r.err)
  end)
end)

-- Gzip files of 300 rows each: a is intact, the others are damaged.
local function damaged(t)
  for _, name in ipairs { "a", "b", "c", "d" } do
    local rows = { "id,text" }
    for i = 1, 300 do rows[#rows + 1] = ("%s%d,%s"):format(name, i, ("%x"):format(i * 7919 % 65521)) end
    t:write("in/" .. name .. ".csv", table.concat(rows, "\n") .. "\n")
    os.execute(("gzip -n '%s'"):format(t:path("in/" .. name .. ".csv")))
  end
  local text = t:read "in/b.csv.gz"
  t:write("in/b.csv.gz", text:sub(1, -20))
  text = t:read "in/c.csv.gz"
  t:write("in/c.csv.gz", text:sub(1, -9) .. "\0\0\0\0" .. text:sub(-4))
  t:write("in/d.csv.gz", "id,text\nd1,x\n")
  t:script "function run(df) local rows = {} for i = 1, #df do rows[i] = df.c.id[i] end return rows end"
end

describe("a damaged compressed file", function()
  after_each(job.check_end)

  it("fails alone, while the others are read", function()
    local t = job.case()
    damaged(t)
    os.rename(t:path "in/a.csv.gz", t:path "in/e.csv.gz") -- now the damaged files come first
    for number, more in ipairs { {}, { "--header", "all_files_different" }, { "-N", "100rows" } } do
      local dir = "job" .. number
      local r = t:run(with({ "map", "--rows", "score.lua", "in", "--job-dir", dir, "--progress", "none" }, more))
      t:expect(r, 0)
      assert.equal(300, #lines(r.out))
      assert.is_nil(r.out:find("[bcd]%d"))
      assert.truthy(r.err:find("in/b.csv.gz': the file ends too early at byte ", 1, true), r.err)
      assert.truthy(r.err:find("; the file is a failed item", 1, true), r.err)
      assert.truthy(r.err:find("303, 300 succeeded, 3 failed", 1, true), r.err)
      local failed = t:read(dir .. "/score/failed_items.jsonl")
      assert.equal(3, #lines(failed))
      assert.truthy(failed:find("in/c.csv.gz': the check sum or the length of the contents is wrong", 1, true), failed)
      assert.truthy(failed:find("in/d.csv.gz' is not compressed, although its name says so", 1, true), failed)
    end
  end)

  it("fails the job like any bad input if rows of it were handed out, and then only a new job reads it", function()
    local t = job.case()
    damaged(t)
    local rows, number = { "id,text" }, 1
    for i = 1, 200000 do
      number = number * 16807 % 2147483647
      rows[#rows + 1] = ("%d,%x"):format(i, number)
    end
    t:write("large.csv", table.concat(rows, "\n") .. "\n")
    local commands = "cd '%s' && gzip -n large.csv && cp large.csv.gz cut.csv.gz && truncate -s 1000000 cut.csv.gz"
    os.execute(commands:format(t.dir))
    local r = t:run { "map", "--rows", "score.lua", "in/b.csv.gz", "in/a.csv.gz", "--header", "from_first_file" }
    t:expect(r, 1)
    r = t:run { "map", "--rows", "score.lua", "cut.csv.gz", "-N", "100rows", "--progress", "none" }
    t:expect(r, 1)
    assert.truthy(r.err:find("cause:        '" .. t:path "cut.csv.gz" .. "': the file ends too early", 1, true), r.err)
    os.rename(t:path "large.csv.gz", t:path "cut.csv.gz")
    r = t:run { "resume", "latest", "--accept-changes", "--progress", "none" }
    t:expect(r, 2)
    assert.is_nil(r.err:find("tidemill resume", 1, true), r.err)
    local anew = "to start a new job: tidemill map --rows score.lua cut.csv.gz -N 100rows --progress none\n"
    assert.equal(anew, r.err:sub(-#anew), r.err)
  end)

  it("fails the job if it is the only one, and is shown by head and try", function()
    local t = job.case()
    damaged(t)
    local r = t:run { "map", "--rows", "score.lua", "in/b.csv.gz", "--progress", "none" }
    t:expect(r, 1)
    assert.truthy(r.err:find("in/b.csv.gz': the file ends too early at byte ", 1, true), r.err)
    for _, words in ipairs { { "head" }, { "try", "--rows", "score.lua" } } do
      r = t:run(with(words, { "in/b.csv.gz" }))
      assert.is_true(r.status ~= 0)
      assert.truthy(r.err:find("in/b.csv.gz': the file ends too early at byte ", 1, true), r.err)
      assert.equal("", r.out)
    end
  end)

  it("is left out by head, by try, and by loops over a dataset", function()
    local t = job.case()
    damaged(t)
    os.rename(t:path "in/a.csv.gz", t:path "in/e.csv.gz")
    t:write("walk.lua", "for mini_batch in require('tidemill').Dataset.Tabular.from_delimited_files 'in'"
      .. ":mini_batches '1MB' do print(#mini_batch) end")
    for _, words in ipairs { { "head", "in", "-n", "1" }, { "try", "--rows", "score.lua", "in" },
                             { "run", "walk.lua" } } do
      local r = words[1] == "run" and t:run { "lua", "walk.lua" } or t:run(words)
      t:expect(r, 0)
      assert.is_truthy(r.out:find("a1", 1, true) or r.out == "300\n", r.out)
      if words[1] ~= "run" then
        assert.truthy(r.err:find("in/b.csv.gz': the file ends too early", 1, true), r.err)
      end
    end
  end)

  it("is not passed to run(), even in another try", function()
    local t = job.case()
    damaged(t)
    t:script "function run(df) assert(#df > 0) return { #df } end"
    local r = t:run { "map", "--rows", "score.lua", "in", "--job-dir", "job", "--progress", "none" }
    t:expect(r, 0)
    assert.truthy(r.err:find("--only-failed", 1, true), r.err)
    local number = 0
    for line in t:read("job/score/failed_items.jsonl"):gmatch "[^\n]+" do
      assert.is_true(t:has((line:match '"log":"[^"]*/job/([^"]*)"':gsub("^", "job/"))), line)
      number = tonumber(line:match '"mini_batch":(%d+)')
    end
    r = t:run { "replay", "job", "--mini-batch", tostring(number) }
    t:expect(r, 1)
    assert.truthy(r.err:find(": 0 items, 0 elements returned; 1 item has failed\n", 1, true), r.err)
    r = t:run { "map", "--rows", "score.lua", "in", "--only-failed", "job" }
    t:expect(r, 1)
    assert.truthy(r.err:find("in/b.csv.gz': the file ends too early at byte ", 1, true), r.err)
    r = t:run { "try", "--rows", "score.lua", "in/a.csv.gz" }
    assert.truthy(r.err:find("300 items, 1 element returned\n", 1, true), r.err)
    r = t:run { "try", "--rows", "score.lua", "in/a.csv.gz", "--error-threshold", "0" }
    t:expect(r, 1)
    assert.truthy(r.err:find("300 items, 1 element returned; 299 items have failed: an item without", 1, true), r.err)
  end)

  it("causes a warning, and the log lists even a large number of them", function()
    local t = job.case()
    damaged(t)
    for i = 1, 27 do t:write(("in/e%02d.csv.gz"):format(i), "id,text\n1,x\n") end
    local r = t:run { "map", "--rows", "score.lua", "in", "--job-dir", "job", "--progress", "none" }
    t:expect(r, 0)
    local words = "; the file is a failed item"
    assert.is_true(select(2, r.err:gsub(words, "")) <= 4, r.err)
    assert.truthy(r.err:find("%d+ more warnings like the one about 'in/%w+%.csv%.gz': 'in/e%d%d%.csv%.gz', "), r.err)
    assert.truthy(r.err:find(" others; logs/sys/master_role.txt has them as INFO\n", 1, true), r.err)
    assert.equal(30, select(2, t:read "job/score/logs/sys/master_role.txt":gsub(words, "")))
    assert.truthy(r.err:find("330, 300 succeeded, 30 failed", 1, true), r.err)
  end)

  it("is the same item when the job is resumed", function()
    local t = job.case()
    damaged(t)
    local function map(status, ...)
      local r = t:run { "map", "--rows", "score.lua", "in", "--job-dir", "job", "--progress", "none", ... }
      t:expect(r, status)
      return r
    end
    map(1, "--error-threshold", "0")
    assert.equal(300, #lines(map(0, "--error-threshold", "3", "--resume").out))
    t:expect(t:run { "verify", "job" }, 0)
  end)

  it("stops the job if rows before the damage are already in use", function()
    local t = job.case()
    t:script "function run(df) return {} end"
    local rows = { "id,text" }
    for i = 1, 60000 do rows[#rows + 1] = ("%d,%x"):format(i, i * 7919 % 65521) end
    t:write("in/a.csv", table.concat(rows, "\n") .. "\n")
    os.execute(("gzip -n '%s'"):format(t:path "in/a.csv"))
    t:write("in/a.csv.gz", t:read("in/a.csv.gz"):sub(1, -20))
    local r = t:run { "map", "--rows", "score.lua", "in", "-N", "10KB", "--progress", "none" }
    t:expect(r, 1)
    assert.truthy(r.err:find("in/a.csv.gz': the file ends too early at byte ", 1, true), r.err)
  end)

  it("stops a job that needs its row numbers, its header, or all rows together", function()
    local t = job.case()
    damaged(t)
    for _, more in ipairs { { "--limit", "700" }, { "--partition-keys", "text" } } do
      local r = t:run(with({ "map", "--rows", "score.lua", "in", "--progress", "none" }, more))
      t:expect(r, 1)
      assert.truthy(r.err:find("in/b.csv.gz': the file ends too early at byte ", 1, true), r.err)
    end
    os.remove(t:path "in/a.csv.gz")
    local r = t:run { "map", "--rows", "score.lua", "in", "--header", "from_first_file", "--progress", "none" }
    t:expect(r, 1)
    assert.truthy(r.err:find("in/b.csv.gz': the file ends too early at byte ", 1, true), r.err)
  end)
end)
