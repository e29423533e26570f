-- Commands on jobs: resume, status, jobs, and what a run would do.
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"

local CONFIG = "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 2"
local PLAIN = "function run(m) return names_of(m) end"
--- Number 5 fails unless GO is set.
local FAILING = [[
function run(m)
  if number_of(m[1]) == 5 and not os.getenv "GO" then error "not yet" end
  return names_of(m)
end]]

--- Number 5 waits for the file at GATE. The others take a little time: a very fast worker writes
--- several results at a time, and they would wait behind number 5.
local WAITING = [[
function run(m)
  local until_s = os.clock() + 0.002
  while os.clock() < until_s do end
  while number_of(m[1]) == 5 and not io.open(os.getenv "GATE") do end
  return names_of(m)
end]]

local function new_case(script, config, before)
  local t = job.case()
  t:inputs(8)
  t:script(script or PLAIN)
  t:pipeline(config or CONFIG, nil, before)
  return t
end

local expect_words = job.expect_words

--- Runs the program with these arguments; checks that it ends with `status` and says `words` in one
--- of its streams.
local function expect_run(t, status, words, said, o)
  local r = t:run(words, o)
  t:expect(r, status)
  expect_words(r.err .. r.out, said or {})
  return r
end

--- A running job in which number 5 waits; `finish` releases it.
local function start_waiting(t, more)
  local gate = t:path "gate"
  local p = t:start_job(more, { env = { "GATE=" .. gate } })
  programs.wait_until("seven mini-batches", function()
    local r = t:run { "status", t.job_dir, "--json" }
    return r.result and r.result.steps[1].mini_batches.succeeded == 7
  end, 20)
  return p, function()
    t:write("gate", "")
    t:expect(t:finish(p), 0)
  end
end

describe("resume", function()
  after_each(job.check_end)

  it("continues from the record, including its parameters", function()
    local t = new_case(FAILING, CONFIG .. ', error_threshold = 0, description = "d"',
      'local size = tm.PipelineParameter { name = "size", default_value = 1 }')
    t:pipeline("run_max_try = 1, error_threshold = 0, mini_batch_size = size, process_count_per_node = 1", nil,
      'local size = tm.PipelineParameter { name = "size", default_value = 1 }')
    t:expect_job(1, { "--param", "size=2" })
    assert.same({ size = "2" }, json.decode(t:read "job/job.json").params)
    local elsewhere = t:path "elsewhere"
    lfs.mkdir(elsewhere)
    expect_run(t, 0, { "resume", "../job", "--json" }, { '"total":4' }, { cwd = elsewhere, env = { "GO=1" } })
    assert.same(job.names(8), t:rows())
    assert.same({ size = "2" }, json.decode(t:read "job/job.json").params)
  end)

  it("takes a new value of a parameter from the command line", function()
    local t = new_case(FAILING, CONFIG)
    t:pipeline("run_max_try = 1, mini_batch_size = 1, error_threshold = 0, process_count_per_node = workers", nil,
      'local workers = tm.PipelineParameter { name = "workers", default_value = 1 }')
    t:expect_job(1, { "--param", "workers=1" })
    local r = expect_run(t, 0, { "resume", t.job_dir, "--param", "workers=2" }, nil, { env = { "GO=1" } })
    expect_words(r.err, { "process_count_per_node has changed", "1 -> 2" })
    assert.same({ workers = "2" }, json.decode(t:read "job/job.json").params)
  end)

  it("keeps failed mini-batches on request, and refuses a changed definition", function()
    local t = new_case(FAILING)
    t:expect_job(0)
    os.remove(t:path "job/job_result.json")
    expect_run(t, 0, { "resume", t.job_dir, "--keep-failed", "--json" }, { '"failed":1' }, { env = { "GO=1" } })
    os.remove(t:path "job/job_result.json")
    t:script(PLAIN)
    expect_run(t, 2, { "resume", t.job_dir }, { "--accept-changes" })
    expect_run(t, 0, { "resume", t.job_dir, "--accept-changes" })
  end)

  it("names the missing pipeline file, and the command to use instead", function()
    local t = new_case(FAILING, CONFIG .. ", error_threshold = 0")
    t:expect_job(1)
    os.rename(t:path "pipeline.lua", t:path "p.lua")
    local shown = expect_run(t, 0, { "status", t.job_dir }, { "the pipeline file '" .. t:path "pipeline.lua"
      .. "' is not there; if it has moved, to go on: tidemill run PIPELINE.lua --resume --job-dir " .. t.job_dir })
    assert.is_nil(shown.out:find("tidemill resume", 1, true), shown.out)
    expect_run(t, 2, { "resume", t.job_dir }, { "cannot resume job", t.job_dir, "pipeline.lua",
      "tidemill run PIPELINE.lua --resume --job-dir " .. t.job_dir .. " --accept-changes\n" })
    lfs.mkdir(t:path "n")
    for _, name in ipairs { "p.lua", "score.lua" } do os.rename(t:path(name), t:path("n/" .. name)) end
    expect_run(t, 0, { "run", "n/p.lua", "--resume", "--accept-changes", "--job-dir", "job" }, nil, { env = {"GO=1"} })
  end)

  --- A job of `map` whose fifth item fails.
  local function map_failing(more)
    local t = new_case(FAILING)
    local words = { "map", "score.lua", "in", "-N", "1", "--error-threshold", "0", "--run-max-try", "1",
      "--job-dir", t.job_dir, "--progress", "none", "--output", t:path "rows.txt" }
    for _, word in ipairs(more or {}) do
      words[#words + 1] = word
    end
    t:expect(t:run(words), 1)
    return t
  end

  it("resumes a map job by the command that status prints", function()
    local t = map_failing()
    expect_run(t, 0, { "status", t.job_dir }, { "to go on: tidemill resume " .. t.job_dir })
    local r = expect_run(t, 0, { "resume", t.job_dir, "--json" }, nil, { env = { "GO=1" } })
    assert.equal("Completed", r.result.status)
    expect_run(t, 0, { "resume", t.job_dir }, { "is Completed: nothing is run" })
  end)

  it("resumes a job that a Lua script submitted", function()
    local t = new_case(FAILING, CONFIG .. ", error_threshold = 0")
    local code = 'require "tidemill".load "pipeline.lua":submit { job_dir = %q }:wait()'
    t:expect(t:run { "-e", code:format(t.job_dir) }, 0)
    expect_run(t, 0, { "status", t.job_dir }, { "Failed", "to go on: tidemill resume " .. t.job_dir })
    expect_run(t, 0, { "resume", t.job_dir }, nil, { env = { "GO=1" } })
    assert.same(job.names(8), t:rows())
  end)

  it("is not suggested for a job whose record has no definition", function()
    local t = map_failing { "--environment-variables", "KEY=secret" }
    assert.is_nil(t:read "job/job.json":find("secret", 1, true))
    expect_run(t, 0, { "status", t.job_dir },
      { "\nhelp:    tidemill help troubleshooting\n",
        "to go on: run the command that started the job again, with --resume --job-dir " .. t.job_dir })
    expect_run(t, 2, { "resume", t.job_dir }, { "does not hold its definition", "--resume --job-dir " .. t.job_dir })
  end)

  it("is not suggested for a job whose files are damaged or missing", function()
    local function expect_never(damage, word)
      local t = new_case(FAILING, CONFIG .. ", error_threshold = 0")
      t:expect_job(1)
      damage(t)
      local r = t:run { "status", t.job_dir }
      expect_words(r.out, { "the job cannot be resumed: ", word, "tidemill help troubleshooting" })
      assert.is_nil(r.out:find("to go on", 1, true))
      t:expect(t:run { "resume", t.job_dir }, 3)
    end
    expect_never(function(t)
      local journal = t:read "job/score/state/journal"
      local other = string.char((journal:byte(11) + 1) % 256)
      t:write("job/score/state/journal", journal:sub(1, 10) .. other .. journal:sub(12))
    end, "journal")
    expect_never(function(t) t:write("job/score/state/manifest", "") end, "manifest")
    expect_never(function(t)
      assert(os.remove(t:path "job/score/output/parallel_run_step.txt.partial"))
    end, "has been removed or emptied")
  end)

  it("is not suggested by a run whose folder was removed", function()
    local t = new_case(WAITING)
    local p = t:start_job(nil, { env = { "GATE=" .. t:path "gate" } })
    programs.wait_until("a worker", function() return #t:processes_of "worker" > 0 end)
    require("support.folder").remove_at_once(t.job_dir)
    t:write("gate", "")
    local r = t:finish(p)
    t:expect(r, 3)
    expect_words(r.err, { "the job cannot be resumed", "start a new job" })
    assert.is_nil(r.err:find("to go on", 1, true))
  end)

  it("reads a repaired input with --accept-changes", function()
    local t = new_case([[
      function run(m)
        for line in io.lines(m[1]) do if line == "bad" then error "bad" end end
        return names_of(m)
      end]], CONFIG .. ", error_threshold = 0")
    local name = "in/" .. job.names(8)[5]
    t:write(name, "bad\n")
    t:expect_job(1)
    t:write(name, "mended\n")
    local r = t:run { "resume", t.job_dir }
    t:expect(r, 1)
    local command = "to go on: tidemill resume " .. t.job_dir .. " --accept-changes"
    expect_words(r.err, { "changed since it was listed", command })
    expect_run(t, 0, { "status", t.job_dir }, { command })
    expect_run(t, 0, { "resume", t.job_dir, "--accept-changes", "--verify-input" })
    assert.same(job.names(8), t:rows())
  end)

  it("needs no script while the job has its own copy", function()
    local t = new_case(FAILING, CONFIG .. ", error_threshold = 0")
    t:expect_job(1)
    os.remove(t:path "score.lua")
    expect_run(t, 2, { "resume", t.job_dir }, { "there is no file" })
    expect_run(t, 2, { "resume", t.job_dir }, { "--keep-script resumes with the job's own copy of the script" })
    expect_run(t, 0, { "resume", t.job_dir, "--keep-script" }, nil, { env = { "GO=1" } })
    assert.same(job.names(8), t:rows())
  end)

  it("refuses a running job at once", function()
    local t = new_case(WAITING)
    local p, finish = start_waiting(t)
    local from = programs.now()
    expect_run(t, 3, { "resume", t.job_dir }, { "is in use by pid " .. p.pid })
    assert.is_true(programs.now() - from < 4)
    expect_run(t, 3, { "run", "pipeline.lua", "--job-dir", t.job_dir },
      { "holds a job that pid " .. p.pid .. " is running" })
    finish()
  end)

  it("reacts to a signal while it waits for another process to release the job", function()
    local t = new_case(WAITING)
    local _, finish = start_waiting(t)
    local function has_lock_open(pid)
      local fds = ("/proc/%d/fd"):format(pid)
      for name in lfs.dir(fds) do
        local to = lfs.symlinkattributes(fds .. "/" .. name, "target")
        if to and to:find("/lock$") then return true end
      end
    end
    local r
    -- It waits for a second, which may pass before we look. It also opens the lock to look at the
    -- job, before it handles signals.
    for _ = 1, 20 do
      local p = t:start { "resume", t.job_dir }
      programs.wait_until("its wait, or its end", function()
        local is_open, has = pcall(has_lock_open, p.pid)
        return (is_open and has) or p:has_ended()
      end)
      if not p:has_ended() then p:kill(programs.SIGINT) end
      r = t:finish(p)
      if r.status and r.status ~= 3 then break end
    end
    t:expect(r, 130)
    expect_words(r.err, { "canceled while another process had the job in '" .. t.job_dir })
    finish()
  end)

  it("reports that an input of a failed mini-batch is missing", function()
    local t = new_case(FAILING, CONFIG .. ", error_threshold = 0")
    t:expect_job(1)
    os.remove(t:path("in/" .. job.names(8)[5]))
    t:expect(t:run { "resume", t.job_dir }, 1)
    expect_run(t, 0, { "status", t.job_dir }, { "the job cannot be resumed: input", "put it back" })
  end)

  it("is the command that a failed run prints", function()
    local t = new_case(FAILING, CONFIG .. ", error_threshold = 0")
    expect_words(t:expect_job(1).err, { "to go on: tidemill resume " .. t.job_dir })
  end)
end)

describe("a second Ctrl-C", function()
  after_each(job.check_end)

  it("counts even right after the first", function()
    local t = new_case [[function run() os.execute 'touch "$BEGUN"; exec sleep 60' return {} end]]
    local p = t:start_job(nil, { env = { "BEGUN=" .. t:path "begun" } })
    programs.wait_until("run() has begun", function() return t:has "begun" end)
    p:kill(programs.SIGINT)
    -- the interval under test: longer than a bounce, shorter than half a second
    programs.pass_ms(100)
    p:kill(programs.SIGINT)
    local r = t:finish(p)
    t:expect(r, 130)
    expect_words(r.err, { "what still runs is killed" })
  end)
end)

describe("logs", function()
  after_each(job.check_end)

  it("escapes the output of a script on a terminal", function()
    local t = new_case 'function run(m) print "a\\27[31mred\\tx" return names_of(m) end'
    t:expect_job(0)
    expect_run(t, 0, { "logs", t.job_dir }, { "a\27[31mred\tx" })
    local r = t:run({ t.job_dir }, { before = { "bash", "-c", 'script -qefc "$0 logs $1" /dev/null' } })
    assert.is_truthy(r.out:find("a\\x1B[31mred\tx", 1, true), r.out .. r.err)
    assert.is_nil(r.out:find("\27[31m", 1, true))
  end)

  it("shows the script's own files in log_dir, but no pipe and no other format", function()
    local t = new_case [[
      local es = require "tidemill.entry_script" ()
      local texts = { [es.agent_name .. "_mine.txt"] = "of a worker", ["all.log"] = "of all", ["x.bin"] = "no" }
      for name, text in pairs(texts) do
        local file = io.open(es.log_dir .. "/" .. name, "w")
        file:write(text, "\n")
        file:close()
      end
      os.execute("mkfifo " .. es.log_dir .. "/pipe.txt 2>/dev/null")
      function run(m) return names_of(m) end]]
    t:expect_job(0)
    local r = expect_run(t, 0, { "logs", t.job_dir }, { "process000_mine.txt| of a worker\n", "all.log| of all\n" })
    assert.is_nil(r.out:find("x.bin", 1, true))
    r = expect_run(t, 0, { "logs", t.job_dir, "--worker", "process000" }, { "process000_mine.txt| of a worker\n" })
    assert.is_nil(r.out:find("all.log", 1, true))
  end)
end)

describe("status of a mini-batch that failed", function()
  after_each(job.check_end)

  it("names the item in the message, or else the first one", function()
    local t = job.case()
    t:inputs(12)
    t:script [[
      function run(m)
        for _, path in ipairs(m) do
          local name = path:match "[^/]+$"
          local why = ({ [2] = "parse " .. path, [6] = "parse it", [11] = "read " .. name })[number_of(path)]
          if why then error("cannot " .. why) end
        end return names_of(m)
      end]]
    t:pipeline "mini_batch_size = 4, run_max_try = 1, process_count_per_node = 1"
    local names, report = job.names(12), t:run_job().err
    for i, item in ipairs { names[2] .. "\n", names[5] .. " and 3 more\n", names[11] .. "\n" } do
      local first = ("first: mini-batch %d (RUN_EXCEPTION) at process000, "):format(i - 1) .. t:path("in/" .. item)
      for _, said in ipairs { report, t:run { "status", t.job_dir }.out } do expect_words(said, { first }) end
    end
  end)
end)

describe("a job", function()
  after_each(job.check_end)

  it("is found by directory, by name and as 'latest'", function()
    local t = new_case()
    t:expect(t:run { "run", "pipeline.lua", "--progress", "none", "--json" }, 0)
    local list = t:run { "jobs", "--json" }
    local name = list.result.job_dir:match "[^/]+$"
    for _, given in ipairs { "latest", name, list.result.job_dir } do
      local r = expect_run(t, 0, { "status", given, "--json" })
      assert.equal(list.result.job_dir, r.result.job_dir)
    end
    expect_run(t, 2, { "status", name .. "x" }, { "did you mean '" .. name .. "'?" })
  end)

  it("that does not exist is refused, with the places searched", function()
    local t = new_case()
    for _, command in ipairs { "status", "verify", "resume" } do
      expect_run(t, 2, { command, "nope" }, { "there is no job 'nope'", t.dir .. "/nope" })
      expect_run(t, 2, { command }, { "there is no job yet" })
      expect_run(t, 2, { command, "a", "b" }, { "one job at a time" })
      expect_run(t, 2, { command, "in" }, { "contains none (no job.json)" })
    end
    expect_run(t, 2, { "jobs" }, { "there is no workspace", "TIDEMILL_WORKSPACE" })
  end)

  it("defaults to the latest", function()
    local t = new_case()
    for _ = 1, 2 do t:expect(t:run { "run", "pipeline.lua", "--progress", "none" }, 0) end
    local latest = expect_run(t, 0, { "status", "latest", "--json" }).result.job_dir
    assert.equal(latest, expect_run(t, 0, { "status", "--json" }).result.job_dir)
    expect_run(t, 0, { "verify" }, { latest })
    expect_run(t, 0, { "resume" }, nil)
    expect_run(t, 0, { "replay", "--mini-batch", "0" }, nil)
    expect_run(t, 0, { "logs" }, nil)
  end)

  it("that is damaged or of another version is refused with advice", function()
    local t = new_case()
    t:expect_job(0)
    local good = t:read "job/job.json"
    for _, command in ipairs { "status", "verify", "resume" } do
      t:write("job/job.json", good:sub(1, 100))
      expect_run(t, 3, { command, "job" }, {
        "job/job.json' is damaged", "; restore it, or start a new job; to remove this one: rm -r " })
      t:write("job/job.json", (good:gsub('"version": 1', '"version": 7')))
      expect_run(t, 2, { command, "job" }, { "version 7" })
    end
  end)
end)

describe("status", function()
  after_each(job.check_end)

  it("of a running job shows its process and progress", function()
    local t = new_case(WAITING)
    local p, finish = start_waiting(t)
    local r = expect_run(t, 0, { "status", t.job_dir, "--json" })
    local step = r.result.steps[1]
    assert.equal("Running", r.result.status)
    assert.equal(p.pid, r.result.pid)
    assert.same({ total = 8, succeeded = 7, failed = 0 }, step.mini_batches)
    assert.is_true(step.is_listed)
    assert.is_true(step.mini_batches_per_second > 0)
    assert.is_truthy(step.output:find("parallel_run_step.txt.partial", 1, true))
    expect_words(expect_run(t, 0, { "status", t.job_dir }).out,
      { "Running: case", "running: pid " .. p.pid, "8, 7 succeeded, 0 failed, 1 to do", "mini-batches/s" })
    finish()
    r = expect_run(t, 0, { "status", t.job_dir, "--json" })
    assert.equal("Completed", r.result.status)
    assert.same({ total = 8, succeeded = 8, failed = 0 }, r.result.steps[1].mini_batches)
  end)

  it("of a killed job shows its progress, and how to resume it", function()
    local t = new_case(WAITING)
    local p = start_waiting(t)
    p:kill(programs.SIGKILL)
    t:finish(p)
    t:wait_for_none()
    local r = expect_run(t, 0, { "status", t.job_dir, "--json" })
    assert.equal("Interrupted", r.result.status)
    assert.same({ total = 8, succeeded = 7, failed = 0 }, r.result.steps[1].mini_batches)
    expect_run(t, 0, { "status", t.job_dir }, { "to go on: tidemill resume " .. t.job_dir, "1 not done" })
    t:write("gate", "")
    expect_run(t, 0, { "resume", t.job_dir }, nil, { env = { "GATE=" .. t:path "gate" } })
    assert.same(job.names(8), t:rows())
  end)

  it("of a failed job shows the reason and the last errors", function()
    local t = new_case(FAILING, CONFIG .. ", error_threshold = 0")
    t:expect_job(1)
    local r = expect_run(t, 0, { "status", t.job_dir, "--json" })
    assert.equal("Failed", r.result.status)
    assert.equal("not yet", r.result.steps[1].errors[1].error)
    expect_run(t, 0, { "status", t.job_dir }, { "Failed: case", "error_threshold", "not yet", "user/error.txt" })
    expect_run(t, 0, { "resume", t.job_dir }, nil, { env = { "GO=1" } })
    r = expect_run(t, 0, { "status", t.job_dir, "--json" })
    assert.equal("Completed", r.result.status)
    assert.same({}, r.result.steps[1].errors) -- the failed items have succeeded since
  end)
end)

describe("a pipeline file run as a script", function()
  it("is refused, with the command that runs it", function()
    local t = new_case()
    expect_run(t, 2, { "pipeline.lua" }, { "run it: tidemill run pipeline.lua" })
    expect_run(t, 2, { "lua", "pipeline.lua" }, { "run it: tidemill run pipeline.lua" })
    t:write("other.lua", "return { 1 }")
    expect_run(t, 0, { "other.lua" }, {})
  end)
end)

describe("jobs", function()
  after_each(job.check_end)

  it("are completed by name in the shell, without executing anything in a name", function()
    local t = new_case()
    t:expect(t:run { "run", "pipeline.lua" }, 0)
    local jobs = t:path "workspace/jobs/"
    t:expect(t:run { "run", "pipeline.lua", "--job-dir", jobs .. "x b" }, 0)
    for name in lfs.dir(jobs) do
      if name:find "^case" then assert(os.rename(jobs .. name, jobs .. "x$(touch${IFS}ran)`touch${IFS}ran`")) end
    end
    t:write("bash", t:run({ "help", "--completion", "bash" }).out)
    local path = os.getenv("TIDEMILL"):match "^(.*)/[^/]*$"
    local file = assert(io.popen(([[cd '%s' && TIDEMILL_WORKSPACE='%s' PATH='%s':"$PATH" bash -c '
      . ./bash
      COMP_WORDS=(tidemill status x) COMP_CWORD=2
      _tidemill
      printf "%%s\n" "${COMPREPLY[@]}"
      COMP_WORDS=(tidemill status lat) COMPREPLY=()
      _tidemill
      printf "%%s\n" "${COMPREPLY[@]}"
      COMP_WORDS=(tidemill run --like lat) COMP_CWORD=3 COMPREPLY=()
      _tidemill
      printf "like %%s\n" "${COMPREPLY[@]}"
      mkdir .hidden shown; COMP_WORDS=(tidemill status "") COMP_CWORD=2 COMPREPLY=()
      _tidemill
      printf "%%s\n" "${COMPREPLY[@]}" | grep -E "hidden|shown"
      COMP_WORDS=(tidemill status .h) COMPREPLY=()
      _tidemill
      printf "%%s\n" "${COMPREPLY[@]}"']]):format(t.dir, t:path "workspace", path)))
    local text = file:read "*a"
    file:close()
    assert.equal("x$(touch${IFS}ran)`touch${IFS}ran`\nlatest\nlike latest\nshown\n.hidden\n", text)
    assert.is_false(t:has "ran")
  end)

  it("lists the jobs of the workspace, newest first, with whatever is readable", function()
    local t = new_case()
    for _ = 1, 2 do t:expect(t:run { "run", "pipeline.lua", "--no-reuse", "--progress", "none" }, 0) end
    local r = expect_run(t, 0, { "jobs" }, { "name", "Completed", "8 of 8 mini-batches" })
    local first = r.out:match "\n(%S+)"
    assert.is_nil(expect_run(t, 0, { "jobs", "--json" }).out:find('"pid":null', 1, true))
    assert.equal(first, expect_run(t, 0, { "status", "latest", "--json" }).result.job_dir:match "[^/]+$")
    local dir = "workspace/jobs/" .. first
    local record = t:read(dir .. "/job.json")
    -- of a finished job, whose result would be enough
    t:write(dir .. "/job.json", record:sub(1, #record - 20))
    expect_run(t, 3, { "jobs" }, { "job.json' is damaged" })
    t:write(dir .. "/job.json", record)
    t:write(dir .. "/job_result.json", "{")
    r = expect_run(t, 3, { "jobs" }, { "job_result.json' is damaged" })
    assert.equal(2, select(2, r.out:gsub("\n", "")))
    assert(os.remove(t:path(dir .. "/job_result.json"))) -- only the definition is left
    expect_run(t, 0, { "jobs" }, { "Interrupted", "1 job was interrupted; to resume it: tidemill resume " .. first })
    local manifest = t:read(dir .. "/score/state/manifest")
    t:write(dir .. "/score/state/manifest", "")
    r = expect_run(t, 0, { "jobs" }, { "interrupted, and cannot be resumed: " .. first .. "; 'tidemill status JOB'" })
    assert.is_nil(r.err:find("to resume it", 1, true), r.err)
    t:write(dir .. "/score/state/manifest", manifest)
    t:write(dir .. "/job.json", "{")
    r = expect_run(t, 3, { "jobs" }, { "job.json' is damaged" })
    assert.equal(2, select(2, r.out:gsub("\n", "")))
  end)
end)

describe("a finished job whose handle is still open", function()
  after_each(job.check_end)

  it("is not listed as running", function()
    local t = new_case()
    t:write("submit.lua", [[
      local job = require "tidemill".load("pipeline.lua"):submit()
      assert(job:wait() == "Completed")
      assert(os.execute(arg[1] .. " status latest && " .. arg[1] .. " jobs") == 0)
      assert(job:status() == "Completed") -- the job is open until here]])
    local r = t:run { "lua", "submit.lua", job.program }
    t:expect(r, 0)
    assert.truthy(r.out:find("Completed: case", 1, true), r.out)
    assert.is_nil(r.out:find("Running", 1, true), r.out)
  end)
end)

describe("run --dry-run", function()
  after_each(job.check_end)

  it("prints the plan, and creates nothing", function()
    local t = new_case(PLAIN, nil, 'local size = tm.PipelineParameter { name = "size", default_value = 1 }')
    t:pipeline("mini_batch_size = size", nil, 'local size = tm.PipelineParameter { name = "size", default_value = 1 }')
    local r = expect_run(t, 0, { "run", "pipeline.lua", "--dry-run", "--json", "--param", "size=3" })
    local step = r.result.steps[1]
    assert.equal(3, step.mini_batches)
    assert.equal(8, step.items)
    assert.equal(t:path "in/0001.txt", step.first.from)
    assert.equal(t:path "in/0003.txt", step.first.to)
    assert.equal(t:path "in/0007.txt", step.last.from)
    assert.same({ value = 3, origin = "parameter", parameter = "size" }, step.settings.mini_batch_size)
    assert.same({ value = 3, origin = "default" }, step.settings.run_max_try)
    expect_run(t, 0, { "run", "pipeline.lua", "--dry-run" }, { "8 mini-batches, 8 items", "(default)", "nothing" })
    assert.is_false(t:has "workspace")
    assert.is_false(t:has "job")
    assert.is_false(t:has ".tidemill")
  end)

  it("refuses everything that a run would refuse", function()
    local t = new_case "function run( end"
    expect_run(t, 2, { "run", "pipeline.lua", "--dry-run" }, { "score.lua:2" })
    t:script(PLAIN)
    expect_run(t, 2, { "run", "pipeline.lua", "--dry-run", "--resume" }, { "does not go with --resume" })
    for i = 1, 8 do os.remove(t:path(("in/%04d.txt"):format(i))) end
    expect_run(t, 1, { "run", "pipeline.lua", "--dry-run" }, { "no input: nothing matches 'in/*'" })
  end)
end)

describe("run", function()
  after_each(job.check_end)

  it("says where a setting belongs that is not an option", function()
    local t = new_case()
    for _, word in ipairs { "--mini-batch-size", "--mini_batch_size=5", "-N" } do
      expect_run(t, 2, { "run", "pipeline.lua", word, "5" }, { "unknown option '" .. word:match "[^=]+",
        "mini_batch_size = tidemill.PipelineParameter", "--param mini_batch_size=VALUE" })
    end
  end)
end)

describe("a file in place of a command", function()
  after_each(job.check_end)

  it("is run as Lua; pipelines and entry scripts are refused with the right command", function()
    local t = new_case()
    expect_run(t, 2, { "pipeline.lua" }, { "returns a pipeline", "tidemill run pipeline.lua" })
    expect_run(t, 0, { "score.lua" }, { "'score.lua' has been run as plain Lua", "tidemill map score.lua INPUT..." })
    t:write("plain.lua", "local function run(x) return x end\nprint(run(7))")
    local r = t:run { "plain.lua" }
    t:expect(r, 0)
    assert.same({ "7\n", "" }, { r.out, r.err })
  end)

  it("in Python is recognised and refused", function()
    local t = new_case()
    t:write("score.py", "import os\n")
    expect_run(t, 2, { "score.py" }, { "cannot run 'score.py': it is Python" })
    expect_run(t, 2, { "absent.py" }, { "unknown command 'absent.py'" })
  end)
end)
