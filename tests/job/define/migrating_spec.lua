-- Every name of the original in the manual's migrating.md is tried: what the page calls accepted is
-- accepted, and what it answers with "none: WORDS" is answered by the program in these words.
local job = require "support.job"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"

-- The page writes the names of fields, methods and functions as they are in Python; `tries` says
-- how each is used in Lua. Where the name is a key of a configuration or a step, its value is
-- enough.
local function config(value) return { config = value } end
local function step(value) return { step = value } end

local tries = {
  ["entry_script"] = config '"score.lua"', ["source_directory"] = config '"."', ["mini_batch_size"] = config '"5"',
  ["partition_keys"] = config 'tm.PipelineParameter { name = "keys", default_value = \'["store"]\' }',
  ["error_threshold"] = config "-1", ["allowed_failed_count"] = config "-1", ["allowed_failed_percent"] = config "-1",
  ["output_action"] = config '"summary_only"', ["append_row_file_name"] = config '"a.txt"',
  ["process_count_per_node"] = config "2", ["node_count"] = config "1", ["compute_target"] = config '"local"',
  ["environment"] = config '"AzureML-Minimal"', ["environment_variables"] = config '{ A = "1" }',
  ["logging_level"] = config '"DEBUG"', ["run_invocation_timeout"] = config "600", ["run_max_try"] = config "2",
  ["description"] = config '"text"', ["compute_target_name"] = config '"x"', ["models"] = config "{}",
  ["tags"] = config "{}", ["properties"] = config "{}", ["max_concurrency_per_instance"] = config "2",
  ["append_row_to"] = config '"a.txt"', ["mini_batch_error_threshold"] = config "5",
  ["instance_count"] = config "1", ["code"] = config '"."', ["compute"] = config '"x"', ["identity"] = config '"x"',
  ["retry_settings.max_retries"] = "return tm.ParallelRunConfig { entry_script = 's.lua', "
    .. "retry_settings = { max_retries = 2 } }",
  ["retry_settings.timeout"] = "return tm.ParallelRunConfig { entry_script = 's.lua', "
    .. "retry_settings = { timeout = 5 } }",

  ["name"] = step '"score"', ["parallel_run_config"] = step "config", ["inputs"] = step "files",
  ["side_inputs"] = step "files", ["output"] = step "output", ["arguments"] = step '{ "--a", 1 }',
  ["allow_reuse"] = step '"True"', ["is_deterministic"] = step "true", ["input_data"] = step "files",
  ["outputs"] = step "{}", ["program_arguments"] = step '"x"', ["task"] = step "{}", ["display_name"] = step '"x"',
  ["experiment_name"] = step '"x"', ["version"] = config '"x"',

  ["Pipeline(steps=...)"] = "return tm.Pipeline { name = 'case', steps = { score } }",
  ["Pipeline(workspace=...)"] = "return tm.Pipeline { workspace = workspace, name = 'case', steps = { score } }",
  ["Pipeline(default_source_directory=...)"] =
    "return tm.Pipeline { default_source_directory = 'd', name = 'case', steps = { score } }",
  ["pipeline.submit()"] = "local job = tm.Pipeline { name = 'case', steps = { score } }:submit() job:wait() "
    .. "job:close()",
  ["pipeline.submit(pipeline_parameters=...)"] = "return pipeline:submit { pipeline_parameters = {} }",
  ["pipeline.submit(regenerate_outputs=...)"] = "return pipeline:submit { regenerate_outputs = true }",
  ["pipeline.submit(experiment_name=...)"] = "return pipeline:submit { experiment_name = 'x' }",
  ["pipeline.submit(tags=...)"] = "return pipeline:submit { tags = {} }",
  ["PipelineParameter(name, default_value)"] = "return tm.PipelineParameter { name = 'p', default_value = 'x' }",
  ["DatasetConsumptionConfig(name, parameter)"] = "return tm.DatasetConsumptionConfig('x', parameter, 'mount')",
  ["OutputFileDatasetConfig(name, destination)"] = "return tm.OutputFileDatasetConfig { name = 'x', "
    .. "destination = { store, '{run-id}/{output-name}' } }",
  ["OutputFileDatasetConfig(source=...)"] = "return tm.OutputFileDatasetConfig { name = 'x', source = 'y' }",
  ["from_json_lines_files(infer_column_types)"] =
    "return tm.Dataset.Tabular.from_json_lines_files { path = 'x.jsonl', infer_column_types = false }",
  ["output.as_upload()"] = "return tm.OutputFileDatasetConfig { name = 'x', destination = 'd' }:as_upload()",
  ["output.as_upload(overwrite=True)"] = "return output:as_upload { overwrite = true }",
  ["output.as_mount(overwrite=True)"] = "return output:as_mount { overwrite = true }",
  ["output.as_upload(source_globs=...)"] = "return output:as_upload { source_globs = '*.txt' }",
  ["output.as_mount(disable_metadata_cache=...)"] = "return output:as_mount { disable_metadata_cache = true }",
  ["output.as_input(name)"] = "return output:as_input 'x'",
  ["output.register_on_complete(name)"] = "return output:register_on_complete 'x'",

  ["Dataset.File.from_files(path, partition_format)"] = "return tm.Dataset.File.from_files { path = 'in', "
    .. "partition_format = '{a}.txt' }",
  ["from_files((datastore, path))"] = "return tm.Dataset.File.from_files({ store, 'x' })",
  ['from_files(path=datastore.path("texts"))'] = "return tm.Dataset.File.from_files { path = { store, 'texts' } }",
  ["from_files(validate, is_file)"] = "return tm.Dataset.File.from_files { path = 'in', validate = true }",
  ['df["price"]'] = "return df.c.price[1] + 0", ["df.price"] = "return df.c.price[1] + 0", ["len(df)"] = "return #df",
  ['df[["price", "city"]]'] = 'return df:select { "price" }.c.price[1] + 0',
  ['df["price"] = x'] = 'return df:with_column("price", 2).c.price[1] + 0',
  ['df.drop(columns=["price"])'] = 'return #df:drop { "price" }.columns + 0',
  ['df.rename(columns={"a": "b"})'] = 'return df:rename { price = "b" }.c.b[1] + 0',
  ["pd.read_csv()"] = "return pd.read_csv 'x.csv'",
  ["Dataset.Tabular.from_delimited_files(path, ...)"] = "return tm.Dataset.Tabular.from_delimited_files 'x.csv'",
  ["include_path"] = { table = "true" }, ["infer_column_types"] = { table = "true" },
  ["set_column_types"] = { table = "{ a = tm.DataType.to_long() }" }, ["separator"] = { table = '";"' },
  ["header"] = { table = "true" }, ["partition_format"] = { table = '"{a}.csv"' },
  ["support_multi_line"] = { table = "true" }, ["empty_as_string"] = { table = "true" },
  ["encoding"] = { table = '"utf8"' }, ["validate"] = { table = "true" },
  ["Dataset.Tabular.from_json_lines_files(path, invalid_lines)"] =
    "return tm.Dataset.Tabular.from_json_lines_files('x.jsonl', { invalid_lines = 'drop' })",
  ["Dataset.Tabular.from_sql_query((datastore, sql))"] =
    "return tm.Dataset.Tabular.from_sql_query(store, 'shop.db', 'SELECT 1')",
  ["DataType.to_datetime(formats)"] = "return tm.DataType.to_datetime '%Y'",
  ["table.keep_columns()"] = "return table:keep_columns 'a'",
  ["table.drop_columns()"] = "return table:drop_columns 'a'",
  ["table.take()"] = "return table:take(1)", ["table.skip()"] = "return table:skip(1)",
  ["table.take_sample()"] = "return table:take_sample(0.5)",
  ["table.random_split()"] = "return table:random_split(0.5)",
  ['table.filter(table["age"] > 15)'] = "return table:filter('age', '>', 15)",
  ["table.partition_by(keys, target)"] = "return table:partition_by('n', { store, 'by-n' })",
  ["table.partition_by(name=...)"] = "return table:partition_by { partition_keys = 'n', target = 'by-m', name = 'x' }",
  ["files.as_named_input(name)"] = "return files:as_named_input 'x'",
  ["files.as_mount(path)"] = "return files:as_mount 'x'",
  ["files.as_download(path)"] = "return files:as_download 'x'",
  ["files.register(workspace, name, description, tags, create_new_version)"] =
    "return files:register { workspace = workspace, name = 'x', description = 'd', create_new_version = true }",
  ["files.unregister_all_versions()"] = "return files:register(workspace, 'gone'):unregister_all_versions()",
  ["Dataset.get_by_name(workspace, name, version)"] =
    "files:register(workspace, 'here') return tm.Dataset.get_by_name(workspace, 'here', 1)",

  ["Workspace(subscription_id, resource_group, workspace_name, auth)"] =
    "return tm.Workspace { subscription_id = 's', resource_group = 'g', workspace_name = 'w', auth = {} }",
  ["workspace.get_default_datastore()"] = "return workspace:get_default_datastore()",
  ["workspace.set_default_datastore(name)"] = "return workspace:set_default_datastore 'there'",
  ["Datastore(workspace, name)"] = "return tm.Datastore(workspace, 'there')",
  ["Datastore.get(workspace, name)"] = "return tm.Datastore.get(workspace, 'there')",
  ["datastore.upload(show_progress=...)"] = "return store:upload { src_dir = 'in', show_progress = true }",
  ["datastore.upload()"] = "return store:upload 'in'",
  ["datastore.upload_files()"] = "return store:upload_files { 'x.csv' }",
  ["datastore.download()"] = "return store:download 'copy'",
}

-- What the page says to write instead, as the page has it, and Lua that does so; `true`: the words
-- are Lua themselves.
local replacements = {
  ["job:wait()"] = true, ["job:status()"] = true, ["job:result()"] = true, ["job:steps()"] = true,
  ["job.dir"] = "io.open(job.dir .. '/job_result.json'):close()",
  ["job:output() and job:logs() are paths"] = "io.open(job:output()):close() io.open(job:logs()):close()",
  ["Dataset.File.from_files(path)"] = true, ["Dataset.Tabular.from_delimited_files(path)"] = true,
  ["dataset:as_named_input(name)"] = true, ["dataset:partition_by(keys, target):register(workspace, name)"] =
    "dataset:partition_by({ 'n' }, 'by-k'):register(workspace, 'by-k')",
  ["table:filter(column, \">=\", \"2026-01-31\")"] = "dataset:filter(column, '>=', '2026-01-31')",
  ["output:read_delimited_files():as_input(name)"] = true, ["output:as_input(name)"] = true,
  ["output:read_delimited_files():keep_columns(...)"] = "output:read_delimited_files():keep_columns 'a'",
  ["dataset:register(workspace, name, { create_new_version, description, tags })"] =
    "dataset:register(workspace, name, { create_new_version = true, description = 'd', tags = { a = 'b' } })",
  ["Dataset.get_by_name(workspace, name, version)"] = true, ["dataset:unregister_all_versions()"] =
    "dataset:register(workspace, 'gone', {}):unregister_all_versions()",
  ["Dataset.File.from_files(datastore, path)"] = true,
  ["datastore:upload(folder, path)"] = "datastore:upload('in', 'a')",
  ["Datastore(workspace, name)"] = "Datastore(workspace, 'there')", ["workspace:list_datastores()"] = true,
  ["Workspace.from_config()"] = true, ["Dataset.Tabular.from_sql_query(datastore, \"shop.db\", query)"] = true,
  ["set_column_types = { column = \"string\" }"] =
    "Dataset.Tabular.from_json_lines_files(path, { set_column_types = { a = 'string' } })",
  ["for row in df:rows() do ... end"] = "for row in df:rows() do assert(row.price) end",
  ["df:slice(first, last)"] = "df:slice(1, 2)", ["df:filter(column, sign, value)"] = true, ["df:to_table()"] = true,
  ["df:group_by(column):agg { total = { \"sum\", column } }"] = true,
  ["df:sort(column):head(n)"] = "df:sort(column):head(1)",
  ["df:join(other, { on = { column }, how = \"left\" })"] = true,
  ["df:map(fn)"] = "df:map(function() return { a = 1 } end)",
  ["df:with_column(name, function(row) ... end)"] = "df:with_column(name, function(row) return row.price end)",
  ["frame.concat { df, other }"] = true, ["df:unique(column)"] = true, ["df:value_counts(column)"] = true,
  ["df:fill_null { column = value }"] = "df:fill_null { price = 1 }",
  ["df:filter(function(row) return row.NAME ~= nil end)"] = "df:filter(function(row) return row.price ~= nil end)",
  ["df:cast { column = type }"] = "df:cast { price = 'string' }", ["df:describe()"] = true, ["tostring(df)"] = true,
  ["df:write_csv(path) or df:write_json_lines(path)"] = "df:write_csv 'o.csv' df:write_json_lines 'o.jsonl'",
  ["df.c.NAME:sum(), :mean(), :min(), :max(), :std(), :count()"] =
    "for _, f in ipairs { 'sum', 'mean', 'min', 'max', 'std', 'count' } do df.c.price[f](df.c.price) end",
  ["column:to_table()"] = "df.c.price:to_table()", ["#column"] = "return #df.c.price",
  ["frame.from_table { column = { ... } }"] = "frame.from_table { price = { 1 } }",
  ["frame.read_csv(path)"] = true, ["frame.read_json_lines(path)"] = "frame.read_json_lines 'x.jsonl'",
}

-- What a name is used on: the first word of it where it is an object of the tries.
local objects = { run = "job", files = "files", table = "table", output = "output", workspace = "workspace",
                  datastore = "store", df = "df", pd = "pd", score = "score",
                  column = "df.c.price", groups = "df:group_by 'price'",
                  pipeline = "tm.Pipeline { name = 'case', steps = { score } }" }

-- The Lua code that uses a name.
local function code_of(name)
  local try = tries[name]
  if type(try) == "string" then return try end
  if try and try.config then
    return ("return tm.ParallelRunConfig { entry_script = 's.lua', %s = %s }"):format(name, try.config)
  elseif try and try.step then
    return ("local f = { name = 'score', parallel_run_config = config, inputs = files } f[%q] = %s "
      .. "return tm.ParallelRunStep(f)"):format(name, try.step)
  elseif try and try.table then
    return ("return tm.Dataset.Tabular.from_delimited_files('x.csv', { %s = %s })"):format(name, try.table)
  end
  local module = name:match "^import (.*)$"
  if module then return ("return require %q"):format(module) end
  local path, call = name:match "^([%w_%.]+)(%(?)"
  local first, rest = path:match "^([^%.]+)%.?(.*)$"
  if first == "resources" then
    return ("return tm.ParallelRunConfig { entry_script = 's.lua', resources = { %s = 1 } }"):format(rest)
  elseif name == "save_to_yaml()" then
    return "return config:save_to_yaml()"
  end
  local value = objects[first] and ("(%s)"):format(objects[first]) or "tm." .. first
  local sign = objects[first] and call == "(" and ":" or "."
  value = value .. (rest ~= "" and sign .. rest or "")
  return "return " .. value .. (call == "(" and "()" or "")
end

local HEAD = [[
local tm = require "tidemill"
local workspace = tm.Workspace.from_config()
local store = tm.Datastore.register_directory(workspace, "there", "store", { overwrite = true })
local files, rows = tm.Dataset.File.from_files "in", tm.Dataset.Tabular.from_delimited_files "x.csv"
local output = tm.OutputFileDatasetConfig { name = "rows" }
local config = tm.ParallelRunConfig { entry_script = "score.lua" }
local score = tm.ParallelRunStep { name = "score", parallel_run_config = config, inputs = files }
local pipeline = tm.Pipeline { name = "case", steps = { score } }
local job = pipeline:submit()
job:wait()
local parameter = tm.PipelineParameter { name = "data", default_value = files }
local pd = require "tidemill.frame"
local df = pd.from_table { price = { 1.5 } }
local env = { require = require, tm = tm, workspace = workspace, store = store, files = files, table = rows,
              output = output, config = config, score = score, parameter = parameter, pipeline = pipeline,
              job = job, df = df, pd = pd }
local function try(name, code)
  local ok, message = pcall(setfenv(assert(loadstring(code, "=" .. name)), env))
  print(name .. "\t" .. (ok and "accepted" or tostring(message)))
end
]]

local function page()
  local file = assert(io.open(here .. "/../../../lua/manual/migrating.md"))
  local text = file:read "*a"
  file:close()
  return text
end

-- The rows of a section: { names, here, is_renamed }; `is_renamed`: in version 2 of the original.
local function rows_of(section)
  local text = page()
  local part = assert(text:match("\n### " .. section .. "\n(.-)\n##"), section .. " is not in the page")
  local rows = {}
  for line in part:gmatch "[^\n]+" do
    local left, right = line:match "^| (.-) | (.*) |$"
    if left and left ~= "Python" and left ~= "---" then
      local names = {}
      for name in left:gmatch "`([^`]+)`" do names[#names + 1] = name end
      rows[#rows + 1] = { names = names, here = right, is_renamed = left:find("(v2)", 1, true) ~= nil }
    end
  end
  assert(#rows > 5, section .. " has no rows")
  return rows
end

local function new_case()
  local t = job.case()
  t:inputs(2)
  t:script "function run(m) return names_of(m) end"
  t:write("store/file", "")
  t:write("x.csv", "n,a\n1,2\n")
  t:pipeline()
  return t
end

-- The page's answer, or nil where it calls the name accepted.
local function answer_of(row) return row.here:match "^none: (.*)$" end

local function check(row, name, said)
  local answer = answer_of(row)
  if answer then
    assert(said:find(answer, 1, true), ("%s: the page says: %s\nthe program says: %s"):format(name, answer, said))
  else
    assert(said == "accepted", ("%s is not accepted: %s"):format(name, said))
  end
end

describe("the page about migrating from the original", function()
  after_each(job.check_end)

  for _, section in ipairs { "ParallelRunConfig", "ParallelRunStep and Pipeline", "Jobs", "Datasets",
                             "Data frames", "Workspaces and datastores" } do
    it("is right about each name of " .. section, function()
      local t, code, rows = new_case(), { HEAD }, rows_of(section)
      for _, row in ipairs(rows) do
        for _, name in ipairs(row.names) do
          code[#code + 1] = ("try(%q, %q)"):format(name, code_of(name))
        end
      end
      t:write("tries.lua", table.concat(code, "\n"))
      local r = t:run { "lua", "tries.lua" }
      t:expect(r, 0)
      local said = {}
      for name, words in r.out:gmatch "([^\t\n]+)\t([^\n]+)" do said[name] = words end
      for _, row in ipairs(rows) do
        for _, name in ipairs(row.names) do check(row, name, assert(said[name], name .. " was not tried")) end
      end
    end)
  end

  -- What the table of parameters has, the page has, and the other way round.
  it("has each parameter of a configuration once", function()
    local t, on_page = new_case(), {}
    for _, row in ipairs(rows_of "ParallelRunConfig") do
      for _, name in ipairs(not answer_of(row) and row.names or {}) do
        if tries[name] and tries[name].config and not row.is_renamed then on_page[#on_page + 1] = name end
      end
    end
    for name in page():match("\nOnly here: (.-)%.\n"):gmatch "`([^`]+)`" do on_page[#on_page + 1] = name end
    t:write("names.lua", 'print(table.concat(require("tidemill.plan").parameters "ParallelRunConfig", "\\n"))')
    local known = {}
    for name in t:run({ "lua", "names.lua" }).out:gmatch "%S+" do known[#known + 1] = name end
    table.sort(on_page)
    table.sort(known)
    assert.is_true(#known > 30)
    assert.same(known, on_page)
  end)

  it("names replacements that work", function()
    local t, code, text = new_case(), { HEAD }, page()
    t:write("x.jsonl", '{"a":1}\n')
    code[#code + 1] = [[
for key, value in pairs { Dataset = tm.Dataset, Datastore = tm.Datastore, Workspace = tm.Workspace, frame = pd,
                          dataset = rows, datastore = store, other = df, name = "again", path = "x.csv", version = 1,
                          query = "SELECT 1", column = "price", sign = ">", value = 1, io = io, assert = assert,
                          ipairs = ipairs, tostring = tostring } do
  env[key] = value
end
rows:register(workspace, "again")]]
    for words, lua in pairs(replacements) do
      assert(text:find(words, 1, true), words .. " is not in the page")
      lua = lua == true and "return " .. words or lua
      code[#code + 1] = ("try(%q, %q)"):format(words, lua)
    end
    t:write("tries.lua", table.concat(code, "\n"))
    local r = t:run { "lua", "tries.lua" }
    t:expect(r, 0)
    for words, said in r.out:gmatch "([^\t\n]+)\t([^\n]+)" do assert.equal("accepted", said, words .. ": " .. said) end
  end)

  it("is right about each argument of the runner", function()
    local values = { logging_level = "DEBUG", profiling_module = "cProfile", append_row_dataframe_header = "True",
                     allowed_failed_percent = "50" }
    for _, row in ipairs(rows_of "Arguments of the runner") do
      for _, name in ipairs(row.names) do
        local word = name:match "^%-%-([%w_]+)"
        local t = new_case()
        if word ~= "resume_from" then
          t:pipeline(nil, ("arguments = { '--%s', '%s' }"):format(word, values[word] or "5"))
          local r = t:run { "run", "pipeline.lua", "--job-dir", "job" }
          local log = r.status == 0 and t:log "sys/master_role.txt" or ""
          local note = log:match("argument '%-%-" .. word .. "' is not used; ([^\n]*)")
          assert(r.status == (answer_of(row) and not note and 2 or 0), name .. ": " .. r.err)
          check(row, name, note or (r.status == 0 and "accepted") or r.err)
        end
      end
    end
  end)

  it("names options of map that exist", function()
    local t, options = new_case(), 0
    local help = t:run({ "help", "map" }).out
    local part = assert(page():match "\n## From GNU parallel\n(.*)$")
    for right in part:gmatch "\n| [^\n]- | ([^\n]*) |" do
      for option in right:gmatch "`%-%-(%l[%l-]*)" do
        options = options + 1
        assert.is_truthy(help:find("--" .. option, 1, true), "map has no --" .. option)
      end
      for name in right:gmatch "`tidemill (%l+)" do t:expect(t:run { "help", name }, 0) end
    end
    assert.is_true(options > 15)
  end)

  it("is right about the replacements for Python in an entry script", function()
    local code = {}
    for _, row in ipairs(rows_of "Entry script") do
      for expression in row.here:gmatch "`([^`]+)`" do
        local module = expression:match "^tidemill%.[%l_]+$"
        if module then
          code[#code + 1] = ("out[#out + 1] = require %q and %q"):format(module, module)
        elseif expression:find "^context%.[%l_]+$" or expression:find "^EntryScript%(%)%.[%l_]+$" then
          code[#code + 1] = ("out[#out + 1] = tostring(pcall(function() return %s end)) .. ' %s'"):format(expression,
            expression)
        end
      end
      for _, name in ipairs(answer_of(row) and row.names or {}) do
        local words = answer_of(row)
        code[#code + 1] = ("local ok, m = pcall(function() return %s end) out[#out + 1] = "
          .. "tostring(not ok and m:find(%q, 1, true) ~= nil) .. ' ' .. tostring(m)"):format(name, words)
      end
      for _, name in ipairs(row.here == "the same" and row.names or {}) do
        if name:find "^%.[%l_]+$" then
          code[#code + 1] = ("out[#out + 1] = tostring(EntryScript()%s ~= nil) .. ' %s'"):format(name, name)
        end
      end
    end
    assert.is_true(#code > 12)
    local t = new_case()
    t:script("local EntryScript = require 'tidemill.entry_script'\nfunction run(m, context)\nlocal out = {}\n"
      .. table.concat(code, "\n") .. "\nreturn out end")
    t:expect_job(0)
    for _, row in ipairs(t:rows()) do assert.is_truthy(row:find "^true " or row:find "^tidemill", row) end
  end)
end)
