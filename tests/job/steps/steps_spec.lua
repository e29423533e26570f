-- Pipelines of several steps: which step waits for which, what a failure ends, how steps share the
-- workers, where outputs are.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local steps = require "support.steps"

-- Each row is the name and the content of a file.
local ECHO = [[
function run(m)
  local rows = {}
  for i, path in ipairs(m) do
    for line in io.lines(path) do rows[i] = (rows[i] or "") .. "<" .. line .. ">" end
  end
  return rows
end]]

local POLL = [[
local ffi = require "ffi"
ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
]]

local function rows_of(t, step, name)
  return t:sorted_lines("job/" .. step .. "/output/" .. (name or "parallel_run_step.txt"))
end

describe("an output in the folder of an input", function()
  after_each(job.check_end)

  local function with(input, destination)
    local t = job.case()
    t:inputs(3)
    t:script(ECHO)
    t:write("pipeline.lua", ([[
      local tm = require "tidemill"
      local config = tm.ParallelRunConfig { entry_script = "score.lua", append_row_file_name = "rows.txt" }
      local function step(name, input, output)
        return tm.ParallelRunStep { name = name, parallel_run_config = config, inputs = input, output = output }
      end
      local written = tm.OutputFileDatasetConfig { name = "written", destination = "%s" }
      return tm.Pipeline { name = "case", steps = { step("first", tm.Dataset.File.from_files %s, written),
        step("second", { written }) } }]]):format(destination, input))
    return t
  end

  it("is refused, as it would be read unfinished", function()
    local inputs = { '"in"', '"./in/"', '"in/*"', '"in/**/*.txt"', '{ "in/0001.txt", "in/{mine,out}/*" }', '"."' }
    for _, input in ipairs(inputs) do
      local r = with(input, "in/out"):expect_job(2)
      assert.is_truthy(r.err:find("in/out' of output 'written' of step 'first'", 1, true), r.err)
      assert.is_truthy(r.err:find("is where the step reads its input", 1, true), r.err)
      assert.is_truthy(r.err:find("pipeline.lua:%d+"), r.err)
    end
  end)

  it("is accepted if the input's pattern does not match it", function()
    for _, input in ipairs { '"in/*.txt"', '"in/000?.txt"', '"in/**/0*.txt"' } do
      local r = with(input, "in/out"):expect_job(0)
      assert.equal(3, steps.by_name(r.result).first.items.total)
    end
  end)

  it("is refused for another step that does not wait for it", function()
    local t = job.case()
    t:inputs(3)
    t:script(ECHO)
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      local config = tm.ParallelRunConfig { entry_script = "score.lua" }
      local function step(name, input, output)
        return tm.ParallelRunStep { name = name, parallel_run_config = config, inputs = input, output = output }
      end
      return tm.Pipeline { name = "case", steps = {
        step("first", tm.Dataset.File.from_files "in", tm.OutputFileDatasetConfig { name = "a", destination = "out" }),
        step("second", tm.Dataset.File.from_files "out/*"),
      } }]])
    local r = t:expect_job(2)
    assert.is_truthy(r.err:find("is where step 'second' reads its input", 1, true), r.err)
  end)
end)

describe("an output as an input", function()
  after_each(job.check_end)

  it("is read once it exists, whatever the order of the steps", function()
    local t = job.case()
    t:inputs(3)
    t:script(ECHO)
    steps.pipeline(t, [[
      step("third", "score.lua", output.two),
      step("second", "score.lua", output.one:as_input "firsts", { output = output.two }),
      step("first", "score.lua", files "in/*", { output = output.one }),
    ]])
    local r = t:expect_job(0)
    assert.same({ "<1>", "<2>", "<3>" }, rows_of(t, "first"))
    assert.equal("<<1>>", (rows_of(t, "second")[1]:match "^<<%d>>"):gsub("%d", "1"))
    assert.equal(1, #rows_of(t, "third"))
    assert.same({ first = "Completed", second = "Completed", third = "Completed" }, steps.statuses(r.result))
    assert.equal(1, steps.by_name(r.result).third.items.total)
    t:expect(t:run { "verify", t.job_dir }, 0)
  end)

  it("has the name that as_input() gives it", function()
    local t = job.case()
    t:inputs(1)
    t:script(ECHO)
    t:script("function run(m, context) return { context.dataset_name } end", "named.lua")
    steps.pipeline(t, [[
      step("first", "score.lua", files "in/*", { output = output.one }),
      step("second", "named.lua", { output.one:as_input "rows", output.one }),
    ]])
    t:expect_job(0)
    assert.same({ "rows" }, rows_of(t, "second"))
  end)

  it("is a path among the arguments, and each further output a folder of its own", function()
    local t = job.case()
    t:inputs(3)
    t:script [[
      local to = ...
      function run(m)
        for _, path in ipairs(m) do
          local f = assert(io.open(to .. "/" .. name_of(path), "w"))
          f:write("picture of ", name_of(path), "\n")
          f:close()
        end
        return m
      end]]
    t:script([[
      local from = ...
      function run(m) return { io.open(from .. '/' .. name_of(m[1])):read '*l' } end]], "look.lua")
    t:script(ECHO, "echo.lua")
    steps.pipeline(t, [[
      step("draw", "score.lua", files "in/*",
        { output = { output.rows, output.pictures }, arguments = { output.pictures } }),
      step("echo", "echo.lua", output.pictures),
      step("look", "look.lua", files "in/*", { arguments = { output.pictures, "--more" } }),
    ]])
    t:expect_job(0)
    assert.same({ "<picture of 0001.txt>", "<picture of 0002.txt>", "<picture of 0003.txt>" }, rows_of(t, "echo"))
    assert.same({ "picture of 0001.txt", "picture of 0002.txt", "picture of 0003.txt" }, rows_of(t, "look"))
    assert.is_true(t:has "job/draw/output.pictures/0003.txt")
    local r = t:run { "replay", t.job_dir, "--step", "look", "--mini-batch", "0" }
    t:expect(r, 0)
    assert.is_truthy(r.out:find("picture of 0001.txt", 1, true), r.out)
  end)

  it("is listed in the result of its step, with its destination once it exists", function()
    local t = job.case()
    t:inputs(2)
    t:script [[
      function run(m)
        if not io.open(os.getenv "HERE" .. "/good") then error "not yet" end
        return m
      end]]
    steps.pipeline(t, [[
      step("first", "score.lua", files "in/*",
        { output = { rows, there }, arguments = { there }, config = { run_max_try = 1 } }),
      step("second", "score.lua", rows, { arguments = { there } }),
    ]], [[
      local rows = tm.OutputFileDatasetConfig { name = "rows", destination = "mounted" }
      local there = tm.OutputFileDatasetConfig { name = "there", destination = "uploaded" }:as_upload()]])
    local o = { env = { "HERE=" .. t.dir } }
    local function has(text, words, expected)
      assert.equal(expected ~= false, text:find(words, 1, true) ~= nil, text)
    end
    local function outputs(upload)
      return {
        { name = "rows", path = t:path "job/first/output", destination = t:path "mounted" },
        { name = "there", path = t:path "job/first/output.there", destination = upload },
      }
    end
    local dry = t:run { "run", "pipeline.lua", "--dry-run" }
    has(dry.out, [[{"name":"there","folder":"first/output.there","destination":"]] .. t:path "uploaded")
    has(dry.out, [["first/output.there"  in the job's directory]])
    local r = t:expect_job(1, nil, o)
    assert.same(outputs(nil), steps.by_name(r.result).first.outputs)
    assert.is_nil(steps.by_name(r.result).second.outputs)
    has(r.err, "destination:  " .. t:path "mounted" .. "\n")
    has(r.err, t:path "uploaded", false)
    t:write("good", "")
    r = t:expect_job(0, { "--resume" }, o)
    local status = t:run { "status", t.job_dir }
    for _, text in ipairs { r.err, status.out } do
      has(text, "output:       " .. t:path "job/first/output.there\n")
      has(text, "destination:  " .. t:path "uploaded\n")
    end
    assert.same(outputs(t:path "uploaded"), steps.by_name(r.result).first.outputs)
    local as_json = t:run { "status", t.job_dir, "--json" }
    assert.same(outputs(t:path "uploaded"), steps.by_name(as_json.result).first.outputs)
  end)
end)

describe("an output as a table", function()
  after_each(job.check_end)

  it("is read by rows", function()
    local t = job.case()
    t:inputs(3)
    t:script [[
      local frame = require "tidemill.frame"
      function run(m) return frame.from_table { { "name", { name_of(m[1]) } }, { "n", { number_of(m[1]) } } } end]]
    t:script("function run(df) local n = {} for row in df:rows() do n[#n + 1] = row.n * 10 end return n end", "sum.lua")
    t:script("function run(df) local n = {} for row in df:rows() do n[#n + 1] = row.a end return n end", "lines.lua")
    t:script([[function run(m) return { '{"a": ' .. number_of(m[1]) .. '}' } end]], "json.lua")
    steps.pipeline(t, [[
      step("table", "score.lua", files "in/*",
        { output = output.rows, config = { append_row_file_name = "rows.csv" } }),
      step("sum", "sum.lua", output.rows:read_delimited_files():as_named_input "rows",
        { config = { mini_batch_size = "1MB" } }),
      step("json", "json.lua", files "in/*", { output = output.lines }),
      step("lines", "lines.lua", output.lines:read_json_lines_files(), { config = { mini_batch_size = "1MB" } }),
    ]])
    t:expect_job(0)
    assert.same({ "10", "20", "30" }, rows_of(t, "sum"))
    assert.same({ "1", "2", "3" }, rows_of(t, "lines"))
  end)
end)

describe("steps that do not wait for each other", function()
  after_each(job.check_end)

  it("run at the same time", function()
    local t = job.case()
    t:inputs(1)
    t:script(POLL .. [[
      local mine, other = ...
      function run(m)
        io.open(os.getenv "HERE" .. "/" .. mine, "w"):close()
        local until_s = os.time() + 60
        while not io.open(os.getenv "HERE" .. "/" .. other) do
          assert(os.time() < until_s, "the other one does not run")
          ffi.C.poll(nil, 0, 10)
        end
        return m
      end]])
    steps.pipeline(t, [[
      step("left", "score.lua", files "in/*", { arguments = { "l", "r" }, config = { run_invocation_timeout = 120 } }),
      step("right", "score.lua", files "in/*", { arguments = { "r", "l" }, config = { run_invocation_timeout = 120 } }),
    ]])
    t:expect_job(0, { "--max-workers", "2" }, { env = { "HERE=" .. t.dir } })
  end)

  local ALONE = POLL .. [[
    function run(m)
      local lock = os.getenv "HERE" .. "/lock"
      assert(os.execute("mkdir " .. lock .. " 2>/dev/null") == 0, "another worker runs")
      ffi.C.poll(nil, 0, 10)
      os.execute("rmdir " .. lock)
      return m
    end]]

  it("share at most --max-workers workers", function()
    local t = job.case()
    t:inputs(6)
    t:script(ALONE)
    local three = ""
    for i = 1, 3 do
      three = three .. ("step('step-%d', 'score.lua', files 'in/*', { config = { process_count_per_node = 4, "
        .. "run_max_try = 1 } }),\n"):format(i)
    end
    steps.pipeline(t, three)
    local r = t:expect_job(0, { "-j", "1" }, { env = { "HERE=" .. t.dir } })
    for _, s in ipairs(r.result.steps) do assert.equal(0, s.mini_batches.failed) end
  end)

  it("leave a worker to a step that has none", function()
    local t = job.case()
    t:inputs(600)
    t:inputs(1, "one")
    t:script(POLL .. [[
      local function exists() local f = io.open(os.getenv "HERE" .. "/ran") return f and f:close() end
      function run(m)
        if not exists() then ffi.C.poll(nil, 0, 50) end
        return { exists() and "after" or "before" }
      end]])
    t:script("function run(m) return m end", "quick.lua")
    t:script("function run(m) io.open(os.getenv 'HERE' .. '/ran', 'w'):close() return m end", "mark.lua")
    steps.pipeline(t, [[
      step("long", "score.lua", files "in/*", { config = { process_count_per_node = 2 } }),
      step("quick", "quick.lua", files "one/*", { output = output.one }),
      step("mark", "mark.lua", output.one),
    ]])
    t:expect_job(0, { "--max-workers", "2" }, { env = { "HERE=" .. t.dir } })
    assert.equal("after", rows_of(t, "long")[1])
  end)

  it("refuse an invalid number of workers", function()
    local t = job.case()
    steps.pipeline(t, "")
    for _, n in ipairs { "0", "-1", "many" } do
      local r = t:run { "run", "pipeline.lua", "--max-workers", n }
      t:expect(r, 2)
      assert.is_truthy(r.err:find("'--max-workers' is '" .. n .. "'; accepted: an integer from 1 on", 1, true), r.err)
    end
  end)
end)

local function failing_case()
  local t = job.case()
  t:inputs(3)
  t:script(ECHO)
  t:script([[
    function run(m)
      if not io.open(os.getenv "HERE" .. "/good") then error "not yet" end
      return m
    end]], "fails.lua")
  t:script([[
    function init()
      local f = io.open(os.getenv "HERE" .. "/inits", "a")
      f:write "x"
      f:close()
    end
    function run(m) return m end]], "counts.lua")
  steps.pipeline(t, [[
    step("bad", "fails.lua", files "in/*", { output = output.bad, config = { run_max_try = 1 } }),
    step("after-bad", "score.lua", output.bad, { output = output.after }),
    step("last", "score.lua", { output.after, output.good }),
    step("good", "counts.lua", files "in/*", { output = output.good }),
    step("after-good", "counts.lua", output.good),
  ]])
  return t, { env = { "HERE=" .. t.dir } }
end

describe("a step that fails", function()
  after_each(job.check_end)

  it("ends only the steps that depend on it", function()
    local t, o = failing_case()
    local r = t:expect_job(1, nil, o)
    assert.equal("Failed", r.result.status)
    assert.same({ bad = "Failed", ["after-bad"] = "Skipped", last = "Skipped", good = "Completed",
                  ["after-good"] = "Completed" }, steps.statuses(r.result))
    local by_name = steps.by_name(r.result)
    assert.equal("not run: step 'bad' is Failed", by_name["after-bad"].cause)
    assert.equal("not run: step 'after-bad' is Skipped", by_name.last.cause)
    assert.is_truthy(r.result.cause:find("item", 1, true), r.result.cause)
    assert.is_truthy(r.err:find("step 'after-bad' is not run: step 'bad' is Failed", 1, true), r.err)
    assert.is_false(t:has "job/after-bad")
    t:expect(t:run { "verify", t.job_dir }, 0)
    local status = t:run { "status", t.job_dir }
    t:expect(status, 0)
    local words = "\nlast: Skipped\n  cause:        not run: step 'after-bad' is Skipped"
    assert.is_truthy(status.out:find(words, 1, true), status.out)
  end)

  it("is resumed: Completed steps are kept, and the rest runs", function()
    local t, o = failing_case()
    t:expect_job(1, nil, o)
    local inits = t:read "inits"
    t:write("good", "")
    local r = t:expect_job(0, { "--resume" }, o)
    assert.equal("Completed", r.result.status)
    assert.equal(inits, t:read "inits")
    assert.is_truthy(r.err:find("step 'good' is Completed, and is kept", 1, true), r.err)
    assert.equal(3, steps.by_name(r.result).good.items.succeeded)
    assert.equal(3, #rows_of(t, "bad"))
    assert.equal(2, steps.by_name(r.result).last.items.succeeded)
    t:expect(t:run { "verify", t.job_dir }, 0)
    t:expect_job(0, { "--resume", "--verify-input" }, o)
  end)

  it("has all inputs compared with --verify-input, even those of kept steps", function()
    local t, o = failing_case()
    t:expect_job(1, nil, o)
    t:write("good", "")
    local inits = t:read "inits"
    local r = t:expect_job(0, { "--resume", "--verify-input" }, o)
    assert.equal(3, steps.by_name(r.result).good.items.succeeded)
    assert.equal(inits, t:read "inits")
    t:expect(t:run { "verify", t.job_dir }, 0)
  end)
end)

describe("a signal", function()
  after_each(job.check_end)

  it("cancels waiting steps as well as running ones", function()
    local t = job.case()
    t:inputs(2)
    t:script(POLL .. [[
      function run(m)
        io.open(os.getenv "HERE" .. "/begun", "w"):close()
        while not io.open(os.getenv "HERE" .. "/go") do ffi.C.poll(nil, 0, 10) end
        return m
      end]])
    t:script(ECHO, "echo.lua")
    steps.pipeline(t, [[
      step("runs", "score.lua", files "in/*", { output = output.one }),
      step("waits", "echo.lua", output.one),
    ]])
    local o = { env = { "HERE=" .. t.dir } }
    local p = t:start_job(nil, o)
    t:wait_for "begun"
    local status = t:run { "status", t.job_dir }
    assert.is_truthy(status.out:find("\nwaits: Waiting\n  waits for:    'runs'\n", 1, true), status.out)
    assert.is_truthy(t:run({ "status", t.job_dir, "--json" }).out:find('"status":"Waiting"', 1, true))
    p:kill(programs.SIGINT)
    t.last = p
    t:wait_for("run1.err", "cancel")
    t:write("go", "")
    local r = t:finish(p)
    t:expect(r, 130)
    assert.same({ runs = "Canceled", waits = "Canceled" }, steps.statuses(r.result))
    r = t:expect_job(0, { "--resume" }, o)
    assert.same({ runs = "Completed", waits = "Completed" }, steps.statuses(r.result))
  end)
end)

describe("a destination", function()
  after_each(job.check_end)

  local function case(fields, config)
    local t = job.case()
    t:inputs(3)
    t:script [[
      function run(m)
        if io.open(os.getenv "HERE" .. "/bad") then error "bad" end
        if io.open(os.getenv "HERE" .. "/block") then io.open(os.getenv "HERE" .. "/out", "w"):close() end
        return m
      end]]
    t:script(ECHO, "echo.lua")
    steps.pipeline(t, ([[
      step("one", "score.lua", files "in/*", { output = to, config = { run_max_try = 1, %s } }),
      step("two", "echo.lua", to),
    ]]):format(config or ""),
      "local to = tm.OutputFileDatasetConfig { name = 'to', destination = 'out/here' }" .. fields)
    return t, { env = { "HERE=" .. t.dir } }
  end

  it("receives the output", function()
    local t, o = case ""
    t:expect_job(0, nil, o)
    assert.equal(3, #t:sorted_lines "out/here/parallel_run_step.txt")
    assert.equal("link", lfs.symlinkattributes(t:path "job/one/output", "mode"))
    assert.equal(1, #rows_of(t, "two"))
    t:expect(t:run { "verify", t.job_dir }, 0)
    t:expect_job(0, { "--resume" }, o)
  end)

  it("of an upload exists once the step is Completed, not before", function()
    local t, o = case ":as_upload()"
    t:write("bad", "")
    t:expect_job(1, nil, o)
    assert.is_false(t:has "out")
    os.remove(t:path "bad")
    t:expect_job(0, { "--resume" }, o)
    assert.same(rows_of(t, "one"), t:sorted_lines "out/here/parallel_run_step.txt")
    local left = {}
    for name in lfs.dir(t:path "out") do
      if not name:find "^%.%.?$" then left[#left + 1] = name end
    end
    assert.same({ "here" }, left)
    t:expect(t:run { "verify", t.job_dir }, 0)
  end)

  for _, upload in ipairs { "", ":as_upload()" } do
    it("that is not empty is refused" .. (upload == "" and "" or " for an upload"), function()
      local t, o = case(upload)
      t:write("out/here/other.txt", "theirs\n")
      local r = t:run_job(nil, o)
      t:expect(r, 2)
      assert.is_truthy(r.err:find("is not empty, and its contents are not this job's", 1, true), r.err)
      assert.is_false(t:has "job/one")
      assert.equal("theirs\n", t:read "out/here/other.txt")
    end)
  end

  it("that is not empty is replaced by an upload with overwrite", function()
    local t, o = case(":as_upload()", "overwrite = true")
    t:write("out/here/other.txt", "theirs\n")
    t:expect_job(0, nil, o)
    assert.is_false(t:has "out/here/other.txt")
    assert.equal(3, #t:sorted_lines "out/here/parallel_run_step.txt")
  end)

  it("that cannot be written fails the step, and the job can be resumed", function()
    local t, o = case ":as_upload()"
    t:write("block", "")
    local r = t:run_job(nil, o)
    t:expect(r, 3)
    assert.same({ one = "Failed", two = "Skipped" }, steps.statuses(r.result))
    assert.is_true(t:has "job/one/output/parallel_run_step.txt.partial")
    os.remove(t:path "block")
    os.remove(t:path "out")
    t:expect_job(0, { "--resume" }, o)
    assert.equal(3, #t:sorted_lines "out/here/parallel_run_step.txt")
  end)
end)

describe("a pipeline that cannot run", function()
  after_each(job.check_end)

  --- `words` with the place of the line that contains "-- here" (or of `steps`).
  local function refused(text, before, words)
    local t = job.case()
    t:script(ECHO)
    steps.pipeline(t, text, before)
    local r = t:run_job()
    t:expect(r, 2)
    assert.is_truthy(r.err:find "pipeline%.lua:%d+: ", r.err)
    assert.is_truthy(r.err:find(words, 1, true), r.err)
    assert.is_false(t:has "job")
    t:expect(t:run { "graph", "pipeline.lua" }, 2)
  end

  it("is refused for a cycle", function()
    refused([[
      step("one", "score.lua", output.b, { output = output.a }),
      step("two", "score.lua", output.a, { output = output.b }),
    ]], "", "steps wait for each other: step 'one' (")
  end)

  it("is refused for an output of another pipeline", function()
    refused([[ step("one", "score.lua", output.b), ]],
      "tm.Pipeline { name = 'other', steps = { step('writes', 'score.lua', files 'in/*', { output = output.b }) } }",
      "is written by no step of this pipeline")
  end)

  it("is refused for an output that is not declared yet", function()
    refused([[ step("one", "score.lua", { later }), ]], "local later",
      "'inputs' is an empty table; accepted: a FileDataset")
  end)

  it("is refused for two steps that write to the same place", function()
    refused([[
      step("one", "score.lua", files "in/*", { output = output.a }),
      step("two", "score.lua", files "in/*", { output = output.a }),
    ]], "", "is written by step 'one' (")
  end)

  it("is refused for two steps with the same name, and for a reserved name", function()
    refused([[ step("one", "score.lua", files "in/*"), step("one", "score.lua", files "in/*"), ]], "",
      "two steps are named 'one'")
    refused([[ step("script", "score.lua", files "in/*"), ]], "",
      "'name' is 'script', which the job directory has")
  end)
end)

describe("tidemill graph", function()
  after_each(job.check_end)

  local function case()
    local t = job.case()
    t:script(ECHO)
    steps.pipeline(t, [[
      step("first", "score.lua", files "in/*", { output = output.one }),
      step("second", "score.lua", output.one),
    ]])
    return t
  end

  it("shows which step waits for which", function()
    local t = case()
    assert.equal("first\n`-- second\n", t:run({ "graph", "pipeline.lua" }).out)
    assert.is_truthy(t:run({ "graph", "pipeline.lua", "--format", "dot" }).out:find('"first" -> "second";', 1, true))
    assert.is_truthy(t:run({ "graph", "pipeline.lua", "--format=mermaid" }).out:find("s0 --> s1", 1, true))
    assert.is_false(t:has "workspace")
  end)

  it("refuses unknown words", function()
    local t = case()
    for _, words in ipairs { { "graph" }, { "graph", "pipeline.lua", "more" },
                             { "graph", "pipeline.lua", "--format", "png" }, { "graph", "missing.lua" } } do
      t:expect(t:run(words), 2)
    end
  end)

  it("and a dry run handle inputs that do not exist yet", function()
    local t = case()
    t:inputs(2)
    local r = t:run { "run", "pipeline.lua", "--dry-run" }
    t:expect(r, 0)
    local words = "step 'second': begins when 'first' is Completed; its mini-batches are known then"
    assert.is_truthy(r.out:find(words, 1, true), r.out)
  end)
end)
