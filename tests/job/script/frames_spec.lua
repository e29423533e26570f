-- Data frames that run() returns: their rows in a delimited file, its header, its columns.
local job = require "support.job"
local programs = require "support.programs"

local FRAME = 'local frame = require "tidemill.frame"\n'

-- A case whose script returns a row with name and number for each file. `columns` is Lua that gets
-- n, the number of the mini-batch's first file, and returns the frame.
local function frames_case(n, config, run)
  local t = job.case()
  t:inputs(n)
  t:script(FRAME .. (run or [[
    function run(m)
      local names, numbers = {}, {}
      for i, path in ipairs(m) do names[i], numbers[i] = name_of(path), number_of(path) end
      return frame.from_table { { "name", names }, { "number", numbers } }
    end]]))
  t:pipeline(config)
  return t
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

local function expected(n, separator)
  local rows = {}
  for i = 1, n do rows[i] = ("%04d.txt%s%d"):format(i, separator, i) end
  return rows
end

-- The rows of a file, without the header.
local function below_header(t, name, header)
  local lines = lines_of(t:read("job/score/output/" .. name))
  assert.equal(header, table.remove(lines, 1))
  table.sort(lines)
  return lines
end

describe("a data frame", function()
  it("has its methods in a script that requires only what makes frames", function()
    local t = job.case()
    t:write("table.csv", "a\n3\n4\n")
    t:write("rows.lua", [[
      local tensor = require "tidemill.tensor"
      function run(df)
        local more = tensor.from_frame(df, { columns = { "a" } }):to_frame { "b" }
        return { #more .. " " .. df:select("a").c.a[1] .. " " .. more.c.b[2] }
      end]])
    local r = t:run { "map", "rows.lua", "--rows", "table.csv" }
    t:expect(r, 0)
    assert.equal("2 3 4\n", r.out)
  end)
end)

describe("a data frame returned by run()", function()
  after_each(job.check_end)

  it("that cannot be made names its line, although `return df:filter()` leaves none on the stack", function()
    for where, run in pairs {
      ["4"] = "function run(m)\n  return frame.from_table { a = { 1 } }:filter('b', '>', 1)\nend",
      ["5"] = "function run(m)\n  if #m > 9 then return nil end\n  return frame.from_table { a = m }:sort 'b'\nend",
      -- several calls end it: the line of the function
      ["3"] = "function run(m)\n  if #m > 9 then return error 'x' end\n"
        .. "  return frame.from_table { a = m }:sort 'b'\nend",
    } do
      local t = frames_case(2, nil, run)
      local r = t:expect_job(1)
      assert.truthy(r.err:find("score.lua:" .. where .. ": ", 1, true), r.err)
    end
  end)

  it("is written in the format of the file's name", function()
    for name, separator in pairs { ["rows.csv"] = ",", ["rows.tsv"] = "\t" } do
      local t = frames_case(10, ('mini_batch_size = 3, append_row_file_name = "%s"'):format(name))
      local r = t:expect_job(0)
      assert.same({ total = 10, succeeded = 10, failed = 0 }, r.result.steps[1].items)
      assert.same(expected(10, separator), below_header(t, name, "name" .. separator .. "number"))
    end
    local t = frames_case(10, "mini_batch_size = 3")
    t:expect_job(0)
    assert.same(expected(10, " "), t:rows())
  end)

  it("is not returned by a call that fails; the error has the line of the call", function()
    local t = frames_case(2, "mini_batch_size = 2, run_max_try = 1", [[function run(m)
      local names = frame.from_table { { "name", m } }

      return names:select("nam")
    end]])
    local r = t:expect_job(1)
    assert.is_truthy(r.err:find("score.lua:6: select: no column 'nam'; columns: name", 1, true), r.err)
  end)

  it("is written with the given separator and header", function()
    local t = frames_case(4, [[append_row_file_name = "rows.csv", append_row_separator = ";",
      append_row_header = false]])
    t:expect_job(0)
    assert.same(expected(4, ";"), t:rows "rows.csv")
    t = frames_case(4, 'append_row_separator = "|", append_row_header = true, mini_batch_size = 1')
    t:expect_job(0)
    assert.same(expected(4, "|"), below_header(t, "parallel_run_step.txt", "name|number"))
    t = frames_case(4)
    t:pipeline("mini_batch_size = 1", 'arguments = { "--append_row_dataframe_header", "true" }')
    t:expect_job(0)
    assert.same(expected(4, " "), below_header(t, "parallel_run_step.txt", "name number"))
  end)

  it("is shown by try, and written by map in the format of --output", function()
    local t = frames_case(4)
    local r = t:run { "try", "score.lua", "in", "--append-row-file-name", "x.tsv" }
    t:expect(r, 0)
    assert.equal("name\tnumber\n0001.txt\t1\n0002.txt\t2\n0003.txt\t3\n0004.txt\t4\n", r.out)
    t:expect(t:run { "map", "score.lua", "in", "-N", "1", "--output", "out.csv", "--progress", "none" }, 0)
    local lines = lines_of(t:read "out.csv")
    assert.equal("name,number", table.remove(lines, 1))
    table.sort(lines)
    assert.same(expected(4, ","), lines)
    r = t:run { "map", "score.lua", "in", "--append-row-separator", "\\t", "--progress", "none" }
    t:expect(r, 0)
    assert.equal("0001.txt\t1\n", r.out:match "^[^\n]*\n")
  end)

  it("is refused with a separator that cannot separate", function()
    for _, separator in ipairs { ", ", '\\"', "\\n", "" } do
      local t = frames_case(1, ('append_row_separator = "%s"'):format(separator))
      local r = t:expect_job(2)
      assert.is_truthy(r.err:find("append_row_separator", 1, true), r.err)
    end
  end)

  it("quotes fields where necessary, and holds every type of value", function()
    local t = frames_case(1, 'append_row_file_name = "rows.csv"', [[
      function run(m)
        return frame.from_table({
          { "text", { "a,b", 'say "x"', " blank", "two\nlines", "", nil, "plain" } },
          { "on", { true, false, nil, true, true, true, true } },
          { "n", { 1, 2, 3, 4, 5, 6, 9007199254740993LL } },
          { "x", { 0.1, 1e300, 0 / 0, -1 / 0, nil, 2, 1 / 3 } },
          { "at, time", { 0, 1.5, -1, 86400, nil, 951782400, 1e9 } },
        }, { ["at, time"] = "datetime" })
      end]])
    t:expect_job(0)
    assert.equal([[
text,on,n,x,"at, time"
"a,b",true,1,0.1,1970-01-01T00:00:00Z
"say ""x""",false,2,1e+300,1970-01-01T00:00:01.5Z
" blank",,3,nan,1969-12-31T23:59:59Z
"two
lines",true,4,-inf,1970-01-02T00:00:00Z
"",true,5,,
,true,6,2.0,2000-02-29T00:00:00Z
plain,true,9007199254740993,0.3333333333333333,2001-09-09T01:46:40Z
]], t:read "job/score/output/rows.csv")
    t:pipeline 'append_row_file_name = "rows.csv", append_row_line_break = "escape"'
    t.job_dir = t.dir .. "/job2"
    t:expect_job(0)
    assert.is_truthy(t:read("job2/score/output/rows.csv"):find("\ntwo\\nlines,true,4,", 1, true))
  end)

  it("counts its rows", function()
    local t = frames_case(10, "mini_batch_size = 4", [[
      function run(m)
        return frame.from_table { name = { name_of(m[1]) } }
      end]])
    local r = t:expect_job(0)
    assert.same({ total = 10, succeeded = 3, failed = 7 }, r.result.steps[1].items)
    t = frames_case(10, 'mini_batch_size = 4, output_action = "summary_only"')
    r = t:expect_job(0)
    assert.same({ total = 10, succeeded = 10, failed = 0 }, r.result.steps[1].items)
  end)

  it("is rearranged to the column order of the first frame", function()
    -- the second has results of more than 1 MB, which go through a file
    for _, size in ipairs { 1, 300000 } do
      local t = frames_case(12, 'mini_batch_size = 1, append_row_file_name = "rows.csv"', ([[
        function run(m)
          local i = number_of(m[1])
          local n, text = { "n", { i } }, { "text, long", { i .. ("x, \"\n"):rep(%d) } }
          local empty = { "empty", {} }
          local orders = { { n, text, empty }, { text, n, empty }, { empty, text, n } }
          return frame.from_table(orders[i %% 3 + 1])
        end]]):format(size))
      t:expect_job(0)
      local text = t:read "job/score/output/rows.csv"
      local header = text:match "^[^\n]*\n"
      local want = { n = {}, text = {} }
      for i = 1, 12 do
        local quoted = '"' .. i .. ('x, ""\n'):rep(size) .. '"'
        local fields = { n = tostring(i), ['"text, long"'] = quoted, empty = "" }
        local row = {}
        for name in header:gsub("text, long", "TEXT"):gmatch "[^,\n]+" do
          row[#row + 1] = fields[name == '"TEXT"' and '"text, long"' or name]
        end
        local line = table.concat(row, ",") .. "\n"
        local begin = "\n" .. line:sub(1, 12) -- searches for the beginning of a long text
        local at = text:find(begin, 1, true)
        assert.is_truthy(at, i)
        assert.is_true(text:sub(at + 1, at + #line) == line, i)
        assert.is_nil(text:find(begin, at + 1, true))
        want.n[i] = #line
      end
      local sum = #header
      for _, n in ipairs(want.n) do sum = sum + n end
      assert.equal(sum, #text)
    end
  end)

  it("with other columns fails the try, and the error names both lists", function()
    local t = frames_case(6, 'mini_batch_size = 1, process_count_per_node = 1, append_row_file_name = "rows.csv"', [[
      function run(m)
        if number_of(m[1]) == 3 then return frame.from_table { { "name", { "x" } }, { "nmber", { 1 } } } end
        if number_of(m[1]) == 4 then return { "no frame" } end
        if number_of(m[1]) == 5 then return {} end
        return frame.from_table { { "name", { name_of(m[1]) } }, { "number", { number_of(m[1]) } } }
      end]])
    local r = t:expect_job(0)
    assert.same({ total = 6, succeeded = 4, failed = 2 }, r.result.steps[1].mini_batches)
    assert.equal(4, #t:rows "rows.csv")
    local words = {}
    for _, try in ipairs(t:tries()) do
      words[try["Mini-batch Id"]] = try.Status .. " " .. try["Error Message"]
    end
    assert.is_truthy(words["2"]:find("RUN_WRONG_RETURN.*name, nmber.*name, number"), words["2"])
    assert.is_truthy(words["3"]:find("RUN_WRONG_RETURN.*array.*name, number"), words["3"])
  end)

  it("may mix with arrays only if there is no header", function()
    local mixed = [[
      function run(m)
        if number_of(m[1]) % 2 == 1 then return names_of(m) end
        return frame.from_table { { "name", { name_of(m[1]) } } }
      end]]
    local t = frames_case(6, "mini_batch_size = 1, process_count_per_node = 1", mixed)
    t:expect_job(0)
    assert.same(job.names(6), t:rows())
    t = frames_case(6, 'mini_batch_size = 1, process_count_per_node = 1, append_row_file_name = "a.csv"', mixed)
    local r = t:expect_job(0)
    assert.same({ total = 6, succeeded = 3, failed = 3 }, r.result.steps[1].mini_batches)
    assert.same({ "0001.txt", "0003.txt", "0005.txt" }, t:rows "a.csv")
  end)

  it("keeps its header and columns across a resume", function()
    local t = frames_case(20, [[mini_batch_size = 1, process_count_per_node = 2, sync_interval = 0.01,
      append_row_file_name = "rows.csv", run_max_try = 1]], [[
      function run(m)
        local n = number_of(m[1])
        if n > 10 and not io.open(os.getenv "GO") then error "not yet" end
        local a, b = { "name", { name_of(m[1]) } }, { "number", { n } }
        return frame.from_table(n > 10 and { b, a } or { a, b })
      end]])
    local o = { env = { "GO=" .. t:path "go" } }
    local config = t:read "pipeline.lua"
    t:write("pipeline.lua", (config:gsub("run_max_try = 1", "run_max_try = 1, error_threshold = 0")))
    t:expect_job(1, nil, o)
    t:write("go", "")
    t:expect_job(0, { "--resume" }, o)
    assert.same(expected(20, ","), below_header(t, "rows.csv", "name,number"))
    local r = t:run { "verify", t.job_dir }
    t:expect(r, 0)
  end)

  it("has one header and each row once, whenever the supervisor is killed", function()
    for _ = 1, tonumber(os.getenv "TM_KILLS") and 4 or 12 do
      local t = frames_case(200, [[mini_batch_size = 2, process_count_per_node = 2, sync_interval = 0.01,
        append_row_file_name = "rows.csv"]])
      for _ = 1, 3 do
        local p = t:start_job { "--resume" }
        programs.pass_ms(math.random(1, 120))
        p:kill(programs.SIGKILL)
        p:wait()
      end
      t:expect_job(0, { "--resume" })
      assert.same(expected(200, ","), below_header(t, "rows.csv", "name,number"))
    end
  end)

  it("is joined with those of other parts when bad items are isolated", function()
    local t = frames_case(16, [[mini_batch_size = 8, run_max_try = 1, isolate_failures = true,
      append_row_file_name = "rows.csv", process_count_per_node = 1]], [[
      function run(m)
        local names, numbers = {}, {}
        for i, path in ipairs(m) do
          names[i], numbers[i] = name_of(path), number_of(path)
          if numbers[i] == 3 then error "bad" end
        end
        local a, b = { "name", names }, { "number", numbers }
        return frame.from_table(#m == 4 and { b, a } or { a, b })
      end]])
    t:expect_job(0)
    local rows = expected(16, ",")
    table.remove(rows, 3)
    local first = lines_of(t:read "job/score/output/rows.csv")[1]
    if first == "number,name" then
      for i, row in ipairs(rows) do rows[i] = row:gsub("^(.*),(.*)$", "%2,%1") end
      table.sort(rows)
    end
    assert.same(rows, below_header(t, "rows.csv", first))
  end)
end)
