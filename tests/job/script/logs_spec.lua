-- The log folder of a step: which files a job leaves, what they say, and what a resumed job does
-- with them.
local job = require "support.job"
local lfs = require "lfs"

-- Number 5 fails unless GO is set.
local SCRIPT = [[
function run(m)
  for i = 1, #m do if number_of(m[i]) == 5 and not os.getenv "GO" then error "not yet" end end
  return names_of(m)
end]]

local function new_case(config)
  local t = job.case()
  t:inputs(8)
  t:script(SCRIPT)
  t:pipeline("mini_batch_size = 2, run_max_try = 2, process_count_per_node = 1, " .. (config or "error_threshold = 0"))
  return t
end

--- The paths of all files and links below a folder, sorted; replaces times in names by TIME.
local function tree(folder)
  local found = {}
  local function walk(path, name)
    for entry in lfs.dir(path) do
      local full = path .. "/" .. entry
      local mode = lfs.symlinkattributes(full, "mode")
      if entry:find "^%.%.?$" then -- luacheck: ignore 542
      elseif mode == "directory" then
        walk(full, name .. entry .. "/")
      else
        local text = (name .. entry):gsub("%d%d%d%d%d%d%d%d%-%d%d%d%d%d%d", "TIME")
        found[#found + 1] = text .. (mode == "link" and " ->" or "")
      end
    end
  end
  walk(folder, "")
  table.sort(found)
  return found
end

local NODE = "sys/node/" .. job.NODE .. "/"

local function of_worker(name)
  return { NODE .. name .. ".stderr.txt ->", NODE .. name .. ".stdout.txt ->", NODE .. name .. ".txt",
           ("user/stderr/%s/%s.stderr.txt"):format(job.NODE, name),
           ("user/stdout/%s/%s.stdout.txt"):format(job.NODE, name) }
end

local ALWAYS = { "70_driver_log.txt", "job_progress_overview.TIME.txt", "job_progress_overview.txt ->",
                 "job_result.txt", "readme.txt", "sys/job_report/node_summary.csv",
                 "sys/job_report/process_summary.csv",
                 "sys/job_report/processed_mini-batches.csv", "sys/job_report/workers.csv", "sys/master_role.txt",
                 NODE .. "_main.txt", job.NODE ~= "0" and NODE .. "launcher.txt" or nil }

local function all_of(...)
  local names = {}
  for _, list in ipairs { ... } do
    for _, name in ipairs(list) do names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function count_of(text, pattern) return select(2, text:gsub(pattern, "")) end

local expect_patterns = job.expect_patterns

--- The rows of a summary as tables by column.
local function summary(t, name)
  local lines, columns = {}, {}
  for line in t:log("sys/job_report/" .. name):gmatch "[^\n]+" do
    local row, i = {}, 0
    for field in (line .. ","):gmatch "([^,]*)," do
      i = i + 1
      if #lines == 0 then columns[i] = field else row[columns[i]] = field end
    end
    lines[#lines + 1] = row
  end
  return { unpack(lines, 2) }
end

--- The sum of a column of processed_mini-batches.csv, for all workers or for one.
local function sum_of_tries(t, column, worker)
  local sum = 0
  for _, try in ipairs(t:tries()) do
    if not worker or try.Process == worker then sum = sum + tonumber(try[column]) end
  end
  return sum
end

local function expect_sums(t)
  local rows, tries = summary(t, "process_summary.csv"), 0
  for _, row in ipairs(rows) do
    for _, column in ipairs { "Total", "Succeeded", "Failed" } do
      assert.equal(sum_of_tries(t, column, row.Process), tonumber(row[column]))
    end
    local seconds = sum_of_tries(t, "Elapsed Seconds", row.Process)
    assert.is_true(math.abs(seconds - tonumber(row["Elapsed Seconds"])) < 0.001)
    tries = tries + tonumber(row.Tries)
  end
  assert.equal(#t:tries(), tries)
  local nodes = summary(t, "node_summary.csv")
  assert.equal(1, #nodes)
  assert.equal(#rows, tonumber(nodes[1].Processes))
  assert.equal(tries, tonumber(nodes[1].Tries))
  assert.equal(t:statuses().RUN_DONE, tonumber(nodes[1].RUN_DONE))
end

describe("the log folder of a step", function()
  after_each(job.check_end)

  it("has these files after a job without errors", function()
    local t = new_case()
    t:expect_job(0, nil, { env = { "GO=1" } })
    assert.same(all_of(ALWAYS, of_worker "process000"), tree(t.step_dir .. "/logs"))
    expect_sums(t)
    for _, name in ipairs(tree(t.step_dir .. "/logs")) do
      local top = name:match "^[^/ ]+"
      local named = top == "readme.txt" or t:log "readme.txt":find(top:gsub("TIME", "<time>"), 1, true)
      assert.is_truthy(named, name .. " is not in readme.txt")
    end
  end)

  it("counts the bytes of each result, which are those of the output", function()
    local t = new_case()
    t:expect_job(0, nil, { env = { "GO=1" } })
    assert.equal(lfs.attributes(t.step_dir .. "/output/parallel_run_step.txt", "size"), sum_of_tries(t, "Result Bytes"))
    for _, try in ipairs(t:tries()) do assert.equal(job.NODE, try.Node) end
  end)

  it("holds the life of each worker, over all sessions", function()
    local t = new_case("error_threshold = 0")
    t:expect_job(1)
    t:expect_job(0, { "--resume" }, { env = { "GO=1" } })
    local lives, last = {}, ""
    -- each session has a relay of its own
    local nodes = { process000 = job.NODE, process001 = job.NODE == "0" and "0" or "2" }
    for _, row in ipairs(summary(t, "workers.csv")) do
      local life = lives[row.Process] or {}
      lives[row.Process] = life
      life[#life + 1] = row.Event
      assert.matches("^%d+%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d+Z$", row["Utc Time"])
      assert.is_true(row["Utc Time"] >= last)
      last = row["Utc Time"]
      assert.equal(nodes[row.Process], row.Node)
      assert.is_true(tonumber(row.Pid) > 0)
      assert.equal(row.Event == "started", row.Seconds == "")
      assert.equal(row.Event == "ended", row["Max Rss (MB)"] ~= "")
      life.words = row.Detail
      life.cause = row.Cause
      assert.equal(row.Event == "ended", row.Cause ~= "")
      if not row.Detail:find "^clock offset" then assert.equal(row.Event == "ended", row.Detail ~= "") end
    end
    assert.matches("^killed by the supervisor ", lives.process000.words) -- too much had failed
    assert.equal("killed", lives.process000.cause)
    assert.equal("stopped", lives.process001.words)
    assert.equal("stopped", lives.process001.cause)
    for _, name in ipairs { "process000", "process001" } do
      assert.equal("started ready ended", table.concat(lives[name], " "))
    end
  end)

  it("shows what each worker did for each mini-batch", function()
    local t = new_case()
    t:expect_job(0, nil, { env = { "GO=1" } })
    local n = 0
    for line in t:log("sys/node/0/process000.txt"):gmatch "[^\n]+" do
      assert.is_truthy(line:find("^%d+%-%d%d%-%d%d %d%d:%d%d:%d%d,%d%d%d|INFO|%d+|process000|mini%-batch " .. n ..
        ", try 1: RUN_DONE; 2 items, 2 succeeded, 0 failed; began %d+%-%d%d%-%d%d [%d:,]+, %d+%.%d+ s, " ..
        "process %d+%.%d+ s, run%(%) %d+%.%d+ s; node " .. job.NODE .. " at %S+$"), line)
      n = n + 1
    end
    assert.equal(4, n)
  end)

  it("shows what was started, and where each setting came from", function()
    local t = new_case("error_threshold = 0, environment_variables = { COLOUR = 'red' }")
    t:expect_job(0, nil, { env = { "GO=1" } })
    local said = t:log "70_driver_log.txt"
    expect_patterns(said, { "|tidemill %S+ starts a job: pid %d+ on ", "|pipeline 'case': .*/pipeline%.lua\n",
                         "|setting mini_batch_size = 2 %(file%)\n",
                         "|setting run_invocation_timeout = 60 %(default%)\n",
                         "|input 1: .*in/%*", "|step 'score' is Completed\n", "COLOUR" })
    assert.is_nil(said:find "red")
  end)

  it("ends the overview with the result, and where to look first", function()
    local t = new_case()
    t:expect_job(1)
    local said = t:log "job_progress_overview.txt"
    expect_patterns(said, { "^[^\n]*|step 'score' of 'case' starts; job: ", "|4 mini%-batches created, %d processed ",
                         "|score: Failed\n", "|  cause: +%S", "|start with [^\n]*/user/error%.txt: [^\n]*\n$" })
    expect_patterns(t:log "job_result.txt", { "^score: Failed\n  cause: +%S", "\nstart with [^\n]*/user/error%.txt" })
  end)

  it("is appended to by a resumed job", function()
    local t = new_case()
    t:expect_job(1)
    local first = tree(t.step_dir .. "/logs")
    assert.same(all_of(ALWAYS, of_worker "process000", { "user/error.txt", "user/error/0/process000.txt" }), first)
    expect_sums(t)
    local before = {}
    for _, name in ipairs { "70_driver_log.txt", "job_progress_overview.txt", "sys/master_role.txt",
                            "sys/node/0/process000.txt", "sys/job_report/processed_mini-batches.csv" } do
      before[name] = t:log(name)
    end
    t:expect_job(0, { "--resume" }, { env = { "GO=1" } })
    for name, text in pairs(before) do
      assert.equal(text, t:log(name):sub(1, #text), name .. " was not appended to")
    end
    assert.same(all_of(ALWAYS, of_worker "process000", of_worker "process001",
                       { "user/error.txt", "user/error/0/process000.txt" }), tree(t.step_dir .. "/logs"))
    expect_sums(t)
    assert.equal(2, #summary(t, "process_summary.csv"))
    assert.equal("2", summary(t, "node_summary.csv")[1].RUN_EXCEPTION)
    expect_patterns(t:log "job_result.txt", { "^score: Completed\n" })
    expect_patterns(t:log "job_progress_overview.txt",
                 { "|score: Failed\n.*|step 'score' of 'case' continues; .*|score: Completed\n" })
    local started = t:log "70_driver_log.txt"
    assert.equal(2, count_of(started, "|setting run_max_try = "))
    expect_patterns(started, { "starts a job.*resumes a job", "mini%-batches are kept" })
    expect_patterns(t:log "sys/master_role.txt", { "mini%-batches are kept" })
  end)

  it("has system errors in sys/error, and no errors of the script", function()
    local t = new_case()
    t:expect_job(1)
    assert.is_false(t:has_log "sys/error/supervisor.txt")
  end)

  --- The system logs of a job at a level, as one text.
  local function system_logs(level)
    local t = new_case("error_threshold = -1, logging_level = '" .. level .. "'")
    t:expect_job(0)
    local text = ""
    for _, name in ipairs { "sys/master_role.txt", "sys/node/0/_main.txt", "sys/node/0/process000.txt",
                            "job_progress_overview.txt" } do
      text = text .. t:log(name)
    end
    return text, t
  end

  it("has only warnings and errors at level WARNING", function()
    local text, t = system_logs "WARNING"
    assert.equal(0, count_of(text, "|INFO|"))
    assert.equal(0, count_of(text, "|DEBUG|"))
    assert.equal(2, count_of(t:log "sys/node/0/process000.txt", "|ERROR|%d+|process000|mini%-batch 2, try %d"))
    expect_patterns(t:log "job_result.txt", { "^score: Completed\n" }) -- it is not a log
  end)

  it("follows each mini-batch at DEBUG, and counts them at INFO", function()
    local text = system_logs "INFO"
    assert.equal(0, count_of(text, "|DEBUG|"))
    expect_patterns(text, { "|all mini%-batches have been created: 4, with 8 items\n" })
    local t
    text, t = system_logs "DEBUG"
    local master, main = t:log "sys/master_role.txt", t:log "sys/node/0/_main.txt"
    assert.equal(5, count_of(master, "|DEBUG|%d+|supervisor|mini%-batch %d, try %d: handed to process000, "
      .. "2 items of input 'in', first '%S+%.txt'\n"))
    assert.equal(3, count_of(master, "|mini%-batch %d, try 1: RUN_DONE, by process000 in [%d.]+ s: 2 items, "
      .. "2 succeeded, 0 failed\n"))
    assert.equal(1, count_of(master, "|mini%-batch 2, try 1: RUN_EXCEPTION, by process000 in [%d.]+ s: 2 items, "
      .. "0 succeeded, 0 failed, 2 to be tried again\n"))
    assert.equal(1, count_of(master, "|mini%-batch 2, try 2: RUN_EXCEPTION, by process000 in [%d.]+ s: 2 items, "
      .. "0 succeeded, 2 failed\n"))
    assert.equal(5, count_of(t:log "sys/node/0/process000.txt", ": handed out, 2 items of input 'in', first "))
    expect_patterns(main, { "|DEBUG|%d+|keeper|process000: working directory '" })
    expect_patterns(text, { "|DEBUG|%d+|supervisor|mini%-batches: 4 created in all, 0 waiting, 0 at workers, 3 " })
  end)

  it("does not stop a job when it cannot be written; each file is reported once", function()
    local t = new_case()
    t:expect_job(1)
    assert.is_true(os.rename(t.step_dir .. "/logs/sys/job_report", t.step_dir .. "/logs/sys/old"))
    t:write("job/score/logs/sys/job_report", "in the way")
    local r = t:expect_job(0, { "--resume" }, { env = { "GO=1" } })
    assert.same(job.names(8), t:rows())
    assert.equal(1, count_of(r.err, "sys/job_report'[^\n]*the job continues without it"))
    expect_patterns(t:log "job_result.txt", { "^score: Completed\n" })
  end)
end)

-- For each kind of failure: the script, the settings, the step's arguments, the file and what it
-- contains.
local FAILURES = {
  { "an error", "function run() error 'bad thing' end", "error_threshold = 0", "", "user/error.txt", "bad thing" },
  { "a short return", "function run() return {} end", "", "", "user/error.txt", "fewer elements than items" },
  { "context:fail()", "function run(m, c) for i = 1, #m do c:fail(i, 'too dark') end return {} end", "", "",
    "user/error.txt", "too dark" },
  { "a timeout", "function run() while true do end end",
    "error_threshold = 0, run_max_try = 1, run_invocation_timeout = 1", "", "user/error.txt",
    "run_invocation_timeout" },
  { "a dead worker", "function run() os.exit(3) end", "error_threshold = 0, run_max_try = 1", "", "user/error.txt",
    -- LeakSanitizer ends the process with its own status.
    os.getenv "TM_SANITIZE" and "exited with status 1" or "exited with status 3" },
  { "init()", "function init() error 'no model' end function run() end", "", "", "user/error.txt", "no model" },
  { "no input", "function run(m) return m end", "", "",
    "sys/master_role.txt", "no input", is_empty = true },
  { "nothing that ends", "function run(m) while true do end end", "", "'--progress_update_timeout', '1', '--'",
    "sys/node/0/_main.txt", "in run%(%) after [%d.]+ s; mini%-batch 0, try 1" },
  { "nothing that ends, after an error that was mended", [[
    local n = 0
    function run()
      n = n + 1
      while n > 1 do end
      error "once"
    end]], "", "'--progress_update_timeout', '1', '--'", "sys/node/0/_main.txt", "in run%(%) after" },
  { "the system", "function run(m) os.remove(os.getenv 'HERE' .. '/job/score/output/parallel_run_step.txt.partial') "
    .. "return m end", "", "", "sys/error/supervisor.txt", "parallel_run_step.txt.partial" },
}

describe("the last line of job_result.txt", function()
  after_each(job.check_end)

  for _, f in ipairs(FAILURES) do
    it("names the file with the reason: " .. f[1], function()
      local t = job.case()
      t:inputs(f.is_empty and 0 or 1)
      if f.is_empty then t:write("in/table.csv", "n,text\n") end
      t:script(f[2])
      t:pipeline("process_count_per_node = 1, " .. f[3], f[4] ~= "" and "arguments = { " .. f[4] .. " }" or "")
      local from = f.is_empty and "Tabular.from_delimited_files" or "File.from_files"
      t:write("pipeline.lua", (t:read "pipeline.lua":gsub("File%.from_files", from):gsub('"in/%*"', '"in"')))
      local r = t:run_job(nil, { env = { "HERE=" .. t.dir } })
      assert.is_truthy(r.status == 1 or r.status == 3, r.err)
      local file = t:log "job_result.txt":match "\nstart with ([^\n]-): [^\n]*\n$"
      local name = f[5]:gsub("node/0/", job.NODE == "0" and "%0" or "node/*/")
      assert.equal(t.step_dir .. "/logs/" .. name, file)
      expect_patterns(t:log(f[5]), { f[6] })
    end)
  end
end)

describe("progress in a pipe", function()
  after_each(job.check_end)

  it("shows each new error once, and no colour", function()
    local t = new_case("error_threshold = -1")
    local r = t:run({ "run", "pipeline.lua", "--job-dir", t.job_dir, "--progress", "plain" })
    t:expect(r, 0)
    assert.is_nil(r.err:find "\27")
    expect_patterns(r.err, { "\n  score: Completed\n", "errors: +%S+/user/error%.txt\n",
                          "2 times: %S+/score%.lua:3: not yet\n",
                          "first: mini%-batch 2 %(RUN_EXCEPTION%) at process000, %S+/0005%.txt and 1 more\n",
                          "log: %S+/user/error/" .. job.NODE .. "/process000%.txt" })
  end)
end)

describe("tidemill logs", function()
  after_each(job.check_end)

  it("shows no control character of a name, and no line that a name forges", function()
    local t = job.case()
    local line = "2026-01-31 23:59:58,123|ERROR|1|supervisor|forged"
    local name = "a\n" .. line .. "\27[31m.csv"
    t:write("in/" .. name, "id\n1\n2,3\n")
    t:write("more/" .. name, "x")
    t:script [[function run(m) error("cannot use " .. m[1]) end]]
    t:write("rows.lua", "function run(df) return df end")
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      local function step(name, script, inputs)
        return tm.ParallelRunStep { name = name, inputs = inputs, parallel_run_config = tm.ParallelRunConfig {
          entry_script = script, error_threshold = -1, run_max_try = 1 } }
      end
      return tm.Pipeline { name = "case", steps = { step("score", "score.lua", tm.Dataset.File.from_files "more"),
        step("rows", "rows.lua", tm.Dataset.Tabular.from_delimited_files("in", { on_ragged = "error" })) } }
    ]])
    t:run_job()
    for _, words in ipairs { {}, { "--errors" }, { "--mini-batch", "0" }, { "--worker", "process000" } } do
      local text = t:run({ "logs", t.job_dir, unpack(words) }).out
      assert.is_truthy(text:find("RUN_EXCEPTION: ", 1, true), text)
      assert.is_truthy(text:find("LOAD_EXCEPTION: ", 1, true), text)
      assert.is_nil(text:find("\27", 1, true), text)
      for shown in text:gmatch "[^\n]+" do
        shown = shown:gsub("^%[%l+%] ", ""):gsub("^  ", "") -- the step, or an indent
        assert.are_not.equal(line, shown:sub(1, #line))
      end
    end
  end)
end)
