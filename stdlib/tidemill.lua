--- The definitions of a pipeline: datasets, configuration, steps.
---
--- A constructor checks its arguments by the program's table of parameters, and returns an object
--- that never changes. Errors name the line of the definition.
local definition = require "tidemill.definition"
local develop = require "tidemill.develop"
local file_dataset = require "tidemill.file_dataset"
local names = require "tidemill.names"
local plan = require "tidemill.plan"
local tabular = require "tidemill.tabular"
local workspace = require "tidemill.workspace"

--- Defines pipelines (datasets, configurations, steps), and submits jobs of them.
---@class tidemill
---@field version string
local M = { version = plan.version, load_script = develop.load_script }

local copy, freeze = definition.copy, definition.freeze

local classes, dataset, stored = file_dataset.classes, file_dataset.dataset, file_dataset.stored
local table_dataset, Tabular
classes.TabularDataset, table_dataset, Tabular = tabular.make {
  dataset = dataset, with = file_dataset.with, files = file_dataset.FileDataset, fields = file_dataset.FIELDS,
}

names.guarded("Dataset.Tabular", Tabular)
M.Dataset = names.guarded("Dataset", { File = file_dataset.File, Tabular = Tabular, get_by_name = stored.get_by_name })
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
M.PipelineParameter = definition.constructor("PipelineParameter", Parameter)

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
M.ParallelRunConfig = definition.constructor "ParallelRunConfig"

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
  local found = dataset("FileDataset", file_dataset.FileDataset, { kind = "files", output = self, name = name })
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
M.ParallelRunStep = definition.constructor "ParallelRunStep"

--- What a pipeline file returns. pipeline:submit{...} starts a job of it (tidemill/job.lua).
---@class tidemill.Pipeline

local answer = names.guard("Pipeline", function() return require("tidemill.job").methods end,
  plan.parameters "Pipeline")
local function job_methods(self, name) return require("tidemill.job").methods[name] or answer(self, name) end
---@type fun(fields: tidemill.Pipeline): tidemill.Pipeline
M.Pipeline = definition.callable("Pipeline", function(fields)
  plan.check("Pipeline", fields)
  local new = freeze("Pipeline", copy(fields), setmetatable({}, { __index = job_methods }))
  return new
end)

--- Runs a pipeline file in this Lua state, and returns its Pipeline.
---@param path string
---@return tidemill.Pipeline
M.load = function(path) return require("tidemill.job").load(path) end
return names.guarded("tidemill", M)
