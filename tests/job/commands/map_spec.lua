-- `tidemill map`: runs a script on the inputs that the command line names.
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"

local ECHO = "function run(m) return names_of(m) end"

-- Runs `text` in bash, where "$0" "$@" is the program and its arguments.
local function shell(text) return { "bash", "-c", text } end

local function lines(text)
  local found = {}
  for line in text:gmatch "[^\n]+" do found[#found + 1] = line end
  table.sort(found)
  return found
end

local function map(t, words, o)
  local all = { "map", "score.lua", "--progress", "none" }
  for _, word in ipairs(words) do all[#all + 1] = word end
  return t:run(all, o)
end

local function case(n, script)
  local t = job.case()
  t:inputs(n)
  t:script(script or ECHO)
  return t
end

-- The only job directory of the workspace.
local function job_of(t)
  local found
  for name in lfs.dir(t:path "workspace/jobs") do
    if name:find "^%a" then
      assert(not found, "there are several jobs")
      found = "workspace/jobs/" .. name
    end
  end
  return found
end

describe("map", function()
  after_each(job.check_end)

  it("takes files, folders and patterns, and writes the rows to standard output", function()
    local t = case(7)
    local r = map(t, { "in/0001.txt", "in/000[23].txt", "in", "-N", "2", "-j", "2" })
    t:expect(r, 0)
    local want = job.names(7)
    for i = 1, 3 do want[#want + 1] = ("%04d.txt"):format(i) end
    table.sort(want)
    assert.same(want, lines(r.out))
  end)

  it("names the command that works once a script without run() has one", function()
    local t = case(2, "function Run(m) return names_of(m) end")
    local r = map(t, { "in" })
    t:expect(r, 2)
    assert.is_nil(r.err:find("to go on", 1, true), r.err)
    local again = r.err:match "after a change of the script, its input or these options: tidemill ([^\n]+)"
    t:script(ECHO)
    r = t:run({}, { before = shell('"$0" ' .. again) })
    t:expect(r, 0)
    assert.same(job.names(2), lines(r.out))
  end)

  it("is a job of the workspace, named after its script, with its output there too", function()
    local t = case(3)
    t:write("My Score_2.lua", t:read "score.lua")
    local r = t:run { "map", "My Score_2.lua", "in", "--json" }
    t:expect(r, 0)
    local dir = job_of(t)
    assert.truthy(dir:find "/my%-score%-2%-%d+")
    assert.equal(t:path(dir), r.result.job_dir)
    assert.equal("my-score-2", r.result.steps[1].name)
    assert.same(job.names(3), t:sorted_lines(dir .. "/my-score-2/output/parallel_run_step.txt"))
    local record = json.decode(t:read(dir .. "/job.json"))
    assert.is_nil(record.pipeline)
    assert.equal(t.dir, record.steps[1].definition.working_dir)
    assert.equal("default", record.steps[1].definition.settings.mini_batch_size.origin)
  end)

  it("takes every parameter as an option, in either spelling", function()
    local t = case(4)
    t:expect(t:run({ "map", "score.lua", "in", "--job-dir", "job", "--run-invocation-timeout", "5.5", "--run_max_try=2",
                     "--logging-level", "DEBUG", "--environment-variables", "A=1", "--environment_variables", "B=2",
                     "--append-row-file-name", "rows.txt", "-N3", "--error-threshold", "-1" }), 0)
    local settings = json.decode(t:read "job/job.json").steps[1].definition.settings
    assert.same({ value = 5.5, origin = "option" }, settings.run_invocation_timeout)
    assert.same({ value = 2, origin = "option" }, settings.run_max_try)
    assert.same({ value = 3, origin = "option" }, settings.mini_batch_size)
    assert.same({ value = -1, origin = "option" }, settings.error_threshold)
    assert.same({ "A", "B" }, settings.environment_variables.value.names)
    assert.same(job.names(4), t:sorted_lines "job/score/output/rows.txt")
  end)

  it("passes the words after -- to the script", function()
    local t = case(1, "function run(m) return { table.concat(arg, '|') } end")
    local r = map(t, { "in", "--", "--limit", "2", "", "--", "a b" })
    t:expect(r, 0)
    assert.equal("--limit|2||--|a b\n", r.out)
  end)

  it("runs workers in the current directory, with the script's folder first in require", function()
    local t = job.case()
    t:write("src/helper.lua", "return { word = 'theirs' }")
    t:write("src/score.lua", [[
      local helper = require "helper"
      function run(m)
        local e = require "tidemill.entry_script"()
        return { helper.word .. " " .. io.open("here.txt"):read "*l" .. " " .. e.working_dir }
      end]])
    t:write("data/here.txt", "mine\n")
    t:write("data/helper.lua", "error 'the wrong one'")
    local r = t:run({ "map", "../src/score.lua", "here.txt", "--source-directory", "../src", "--progress", "none" },
                    { cwd = t:path "data" })
    t:expect(r, 0)
    assert.equal("theirs mine " .. t:path "data" .. "\n", r.out)
  end)

  it("takes only the first N items", function()
    local t = case(9)
    local r = map(t, { "in", "nothing-*", "--limit", "4", "-N", "3" })
    t:expect(r, 0)
    assert.same(job.names(4), lines(r.out))
    assert.is_nil(r.err:find "nothing%-")
  end)

  it("refuses wrong words by name, and creates nothing", function()
    local t = case(2)
    t:write("broken.lua", "function run(")
    t:write("there.txt", "mine")
    local function refused(words, pattern)
      local r = t:run(words)
      t:expect(r, 2)
      assert.truthy(r.err:find(pattern, 1, true), r.err)
      assert.equal("", r.out)
      assert.is_false(t:has "workspace")
    end
    refused({ "map" }, "an entry script is missing")
    refused({ "map", "score.lua" }, "an input is missing")
    refused({ "map", "scor.lua", "in" }, "'scor.lua': no such file")
    refused({ "map", "in", "in" }, "'in' is not a file")
    refused({ "map", "broken.lua", "in" }, "broken.lua:1:")
    refused({ "map", "score.lua", "in", "--run-max-try", "0" }, [['--run-max-try' is "0"; accepted: an integer from 1]])
    refused({ "map", "score.lua", "in", "-N", "x" }, [['-N' (--mini-batch-size) is "x"]])
    refused({ "map", "score.lua", "in", "--run-max-tries", "2" }, "did you mean '--run-max-try'?")
    refused({ "map", "score.lua", "in", "-n", "2" }, "unknown option '-n'; write -N N")
    refused({ "map", "score.lua", "in", "-z" }, "unknown option '-z'; the options with one dash are: -0, -N, -j")
    refused({ "map", "score.lua", "in", "-N" }, "option '-N' needs a value: -N SIZE")
    refused({ "map", "score.lua", "in", "--limit", "0" }, [['--limit' is "0"; accepted: an integer from 1]])
    refused({ "map", "score.lua", "in", "-" }, "'-' stands alone")
    refused({ "map", "score.lua", "in", "-0" }, "'-0' goes with '-'")
    refused({ "map", "score.lua", "in", "--keep-failed" }, "--keep-failed goes with --resume")
    refused({ "map", "score.lua", "in", "--environment-variables", "secret" }, "of the form NAME=VALUE")
    refused({ "map", "score.lua", "in", "--output", "there.txt" }, "there already; name another file, or replace it")
    refused({ "map", "score.lua", "in", "--output", "in" }, "is not a regular file")
    refused({ "map", "score.lua", "in", "--output", "/dev/null", "--overwrite" }, "is not a regular file")
    refused({ "map", "score.lua", "in", "--output", "no/x" }, "/no': no such file")
    refused({ "map", "score.lua", "in", "--overwrite" }, "'--overwrite' goes with --output FILE")
    refused({ "map", "score.lua", "in", "--output", "x", "--output-action", "summary_only" },
            "summary_only has no rows")
    assert.equal("mine", t:read "there.txt")
  end)

  it("prints the plan with --dry-run, and creates nothing", function()
    local t = case(7)
    local r = map(t, { "in", "-N", "3", "--dry-run", "--json", "--output", "out.txt" })
    t:expect(r, 0)
    assert.equal(json.null, json.decode(r.out, 1, json.null).file)
    local step = r.result.steps[1]
    assert.same({ "score", 3, 7, 0, 3, t:path "in/0001.txt", t:path "in/0003.txt", 2, 1 },
      { step.name, step.mini_batches, step.items, step.first.index, step.first.items, step.first.from, step.first.to,
        step.last.index, step.last.items })
    assert.same({ value = 3, origin = "option" }, step.settings.mini_batch_size)
    assert.same({ value = 3, origin = "default" }, step.settings.run_max_try)
    r = map(t, { "-", "-N", "2", "--dry-run", "--limit", "1" }, { stdin = t:write("list", "in/0004.txt\nnowhere\n") })
    t:expect(r, 0)
    assert.truthy(r.out:find("pipeline 'score' (of the command line)\nstep 'score': 1 mini-batch, 1 item\n", 1, true))
    assert.truthy(r.out:find("first: mini-batch 0, 1 item: " .. t:path "in/0004.txt", 1, true), r.out)
    assert.is_nil(r.out:find "last:")
    t:expect(map(t, { "absent", "--dry-run" }), 1)
    t:expect(map(t, { "in", "--dry-run", "--resume" }), 2)
    for name in lfs.dir(t.dir) do assert.is_nil(({ workspace = 1, [".tidemill"] = 1, ["out.txt"] = 1 })[name]) end
  end)

  it("explains every parameter in its help", function()
    local t = job.case()
    local r = t:run { "help", "map" }
    t:expect(r, 0)
    for _, name in ipairs { "-0 ", "-N SIZE ", "-j N ", "--limit N", "--output FILE|-", "--run-max-try N",
                            "--sync-interval SECONDS", "--logging-level WARNING|INFO|DEBUG", "Exit status 141" } do
      assert.truthy(r.out:find(name, 1, true), name)
    end
    assert.is_nil(r.out:find("--entry-script", 1, true))
  end)

  -- Whether a folder above the cases is a workspace that is not the test's.
  local function has_one_above(dir)
    while dir ~= "" do
      dir = dir:match "^(.*)/[^/]*$"
      if lfs.attributes(dir .. "/.tidemill") then return true end
    end
    return false
  end

  it("uses the nearest workspace above, or creates one in the current directory", function()
    local t = case(1)
    lfs.mkdir(t:path "deep")
    lfs.mkdir(t:path "deep/deeper")
    local o = { env = { "TIDEMILL_WORKSPACE=" } }
    if not has_one_above(t.dir) then
      o.cwd = t:path "deep"
      t:expect(t:run({ "map", "../score.lua", "../in", "--progress", "none" }, o), 0)
      assert.is_true(t:has "deep/.tidemill/jobs")
      assert.is_false(t:has ".tidemill")
      assert(os.rename(t:path "deep/.tidemill", t:path "away"))
    end
    lfs.mkdir(t:path ".tidemill")
    o.cwd = t:path "deep/deeper"
    t:expect(t:run({ "map", "../../score.lua", "../../in", "--progress", "none" }, o), 0)
    assert.is_true(t:has ".tidemill/jobs")
    assert.is_false(t:has "deep/.tidemill")
    assert.is_false(t:has "deep/deeper/.tidemill")
  end)

  it("fails like any job", function()
    local t = case(2, "function run(m) error 'no' end")
    local r = map(t, { "in", "--run-max-try", "1" })
    t:expect(r, 1)
    assert.equal("", r.out)
    assert.truthy(r.err:find("to go on: tidemill map score.lua", 1, true))
  end)

  it("refuses a pipeline file without running it, and names the right command", function()
    local t = case(1)
    t:write("p.lua", "local tidemill = require 'tidemill'\nerror 'it ran'\nreturn tidemill.Pipeline {}\n")
    local r = t:run { "map", "p.lua", "in" }
    t:expect(r, 2)
    assert.is_truthy(r.err:find("/p.lua' returns a pipeline, and an entry script defines run(); to run it: "
      .. "tidemill run ", 1, true), r.err)
    assert.is_nil(lfs.attributes(t:path "workspace/jobs"))
    r = t:run { "run", "score.lua" }
    t:expect(r, 2)
    assert.is_truthy(r.err:find("; an entry script runs by: tidemill map score.lua INPUT...", 1, true), r.err)
  end)

  it("creates no job for a path or a pattern that matches nothing", function()
    local t = case(2)
    for word, words in pairs {
      ["nothing-*"] = "nothing matches 'nothing-*' in '" .. t.dir .. "'",
      ["inn"] = "'" .. t:path "inn" .. "' does not exist (did you mean '" .. t:path "in" .. "'?)",
    } do
      local r = map(t, { word })
      t:expect(r, 1)
      assert.equal("tidemill: no input: " .. words .. "\n", r.err)
      assert.is_false(t:has "workspace")
    end
  end)
end)

describe("a map job", function()
  after_each(job.check_end)

  it("is known to the other commands, and can be resumed", function()
    local t = case(3, "function run(m) if io.open 'bad' then error 'no' end return names_of(m) end")
    t:write("bad", "")
    t:expect(map(t, { "in", "--run-max-try", "1", "--job-dir", "job", "--", "an argument" }), 1)
    t:expect(t:run { "status", "job" }, 0)
    local r = t:run { "resume", "job" }
    t:expect(r, 1)
    assert.truthy(r.err:find("to go on: tidemill resume " .. t.job_dir, 1, true), r.err)
    os.remove(t:path "bad")
    -- The command that the job printed resumes it.
    r = t:run({}, { before = shell [[
      touch bad; "$0" map score.lua in -N1 --run-max-try 1 --progress none --job-dir two 2>said
      rm bad; eval "$(sed -n 's|^to go on: tidemill|"$0"|p' said)" 2>/dev/null]] })
    t:expect(r, 0)
    assert.same(job.names(3), lines(r.out))
    t:expect(t:run { "verify", "two" }, 0)
  end)

  it("writes the FILE of --output when 'resume' completes it", function()
    local t = case(3, "function run(m) if io.open 'bad' then error 'no' end return names_of(m) end")
    t:write("bad", "")
    lfs.mkdir(t:path "other")
    t:expect(map(t, { "in", "-N", "1", "--run-max-try", "1", "--output", "rows.txt",
      "--job-dir", "job" }), 1)
    os.remove(t:path "bad")
    -- Somebody has meanwhile created a file there: nothing runs, and nothing is lost.
    t:write("rows.txt", "mine")
    local r = t:run { "resume", "job" }
    t:expect(r, 2)
    assert.truthy(r.err:find("the rows of this job go to '" .. t:path "rows.txt"
      .. "', which is there already; move it away, or replace it: --overwrite", 1, true), r.err)
    assert.equal("mine", t:read "rows.txt")
    -- The destination does not depend on where the job is resumed.
    t:expect(t:run({ "resume", t.job_dir, "--overwrite" }, { cwd = t:path "other" }), 0)
    assert.same(job.names(3), lines(t:read "rows.txt"))
    assert.truthy(t:run({ "verify", "job" }).out:find("copy:     27 bytes, " .. t:path "rows.txt", 1, true))
    -- A Completed job leaves the file as it is, or creates it again if it is missing.
    t:write("rows.txt", "edited")
    t:expect(t:run { "resume", "job" }, 0)
    assert.equal("edited", t:read "rows.txt")
    os.remove(t:path "rows.txt")
    t:expect(t:run { "resume", "job" }, 0)
    assert.same(job.names(3), lines(t:read "rows.txt"))
  end)

  it("prints no rows in 'resume', but their path", function()
    local t = case(3, "function run(m) if io.open 'bad' then error 'no' end return names_of(m) end")
    t:write("bad", "")
    t:expect(map(t, { "in", "--run-max-try", "1", "--job-dir", "job" }), 1)
    os.remove(t:path "bad")
    local r = t:run { "resume", "job" }
    t:expect(r, 0)
    assert.equal("", r.out)
    local path = r.err:match "the rows are in '([^\n]*)'; 'tidemill resume' does not print them\n"
    assert.equal(t.job_dir .. "/score/output/parallel_run_step.txt", path, r.err)
  end)

  it("starts a new job if --resume finds no unfinished one", function()
    local t = case(1)
    local r = map(t, { "in", "--resume" })
    t:expect(r, 0)
    assert.truthy(r.err:find "no job of 'score' is left to resume in the workspace '[^']+': a new one", r.err)
  end)

  it("cannot be resumed if no file of its table could be read; the message says how to start again", function()
    local t = case(0, [[function run(df)
      local rows = {}
      for i, row in df:irows() do rows[i] = row.a end
      return rows
    end]])
    t:write("x.csv", "a,b\n" .. ("1,2\n"):rep(5000))
    assert.equal(0, os.execute(("cd '%s' && gzip x.csv && cp x.csv.gz whole && truncate -s 60 x.csv.gz"):format(t.dir)))
    local r = map(t, { "x.csv.gz", "--rows", "--output", "o.csv", "--job-dir", "job" })
    t:expect(r, 1)
    local words = "the job cannot be resumed: the list of inputs has damaged files only, as they were; a new job reads "
      .. "them as they are now"
    assert.truthy(r.err:find(words, 1, true), r.err)
    assert.truthy(r.err:find("; to start a new job: tidemill map score.lua --progress none x.csv.gz --rows "
      .. "--output o.csv --overwrite\n", 1, true), r.err)
    assert.is_nil(r.err:find("to go on", 1, true), r.err)
    assert.truthy(t:run({ "status", "job" }).out:find(words, 1, true))
    assert.equal(0, os.execute(("mv '%s' '%s'"):format(t:path "whole", t:path "x.csv.gz")))
    t:expect(t:run { "map", "score.lua", "x.csv.gz", "--rows", "--output", "o.csv", "--overwrite" }, 0)
    assert.equal(5000, #lines(t:read "o.csv"))
  end)

  it("without input does not suggest the same command again", function()
    local t = case(0)
    t:write("in/a.txt", "x")
    t:write("list", "")
    for _, words in ipairs { { "in", "--rows" }, { "-" } } do
      local r = map(t, { unpack(words) }, { stdin = t:path "list" })
      t:expect(r, 1)
      assert.truthy(r.err:find("no input: ", 1, true), r.err)
      assert.is_nil(r.err:find("to go on", 1, true), r.err)
      assert.truthy(r.err:find("\nafter a change of the script, its input or these options: tidemill map "
        .. "[^\n]* %-%-accept%-changes "
        .. "%-%-job%-dir [^,\n]*\n$"), r.err)
    end
    assert.is_nil(t:run({ "status", "latest" }).out:find("to go on", 1, true))
  end)

  it("refuses --overwrite in 'resume' if no FILE is known", function()
    local t = case(1)
    t:expect(map(t, { "in", "--job-dir", "job" }), 0)
    local r = t:run { "resume", "job", "--overwrite" }
    t:expect(r, 2)
    assert.truthy(r.err:find("'--overwrite' goes with a job that was started by", 1, true), r.err)
  end)

  it("is not resumed with other files, from another directory, or with other mini-batches", function()
    local t = case(3, "function run(m) error 'no' end")
    t:expect(map(t, { "in", "--job-dir", t.job_dir, "--run-max-try", "1" }), 1)
    local function changed(words, pattern, o)
      local r = map(t, words, o)
      t:expect(r, 2)
      assert.truthy(r.err:find(pattern, 1, true), r.err)
    end
    local resume = { "--resume", "--job-dir", t.job_dir }
    changed({ "in/0001.txt", unpack(resume) }, "'inputs[1].paths' was")
    changed({ "in", "-N", "3", unpack(resume) }, "'--mini-batch-size' was 10 and is 3")
    changed({ "in", "--limit", "2", unpack(resume) }, "'inputs[1].limit' was none and is 2")
    lfs.mkdir(t:path "other")
    os.execute(("cp -r %s %s"):format(t:path "in", t:path "other"))
    os.execute(("cp %s %s"):format(t:path "score.lua", t:path "other"))
    changed({ "in", unpack(resume) }, "'working directory' was", { cwd = t:path "other" })
  end)
end)

describe("map's standard input", function()
  after_each(job.check_end)

  it("has one path a line, or NUL between paths", function()
    local t = case(3)
    t:write("in/new\nline.txt", "x")
    local o = { before = shell [[find in -name '000*' | "$0" "$@"]] }
    local r = map(t, { "-" }, o)
    t:expect(r, 0)
    assert.same(job.names(3), lines(r.out))
    t:script "function run(m) local r = {} for i, p in ipairs(m) do r[i] = #name_of(p) end return r end"
    o.before = shell [[find in -print0 -name 'n*' | "$0" "$@"]]
    r = map(t, { "-0", "-", "-N1" }, o)
    t:expect(r, 0)
    assert.same({ "12", "2", "8", "8", "8" }, lines(r.out))
  end)

  it("has paths relative to the current directory, even when it is a file", function()
    local t = case(2, "function run(m) return m end")
    t:write("lists/list", "in/0001.txt\nin/0002.txt\n")
    local r = map(t, { "-" }, { stdin = t:path "lists/list" })
    t:expect(r, 0)
    assert.same({ t:path "in/0001.txt", t:path "in/0002.txt" }, lines(r.out))
  end)

  it("is processed, and rows are written, while it still arrives", function()
    local t = case(4)
    t:expect(t:run({}, { before = { "mkfifo", t:path "go", t:path "rest" } }) and { status = 0 }, 0)
    local p = t:start({ "map", "score.lua", "-", "-N", "2", "--progress", "none", "--job-dir", "job" }, {
      before = shell [[(printf 'in/0001.txt\nin/0002.txt\n'; cat rest) | "$0" "$@" | cat >rows]] })
    t:wait_for("rows", "0002.txt")
    assert.is_false(t:has "job/job_result.json")
    t:write("rest", "in/0003.txt\nin/0004.txt")
    t:expect(t:finish(p), 0)
    assert.same(job.names(4), t:sorted_lines "rows")
  end)

  it("is read no further than --limit, and then closed", function()
    local t = case(0)
    local r = map(t, { "-", "--limit", "3" }, { before = shell [[yes /x | "$0" "$@"; echo "${PIPESTATUS[0]}"]] })
    t:expect(r, 0)
    assert.same({ "141", "x", "x", "x" }, lines(r.out))
  end)

  it("does not delay a signal while nothing arrives", function()
    local t = case(1)
    t:run({}, { before = { "mkfifo", t:path "rest" } })
    local p = t:start({ "map", "score.lua", "-", "-N", "1", "--progress", "none", "--job-dir", "job" }, {
      before = shell [[exec 3<>rest; echo in/0001.txt >&3; exec "$0" "$@" <&3 3<&- >rows]] })
    t:wait_for("rows", "0001.txt")
    p:kill(programs.SIGINT)
    local r = t:finish(p)
    t:expect(r, 130)
    assert.truthy(r.err:find("\nto go on, with the same list on standard input: tidemill map [^,\n]*\n"), r.err)
    -- The list had not ended: the user gives it again, and committed rows are kept.
    t:write("list", "in/0001.txt\n")
    r = map(t, { "-", "-N", "1", "--resume", "--job-dir", "job" }, { stdin = t:path "list" })
    t:expect(r, 0)
    assert.equal("0001.txt\n", r.out)
    assert.truthy(r.err:find("1 mini-batch is kept", 1, true), r.err)
    assert.truthy(r.err:find("printing 9 bytes of rows again", 1, true), r.err)
    -- Now the list has ended: standard input is not read again.
    r = map(t, { "-", "-N", "1", "--resume", "--job-dir", "job" })
    t:expect(r, 0)
    assert.equal("0001.txt\n", r.out)
    assert.truthy(r.err:find("printing 9 bytes of rows again", 1, true), r.err)
  end)

  it("without a path is reported", function()
    local t = case(0)
    local r = map(t, { "-" })
    t:expect(r, 1)
    assert.truthy(r.err:find("'standard input' lists no paths", 1, true), r.err)
    t:write("list", "a\0b\0")
    r = map(t, { "-" }, { stdin = t:path "list" })
    t:expect(r, 2)
    assert.truthy(r.err:find("is it a list with NUL between the paths? then use -0\n", 1, true), r.err)
    t:write("list", "a\nb\n")
    r = map(t, { "-", "-0" }, { stdin = t:path "list" })
    t:expect(r, 2)
    assert.truthy(r.err:find("one path of 4 bytes with line breaks", 1, true), r.err)
    assert.truthy(r.err:find("is it a list of lines? then leave out -0\n", 1, true), r.err)
  end)
end)

describe("map's rows", function()
  after_each(job.check_end)

  it("may lose their reader: the job is canceled with the status of SIGPIPE", function()
    local t = case(0, "function run(m) return m end")
    local r = map(t, { "-", "-N", "1", "-j", "1" },
                  { before = shell [[yes /x | "$0" "$@" | head -1; echo "${PIPESTATUS[@]}"]] })
    assert.equal("/x\n141 141 0\n", r.out)
    assert.truthy(r.err:find("the reader of the rows has gone: no more rows are printed", 1, true), r.err)
    local result = json.decode(t:read(job_of(t) .. "/job_result.json"))
    assert.equal("Canceled", result.status)
  end)

  it("without a reader are noticed even while none is written", function()
    local t = case(2, [[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      function run(m) io.open("started", "w"):close() while true do ffi.C.poll(nil, 0, 20) end end]])
    local r = map(t, { "in" }, { before = shell
      [["$0" "$@" | (until [ -e started ]; do read -t 0.01 <>/dev/null; done; exit 0); echo "${PIPESTATUS[0]}"]] })
    assert.equal("141\n", r.out)
  end)

  it("do not delay the job: it ends though their reader sleeps, and none is lost", function()
    local t = case(40, [[
      function run(m) local r = names_of(m) for i, s in ipairs(r) do r[i] = s .. ("x"):rep(20000) end return r end]])
    t:run({}, { before = { "mkfifo", t:path "go" } })
    local p = t:start({ "map", "score.lua", "in", "--progress", "none", "--job-dir", "job" },
                      { before = shell [["$0" "$@" | (read word <go; cat >rows)]] })
    t:wait_for "job/job_result.json"
    assert.is_false(p:has_ended())
    t:write("go", "go\n")
    local r = t:finish(p)
    t:expect(r, 0)
    assert.is_true(t:read "job/score/output/parallel_run_step.txt" == t:read "rows")
    assert.equal(40 * 20009, #t:read "rows")
  end)

  it("of a small job equal the output file byte for byte", function()
    local t = case(30)
    local r = map(t, { "in", "-N", "1", "--job-dir", "job" }, { before = shell [[echo first; "$0" "$@"; echo last]] })
    assert.equal("first\n" .. t:read "job/score/output/parallel_run_step.txt" .. "last\n", r.out)
  end)

  it("do not mix with the JSON result, which names their file", function()
    local t = case(2)
    local r = map(t, { "in", "--json" })
    t:expect(r, 0)
    assert.truthy(r.out:find "^{[^\n]*}\n$")
    assert.equal("Completed", r.result.status)
    assert.same(job.names(2), t:sorted_lines(r.result.steps[1].output:sub(#t.dir + 2)))
    r = map(t, { "in", "--json", "--output", "out.txt" })
    t:expect(r, 0)
    assert.truthy(r.out:find "^{[^\n]*}\n$")
    assert.same(job.names(2), t:sorted_lines "out.txt")
    r = map(t, { "in", "--json", "--output", "-" })
    t:expect(r, 2)
    assert.equal("", r.out)
    assert.truthy(r.err:find("name a file for them: --output FILE", 1, true), r.err)
  end)

  it("are refused if standard output is closed, unless --output names a file", function()
    local t = case(2)
    local function closed(...)
      return t:run({ "map", "score.lua", "in", "--progress", "none", ... },
        { before = { "sh", "-c", '"$@" >&-', "sh" } })
    end
    local r = closed()
    t:expect(r, 2)
    assert.truthy(r.err:find("standard output is closed, and the rows go there; name a file: --output FILE", 1, true),
      r.err)
    t:expect(closed("--output", "rows.txt"), 0)
    assert.same(job.names(2), lines(t:read "rows.txt"))
  end)

  it("are not written with summary_only", function()
    local t = case(2)
    local r = map(t, { "in", "--output-action", "summary_only" })
    t:expect(r, 0)
    assert.equal("", r.out)
  end)

  it("that cannot be written end the job, which names their file", function()
    local t = case(2)
    local r = map(t, { "in" }, { before = shell [["$0" "$@" >/dev/full]] })
    t:expect(r, 3)
    local file = r.err:match "cannot write rows to standard output: no space left on device; they are in '([^']+)'"
    assert.is_truthy(file, r.err)
    assert.is_truthy(io.open(file), r.err)
  end)

  it("reach the file of --output once the job is Completed, not before", function()
    local t = case(3, "function run(m) if io.open 'bad' then error 'no' end return names_of(m) end")
    t:write("bad", "")
    local words = { "in", "--output", "out.txt", "--job-dir", "job", "--run-max-try", "1" }
    local r = map(t, words)
    t:expect(r, 1)
    assert.is_false(t:has "out.txt")
    os.remove(t:path "bad")
    words[#words + 1] = "--resume"
    r = map(t, words)
    t:expect(r, 0)
    assert.equal("", r.out)
    assert.truthy(r.err:find("output: " .. t:path "out.txt", 1, true))
    assert.same(job.names(3), t:sorted_lines "out.txt")
    assert.same(job.names(3), t:sorted_lines "job/score/output/parallel_run_step.txt")
    r = t:run { "map", "score.lua", "in/0001.txt", "--output", "out.txt", "--overwrite" }
    t:expect(r, 0)
    assert.equal("0001.txt\n", t:read "out.txt")
  end)
end)
