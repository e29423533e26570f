-- Names and files of the original that are not Lua, or not here: each is answered in one sentence before anything runs.
local job = require "support.job"

local OK = "function run(m) return names_of(m) end"

local function new_case(config, step, before)
  local t = job.case()
  t:inputs(2)
  t:script(OK)
  t:pipeline(config, step, before)
  return t
end

local function refused(t, words, ...)
  local r = t:run { ... }
  t:expect(r, 2)
  assert.is_truthy(r.err:find(words, 1, true), ("'%s' is missing in:\n%s"):format(words, r.err))
  assert.is_nil(r.err:find "a nil value")
end

describe("a pipeline of the original", function()
  after_each(job.check_end)

  it("runs with its node, its target and its environment, and says what is not used", function()
    local t = new_case([[node_count = 1, compute_target = "local", environment = "mnist-env",
      resources = { instance_count = 1 }]])
    refused(t, "'node_count' and 'resources.instance_count' are the same setting", "run", "pipeline.lua")
    t = new_case([[node_count = 1, compute_target = "local", environment = "mnist-env"]],
      [[arguments = { "--copy_logs_to_parent", "True", "--append_row_safe_output", "--mine", "1" }]])
    t:script [[
local arguments = require "tidemill.entry_script" ().arguments
function run(m) return { table.concat(arguments, " ") } end]]
    t:expect_job(0)
    assert.same({ "--mine 1" }, t:rows())
    local log = t:log "sys/master_role.txt"
    for _, words in ipairs { "environment 'mnist-env' is not used: no packages are installed",
                             "argument '--copy_logs_to_parent' is not used; leave it out",
                             "argument '--append_row_safe_output' is not used; leave it out" } do
      assert.is_truthy(log:find(words, 1, true), log)
    end
  end)

  it("is told what to write instead of an argument that would change what run() is given", function()
    local t = new_case(nil, [[arguments = { "--amlbi_file_format", "jsonl" }]])
    refused(t, "pipeline.lua:4: ParallelRunStep: '--amlbi_file_format' in 'arguments' does not exist; write "
      .. "Dataset.Tabular.from_json_lines_files(path)", "run", "pipeline.lua")
  end)

  it("is told what to write instead of a name, at its line", function()
    local t = new_case(nil, nil, "local Model = tm.Model")
    refused(t, "pipeline.lua:2: tidemill has no 'Model'; a model is a file here", "run", "pipeline.lua")
    t = new_case(nil, nil, "tm.Dataset.Tabular.from_parquet_files('x')")
    refused(t, "pipeline.lua:2: Dataset.Tabular has no 'from_parquet_files'; Parquet cannot be read",
      "run", "pipeline.lua")
  end)
end)

describe("Python", function()
  after_each(job.check_end)

  it("is recognised as an entry script, by every command that takes one", function()
    local t = new_case()
    t:write("score.py", "import os\n\ndef run(mini_batch):\n    return mini_batch\n")
    t:write("python.lua", t:read "pipeline.lua":gsub("score%.lua", "score.py"))
    local words = "it is Python, and scripts are Lua here"
    refused(t, "python.lua:3: ParallelRunConfig: 'entry_script' is \"score.py\"; " .. words, "run", "python.lua")
    refused(t, words, "run", "python.lua", "--dry-run")
    refused(t, words, "map", "score.py", "in")
    refused(t, words, "try", "score.py", "in")
  end)

  it("is recognised as a pipeline, and so are notebooks and YAML", function()
    local t = new_case()
    for name, words in pairs { ["p.py"] = "it is Python", ["p.ipynb"] = "it is a notebook of Python",
                               ["environment.yml"] = "it is YAML", ["p.yaml"] = "it is YAML" } do
      t:write(name, "import os\n")
      refused(t, name .. "' is not a pipeline file: " .. words, "run", name)
    end
  end)
end)
