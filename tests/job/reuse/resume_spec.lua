-- Resuming a job: what it keeps, what it runs again, what it refuses.
local job = require "support.job"
local programs = require "support.programs"

local RECORD = 64 -- bytes of a journal record
local PARTIAL = "job/score/output/parallel_run_step.txt.partial"

-- Records each run() in a file, and fails for number 5 unless GO is set.
local NOTING = [[
local function note(text)
  local file = io.open(os.getenv "RUNS", "a")
  file:write(text .. "\n")
  file:close()
end
function run(m, context)
  note(name_of(m[1]) .. " " .. context.try)
  if number_of(m[1]) == 5 and not os.getenv "GO" then error "not yet" end
  return names_of(m)
end]]

local function go(t) return { env = { "GO=1", "RUNS=" .. t:path "runs" } } end
local function no_go(t) return { env = { "RUNS=" .. t:path "runs" } } end

local CONFIG = "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1, "

local function new_case(config, step)
  local t = job.case()
  t:inputs(8)
  t:script(NOTING)
  t:pipeline(CONFIG .. (config or "error_threshold = 0"), step)
  t:write("runs", "")
  return t
end

--- The mini-batches that ran since the last call.
local function take_runs(t)
  local lines = t:sorted_lines "runs"
  t:write("runs", "")
  return lines
end

--- A job that Failed because of number 5. The mini-batches before it are committed, and perhaps
--- some after it. A later mini-batch that ran but did not report before the end is not committed,
--- and runs again.
local function failed_case(config, step)
  local t = new_case(config, step)
  t:expect_job(1, nil, no_go(t))
  t:write("runs", "")
  t.kept = t:rows "parallel_run_step.txt.partial"
  return t
end

local expect_patterns = job.expect_patterns

describe("--resume", function()
  after_each(job.check_end)

  it("starts a new job if the directory does not exist, and says so", function()
    local t = new_case()
    expect_patterns(t:expect_job(0, { "--resume" }, go(t)), { "new" })
    assert.same(job.names(8), t:rows())
  end)

  it("starts a new job in an empty directory, and says so", function()
    local t = new_case()
    require "lfs".mkdir(t.job_dir)
    expect_patterns(t:expect_job(0, { "--resume" }, go(t)), { "new" })
    assert.same(job.names(8), t:rows())
  end)

  it("starts a new job if the old one was killed before its definition was complete", function()
    local t = new_case()
    t:write("job/lock", "")
    t:write("job/node.lock", "")
    t:write("job/owner", '{"pid": 1, "host": "gone", "epoch": "00"}')
    t:write("job/script/score/score.lua", "half of i")
    t:write("job/job.json.tmp", '{"version"')
    expect_patterns(t:expect_job(0, { "--resume" }, go(t)), { "a new one starts" })
    assert.same(job.names(8), t:rows())
  end)

  it("runs nothing in a Completed job", function()
    local t = new_case()
    local first = t:expect_job(0, nil, go(t))
    take_runs(t)
    local r = t:expect_job(0, { "--resume" }, go(t))
    assert.same({}, take_runs(t))
    expect_patterns(r, { "Completed" })
    assert.same(first.result, r.result)
    assert.same(first.result, t:result())
    assert.same(job.names(8), t:rows())
  end)

  it("keeps committed mini-batches, and gives failed ones new tries", function()
    local t = failed_case()
    local r = t:expect_job(0, { "--resume" }, go(t))
    assert.same(job.names(8), t:rows())
    assert.is_true(#t.kept >= 4)
    local due = { ["0005.txt 1"] = true }
    for _, name in ipairs(job.names(8)) do due[name .. " 1"] = true end
    for _, name in ipairs(t.kept) do due[name .. " 1"] = nil end
    local runs = {}
    for _, line in ipairs(take_runs(t)) do
      assert.is_nil(runs[line], line .. " was run twice")
      runs[line] = true
    end
    assert.same(due, runs)
    assert.same({ total = 8, succeeded = 8, failed = 0 }, r.result.steps[1].items)
    assert.is_false(t:has "job/score/failed_items.jsonl")
    expect_patterns(r, { "kept" })
  end)

  it("with --keep-script uses the job's own copy, even if the script is broken", function()
    local t = failed_case()
    local good = t:read "score.lua"
    t:write("score.lua", "this is not Lua")
    local r = t:run_job({ "--resume" }, go(t))
    t:expect(r, 2)
    t:write("score.lua", "function run() error 'edited' end")
    r = t:run_job({ "--resume" }, go(t))
    t:expect(r, 2)
    expect_patterns(r, { "step 'score' has changed since the job was started: 'score%.lua' has changed; put it back",
      "or with the job's own copy of the script: %-%-keep%-script" })
    t:write("score.lua", "this is not Lua")
    r = t:expect_job(0, { "--resume", "--keep-script" }, go(t))
    expect_patterns(r, { "the script has changed since the job began; the job uses its own copy" })
    assert.equal(good, t:read "job/script/score/score.lua")
    assert.same(job.names(8), t:rows())
    t:expect(t:run_job({ "--keep-script", "--job-dir", t:path "other" }), 2)
  end)

  it("with --keep-script restores the copy from the workspace, or says that it is lost", function()
    local t = new_case()
    t:write("workspace/.keep", "")
    t:expect_job(1, nil, no_go(t))
    local good = t:read "score.lua"
    t:write("score.lua", "function run() error 'edited' end")
    t:write("job/script/score/score.lua", "function run() error 'edited' end")
    t:expect_job(0, { "--resume", "--keep-script" }, go(t))
    assert.equal(good, t:read "job/script/score/score.lua")
    assert.same(job.names(8), t:rows())
    t = failed_case()
    t:write("score.lua", "function run() error 'edited' end")
    t:write("job/script/score/score.lua", "function run() error 'edited' end")
    local r = t:run_job({ "--resume", "--keep-script" }, go(t))
    t:expect(r, 3)
    expect_patterns(r, { "has changed, and the workspace has not kept it" })
  end)

  it("with --keep-failed leaves failed mini-batches alone", function()
    local t = failed_case()
    t:pipeline(CONFIG .. "error_threshold = 1")
    local r = t:expect_job(0, { "--resume", "--keep-failed" }, go(t))
    assert.is_nil(table.concat(take_runs(t), " "):find "0005.txt")
    assert.same({ total = 8, succeeded = 7, failed = 1 }, r.result.steps[1].items)
    assert.equal(7, #t:rows())
    assert.is_truthy(t:read("job/score/failed_items.jsonl"):find "0005.txt")
  end)

  it("checks a changed error_threshold against a Failed job", function()
    local t = failed_case()
    local r = t:expect_job(1, { "--resume" }, no_go(t))
    assert.equal("Failed", r.result.status)
    t:pipeline(CONFIG .. "error_threshold = 1")
    r = t:expect_job(0, { "--resume" }, no_go(t))
    assert.same({ total = 8, succeeded = 7, failed = 1 }, r.result.steps[1].items)
  end)

  it("does not count tries that ran when the supervisor died", function()
    local t = new_case()
    t:script((NOTING:gsub('error "not yet"', "while true do end")))
    local p = t:start_job(nil, no_go(t))
    t:wait_for("runs", "0005.txt")
    p:kill(programs.SIGKILL)
    p:wait()
    assert.is_false(t:has "job/job_result.json")
    take_runs(t)
    t:expect_job(0, { "--resume" }, go(t))
    assert.is_truthy(table.concat(take_runs(t), " "):find "0005.txt 1")
    assert.same(job.names(8), t:rows())
  end)

  it("ignores an unreadable job_result.json", function()
    local t = failed_case()
    t:write("job/job_result.json", '{"status": "Compl')
    t:expect_job(0, { "--resume" }, go(t))
    assert.same(job.names(8), t:rows())
    assert.equal("Completed", t:result().status)
  end)

  it("continues the numbers of workers, and the logs", function()
    local t = failed_case()
    t:expect_job(0, { "--resume" }, go(t))
    assert.is_true(t:has_log "user/stdout/0/process000.stdout.txt")
    assert.is_true(t:has_log "user/stdout/0/process001.stdout.txt")
    local _, headers = t:log("sys/job_report/processed_mini-batches.csv"):gsub("Mini%-batch Id", "")
    assert.equal(1, headers)
    assert.equal(1, t:statuses().RUN_EXCEPTION)
    assert.equal(8, t:statuses().RUN_DONE)
    assert.is_truthy(t:log("sys/node/0/_main.txt"):find "process000.*process001")
  end)
end)

describe("a resumed job whose definition has changed", function()
  after_each(job.check_end)

  it("continues if results do not depend on the change, and names it", function()
    local t = failed_case()
    t:pipeline [[mini_batch_size = 1, run_max_try = 2, process_count_per_node = 2, error_threshold = 3,
      run_invocation_timeout = 30, logging_level = "DEBUG", environment_variables = { COLOUR = "red" }]]
    local r = t:expect_job(0, { "--resume" }, go(t))
    expect_patterns(r, { "process_count_per_node[^\n]*1[^\n]*2", "run_max_try[^\n]*1[^\n]*2",
                      "error_threshold[^\n]*0[^\n]*3", "run_invocation_timeout[^\n]*60[^\n]*30",
                      "logging_level[^\n]*INFO[^\n]*DEBUG", "environment_variables" })
    assert.is_nil(r.err:find "red")
    assert.same(job.names(8), t:rows())
  end)

  local refused = {
    mini_batch_size = { config = "mini_batch_size = 2, error_threshold = 0",
                        words = { "mini_batch_size[^\n]*1[^\n]*2" } },
    output_action = { config = [[output_action = "summary_only", error_threshold = 0]],
                      words = { "output_action", "append_row.*summary_only" } },
    append_row_file_name = { config = [[append_row_file_name = "other.txt", error_threshold = 0]],
                             words = { "append_row_file_name", "parallel_run_step.txt.*other.txt" } },
    arguments = { step = [[arguments = { "--fast" }]], words = { "arguments", "%-%-fast" } },
    inputs = { step = [[inputs = { tm.Dataset.File.from_files "in/*.txt" }]], words = { "inputs", "in/%*%.txt" } },
  }
  for name, change in pairs(refused) do
    it("is refused if the change is " .. name .. ", and left as it was", function()
      local t = failed_case()
      local record, rows = t:read "job/job.json", t:read "job/score/output/parallel_run_step.txt.partial"
      t:pipeline(CONFIG .. (change.config or "error_threshold = 0"), change.step)
      local r = t:expect_job(2, { "--resume" }, go(t))
      expect_patterns(r, change.words)
      expect_patterns(r, { "%-%-accept%-changes" })
      assert.equal(record, t:read "job/job.json")
      assert.equal(rows, t:read "job/score/output/parallel_run_step.txt.partial")
      assert.same({}, take_runs(t))
      t:pipeline(CONFIG .. "error_threshold = 0")
      t:expect_job(0, { "--resume" }, go(t))
      assert.same(job.names(8), t:rows())
    end)
  end

  it("continues anyway with --accept-changes", function()
    local t = failed_case()
    t:pipeline(CONFIG .. "error_threshold = 0", [[arguments = { "--fast" }]])
    expect_patterns(t:expect_job(0, { "--resume", "--accept-changes" }, go(t)), { "arguments" })
    assert.same(job.names(8), t:rows())
  end)

  it("is refused if the script changed; --accept-changes runs the new one", function()
    local t = failed_case()
    t:script(NOTING .. "\nlocal old = run function run(m, c) old(m, c) return { 'new ' .. name_of(m[1]) } end")
    expect_patterns(t:expect_job(2, { "--resume" }, go(t)), { "script", "%-%-accept%-changes" })
    t:expect_job(0, { "--resume", "--accept-changes" }, go(t))
    local rows = table.concat(t:rows(), " ")
    assert.is_truthy(rows:find "^0001.txt.*new 0005.txt")
    assert.equal(8, #t:rows())
  end)

  it("runs the copy of the script, not the user's edited one", function()
    local t = new_case()
    t:script(NOTING .. "\nfunction init() note 'loaded' end")
    local o = no_go(t)
    t:script((NOTING:gsub('error "not yet"', "while true do end")))
    local p = t:start_job(nil, o)
    t:wait_for("runs", "0005.txt")
    t:script "this is not Lua"
    for _, pid in ipairs(t:processes_of "worker") do programs.kill(pid, programs.SIGKILL) end
    local status = p:wait(20)
    assert.equal(1, status)
    assert.is_nil(t:log("user/error.txt"):find "this is not Lua")
  end)
end)

describe("an input that has changed", function()
  after_each(job.check_end)

  it("is detected by the worker that opens it", function()
    local t = failed_case()
    t:write("in/0005.txt", "longer than it had been")
    t:pipeline(CONFIG .. "error_threshold = 1")
    local r = t:expect_job(0, { "--resume" }, go(t))
    assert.same({ total = 8, succeeded = 7, failed = 1 }, r.result.steps[1].items)
    local said = t:log "user/error.txt"
    assert.is_truthy(said:find "0005.txt" and said:find "changed", said)
  end)

  it("causes a warning if its rows are kept; --verify-input refuses it", function()
    local t = failed_case()
    local before = #t:read "in/0001.txt"
    t:write("in/0001.txt", "longer than it had been")
    t:write("in/0002.txt", "this one, too")
    os.remove(t:path "in/0003.txt") -- processed inputs may disappear
    expect_patterns(t:expect_job(2, { "--resume", "--verify-input" }, go(t)), { "changed" })
    local r = t:expect_job(0, { "--resume" }, go(t))
    expect_patterns(r, {
      ("warning: step 'score': input '[^\n]*in/0001%%.txt' changed since it was listed: size %d %%-> 23, and 1 more; ")
        :format(before) .. "their rows are committed already, and are of the files as they were" })
    assert.same(job.names(8), t:rows())
  end)

  it("causes no warning if nothing has changed", function()
    local t = failed_case()
    assert.is_nil(t:expect_job(0, { "--resume" }, go(t)).err:find("warning", 1, true))
  end)

  it("is found by --verify-input in a Completed job, which stays unchanged", function()
    local t = new_case()
    t:expect_job(0, nil, go(t))
    expect_patterns(t:expect_job(0, { "--resume", "--verify-input" }, go(t)), { "8 mini%-batches have been compared" })
    t:write("runs", "")
    local files = { "job/job.json", "job/job_result.json", "job/score/state/journal", "job/score/state/manifest",
                    "job/score/output/parallel_run_step.txt", "job/score/logs/job_result.txt",
                    "job/score/logs/70_driver_log.txt" }
    local before = {}
    for _, name in ipairs(files) do before[name] = t:read(name) end
    local function expect_untouched(words, file, text)
      local r = t:expect_job(2, { "--resume", "--verify-input" }, go(t))
      expect_patterns(r, { "the input has changed", "Completed, and is left as it is", unpack(words) })
      assert.equal("", r.out)
      assert.is_truthy(r.err:find("\nto start a new job: tidemill run %S*/pipeline%.lua\n$"), r.err)
      for _, name in ipairs(files) do assert.equal(before[name], t:read(name), name) end
      assert.is_false(t:has(PARTIAL))
      assert.same({}, take_runs(t))
      if text then t:write(file, text) else os.remove(t:path(file)) end
    end
    t:write("in/0009.txt", "9\n")
    expect_untouched({ "more than the 8" }, "in/0009.txt")
    os.remove(t:path "in/0008.txt")
    expect_untouched({ "mini%-batch 7 of 8 is no longer there" }, "in/0008.txt", "8\n")
    t:write("in/0003.txt", "longer than it had been")
    expect_untouched({ "0003.txt' has another size" }, "in/0003.txt", "3\n")
    t:pipeline(CONFIG .. "error_threshold = 0", [[arguments = { "--fast" }]])
    expect_patterns(t:expect_job(2, { "--resume", "--verify-input" }, go(t)), { "arguments" })
    for _, name in ipairs(files) do assert.equal(before[name], t:read(name), name) end
    t:expect_job(0, { "--resume" }, go(t))
    assert.same(job.names(8), t:rows())
  end)

  it("is refused by --verify-input with a command for the old list and one for the new", function()
    local t = failed_case()
    t:write("in/0000.txt", "before all others")
    local r = t:expect_job(2, { "--resume", "--verify-input", "--accept-changes" }, go(t))
    local lines = "\nto go on with the list of inputs as it was: tidemill (resume %S*/job %-%-accept%-changes)"
      .. "\nto start a new job: tidemill (run %S*/pipeline%.lua)\n$"
    local resume, new = r.err:match(lines)
    assert.is_truthy(resume, r.err)
    assert.equal(resume, t:run({ "status", t.job_dir }).out:match(lines))
    for command, rows in pairs { [resume] = job.names(8), [new .. " --job-dir " .. t:path "new"] = job.names(9) } do
      local words = {}
      for word in command:gmatch "%S+" do words[#words + 1] = word end
      t:expect(t:run(words, go(t)), 0)
      if rows[9] then assert.equal(9, #t:sorted_lines "new/score/output/parallel_run_step.txt")
      else assert.same(rows, t:rows()) end
    end
  end)

  it("is refused if the listing was incomplete", function()
    local t = failed_case()
    local manifest = t:read "job/score/state/manifest"
    -- without its last bytes the manifest has no end record, so listing continues after it
    t:write("job/score/state/manifest", manifest:sub(1, #manifest - 1))
    t:write("job/score/state/journal", t:read("job/score/state/journal"):sub(1, RECORD))
    t:write("in/0000.txt", "before all others")
    expect_patterns(t:expect_job(2, { "--resume" }, go(t)), { "changed", "0001.txt", "0000.txt",
      "\nto start a new job: tidemill run [^\n]*pipeline.lua\n$" })
  end)
end)
