-- What run() may return, and what the job does with it.
local job = require "support.job"

local function by_index(t)
  local tries = {}
  for _, try in ipairs(t:tries()) do tries[tonumber(try["Mini-batch Id"])] = try end
  return tries
end

describe("what run() returns", function()
  after_each(job.check_end)

  it("is an error if it is not an array", function()
    local t = job.case()
    local wrong = { "nil", "", "7", "'text'", "true", "{ 1, nil, 3 }", "{ a = 1 }", "print", "{ 1, x = 2 }",
                    "{ [2] = 1 }" }
    t:inputs(#wrong + 1)
    t:script("function run(m) local n = number_of(m[1])\n")
    local body = t:read "score.lua"
    for i, value in ipairs(wrong) do body = body .. ("if n == %d then return %s end\n"):format(i, value) end
    t:write("score.lua", body .. "return names_of(m) end")
    t:pipeline "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1"
    local r = t:expect_job(0)
    assert.same({ total = #wrong + 1, succeeded = 1, failed = #wrong }, r.result.steps[1].mini_batches)
    assert.same({ ("%04d.txt"):format(#wrong + 1) }, t:rows())
    local tries = by_index(t)
    for i, value in ipairs(wrong) do
      assert.equal("RUN_WRONG_RETURN", tries[i - 1].Status, value)
      assert.is_truthy(tries[i - 1]["Error Message"]:find "return", value)
    end
    assert.is_truthy(tries[0]["Error Message"]:find "nil", tries[0]["Error Message"])
    assert.is_truthy(tries[2]["Error Message"]:find "number", tries[2]["Error Message"])
    assert.is_truthy(tries[3]["Error Message"]:find "string", tries[3]["Error Message"])
  end)

  it("makes missing items count as failed, without another try", function()
    local t = job.case()
    t:inputs(10)
    t:script "function run(m) return { name_of(m[1]) } end"
    t:pipeline "mini_batch_size = 4"
    local r = t:expect_job(0)
    local step = r.result.steps[1]
    assert.same({ total = 3, succeeded = 3, failed = 0 }, step.mini_batches)
    assert.same({ total = 10, succeeded = 3, failed = 7 }, step.items)
    assert.same({ RUN_DONE = 3 }, t:statuses())
    assert.same({ "0001.txt", "0005.txt", "0009.txt" }, t:rows())
  end)

  it("may be longer than the items, with one warning", function()
    local t = job.case()
    t:inputs(6)
    t:script "function run(m) return { 'a', 'b', 'c', 'd' } end"
    t:pipeline "mini_batch_size = 2"
    local r = t:expect_job(0)
    assert.same({ total = 6, succeeded = 6, failed = 0 }, r.result.steps[1].items)
    assert.equal(12, #t:rows())
    local _, n = r.err:gsub("4 elements for", "")
    assert.equal(1, n, r.err)
    assert.is_truthy(t:log("sys/master_role.txt"):find "4 elements for")
    assert.is_truthy(r.err:find('step \'score\': .*; all rows are written, .*returns = "any"'), r.err)
    t:pipeline "mini_batch_size = 2, returns = 'any'"
    os.execute(("rm -rf '%s'"):format(t.job_dir))
    r = t:expect_job(0)
    assert.is_nil(r.err:find("warning", 1, true), r.err)
  end)

  it("may have any length with returns = any; only marked items fail", function()
    local t = job.case()
    t:inputs(10)
    t:script [[function run(m, context)
      if number_of(m[1]) == 5 then context:fail(2, "why") end
      return number_of(m[1]) == 1 and {} or { name_of(m[1]) }
    end]]
    t:pipeline "mini_batch_size = 4, returns = 'any', error_threshold = 1"
    local r = t:expect_job(0)
    assert.same({ total = 10, succeeded = 9, failed = 1 }, r.result.steps[1].items)
    assert.same({ "0005.txt", "0009.txt" }, t:rows())
    t:expect(t:run { "verify", t.job_dir }, 0)
    t:pipeline "returns = 'some'"
    r = t:run { "run", "pipeline.lua" }
    t:expect(r, 2)
    assert.is_truthy(r.err:find("'returns' is \"some\"; accepted: auto, items, any", 1, true)
      or r.err:find("'returns' is \"some\"", 1, true), r.err)
  end)

  it("is written exactly, even if larger than 1 MB", function()
    local t = job.case()
    t:inputs(3)
    t:script [[
      local function long(n)
        local parts, x = {}, n
        for i = 1, 200000 do
          x = (x * 48271) % 2147483647
          parts[i] = ("%08x"):format(x)
        end
        return table.concat(parts)
      end
      function run(m) return { name_of(m[1]) .. long(number_of(m[1])), "end " .. name_of(m[1]) } end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
    t:expect_job(0)
    local text = t:read "job/score/output/parallel_run_step.txt"
    assert.equal(3 * (8 + 1600000 + 1 + 4 + 8 + 1), #text)
    local row_after = {} -- a search for so long a text takes the sanitizers ten seconds
    for row, after in text:gmatch "([^\n]*)\n([^\n]*)\n" do row_after[row] = after end
    for n = 1, 3 do
      local name, x, parts = ("%04d.txt"):format(n), n, {}
      for i = 1, 200000 do
        x = (x * 48271) % 2147483647
        parts[i] = ("%08x"):format(x)
      end
      assert.equal("end " .. name, row_after[name .. table.concat(parts)])
    end
  end)

  it("has no line break in a string", function()
    local t = job.case()
    t:inputs(2)
    t:script "function run(m) if number_of(m[1]) == 1 then return { 'two\\nlines' } end return { 'one line' } end"
    t:pipeline "mini_batch_size = 1, run_max_try = 2, process_count_per_node = 1"
    local r = t:expect_job(0)
    assert.same({ "one line" }, t:rows())
    assert.equal(1, r.result.steps[1].mini_batches.failed)
    assert.is_truthy(t:log("user/error.txt"):find "line break")
  end)

  it("is written the same way everywhere: numbers, booleans, tables", function()
    local t = job.case()
    t:inputs(1)
    t:script [[function run(m)
      return { 1, -0.5, 0.1, 1e15, 2^53 - 1, 1e300, 1/3, 0/0, 1/0, -1/0, 9007199254740993LL,
               18446744073709551615ULL, true, false, { b = 1, a = { 1, "x" } }, {}, "as it is\tand \"so\"", "" }
    end]]
    t:pipeline "process_count_per_node = 1"
    t:expect_job(0, nil, { env = { "LC_ALL=de_DE.UTF-8" } })
    assert.equal(table.concat({ "1", "-0.5", "0.1", "1000000000000000", "9007199254740991", "1e+300",
      "0.3333333333333333", "nan", "inf", "-inf", "9007199254740993",
      "18446744073709551615", "true", "false", '{"a":[1,"x"],"b":1}', "[]",
      'as it is\tand "so"', "", "" }, "\n"), (t:read("job/score/output/parallel_run_step.txt"):gsub("%-nan", "nan")))
  end)

  it("causes a warning if tables go to a file of fields as JSON", function()
    local words = "tables among the rows of a delimited file, written as JSON: 2; for fields and a header return a "
      .. "data frame: require \"tidemill.frame\".from_rows(rows) (said once"
    for file, is_warned in pairs { ["r.csv"] = true, ["r.tsv"] = true, ["r.jsonl"] = false } do
      local t = job.case()
      t:inputs(2)
      t:script "function run(m) return { { a = 1 }, { a = 2 } } end"
      t:pipeline("mini_batch_size = 2, append_row_file_name = '" .. file .. "'")
      local r = t:expect_job(0)
      assert.equal(is_warned, r.err:find(words, 1, true) ~= nil, r.err)
      assert.equal('{"a":1}\n{"a":2}\n', t:read("job/score/output/" .. file))
      t:script "function run(m) return require 'tidemill.frame'.from_rows { { a = 1 }, { a = 2 } } end"
      t:expect(t:run { "run", "pipeline.lua", "--job-dir", t:path "second", "--progress", "none" }, 0)
      assert.equal(is_warned and "a\n1\n2\n" or "1\n2\n", t:read("second/score/output/" .. file))
    end
  end)

  it("causes one warning for numbers that JSON cannot represent", function()
    local t = job.case()
    t:inputs(2)
    t:script "function run(m) return { { v = { 1, 0 / 0 }, w = -1 / 0 }, 1 / 0 } end"
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1"
    local r = t:expect_job(0)
    assert.same({ "inf", "inf", '{"v":[1,null],"w":null}', '{"v":[1,null],"w":null}' }, t:rows())
    assert.is_truthy(r.err:find("numbers that are nan or inf, written to JSON as null: 2; JSON has neither: "
      .. "return them as strings, or return a data frame; the first: element 1 from run(), 'v[2]' "
      .. "is nan or inf (said once", 1, true),
      r.err)
    assert.is_truthy(r.err:find("nan or inf, written to JSON as null: 4 in 2 mini-batches\n", 1, true), r.err)
    assert.equal(2, select(2, r.err:gsub("nan or inf, written", "")))
  end)

  it("has such numbers counted once, whatever the order of keys", function()
    local t = job.case()
    t:inputs(1)
    t:script [[function run(m)
      local rows = {}
      for _, i in ipairs { 2, 8, 3, 10, 6, 4, 7, 1, 9, 5 } do rows[i] = { v = 0 / 0 } end
      local keys, in_order = {}, true
      for key in next, rows do keys[#keys + 1], in_order = key, in_order and key == #keys + 1 end
      assert(keys[1] == 1 and not in_order, table.concat(keys, " "))
      return rows
    end]]
    t:pipeline "process_count_per_node = 1"
    local r = t:expect_job(0)
    assert.equal(10, #t:rows())
    assert.is_truthy(r.err:find("numbers that are nan or inf, written to JSON as null: 10;", 1, true), r.err)
  end)

  it("cannot be a row of a data frame", function()
    local t = job.case()
    t:inputs(1)
    t:script [[local frame = require "tidemill.frame"
      function run(m)
        local list = {}
        for row in frame.from_table({ a = { 1 } }):rows() do list[#list + 1] = row end
        return list
      end]]
    t:pipeline "run_max_try = 1"
    local r = t:expect_job(1)
    assert.is_truthy(r.err:find("element 1 of the result of run() is a row of a data frame; expected", 1, true), r.err)
    assert.is_truthy(r.err:find("row:copy() makes a table", 1, true), r.err)
  end)

  it("is refused with the number of an element that cannot be written", function()
    local t = job.case()
    t:inputs(3)
    t:script [[function run(m)
      local n = number_of(m[1])
      if n == 1 then return { "good", print } end
      if n == 2 then return { "good", { 1, x = 2 } } end
      local loop = {}
      loop.self = loop
      return { "good", loop }
    end]]
    t:pipeline "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1"
    t:expect_job(1)
    for _, try in ipairs(t:tries()) do
      assert.is_truthy(try["Error Message"]:find "2", try["Error Message"])
      assert.not_equal("RUN_DONE", try.Status)
    end
    assert.equal("", t:read "job/score/output/parallel_run_step.txt.partial")
  end)
end)
