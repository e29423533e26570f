-- isolate_failures: the job finds the bad items of a mini-batch and keeps the rows of the others.
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"

local SETTINGS = "isolate_failures = true, run_max_try = 2"

local function failed_items(t)
  local lines = {}
  if not t:has "job/score/failed_items.jsonl" then return lines end
  for line in t:read("job/score/failed_items.jsonl"):gmatch "[^\n]+" do lines[#lines + 1] = json.decode(line) end
  return lines
end

--- The rows in the order of the output.
local function rows_in_order(t)
  local rows = {}
  for line in t:read(t.step_dir .. "/output/parallel_run_step.txt"):gmatch "[^\n]+" do rows[#rows + 1] = line end
  return rows
end

--- Names of the inputs except those with these numbers.
local function names_without(n, bad)
  local names = {}
  for i, name in ipairs(job.names(n)) do if not bad[i] then names[#names + 1] = name end end
  return names
end

local function parts_of(t)
  local parts = {}
  for _, try in ipairs(t:tries()) do
    local first, last = try["Mini-batch Detail"]:match " part=(%d+)%-(%d+) "
    if first then
      parts[#parts + 1] = { first = tonumber(first), last = tonumber(last), status = try.Status,
                            total = tonumber(try.Total), failed = tonumber(try.Failed) }
    end
  end
  return parts
end

local RAISE = [[
local bad = { %s }
function run(m, context)
  for _, path in ipairs(m) do
    if bad[number_of(path)] then %s end
  end
  return names_of(m)
end]]

describe("isolate_failures", function()
  after_each(job.check_end)

  local function case(n, bad, how)
    local t, words = job.case(), {}
    t:inputs(n)
    for i in pairs(bad) do words[#words + 1] = ("[%d] = true"):format(i) end
    t:script(RAISE:format(table.concat(words, ", "), how or "error('cannot read ' .. name_of(path))"))
    return t
  end

  it("keeps 999 of 1,000 items when one is bad, in order, within the bound of tries", function()
    local t = case(1000, { [777] = true })
    t:pipeline(SETTINGS .. ", mini_batch_size = 1000, process_count_per_node = 1")
    local r = t:expect_job(0)
    assert.same({ total = 1000, succeeded = 999, failed = 1 }, r.result.steps[1].items)
    assert.same({ total = 1, succeeded = 1, failed = 0 }, r.result.steps[1].mini_batches)
    assert.same(names_without(1000, { [777] = true }), rows_in_order(t))
    local lines, parts = failed_items(t), parts_of(t)
    assert.equal(1, #lines)
    assert.is_truthy(lines[1].item:find "/0777.txt$")
    assert.equal(0, lines[1].mini_batch)
    assert.is_truthy(lines[1].error:find "cannot read 0777.txt")
    assert.equal("RUN_EXCEPTION", lines[1].status)
    assert.is_truthy(lfs.attributes(lines[1].log, "mode") == "file", lines[1].log)
    assert.is_true(#parts <= 2 * 10 + 2, #parts)
    assert.equal(2, #t:tries() - #parts)
  end)

  it("finds several bad items, and leaves good mini-batches alone", function()
    local bad = { [3] = true, [4] = true, [40] = true, [99] = true, [100] = true }
    local t = case(128, bad)
    t:pipeline(SETTINGS .. ", mini_batch_size = 32, process_count_per_node = 3")
    local r = t:expect_job(0)
    assert.same({ total = 128, succeeded = 123, failed = 5 }, r.result.steps[1].items)
    assert.same({ total = 4, succeeded = 4, failed = 0 }, r.result.steps[1].mini_batches)
    assert.same(names_without(128, bad), t:rows())
    local found = {}
    for _, line in ipairs(failed_items(t)) do found[tonumber(line.item:match "(%d+)%.txt$")] = true end
    assert.same(bad, found)
    local verified = t:run { "verify", t.job_dir }
    assert.equal(0, verified.status, verified.out .. verified.err)
  end)

  it("logs the tries of parts correctly", function()
    local t = case(8, { [6] = true })
    t:pipeline(SETTINGS .. ", mini_batch_size = 8, process_count_per_node = 1")
    t:expect_job(0)
    assert.same({
      { first = 1, last = 4, status = "RUN_DONE", total = 4, failed = 0 },
      { first = 5, last = 8, status = "RUN_EXCEPTION", total = 4, failed = 0 },
      { first = 5, last = 6, status = "RUN_EXCEPTION", total = 2, failed = 0 },
      { first = 7, last = 8, status = "RUN_DONE", total = 2, failed = 0 },
      { first = 5, last = 5, status = "RUN_DONE", total = 1, failed = 0 },
      { first = 6, last = 6, status = "RUN_EXCEPTION", total = 1, failed = 1 },
    }, parts_of(t))
    local master = t:log "sys/master_role.txt"
    assert.is_truthy(master:find("mini-batch 0: of its 8 items 1 failed, found in 6 tries of parts", 1, true),
                     master)
    assert.is_truthy(t:log("sys/node/0/process000.txt"):find("5 to 6 of its items: 2 items", 1, true))
  end)

  for name, how in pairs {
    ["a worker that dies"] = "os.exit(9)",
    ["a worker that is killed"] = "require('tidemill.process').run { 'sh', '-c', 'kill -9 $PPID' }",
    ["a timeout"] = "require('tidemill.process').run { 'sleep', '60' }",
    ["a wrong return"] = "return 7",
  } do
    it("isolates " .. name .. " like an error", function()
      local t = case(8, { [3] = true }, how)
      t:pipeline(SETTINGS .. ", mini_batch_size = 8, run_invocation_timeout = 2, run_max_try = 1,"
                 .. " process_count_per_node = 2")
      local r = t:expect_job(0, nil, { limit = 120 })
      assert.same({ total = 8, succeeded = 7, failed = 1 }, r.result.steps[1].items)
      assert.same(names_without(8, { [3] = true }), rows_in_order(t))
      local lines = failed_items(t)
      assert.equal(1, #lines)
      assert.is_truthy(lines[1].item:find "/0003.txt$")
      -- The first error of the report names the item that was found.
      local first = r.err:match "first: mini%-batch 0 [^\n]*"
      assert.is_truthy(first and first:find "/in/0003%.txt$", r.err)
    end)
  end

  it("fails the mini-batch when no item is good, and only then", function()
    local t = job.case()
    t:inputs(8)
    t:script [[function run(m)
      if number_of(m[1]) <= 4 then error "all of these" end
      return names_of(m)
    end]]
    t:pipeline(SETTINGS .. ", mini_batch_size = 4")
    local r = t:expect_job(0)
    assert.same({ total = 2, succeeded = 1, failed = 1 }, r.result.steps[1].mini_batches)
    assert.same({ total = 8, succeeded = 4, failed = 4 }, r.result.steps[1].items)
    assert.equal(4, #failed_items(t))
  end)

  it("stops at isolation_max_try: untested items count as failed, with a message", function()
    local t = case(64, { [1] = true, [64] = true })
    t:pipeline(SETTINGS .. ", mini_batch_size = 64, process_count_per_node = 1, isolation_max_try = 5")
    local r = t:expect_job(0)
    assert.equal(5, #parts_of(t))
    -- 1-32 and 33-64 fail; three of their halves get a try: 49-64 is not tested, nor are the halves
    -- of 1-16
    local failed = r.result.steps[1].items.failed
    assert.equal(32, failed)
    assert.is_truthy(r.err:find("(5) is used up, and 32 of its items could not be tried apart", 1, true), r.err)
    local lines = failed_items(t)
    assert.equal(32, #lines)
    assert.is_truthy(lines[1].error:find("not tried alone: isolation_max_try (5) is used up", 1, true), lines[1].error)
    assert.is_truthy(lines[1].error:find("cannot read 0001.txt", 1, true), lines[1].error)
    assert.equal(32, #rows_in_order(t))
  end)

  it("counts bad items for error_threshold", function()
    local t = case(20, { [5] = true, [6] = true })
    t:pipeline(SETTINGS .. ", mini_batch_size = 10, error_threshold = 1")
    local r = t:expect_job(1)
    assert.is_truthy(r.err:find("2 items have failed, and error_threshold tolerates 1", 1, true), r.err)
    t = case(20, { [5] = true, [6] = true })
    t:pipeline(SETTINGS .. ", mini_batch_size = 10, error_threshold = 2")
    t:expect_job(0)
  end)

  it("tells run() the position of a part, and accepts marks and short returns", function()
    local t = job.case()
    t:inputs(8)
    t:script [[function run(m, context)
      if not context.part then error "whole" end
      assert(context.minibatch_index == 0 and context.part.last - context.part.first + 1 == #m)
      assert(number_of(m[1]) == context.part.first and number_of(m[#m]) == context.part.last)
      for _, path in ipairs(m) do if number_of(path) == 2 then error "two" end end
      local rows = {}
      for i, path in ipairs(m) do
        local n = number_of(path)
        if n == 7 then context:fail(i, "seven is at " .. i) elseif n ~= 5 then rows[#rows + 1] = name_of(path) end
      end
      return rows
    end]]
    t:pipeline(SETTINGS .. ", mini_batch_size = 8, run_max_try = 1")
    local r = t:expect_job(0)
    assert.same({ total = 8, succeeded = 5, failed = 3 }, r.result.steps[1].items)
    assert.same({ "0001.txt", "0003.txt", "0004.txt", "0006.txt", "0008.txt" }, rows_in_order(t))
    local lines = failed_items(t)
    assert.equal(3, #lines)
    assert.is_truthy(lines[1].item:find "/0002.txt$")
    assert.is_truthy(lines[2].item:find "/0007.txt$")
    assert.equal("seven is at 3", lines[2].error)
    assert.equal(1, lines[3].count)
  end)

  it("commits only output files of good parts, with the mini-batch", function()
    local t = job.case()
    t:inputs(8)
    t:script [[function run(m, context)
      for _, path in ipairs(m) do
        local file = assert(io.open(context:output_file("out/" .. name_of(path)), "w"))
        file:write(name_of(path), "\n")
        file:close()
      end
      for _, path in ipairs(m) do if number_of(path) == 4 then error "four" end end
      return names_of(m)
    end]]
    t:pipeline(SETTINGS .. ", mini_batch_size = 8")
    t:expect_job(0)
    for i, name in ipairs(job.names(8)) do
      assert.equal(i ~= 4, t:has(t.step_dir .. "/output/out/" .. name), name)
    end
    assert.is_false(t:has(t.step_dir .. "/state/staging"))
  end)

  it("refuses the same file name from two parts, with advice", function()
    local t = job.case()
    t:inputs(8)
    t:script [[function run(m, context)
      assert(io.open(context:output_file("all.txt"), "w")):close()
      for _, path in ipairs(m) do if number_of(path) == 1 then error "one" end end
      return names_of(m)
    end]]
    t:pipeline(SETTINGS .. ", mini_batch_size = 8, process_count_per_node = 1")
    local r = t:expect_job(0)
    assert.same({ total = 8, succeeded = 4, failed = 4 }, r.result.steps[1].items)
    local said
    for _, line in ipairs(failed_items(t)) do
      said = said or line.error:find("put context.part.first in it", 1, true)
    end
    assert.is_truthy(said)
    assert.is_true(t:has(t.step_dir .. "/output/all.txt"))
  end)

  it("holds large results of parts in a file, and joins them in order", function()
    local t = job.case()
    t:inputs(12)
    t:script [[function run(m)
      local rows = {}
      for i, path in ipairs(m) do
        if number_of(path) == 8 then error "eight" end
        rows[i] = name_of(path) .. string.rep("x", 600 * 1024)
      end
      return rows
    end]]
    t:pipeline(SETTINGS .. ", mini_batch_size = 12, process_count_per_node = 3")
    local r = t:expect_job(0)
    assert.same({ total = 12, succeeded = 11, failed = 1 }, r.result.steps[1].items)
    local names = {}
    for i, row in ipairs(rows_in_order(t)) do
      names[i] = row:sub(1, 8)
      assert.equal(8 + 600 * 1024, #row)
    end
    assert.same(names_without(12, { [8] = true }), names)
    for name in lfs.dir(t.step_dir .. "/state/spill") do assert.is_truthy(name:find "^%.+$", name) end
    local verified = t:run { "verify", t.job_dir }
    assert.equal(0, verified.status, verified.out .. verified.err)
  end)

  it("names the bad rows of a table in every report", function()
    local t, lines = job.case(), { "id" }
    for i = 1, 300 do lines[#lines + 1] = tostring(i) end
    t:write("in/h.csv", table.concat(lines, "\n") .. "\n")
    t:script [[
      function run(df)
        for i = 1, #df do
          local id = df.c.id[i]
          if id == 257 then error "alone" elseif id == 57 or id == 58 then error "two" end
        end
        return df
      end]]
    t:write("pipeline.lua", ([[
      local tm = require "tidemill"
      return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
        name = "score", inputs = tm.Dataset.Tabular.from_delimited_files "in/h.csv",
        parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = "100rows",
          process_count_per_node = 1, %s } } } }]]):format(SETTINGS))
    local said = t:expect_job(0).err
    local status = t:run({ "status", t.job_dir }).out
    for _, text in ipairs { said, t:log "user/error.txt", t:log "job_result.txt", status } do
      assert.is_truthy(text:find("/in/h.csv, row 257\n", 1, true), text)
      assert.is_truthy(text:find "/in/h%.csv, row 57[ \n]", text)
    end
    assert.is_truthy(status:find("/in/h.csv, row 57 and 1 more\n", 1, true), status)
    local logs = t:run({ "logs", t.job_dir, "--errors" }).out
    for _, row in ipairs { 57, 58, 257 } do
      local words = "|mini%-batch %d, try %d+, [^\n]*/in/h%.csv, row " .. row .. ": RUN_EXCEPTION: [^\n]+\n"
      assert.is_truthy(logs:find(words), logs)
    end
    for _, words in ipairs { "row 257: [^\n]*alone\n", "row 57: [^\n]*two\n" } do
      assert.is_truthy(logs:find(words), logs)
    end
  end)

  it("names a bad row by its place in the file only if that is known", function()
    local function row_of(calls, id)
      local t, lines = job.case(), { "id" }
      for i = 1, 40 do lines[#lines + 1] = tostring(i) end
      t:write("in/h.csv", table.concat(lines, "\n") .. "\n")
      t:script(([[function run(df)
        for i = 1, #df do if df.c.id[i] == %d then error "bad" end end
        return df
      end]]):format(id))
      t:write("pipeline.lua", ([[
        local tm = require "tidemill"
        return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
          name = "score", inputs = tm.Dataset.Tabular.from_delimited_files "in/h.csv"%s,
          parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = "20rows",
            process_count_per_node = 1, %s } } } }]]):format(calls, SETTINGS))
      t:expect_job(0)
      local found
      for _, text in ipairs { t:log "user/error.txt", t:run({ "status", t.job_dir }).out,
        t:run({ "logs", t.job_dir, "--errors" }).out } do
        local row = assert(text:match "/in/h%.csv, row (%d+[ %a-]*)", text)
        found = found or row
        assert.equal(found, row, text)
      end
      return found
    end
    assert.equal("30", row_of("", 30))
    assert.equal("30", row_of(":skip(4)", 30))
    assert.equal("7 of the mini-batch", row_of([[:filter("id", ">", 23)]], 30))
    assert.equal("7 of the mini-batch", row_of([[:filter("id", ">", 3)]], 10))
  end)

  it("leaves a mini-batch of one item alone, and is off by default", function()
    local t = case(3, { [2] = true })
    t:pipeline(SETTINGS .. ", mini_batch_size = 1")
    local r = t:expect_job(0)
    assert.same({ total = 3, succeeded = 2, failed = 1 }, r.result.steps[1].mini_batches)
    assert.equal(0, #parts_of(t))
    t = case(3, { [2] = true })
    t:pipeline "mini_batch_size = 3"
    t:expect_job(1)
    assert.equal(0, #parts_of(t))
  end)

  it("refuses another type, and names the accepted ones", function()
    local t = case(3, {})
    for given, words in pairs {
      ['isolate_failures = "yes"'] = "'isolate_failures' is \"yes\"; accepted: true or false",
      ["isolate_failures = 1"] = "'isolate_failures' is 1; accepted: true or false",
      ["isolation_max_try = 0"] = "'isolation_max_try' is 0; accepted: an integer from 1 on",
      ["isolation_max_try = 1.5"] = "'isolation_max_try' is 1.5; accepted: an integer from 1 on",
      ["isolate_failure = true"] = "did you mean 'isolate_failures'?",
    } do
      t:pipeline(given)
      local r = t:expect_job(2)
      assert.is_truthy(r.err:find(words, 1, true), r.err)
    end
  end)

  it("restarts an interrupted search on resume, without duplicate rows", function()
    local t = job.case()
    t:inputs(16)
    t:script((([[local fs = require "tidemill.fs"
    function run(m, context)
      for _, path in ipairs(m) do
        if number_of(path) == 11 then error "eleven" end
      end
      if context.part and context.part.first == 1 and not fs.exists "@/go" then
        fs.write("@/searching", "")
        require("tidemill.process").run { "sleep", "600" }
      end
      return names_of(m)
    end]]):gsub("@", t.dir)))
    t:pipeline(SETTINGS .. ", mini_batch_size = 16, process_count_per_node = 1")
    local p = t:start_job()
    t:wait_for("searching", nil, 60)
    programs.kill(p.pid, programs.SIGKILL)
    t:finish(p)
    t:wait_for_none()
    t:write("go", "")
    local r = t:expect_job(0, { "--resume" })
    assert.same({ total = 16, succeeded = 15, failed = 1 }, r.result.steps[1].items)
    assert.same(names_without(16, { [11] = true }), rows_in_order(t))
    assert.equal(1, #failed_items(t))
  end)
end)
