-- The failed items of one job are the input of another: --only-failed,
-- Dataset.File.from_failed_items.
local archives = require "support.archives"
local job = require "support.job"
local json = require "dkjson"
local programs = require "support.programs"

local SCRIPT = [[
local fs = require "tidemill.fs"
function run(m, context)
  local rows = {}
  for i, path in ipairs(m) do
    if number_of(path) %% %d == 0 and not fs.exists "%s/mended" then
      context:fail(i, "not yet")
    else
      rows[#rows + 1] = context.dataset_name .. " " .. name_of(path)
    end
  end
  return rows
end]]

local function words(case, ...)
  local list = { "run", "pipeline.lua", "--job-dir", case.dir .. "/again", "--progress", "none", "--json", ... }
  return list
end

local function rows_of(t, step) return t:sorted_lines("again/" .. step .. "/output/parallel_run_step.txt") end

describe("--only-failed", function()
  after_each(job.check_end)

  it("reads the current compressed file of a table, with the options of the table", function()
    local t = job.case()
    t:script "function run(df) local rows = {} for i, row in df:irows() do rows[i] = row.id end return rows end"
    local text = {}
    for i = 1, 3000 do text[i] = ("%d;%d"):format(i, i * 7919 % 10007) end
    t:write("in/a.csv", "id;x\n" .. table.concat(text, "\n", 1, 10) .. "\n")
    t:write("in/b.csv", "id;x\n" .. table.concat(text, "\n", 11) .. "\n")
    os.execute(("cd '%s' && gzip a.csv b.csv && cp b.csv.gz ../good && truncate -s 2000 b.csv.gz"):format(t:path "in"))
    local first = { "map", "score.lua", "in/*.gz", "--rows", "--separator", ";", "--progress", "none" }
    local function map(...)
      local all = { unpack(first) }
      for _, word in ipairs { ... } do all[#all + 1] = word end
      return t:run(all)
    end
    local r = map("--job-dir", "job")
    t:expect(r, 0)
    assert.truthy(r.err:find("in/b.csv.gz': the file ends too early", 1, true), r.err)
    os.execute(("mv '%s' '%s'"):format(t:path "good", t:path "in/b.csv.gz"))
    r = map("--only-failed", "job", "--job-dir", "again")
    t:expect(r, 0)
    local ids = {}
    for line in r.out:gmatch "%d+" do ids[#ids + 1] = tonumber(line) end
    table.sort(ids)
    assert.equal(2990, #ids)
    assert.equal(11, ids[1])
    assert.equal(3000, ids[2990])
  end)

  it("lists an archive again if it has changed or could not be listed", function()
    local t = job.case()
    t:script [[function run(m)
      local rows = {}
      for i, path in ipairs(m) do
        local f = assert(io.open(path))
        rows[i] = name_of(path) .. " " .. f:read "*a"
        f:close()
      end
      return rows
    end]]
    local function members(text, flags)
      return { { "1.txt", text }, { "[2].txt", text, flags = flags }, { "2.txt", text }, { "3.dat", text } }
    end
    local whole = archives.zip(members "whole")
    t:write("in/cut.zip", whole:sub(1, -30))
    t:write("in/entry.zip", archives.zip(members("old", 1)))
    t:write("in/kept.zip", archives.zip { { "kept.txt", "x", flags = 1 }, { "good.txt", "x" } })
    local map = { "map", "score.lua", "in/*.zip", "--entries", "*.txt", "--progress", "none" }
    local function again(...)
      local list = { unpack(map) }
      for _, word in ipairs { ... } do list[#list + 1] = word end
      return t:run(list)
    end
    local r = again("--job-dir", t.job_dir)
    t:expect(r, 0)
    t:write("in/cut.zip", whole)
    -- Failed items of failed items, in archives that have not changed yet.
    t:expect(t:run { "map", "score.lua", "in/[ek]*.zip", "--entries", "*.txt", "--job-dir", "first" }, 0)
    t:expect(again("--only-failed", "first", "--job-dir", "second"), 1)
    t:write("in/entry.zip", archives.zip(members "new, and longer"))
    r = again("--only-failed", "second", "--job-dir", "third")
    t:expect(r, 0)
    assert.equal("[2].txt new, and longer\n", r.out)
    r = again("--only-failed", t.job_dir, "--job-dir", t.dir .. "/again")
    t:expect(r, 0)
    local rows = {}
    for line in r.out:gmatch "[^\n]+" do rows[#rows + 1] = line end
    table.sort(rows)
    assert.same({ "1.txt whole", "2.txt whole", "[2].txt new, and longer", "[2].txt whole" }, rows)
    assert.equal(1, json.decode(t:read "again/job_result.json").steps[1].items.failed)
    t:expect(t:run { "verify", t.dir .. "/again" }, 0)
  end)
end)

describe("--only-failed", function()
  after_each(job.check_end)

  local function two_steps(third)
    local t = job.case()
    t:inputs(6, "a")
    t:inputs(6, "b")
    t:script(SCRIPT:format(3, t.dir), "one.lua")
    t:script(SCRIPT:format(5, t.dir), "two.lua")
    t:script("function run(m) return names_of(m) end", "three.lua")
    t:write("pipeline.lua", ([[
      local tm = require "tidemill"
      local function step(name, script, inputs)
        return tm.ParallelRunStep { name = name, inputs = inputs, parallel_run_config = tm.ParallelRunConfig {
          entry_script = script, mini_batch_size = 4, process_count_per_node = 2 } }
      end
      local function files(dir) return tm.Dataset.File.from_files(dir .. "/*"):as_named_input(dir) end
      return tm.Pipeline { name = "case", steps = {
        step("one", "one.lua", { files "a", files "b" }), step("two", "two.lua", { files "b" }),
        %s } }]]):format(third or 'step("three", "three.lua", files "a")'))
    return t
  end

  it("runs only the failed items, step by step, input by input", function()
    local t = two_steps()
    t:expect_job(0)
    t:write("mended", "")
    local r = t:run(words(t, "--only-failed", t.job_dir))
    t:expect(r, 0)
    assert.equal(2, #r.result.steps)
    assert.same({ "a 0003.txt", "a 0006.txt", "b 0003.txt", "b 0006.txt" }, rows_of(t, "one"))
    assert.same({ "b 0005.txt" }, rows_of(t, "two"))
    assert.is_false(t:has "again/three")
    assert.is_truthy(t:read("again/one/logs/sys/master_role.txt"):find("what failed in job '" .. t.job_dir, 1, true))
    -- and the failed items of that job: none
    r = t:run { "run", "pipeline.lua", "--only-failed", t.dir .. "/again", "--json" }
    t:expect(r, 0)
    assert.is_truthy(r.err:find("nothing to do: no item failed in job", 1, true), r.err)
    assert.same({ status = "Completed", steps = {} }, r.result)
  end)

  it("takes a job by its name, and the newest", function()
    local t = two_steps()
    local r = t:run { "run", "pipeline.lua", "--progress", "none", "--json" }
    t:expect(r, 0)
    t:write("mended", "")
    t:expect(t:run(words(t, "--only-failed", "latest", "--dry-run")), 0)
    assert.is_false(t:has "again")
    t:expect(t:run(words(t, "--only-failed", r.result.job_dir:match "[^/]+$")), 0)
    assert.same({ "b 0005.txt" }, rows_of(t, "two"))
  end)

  it("is resumed over the same input", function()
    for _, how in ipairs { { "resume" }, { "run", "pipeline.lua", "--resume", "--job-dir" } } do
      local t = two_steps()
      t:expect_job(0)
      t:write("mended", "")
      t:script(([[local fs = require "tidemill.fs"
      function run(m)
        if not fs.exists "%s/go" then
          fs.write("%s/waits", "")
          require("tidemill.process").run { "sleep", "600" }
        end
        return names_of(m)
      end]]):format(t.dir, t.dir), "two.lua")
      local p = t:start(words(t, "--only-failed", t.job_dir))
      t:wait_for("waits", nil, 60)
      programs.kill(p.pid, programs.SIGKILL)
      t:finish(p)
      t:wait_for_none()
      t:write("go", "")
      local again = {}
      for i, word in ipairs(how) do again[i] = word end
      again[#again + 1] = t.dir .. "/again"
      t:expect(t:run(again), 0)
      assert.same({ "0005.txt" }, rows_of(t, "two"))
      assert.equal(t.job_dir, json.decode(t:read "again/job.json").only_failed)
      assert.is_false(t:has "again/three")
      t:expect(t:run { "verify", t.dir .. "/again" }, 0)
    end
  end)

  local function refused(t, status, ...)
    local r = t:run(words(t, "--only-failed", ...))
    t:expect(r, status)
    assert.is_false(t:has "again")
    return r.err
  end

  local function says(text, want) assert.is_truthy(text:find(want, 1, true), text) end

  it("refuses what is not a job, with the places searched", function()
    local t = two_steps()
    says(refused(t, 2, t.dir .. "/nowhere"), "there is no job")
    says(refused(t, 2, "latest"), "there is no job yet")
    says(refused(t, 2, ""), "the value of option '--only-failed' is empty")
    says(refused(t, 2, t.dir .. "/nowhere", "--resume"), "'--only-failed' starts a new job")
  end)

  it("refuses a step with --resume_from", function()
    local t = two_steps()
    t:expect_job(0)
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub("inputs = inputs,",
      function(text) return text .. (' arguments = { "--resume_from", "%s" },'):format(t.job_dir) end)))
    says(refused(t, 2, t.job_dir), "step 'one' has --resume_from, which takes over")
    says(refused(t, 2, t.job_dir, "--accept-changes"), "take --resume_from out of its arguments")
  end)

  it("refuses a running job, and an interrupted one", function()
    local t = two_steps()
    t:script([[function run(m)
      require("tidemill.process").run { "sleep", "600" }
      return m
    end]], "one.lua")
    local p = t:start_job()
    t:wait_for("job/one/logs/sys/node/0/_main.txt", "process000", 60)
    says(refused(t, 2, t.job_dir), "is still running (pid " .. p.pid .. ")")
    programs.kill(p.pid, programs.SIGKILL)
    t:finish(p)
    t:wait_for_none()
    says(refused(t, 2, t.job_dir), "was interrupted: what failed in it is known when it has ended; resume it "
                                   .. "first: tidemill resume " .. t.job_dir)
    local moved = t.dir .. "/a job"
    assert(os.rename(t.job_dir, moved))
    says(refused(t, 2, moved), "resume it first: tidemill resume '" .. moved .. "'")
  end)

  it("refuses a job of another pipeline or version, and a damaged one", function()
    local t = two_steps()
    t:expect_job(0)
    local record, list = t:read "job/job.json", t:read "job/one/failed_items.jsonl"
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('step%("(%w+)"', 'step("no-%1"')))
    says(refused(t, 2, t.job_dir), "has no step of this pipeline; steps are found by their names")
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub("no%-", "")))
    t:write("job/one/failed_items.jsonl", list .. "rubbish\n")
    says(refused(t, 2, t.job_dir), "failed_items.jsonl', line 5: ")
    t:write("job/one/failed_items.jsonl", '{"item":"/a","input":7}\n')
    says(refused(t, 3, t.job_dir), "is damaged: it names input 7 of 2")
    os.remove(t.job_dir .. "/one/failed_items.jsonl")
    says(refused(t, 3, t.job_dir), "4 items of step 'one' have failed, but their list")
    t:write("job/one/failed_items.jsonl", list)
    t:write("job/job.json", (record:gsub('"version": 1', '"version": 99')))
    says(refused(t, 2, t.job_dir), "is of version 99; this tidemill reads version 1")
    t:write("job/job.json", record:sub(1, -20))
    says(refused(t, 3, t.job_dir), "is damaged")
    t:write("job/job.json", '{"version": 1, "steps": 7}')
    says(refused(t, 3, t.job_dir), "is damaged: it has no steps")
  end)

  it("says when the failed items are unknown", function()
    local t = job.case()
    t:inputs(6)
    t:script "function run(m) return { name_of(m[1]) } end"
    t:pipeline "mini_batch_size = 3"
    t:expect_job(0)
    says(refused(t, 1, t.job_dir), "4 items have failed, but it is not known which ones")
    t:script "function run(m, c) c:fail(1) return { name_of(m[2]) } end"
    t:expect(t:run { "run", "pipeline.lua", "--job-dir", t.dir .. "/second" }, 0)
    t:script "function run(m) return names_of(m) end"
    local r = t:run(words(t, "--only-failed", t.dir .. "/second"))
    t:expect(r, 0)
    says(r.err, "of 2 failed items it is not known which ones they are")
    assert.same({ "0001.txt", "0004.txt" }, rows_of(t, "score"))
  end)

  it("knows the items of a mini-batch without a result, and names that are not UTF-8", function()
    local t = job.case()
    t:write("in/a\xfeb.txt", "")
    t:write("in/c\nd.txt", "")
    t:script "function run(m) return {} end"
    t:pipeline "mini_batch_size = 2"
    t:expect_job(1)
    t:script [[function run(m)
      local rows = {}
      for i, path in ipairs(m) do rows[i] = #name_of(path) .. (io.open(path) and " is there" or "") end
      return rows
    end]]
    t:expect(t:run(words(t, "--only-failed", t.job_dir)), 0)
    assert.same({ "7 is there", "7 is there" }, rows_of(t, "score"))
  end)
end)

describe("Dataset.File.from_failed_items", function()
  after_each(job.check_end)

  local function failed_job()
    local t = job.case()
    t:inputs(6)
    t:script(SCRIPT:format(2, t.dir))
    t:pipeline ""
    t:expect_job(0)
    t:write("mended", "")
    return t
  end

  local function with(t, call)
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub("File%.from_[^\n]-:as_named", function()
      return "File.from_failed_items(" .. call .. "):as_named"
    end)))
  end

  it("finds them by directory, relative to the pipeline file, by step, by name, and as a list", function()
    local t = failed_job()
    for i, call in ipairs { ("%q"):format(t.job_dir), '"job"', '"job", { step = "score" }',
                            '"job/score/failed_items.jsonl"' } do
      with(t, call)
      t:expect(t:run({ "run", t.dir .. "/pipeline.lua", "--job-dir", t.dir .. "/by" .. i }, { cwd = "/" }), 0)
      assert.same({ "in 0002.txt", "in 0004.txt", "in 0006.txt" },
                  t:sorted_lines("by" .. i .. "/score/output/parallel_run_step.txt"))
    end
    with(t, '"by1"')
    local r = t:run(words(t))
    t:expect(r, 1)
    assert.is_truthy(r.err:find("no input: .+ does not exist: no item has failed"), r.err)
  end)

  it("reads the newest job of the workspace", function()
    local t = failed_job()
    os.remove(t.dir .. "/mended")
    t:expect(t:run { "run", "pipeline.lua" }, 0)
    t:write("mended", "")
    with(t, '"latest"')
    t:expect(t:run(words(t)), 0)
    assert.same({ "in 0002.txt", "in 0004.txt", "in 0006.txt" }, rows_of(t, "score"))
  end)

  it("refuses an archive that has changed since, whose entries have other places now", function()
    local t = job.case()
    t:write("in/a.zip", archives.zip { { "1.txt", "one" }, { "2.txt", "two" } })
    t:script "function run(m) error 'no' end"
    local r = t:run { "map", "score.lua", "in/a.zip", "--entries", "*.txt", "-N", "1", "-j", "1", "--run-max-try", "1",
      "--job-dir", "job", "--progress", "none" }
    t:expect(r, 1)
    t:inputs(1)
    t:pipeline ""
    with(t, '"job"')
    t:script [[
      function run(m)
        local rows = {}
        for i, path in ipairs(m) do rows[i] = io.open(path):read "*a" end
        return rows
      end]]
    t:expect(t:run { "run", "pipeline.lua", "--job-dir", "as-it-was", "--progress", "none" }, 0)
    t:write("in/a.zip", archives.zip { { "0.txt", "zero" }, { "1.txt", "one!" }, { "2.txt", "two" } })
    r = t:run { "run", "pipeline.lua", "--job-dir", "changed", "--progress", "none" }
    assert.is_true(r.status ~= 0)
    local said = "archive '" .. t:path "in/a.zip" .. "' has changed since its entry '1.txt' failed"
    assert.truthy(r.err:find(said, 1, true), r.err)
    assert.truthy(r.err:find("--only-failed " .. t.job_dir, 1, true), r.err)
    -- That command works.
    t:expect(t:run { "map", "score.lua", "in/a.zip", "--entries", "*.txt", "-N", "1", "--only-failed", "job",
      "--progress", "none" }, 0)
  end)

  it("is refused at its line, with the accepted values", function()
    local t = failed_job()
    for call, want in pairs {
      ['"nowhere"'] = "there is no job 'nowhere'",
      ['"nowhere/failed_items.jsonl"'] = "there is no job 'nowhere/failed_items.jsonl'",
      ['"job", { step = "other" }'] = "has no step 'other'; it has 'score'",
      ['"job", { stap = "score" }'] = "unknown key 'stap'; did you mean 'step'?",
      ['"job", { step = 7 }'] = "'step' is 7",
      ['"job/score/failed_items.jsonl", { step = "score" }'] = "'step' goes with a job",
      ["7"] = "the job is a number; accepted: ",
      ["{}"] = "the job is a table; accepted: ",
      ['""'] = "the job is a string without a letter",
      [""] = "the job is a nil; accepted: ",
    } do
      with(t, call)
      local r = t:run(words(t))
      t:expect(r, 2)
      assert.is_truthy(r.err:find(want, 1, true), r.err)
      assert.is_truthy(r.err:find "pipeline%.lua:%d+: ", r.err)
      assert.is_false(t:has "again")
    end
  end)

  it("refuses malicious lines of a list with their numbers", function()
    local t = failed_job()
    for _, line in ipairs { "[]", '{"item":"relative"}', '{"item":7}', '{"item":null,"count":-1}',
                            '{"item":"/x\\u0000y"}', ("["):rep(200), '{"item":"/' .. ("x"):rep(20000) .. '"}' } do
      t:write("list.jsonl", '{"item":"' .. t.dir .. '/in/0001.txt"}\n' .. line .. "\n")
      with(t, '"list.jsonl"')
      local r = t:run(words(t))
      t:expect(r, 2)
      assert.is_truthy(r.err:find("list.jsonl', line 2: ", 1, true), r.err)
      os.execute("rm -r '" .. t.dir .. "/again'")
    end
  end)
end)

describe("the last line of a Completed job with failed items", function()
  after_each(job.check_end)

  local AGAIN = "to run the failed items again: "
  local ALL = "the failed items cannot be run alone (rows of a table, or nobody knows which ones); to run all again: "

  local function last_line(text) return text:match "([^\n]*)\n$" end

  --- Runs the command after `before` in a line, with the program under test, and returns the
  --- result.
  local function follow(t, line, before, ...)
    local _, stop = line:find(before, 1, true)
    assert.is_truthy(stop, line)
    local rest = assert(line:match("^tidemill (.*)$", stop + 1), line)
    local argv = {}
    for word in rest:gmatch "%S+" do argv[#argv + 1] = (word:gsub("^'(.*)'$", "%1")) end
    for _, word in ipairs { ... } do argv[#argv + 1] = word end
    return t:run(argv)
  end

  local function case()
    local t = job.case()
    t:inputs(6)
    t:script(SCRIPT:format(3, t.dir))
    return t
  end

  it("runs them again, and so does the line in status", function()
    local t = case()
    t:pipeline "mini_batch_size = 2"
    local r = t:expect_job(0)
    local line = last_line(r.err)
    assert.equal(AGAIN .. "tidemill run " .. t.dir .. "/pipeline.lua --only-failed " .. t.job_dir, line)
    assert.equal(line, last_line(t:run({ "status", t.job_dir }).out))
    t:write("mended", "")
    r = follow(t, line, AGAIN, "--job-dir", t.dir .. "/again")
    t:expect(r, 0)
    assert.equal(2, #rows_of(t, "score"))
    assert.is_nil(r.err:find(AGAIN, 1, true))
  end)

  it("keeps the parameters of the job", function()
    local t = case()
    t:pipeline("mini_batch_size = size", nil,
      'local size = tm.PipelineParameter { name = "size", default_value = 1 }')
    local r = t:run { "run", "pipeline.lua", "--param", "size=4", "--job-dir", t.job_dir, "--progress", "none" }
    t:expect(r, 0)
    t:write("mended", "")
    r = follow(t, last_line(r.err), AGAIN, "--job-dir", t.dir .. "/again")
    t:expect(r, 0)
    assert.equal(4, json.decode(t:read "again/job.json").steps[1].definition.settings.mini_batch_size.value)
    assert.equal(2, #rows_of(t, "score"))
  end)

  it("gives the map command with a free FILE, and runs only the failed items", function()
    local t = case()
    local out = t:path "out.txt"
    local r = t:run { "map", "score.lua", "in", "-N", "2", "--output", out, "--job-dir", t.job_dir, "--", "--x", "y" }
    t:expect(r, 0)
    local line = r.err:match("(" .. AGAIN:gsub("%p", "%%%0") .. "[^\n]*)\n")
    local again = t:path "out-again.txt"
    assert.equal(("%stidemill map score.lua in -N 2 --output %s --only-failed %s -- --x y")
      :format(AGAIN, again, t.job_dir), line)
    assert.is_truthy(last_line(t:run({ "status", t.job_dir }).out):find("with --only-failed " .. t.job_dir, 1, true))
    t:write("mended", "")
    t:expect(follow(t, line, AGAIN), 0)
    assert.equal(2, select(2, t:read("out-again.txt"):gsub("\n", "")))
    r = t:run { "map", "score.lua", "in", "--only-failed", t.job_dir, "--resume" }
    t:expect(r, 2)
    assert.is_truthy(r.err:find("'--only-failed' starts a new job", 1, true), r.err)
    t:expect(t:run { "map", "score.lua", "in", "--job-dir", t.dir .. "/good" }, 0)
    r = t:run { "map", "score.lua", "in", "--only-failed", t.dir .. "/good" }
    t:expect(r, 0)
    assert.is_truthy(r.err:find("nothing to do: no item failed in job", 1, true), r.err)
  end)

  it("names a command that resumes a map job over failed items", function()
    local t = job.case()
    t:inputs(6)
    t:script(([[
      function run(m)
        if name_of(m[1]) < "0003.txt" and not io.open(%q) then error "not yet" end
        return { name_of(m[1]) }
      end]]):format(t.dir .. "/mended"))
    t:expect(t:run { "map", "score.lua", "in", "-N", "1", "--job-dir", t.job_dir }, 0)
    local r = t:run { "map", "score.lua", "in", "-N", "1", "--only-failed", t.job_dir, "--output", t:path "rows.txt",
      "--job-dir", t.dir .. "/again" }
    t:expect(r, 1)
    t:write("mended", "")
    t:expect(follow(t, r.err:match "(to go on: [^\n]*)\n", "to go on: "), 0)
    assert.equal(2, select(2, t:read("rows.txt"):gsub("\n", "")))
  end)

  it("names no resume of a job that must end in the same way, but runs its failed items again", function()
    local t = case()
    local out = t:path "out.txt"
    t:script(SCRIPT:format(1, t.dir))
    local r = t:run { "map", "score.lua", "in", "--output", out, "--job-dir", t.job_dir }
    t:expect(r, 1)
    assert.is_truthy(r.err:find("not one of 6 items succeeded", 1, true), r.err)
    assert.is_nil(r.err:find("to go on", 1, true), r.err)
    assert.is_truthy(last_line(t:run({ "status", t.job_dir }).out):find("with --only-failed " .. t.job_dir, 1, true))
    t:write("mended", "")
    t:expect(follow(t, last_line(r.err), AGAIN), 0)
    assert.equal(6, select(2, t:read("out-again.txt"):gsub("\n", "")))
  end)

  it("names a command that resumes it if values of environment variables are not recorded", function()
    local t = job.case()
    t:inputs(6)
    t:script [[
      function run(m)
        if name_of(m[1]) < "0003.txt" and os.getenv "STATE" ~= "good" then error "not yet" end
        return { name_of(m[1]) }
      end]]
    local again = t.dir .. "/again"
    t:expect(t:run { "map", "score.lua", "in", "-N", "1", "--job-dir", t.job_dir }, 0)
    local command = { "map", "score.lua", "in", "-N", "1", "--job-dir", again, "--only_failed", t.job_dir,
                      "--error-threshold", "0", "--run-max-try", "1", "--environment-variables", "STATE=bad" }
    local r = t:run(command)
    t:expect(r, 1)
    local line = r.err:match "\n(to go on: [^\n]*)\n"
    t:expect(follow(t, line, "to go on: "), 1)
    local told = last_line(t:run({ "status", again }).out)
    assert.is_truthy(told:find("the command that started the job again, with --resume --job-dir " .. again, 1, true))
    t:expect(t:run { "map", "score.lua", "in", "--only-failed", again, "--resume", "--job-dir", again }, 2)
    command[#command] = "STATE=good"
    command[#command + 1] = "--resume"
    t:expect(t:run(command), 0)
    assert.equal(2, #rows_of(t, "score"))
  end)

  it("runs everything again if the failed items cannot be run alone", function()
    local t = job.case()
    t:inputs(6)
    t:script "function run(m) return { name_of(m[1]) } end"
    t:pipeline "mini_batch_size = 3"
    local line = last_line(t:expect_job(0).err)
    t:expect(follow(t, line, ALL, "--job-dir", t.dir .. "/again"), 0)
    assert.equal(2, #rows_of(t, "score"))
    assert.is_truthy(line:find "%-%-no%-reuse$")
    t:write("in/x.csv", "a\n1\n2\n")
    t:script "function run(df, context) context:fail(1, 'why') return df end"
    local r = t:run { "map", "score.lua", "in/x.csv", "--rows", "--job-dir", t.dir .. "/rows", "--output", "-" }
    t:expect(r, 0)
    assert.is_truthy(r.err:find(ALL .. "tidemill map score.lua in/x.csv --rows\n", 1, true), r.err)
    r = t:run { "map", "score.lua", "in/x.csv", "--rows", "--job-dir", t.dir .. "/file", "--output", "x.csv" }
    t:expect(r, 0)
    assert.is_truthy(r.err:find(ALL .. "tidemill map score.lua in/x.csv --rows --output x.csv --overwrite\n", 1, true),
      r.err)
  end)
end)
