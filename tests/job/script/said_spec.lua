-- What a script reports besides its return value: failed items and the files that it created; and
-- strings with line breaks.
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"

local function failed_items(t)
  local lines = {}
  if not t:has "job/score/failed_items.jsonl" then return lines end
  for line in t:read("job/score/failed_items.jsonl"):gmatch "[^\n]+" do lines[#lines + 1] = json.decode(line) end
  return lines
end

--- The files below a folder, sorted, as "name" or "folder/name".
local function files_in(path, before, list)
  list = list or {}
  for name in lfs.dir(path) do
    if lfs.attributes(path .. "/" .. name, "mode") == "directory" then
      if name ~= "." and name ~= ".." then files_in(path .. "/" .. name, (before or "") .. name .. "/", list) end
    else
      list[#list + 1] = (before or "") .. name
    end
  end
  table.sort(list)
  return list
end

describe("an error in shutdown()", function()
  after_each(job.check_end)

  it("fails nothing, and is a warning, in the report, in error.txt and in logs --errors", function()
    local t = job.case()
    t:inputs(4)
    t:script "function run(m) return names_of(m) end\nfunction shutdown() error 'cannot close' end"
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
    local r = t:expect_job(0)
    assert.same({ total = 4, succeeded = 4, failed = 0 }, r.result.steps[1].items)
    local error = "score.lua:3: cannot close"
    local function has(text, part) assert.is_truthy(text:find(part, 1, true), text) end
    has(r.err, "warning: shutdown() failed, which fails no item: ")
    assert.equal(1, select(2, r.err:gsub("warning: shutdown%(%) failed", "")))
    has(r.err, error .. "\n")
    has(r.err, "first: shutdown() at process00")
    has(t:log "user/error.txt", error)
    has(t:log "user/error.txt", "first: shutdown() at process00")
    r = t:run { "logs", t.job_dir, "--errors" }
    t:expect(r, 0)
    has(r.out, "shutdown() failed: ")
    has(r.out, error)
    assert.is_nil(t:log "user/error.txt":find("replay", 1, true))
  end)
end)

describe("context:fail", function()
  after_each(job.check_end)

  it("marks items that never count as succeeded", function()
    local t = job.case()
    t:inputs(10)
    t:script [[function run(m, context)
      context:fail(2, "too dark\nto read")
      context:fail(2, "said once more")
      local rows = {}
      for i, path in ipairs(m) do if i ~= 2 then rows[#rows + 1] = name_of(path) end end
      return rows
    end]]
    t:pipeline "mini_batch_size = 5"
    local r = t:expect_job(0)
    assert.same({ total = 10, succeeded = 8, failed = 2 }, r.result.steps[1].items)
    assert.same({ total = 2, succeeded = 2, failed = 0 }, r.result.steps[1].mini_batches)
    local lines = failed_items(t)
    table.sort(lines, function(a, b) return a.mini_batch < b.mini_batch end)
    assert.equal(2, #lines)
    assert.is_truthy(lines[1].item:find "/0002.txt$")
    assert.is_truthy(lines[2].item:find "/0007.txt$")
    assert.equal("too dark\nto read", lines[1].error)
    assert.equal("RUN_DONE", lines[1].status)
    assert.same({ RUN_DONE = 2 }, t:statuses())
  end)

  it("excludes marked items from the count of missing elements", function()
    local t = job.case()
    t:inputs(6)
    t:script [[function run(m, context)
      context:fail(1, "one")
      if context.minibatch_index == 0 then return { "a", "b", "c" } end
      return { "d" }
    end]]
    t:pipeline "mini_batch_size = 3, process_count_per_node = 1"
    local r = t:expect_job(0)
    assert.same({ total = 6, succeeded = 3, failed = 3 }, r.result.steps[1].items)
    assert.same({ "a", "b", "c", "d" }, t:rows())
    assert.is_truthy(r.err:find("3 elements for the 2 items of mini-batch 0 that are not marked", 1, true), r.err)
    local counted
    for _, line in ipairs(failed_items(t)) do counted = line.count or counted end
    assert.equal(1, counted)
  end)

  it("counts for error_threshold, and is dropped when the try fails", function()
    local t = job.case()
    t:inputs(4)
    t:script [[function run(m, context)
      context:fail(1, "first try")
      if context.try == 1 then error "again" end
      return names_of(m)
    end]]
    t:pipeline "mini_batch_size = 4, error_threshold = 0"
    local r = t:expect_job(1)
    assert.is_truthy(r.err:find("1 item has failed, and error_threshold tolerates 0", 1, true), r.err)
    t = job.case()
    t:inputs(4)
    t:script [[function run(m, context)
      if context.try == 1 then context:fail(1, "first try") error "again" end
      return names_of(m)
    end]]
    t:pipeline "mini_batch_size = 4, error_threshold = 0"
    t:expect_job(0)
    assert.same({}, failed_items(t))
  end)

  it("is refused for an item that does not exist, and outside of run()", function()
    local t = job.case()
    t:inputs(3)
    t:script [[local kept
    function run(m, context)
      local n = number_of(m[1])
      if n == 1 then context:fail(2, "x") end
      if n == 2 then context.fail(1, "x") end
      kept = context
      return names_of(m)
    end
    function shutdown() print(pcall(kept.fail, kept, 1, "late")) end]]
    t:pipeline "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1"
    t:expect_job(0)
    local errors = t:log "user/error.txt"
    assert.is_truthy(errors:find("expected an item's number, 1 to 1", 1, true), errors)
    assert.is_truthy(errors:find("with a colon", 1, true), errors)
    assert.is_truthy(t:log("user/stdout/0/process000.stdout.txt"):find("has none now", 1, true))
  end)
end)

describe("why items failed although run() returned", function()
  after_each(job.check_end)

  local function has(text, ...)
    for _, words in ipairs { ... } do assert.is_truthy(text:find(words, 1, true), words .. " is not in:\n" .. text) end
  end

  it("is in the report, the logs and the status, with a count and the first item", function()
    local t = job.case()
    t:inputs(6)
    t:script [[function run(m, context)
      context:fail(2, "too dark")
      return names_of(m)
    end]]
    t:pipeline "mini_batch_size = 2, process_count_per_node = 1"
    local r = t:expect_job(0)
    local list, first = t.step_dir .. "/failed_items.jsonl", "/in/0002.txt\n"
    has(r.err, "errors:       " .. t.step_dir .. "/logs/user/error.txt\n      3 items: too dark\n", first,
      "        list: " .. list .. "\n        again: tidemill replay " .. t.job_dir .. " --mini-batch 0\n")
    has(t:log "user/error.txt", "3 items: too dark\n  first: mini-batch 0 at process000, ", first)
    has(t:log "job_result.txt", "3 items: too dark\n", "start with " .. t.step_dir .. "/logs/user/error.txt")
    has(t:log "sys/job_report/processed_mini-batches.csv", "'" .. t.dir .. "/in/0002.txt': too dark")
    local logs = t:run { "logs", t.job_dir, "--errors" }
    has(logs.out, "1 item failed, '" .. t.dir .. "/in/0002.txt': too dark\n",
      "3 items failed although run() returned: too dark; first: mini-batch 0 at process000, ")
    has(t:run({ "logs", t.job_dir, "--mini-batch", "2" }).out, "/in/0006.txt': too dark")
    has(t:run({ "status", t.job_dir }).out, "    3 items: too dark\n      first: mini-batch 0 at process000, "
      .. t.dir .. "/in/0002.txt\n")
    local status = json.decode(t:run({ "status", t.job_dir, "--json" }).out).steps[1]
    local e = status.errors[1]
    assert.same({ "too dark", 3, 0, false }, { e.error, e.items, e.mini_batch, status.errors_cut })
    assert.is_truthy(e.item:find "/0002%.txt$")
    assert.equal(list, status.failed_items)
    assert.equal(list, r.result.steps[1].failed_items)
    assert.same(status.errors, r.result.steps[1].errors)
    assert.is_false(r.result.steps[1].errors_cut)
  end)

  it("is given for missing elements", function()
    local t = job.case()
    t:inputs(7)
    t:script [[function run(m) return number_of(m[1]) == 7 and {} or { "one for all" } end]]
    t:pipeline "mini_batch_size = 3, process_count_per_node = 1, error_threshold = 4"
    local r = t:expect_job(1)
    has(r.err, "5 items have failed, and error_threshold tolerates 4", "\n      5 items: run() returned fewer elements",
      "context:fail(i, why) says which, returns = 'any'", "(1 element for 3 items) at process000, ",
      "/in/0001.txt and 2 more\n")
    has(t:log "job_result.txt", "start with " .. t.step_dir .. "/logs/user/error.txt")
    assert.equal(2, failed_items(t)[1].count)
  end)

  it("comes before errors that a later try resolved", function()
    local t = job.case()
    t:inputs(8)
    t:script [[function run(m, context)
      if number_of(m[1]) < 8 and context.try == 1 then error("once, at " .. name_of(m[1])) end
      if number_of(m[1]) == 8 then context:fail(1, "for good") end
      return {}
    end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, output_action = 'summary_only'"
    local r = t:expect_job(0)
    has(r.err, "/logs/user/error.txt\n      ", " items: run() returned fewer", "1 item: for good\n")
    assert.is_true(r.err:find("for good\n        first", 1, true) < r.err:find("7 times: ", 1, true))
  end)
end)

describe("context:output_file", function()
  after_each(job.check_end)

  local WRITE = [[
    local function write(path, text)
      local file = assert(io.open(path, "w"))
      file:write(text)
      file:close()
    end
    ]]

  it("gives a file its name when the mini-batch is committed, and leaves it out otherwise", function()
    local t = job.case()
    t:inputs(6)
    t:script(WRITE .. [[function run(m, context)
      local name = name_of(m[1])
      write(context:output_file("deep/er/" .. name), "try " .. context.try)
      write(context:output_file("deep/er/" .. name), "try " .. context.try)
      write(context:output_file(name .. ".flat"), name)
      if number_of(m[1]) == 3 then error "always" end
      if number_of(m[1]) == 4 and context.try == 1 then os.exit(7) end
      return names_of(m)
    end]])
    for _, action in ipairs { "append_row", "summary_only" } do
      t:pipeline(("mini_batch_size = 1, run_max_try = 2, output_action = %q"):format(action))
      t.job_dir, t.step_dir = t.dir .. "/" .. action, t.dir .. "/" .. action .. "/score"
      t:expect_job(0)
      local expected = { action == "append_row" and "parallel_run_step.txt" or nil }
      for _, n in ipairs { 1, 2, 4, 5, 6 } do
        expected[#expected + 1] = ("%04d.txt.flat"):format(n)
        expected[#expected + 1] = ("deep/er/%04d.txt"):format(n)
      end
      table.sort(expected)
      assert.same(expected, files_in(t.step_dir .. "/output"))
      assert.equal("try 2", t:read(t.step_dir .. "/output/deep/er/0004.txt"))
      assert.is_false(t:has(t.step_dir .. "/state/staging"))
    end
  end)

  it("is refused for a name outside, a name in use, and a file that was not written", function()
    local t = job.case()
    t:inputs(8)
    t:script(WRITE .. [[function run(m, context)
      local names = { "/tmp/x", "../x", "a/../../x", "", "parallel_run_step.txt", "same.txt", "same.txt", "unwritten" }
      local n = number_of(m[1])
      local path = context:output_file(names[n])
      if n < 8 then write(path, "mini-batch " .. context.minibatch_index) end
      return names_of(m)
    end]])
    t:pipeline "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1"
    local r = t:expect_job(0)
    assert.same({ total = 8, succeeded = 1, failed = 7 }, r.result.steps[1].mini_batches)
    assert.same({ "parallel_run_step.txt", "same.txt" }, files_in(t.step_dir .. "/output"))
    -- A result from a relay may come before an earlier one: its files are looked for first.
    local first = tonumber(t:read("job/score/output/same.txt"):match "^mini%-batch ([56])$")
    local errors = {}
    for _, try in ipairs(t:tries()) do errors[tonumber(try["Mini-batch Id"])] = try["Error Message"] end
    for i = 0, 3 do assert.is_truthy(errors[i]:find("expected the name of a file", 1, true), errors[i]) end
    assert.is_truthy(errors[4]:find("the file of append_row has that name", 1, true), errors[4])
    if job.NODE == "0" then assert.equal(5, first) end
    local said = errors[11 - first]
    assert.is_truthy(said:find("mini-batch " .. first .. " has that name", 1, true) or
      said:find("another mini-batch", 1, true), said)
    assert.is_truthy(errors[7]:find("nothing was written there", 1, true), errors[7])
  end)

  it("is refused if one mini-batch has a folder and another a file, at any time", function()
    for _, sync_s in ipairs { "0.001", "60" } do
      local t = job.case()
      t:inputs(8)
      t:script(WRITE .. [[function run(m, context)
        local names = { "a", "a/b", "c/d", "c", "e/f/g", "e/f", "h/i", "h/i/j/k" }
        local n = number_of(m[1])
        write(context:output_file(names[n]), n)
        return names_of(m)
      end]])
      t:pipeline("mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1, sync_interval = " .. sync_s)
      local r = t:expect_job(0)
      assert.same({ total = 8, succeeded = 4, failed = 4 }, r.result.steps[1].mini_batches)
      local errors, kept = {}, { "parallel_run_step.txt" }
      for _, try in ipairs(t:tries()) do errors[tonumber(try["Mini-batch Id"])] = try["Error Message"] end
      for _, pair in ipairs { { "a", "a/b" }, { "c/d", "c" }, { "e/f/g", "e/f" }, { "h/i", "h/i/j/k" } } do
        -- A result from a relay may come before an earlier one: its files are looked for first.
        local index = 2 * #kept - 2
        local is_second = job.NODE ~= "0" and errors[index] ~= ""
        local winner, loser = pair[is_second and 2 or 1], pair[is_second and 1 or 2]
        local said = errors[is_second and index or index + 1]
        local words = #loser > #winner and "another mini-batch has a file where its folder would be"
          or "a folder has that name"
        assert.is_truthy(said:find(words, 1, true), said)
        kept[#kept + 1] = winner
      end
      table.sort(kept)
      assert.same(kept, files_in(t.step_dir .. "/output"))
    end
  end)

  it("may write to another output, by its name or by its folder among the arguments", function()
    local t = job.case()
    t:inputs(6)
    t:script(WRITE .. [[
    local arguments = { ... }
    function run(m, context)
      local name, n = name_of(m[1]), number_of(m[1])
      local outputs = { "rows", "pictures", arguments[1], arguments[2], "picture", "elsewhere" }
      write(context:output_file("a/" .. name, outputs[n]), "of " .. name)
      write(context:output_file("a/" .. name), "first of " .. name)
      return names_of(m)
    end]])
    t:pipeline("mini_batch_size = 1, run_max_try = 1", "output = { rows, pictures }, arguments = { rows, pictures }",
      [[local rows, pictures = tm.OutputFileDatasetConfig { name = "rows" },
        tm.OutputFileDatasetConfig { name = "pictures" }:register_on_complete "pictures"]])
    local r = t:expect_job(0)
    assert.same({ total = 6, succeeded = 4, failed = 2 }, r.result.steps[1].mini_batches)
    assert.same({ "a/0001.txt", "a/0002.txt", "a/0003.txt", "a/0004.txt", "parallel_run_step.txt" },
      files_in(t.step_dir .. "/output"))
    assert.same({ "a/0002.txt", "a/0004.txt" }, files_in(t.step_dir .. "/output.pictures"))
    assert.equal("of 0002.txt", t:read "job/score/output.pictures/a/0002.txt")
    assert.equal("first of 0002.txt", t:read "job/score/output/a/0002.txt")
    local errors = t:log "user/error.txt"
    assert.is_truthy(errors:find("the step has no output 'picture'; did you mean 'pictures'?; accepted: 'rows', "
      .. "'pictures', or the folder", 1, true), errors)
    assert.is_truthy(errors:find("the step has no output 'elsewhere'; accepted", 1, true), errors)
    t:expect(t:run { "verify", t.job_dir }, 0)
    os.remove(t:path "job/score/output.pictures/a/0002.txt")
    t:expect(t:run { "verify", t.job_dir }, 3)
  end)

  it("is exact when the job is killed and resumed", function()
    for kill = 1, 4 do
      local t = job.case()
      t:inputs(30)
      t:script(WRITE .. [[function run(m, context)
        for i, path in ipairs(m) do write(context:output_file("f/" .. name_of(path)), name_of(path)) end
        return names_of(m)
      end]])
      t:pipeline "mini_batch_size = 1, process_count_per_node = 2, sync_interval = 0.05"
      local p = t:start_job()
      t:wait_for("job/score/output/f/" .. ("%04d.txt"):format(kill * 5))
      p:kill(programs.SIGKILL)
      t:finish(p)
      t:wait_for_none()
      t:expect_job(0, { "--resume" })
      assert.same(job.names(30), t:rows())
      assert.same(job.names(30), files_in(t.step_dir .. "/output/f"))
      for _, name in ipairs(job.names(30)) do assert.equal(name, t:read("job/score/output/f/" .. name)) end
    end
  end)
end)

describe("append_row_line_break", function()
  after_each(job.check_end)

  it("escapes line breaks, so that they can be read back", function()
    local t = job.case()
    t:inputs(1)
    t:script [[function run(m) return { "two\nlines\r\n", "back\\slash", "plain", { "a\nb" } } end]]
    t:pipeline "append_row_line_break = 'escape'"
    t:expect_job(0)
    assert.equal('two\\nlines\\r\\n\nback\\\\slash\nplain\n["a\\nb"]\n',
      t:read "job/score/output/parallel_run_step.txt")
  end)
end)

describe("a large return value", function()
  after_each(job.check_end)

  it("of 100 MB is written exactly", function()
    local t = job.case()
    t:inputs(1)
    t:script [[function run(m)
      local row, rows = ("x"):rep(2^20 - 1), {}
      for i = 1, 100 do rows[i] = row end
      return rows
    end]]
    t:pipeline()
    t:expect_job(0)
    assert.equal(100 * 2^20, lfs.attributes(t.step_dir .. "/output/parallel_run_step.txt", "size"))
  end)

  it("is refused beyond max_result_size", function()
    local t = job.case()
    t:inputs(2)
    t:script [[function run(m) return { ("x"):rep(number_of(m[1]) == 1 and 1023 or 1024) } end]]
    t:pipeline "mini_batch_size = 1, max_result_size = '1KB', run_max_try = 1"
    local r = t:expect_job(0)
    assert.equal(1, r.result.steps[1].mini_batches.failed)
    assert.is_truthy(t:log("user/error.txt"):find("more than max_result_size (1024)", 1, true))
  end)
end)

describe("a table that JSON cannot represent", function()
  after_each(job.check_end)

  it("is refused if bytes are not UTF-8; nan becomes null", function()
    local t = job.case()
    t:inputs(4)
    t:script [[function run(m) return { { x = ({ "\255", 0 / 0, 1 / 0, "good" })[number_of(m[1])] } } end]]
    t:pipeline "mini_batch_size = 1, run_max_try = 1"
    local r = t:expect_job(0)
    assert.same({ '{"x":"good"}', '{"x":null}', '{"x":null}' }, t:rows())
    assert.equal(1, r.result.steps[1].mini_batches.failed)
    assert.is_truthy(t:log("user/error.txt"):find "UTF%-8")
  end)
end)
