--- The definitions of a pipeline: datasets, configuration, steps.
---
--- A constructor checks its arguments by the program's table of parameters, and returns an object
--- that never changes. Errors name the line of the definition.
local develop = require "tidemill.develop"
local plan = require "tidemill.plan"
local archives = require "tidemill.archives"
local names = require "tidemill.names"
local tables = require "tidemill.tables"
local tabular = require "tidemill.tabular"
local workspace = require "tidemill.workspace"

--- Defines pipelines (datasets, configurations, steps), and submits jobs of them.
---@class tidemill
---@field version string
local M = { version = plan.version, load_script = develop.load_script }

local function refuse_write(object, key)
  plan.raise(("%s cannot be changed: '%s' is set once, where it is defined"):format(tostring(object), tostring(key)))
end

-- Copies nested plain tables, so that later changes by the caller do not change the definition.
local function copy(value, seen)
  if type(value) ~= "table" or getmetatable(value) then
    return value
  end
  seen = seen or {}
  if not seen[value] then
    local new = {}
    seen[value] = new
    for k, v in pairs(value) do
      new[k] = copy(v, seen)
    end
  end
  return seen[value]
end

local function freeze(tag, value, methods, id)
  local where = plan.where()
  local name = type(value.name) == "string" and " '" .. value.name .. "'" or ""
  local words = tag .. name .. (where and " (" .. where .. ")" or "")
  return setmetatable({}, {
    __tm_tag = tag,
    __tm_where = where,
    __tm_value = value,
    __tm_id = id,
    __index = methods and setmetatable(value, { __index = methods }) or value,
    __newindex = refuse_write,
    __tostring = function()
      return words
    end,
    __metatable = tag,
  })
end

-- A table that can be called, so that it can also explain names of the original, such as
-- ParallelRunConfig.load_yaml.
local function callable(tag, make)
  return setmetatable({}, {
    __call = function(_, fields) return make(names.check_fields(tag, fields)) end,
    __index = names.guard(tag),
  })
end

local function constructor(tag, methods)
  methods = names.guarded(tag, methods or {}, plan.parameters(tag))
  return callable(tag, function(fields)
    plan.check(tag, fields)
    return freeze(tag, copy(fields), methods)
  end)
end

---@class tidemill.FileDataset
---@field kind "files"|"manifest"|"failed"|"archives"
---@field paths string[]
---@field name? string
---@field registered? string the name that it is registered under
---@field version? integer of the registered dataset
---@field description? string of the registered dataset, as `tags`
---@field tags? table<string, string>
---@field partition_format? string
---@field partition_keys string[] the columns that partition_format reads from paths, in its order
local FileDataset = { mini_batches = develop.datasets.mini_batches }

-- The format has been checked: a key begins after '{' and ends before ':' or '}'.
local function keys_of(partition_format)
  local keys = {}
  for key in (partition_format or ""):gmatch "{([^:}]*)" do
    keys[#keys + 1] = key
  end
  return keys
end

-- `known`: other fields of the object, or nil.
local function dataset(tag, methods, value, known)
  plan.check_dataset(value)
  local more = setmetatable(known or {}, { __index = methods })
  more.partition_keys = keys_of(value.partition_format)
  return freeze(tag, copy(value), more)
end

local KEYS = { "kind", "paths", "output", "name", "null_separated", "on_unreadable", "partition_format", "input",
               "options", "ops", "base_dir", "limit", "mode", "place", "registered", "version", "workspace",
               "parameter" }

-- The fields that a dataset may have: those, and what the registry adds.
local FIELDS = { "description", "tags", "partition_keys", unpack(KEYS) }

-- The methods of datasets, by the type names of the registry.
local classes = { FileDataset = FileDataset }
local stored = workspace.make(freeze, function(tag, definition, known)
  return dataset(tag, classes[tag], definition, known)
end)

local function with(self, tag, methods, key, value)
  names.check_self(self, tag)
  if self.parameter and key ~= "name" then
    plan.raise(("the dataset is PipelineParameter '%s', which is given a name and a place alone; "
      .. "write it into its default_value"):format(self.parameter.name))
  end
  local new = {}
  for _, k in ipairs(KEYS) do
    new[k] = self[k]
  end
  new[key] = value
  return dataset(tag, methods, new)
end

local function with_mode(self, mode, place)
  names.check_self(self, "FileDataset")
  local new = {}
  for _, k in ipairs(KEYS) do
    new[k] = self[k]
  end
  new.mode, new.place = mode, place
  return dataset("FileDataset", FileDataset, new)
end

--- Returns the dataset under another name, which the entry script finds in `context.dataset_name`.
---@param name string
---@return tidemill.FileDataset
function FileDataset:as_named_input(name)
  return with(self, "FileDataset", FileDataset, "name", name)
end

FileDataset.as_input = FileDataset.as_named_input

--- Gives the files to the script at their own paths. This is the default.
---@return tidemill.FileDataset
function FileDataset:as_direct()
  names.check_self(self, "FileDataset")
  return self.mode and with_mode(self, nil, nil) or self
end

--- Puts links to the files into one folder, which exists at `path` while the step runs. Among
--- `arguments` the dataset becomes that path. It is an error if `path` exists, unless it is an
--- empty folder. Without a path, a side input gets a folder of tidemill's choice, and the files of
--- an input stay at their own paths.
---@param path? string relative to the pipeline file
---@return tidemill.FileDataset
function FileDataset:as_mount(path)
  return with_mode(self, "mount", path)
end

--- Puts copies of the files into one folder, like dataset:as_mount() with links.
---@param path? string
---@return tidemill.FileDataset
function FileDataset:as_download(path)
  return with_mode(self, "download", path)
end

--- Takes only the first files in the order of the listing; for archives, the first entries.
---@param count integer
---@return tidemill.FileDataset
function FileDataset:take(count)
  names.check_self(self, "FileDataset")
  if type(count) ~= "number" or count < 1 or count % 1 ~= 0 then
    plan.raise "FileDataset: take(count): accepted: an integer from 1 on"
  end
  return with(self, "FileDataset", FileDataset, "limit", math.min(count, self.limit or count))
end

--- Registers the dataset under a name, with its definition and the current state of its files.
--- Makes a new version only if they differ from the newest one.
---@param in_workspace tidemill.Workspace
---@param name string
---@param options? tidemill.RegisterOptions
---@return tidemill.FileDataset registered
function FileDataset:register(in_workspace, name, options)
  return stored.register(self, in_workspace, name, options)
end

--- Forgets all versions of the registered dataset. The files stay.
function FileDataset:unregister_all_versions()
  stored.unregister_all_versions(self)
end

tables.refuse_for_files(FileDataset)
names.guarded("FileDataset", FileDataset, FIELDS)

local File = {}

--- Makes a dataset of files, folders (recursively) and patterns (`*`, `?`, `**`, `{a,b}`). Relative
--- paths start in the folder of the pipeline file, or with `from_files(datastore, path, options)`
--- in the datastore.
---@param path string|tidemill.PipelineParameter|(string|tidemill.PipelineParameter)[]
---@param options? tidemill.FromFilesOptions
---@return tidemill.FileDataset
---@overload fun(datastore: table, path: string|string[], options?: table): tidemill.FileDataset
function File.from_files(path, options, ...)
  local paths, given, base_dir = workspace.take_datastore("Dataset.File.from_files", path, options, ...)
  given = given == nil and {} or given
  plan.check("Dataset.File.from_files", given)
  local found = dataset("FileDataset", FileDataset, {
    kind = "files", paths = paths, on_unreadable = given.on_unreadable, partition_format = given.partition_format,
    base_dir = base_dir,
  })
  return found
end

--- Makes a dataset of the entries of archives (`.zip`, `.tar`, `.tar.gz`, `.tar.zst`, `.tar.xz`,
--- `.7z`, `.cpio`, ...), given by path, folder or pattern. The entries come in the order of each
--- archive. An archive that cannot be read safely becomes one failed item, with the reason.
---@param path string|string[]
---@param options? tidemill.FromArchivesOptions
---@return tidemill.FileDataset
---@overload fun(datastore: table, path: string|string[], options?: table): tidemill.FileDataset
function File.from_archives(path, options, ...)
  local found = dataset("FileDataset", FileDataset, archives.define(path, options, ...))
  return found
end

--- Makes a dataset of the files that a list names, one path per line. The list is read while the
--- job runs.
---@param path string
---@param options? tidemill.FromManifestOptions
---@return tidemill.FileDataset
function File.from_manifest(path, options)
  options = options == nil and {} or options
  plan.check("Dataset.File.from_manifest", options)
  local paths = type(path) == "string" and { path } or path
  local found = dataset("FileDataset", FileDataset, {
    kind = "manifest", paths = paths, null_separated = options.null_separated,
    partition_format = options.partition_format,
  })
  return found
end

--- Makes a dataset of the items that failed in an earlier job. `job` is its directory, its name, or
--- "latest" for the newest job of the workspace at the time when the file is loaded; a job that you
--- want to resume needs a name. It may also be the path of a `failed_items.jsonl`. The job must
--- have ended. `tidemill run --only-failed JOB` does the same for all steps of a pipeline.
---@param job string
---@param options? tidemill.FromFailedItemsOptions
---@return tidemill.FileDataset
function File.from_failed_items(job, options)
  options = options == nil and {} or options
  plan.check("Dataset.File.from_failed_items", options)
  if type(job) ~= "string" or job == "" then
    plan.raise(("Dataset.File.from_failed_items: the job is a %s; accepted: the directory or name of a job, 'latest', "
      .. "or the path of a failed_items.jsonl"):format(job == "" and "string without a letter" or type(job)))
  end
  local found = dataset("FileDataset", FileDataset, {
    kind = "failed", paths = { plan.failed_items(job, options.step) },
  })
  return found
end

local table_dataset, Tabular
classes.TabularDataset, table_dataset, Tabular = tabular.make {
  dataset = dataset, with = with, files = FileDataset, fields = FIELDS,
}

names.guarded("Dataset.File", File)
names.guarded("Dataset.Tabular", Tabular)
M.Dataset = names.guarded("Dataset", { File = File, Tabular = Tabular, get_by_name = stored.get_by_name })
M.Workspace, M.Datastore = stored.Workspace, stored.Datastore

M.DataType = tabular.DataType

---@class tidemill.PipelineParameter
local Parameter = {}

-- The dataset of a parameter. The method applies to any dataset that the parameter is given.
local function dataset_of(self, method)
  names.check_self(self, "PipelineParameter")
  local default = self.default_value
  local tag = type(default) == "table" and getmetatable(default)
  if not classes[tag] then
    plan.raise(("PipelineParameter '%s': %s(): its default_value is not a dataset"):format(tostring(self.name), method))
  end
  return dataset(tag, classes[tag], { parameter = self })
end

--- Returns the dataset of the parameter under another name.
---@param name string
---@return tidemill.FileDataset
function Parameter:as_named_input(name)
  return dataset_of(self, "as_named_input"):as_named_input(name)
end

--- Puts links to the files of the parameter's dataset into one folder, as dataset:as_mount() does.
---@param path? string
---@return tidemill.FileDataset
function Parameter:as_mount(path)
  return dataset_of(self, "as_mount"):as_mount(path)
end

--- Puts copies of the files of the parameter's dataset into one folder.
---@param path? string
---@return tidemill.FileDataset
function Parameter:as_download(path)
  return dataset_of(self, "as_download"):as_download(path)
end

--- A value that `tidemill run --param NAME=VALUE`, a file of --params-file or `run --like JOB` may
--- set. It may be used for some settings, in `arguments`, for a path of a dataset, and for a value
--- in `filter`. If its default is a dataset, use it in `inputs`; its values are then a path, which
--- replaces the path of the default, or `dataset:NAME` or `dataset:NAME:VERSION`, a registered
--- dataset.
---@type fun(fields: tidemill.PipelineParameter): tidemill.PipelineParameter
M.PipelineParameter = constructor("PipelineParameter", Parameter)

local MODES = { direct = "as_direct", mount = "as_mount", download = "as_download" }

--- Gives a dataset, or a PipelineParameter of one, a name: `dataset:as_named_input(name)`, and its
--- `as_mount()` or `as_download()`.
---@param name string
---@param of tidemill.FileDataset|tidemill.TabularDataset|tidemill.PipelineParameter
---@param mode? "direct"|"mount"|"download" "direct"
---@param path_on_compute? string
---@return tidemill.FileDataset
---@overload fun(arguments: table): tidemill.FileDataset
function M.DatasetConsumptionConfig(name, of, mode, path_on_compute, ...)
  local others
  name, of, mode, path_on_compute, others = names.arguments({ "name", "dataset", "mode", "path_on_compute" }, name, of,
    mode, path_on_compute, ...)
  local tag = getmetatable(of)
  local method = MODES[mode == nil and "direct" or mode]
  local is_known = others == nil or type(others) == "table" and next(others) == nil
  if not is_known or type(name) ~= "string" or not (classes[tag] or tag == "PipelineParameter") or not method then
    plan.raise("DatasetConsumptionConfig(name, dataset, mode, path_on_compute): accepted: a string, a dataset or a "
      .. "PipelineParameter, and \"direct\", \"mount\" or \"download\"")
  end
  local named = of:as_named_input(name)
  return method == "as_direct" and named or named[method](named, path_on_compute)
end

--- How a step is run. Some names of Azure ML's newer configuration are accepted too, and a note
--- gives the name to use here: max_concurrency_per_instance, append_row_to,
--- mini_batch_error_threshold, retry_settings { max_retries, timeout }, instance_count, resources {
--- instance_count }.
---@class tidemill.ParallelRunConfig

--- How a step is run.
---@type fun(fields: tidemill.ParallelRunConfig): tidemill.ParallelRunConfig
M.ParallelRunConfig = constructor "ParallelRunConfig"

--- A folder that a step writes. Another step reads it if the same object is in its `inputs`; that
--- step begins when the first one is Completed. In `arguments`, it becomes the path of the folder.
--- `destination` may also be { datastore, path }.
---@class tidemill.OutputFileDatasetConfig
local Output = {}

-- Copies of an output with other fields are the same output: they share one number.
local ids, outputs = setmetatable({}, { __mode = "k" }), 0

local OUTPUT_KEYS = { "name", "destination", "mode", "archive_format", "partition_format", "register_as", "description",
                      "tags" }

-- A destination may be { datastore, path }.
local function with_destination(fields)
  local given = type(fields) == "table" and fields.destination
  if type(given) ~= "table" or getmetatable(given) and getmetatable(given) ~= "Datastore" then
    return fields
  end
  local new = {}
  for key, value in pairs(fields) do new[key] = value end
  new.destination = workspace.take_place("OutputFileDatasetConfig: destination", given)
  return new
end

local function output(fields, id)
  fields = with_destination(fields)
  plan.check("OutputFileDatasetConfig", fields)
  local new = freeze("OutputFileDatasetConfig", copy(fields), Output, id)
  ids[new] = id
  return new
end

local function fields_of(self)
  names.check_self(self, "OutputFileDatasetConfig")
  local fields = {}
  for _, key in ipairs(OUTPUT_KEYS) do
    fields[key] = self[key]
  end
  return fields
end

--- Makes the folder appear at its destination when the step is Completed, all at once. If the step
--- does not complete, nothing appears. A resumed job that adds rows to the step uploads the folder
--- again. `tidemill verify` compares the destination with the step's own folder.
---@return tidemill.OutputFileDatasetConfig
function Output:as_upload(...)
  local fields = names.without_options("as_upload", fields_of(self), ...)
  fields.mode = "upload"
  local new = output(fields, ids[self])
  return new
end

--- Writes to the destination while the step runs. This is the default.
---@return tidemill.OutputFileDatasetConfig
function Output:as_mount(...)
  local fields = names.without_options("as_mount", fields_of(self), ...)
  fields.mode, fields.archive_format = nil, nil
  local new = output(fields, ids[self])
  return new
end

--- Packs the folder into an archive, the file `destination`, when the step is Completed.
---@param format? "zip"|"tar"|"tar.gz"|"tar.zst" "zip"
---@return tidemill.OutputFileDatasetConfig
function Output:as_archive(format)
  local fields = fields_of(self)
  fields.mode, fields.archive_format = "archive", format == nil and "zip" or format
  local new = output(fields, ids[self])
  return new
end

--- Registers the output as a dataset when the step is Completed, each time as a new version.
---@param name string
---@param options? tidemill.RegisterOnCompleteOptions
---@return tidemill.OutputFileDatasetConfig
---@overload fun(self: table, arguments: table): tidemill.OutputFileDatasetConfig
function Output:register_on_complete(name, options, ...)
  local fields = fields_of(self)
  name, options = names.arguments({ "name" }, name, options, ...)
  options = options == nil and {} or options
  local accepted = type(name) == "string" and type(options) == "table" and not getmetatable(options)
  for key in pairs(accepted and options or {}) do
    accepted = accepted and (key == "description" or key == "tags")
  end
  if not accepted then
    plan.raise "register_on_complete: accepted: a name, and a table { description, tags }"
  end
  fields.register_as, fields.description, fields.tags = name, options.description, copy(options.tags)
  local new = output(fields, ids[self])
  return new
end

--- Makes an input of its files, under a name that the entry script finds in `context.dataset_name`.
---@param name? string
---@return tidemill.FileDataset
function Output:as_input(name)
  names.check_self(self, "OutputFileDatasetConfig")
  local found = dataset("FileDataset", FileDataset, { kind = "files", output = self, name = name })
  return found
end

Output.as_named_input = Output.as_input

--- Makes an input of its rows, as Dataset.Tabular.from_delimited_files() reads them.
---@param options? tidemill.FromDelimitedFilesOptions
---@return tidemill.TabularDataset
function Output:read_delimited_files(options)
  names.check_self(self, "OutputFileDatasetConfig")
  local found = table_dataset("delimited", "Dataset.Tabular.from_delimited_files", { output = self }, options)
  return found
end

--- Makes an input of its rows, as Dataset.Tabular.from_json_lines_files() reads them.
---@param options? tidemill.FromJsonLinesFilesOptions
---@return tidemill.TabularDataset
function Output:read_json_lines_files(options)
  names.check_self(self, "OutputFileDatasetConfig")
  local found = table_dataset("json_lines", "Dataset.Tabular.from_json_lines_files", { output = self }, options)
  return found
end

names.guarded("OutputFileDatasetConfig", Output, OUTPUT_KEYS)

--- The output of a step.
---@type fun(fields: tidemill.OutputFileDatasetConfig): tidemill.OutputFileDatasetConfig
function M.OutputFileDatasetConfig(fields)
  outputs = outputs + 1
  local new = output(names.check_fields("OutputFileDatasetConfig", fields), outputs)
  return new
end

---@alias tidemill.Input tidemill.FileDataset|tidemill.TabularDataset
---|tidemill.OutputFileDatasetConfig
---@alias tidemill.Argument string|number|boolean|tidemill.PipelineParameter|tidemill.Input

---@class tidemill.ParallelRunStep

--- An entry script run over one or more datasets.
---@type fun(fields: tidemill.ParallelRunStep): tidemill.ParallelRunStep
M.ParallelRunStep = constructor "ParallelRunStep"

--- What a pipeline file returns. pipeline:submit{...} starts a job of it (tidemill/job.lua).
---@class tidemill.Pipeline

local answer = names.guard("Pipeline", function() return require("tidemill.job").methods end,
  plan.parameters "Pipeline")
local function job_methods(self, name) return require("tidemill.job").methods[name] or answer(self, name) end
---@type fun(fields: tidemill.Pipeline): tidemill.Pipeline
M.Pipeline = callable("Pipeline", function(fields)
  plan.check("Pipeline", fields)
  local new = freeze("Pipeline", copy(fields), setmetatable({}, { __index = job_methods }))
  return new
end)

--- Runs a pipeline file in this Lua state, and returns its Pipeline.
---@param path string
---@return tidemill.Pipeline
M.load = function(path) return require("tidemill.job").load(path) end
return names.guarded("tidemill", M)
