-- What is refused before anything runs: exit status 2, and a message that says where and what to
-- write instead.
local job = require "support.job"
local programs = require "support.programs"

local OK = "function run(m) return names_of(m) end"

local function new_case()
  local t = job.case()
  t:inputs(2)
  t:script(OK)
  t:pipeline()
  return t
end

--- Checks that the job is refused with `status`, that the message matches each of `words`
--- (patterns), and that nothing has started.
local function expect_refusal(t, status, words, more)
  local r = t:expect_job(status, more)
  for _, pattern in ipairs(words) do
    assert.is_truthy(r.err:find(pattern), ("'%s' is missing in:\n%s"):format(pattern, r.err))
  end
  return r
end

describe("a misspelt variable in a pipeline file", function()
  after_each(job.check_end)

  it("is noted once for each line that reads it, and the default is used", function()
    local t = new_case()
    t:write("lib.lua", "return { is_there = not not (not DEBUG) }\n")
    t:pipeline(nil, "allow_reuse = Flase, arguments = { '--level', levle }", [[
local lib = require "lib"
if lib.is_there and not _G.DEBUG and None == nil then for i = 1, 3 do local x = levle end end]])
    local r = t:run { "run", "pipeline.lua", "--dry-run" }
    t:expect(r, 0)
    local noted = {}
    for line, name in r.err:gmatch "note: [^\n]*pipeline%.lua:(%d+): the variable '(%w+)' is not defined" do
      assert.is_nil(noted[name .. line], r.err)
      noted[name .. line], noted[#noted + 1] = true, name
    end
    table.sort(noted)
    assert.same({ "Flase", "levle", "levle" }, { unpack(noted) })
  end)
end)

describe("a pipeline file is refused", function()
  after_each(job.check_end)

  it("when it is missing", function()
    local t = new_case()
    local r = t:run { "run", "nowhere.lua", "--job-dir", "job" }
    t:expect(r, 2)
    assert.is_truthy(r.err:find "nowhere.lua")
    assert.is_false(t:has "job")
  end)

  it("when it is not Lua, fails, or does not return a Pipeline", function()
    for text, words in pairs {
      ["local x = = 1\n"] = { "pipeline.lua:1" },
      ["local a\nlocal b\nerror 'went wrong'\n"] = { "pipeline.lua:3", "went wrong" },
      ["local a\nlocal b = a.b\n"] = { "pipeline.lua:2" },
      ["require 'azureml.core'"] = { "module 'azureml.core' not found: Python's 'azureml.core' is in Lua: "
        .. 'local tidemill = require "tidemill", which has all names\n$' },
      ["require 'numpy'"] = { "module 'numpy' not found: Python's 'numpy' is in Lua: a loop over a column" },
      ["require 'tidemil'"] = { "module 'tidemil' not found: did you mean 'tidemill'?" },
      ["require 'tidemill.fram'"] = { "module 'tidemill.fram' not found: did you mean 'tidemill.frame'?" },
      ["require 'pickle'"] = { "module 'pickle' not found: Python's 'pickle' is in Lua: " },
      ["local a = 1\n"] = { "Pipeline" },
      ["return 42\n"] = { "Pipeline", "number" },
      ["return {}\n"] = { "Pipeline" },
      ["\27LJ compiled"] = { "pipeline.lua' is compiled Lua; accepted: its source" },
    } do
      local t = new_case()
      t:write("pipeline.lua", text)
      expect_refusal(t, 2, words)
      assert.is_false(t:has "job/job.json")
    end
  end)

  it("with the name of a misspelt variable, where its value is missing", function()
    local t = new_case()
    t:pipeline(nil, "inputs = fiels")
    local r = expect_refusal(t, 2, { "ParallelRunStep: 'inputs' is missing" })
    local _, times = r.err:gsub("note: [^\n]*pipeline%.lua:%d+: the variable 'fiels' is not defined: it is nil", "")
    assert.equal(1, times, r.err)
    t:write("pipeline.lua", "return tidemill.Pipeline {}\n") -- the error itself names the variable
    r = expect_refusal(t, 2, { "attempt to index global 'tidemill' %(a nil value%); write above: local tidemill" })
    assert.is_nil(r.err:find("note:", 1, true), r.err)
  end)

  it("with control characters in the message escaped", function()
    local t = new_case()
    t:write("pipeline.lua", "error('a\\27[31m\\r\\255\\nb')")
    local r = expect_refusal(t, 2, { "a\\x1B%[31m\\r\\xFF\nb\n" })
    assert.is_nil(r.err:find "[\27\r\255]")
  end)
end)

describe("a pipeline file", function()
  after_each(job.check_end)

  it("that calls os.exit() is named, and its status is kept unless it is 0", function()
    local t = new_case()
    for code, status in pairs { ["os.exit(7)"] = 7, ["io.write 'printed' os.exit(0, true)"] = 0 } do
      t:write("exit.lua", code)
      for _, command in ipairs { "run", "graph" } do
        local r = t:run { command, "exit.lua" }
        t:expect(r, status == 0 and 2 or status)
        assert.is_truthy(r.err:find(("/exit.lua' ended the program with status %d (os.exit), and there is no job; ")
          :format(status), 1, true), r.err)
        assert.equal(status == 0 and "printed" or "", r.out)
      end
      local r = t:run { "run", "pipeline.lua", "--params-file", "exit.lua" }
      t:expect(r, status == 0 and 2 or status)
      assert.is_truthy(r.err:find(("'exit.lua' ended the program with status %d (os.exit), and nothing has run; a file "
        .. "of parameters ends with: return { NAME = VALUE }"):format(status), 1, true), r.err)
    end
  end)

  it("that calls os.exit() when a mini-batch runs again is named, too", function()
    local t = new_case()
    t:pipeline "environment_variables = { A = 'x' }"
    t:expect_job(0)
    t:write("pipeline.lua", "os.exit(0)")
    local r = t:run { "replay", t.job_dir, "--mini-batch", "0" }
    t:expect(r, 2)
    assert.is_truthy(r.err:find("/pipeline.lua' ended the program with status 0 (os.exit), and the mini-batch has not "
      .. "run; ", 1, true), r.err)
  end)

  it("that ends the program when its job is resumed is named, too", function()
    local t = new_case()
    t:expect_job(0)
    t:write("pipeline.lua", "os.exit(7)")
    local run = { "run", "pipeline.lua", "--resume", "--job-dir", t.job_dir }
    for _, argv in ipairs { { "resume", t.job_dir }, run } do
      local r = t:run(argv)
      t:expect(r, 7)
      assert.is_truthy(r.err:find("/pipeline.lua' ended the program with status 7 (os.exit), and t", 1, true), r.err)
    end
    local r = t:run { "resume", t.job_dir }
    assert.is_truthy(r.err:find("(os.exit), and the job has not been resumed; a pipeline file ends", 1, true), r.err)
  end)

  it("that loops is reported after ten seconds, once", function()
    local t = new_case()
    -- it leaves the processor to other tests
    local loop = "local ffi = require 'ffi' ffi.cdef 'int poll(void *fds, unsigned long n, int ms);' "
      .. "while true do ffi.C.poll(nil, 0, 10) end"
    t:write("loop.lua", loop)
    t:expect_job(0)
    t:write("pipeline.lua", loop)
    local started = {
      loop = t:start { "run", "loop.lua" },
      pipeline = t:start { "resume", t.job_dir },
    }
    for file, p in pairs(started) do
      programs.wait_until("the words", function()
        return t:read(p.err_file):find(("/%s.lua' has been running for 10 s, and the"):format(file), 1, true)
      end, 60)
      p:kill(programs.SIGINT)
      local r = t:finish(p, 60)
      assert.equal(programs.SIGINT, r.signal)
      assert.equal(1, select(2, r.err:gsub("\n", "")))
    end
  end)

  it("that loops is named when Ctrl-C ends it, and so is a file of parameters", function()
    local t = new_case()
    local loop = "local file = assert(io.open('begun', 'w')) file:close() while true do end"
    t:write("loop.lua", loop)
    for words, argv in pairs {
      ["/loop.lua' ran, and there is no job\n"] = { "run", "loop.lua" },
      ["'loop.lua' ran, and nothing has run\n"] = { "run", "pipeline.lua", "--params-file", "loop.lua" },
    } do
      os.remove(t:path "begun")
      local p = t:start(argv)
      programs.wait_until("the loop", function() return t:has "begun" end, 60)
      p:kill(programs.SIGINT)
      local r = t:finish(p, 60)
      assert.equal(programs.SIGINT, r.signal)
      assert.is_truthy(r.err:find("tidemill: interrupted while [^\n]*" .. words), r.err)
    end
  end)
end)

describe("a definition is refused", function()
  after_each(job.check_end)

  -- In the file that t:pipeline() writes, line 3 has the configuration and line 4 the step.
  local config = {
    ["mini_batch_sise = 3"] = { "pipeline.lua:3", "mini_batch_sise", "mini_batch_size" },
    ["mini_batch_size = true"] = { "pipeline.lua:3", "mini_batch_size", "true" },
    ["mini_batch_size = 0"] = { "pipeline.lua:3", "mini_batch_size", "0" },
    ["mini_batch_size = 1.5"] = { "pipeline.lua:3", "mini_batch_size", "1.5" },
    ["mini_batch_size = 'many'"] = { "pipeline.lua:3", "mini_batch_size", "many" },
    ["error_threshold = -2"] = { "pipeline.lua:3", "error_threshold", "%-2" },
    ["run_max_try = 0"] = { "pipeline.lua:3", "run_max_try" },
    ["run_invocation_timeout = 300000"] = { "pipeline.lua:3", "run_invocation_timeout", "259200" },
    ["output_action = 'append_rows'"] = { "pipeline.lua:3", "output_action", "append_row" },
    ["logging_level = 'LOUD'"] = { "pipeline.lua:3", "logging_level", "LOUD", "DEBUG" },
    ["append_row_file_name = 'a/b.txt'"] = { "pipeline.lua:3", "append_row_file_name" },
    ["process_count_per_node = {}"] = { "pipeline.lua:3", "process_count_per_node" },
  }
  for text, words in pairs(config) do
    it("with " .. text, function()
      local t = new_case()
      t:pipeline(text)
      expect_refusal(t, 2, words)
      assert.is_false(t:has "job/job.json")
    end)
  end

  it("with a wrong step", function()
    for text, words in pairs {
      ["name = 'a.b'"] = { "a.b", "32" },
      ["name = 'Score'"] = { "Score" },
      ["name = 'score-'"] = { "score%-" },
      ["inputs = {}"] = { "inputs" },
      ["inputs = tostring 'in/*'"] = { "inputs" },
      ["argumnets = {}"] = { "argumnets", "arguments" },
    } do
      local t = new_case()
      t:pipeline("", text)
      expect_refusal(t, 2, words)
    end
  end)

  it("with two steps of the same name", function()
    local t = new_case()
    t:write("pipeline.lua", [[
local tm = require "tidemill"
local function step()
  return tm.ParallelRunStep {
    name = "score", parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua" },
    inputs = { tm.Dataset.File.from_files "in/*" },
  }
end
return tm.Pipeline { name = "case", steps = { step(), step() } }
]])
    expect_refusal(t, 2, { "score" })
  end)

  it("with two inputs of the same name", function()
    local t = new_case()
    t:write("pipeline.lua", [[
local tm = require "tidemill"
local step = tm.ParallelRunStep {
  name = "score", parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua" },
  inputs = {
    tm.Dataset.File.from_files("in/*"):as_named_input("texts"),
    tm.Dataset.File.from_files("more/*"),
    tm.Dataset.File.from_files("other/*"):as_named_input("texts"),
    tm.Dataset.File.from_files("last/*"),
  },
}
return tm.Pipeline { name = "case", steps = { step } }
]])
    expect_refusal(t, 2, { "two inputs are named 'texts', at %S*pipeline.lua:5 and %S*pipeline.lua:7",
                           "pipeline.lua:2: ParallelRunStep" })
  end)

  it("without a required parameter", function()
    for text, word in pairs {
      ["tm.ParallelRunStep { parallel_run_config = config, inputs = inputs }"] = "name",
      ["tm.ParallelRunStep { name = 'score', inputs = inputs }"] = "parallel_run_config",
      ["tm.ParallelRunStep { name = 'score', parallel_run_config = config }"] = "inputs",
      ["tm.ParallelRunStep { name = 'score', parallel_run_config = tm.ParallelRunConfig {} }"] = "entry_script",
    } do
      local t = new_case()
      t:write("pipeline.lua", ([[
local tm = require "tidemill"
local inputs = { tm.Dataset.File.from_files "in/*" }
local config = tm.ParallelRunConfig { entry_script = "score.lua" }
local step = %s
assert(config and inputs)
return tm.Pipeline { name = "case", steps = { step } }
]]):format(text))
      expect_refusal(t, 2, { word, "pipeline.lua:4" })
    end
  end)

  it("when --param has an invalid value or an unknown name", function()
    local t = new_case()
    t:pipeline [[mini_batch_size = tm.PipelineParameter { name = "size", default_value = 2 }]]
    expect_refusal(t, 2, { "size", "0" }, { "--param", "size=0" })
    expect_refusal(t, 2, { "sise", "size" }, { "--param", "sise=1" })
    expect_refusal(t, 2, { "many" }, { "--param", "size=many" })
    expect_refusal(t, 2, { "size" }, { "--param", "size" })
    t:expect_job(0, { "--param", "size=1" })
  end)
end)

describe("an entry script is refused", function()
  after_each(job.check_end)

  it("when it is missing", function()
    local t = new_case()
    t:pipeline "entry_script = 'nowhere.lua'"
    expect_refusal(t, 2, { "nowhere.lua" })
  end)

  it("when it is not Lua", function()
    local t = new_case()
    t:script "function run(m)\n  return = m\nend"
    expect_refusal(t, 2, { "score.lua:3" })
    t:write("score.lua", "\27LJ compiled")
    expect_refusal(t, 2, { "score.lua' is compiled Lua; accepted: its source" })
    assert.is_false(t:has "job/score/logs/user/stdout/0/process000.stdout.txt")
  end)

  it("without run(), by the first worker, and no second worker starts", function()
    local t = new_case()
    t:inputs(8)
    t:pipeline "mini_batch_size = 1, process_count_per_node = 4"
    t:script "function runn(m) return m end"
    expect_refusal(t, 2, { "run" })
    assert.is_true(t:has_log "user/stdout/0/process000.stdout.txt")
    assert.is_false(t:has_log "user/stdout/0/process001.stdout.txt")
    assert.same({}, t:statuses())
  end)

  it("when run is not a function", function()
    local t = new_case()
    t:script "return { run = 7 }"
    expect_refusal(t, 2, { "score%.lua' defines 'run' as a number; expected a function" })
    assert.same({}, t:statuses())
  end)

  it("unless it returns its hooks in a table", function()
    local t = new_case()
    t:script "return { run = function(m) return names_of(m) end }"
    t:expect_job(0)
    assert.same(job.names(2), t:rows())
  end)
end)

describe("an input", function()
  after_each(job.check_end)

  it("that matches nothing is refused before a job exists, with the path searched", function()
    local t = new_case()
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('"in/%*"', '"absent/*.pgm"')))
    local r = expect_refusal(t, 1, { "pipeline.lua:%d+: no input: nothing matches 'absent/%*%.pgm' in '",
                                     (t.dir:gsub("%p", "%%%0")) })
    assert.is_nil(r.err:find "resume")
    assert.is_false(t:has "job")
    r = t:run { "run", "pipeline.lua" }
    t:expect(r, 1)
    assert.equal(1, select(2, r.err:gsub("\n", "")))
    assert.is_false(t:has "workspace")
  end)

  it("that matches nothing is refused before an earlier step runs", function()
    local t = new_case()
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      local config = tm.ParallelRunConfig { entry_script = "score.lua" }
      local function step(name, pattern)
        return tm.ParallelRunStep { name = name, parallel_run_config = config,
          inputs = { tm.Dataset.File.from_files(pattern):as_named_input "in" } }
      end
      return tm.Pipeline { name = "test", steps = { step("good", "in/*"), step("bad", "im/*") } }
    ]])
    expect_refusal(t, 1, { "step 'bad': .*pipeline.lua:5: no input: nothing matches 'im/%*' in '",
                           "did you mean the folder '.*/in'" })
    assert.is_false(t:has "job")
  end)

  it("with one path out of several that matches nothing causes a warning", function()
    local t = new_case()
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('"in/%*"', '{ "absent/*.pgm", "in/*" }')))
    local r = t:expect_job(0)
    assert.is_truthy(r.err:find("nothing matches 'absent/*.pgm'", 1, true), r.err)
  end)

  it("from a missing list is refused like a missing path", function()
    local t = new_case()
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('from_files%("in/%*"%)', 'from_manifest("absent.txt")')))
    expect_refusal(t, 1, { "no input: the list '" .. t.dir:gsub("%p", "%%%0") .. "/absent.txt' does not exist" })
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('from_manifest%("absent.txt"%)', 'from_files("absent.txt")')))
    t.job_dir = t:path "second"
    expect_refusal(t, 1, { "no input: '" .. t.dir:gsub("%p", "%%%0") .. "/absent.txt' does not exist" })
  end)

  it("in a list that does not exist fails only its mini-batch", function()
    local t = new_case()
    t:write("list.txt", "in/0001.txt\nin/nowhere.txt\n")
    t:script "function run(m) assert(io.open(m[1])):close() return names_of(m) end"
    t:pipeline "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1"
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('from_files%("in/%*"%)', 'from_manifest("list.txt")')))
    local r = t:expect_job(0)
    assert.same({ total = 2, succeeded = 1, failed = 1 }, r.result.steps[1].items)
    assert.same({ "0001.txt" }, t:rows())
  end)
end)

describe("the command line", function()
  after_each(job.check_end)

  it("refuses unknown words, and suggests the nearest", function()
    local t = new_case()
    for _, case in ipairs {
      { { "run", "pipeline.lua", "--job-dirr", "job" }, "%-%-job%-dirr", "%-%-job%-dir" },
      { { "run", "pipeline.lua", "--progress", "loud" }, "loud", "plain" },
      { { "run" }, "PIPELINE", "run" },
      { { "run", "pipeline.lua", "other.lua" }, "other.lua", "" },
      { { "run", "pipeline.lua", "--job-dir" }, "%-%-job%-dir", "" },
      { { "rum", "pipeline.lua" }, "rum", "run" },
    } do
      local r = t:run(case[1])
      t:expect(r, 2)
      for i = 2, 3 do assert.is_truthy(r.err:find(case[i]), r.err) end
    end
    assert.is_false(t:has "job")
  end)

  it("accepts underscores for dashes, and --option=value", function()
    local t = new_case()
    local r = t:run { "run", "--job_dir=" .. t.job_dir, "--progress=none", "pipeline.lua", "--json" }
    t:expect(r, 0)
    assert.same(job.names(2), t:rows())
  end)

  it("prints the version and help", function()
    local t = job.case()
    local r = t:run { "version" }
    t:expect(r, 0)
    assert.is_truthy(r.out:find "%d+%.%d+%.%d+")
    r = t:run { "help" }
    t:expect(r, 0)
    assert.is_truthy(r.out:find "run")
    for name, words in pairs {
      from_delimited_files = "Makes a dataset of the rows of CSV files",
      ParallelRunStep = "parallel_run_config: tidemill.ParallelRunConfig",
      Dataset = "tidemill.Dataset",
      ["Dataset.File"] = ".from_files(",
      Model = "a model is a file here",
      append_row_file_name = "append_row_file_name, of ParallelRunConfig",
    } do
      local named = t:run { "help", name }
      t:expect(named, 0)
      assert.is_truthy(named.out:find(words, 1, true), named.out)
    end
    t:expect(t:run { "help", 'x") os.exit(0) --' }, 2)
    r = t:run { "help", "run" }
    t:expect(r, 0)
    assert.is_truthy(r.out:find "%-%-job%-dir")
  end)

  it("describes a parameter of several constructors once, with an example", function()
    local said = job.case():run({ "help", "partition_format" }).out
    local _, times = said:gsub("accepted:", "")
    assert.equal(1, times, said)
    for _, words in ipairs { "partition_format, of OutputFileDatasetConfig", "Dataset.Tabular.from_json_lines_files\n",
                             '"{store}/{date:yyyy/MM/dd}/*.csv"', "/data/north/2024/01/15/a.csv" } do
      assert.is_truthy(said:find(words, 1, true), said)
    end
  end)

  it("suggests a name of the library, a topic, a parameter or a command for a misspelt one", function()
    local t = job.case()
    for given, words in pairs {
      from_fles = "did you mean 'from_files'?",
      ["Dataset.File.from_fles"] = "did you mean 'Dataset.File.from_files'?",
      ["job:stauts"] = "did you mean 'job:status'?",
      ["Datset.filtr"] = "did you mean 'filter'?",
      ParalelRunConfig = "did you mean 'ParallelRunConfig'?",
      tabels = "did you mean 'tables'?",
      mini_batch_sise = "did you mean 'mini_batch_size'?",
      resum = "did you mean 'resume' or 'resume_from'?",
      nonsense = "or function 'nonsense'; 'tidemill help' lists",
    } do
      local r = t:run { "help", given }
      t:expect(r, 2)
      assert.is_truthy(r.err:find(words, 1, true), r.err)
      assert.is_nil(r.err:find("traceback", 1, true), r.err)
    end
    t:expect(t:run { "help", 'x"os.exit(0)' }, 2)
    t:write("typed", "help 'from_fles'\n")
    local shown = t:run({ "repl" }, { stdin = t:path "typed" }).out
    assert.is_truthy(shown:find("did you mean 'from_files'?", 1, true), shown)
  end)
end)
