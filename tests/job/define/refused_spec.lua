-- Refusals before the program creates any part of a job: destinations and places of inputs that are
-- taken. `--dry-run` reports the same.
local job = require "support.job"
local steps = require "support.steps"
local lfs = require "lfs"

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text)) end

local function names_in(path)
  local names = {}
  for name in lfs.dir(path) do
    if name ~= "." and name ~= ".." then names[#names + 1] = name end
  end
  return names
end

local function case(step, before)
  local t = job.case()
  t:inputs(3)
  t:write("models/a.bin", "A")
  t:script "function run(m) return names_of(m) end"
  t:pipeline("mini_batch_size = 1", step, before)
  return t
end

local function output(destination, how)
  return ('output = tm.OutputFileDatasetConfig { name = "there", destination = "%s" }%s'):format(destination, how or "")
end

--- Checks the refusal: status 2, the message, the place in the definition. No job is left, in the
--- workspace or elsewhere.
local function refused(t, words, where)
  for _, more in ipairs { {}, { "--job-dir", "elsewhere" }, { "--dry-run" } } do
    local r = t:run { "run", "pipeline.lua", "--progress", "none", unpack(more) }
    t:expect(r, 2)
    for _, part in ipairs(words) do has(r.err, part) end
    assert.is_truthy(r.err:find(where or "pipeline%.lua:%d+: "), r.err)
  end
  assert.is_false(t:has "elsewhere")
  assert.equal("", t:run({ "jobs", "--all", "--json" }).out)
  if t:has "workspace/jobs" then assert.same({}, names_in(t:path "workspace/jobs")) end
end

describe("refused before a job exists", function()
  after_each(job.check_end)

  for _, how in ipairs { "", ":as_upload()" } do
    it("is a destination that is not empty" .. how, function()
      local t = case(output("out", how))
      t:write("out/theirs.txt", "x")
      refused(t, { "step 'score'", t:path "out", "is not empty, and its contents are not this job's" })
      assert.equal("x", t:read "out/theirs.txt")
    end)

    it("is a destination below a file" .. how, function()
      refused(case(output("score.lua/x/y", how)), { "score.lua/x/y' cannot be made", "score.lua' is not a folder" })
    end)

    it("is a destination that is a file" .. how, function()
      refused(case(output("score.lua", how)), { "score.lua' is not a folder" })
    end)
  end

  it("is an existing archive", function()
    local t = case(output("out.zip", ':as_archive "zip"'))
    t:write("out.zip", "x")
    refused(t, { "out.zip' of output 'there' is taken" })
  end)

  it("is a missing dataset among the arguments", function()
    local t = case('arguments = { "--model", tm.Dataset.File.from_files "nowhere" }')
    refused(t, { "ParallelRunStep: 'arguments[2]': there is no file or folder '" .. t:path "nowhere'" })
    refused(case('arguments = { tm.Dataset.File.from_files("models"):take(1) }'),
      { "'arguments[1]' is a FileDataset", "or of a part; accepted: " })
  end)

  it("is a mounted table", function()
    refused(case(nil, 'local rows = tm.Dataset.Tabular.from_delimited_files("in/*"):as_mount "here"'),
      { "dataset:as_mount is for files, of a FileDataset; the rows of a table are read where its files are" })
  end)

  it("is a mount path that is taken or below a file", function()
    local side = 'side_inputs = { tm.Dataset.File.from_files("models"):as_mount "%s" }'
    local t = case(side:format "taken")
    t:write("taken/x", "x")
    refused(t, { "taken' is a folder that is not empty" })
    refused(case(side:format "score.lua/x"), { "score.lua/x' is below something that is not a folder" })
  end)

  for _, how in ipairs { "as_mount", "as_download" } do
    it("is a mount path within an input: " .. how, function()
      local step = 'side_inputs = { tm.Dataset.File.from_files("models"):' .. how .. ' "%s/here" }'
      for _, place in ipairs { "models", "in" } do
        refused(case(step:format(place)), { "where an input of step 'score' is to appear, is within an input" })
      end
    end)
  end

  it("is not a mount path in a folder where a pattern matches other files", function()
    local t = case('side_inputs = { tm.Dataset.File.from_files("models/*.bin"):as_mount "models/here" }')
    t:expect_job(0)
  end)

  it("a job leaves its empty folder as it is", function()
    local t = case('arguments = { "--resume_from", "no-such-job" }')
    lfs.mkdir(t:path "job")
    t:expect_job(2)
    assert.same({}, names_in(t:path "job"))
    t:expect(t:run { "run", "pipeline.lua", "--job-dir", "another" }, 2)
    assert.is_false(t:has "another")
  end)

  it("is the resume of a job, which stays unchanged", function()
    local t = case(output("out", ":as_upload()"))
    t:script 'function run(m) if not io.open("%s") then error "no" end return names_of(m) end'
    t:expect_job(1)
    t:write("out/theirs.txt", "x")
    local before = t:read "job/job_result.json"
    has(t:expect_job(2, { "--resume" }).err, "is not empty")
    assert.equal(before, t:read "job/job_result.json")
  end)
end)

describe("a destination with an earlier result", function()
  after_each(job.check_end)

  it("belongs to a reused step, even for --dry-run; otherwise the message says why it does not", function()
    local t = case(output("out", ":as_upload()"))
    local words = { "run", "pipeline.lua", "--progress", "none", "--json" }
    t:expect(t:run(words), 0)
    t:expect(t:run { "run", "pipeline.lua", "--dry-run" }, 0)
    t:expect(t:run { "run", "pipeline.lua", "--dry-run", "--no-reuse" }, 2)
    local r = t:run(words)
    t:expect(r, 0)
    assert.is_true(r.result.steps[1].reused)
    t:write("in/0004.txt", "4")
    r = t:run(words)
    t:expect(r, 2)
    has(r.err, "the step is not reused: input 'in/0004.txt' is new")
    assert.equal(2, #names_in(t:path "workspace/jobs"))
  end)
end)

describe("the full destination of a step that reads outputs of others", function()
  after_each(job.check_end)

  local WORDS = { "run", "pipeline.lua", "--progress", "none", "--json" }

  --- first -> second -> third, which has a destination; `how` is one of "" and ":as_upload()".
  local function chain(how, first)
    local t = job.case()
    t:inputs(2)
    t:script("function run(m) return names_of(m) end", "first.lua")
    t:script("function run(m) return { (io.open(m[1]):read '*l') } end", "more.lua")
    steps.pipeline(t, ([[
      step("first", "first.lua", files "in/*", { output = output.rows%s }),
      step("second", "more.lua", output.rows, { output = output.more }),
      step("third", "more.lua", output.more, { output = there }),
    ]]):format(first or ""),
      ('local there = tm.OutputFileDatasetConfig { name = "there", destination = "out" }%s'):format(how))
    return t
  end

  --- Before anything is created: the destination is unchanged and there is no new job.
  local function refused_now(t, words, jobs)
    local before = t:read "out/parallel_run_step.txt"
    for _, more in ipairs { {}, { "--dry-run" } } do
      local r = t:run { "run", "pipeline.lua", "--progress", "none", unpack(more) }
      t:expect(r, 2)
      has(r.err, "step 'third': destination '")
      has(r.err, words)
      assert.is_truthy(r.err:find "pipeline%.lua:%d+: ")
    end
    assert.equal(jobs, #names_in(t:path "workspace/jobs"))
    assert.equal(before, t:read "out/parallel_run_step.txt")
  end

  for _, how in ipairs { "", ":as_upload()" } do
    it("is accepted if all steps are reused, and refused at once if an earlier one will run " .. how, function()
      local t = chain(how)
      t:expect(t:run(WORDS), 0)
      t:expect(t:run { "run", "pipeline.lua", "--dry-run" }, 0)
      local r = t:run(WORDS)
      t:expect(r, 0)
      for _, s in ipairs(r.result.steps) do assert.is_true(s.reused, s.name) end
      t:write("in/0001.txt", "changed\n")
      refused_now(t, "(the step is not reused: step 'first', which it depends on, will run: "
        .. "input 'in/0001.txt': size 2 -> 8)", 2)
    end)
  end

  it("is refused at once if an earlier step may not be reused", function()
    local t = chain("", ", allow_reuse = false")
    t:expect(t:run(WORDS), 0)
    refused_now(t, "step 'first', which it depends on, will run: allow_reuse is false)", 1)
  end)

  it("is refused at once if its own definition has changed", function()
    local t = chain ""
    t:expect(t:run(WORDS), 0)
    t:write("more.lua", t:read "more.lua" .. "-- edited")
    refused_now(t, "(the step is not reused: 'more.lua' has changed)", 1)
  end)

  it("is refused in a resume if it holds files of others", function()
    local t = chain ":as_upload()"
    t:write("more.lua", "function run(m) if not io.open '%s' then error 'no' end return { 'x' } end")
    t:expect_job(1)
    t:write("out/theirs.txt", "x")
    has(t:expect_job(2, { "--resume" }).err, "is not empty")
  end)
end)
