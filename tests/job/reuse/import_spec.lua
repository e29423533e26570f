-- --resume_from JOB in a step's arguments: a new job continues from the committed work of another
-- job, which does not change.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"

local NOTING = [[
function run(m, context)
  local file = io.open(os.getenv "RUNS", "a")
  file:write(name_of(m[1]) .. "\n")
  file:close()
  if number_of(m[1]) == 5 and not os.getenv "GO" then
    for i = 1, 4 do wait_for_file(os.getenv "FILES" .. ("/%04d.txt"):format(i)) end
    error "not yet"
  end
  take_a_millisecond()
  local made = io.open(context:output_file("files/" .. name_of(m[1])), "w")
  made:write(name_of(m[1]))
  made:close()
  return names_of(m)
end]]
local CONFIG = "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1, error_threshold = 0"

local function env(t, go)
  return { env = { "RUNS=" .. t:path "runs", "FILES=" .. t.step_dir .. "/output/files", go and "GO=1" or "NO=1" } }
end

local expect_words = job.expect_words

--- All files below a folder, with their contents.
local function contents(path, into, below)
  into, below = into or {}, below or ""
  for name in lfs.dir(path) do
    local inner = path .. "/" .. name
    if lfs.symlinkattributes(inner, "mode") == "directory" then
      if name ~= "." and name ~= ".." then contents(inner, into, below .. name .. "/") end
    else
      local file = assert(io.open(inner, "rb"))
      into[below .. name] = file:read "*a"
      file:close()
    end
  end
  return into
end

local function take_runs(t)
  local lines = t:sorted_lines "runs"
  t:write("runs", "")
  return lines
end

local function set_job(t, name) t.job_dir, t.step_dir = t:path(name), t:path(name .. "/score") end

--- A job in `old` that Failed at number 5; the next job, in `new`, takes it over.
local function failed_case(step, files)
  local t = job.case()
  for name, text in pairs(files or {}) do t:write(name, text) end
  t:inputs(8)
  t:script(NOTING)
  t:pipeline(CONFIG, step)
  t:write("runs", "")
  set_job(t, "old")
  t:expect_job(1, nil, env(t))
  t.kept = t:rows "parallel_run_step.txt.partial"
  t:write("runs", "")
  t:pipeline(CONFIG, [[arguments = { "--resume_from", "old" }]])
  set_job(t, "new")
  return t
end

local function rest_of(t)
  local is_kept, rest = {}, {}
  for _, name in ipairs(t.kept) do is_kept[name] = true end
  for _, name in ipairs(job.names(8)) do if not is_kept[name] then rest[#rest + 1] = name end end
  return rest
end

local function expect_whole(t)
  assert.same(job.names(8), t:rows())
  for _, name in ipairs(job.names(8)) do assert.equal(name, t:read(t.step_dir .. "/output/files/" .. name)) end
  t:expect(t:run { "verify", t.job_dir }, 0)
end

describe("--resume_from", function()
  after_each(job.check_end)

  it("keeps the committed mini-batches of the other job, runs the rest, and leaves that job unchanged", function()
    local t = failed_case()
    assert.is_true(#t.kept >= 4)
    local before = contents(t:path "old")
    local r = t:expect_job(0, nil, env(t, true))
    expect_words(r, { "what the job in '" .. t:path "old" .. "' has committed is taken over", #t.kept ..
                      " mini-batches are kept", "1 that failed get fresh tries" })
    assert.same(rest_of(t), take_runs(t))
    assert.same({ total = 8, succeeded = 8, failed = 0 }, r.result.steps[1].items)
    expect_whole(t)
    assert.is_false(t:has "new/resume_from")
    assert.same(before, contents(t:path "old"))
    t:expect_job(0, { "--resume" }, env(t, true))
    assert.same({}, take_runs(t))
  end)

  it("takes over files of further outputs", function()
    local t = failed_case()
    t:script([[
      local more = ...
      function run(m)
        if number_of(m[1]) == 5 and not os.getenv "GO" then error "not yet" end
        local file = io.open(more .. "/" .. name_of(m[1]), "w")
        file:write(number_of(m[1]))
        file:close()
        return names_of(m)
      end]])
    local head = [[
      local outputs = { tm.OutputFileDatasetConfig { name = "rows" }, tm.OutputFileDatasetConfig { name = "more" } }]]
    t:pipeline(CONFIG, "output = outputs, arguments = { outputs[2] }", head)
    set_job(t, "first")
    t:expect_job(1, nil, env(t))
    local kept = contents(t:path "first/score/output.more")
    assert.is_truthy(next(kept))
    t:pipeline(CONFIG, [[output = outputs, arguments = { outputs[2], "--resume_from", "first" }]], head)
    set_job(t, "second")
    t:expect_job(0, nil, env(t, true))
    local all = contents(t:path "second/score/output.more")
    for i = 1, 8 do assert.equal(tostring(i), all[("%04d.txt"):format(i)]) end
    assert.same(kept, contents(t:path "first/score/output.more"))
  end)

  it("takes over a killed job, even in the middle of a row", function()
    local t = failed_case()
    local journal = t:read "old/score/state/journal"
    t:write("old/score/state/journal", journal .. ("x"):rep(40))
    local name = "old/score/output/parallel_run_step.txt.partial"
    t:write(name, t:read(name) .. "torn")
    os.remove(t:path "old/job_result.json")
    local r = t:expect_job(0, nil, env(t, true))
    expect_words(r, { "torn end" })
    expect_whole(t)
    assert.equal(journal .. ("x"):rep(40), t:read "old/score/state/journal")
  end)

  it("takes over a Completed job whole, by name, by 'latest', and from a parameter", function()
    local t = job.case()
    t:inputs(8)
    t:script(NOTING)
    t:write("runs", "")
    t:pipeline(CONFIG)
    local first = t:run({ "run", "pipeline.lua", "--json" }, env(t, true))
    t:expect(first, 0)
    take_runs(t)
    t:pipeline(CONFIG, [[arguments = { "--resume_from", from }]],
               [[local from = tm.PipelineParameter { name = "from", default_value = "latest" }]])
    for i, words in ipairs { {}, { "--param", "from=" .. first.result.job_dir:match "[^/]+$" },
                             { "--param", "from=" .. first.result.job_dir } } do
      set_job(t, "new" .. i)
      t:expect_job(0, words, env(t, true))
      assert.same({}, take_runs(t))
      expect_whole(t)
    end
    local second = t:run({ "run", "pipeline.lua", "--json" }, env(t, true))
    t:expect(second, 0)
    assert.not_equal(first.result.job_dir, second.result.job_dir)
  end)

  it("accepts --keep-failed, which is refused without it", function()
    local t = failed_case()
    t:pipeline("mini_batch_size = 1, run_max_try = 1", [[arguments = { "--resume_from", "old" }]])
    local r = t:expect_job(0, { "--keep-failed" }, env(t, true))
    expect_words(r, { "error_threshold has changed since the job began: 0 -> -1", "1 that failed stay failed" })
    assert.same({ total = 8, succeeded = 7, failed = 1 }, r.result.steps[1].items)
    assert.equal(7 - #t.kept, #take_runs(t))
    t:pipeline(CONFIG)
    set_job(t, "third")
    expect_words(t:expect_job(2, { "--keep-failed" }), { "--keep-failed goes with --resume" })
    assert.is_false(t:has "third")
  end)

  it("refuses what --resume refuses, and continues with --accept-changes", function()
    local t = failed_case()
    t:script(NOTING .. "\n-- another one")
    local r = t:expect_job(2, nil, env(t, true))
    expect_words(r, { "--resume_from old", "'score.lua' has changed", "--accept-changes" })
    assert.is_false(t:has "new/job.json")
    assert.is_false(t:has "new/resume_from")
    t:expect_job(0, { "--accept-changes" }, env(t, true))
    assert.same(rest_of(t), take_runs(t))
    expect_whole(t)
  end)

  it("refuses if a side input has changed since the other job began", function()
    local SIDE = [[side_inputs = { tm.Dataset.File.from_files "words.txt" }, ]]
    local t = failed_case(SIDE, { ["words.txt"] = "" })
    t:pipeline(CONFIG, SIDE .. [[arguments = { "--resume_from", "old" }]])
    t:write("words.txt", "other")
    expect_words(t:expect_job(2, nil, env(t, true)), { "file of side input 1 '", "size 0 -> 5", "--accept-changes" })
    assert.is_false(t:has "new/job.json")
    t:expect_job(0, { "--accept-changes" }, env(t, true))
    assert.same(rest_of(t), take_runs(t))
    expect_whole(t)
  end)

  it("explains that a job is missing, is this one, or lacks the step", function()
    local t = failed_case()
    for given, words in pairs { absent = { "there is no job 'absent'" }, ["in"] = { "contains none (no job.json)" } } do
      t:pipeline(CONFIG, ([[arguments = { "--resume_from", "%s" }]]):format(given))
      expect_words(t:expect_job(2, nil, env(t, true)), words)
    end
    t:pipeline(CONFIG, [[arguments = { "--resume_from" }]])
    expect_words(t:expect_job(2, nil, env(t, true)), { "'--resume_from' in 'arguments' has no value" })
    t:pipeline(CONFIG, [[arguments = { "--resume_from", "old" }]])
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('name = "score"', 'name = "other"')))
    expect_words(t:expect_job(2, nil, env(t, true)), { "has no step 'other'" })
  end)

  it("waits for a running job, then names its process", function()
    local t = job.case()
    t:inputs(8)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      function run(m)
        local until_s = os.clock() + 0.001 -- long enough for the rows before it to be written
        repeat until os.clock() > until_s
        while number_of(m[1]) > 3 and not io.open(os.getenv "GO") do ffi.C.poll(nil, 0, 5) end
        return names_of(m)
      end]]
    t:pipeline(CONFIG)
    set_job(t, "old")
    local o = { env = { "GO=" .. t:path "go" } }
    local p = t:start_job(nil, o)
    t:wait_for("old/score/output/parallel_run_step.txt.partial", "0003.txt")
    t:pipeline(CONFIG, [[arguments = { "--resume_from", "old" }]])
    set_job(t, "new")
    expect_words(t:expect_job(3, nil, o), { "is in use by pid " .. p.pid })
    p:kill(programs.SIGKILL)
    p:wait()
    t:write("go", "")
    t:expect_job(0, nil, o)
    assert.same(job.names(8), t:rows())
    t:wait_for_none() -- nobody waits for the keeper of the killed supervisor
  end)

  it("works with map, relative to the current directory", function()
    local t = job.case()
    t:inputs(8)
    t:script(NOTING)
    t:write("runs", "")
    local words = { "map", "score.lua", "in", "-N", "1", "--run-max-try", "1", "-j", "1", "--error-threshold", "0",
                    "--progress", "none" }
    local function map(...)
      local all = { unpack(words) }
      for _, word in ipairs { ... } do all[#all + 1] = word end
      return all
    end
    set_job(t, "old")
    t:expect(t:run(map("--job-dir", "old"), env(t)), 1)
    t:write("runs", "")
    t:expect(t:run(map("--job-dir", "new", "--", "--resume_from", "old"), env(t, true)), 0)
    assert.equal("0005.txt", take_runs(t)[1])
    set_job(t, "new")
    expect_whole(t)
  end)
end)
