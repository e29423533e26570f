-- Reusing results of earlier jobs: which steps count as the same, what the program reports about
-- them, and what a reused step leaves behind.
local folder = require "support.folder"
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local steps = require "support.steps"

local NAMES = "function run(m) return names_of(m) end"
-- Each row is the name and the content of a file.
local ECHO = [[
function run(m)
  local rows = {}
  for i, path in ipairs(m) do rows[i] = name_of(path) .. ":" .. io.open(path):read "*l" end
  return rows
end]]

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text)) end

local function run(t, more, o)
  local words = { "run", "pipeline.lua", "--progress", "none", "--json" }
  for _, word in ipairs(more or {}) do words[#words + 1] = word end
  return t:run(words, o)
end

-- Which steps were reused, by name. Checks that the run is Completed.
local function ran(t, more)
  local r = run(t, more)
  t:expect(r, 0)
  local reused = {}
  for _, s in ipairs(r.result.steps) do reused[s.name] = s.reused end
  return reused, r
end

local function expect_run(t, because, more)
  local reused, r = ran(t, more)
  assert.same({ score = false }, reused)
  if because then has(r.err, "step 'score' is run: " .. because) end
  return r
end

local function expect_reused(t, more)
  local reused, r = ran(t, more)
  assert.same({ score = true }, reused)
  return r
end

local function case(config, step)
  local t = job.case()
  t:inputs(4)
  t:script(ECHO)
  t:pipeline(config or "mini_batch_size = 2", step)
  return t
end

local function rows(t, r) return t:sorted_lines(r.result.job_dir .. "/score/output/parallel_run_step.txt") end

local function set_time(path, seconds) assert(lfs.touch(path, seconds, seconds)) end

describe("the same step again", function()
  after_each(job.check_end)

  it("is reused, and is a job like any other", function()
    local t = case()
    local first = expect_run(t)
    local r = expect_reused(t)
    has(r.err, "step 'score' is reused: script, settings, arguments and 4 input files are as in job 'case-")
    assert.same(rows(t, first), rows(t, r))
    local step = r.result.steps[1]
    assert.equal(4, step.items.succeeded)
    assert.equal(first.result.job_dir, step.reused_from)
    assert.not_equal(first.result.steps[1].output, step.output)
    t:expect(t:run { "verify", r.result.job_dir }, 0)
    local status = t:run { "status", r.result.job_dir }
    has(status.out, "reused from:  " .. first.result.job_dir)
    for _, words in ipairs { {}, { "--errors" }, { "--worker", "process000" }, { "--mini-batch", "0" } } do
      local logs = t:run { "logs", r.result.job_dir, unpack(words) }
      has(logs.err, "was reused from job '" .. first.result.job_dir)
      assert.is_nil(logs.err:find("has not been tried", 1, true))
    end
    t:expect(t:run { "replay", r.result.job_dir, "--mini-batch", "0" }, 0)
    t:expect(t:run { "resume", r.result.job_dir, "--verify-input" }, 0)
  end)

  it("keeps its result when the earlier job is removed", function()
    local t = case()
    local first = expect_run(t)
    local second = expect_reused(t)
    folder.remove_tree(first.result.job_dir)
    assert.equal(4, #rows(t, second))
    assert.equal(4, #rows(t, expect_reused(t)))
  end)

  it("runs with --no-reuse, or if allow_reuse is false", function()
    local t = case()
    expect_run(t)
    expect_run(t, nil, { "--no-reuse" })
    t:pipeline("mini_batch_size = 2", "allow_reuse = false")
    expect_run(t)
  end)

  it("is reused by another pipeline of the workspace", function()
    local t = case()
    expect_run(t)
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub('name = "case"', 'name = "other"')))
    expect_reused(t)
  end)

  it("runs if the earlier job had its own directory", function()
    local t = case()
    t:write("workspace/.keep", "")
    t:expect_job(0)
    folder.remove_tree(t.job_dir)
    local r = t:expect_job(0)
    assert.is_false(r.result.steps[1].reused)
    has(r.err, "step 'score' is run: its earlier result is gone: it was in the directory of this job")
    assert.equal(4, #t:rows())
  end)

  it("is reused even with its own directory if there is a workspace", function()
    local t = case()
    expect_run(t)
    local r = t:expect_job(0)
    assert.is_true(r.result.steps[1].reused)
    assert.equal(4, #t:rows())
  end)
end)

describe("a step runs again after a change of", function()
  after_each(job.check_end)

  it("an input's size, time or existence", function()
    local t = case()
    expect_run(t)
    t:write("in/0002.txt", "two\n")
    local r = expect_run(t, "input 'in/0002.txt': size 2 -> 4")
    assert.same({ "0001.txt:1", "0002.txt:two", "0003.txt:3", "0004.txt:4" }, rows(t, r))
    set_time(t:path "in/0001.txt", 1000000000)
    expect_run(t, "input 'in/0001.txt': modified ")
    t:write("in/0005.txt", "5\n")
    expect_run(t, "input 'in/0005.txt' is new")
    os.remove(t:path "in/0003.txt")
    expect_run(t, "input 'in/0003.txt' is gone")
    expect_reused(t)
  end)

  it("its script, its arguments, or a setting", function()
    local t = case()
    expect_run(t)
    t:script(ECHO .. "\n-- edited")
    expect_run(t, "'score.lua' has changed")
    t:pipeline("mini_batch_size = 2", 'arguments = { "--fast" }')
    expect_run(t, "arguments[1] none -> \"--fast\"")
    t:pipeline("mini_batch_size = 1", 'arguments = { "--fast" }')
    expect_run(t, "mini_batch_size 2 -> 1")
    t:pipeline("mini_batch_size = 1, environment_variables = { MODE = \"a\" }", 'arguments = { "--fast" }')
    expect_run(t, "environment_variables none -> [\"MODE\"]")
    t:pipeline("mini_batch_size = 1, environment_variables = { MODE = \"b\" }", 'arguments = { "--fast" }')
    local r = expect_run(t, "environment_variables [\"MODE\"] -> [\"MODE\"], with other values")
    assert.is_nil(r.err:find '"b"')
  end)

  it("but not of a setting that cannot change its result", function()
    local t = case()
    expect_run(t)
    t:pipeline([[mini_batch_size = 2, process_count_per_node = 1, run_invocation_timeout = 7, run_max_try = 9,
      logging_level = "DEBUG", description = "a note", error_threshold = 3]])
    expect_reused(t)
  end)

  it("a file in its source_directory, unless that is ignored", function()
    local t = job.case()
    t:inputs(1)
    t:script("local words = require 'words'\nfunction run(m) return { words } end", "src/score.lua")
    t:write("src/words.lua", "return 'one'")
    t:write("src/.tidemillignore", "# not needed\n*.log\n/notes/\n")
    t:write("src/notes/a.txt", "a")
    t:pipeline 'mini_batch_size = 1, source_directory = "src"'
    local first = expect_run(t)
    t:write("src/notes/a.txt", "other")
    t:write("src/out.log", "line")
    assert.is_false(t:has(first.result.job_dir .. "/script/score/notes"))
    expect_reused(t)
    t:write("src/words.lua", "return 'two'")
    assert.same({ "two" }, rows(t, expect_run(t, "'words.lua' has changed")))
  end)

  it("its earlier output", function()
    local t = case()
    local first = expect_run(t)
    local file = assert(io.open(first.result.steps[1].output, "a"))
    file:write "more\n"
    file:close()
    expect_run(t, "its earlier output, of the job '" .. first.result.job_dir .. "', is not as it was: 1 files, ")
  end)

  it("its earlier job, by removal", function()
    local t = case()
    local first = expect_run(t)
    folder.remove_tree(first.result.job_dir)
    expect_run(t, "its earlier result is gone, with the job '" .. first.result.job_dir .. "'")
    expect_reused(t)
  end)
end)

describe("allow_reuse = 'content'", function()
  after_each(job.check_end)

  it("accepts a file rewritten with the same contents, and finds changed contents with the same time", function()
    local t = case(nil, 'allow_reuse = "content"')
    expect_run(t)
    set_time(t:path "in/0001.txt", 1000000000)
    expect_reused(t)
    t:write("in/0001.txt", "9\n")
    set_time(t:path "in/0001.txt", 1000000000)
    expect_run(t, "input 'in/0001.txt': other contents")
    t:pipeline "mini_batch_size = 2"
    expect_run(t, "allow_reuse content -> true")
  end)

  it("is one of three accepted values", function()
    local t = case(nil, 'allow_reuse = "contents"')
    local r = run(t)
    t:expect(r, 2)
    assert.is_truthy(r.err:find "pipeline%.lua:%d+: ParallelRunStep: 'allow_reuse' is \"contents\"; accepted: ")
    assert.is_false(t:has "workspace/jobs")
  end)
end)

describe("inputs of every kind", function()
  after_each(job.check_end)

  local COUNT = "function run(m, c) local n = {} for i = 1, #m do n[i] = i end return n end"

  local function kind(inputs, config)
    local t = job.case()
    t:inputs(3)
    t:script(COUNT)
    t:write("pipeline.lua", ([[
      local tm = require "tidemill"
      return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
        name = "score", inputs = %s,
        parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", %s }
      } } }]]):format(inputs, config or ""))
    return t
  end

  it("a list of paths, and the files that it names", function()
    local t = kind 'tm.Dataset.File.from_manifest "list.txt"'
    t:write("list.txt", "in/0001.txt\nin/0002.txt\n")
    expect_run(t)
    expect_reused(t)
    t:write("in/0002.txt", "two\n")
    expect_run(t, "input 'in/0002.txt': size 2 -> 4")
    t:write("list.txt", "in/0001.txt\n")
    expect_run(t, "input 'in/0002.txt' is gone")
  end)

  it("a table, even without rows or with grouped rows", function()
    for _, config in ipairs { "", 'partition_keys = { "shop" }' } do
      local t = kind('tm.Dataset.Tabular.from_delimited_files "rows/*.csv"', config)
      t:write("rows/a.csv", "shop,amount\nulm,1\nbonn,2\n")
      t:write("rows/b.csv", "shop,amount\n")
      expect_run(t)
      expect_reused(t)
      t:write("rows/b.csv", "shop,amount\nulm,3\n")
      expect_run(t, "input 'rows/b.csv': size 12 -> 18")
    end
  end)

  it("archives, of which only the file counts", function()
    local t = kind 'tm.Dataset.File.from_archives "*.tar"'
    t:write("in/0001.txt", "1\n")
    assert.equal(0, os.execute(("cd '%s' && tar -cf a.tar in"):format(t.dir)))
    expect_run(t)
    expect_reused(t)
    t:write("in/0004.txt", "4\n")
    assert.equal(0, os.execute(("cd '%s' && tar -cf a.tar in in"):format(t.dir)))
    set_time(t:path "a.tar", 1000000000)
    expect_run(t, "input 'a.tar': ")
  end)

  it("side inputs, and datasets among the arguments", function()
    for _, word in ipairs { "side_inputs", "arguments" } do
      local t = kind(('tm.Dataset.File.from_files "in", %s = { tm.Dataset.File.from_files "model" }'):format(word))
      t:write("model/weights.txt", "w")
      expect_run(t)
      expect_reused(t)
      t:write("model/weights.txt", "other")
      expect_run(t, "input 'model/weights.txt': size 1 -> 5")
    end
  end)

  it("hidden files in a folder among the arguments", function()
    for _, word in ipairs { "side_inputs", "arguments" } do
      local t = kind(('tm.Dataset.File.from_files "in", %s = { tm.Dataset.File.from_files "model" }'):format(word))
      t:write("model/.settings/depth.txt", "1")
      expect_run(t)
      expect_reused(t)
      t:write("model/.settings/depth.txt", "20")
      expect_run(t, "input 'model/.settings/depth.txt': size 1 -> 2")
    end
  end)

  it("modules in a module path, and no other files there", function()
    local t = case "mini_batch_size = 2, environment = { module_paths = { 'lib' } }"
    t:write("lib/deep/helper.lua", "return 1")
    t:script("local helper = require 'deep.helper' function run(m) return { helper, helper } end")
    expect_run(t)
    t:write("lib/notes.txt", "none of its modules")
    expect_reused(t)
    t:write("lib/deep/helper.lua", "return 10")
    local r = expect_run(t, "'.tidemill-modules/1/deep/helper.lua' has changed")
    assert.same({ "10", "10", "10", "10" }, rows(t, r))
  end)

  it("targets of links that leave the source_directory", function()
    local t = case 'mini_batch_size = 2, source_directory = "scripts"'
    t:write("library/deep/helper.lua", "return 1")
    t:script("local helper = require 'links.library.deep.helper' function run(m) return { helper, helper } end",
      "scripts/score.lua")
    assert(lfs.mkdir(t:path "scripts/links"))
    assert(lfs.link("../../library", t:path "scripts/links/library", true))
    assert(lfs.link("..", t:path "scripts/links/up", true))
    expect_run(t)
    expect_reused(t)
    t:write("library/deep/helper.lua", "return 10")
    local r = expect_run(t, "'links/library/deep/helper.lua' has changed")
    assert.same({ "10", "10", "10", "10" }, rows(t, r))
  end)

  it("neither a part of a table nor standard input", function()
    local t = kind 'tm.Dataset.Tabular.from_delimited_files("rows/*.csv"):take(1)'
    t:write("rows/a.csv", "shop,amount\nulm,1\nbonn,2\n")
    expect_run(t)
    expect_run(t)
    local r = t:run { "run", "pipeline.lua", "--dry-run", "--explain" }
    has(r.out, "is run: its input is a part of a table: take() or skip()")
  end)
end)

describe("an output with a hidden file in it", function()
  after_each(job.check_end)

  it("is not reused after a change of that file", function()
    local t = case()
    t:script [[
      local es = require("tidemill.entry_script")()
      function run(m)
        local file = io.open(es.output_dir .. "/.index", "w")
        file:write("index")
        file:close()
        return names_of(m)
      end]]
    local r = expect_run(t)
    local second = expect_reused(t)
    for _, dir in ipairs { r.result.job_dir, second.result.job_dir } do
      os.remove(dir .. "/score/output/.index")
    end
    expect_run(t, "its earlier output, of the job '")
  end)
end)

describe("a step that was not Completed", function()
  after_each(job.check_end)

  it("is never reused", function()
    local t = case "mini_batch_size = 1, run_max_try = 1, error_threshold = 0"
    t:script [[function run(m)
      if os.getenv "TIDEMILL_TEST_FAILS" then error "bad" end
      return names_of(m)
    end]]
    t:expect(run(t, nil, { env = { "TIDEMILL_TEST_FAILS=1" } }), 1)
    expect_run(t)
    expect_reused(t)
  end)

  it("is not reused if it was canceled", function()
    local t = case "mini_batch_size = 1, process_count_per_node = 1"
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      function run(m)
        local go = os.getenv "TIDEMILL_TEST_GO"
        io.open(os.getenv "TIDEMILL_TEST_SEEN", "w"):close()
        while not io.open(go) do ffi.C.poll(nil, 0, 5) end
        return names_of(m)
      end]]
    local env = { "TIDEMILL_TEST_GO=" .. t:path "go", "TIDEMILL_TEST_SEEN=" .. t:path "seen" }
    local p = t:start({ "run", "pipeline.lua", "--progress", "none", "--json" }, { env = env })
    t:wait_for "seen"
    p:kill(15)
    t:write("go", "")
    local r = t:finish(p)
    t:expect(r, 130)
    r = run(t, nil, { env = env })
    t:expect(r, 0)
    assert.is_false(r.result.steps[1].reused)
  end)

  it("with failed items is reused while the thresholds are unchanged", function()
    local t = case "mini_batch_size = 1, run_max_try = 1, error_threshold = 1"
    t:script [[function run(m)
      if number_of(m[1]) == 3 then error "bad" end
      return names_of(m)
    end]]
    expect_run(t)
    local r = expect_reused(t)
    assert.equal(1, r.result.steps[1].items.failed)
    assert.is_true(t:has(r.result.job_dir .. "/score/failed_items.jsonl"))
    has(r.err, "; 1 item failed there\n")
    has(r.err, "warning: step 'score' is reused with 1 failed item, not run again; '--no-reuse' runs the whole step, "
      .. "'--only-failed JOB' runs failed files alone\n")
    has(r.err, "to run the failed items again: tidemill run " .. t.dir .. "/pipeline.lua --only-failed "
      .. r.result.job_dir .. "\n")
    has(r.err, "/score/logs/user/error.txt\n")
    has(t:run({ "run", "pipeline.lua", "--dry-run", "--explain" }).out, "; 1 item failed there")
    t:expect(t:run { "run", "pipeline.lua", "--only-failed", r.result.job_dir, "--job-dir", t:path "alone" }, 1)
    expect_run(t, nil, { "--no-reuse" })
    t:pipeline "mini_batch_size = 1, run_max_try = 1, error_threshold = 0"
    r = run(t)
    t:expect(r, 1)
    has(r.err, "step 'score' is run: items had failed, and error_threshold 1 -> 0")
  end)
end)

describe("steps that feed each other", function()
  after_each(job.check_end)

  local function chain()
    local t = job.case()
    t:inputs(3)
    t:script(NAMES, "first.lua")
    t:script("function run(m) return { io.open(m[1]):read '*a':gsub('\\n', ' ') .. '' } end", "second.lua")
    steps.pipeline(t, [[
      step("first", "first.lua", files "in/*", { output = output.rows }),
      step("second", "second.lua", output.rows),
      step("beside", "first.lua", files "in/*", { arguments = { output.rows } }),
    ]])
    return t
  end

  it("are reused up to the first change", function()
    local t = chain()
    assert.same({ first = false, second = false, beside = false }, (ran(t)))
    local reused, r = ran(t)
    assert.same({ first = true, second = true, beside = true }, reused)
    t:expect(t:run { "verify", r.result.job_dir }, 0)
    t:write("second.lua", t:read "second.lua" .. "-- edited")
    assert.same({ first = true, second = false, beside = true }, (ran(t)))
    assert.same({ first = true, second = true, beside = true }, (ran(t)))
    t:write("in/0004.txt", "4")
    reused, r = ran(t)
    assert.same({ first = false, second = false, beside = false }, reused)
    has(r.err, "step 'first' is run: input 'in/0004.txt' is new")
    has(r.err, "step 'second' is run: input 'first/output/parallel_run_step.txt': size 27 -> 36")
  end)

  it("run again if the output among their arguments changed", function()
    local t = chain()
    ran(t)
    t:write("first.lua", t:read "first.lua" .. "-- edited")
    local reused, r = ran(t)
    assert.same({ first = false, second = false, beside = false }, reused)
    has(r.err, "step 'beside' is run: ")
  end)

  it("share one copy of a script", function()
    local t = chain()
    local _, r = ran(t)
    local scripts = r.result.job_dir .. "/script/"
    assert.equal("directory", lfs.symlinkattributes(scripts .. "first", "mode"))
    assert.equal("link", lfs.symlinkattributes(scripts .. "beside", "mode"))
    assert.equal("directory", lfs.symlinkattributes(scripts .. "second", "mode"))
  end)

  it("leave the files at a destination alone", function()
    local t = job.case()
    t:inputs(2)
    t:script(NAMES)
    for _, how in ipairs { "", ":as_upload()" } do
      local place = how == "" and "mounted" or "uploaded"
      t:pipeline("mini_batch_size = 1", ([[
        output = tm.OutputFileDatasetConfig { name = "rows", destination = "%s" }%s]]):format(place, how))
      local first = expect_run(t, nil, { "--no-reuse" })
      assert.equal(2, #t:sorted_lines(place .. "/parallel_run_step.txt"))
      local r = expect_reused(t)
      assert.same(rows(t, first), rows(t, r))
      t:write(place .. "/another.txt", "x")
      r = run(t)
      t:expect(r, 2) -- the step runs, and finds files that are not its own
      has(r.err, "is not as it was")
      has(r.err, "is not empty, and its contents are not this job's")
    end
  end)
end)

describe("--dry-run --explain", function()
  after_each(job.check_end)

  local function explained(t)
    local r = t:run { "run", "pipeline.lua", "--dry-run", "--explain", "--json" }
    t:expect(r, 0)
    local by_name = {}
    for _, s in ipairs(json.decode(r.out).steps) do by_name[s.name] = s.reuse end
    return by_name
  end

  it("says for each step whether it would be reused, and what has changed", function()
    local t = job.case()
    t:inputs(2)
    t:script(NAMES)
    steps.pipeline(t, [[
      step("second", "score.lua", output.rows),
      step("first", "score.lua", files "in/*", { output = output.rows }),
    ]])
    assert.equal("there is no workspace yet", explained(t).first.why)
    assert.is_false(t:has "workspace")
    local _, r = ran(t)
    local said = explained(t)
    assert.is_true(said.first.reused)
    assert.is_true(said.second.reused)
    assert.equal(r.result.job_dir, said.second.from)
    t:write("in/0001.txt", "changed\n")
    said = explained(t)
    assert.is_false(said.first.reused)
    assert.equal("input 'in/0001.txt': size 2 -> 8", said.first.why)
    assert.equal("step 'first', whose output it reads, will run", said.second.why)
    local text = t:run { "run", "pipeline.lua", "--dry-run", "--explain" }
    has(text.out, "is run: input 'in/0001.txt': size 2 -> 8")
    has(text.out, "nothing has been run, nothing has been made")
  end)

  it("requires --dry-run", function()
    local t = case()
    local r = t:run { "run", "pipeline.lua", "--explain" }
    t:expect(r, 2)
    has(r.err, "'--explain' goes with --dry-run")
    assert.is_false(t:has "workspace")
  end)
end)

describe("one workspace", function()
  after_each(job.check_end)

  it("can run two jobs at once", function()
    local t = case "mini_batch_size = 1"
    for _ = 1, 3 do
      t:write("in/0001.txt", tostring(os.clock()) .. "\n")
      local started = {}
      for i = 1, 3 do started[i] = t:start { "run", "pipeline.lua", "--progress", "none", "--json" } end
      for _, p in ipairs(started) do
        local r = t:finish(p)
        t:expect(r, 0)
        assert.equal(4, #rows(t, r))
      end
    end
    expect_reused(t)
  end)

  it("with a damaged database loses the reuse, not the job", function()
    local t = case()
    expect_run(t)
    t:write("workspace/workspace.db", ("no database "):rep(1000))
    local r = expect_run(t)
    has(r.err, "earlier results are not looked for, nor those of this job kept: the database '")
  end)
end)

describe(".tidemillignore", function()
  after_each(job.check_end)

  local function refused(text, words)
    local t = job.case()
    t:inputs(1)
    t:script(NAMES, "src/score.lua")
    t:write("src/.tidemillignore", text)
    t:pipeline 'source_directory = "src"'
    local r = run(t)
    t:expect(r, 2)
    has(r.err, t:path "src/.tidemillignore" .. words)
    assert.is_false(t:has "workspace")
  end

  it("is refused with file and line, and nothing is started", function()
    refused("# a comment\n\n../other\n", ":3: '../other' is not a pattern: it leads out of the folder")
    refused("a//b\n", ":1: 'a//b' is not a pattern: a name is missing")
    refused("keep.lua\n*.lua\n", ":2: the entry script 'score.lua' is left out by it")
  end)
end)
