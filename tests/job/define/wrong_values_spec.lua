-- Every constructor, function and method refuses a value of the wrong type in the line of the
-- caller, and never with an error from within our modules.
local job = require "support.job"

local HEAD = [[
local tm = require "tidemill"
local frame = require "tidemill.frame"
local argparse = require "tidemill.argparse"
local workspace = tm.Workspace.from_config()
local store = tm.Datastore.register_directory(workspace, "there", "store")
local files, rows = tm.Dataset.File.from_files "in", tm.Dataset.Tabular.from_delimited_files "x.csv"
local output = tm.OutputFileDatasetConfig { name = "rows" }
local config = tm.ParallelRunConfig { entry_script = "score.lua" }
local step = tm.ParallelRunStep { name = "score", parallel_run_config = config, inputs = files }
local pipeline = tm.Pipeline { name = "case", steps = { step } }
local parameter = tm.PipelineParameter { name = "data", default_value = files }
local df = frame.from_table { a = { 1 } }
local values = {
  workspace = workspace, store = store, files = files, rows = rows, output = output, config = config, step = step,
  pipeline = pipeline, parameter = parameter, df = df, fn = function() end, num = 3, text = "x", bool = true,
  empty = {}, list = { "x" }, fields = { a = 1 }, pair = { store, "x" }, datasets = { files },
}
local calls, broken = 0, {}

-- A call with a value in each place; names that an object lacks are answered elsewhere.
local function try(what, fn, ...)
  calls = calls + 1
  local ok, message = pcall(fn, ...)
  message = tostring(message)
  if not ok and (not message:find "^tries.lua:%d+: " or message:find "attempt to" or message:find "bad argument"
    or message:find " has no '") then
    broken[#broken + 1] = what .. ": " .. message
  end
end
]]

local FUNCTIONS = HEAD .. [[
local functions = { load = tm.load, ArgumentParser = argparse.ArgumentParser }
for _, name in ipairs { "ParallelRunConfig", "ParallelRunStep", "Pipeline", "PipelineParameter",
                        "OutputFileDatasetConfig", "Workspace", "Datastore", "DatasetConsumptionConfig" } do
  functions[name] = tm[name]
end
for _, names in ipairs { { "File", tm.Dataset.File }, { "Tabular", tm.Dataset.Tabular }, { "Dataset", tm.Dataset },
                         { "DataType", tm.DataType }, { "Datastore", tm.Datastore } } do
  for name, fn in pairs(names[2]) do
    functions[names[1] .. "." .. name] = type(fn) == "function" and fn or nil
  end
end
for name, fn in pairs(functions) do
  for of, value in pairs(values) do
    try(name .. "(" .. of .. ")", fn, value)
    try(name .. "(" .. of .. ", 'y')", fn, value, "y")
    try(name .. "('y', " .. of .. ")", fn, "y", value)
    try(name .. "(workspace, 'y', " .. of .. ")", fn, workspace, "y", value)
    try(name .. "(store, 'y', " .. of .. ")", fn, store, "y", value)
    try(name .. "(store, 'y', 'z', " .. of .. ")", fn, store, "y", "z", value)
  end
end
assert(calls > 2000)
print(table.concat(broken, "\n"))]]

local METHODS = HEAD .. [[
local methods = {
  [files] = { "as_named_input", "as_mount", "as_download", "register", "partition_by", "mini_batches" },
  [rows] = { "keep_columns", "drop_columns", "filter", "take", "skip", "take_sample", "random_split", "partition_by",
             "register" },
  [output] = { "as_upload", "as_mount", "as_archive", "as_input", "read_delimited_files", "read_json_lines_files",
               "register_on_complete" },
  [workspace] = { "get_default_datastore", "set_default_datastore", "list_datastores" },
  [store] = { "upload", "upload_files", "download" },
  [parameter] = { "as_named_input", "as_mount", "as_download" },
}
for object, names in pairs(methods) do
  for _, name in ipairs(names) do
    for of, value in pairs(values) do
      local fn, what = object[name], tostring(object) .. ":" .. name
      try(what .. "(" .. of .. ")", fn, object, value)
      try(what .. "('y', " .. of .. ")", fn, object, "y", value)
      try(what .. "(workspace, 'y', " .. of .. ")", fn, object, workspace, "y", value)
      try(what .. " with a dot, (" .. of .. ")", fn, value)
    end
  end
end
assert(calls > 1500)
print(table.concat(broken, "\n"))]]

describe("a value of the wrong type", function()
  after_each(job.check_end)

  local function all_are_refused_in_the_callers_line(code)
    local t = job.case()
    t:inputs(1)
    t:write("store/x", "")
    t:write("x.csv", "a\n1\n")
    t:write("score.lua", "function run(m) return m end")
    t:write("tries.lua", code)
    local r = t:run { "lua", "tries.lua" }
    t:expect(r, 0)
    assert.equal("\n", r.out)
  end

  it("is refused by each constructor and function", function() all_are_refused_in_the_callers_line(FUNCTIONS) end)

  it("is refused by each method", function() all_are_refused_in_the_callers_line(METHODS) end)
end)
