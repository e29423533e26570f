-- Side inputs, and inputs with a place of their own: links, copies, and what a script learns about
-- them.
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"

local READ_SIDE = [[
local entry = require "tidemill.entry_script" ()
local fs = require "tidemill.fs"
function run(m)
  local rows = {}
  for i, path in ipairs(m) do
    rows[i] = { name = name_of(path), of = path, text = fs.read(path), arguments = entry.arguments, found = {} }
    for k, argument in ipairs(entry.arguments) do
      rows[i].found[k] = fs.stat(argument).type == "directory" and fs.list(argument) or fs.read(argument)
    end
  end
  return rows
end]]

local function new_case(step, before)
  local t = job.case()
  t:inputs(3)
  t:write("models/a.bin", "A")
  t:write("models/deep/b.bin", "B")
  t:script(READ_SIDE)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
local files = tm.Dataset.File.from_files
%s
local config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 2 }
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
  name = "score", parallel_run_config = config, %s,
} } }
]]):format(before or "", step))
  return t
end

local function first_row(t)
  for _, row in ipairs(t:rows()) do
    local value = json.decode(row)
    if value.name == "0001.txt" then return value end
  end
end

local function link_of(path) return lfs.symlinkattributes(path, "target") end

local function refused(t, words, status)
  local r = t:expect_job(status or 2)
  assert.is_truthy(r.err:find(words, 1, true), r.err)
end

describe("side inputs", function()
  after_each(job.check_end)

  it("stay in place, as paths among the arguments", function()
    local t = new_case('inputs = files "in", side_inputs = { model }, arguments = { model, one }',
      'local model, one = files "models", files "models/a.bin"')
    t:expect_job(0)
    local row = first_row(t)
    assert.same({ t:path "models", t:path "models/a.bin" }, row.arguments)
    assert.same({ "a.bin", "deep" }, row.found[1])
    assert.equal("A", row.found[2])
    assert.is_truthy(t:log "70_driver_log.txt":find("|side input 1: {\"kind\":\"files\"", 1, true))
  end)

  it("can be mounted: links at a given path while the step runs", function()
    local t = new_case('inputs = files "in", side_inputs = { model }, arguments = { model }',
      'local model = files("models/**/*.bin"):as_named_input("model"):as_mount("mnt/model")')
    lfs.mkdir(t:path "mnt")
    lfs.mkdir(t:path "mnt/model") -- an empty folder counts as missing
    t:expect_job(0)
    local row = first_row(t)
    assert.same({ t:path "mnt/model" }, row.arguments)
    assert.same({ "a.bin", "deep" }, row.found[1])
    assert.is_nil(link_of(t:path "mnt/model"))
    assert.equal(t:path "models/a.bin", link_of(t:path "job/score/inputs/model/a.bin"))
    local r = t:run { "replay", "job", "--mini-batch", "0" } -- it exists while replay runs
    t:expect(r, 0)
    assert.is_truthy(r.out:find('"a.bin"', 1, true), r.out)
    assert.is_nil(link_of(t:path "mnt/model"))
  end)

  it("can be downloaded: copies that do not change", function()
    local t = new_case('inputs = files "in", side_inputs = { model }, arguments = { model }',
      'local model = files("models"):as_named_input("model"):as_download()')
    t:expect_job(0)
    assert.same({ t:path "job/score/inputs/model" }, first_row(t).arguments)
    assert.equal("B", t:read "job/score/inputs/model/deep/b.bin")
    assert.is_nil(link_of(t:path "job/score/inputs/model/deep/b.bin"))
  end)

  it("may be the file of a table; a different list counts as a change", function()
    local t = new_case('inputs = files "in", side_inputs = { files "models" }, arguments = { lookup }',
      'local lookup = tm.Dataset.Tabular.from_delimited_files "models/a.bin"')
    t:expect_job(0)
    assert.same({ t:path "models/a.bin" }, first_row(t).arguments)
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub('files "models"', 'files "models/deep"')))
    os.remove(t:path "job/job_result.json")
    local r = t:expect_job(2, { "--resume" })
    assert.is_truthy(r.err:find("'side_inputs[1].paths' was", 1, true), r.err)
  end)

  it("are there for a job over failed items too", function()
    local t = new_case('inputs = files("in"):as_mount "mnt", side_inputs = model, arguments = { model }',
      'local model = files("models/*"):as_mount "model"')
    t:script((READ_SIDE:gsub("local rows = {}", 'if not fs.exists "' .. t:path "fine" .. '" then error "no" end %0')))
    t:expect_job(1)
    t:write("fine", "")
    t.step_dir = t:path "second/score"
    t:expect(t:run { "run", "pipeline.lua", "--only-failed", "job", "--job-dir", "second" }, 0)
    local row = first_row(t)
    assert.same({ t:path "model" }, row.arguments)
    assert.same({ "a.bin", "deep" }, row.found[1])
    assert.is_nil(link_of(t:path "model"))
  end)

  it("may be the output of another step", function()
    local t = new_case('inputs = files "in", side_inputs = { made, copied }, arguments = { made, copied }', [[
      local made = tm.OutputFileDatasetConfig { name = "made" }
      local copied = made:as_input "copied":as_download "mnt"
      local maker = tm.ParallelRunStep { name = "maker", inputs = files "models", output = made,
        parallel_run_config = tm.ParallelRunConfig { entry_script = "maker.lua" } }]])
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub("steps = {", "steps = { maker,")))
    t:script("function run(m) return names_of(m) end", "maker.lua")
    t:expect_job(0)
    local row = first_row(t)
    assert.same({ t:path "job/maker/output", t:path "mnt" }, row.arguments)
    assert.same({ "parallel_run_step.txt" }, row.found[2])
    local r = t:run { "graph", "pipeline.lua" }
    t:expect(r, 0)
    assert.is_truthy(r.out:find("maker\n`-- score", 1, true), r.out)
  end)

  for _, case in ipairs {
    { 'side_inputs = { files "none/x" }',
      "pipeline.lua:5: ParallelRunStep: 'side_inputs[1]': %s/pipeline.lua:6: there is no file or folder '%s/none/x'" },
    { 'side_inputs = { tm.Dataset.Tabular.from_delimited_files "models" }',
      "'side_inputs[1]' is a TabularDataset; accepted: a FileDataset or OutputFileDatasetConfig" },
    { 'arguments = { files("models"):as_mount "mnt" }',
      "'arguments[1]' is a FileDataset that is in neither 'inputs' nor 'side_inputs'" },
    { 'side_inputs = { files("models"):as_mount(3) }', "'place' is 3; accepted: a path" },
    { 'side_inputs = { files("models"):as_mount "x", files("models"):as_download "x/y" }', "are one place" },
    { 'side_inputs = { files("models"):as_named_input "in" }', "two inputs are named 'in'" },
    { 'side_inputs = { files("models"):as_mount "." }', "'%s' is a folder that is not empty; accepted: a path "
      .. "where nothing is, or an empty folder" },
    { 'side_inputs = { files("models"):as_mount "score.lua" }', "'%s/score.lua' is not a folder" },
    { 'side_inputs = { size }', "'side_inputs[1]' is a PipelineParameter whose default_value is not a dataset" },
    { 'side_inputs = files("models"):as_mount "x", arguments = { "--resume_from", "latest" }, '
      .. 'inputs = files("in"):as_mount "y"', "that has a place of its own in each job" },
  } do
    it("are refused before anything starts: " .. case[1], function()
      local t = new_case((case[1]:find "%f[%a]inputs =" and not case[1]:find "^side_inputs = {" and case[1])
        or 'inputs = files("in"):as_named_input "in", ' .. case[1],
        'local size = tm.PipelineParameter { name = "size", default_value = 2 }')
      refused(t, (case[2]:gsub("%%s", function() return t.dir end)))
      assert.is_false(t:has "job/score/output")
    end)
  end

  it("that turn out empty fail the step, with their line", function()
    local t = new_case('inputs = files "in", side_inputs = { files("models/*.onnx"):as_mount "mnt" }')
    local r = t:expect_job(1)
    assert.is_truthy(r.err:find("models/*.onnx", 1, true), r.err)
    assert.is_truthy(r.err:find "pipeline.lua:%d+: ", r.err)
    assert.is_nil(link_of(t:path "mnt"))
  end)
end)

describe("inputs that are mounted or downloaded", function()
  after_each(job.check_end)

  it("are read there", function()
    local t = new_case [[inputs = files("in"):as_named_input("texts"):as_mount("mnt"),
      arguments = { files("in"):as_named_input("texts"):as_mount("mnt") }]]
    t:expect_job(0)
    local row = first_row(t)
    assert.equal(t:path "job/score/inputs/texts/0001.txt", row.of)
    assert.same({ t:path "mnt" }, row.arguments)
    assert.equal(t:path "in", link_of(t:path "job/score/inputs/texts"))
    t:expect(t:run { "run", "pipeline.lua", "--job-dir", "job", "--resume", "--verify-input" }, 0)
  end)

  it("are copies: later changes of the originals do not matter", function()
    local t = new_case 'inputs = files { "in/000[12].txt", "in/0003.txt" }:as_download()'
    t:script([[
local fs = require "tidemill.fs"
function run(m)
  local rows = {}
  for i, path in ipairs(m) do rows[i] = fs.read(path):gsub("\n", "") .. (name_of(m[1]) == "0003.txt" and "!" or "") end
  if name_of(m[1]) == "0003.txt" and not fs.exists "]] .. t:path "fine" .. [[" then error "not yet" end
  return rows
end]])
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub("mini_batch_size = 2", "%0, error_threshold = 0")))
    t:expect_job(1)
    for i = 1, 3 do t:write(("in/%04d.txt"):format(i), "changed") end
    t:write("fine", "")
    t:expect_job(0, { "--resume" })
    assert.same({ "1", "2", "3!" }, t:rows())
  end)

  it("are the original files when mounted without a path", function()
    local t = new_case 'inputs = files("in"):as_mount(), arguments = { files("in"):as_mount() }'
    t:expect_job(0)
    assert.equal(t:path "in/0001.txt", first_row(t).of)
    assert.same({ t:path "in" }, first_row(t).arguments)
  end)
end)

describe("a step with side inputs that runs again", function()
  after_each(job.check_end)

  local function ran(t, because, more)
    local words = { "run", "pipeline.lua", "--progress", "none", "--json" }
    for _, word in ipairs(more or {}) do words[#words + 1] = word end
    local r = t:run(words)
    t:expect(r, 0)
    assert.is_truthy(r.err:find(because, 1, true), r.err)
    return r.result.steps[1].reused
  end

  it("is reused while these are unchanged, wherever a parameter's value comes from", function()
    local t = new_case([[inputs = files "in", side_inputs = { model, other },
      arguments = { model, other, "x", size }]], [[
      local size = tm.PipelineParameter { name = "size", default_value = 2 }
      local model = files("models/*"):as_named_input "model":as_mount "mnt"
      local other = files "models"]])
    t:script "function run(m) return names_of(m) end"
    assert.is_false(ran(t, "job: "))
    assert.is_true(ran(t, "step 'score' is reused"))
    assert.is_true(ran(t, "step 'score' is reused", { "--param", "size=2" }))
    assert.is_false(ran(t, "arguments[4] \"2\" -> \"3\"", { "--param", "size=3" }))
    t:write("models/a.bin", "another")
    assert.is_false(ran(t, "models/a.bin': size 1 -> 7"))
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub('"models/%*"', '"models/*.bin"')))
    assert.is_false(ran(t, "side_inputs[1].paths \"models/*\" -> \"models/*.bin\""))
  end)

  for _, how in ipairs { 'as_mount "mnt"', "as_download()" } do
    it("is reused with mounted or downloaded inputs while their sources are unchanged: " .. how,
      function()
        local t = new_case('inputs = files("in"):' .. how .. ', arguments = {}')
        t:script "function run(m) return names_of(m) end"
        assert.is_false(ran(t, "job: "))
        assert.is_true(ran(t, "step 'score' is reused: script, settings, arguments and 3 input files"))
        t:write("in/0002.txt", "another")
        assert.is_false(ran(t, "in/0002.txt': size 2 -> 7"))
        assert.is_true(ran(t, "step 'score' is reused"))
        t:write("in/0004.txt", "4")
        assert.is_false(ran(t, "in/0004.txt' is new"))
      end)
  end
end)
