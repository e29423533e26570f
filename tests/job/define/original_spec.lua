-- Names and files of the original that Lua or tidemill does not have: the program answers each in
-- one sentence before anything runs.
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

  it("runs with its node, its target and its environment, and lists the unused ones", function()
    local t = new_case([[node_count = 1, compute_target = "local", environment = "mnist-env",
      resources = { instance_count = 1 }]])
    refused(t, "'node_count' and 'resources.instance_count' are the same setting", "run", "pipeline.lua")
    t = new_case([[node_count = 1, compute_target = "local", environment = "mnist-env"]],
      [[arguments = { "--copy_logs_to_parent", "True", "--append_row_safe_output", "--mine", "1" }]])
    t:script [[
local arguments = require "tidemill.entry_script" ().arguments
function run(m) return { table.concat(arguments, " ") } end]]
    local r = t:run_job()
    t:expect(r, 0)
    local _, times = r.err:gsub("warning: step 'score': argument '%-%-copy_logs_to_parent' is not used", "")
    assert.equal(1, times, r.err)
    assert.same({ "--mine 1" }, t:rows())
    local log = t:log "sys/master_role.txt"
    for _, words in ipairs { "environment 'mnist-env' is not used: no packages are installed",
                             "argument '--copy_logs_to_parent' is not used; leave it out",
                             "argument '--append_row_safe_output' is not used; leave it out" } do
      assert.is_truthy(log:find(words, 1, true), log)
    end
  end)

  it("suggests a replacement for an argument that would change the input of run()", function()
    local t = new_case(nil, [[arguments = { "--amlbi_file_format", "jsonl" }]])
    refused(t, "pipeline.lua:4: ParallelRunStep: '--amlbi_file_format' in 'arguments' does not exist; write "
      .. "Dataset.Tabular.from_json_lines_files(path)", "run", "pipeline.lua")
  end)

  it("is reminded to call methods with a colon", function()
    local t = job.case()
    t:inputs(1)
    t:write("dots.lua", [[
local tm = require "tidemill"
local ds, output = tm.Dataset.File.from_files "in", tm.OutputFileDatasetConfig { name = "rows" }
local workspace = tm.Workspace.from_config()
for name, call in pairs {
  as_named_input = function() return ds.as_named_input "x" end, as_mount = function() return ds.as_mount "x" end,
  take = function() return ds.take(3) end, register = function() return ds.register(workspace, "x") end,
  as_input = function() return output.as_input "x" end, as_upload = function() return output.as_upload() end,
  store = function() return workspace.get_default_datastore() end,
  keep = function() return tm.Dataset.Tabular.from_delimited_files("x").keep_columns "a" end,
} do
  local ok, message = pcall(call)
  assert(not ok and message:find("was called with a dot; accepted: a colon", 1, true), name .. ": " .. message)
end
assert(output:read_delimited_files():as_input("rows").name == "rows")]])
    t:expect(t:run { "lua", "dots.lua" }, 0)
  end)

  it("gets an error, never nil, for a name that an object cannot have", function()
    local t = job.case()
    t:inputs(1)
    t:write("x.csv", "n\n1\n")
    t:write("names.lua", [[
local tm = require "tidemill"
local workspace = tm.Workspace.from_config()
local files, rows = tm.Dataset.File.from_files "in", tm.Dataset.Tabular.from_delimited_files "x.csv"
local config = tm.ParallelRunConfig { entry_script = "s.lua" }
local step = tm.ParallelRunStep { name = "score", parallel_run_config = config, inputs = files }
local pipeline = tm.Pipeline { name = "case", steps = { step } }
local frame = require "tidemill.frame"
local objects = {
  { tm, "nothing", "it has: DataType, Dataset," }, { tm, "core", "all names are in one module" },
  { tm, "Pipelines", "did you mean 'Pipeline'?" }, { tm.Dataset, "nothing", "it has: File, Tabular" },
  { rows, "price", 'rows are chosen by table:filter("price", "==", value), and run() reads a column as row["price"]' },
  { rows, "kind", 'TabularDataset has no \'kind\'; rows are chosen by table:filter("kind", "==", value)' },
  { rows, "place", 'rows are chosen by table:filter("place"' },
  { tm.Dataset.File, "nothing", "from_files" }, { tm.Dataset.Tabular, "nothing", "from_delimited_files" },
  { tm.DataType, "nothing", "to_bool" }, { tm.ParallelRunConfig, "nothing", "write ParallelRunConfig { ... }" },
  { files, "nothing", "as_named_input" }, { files, "nmae", "did you mean 'name'?" }, { rows, "nothing", "filter" },
  { files:as_named_input "x", "data_changed_time", "write dataset.registered, its name, and dataset.version" },
  { files, "nothing", "it has: as_direct, as_download, as_input, as_mount, as_named_input, mini_batches, register,"
    .. " take, unregister_all_versions" },
  { tm.OutputFileDatasetConfig { name = "x" }, "keep_columns", "write output:read_delimited_files()" },
  { workspace, "nothing", "get_default_datastore" }, { workspace:get_default_datastore(), "nothing", "upload_files" },
  { config, "nothing", "mini_batch_size" }, { step, "run_after", "a step waits for the outputs" },
  { pipeline, "nothing", "submit" }, { pipeline, "graph", "'tidemill graph FILE.lua' shows it" },
  { tm.PipelineParameter { name = "p", default_value = 1 }, "default_valeu", "did you mean 'default_value'?" },
  { frame.from_table { a = { 1 } }, "iterrows", "write for row in df:rows() do ... end" },
  { frame, "DataFrame", "write frame.from_table { column = { ... } }" },
}
for i, case in ipairs(objects) do
  local ok, message = pcall(function() return case[1][ case[2] ] end)
  assert(not ok and message:find("has no '" .. case[2] .. "'; ", 1, true) and message:find(case[3], 1, true),
    i .. ": " .. case[2] .. ": " .. tostring(message))
end
assert(files.name == nil and rows.tags == nil and config.node_count == nil and pipeline.description == nil)
assert(files[1] == nil and tm[1] == nil)]])
    t:expect(t:run { "lua", "names.lua" }, 0)
  end)

  it("learns what to write for an argument that has another form here", function()
    local t = job.case()
    t:inputs(1)
    t:write("score.lua", "function run(m) return m end")
    t:write("x.csv", "n,a\n1,2\n")
    t:write("forms.lua", [[
local tm = require "tidemill"
local store = tm.Workspace.from_config():get_default_datastore()
local files, rows = tm.Dataset.File.from_files "in", tm.Dataset.Tabular.from_delimited_files "x.csv"
local config = tm.ParallelRunConfig { entry_script = "score.lua" }
local step = tm.ParallelRunStep { name = "one", parallel_run_config = config, inputs = files }
local pipeline = tm.Pipeline { name = "case", steps = { step } }
for words, call in pairs {
  ['is "in" (write a path as Dataset.File.from_files(path)); accepted: a FileDataset'] = function()
    tm.ParallelRunStep { name = "two", parallel_run_config = config, inputs = { "in" } }
  end,
  ["is a ParallelRunStep (its rows and files are in its output"] = function()
    tm.ParallelRunStep { name = "two", parallel_run_config = config, inputs = { step } }
  end,
  ['the argument is "rows"; accepted: a table, OutputFileDatasetConfig { name = value, ... }'] = function()
    tm.OutputFileDatasetConfig "rows"
  end,
  ['a datastore is not its name; write Datastore(workspace, "workspaceblobstore")'] = function()
    tm.OutputFileDatasetConfig { name = "rows", destination = { "workspaceblobstore", "out" } }
  end,
  ["'environment' is a table with 'conda_file' (no packages are installed); accepted"] = function()
    tm.ParallelRunConfig { entry_script = "score.lua", environment = { conda_file = "x.yml" } }
  end,
  ["write dataset:partition_by(keys, target):register(workspace, name)"] = function()
    rows:partition_by({ "n" }, { store, "by-n" }, "by-n")
  end,
  ['datastore:upload: the argument is true; accepted: a table { overwrite'] = function()
    store:upload_files({ "in/0001.txt" }, "a", true)
  end,
  ['dataset:register: the argument is "text"; accepted: a table { create_new_version, description, tags }'] = function()
    files:register(tm.Workspace.from_config(), "texts", "text")
  end,
  ["random_split(fraction, seed): accepted: a number from 0 to 1 and a seed, without names"] = function()
    rows:random_split { percentage = 0.5, seed = 1 }
  end,
  ["'{month:...}' lacks 'yyyy', which its other fields are parts of; '{month}' is a string"] = function()
    tm.Dataset.Tabular.from_delimited_files("x.csv", { partition_format = "/{month:MM}/x.csv" })
  end,
  ["leave it out: FileDataset and TabularDataset are the types"] = function() return tm.AssetTypes.URI_FOLDER end,
  ["the argument is a string; a job has no experiment; accepted: nothing, or a table { job_dir"] = function()
    pipeline:submit "my-experiment"
  end,
} do
  local ok, message = pcall(call)
  assert(not ok and message:find("forms.lua:", 1, true) and message:find(words, 1, true), tostring(message))
end]])
    t:expect(t:run { "lua", "forms.lua" }, 0)
  end)

  it("is warned of a number of bytes that looks like a number of rows", function()
    local t = job.case()
    t:write("x.csv", "n\n1\n2\n3\n")
    t:write("score.lua", "function run(m) return m end")
    for size, is_tiny in pairs { ["5"] = true, ["'5'"] = true, ["64"] = false, ["'5rows'"] = false } do
      t:write("pipeline.lua", ([[
local tm = require "tidemill"
local config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = %s }
local rows = tm.Dataset.Tabular.from_delimited_files "x.csv"
local step = tm.ParallelRunStep { name = "one", parallel_run_config = config, inputs = rows }
return tm.Pipeline { name = "case", steps = { step } }]]):format(size))
      local r = t:run { "run", "pipeline.lua", "--dry-run" }
      t:expect(r, 0)
      local words = 'mini_batch_size 5 is a number of bytes for a table; for rows, write "5rows"'
      assert.equal(is_tiny, (r.out .. r.err):find(words, 1, true) ~= nil, r.out .. r.err)
    end
  end)

  it("learns the option that does what one of the original does", function()
    local t = new_case()
    for option, words in pairs { ["--pipeline_parameters"] = "write --param NAME=VALUE",
                                 ["--regenerate-outputs"] = "write --no-reuse",
                                 ["--experiment_name=x"] = "leave it out: a job is in the workspace of its",
                                 ["--file"] = "write the path alone: tidemill run PIPELINE.lua" } do
      refused(t, "unknown option '" .. option:match "^[^=]+" .. "'; " .. words, "run", "pipeline.lua", option)
    end
    for option, words in pairs { entry_script = "write tidemill map ENTRY.lua INPUT...", jobs = "write -j N",
                                 retries = "write --run-max-try N", halt = "write --allowed-failed-count N",
                                 timeout = "write --run-invocation-timeout SECONDS",
                                 ["keep-order"] = "the order of rows is not fixed: put a key into each row" } do
      refused(t, "unknown option '--" .. option .. "'; " .. words, "map", "--" .. option, "score.lua", "in")
    end
    refused(t, "unknown option '--retries'", "run", "pipeline.lua", "--retries", "2")
  end)

  it("can call methods with named arguments", function()
    local t = job.case()
    t:inputs(2)
    t:write("x.csv", "n,a\n1,2\n")
    t:write("named.lua", [[
local tm = require "tidemill"
local workspace = tm.Workspace.from_config()
local store = tm.Datastore.register_directory(workspace, "there", "store")
local function fails(words, call)
  local ok, message = pcall(call)
  assert(not ok and message:find(words, 1, true), tostring(message))
end
assert(tm.Datastore { workspace = workspace, name = "there" }.path == store.path)
assert(tm.Datastore.get { workspace = workspace, datastore_name = "there" }.path == store.path)
assert(store:upload { src_dir = "in", target_path = "a", overwrite = true }.copied == 2)
assert(store:upload_files { files = { "in/0001.txt" }, target_path = "b" }.copied == 1)
assert(store:upload_files({ "in/0001.txt", "in/0002.txt" }, "b").copied == 1)
assert(store:download { target_path = "copy", prefix = "a/" }.copied == 2)
fails("unknown key 'show_progress'; leave it out", function() store:upload { src_dir = "in", show_progress = true } end)
fails("no file is named", function() store:upload_files { target_path = "b" } end)
assert(store:upload("in", { target_path = "c", overwrite = true }).copied == 2)
local output = tm.OutputFileDatasetConfig { name = "rows" }
local registered = output:register_on_complete { name = "made", description = "d", tags = { a = 1 } }
assert(registered.register_as == "made" and registered.description == "d")
fails("register_on_complete: accepted", function() output:register_on_complete { name = "made", other = 1 } end)
local files = tm.Dataset.File.from_files "in"
assert(files:register(workspace, { name = "texts", create_new_version = true }).version == 1)
assert(tm.Dataset.get_by_name(workspace, { name = "texts", version = 1 }).registered == "texts")
fails("get_by_name: unknown key 'verson'; did you mean 'version'?", function()
  tm.Dataset.get_by_name(workspace, { name = "texts", verson = 1 })
end)
fails("Datastore: unknown key 'nmae'; did you mean 'name'?", function()
  tm.Datastore { workspace = workspace, nmae = "there" }
end)
for _, pair in ipairs { { store, "a", "b" }, { store, "a", overwrite = true } } do
  fails("{ datastore, path } has a further element", function() tm.Dataset.File.from_files(pair) end)
  fails("{ datastore, path } has a further element", function()
    tm.OutputFileDatasetConfig { name = "x", destination = pair }
  end)
end
assert(tm.DatasetConsumptionConfig("x", files, { mode = "mount" }).name == "x")
assert(tm.DatasetConsumptionConfig { name = "x", dataset = files, mode = "mount", path_on_compute = "m" }.name == "x")
fails("accepted: a string, a dataset", function() tm.DatasetConsumptionConfig { name = "x", data = files } end)
local rows = tm.Dataset.Tabular.from_delimited_files "x.csv"
assert(rows:partition_by { partition_keys = { "n" }, target = { store, "by-n" } }.partition_keys[1] == "n")
fails("write dataset:partition_by(keys, target):register(workspace, name)", function()
  rows:partition_by { partition_keys = { "n" }, target = { store, "by-m" }, name = "x" }
end)
for name, words in pairs { ["azureml.core"] = "which has all names", ["azure.ai.ml"] = "which has all names",
                           ["azureml_user.parallel_run"] = 'require "tidemill.entry_script"',
                           pandas = 'require "tidemill.frame"', numpy = "for i = 1, #df" } do
  fails("named.lua:", function() require(name) end)
  fails("module '" .. name .. "' not found: Python's '" .. name .. "' is in Lua: ", function() require(name) end)
  fails(words, function() require(name) end)
end
fails("module 'none.such' not found:", function() require "none.such" end)
fails("module 'len' not found:\n\tno field", function() require "len" end)
table.insert(package.loaders, function(name)
  return name == "re" and function() return "a module of the user" end or "\n\tnot by the user's loader"
end)
assert(require "re" == "a module of the user")
fails("not by the user's loader", function() require "random" end)
for name, object in pairs { OutputFileDatasetConfig = output, Workspace = workspace,
                            PipelineParameter = tm.PipelineParameter { name = "p", default_value = 1 },
                            ParallelRunConfig = tm.ParallelRunConfig { entry_script = "score.lua" } } do
  fails(name .. (name == "Workspace" and ": the argument is already what Workspace returns"
    or ": the argument is a"), function() tm[name](object) end)
end
for _, method in ipairs { "as_upload", "as_mount" } do
  fails("write overwrite = true into ParallelRunConfig { ... }", function()
    output[method](output, { overwrite = true })
  end)
  fails("unknown key 'foo'; accepted: no arguments", function() output[method](output, { foo = 1 }) end)
  fails("accepted: no arguments", function() output[method](output, true) end)
end
assert(tm.OutputFileDatasetConfig { name = "x", destination = "d" }:as_upload { overwrite = false }.mode == "upload")
local ok, message = pcall(tm.Pipeline, workspace, {})
assert(not ok and message:find "^named.lua:%d+: Pipeline: the argument is a Workspace", message)]])
    t:write("store/file", "")
    t:expect(t:run { "lua", "named.lua" }, 0)
  end)

  it("learns which constructor has a key, even for names of the newer configuration", function()
    for key, words in pairs { retry_settings = "write it into ParallelRunConfig { ... }",
                              append_row_to = "write it into ParallelRunConfig { ... }",
                              code = "write source_directory into ParallelRunConfig { ... }" } do
      local t = new_case(nil, key .. " = 1")
      refused(t, "ParallelRunStep: unknown key '" .. key .. "'; " .. words, "run", "pipeline.lua")
    end
    refused(new_case "append_row_to = '${{outputs.rows}}'", "'append_row_to' is \"${{outputs.rows}}\"; accepted: a "
      .. "file name, without a folder; it is an expression of YAML; write the value itself", "run", "pipeline.lua")
    for key, words in pairs { program_arguments = "write arguments into ParallelRunStep { ... }",
                              is_deterministic = "write allow_reuse" } do
      local t = new_case(key .. " = 1")
      refused(t, "ParallelRunConfig: unknown key '" .. key .. "'; ", "run", "pipeline.lua")
      refused(t, words, "run", "pipeline.lua")
    end
  end)

  it("learns which fields the context lacks, and reads nil from unset ones", function()
    local t = new_case()
    t:script [[
function run(m, context)
  local out = {}
  for i, name in ipairs { "dataset", "mini_batch_id", "tyr", "foo" } do
    local ok, message = pcall(function() return context[name] end)
    out[i] = tostring(ok) .. " " .. tostring(message):match "; (.*)"
  end
  for _, name in ipairs { "part", "source", "global_row_index_lower_bound", "partition_key_value", 1 } do
    assert(context[name] == nil, name)
  end
  return out
end]]
    t:expect_job(0)
    local rows = t:rows()
    table.sort(rows)
    assert.same({ "false did you mean 'try'?",
                  "false it has: minibatch_index, prefetched, try, dataset_name, part, source, "
                    .. "global_row_index_lower_bound, partition_key_value, fail, name, open, output_file",
                  "false write context.dataset_name or context.source", "false write context.minibatch_index" }, rows)
  end)

  it("learns the type of an object that is not a configuration", function()
    local t = new_case(nil, "parallel_run_config = tm.OutputFileDatasetConfig { name = 'x' }")
    refused(t, "'parallel_run_config' is an OutputFileDatasetConfig; accepted: ParallelRunConfig", "run",
      "pipeline.lua")
  end)

  it("learns the replacement for a name, at its line", function()
    local t = new_case(nil, nil, "local Model = tm.Model")
    refused(t, "pipeline.lua:2: tidemill has no 'Model'; a model is a file here", "run", "pipeline.lua")
    t = new_case(nil, nil, "tm.Dataset.Tabular.from_parquet_files('x')")
    refused(t, "pipeline.lua:2: Dataset.Tabular has no 'from_parquet_files'; Parquet cannot be read",
      "run", "pipeline.lua")
  end)
end)

describe("a destination", function()
  after_each(job.check_end)

  local function written_to(destination, ...)
    local t = new_case(nil,
      "output = tm.OutputFileDatasetConfig { name = 'rows', destination = " .. destination .. " }",
      [[local workspace = tm.Workspace.from_config()
        local store = tm.Datastore.register_directory(workspace, "there", "store", { overwrite = true })]])
    t:write("store/file", "")
    t:expect_job(0, ...)
    return t
  end

  it("may contain the names of the job and of the output", function()
    local t = written_to "'out/{run-id}/{output-name}'"
    assert.same(job.names(2), t:sorted_lines "out/job/rows/parallel_run_step.txt")
    t.job_dir, t.step_dir = t:path "second", t:path "second/score"
    local r = t:expect_job(0)
    assert.same(job.names(2), t:sorted_lines "out/second/rows/parallel_run_step.txt")
    assert.is_truthy(r.err:find(t:path "out/second/rows", 1, true), r.err)
    t:expect_job(0, { "--resume" })
    t:expect(t:run { "verify", "second" }, 0)
  end)

  it("is refused below a folder whose name contains a placeholder", function()
    local t = new_case(nil, "output = tm.OutputFileDatasetConfig { name = 'rows', destination = 'out' }")
    for _, name in ipairs { "pipeline.lua", "score.lua" } do t:write("a{run-id}/" .. name, t:read(name)) end
    refused(t, "whose name holds {run-id}; rename the folder", "run", "a{run-id}/pipeline.lua")
  end)

  it("is refused with other names in braces", function()
    local t = new_case(nil, "output = tm.OutputFileDatasetConfig { name = 'rows', destination = 'out/{run_id}' }")
    refused(t, "OutputFileDatasetConfig: 'destination' is \"out/{run_id}\"; accepted in braces: {run-id}", "run",
      "pipeline.lua")
  end)

  it("may be a place in a datastore", function()
    local t = written_to "{ store, 'out/{run-id}' }"
    assert.same(job.names(2), t:sorted_lines "store/out/job/parallel_run_step.txt")
    t = new_case(nil, "output = tm.OutputFileDatasetConfig { name = 'rows', destination = { store, '../x' } }",
      "local store = tm.Workspace.from_config():get_default_datastore()")
    refused(t, "'../x' leads out of the datastore", "run", "pipeline.lua")
  end)
end)

describe("a dataset", function()
  after_each(job.check_end)

  it("accepts pairs of a datastore and a path, and named arguments", function()
    local t = job.case()
    t:inputs(3, "store/texts")
    t:script(OK)
    t:write("store/rows/a.csv", "n\n1\n")
    t:write("pipeline.lua", [[
local tm = require "tidemill"
local workspace = tm.Workspace.from_config()
local store = tm.Datastore.register_directory(workspace, "there", "store", { overwrite = true })
local File, Tabular = tm.Dataset.File, tm.Dataset.Tabular
local function equal(a, b) assert(a == b, tostring(a) .. " is not " .. tostring(b)) end
equal(File.from_files({ store, "texts" }).base_dir, store.path)
equal(File.from_files({ { store, "texts" }, { store, "rows" } }).paths[2], store.path .. "/rows")
equal(File.from_files { path = "store/texts", partition_format = "{name}.txt" }.partition_keys[1], "name")
equal(Tabular.from_delimited_files { path = { store, "rows" }, separator = ";" }.options.separator, ";")
Tabular.from_delimited_files({ store, "rows" }):register { workspace = workspace, name = "rows", tags = { a = 1 } }
equal(tm.Dataset.get_by_name { workspace = workspace, name = "rows", version = 1 }.version, 1)
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
  name = "score", inputs = File.from_files({ store, "texts" }),
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua" } } } }]])
    t:expect_job(0)
    assert.same(job.names(3), t:rows())
  end)

  it("from a URL is refused at its line", function()
    local t = new_case(nil, nil, "tm.Dataset.File.from_files 'https://host/a.csv'")
    refused(t, "pipeline.lua:2: FileDataset: 'https://host/a.csv' is a URL, and URLs are not read", "run",
      "pipeline.lua")
  end)

  it("from a query learns the replacement for a datastore and the query", function()
    local t = new_case(nil, nil,
      "tm.Dataset.Tabular.from_sql_query({ tm.Workspace.from_config():get_default_datastore(), 'SELECT 1' })")
    refused(t, "write from_sql_query(datastore, \"shop.db\", query)", "run", "pipeline.lua")
    t = new_case(nil, nil, "tm.Dataset.Tabular.from_sql_query { query = { "
      .. "tm.Workspace.from_config():get_default_datastore(), 'SELECT 1' } }")
    refused(t, "write from_sql_query(datastore, \"shop.db\", query)", "run", "pipeline.lua")
  end)
end)

describe("Python", function()
  after_each(job.check_end)

  it("is recognised as an entry script by every command that takes one", function()
    local t = new_case()
    t:write("score.py", "import os\n\ndef run(mini_batch):\n    return mini_batch\n")
    t:write("python.lua", t:read "pipeline.lua":gsub("score%.lua", "score.py"))
    local words = "it is Python, and scripts are Lua here"
    refused(t, "python.lua:3: ParallelRunConfig: 'entry_script' is \"score.py\"; " .. words, "run", "python.lua")
    refused(t, words, "run", "python.lua", "--dry-run")
    refused(t, words, "map", "score.py", "in")
    refused(t, words, "try", "score.py", "in")
  end)

  it("is refused with the line once, where a pipeline is made and submitted in one line", function()
    local t = new_case()
    t:write("s.lua", "local tm = require 'tidemill' local config = tm.ParallelRunConfig { entry_script = 's.py' } "
      .. "tm.Pipeline { name = 'p', steps = { tm.ParallelRunStep { name = 's', parallel_run_config = config, "
      .. "inputs = tm.Dataset.File.from_files 'in' } } }:submit()")
    local r = t:run { "lua", "s.lua" }
    assert.matches("^tidemill: s%.lua:1: ParallelRunConfig: 'entry_script' is", r.err)
  end)

  it("is recognised as a script, and at the prompt", function()
    local t = new_case()
    t:write("script.py", "import os\n")
    refused(t, "cannot run 'script.py': it is Python", "lua", "script.py")
    t:write("load.lua", "require('tidemill').load_script('script.py')")
    assert.is_truthy(t:run({ "lua", "load.lua" }).err:find("it is Python", 1, true))
  end)

  it("has other words for true and false, which do not become nil", function()
    local t = new_case(nil, "allow_reuse = False")
    refused(t, "pipeline.lua:6: Lua has no 'False'; write false", "run", "pipeline.lua")
    t = new_case()
    t:script "local is_fast = True\nfunction run(m) return names_of(m) end"
    assert.is_truthy(t:run({ "run", "pipeline.lua" }).err:find("Lua has no 'True'; write true", 1, true))
  end)

  it("has names of types, which do not become nil", function()
    local t = new_case()
    local parser = "local parser = require('tidemill.argparse').ArgumentParser() parser:add_argument('--n', "
    t:write("python.lua", parser .. "{ type = int, default = 3 })\n")
    local words = "Lua has no 'int'; write the name of the type as text, \"int\"; int(x) is math.floor(tonumber(x))"
    assert.is_truthy(t:run({ "lua", "python.lua" }).err:find(words, 1, true))
    t:write("lua.lua", parser .. "{ type = \"int\", default = 3 })\nassert(parser:parse_args({ '--n', '4' }).n == 4)\n")
    t:expect(t:run { "lua", "lua.lua" }, 0)
    t:write("pipeline.lua", "local types = { price = float }\n")
    refused(t, "pipeline.lua:1: Lua has no 'float'; write the name of the type as text", "run", "pipeline.lua")
  end)

  it("has such names only as globals: a table that looks into _G gets nil", function()
    local t = new_case()
    local code = [[
      local through = setmetatable({}, { __index = _G })
      assert(through.int == nil and through["float"] == nil and _G.bool == nil and through.print == print)
      for name in pairs(_G) do assert(through[name] == _G[name]) end
      local ok, words = pcall(setfenv(loadstring "return True", through))
      assert(not ok and words:find("Lua has no 'True'; write true", 1, true), words)
      local outer = function() return function() return int end end
      assert(not pcall(outer()))]]
    t:write("lua.lua", code)
    t:expect(t:run { "lua", "lua.lua" }, 0)
    t:script(code .. "\nfunction run(m) return names_of(m) end")
    t:expect(t:run { "run", "pipeline.lua" }, 0)
  end)

  it("has modules and functions for which an entry script learns replacements", function()
    local t = new_case()
    for code, words in pairs { ["Experiment(ws, 'x')"] = "(a nil value); run the pipeline with 'tidemill run FILE.lua'",
                               ["local x = PipelineData { name = 'x' }"] = "; write OutputFileDatasetConfig { name",
                               ["parallel_run_function {}"] = "; write ParallelRunStep { name, parallel_run_config",
                               ["DefaultAzureCredential()"] = "; a workspace is a folder and needs no credentials",
                               ["require('tidemill.json').load 'x'"] = "json.decode(text) of tidemill.json",
                               ["require('tidemill.path').isfile 'x'"] = "fs.stat(path) of tidemill.fs",
                               ["local x = data.x"] = "attempt to index global 'data' (a nil value)\n",
                               ["Model.get_model_path 'm'"] = "a model is a file: put it into source_directory",
                               ["Run.get_context()"] = "EntryScript(), of require",
                               ["sys.exit(1)"] = "sys.exit(text) is error(text)", ["time.time()"] = "process.run",
                               ["os.getcwd()"] = "path.absolute", ["x = __file__ .. ''"] = "EntryScript().script_dir",
                               ["from azureml.core import Workspace"] = "; Python's 'azureml' is in Lua: "
                                 .. "local tidemill = require \"tidemill\", which has all names",
                               ["local store = { path = '/x' } store:path 'y'"] = "is { datastore, \"x\" }",
                               ["import numpy as np"] = "; Python's 'numpy' is in Lua: a loop over a column",
                               ["x = 1_000"] = "'1_000'; a number has no '_' in Lua: 1_000 is 1000",
                               ["import helpers"] = "'import' is Python's; write local x = require" } do
      t:write("python.lua", code .. "\n")
      local r = t:run { "lua", "python.lua" }
      assert.is_truthy(r.err:find(words, 1, true), r.err)
    end
    t:write("numbers.csv", "id,amount\n1,2\n")
    local numbers = t:run { "lua", "numbers.csv" }
    assert.is_truthy(numbers.err:find("'=' expected near '1'", 1, true), numbers.err)
    assert.is_falsy(numbers.err:find("Python", 1, true), numbers.err)
    t:script "from azureml.core import Model"
    local r = t:run { "run", "pipeline.lua" }
    assert.is_truthy(r.err:find("Python's 'azureml' is in Lua: local tidemill = require", 1, true), r.err)
  end)

  it("has lines of Python explained at the prompt", function()
    local t = job.case()
    t:write("typed", "import os\ndef run(m):\n")
    local said = t:run({ "repl" }, { stdin = t:path "typed" })
    local text = said.out .. said.err
    for _, words in ipairs { "stdin:1: '=' expected near 'os'; Python's 'os' is in Lua: ",
                             "; 'def' is Python's; write function" } do
      assert.is_truthy(text:find(words, 1, true), text)
    end
  end)

  it("has names on which help says what to write", function()
    local t = job.case()
    for name, words in pairs { PipelineData = "there is no 'PipelineData' in tidemill; write OutputFileDatasetConfig",
                               append_row_to = "'append_row_to' is called 'append_row_file_name' here",
                               retry_settings = "'retry_settings.max_retries' is called 'run_max_try' here, and counts",
                               copy_logs_to_parent = "there is no argument '--copy_logs_to_parent'; leave it out",
                               iterrows = "there is no 'iterrows' in a data frame; write for row in df:rows()",
                               len = "Python's 'len' is in Lua: #x",
                               ["--append_row_dataframe_header"] = "the same as append_row_header",
                               ["--run-max-try"] = "how often a mini-batch is tried" } do
      local r = t:run { "help", name }
      t:expect(r, 0)
      local said = r.out:gsub("%s+", " ")
      assert.is_truthy(said:find(words, 1, true), said)
    end
    assert.matches("unknown option '%-%-manul'; did you mean '%-%-manual'", t:run({ "help", "--manul" }).err)
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
