-- Parameters of a pipeline: where they may appear, where their values come from, and the messages
-- about them.
local job = require "support.job"
local json = require "dkjson"

local SAY_ARGUMENTS = [[
local entry = require "tidemill.entry_script" ()
function run(m)
  local rows = {}
  for i, path in ipairs(m) do rows[i] = { name = name_of(path), of = path, arguments = entry.arguments } end
  return rows
end]]

local BEFORE = [[
local size = tm.PipelineParameter { name = "size", default_value = 2 }
local threshold = tm.PipelineParameter { name = "threshold", default_value = 0.5 }
local fast = tm.PipelineParameter { name = "fast", default_value = false }
local folder = tm.PipelineParameter { name = "folder", default_value = "in" }
]]

local function new_case()
  local t = job.case()
  t:inputs(4)
  t:script(SAY_ARGUMENTS)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
%s
local data = tm.PipelineParameter {
  name = "data", default_value = tm.Dataset.File.from_files(folder):as_named_input("texts"),
}
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
  name = "score", inputs = { data }, arguments = { "--threshold", threshold, "--fast", fast, "--data", data },
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = size },
} } }
]]):format(BEFORE))
  return t
end

local function said(t)
  local names, first = {}, nil
  for _, row in ipairs(t:rows()) do
    local value = json.decode(row)
    names[#names + 1], first = value.name, first or value
  end
  table.sort(names)
  return names, first
end

local function expect_words(t, words, status, wanted)
  local r = t:run(words)
  t:expect(r, status)
  for _, text in ipairs(wanted) do
    assert.is_truthy((r.err .. r.out):find(text, 1, true), ("no %q in:\n%s%s"):format(text, r.err, r.out))
  end
  return r
end

local function dry(t, ...)
  local r = t:run { "run", "pipeline.lua", "--dry-run", "--json", ... }
  t:expect(r, 0)
  return r.result.steps[1]
end

describe("parameters", function()
  after_each(job.check_end)

  it("have their defaults", function()
    local t = new_case()
    t:expect_job(0)
    local names, first = said(t)
    assert.same(job.names(4), names)
    assert.same({ "--threshold", "0.5", "--fast", "false", "--data", t:path "in" }, first.arguments)
    assert.is_truthy(t:log "70_driver_log.txt":find("|parameter size = 2 (default)\n", 1, true))
    assert.is_truthy(t:log "70_driver_log.txt":find("|setting mini_batch_size = 2 (parameter size)\n", 1, true))
    assert.is_truthy(t:log "70_driver_log.txt":find("|argument 2: \"0.5\"\n", 1, true))
  end)

  it("are given on the command line, where the last of a name counts, and in files", function()
    local t = new_case()
    t:inputs(3, "more")
    t:write("set/values.json", '{"size": "3", "threshold": 1, "fast": true, "data": ["../more"]}')
    local r = t:expect_job(0,
      { "--params-file", "set/values.json", "--param", "threshold=7", "--param", "threshold=2.5" })
    assert.truthy(r.err:find("'--param threshold=7' is replaced by '--param threshold=2.5'", 1, true), r.err)
    assert.is_nil(r.err:find("'--param threshold=2.5' is", 1, true), r.err)
    local names, first = said(t)
    assert.same(job.names(3), names)
    assert.equal(t:path "more", first.arguments[6])
    local definition = json.decode(t:read "job/job.json").steps[1].definition
    assert.same({ value = 3, origin = "set/values.json" }, definition.parameters.size)
    assert.same({ value = 2.5, origin = "--param" }, definition.parameters.threshold)
    assert.is_nil(definition.parameters.folder) -- other paths replace it
    assert.equal("texts", definition.inputs[1].name)
  end)

  it("are given by a Lua file, datasets among them", function()
    local t = new_case()
    t:inputs(2, "set/more")
    t:write("set/values.lua", [[
      local tm = require "tidemill"
      return { size = 1 + 2, data = tm.Dataset.File.from_files("more"), fast = true }]])
    t:expect_job(0, { "--params-file", "set/values.lua" })
    local names, first = said(t)
    assert.same(job.names(2), names)
    assert.same({ "--threshold", "0.5", "--fast", "true", "--data", t:path "set/more" }, first.arguments)
  end)

  it("of a submission may be datasets and lists of paths", function()
    local t = new_case()
    t:inputs(2, "more")
    -- As an argument, it would have to be one path.
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub(', "%-%-data", data', "")))
    t:write("s.lua", [[
      local tm = require "tidemill"
      local p = tm.load "pipeline.lua"
      local function submit(data)
        local ok, said = pcall(p.submit, p, { parameters = { data = data, size = 1 } })
        if not ok then return print(said) end
        said:wait()
        print(said:result().status, said:progress().items)
      end
      submit(tm.Dataset.File.from_files "more")
      submit { "in/" .. arg[1], "more" }
      submit(tm.Dataset.Tabular.from_delimited_files "x.csv")
      submit(tm.PipelineParameter { name = "x", default_value = 1 })
      submit(print)
      print(pcall(p.submit, p, { parameters = { [1] = {} } }))]])
    local r = t:run { "lua", "s.lua", job.names(1)[1] }
    t:expect(r, 0)
    local wanted = {
      "^Completed\t2$", "^Completed\t3$",
      "^s.lua:4: parameter 'data' is a TabularDataset; accepted: a path, a list of paths, dataset:NAME, or a dataset",
      "^s.lua:4: parameter 'data' is a PipelineParameter; accepted: ",
      "^s.lua:4: pipeline:submit: 'parameters.data' is a function$",
      "^false\ts.lua:14: pipeline:submit: 'parameters' is a list; accepted: ",
    }
    for line in r.out:gmatch "[^\n]+" do assert.matches(table.remove(wanted, 1), line) end
    assert.equal(0, #wanted)
  end)

  it("of datasets may name registered ones, by name and version", function()
    local t = new_case()
    t:inputs(1, "one")
    t:inputs(2, "two")
    for _, folder in ipairs { "one", "two" } do
      t:expect(t:run { "dataset", "register", "texts", folder, "--create-new-version" }, 0)
    end
    for value, wanted in pairs { ["dataset:texts"] = 2, ["dataset:texts:1"] = 1, ["dataset:texts:latest"] = 2 } do
      t.job_dir, t.step_dir = t:path("job" .. wanted .. #value), t:path("job" .. wanted .. #value .. "/score")
      t:expect_job(0, { "--param", "data=" .. value })
      assert.same(job.names(wanted), (said(t)))
      local input = json.decode(t:read(t.job_dir:match "[^/]+$" .. "/job.json")).steps[1].definition.inputs[1]
      assert.equal("texts", input.registered)
      assert.equal(wanted, input.version)
    end
    expect_words(t, { "run", "pipeline.lua", "--param", "data=dataset:test" }, 2,
      { "parameter 'data': no dataset 'test'" })
    expect_words(t, { "run", "pipeline.lua", "--param", "data=dataset:texts:7" }, 2, { "parameter 'data': ", "7" })
  end)

  it("of datasets keep their name and mount path with any value", function()
    local t = job.case()
    t:inputs(2)
    t:inputs(3, "more")
    t:script [[
local entry = require "tidemill.entry_script" ()
function run(m, context) return { context.dataset_name .. " " .. #m .. " " .. entry.arguments[1] } end]]
    t:write("pipeline.lua", [[
local tm = require "tidemill"
local data = tm.PipelineParameter { name = "data", default_value = tm.Dataset.File.from_files("in") }
local first = data:as_named_input("first"):as_mount("there")
local second = tm.DatasetConsumptionConfig("second", data)
local config = tm.ParallelRunConfig { entry_script = "score.lua" }
return tm.Pipeline { name = "case", steps = {
  tm.ParallelRunStep { name = "score", inputs = first, arguments = { first }, parallel_run_config = config },
  tm.ParallelRunStep { name = "other", inputs = second, arguments = { 1 }, parallel_run_config = config },
} }]])
    t:expect_job(0)
    assert.same({ "first 2 " .. t:path "there" }, t:rows())
    t.job_dir, t.step_dir = t:path "second", t:path "second/score"
    t:expect_job(0, { "--param", "data=more" })
    assert.same({ "first 3 " .. t:path "there" }, t:rows())
    assert.equal("second 3 1\n", t:read "second/other/output/parallel_run_step.txt")
  end)

  it("may be used for thresholds, partition keys and node_count", function()
    local t = job.case()
    for _, name in ipairs { "a/x/1.txt", "a/y/1.txt", "b/x/1.txt" } do t:write("in/" .. name, "") end
    t:script [[
function run(m, context)
  if context.partition_key_value.store == "b" then error "not b" end
  return names_of(m)
end]]
    t:write("pipeline.lua", [[
local tm = require "tidemill"
local function parameter(name, default)
  return tm.PipelineParameter { name = name, default_value = default }
end
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep { name = "score",
  inputs = tm.Dataset.File.from_files("in", { partition_format = "{store}/{kind}/*.txt" }),
  parallel_run_config = tm.ParallelRunConfig {
    entry_script = "score.lua", node_count = parameter("nodes", "1"), run_max_try = 1,
    partition_keys = parameter("keys", '["store"]'), error_threshold = parameter("threshold", 5),
    allowed_failed_count = parameter("count", 5), allowed_failed_percent = parameter("percent", 100),
  } } } }]])
    assert.equal(2, t:expect_job(0).result.steps[1].mini_batches.total)
    t.job_dir, t.step_dir = t:path "second", t:path "second/score"
    assert.equal(3, t:expect_job(0, { "--param", 'keys=["store", "kind"]' }).result.steps[1].mini_batches.total)
    for name, value in pairs { threshold = 0, count = 0, percent = 10 } do
      t.job_dir, t.step_dir = t:path(name), t:path(name .. "/score")
      local r = t:expect_job(1, { "--param", name .. "=" .. value, "--no-reuse" })
      assert.is_truthy(r.err:find(({ threshold = "error_threshold", count = "allowed_failed_count",
        percent = "allowed_failed_percent" })[name], 1, true), r.err)
    end
    expect_words(t, { "run", "pipeline.lua", "--param", "nodes=2" }, 2,
      { "pipeline.lua:7", "'node_count' is 2 with compute_target" })
  end)

  it("accept a size or a duration if the default is a number and every place reads one", function()
    local t = job.case()
    t:write("x.csv", "n\n1\n2\n3\n4\n")
    t:script "function run(m) return m end"
    local function pipeline(arguments)
      t:write("pipeline.lua", ([[
local tm = require "tidemill"
local size = tm.PipelineParameter { name = "size", default_value = 1048576 }
local timeout = tm.PipelineParameter { name = "timeout", default_value = 60 }
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep { name = "score", arguments = { %s },
  inputs = tm.Dataset.Tabular.from_delimited_files "x.csv", parallel_run_config = tm.ParallelRunConfig {
    entry_script = "score.lua", mini_batch_size = size, run_invocation_timeout = timeout } } } }]]):format(arguments))
    end
    pipeline ""
    assert.equal(4, dry(t, "--param", "size=1rows").mini_batches)
    t:write("values.json", '{"size": "2rows", "timeout": "5m"}')
    assert.equal(2, dry(t, "--params-file", "values.json").mini_batches)
    expect_words(t, { "run", "pipeline.lua", "--dry-run", "--param", "timeout=5m" }, 0, { "300  (parameter timeout)" })
    expect_words(t, { "run", "pipeline.lua", "--param", "size=much" }, 2,
      { "parameter 'size': 'mini_batch_size' is \"much\"; accepted: " })
    pipeline "size"
    expect_words(t, { "run", "pipeline.lua", "--param", "size=1rows" }, 2,
      { "parameter 'size' is \"1rows\"; accepted: a number, as its default 1048576" })
  end)

  it("may be used in the filters of a table", function()
    local t = job.case()
    t:write("in/a.csv", "id,n\n1,5\n2,7\n3,9\n")
    t:write("other.csv", "id,n\n8,9\n")
    t:script [[function run(df) return df:column("id"):to_table() end]]
    t:write("pipeline.lua", [[
local tm = require "tidemill"
local least = tm.PipelineParameter { name = "least", default_value = 6 }
local path = tm.PipelineParameter { name = "path", default_value = "in/a.csv" }
local rows = tm.Dataset.Tabular.from_delimited_files(path):filter("n", ">=", least)
local table = tm.PipelineParameter { name = "table", default_value = rows }
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep { name = "score", inputs = table,
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua" } } } }]])
    t:expect_job(0)
    assert.same({ "2", "3" }, t:rows())
    t.job_dir, t.step_dir = t:path "second", t:path "second/score"
    t:expect_job(0, { "--param", "least=9" })
    assert.same({ "3" }, t:rows())
    t.job_dir, t.step_dir = t:path "third", t:path "third/score"
    t:expect_job(0, { "--param", "table=other.csv" })
    assert.same({ "8" }, t:rows())
  end)

  it("have paths relative to the place of their value, which a resumed job keeps", function()
    local t = new_case()
    t:inputs(3, "other/there")
    local r = t:run({ "run", "../pipeline.lua", "--param", "data=there/*.txt", "--job-dir", t.job_dir, "--param",
                      "fast=true" }, { cwd = t:path "other" })
    t:expect(r, 2) -- a pattern cannot be the path of an argument
    assert.is_truthy(r.err:find("'arguments[6]' is a FileDataset of several paths, of a pattern", 1, true), r.err)
    r = t:run({ "run", "../pipeline.lua", "--param", "data=there", "--job-dir", t.job_dir }, { cwd = t:path "other" })
    t:expect(r, 0)
    assert.same(job.names(3), (said(t)))
    t:expect(t:run { "resume", "job" }, 0)
    r = t:run { "replay", "job", "--mini-batch", "0" }
    t:expect(r, 0)
    assert.is_truthy(r.out:find(t:path "other/there", 1, true), r.out)
  end)

  it("shared by all steps are shown once, with their origins, by --dry-run", function()
    local t = job.case()
    t:inputs(2)
    t:script "function run(m) return m end"
    t:write("pipeline.lua", [[
local tm = require "tidemill"
local steps = {}
for i, name in ipairs { "first", "second" } do
  steps[i] = tm.ParallelRunStep { name = name, inputs = tm.Dataset.File.from_files "in/*",
    parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", run_max_try = 5, mini_batch_size = i } }
end
return tm.Pipeline { name = "two", steps = steps }
]])
    local r = t:run { "run", "pipeline.lua", "--dry-run" }
    t:expect(r, 0)
    local all, first, second = r.out:match "^(.-)\nstep 'first'(.-)\nstep 'second'(.*)$"
    assert.is_truthy(all:find "settings of all steps, and where each is from:.*run_max_try +5  %(file%)", r.out)
    assert.is_truthy(all:find "error_threshold +%-1  %(default%)", r.out)
    for i, text in ipairs { first, second } do
      assert.is_nil(text:find("run_max_try", 1, true), r.out)
      assert.is_nil(text:find("(default)", 1, true), r.out)
      assert.is_truthy(text:find("settings of its own, and where each is from:\n    mini_batch_size +" .. i ..
        "  %(file%)"), r.out)
    end
  end)

  it("are shown with their origins by --dry-run", function()
    local t = new_case()
    local step = dry(t, "--param", "size=1")
    assert.equal(4, step.mini_batches)
    assert.same({ value = 1, origin = "parameter", parameter = "size" }, step.settings.mini_batch_size)
    assert.same({ value = 1, origin = "--param" }, step.parameters.size)
    assert.same({ value = 0.5, origin = "default" }, step.parameters.threshold)
    assert.same({ "--threshold", "0.5", "--fast", "false", "--data", t:path "in" }, step.arguments)
    expect_words(t, { "run", "pipeline.lua", "--dry-run", "--param", "size=1" }, 0,
      { "size                     1  (--param)", "mini_batch_size          1  (parameter size)",
        "fast                     false  (default)", "run_max_try              3  (default)" })
  end)

  for _, case in ipairs {
    { { "--param", "size=two" }, "parameter 'size': 'mini_batch_size' is \"two\"; accepted: an integer" },
    { { "--param", "size=0" }, "pipeline.lua:12: ParallelRunConfig: parameter 'size': 'mini_batch_size' is 0" },
    { { "--param", "fast=1" }, "parameter 'fast' is \"1\"; accepted: true or false, as its default false" },
    { { "--param", "sizes=1" }, "the pipeline has no parameter 'sizes'; did you mean 'size'?" },
    { { "--param", "size" }, "'--param size' is not of the form NAME=VALUE" },
    { { "--params-file", "none.json" }, "cannot open file of parameters 'none.json': no such file" },
    { { "--params-file", "bad.json" }, "file of parameters 'bad.json': line 1, column 3" },
    { { "--params-file", "list.json" }, "file of parameters 'list.json' holds no names with values" },
    { { "--params-file", "bad.lua" }, "bad.lua:2: no good" },
    { { "--params-file", "unknown.json" }, "unknown.json: the pipeline has no parameter 'sizes'; did you mean" },
    { { "--params-file", "type.json" }, "type.json: parameter 'size' is a list; accepted: a number, as its default 2" },
    { { "--params-file", "table.lua" }, "table.lua: parameter 'data' is a TabularDataset; accepted: a path, a list of "
      .. "paths, dataset:NAME, or a dataset of the same type, as its default a FileDataset" },
    { { "--params-file", "odd.json" }, "odd.json: parameter 'data': FileDataset: unknown key 'path'" },
  } do
    it("are refused: " .. case[2], function()
      local t = new_case()
      t:write("bad.json", "{size: 1}")
      t:write("list.json", "[1]")
      t:write("bad.lua", "\nerror 'no good'")
      t:write("unknown.json", '{"sizes": 1}')
      t:write("type.json", '{"size": [1]}')
      t:write("odd.json", '{"data": {"kind": "files", "path": "x"}}')
      t:write("table.lua", 'return { data = require "tidemill".Dataset.Tabular.from_delimited_files "x" }')
      local r = t:run_job(case[1])
      t:expect(r, 2)
      assert.is_truthy(r.err:find(case[2], 1, true), r.err)
      assert.is_false(t:has "job")
    end)
  end

  it("are refused in other places, and with two defaults", function()
    local t = job.case()
    t:inputs(1)
    t:script(SAY_ARGUMENTS)
    for fields, words in pairs {
      ["inputs = { tm.PipelineParameter { name = 'x', default_value = 'in' } }"] =
        "'inputs[1]' is a PipelineParameter whose default_value is not a dataset",
      ["inputs = { data }, arguments = { tm.PipelineParameter { name = 'size', default_value = 3 }, size }"] =
        "PipelineParameter: 'size' has the default 2 here and 3 at",
      ["inputs = { data }, name = size"] = "'name' is a PipelineParameter, which it cannot be",
      ["inputs = { tm.Dataset.File.from_files(size) }"] = "FileDataset: path 1 is not text",
    } do
      t:write("pipeline.lua", ([[
local tm = require "tidemill"
local size = tm.PipelineParameter { name = "size", default_value = 2 }
local data = tm.PipelineParameter { name = "data", default_value = tm.Dataset.File.from_files "in" }
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep { name = "score", %s,
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua" } } } }]]):format(fields))
      local r = t:run { "run", "pipeline.lua", "--dry-run" }
      t:expect(r, 2)
      assert.is_truthy(r.err:find(words, 1, true), r.err)
      assert.is_truthy(r.err:find "pipeline%.lua:%d+: ", r.err)
    end
  end)
end)

describe("run --like", function()
  after_each(job.check_end)

  it("submits a job again with some of its parameters changed", function()
    local t = new_case()
    t:expect_job(0, { "--param", "threshold=4", "--param", "data=in/0002.txt", "--param", "size=1" })
    local r = expect_words(t, { "run", "--like", "job", "--job-dir", "second", "--param", "size=5" }, 0,
      { "note: step 'score': mini_batch_size was 1, and is 5" })
    assert.is_nil(r.err:find("': arguments", 1, true))
    t.step_dir = t:path "second/score"
    local names, first = said(t)
    assert.same({ "0002.txt" }, names)
    assert.equal("4", first.arguments[2])
    local parameters = json.decode(t:read "second/job.json").steps[1].definition.parameters
    assert.same({ value = 4, origin = "job job" }, parameters.threshold)
    assert.same({ value = 5, origin = "--param" }, parameters.size)
    -- and that job again, by its directory, from another folder
    r = t:run({ "run", "--like", t:path "second", "--dry-run", "--json" }, { cwd = "/" })
    t:expect(r, 0)
    assert.equal(5, r.result.steps[1].settings.mini_batch_size.value)
  end)

  it("reports changes of the pipeline, and continues", function()
    local t = new_case()
    t:expect_job(0, { "--param", "threshold=4", "--param", "size=1" })
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub("threshold, \"%-%-fast\", fast", "1, \"--fast\", fast")
      :gsub('entry_script = "score.lua"', '%0, run_max_try = 2')))
    expect_words(t, { "run", "--like", "job", "--dry-run" }, 0,
      { "note: step 'score': run_max_try was 3, and is 2", "note: step 'score': arguments[2] was \"4\", and is \"1\"" })
    expect_words(t, { "run", "--like", "job", "--dry-run", "--param", "threshold=1" }, 2,
      { "the pipeline has no parameter 'threshold'" })
  end)

  it("requires a job that can be submitted again", function()
    local t = new_case()
    expect_words(t, { "run", "--like", "nothing" }, 2, { "--like: ", "'nothing'" })
    expect_words(t, { "run", "pipeline.lua", "--like", "latest", "--resume" }, 2, { "'--like' starts a new job" })
    t:expect(t:run { "map", "score.lua", "in", "--output", "out.txt" }, 0)
    expect_words(t, { "run", "--like", "latest" }, 2, { "was not started from a pipeline file" })
  end)
end)
