-- A refused resume leaves the job as it was: every file, of every step.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local steps = require "support.steps"

local ITEMS = 4

--- Each path below a folder, with its kind, mode and content. Lock files are left out.
local function tree(folder, found, below)
  found, below = found or {}, below or ""
  for name in lfs.dir(folder) do
    local path = folder .. "/" .. name
    if name ~= "." and name ~= ".." and not (below .. name):find "^[node.]*lock$" then
      local a = lfs.symlinkattributes(path)
      local text = a.mode == "link" and a.target or ""
      if a.mode == "file" then
        local file = assert(io.open(path, "rb"))
        text = file:read "*a"
        file:close()
      end
      found[below .. name] = table.concat({ a.mode, a.permissions, text }, " ")
      if a.mode == "directory" then tree(path, found, below .. name .. "/") end
    end
  end
  return found
end

-- The even files fail until GOOD is set.
local FAILS = [[
  function run(m)
    if name_of(m[1]):find "[02468]%." and not os.getenv "GOOD" then error "not yet" end
    return { name_of(m[1]) }
  end]]
local PASSES = "function run(m) return { name_of(m[1]) } end"
local GOOD = { env = { "GOOD=1" } }

-- A job in which the step `last` has failed half way. Names of its rows: those of the inputs.
local function case(text)
  local t = job.case()
  t:inputs(ITEMS)
  t:script(FAILS, "fails.lua")
  t:script(PASSES, "passes.lua")
  steps.pipeline(t, text, "local config = { run_max_try = 1, error_threshold = 0, process_count_per_node = 1 }")
  t:expect_job(1)
  return t
end

local function rows(t, step) return t:sorted_lines("job/" .. step .. "/output/parallel_run_step.txt") end

-- Removes what `name` holds. Refused with `words`, the resume leaves the folder as it was.
local function expect_refused(t, name, words, more)
  local kept = t:read(name)
  t:write(name, "")
  -- Otherwise, on a slow machine, the file counts as edited later, and is read before all else.
  assert(lfs.touch(t:path "job/b/state/journal"))
  local before = tree(t.job_dir)
  local argv = { "--resume" }
  for _, word in ipairs(more or {}) do argv[#argv + 1] = word end
  local r = t:expect_job(3, argv, GOOD)
  assert.is_truthy(r.err:find(words, 1, true), r.err)
  local after = tree(t.job_dir)
  for path, text in pairs(before) do assert.equal(text, after[path], path) end
  for path in pairs(after) do assert.is_truthy(before[path], path) end
  t:write(name, kept)
end

local GONE = "has been removed or emptied"

describe("a refused resume", function()
  after_each(job.check_end)

  local PARALLEL = [[
    step("a", "fails.lua", files "in/*", { config = config }),
    step("b", "fails.lua", files "in/*", { config = config }),
  ]]

  it("keeps the copies of the scripts that the job has, with --accept-changes", function()
    local t = case(PARALLEL)
    t:script(FAILS .. "\n-- edited", "fails.lua")
    expect_refused(t, "job/b/state/manifest", GONE, { "--accept-changes" })
    t:expect_job(0, { "--resume", "--accept-changes" }, GOOD)
    assert.same(job.names(ITEMS), rows(t, "a"))
    assert.same(job.names(ITEMS), rows(t, "b"))
  end)

  it("begins no session of the steps before the one that cannot be resumed", function()
    local t = case(PARALLEL)
    for _, name in ipairs { "manifest", "failures" } do expect_refused(t, "job/b/state/" .. name, GONE) end
    expect_refused(t, "job/b/output/parallel_run_step.txt.partial", GONE)
    t:expect_job(0, { "--resume" }, GOOD)
    assert.same(job.names(ITEMS), rows(t, "a"))
    assert.same(job.names(ITEMS), rows(t, "b"))
  end)

  it("looks also at steps that have to wait for a worker", function()
    local t = case(PARALLEL)
    expect_refused(t, "job/b/state/manifest", GONE, { "--max-workers", "1" })
    t:expect_job(0, { "--resume", "--max-workers", "1" }, GOOD)
    assert.same(job.names(ITEMS), rows(t, "b"))
  end)

  it("keeps the results of Completed steps, with --verify-input", function()
    local t = case [[
      step("a", "passes.lua", files "in/*", { config = config }),
      step("b", "fails.lua", files "in/*", { config = config }),
    ]]
    assert.is_true(t:has "job/a/step_result.json")
    expect_refused(t, "job/b/state/manifest", GONE, { "--verify-input" })
    t:expect_job(0, { "--resume", "--verify-input" }, GOOD)
    assert.same(job.names(ITEMS), rows(t, "b"))
  end)

  it("looks also at steps that have to wait for another step, with --verify-input", function()
    local t = case [[
      step("a", "passes.lua", files "in/*", { config = config, output = { output.rows } }),
      step("b", "fails.lua", { output.rows, files "in/*" }, { config = config }),
    ]]
    expect_refused(t, "job/b/state/manifest", GONE, { "--verify-input" })
    t:expect_job(0, { "--resume", "--verify-input" }, GOOD)
    assert.equal(ITEMS + 1, #rows(t, "b"))
  end)

  it("does not make the output file that is missing", function()
    local t = case(PARALLEL)
    local rows_file = "job/b/output/parallel_run_step.txt.partial"
    local kept = t:read(rows_file)
    assert(os.remove(t:path(rows_file)))
    local before = tree(t.job_dir)
    t:expect_job(3, { "--resume" }, GOOD)
    assert.same(before, tree(t.job_dir))
    t:write(rows_file, kept)
    t:expect_job(0, { "--resume" }, GOOD)
    assert.same(job.names(ITEMS), rows(t, "b"))
  end)

  it("keeps the records of a killed session", function()
    local t = job.case()
    t:inputs(ITEMS)
    t:script([[function run(m)
      if name_of(m[1]) ~= "0001.txt" then while not os.getenv "GOOD" do end end
      return { name_of(m[1]) }
    end]], "waits.lua")
    steps.pipeline(t, [[
      step("a", "waits.lua", files "in/*"),
      step("b", "waits.lua", files "in/*"),
    ]])
    local p = t:start_job()
    for _, name in ipairs { "a", "b" } do
      t:wait_for("job/" .. name .. "/output/parallel_run_step.txt.partial", "0001.txt\n")
    end
    p:kill(programs.SIGKILL)
    p:wait()
    t:wait_for_none()
    assert.is_true(t:has "job/temp_dirs")
    expect_refused(t, "job/b/state/manifest", GONE)
    t:expect_job(0, { "--resume" }, GOOD)
    assert.same(job.names(ITEMS), rows(t, "b"))
  end)

  it("names the newest job of a script whose input is another one", function()
    local t = job.case()
    t:inputs(ITEMS)
    t:write("other/0009.txt", "9")
    t:script "function run(m) error 'no' end"
    t:expect(t:run { "map", "score.lua", "in", "--job-dir", "workspace/jobs/first", "--run-max-try", "1" }, 1)
    t:expect(t:run { "map", "score.lua", "in", "--run-max-try", "1" }, 1)
    local r = t:run { "map", "score.lua", "other", "--run-max-try", "1", "--resume" }
    t:expect(r, 2)
    local newest = "the newest job of 'score' that is not Completed is '" .. t:path "workspace/jobs/score-"
    assert.is_truthy(r.err:find(newest, 1, true), r.err)
    assert.is_truthy(r.err:find("'inputs[1].paths' was \"in\" and is \"other\"; ", 1, true), r.err)
    assert.is_truthy(r.err:find("; to resume another job: --job-dir DIR\n", 1, true), r.err)
  end)
end)
