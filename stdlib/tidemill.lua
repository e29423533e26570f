--- The definitions of a pipeline: datasets, configuration, steps.
---
--- A constructor checks what it is given and returns an object that does not change any more. The checks are the
--- program's (one table of parameters); nothing here knows a rule. Errors carry the line of the definition.
local develop = require "tidemill.develop"
local plan = require "tidemill.plan"
local archives = require "tidemill.archives"
local names = require "tidemill.names"
local tables = require "tidemill.tables"
local tabular = require "tidemill.tabular"
local workspace = require "tidemill.workspace"

--- The definitions of a pipeline: datasets, how a step is run, steps; and jobs of it.
---@class tidemill
---@field version string
local M = { version = plan.version, load_script = develop.load_script }

local function refuse_write(object, key)
  plan.raise(("%s cannot be changed: '%s' is set once, where it is defined"):format(tostring(object), tostring(key)))
end

-- Plain tables within are copied: what the definition said stays, whatever the caller does with its tables.
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

-- Called as a function; a table, so that it can answer names of the original, as ParallelRunConfig.load_yaml.
local function callable(tag, make)
  return setmetatable({}, {
    __call = function(_, fields) return make(fields) end,
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
---@field registered? string the name that it is registered under, and `version`
---@field version? integer
---@field description? string of a registered one, and `tags`
---@field tags? table<string, string>
---@field partition_format? string
---@field partition_keys string[] the columns that partition_format takes out of paths, in its order
local FileDataset = { mini_batches = develop.datasets.mini_batches }

-- What plan has checked: a key begins behind '{' and ends before ':' or '}'.
local function keys_of(partition_format)
  local keys = {}
  for key in (partition_format or ""):gmatch "{([^:}]*)" do
    keys[#keys + 1] = key
  end
  return keys
end

-- `known`: what else is known of it, or nil.
local function dataset(tag, methods, value, known)
  plan.check_dataset(value)
  local more = setmetatable(known or {}, { __index = methods })
  more.partition_keys = keys_of(value.partition_format)
  return freeze(tag, copy(value), more)
end

local KEYS = { "kind", "paths", "output", "name", "null_separated", "on_unreadable", "partition_format", "input",
               "options", "ops", "base_dir", "limit", "mode", "place", "registered", "version", "workspace",
               "parameter" }

-- What a dataset may have: those, and what the registry knows of it.
local FIELDS = { "description", "tags", "partition_keys", unpack(KEYS) }

-- The methods of datasets by what they are called in the registry.
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

--- The same files under a name, which the entry script finds in `context.dataset_name`.
---@param name string
---@return tidemill.FileDataset
function FileDataset:as_named_input(name)
  return with(self, "FileDataset", FileDataset, "name", name)
end

FileDataset.as_input = FileDataset.as_named_input

--- The files at their own paths, which is the default.
---@return tidemill.FileDataset
function FileDataset:as_direct()
  names.check_self(self, "FileDataset")
  return self.mode and with_mode(self, nil, nil) or self
end

--- The files as links in one folder, which a step finds at `path` while it runs; among `arguments` it is that path.
--- What is there already is refused, unless it is an empty folder. Without a path a side input is anywhere, and the
--- files of an input are at their own paths.
---@param path? string relative to the pipeline file
---@return tidemill.FileDataset
function FileDataset:as_mount(path)
  return with_mode(self, "mount", path)
end

--- The same with copies.
---@param path? string
---@return tidemill.FileDataset
function FileDataset:as_download(path)
  return with_mode(self, "download", path)
end

--- The first files, in the order of the listing; of archives the first entries.
---@param count integer
---@return tidemill.FileDataset
function FileDataset:take(count)
  names.check_self(self, "FileDataset")
  if type(count) ~= "number" or count < 1 or count % 1 ~= 0 then
    plan.raise "FileDataset: take(count): accepted: an integer from 1 on"
  end
  return with(self, "FileDataset", FileDataset, "limit", math.min(count, self.limit or count))
end

--- Registers the dataset under a name: its definition, and what its files are now. What the newest version is already
--- makes no new one.
---@param in_workspace tidemill.Workspace
---@param name string
---@param options? tidemill.RegisterOptions
---@return tidemill.FileDataset registered
function FileDataset:register(in_workspace, name, options)
  return stored.register(self, in_workspace, name, options)
end

--- Forgets the name that it was got by, with all versions; the files stay.
function FileDataset:unregister_all_versions()
  stored.unregister_all_versions(self)
end

tables.refuse_for_files(FileDataset)
names.guarded("FileDataset", FileDataset, FIELDS)

local File = {}

---@class tidemill.FromFilesOptions
---@field on_unreadable? "error"|"skip" an unreadable folder ends the job (the default), or is left out with a warning
---@field partition_format? string columns in the end of each path: "{store}/{date:yyyy/MM/dd}/*.csv"; `{name}` is a
--- string, `{name:...}` a datetime of the fields yyyy MM dd HH mm ss. A path that does not fit ends the job.

--- Files, folders (recursively) and patterns (`*`, `?`, `**`, `{a,b}`). Relative paths are against the pipeline file;
--- `from_files(datastore, path, options)`: against the datastore.
---@param path string|tidemill.PipelineParameter|(string|tidemill.PipelineParameter)[]
---@param options? tidemill.FromFilesOptions
---@return tidemill.FileDataset
---@overload fun(datastore: tidemill.Datastore, path: string|string[], options?: table): tidemill.FileDataset
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

--- The entries of archives: `.zip`, `.tar`, `.tar.gz`, `.tar.zst`, `.tar.xz`, `.7z`, `.cpio`, ... by path, folder or
--- pattern, in the order of each. One that cannot be read safely is an item that fails, with the reason.
---@param path string|string[]
---@param options? tidemill.FromArchivesOptions
---@return tidemill.FileDataset
---@overload fun(datastore: tidemill.Datastore, path: string|string[], options?: table): tidemill.FileDataset
function File.from_archives(path, options, ...)
  local found = dataset("FileDataset", FileDataset, archives.define(path, options, ...))
  return found
end

--- The files that a list names, one path a line. It is read as the job goes on.
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

--- The items that failed in an earlier job, which has ended: its directory, its name or "latest" (the newest of the
--- workspace, each time that the file is loaded: a job that is to be resumed wants a name); or the path of a
--- `failed_items.jsonl`. `tidemill run --only-failed JOB` does it for all steps of a pipeline.
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
---@field name string
---@field default_value string|number|boolean|tidemill.FileDataset|tidemill.TabularDataset its type is the parameter's
--- type
local Parameter = {}

-- The dataset of a parameter: what is said of it holds for any that the parameter is given.
local function dataset_of(self, method)
  names.check_self(self, "PipelineParameter")
  local default = self.default_value
  local tag = type(default) == "table" and getmetatable(default)
  if not classes[tag] then
    plan.raise(("PipelineParameter '%s': %s(): its default_value is not a dataset"):format(tostring(self.name), method))
  end
  return dataset(tag, classes[tag], { parameter = self })
end

--- The dataset that the parameter stands for, under a name.
---@param name string
---@return tidemill.FileDataset
function Parameter:as_named_input(name)
  return dataset_of(self, "as_named_input"):as_named_input(name)
end

--- The files that the parameter stands for, as links in one folder: dataset:as_mount().
---@param path? string
---@return tidemill.FileDataset
function Parameter:as_mount(path)
  return dataset_of(self, "as_mount"):as_mount(path)
end

--- The same with copies.
---@param path? string
---@return tidemill.FileDataset
function Parameter:as_download(path)
  return dataset_of(self, "as_download"):as_download(path)
end

--- A value that `tidemill run --param NAME=VALUE`, a file of --params-file or `run --like JOB` may give. It may stand
--- for some settings, in `arguments`, for a path of a dataset and a value in its `filter`. One whose default is a
--- dataset stands in `inputs`. It is given a path, which takes the place of the default's, or `dataset:NAME` or
--- `dataset:NAME:VERSION`, a registered dataset.
---@type fun(fields: tidemill.PipelineParameter): tidemill.PipelineParameter
M.PipelineParameter = constructor("PipelineParameter", Parameter)

local MODES = { direct = "as_direct", mount = "as_mount", download = "as_download" }

--- A dataset, or a PipelineParameter that stands for one, under a name: `dataset:as_named_input(name)`, and
--- `as_mount()` or `as_download()` of it.
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

---@class tidemill.Environment
---@field variables? table<string, string|number|boolean>
---@field module_paths? string|string[] folders where `require` looks, behind the script's own

--- Names of the successor's configuration are accepted beside these, each with a note that names ours:
--- max_concurrency_per_instance, append_row_to, mini_batch_error_threshold, retry_settings { max_retries, timeout },
--- instance_count, resources { instance_count }.
---@class tidemill.ParallelRunConfig
---@field entry_script string the Lua file with init() and run(mini_batch)
---@field source_directory? string everything that the script needs; copied at submission
---@field mini_batch_size? integer|string|tidemill.PipelineParameter files for one run(), 10; of tables bytes of their
--- files, 1048576, "1MB" (the default), or "500rows"
---@field partition_keys? string|string[]|tidemill.PipelineParameter columns of the inputs' partition_format: the
--- files with the same values of them are one mini-batch, and context.partition_key_value holds the values; not with
--- mini_batch_size. The value of a parameter is one name, or a list as JSON: '["store", "brand"]'.
---@field error_threshold? integer|tidemill.PipelineParameter failed items to tolerate over the whole input; -1, the
--- default, tolerates all
---@field returns? "auto"|"rows"|"any" "rows": run() returns an element for each item that succeeded, and items
--- without one count as failed; "any": it returns any number, and only the items of context:fail() count as failed;
--- "auto", the default: "any" for rows of tables as long as error_threshold is -1, else "rows"
---@field allowed_failed_count? integer|tidemill.PipelineParameter failed mini-batches to tolerate; without it all
---@field allowed_failed_percent? number|tidemill.PipelineParameter the same in percent, judged once all mini-batches
--- are created
---@field output_action? "append_row"|"summary_only"
---@field append_row_file_name? string "parallel_run_step.txt"
---@field append_row_line_break? "error"|"escape" a line break in a string: an error (the default), or `\n`, `\r`, `\\`
---@field append_row_separator? string one character between the fields of a data frame; without it a comma for `*.csv`,
--- a tab for `*.tsv`, else a blank
---@field append_row_header? boolean the names of a data frame's columns are the first line; without it for `*.csv` and
--- `*.tsv` alone
---@field process_count_per_node? integer|string|tidemill.PipelineParameter workers; as many as there are cores,
--- 1 where there is a GPU
---@field logging_level? "WARNING"|"INFO"|"DEBUG"|tidemill.PipelineParameter
---@field run_invocation_timeout? number|string|tidemill.PipelineParameter seconds for one run(); 60
---@field run_max_try? integer|string|tidemill.PipelineParameter tries for a mini-batch; 3
---@field retry_delay? number seconds before a failed try is repeated, doubled with each further one up to 60; without
--- it none after errors and timeouts, 0.5 where the worker was lost
---@field worker_memory_limit? integer|string memory of one worker; beyond it run() fails, or the worker is killed
---@field init_timeout? number seconds for loading the script and its init(); without it none
---@field interruptible? "auto"|boolean a run() that passes its timeout is interrupted within Lua, and its worker lives
--- on; "auto", the default: from the first such run() of the step on
---@field interrupt_grace? number seconds that an interrupted run() has to end before its worker is killed; 2
---@field isolate_failures? boolean a mini-batch that has used up its tries is run in parts, until the bad items stand
--- alone: the others' rows are kept, and `context.part` says which items a part has; false
---@field isolation_max_try? integer|string tries of parts for such a mini-batch; 100
---@field max_result_size? integer|string what one run() may return; "2GB"
---@field sync_interval? number seconds of work that a power cut may cost; 1
---@field gpu_surplus? "unset"|"none" CUDA_VISIBLE_DEVICES of workers beyond the GPUs: unset, or -1
---@field node_count? integer|string|tidemill.PipelineParameter 1: this machine
---@field compute_target? "local" this machine
---@field environment? string|tidemill.Environment for the workers; a name is accepted, and not used
---@field environment_variables? table<string, string|number|boolean> for the workers; before those of `environment`
---@field overwrite? boolean an output file that is there and is not this job's is replaced; false
---@field description? string

--- How a step is run.
---@type fun(fields: tidemill.ParallelRunConfig): tidemill.ParallelRunConfig
M.ParallelRunConfig = constructor "ParallelRunConfig"

--- A folder that a step writes. The same object in another step's `inputs` is what that one reads, once the first one
--- is Completed; among `arguments` of either it is the path of the folder.
---@class tidemill.OutputFileDatasetConfig
---@field name string
---@field destination? string|table where it is written, relative to the pipeline file, or { datastore, path };
--- `{run-id}` in it is the name of the job, `{output-name}` that of the output. Without it in the job's directory.
---@field mode? "mount"|"upload"|"archive" written there as the step goes on; as_upload(), as_archive()
---@field archive_format? "zip"|"tar"|"tar.gz"|"tar.zst" what as_archive() sets
---@field partition_format? string columns out of the paths below it, for whoever reads it; see FromFilesOptions
---@field register_as? string what register_on_complete() sets
---@field description? string of that dataset
---@field tags? table<string, string|number|boolean> of that dataset
local Output = {}

-- Copies of an output that say something else of it are the same output: they have one number.
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
  for key, value in pairs(fields) do
    new[key] = value
  end
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

--- The folder appears at its destination when the step is Completed, all at once, and not at all before. A job that
--- is resumed and adds rows to the step uploads it again. `tidemill verify` compares the destination with the step's
--- own folder.
---@return tidemill.OutputFileDatasetConfig
function Output:as_upload()
  local fields = fields_of(self)
  fields.mode = "upload"
  local new = output(fields, ids[self])
  return new
end

--- The destination is written to while the step runs, which is the default.
---@return tidemill.OutputFileDatasetConfig
function Output:as_mount()
  local fields = fields_of(self)
  fields.mode, fields.archive_format = nil, nil
  local new = output(fields, ids[self])
  return new
end

--- The folder is packed into an archive, which appears as the file `destination` when the step is Completed.
---@param format? "zip"|"tar"|"tar.gz"|"tar.zst" "zip"
---@return tidemill.OutputFileDatasetConfig
function Output:as_archive(format)
  local fields = fields_of(self)
  fields.mode, fields.archive_format = "archive", format == nil and "zip" or format
  local new = output(fields, ids[self])
  return new
end

--- The same output, registered as a dataset when the step is Completed: each time as a new version.
---@param name string
---@param options? tidemill.RegisterOnCompleteOptions
---@return tidemill.OutputFileDatasetConfig
---@overload fun(self: tidemill.OutputFileDatasetConfig, arguments: table): tidemill.OutputFileDatasetConfig
function Output:register_on_complete(name, options, ...)
  local fields = fields_of(self)
  name, options = names.arguments({ "name" }, name, options, ...)
  options = options == nil and {} or options
  local accepted = type(name) == "string" and type(options) == "table"
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

--- Its files as an input, under a name that the entry script finds in `context.dataset_name`.
---@param name? string
---@return tidemill.FileDataset
function Output:as_input(name)
  names.check_self(self, "OutputFileDatasetConfig")
  local found = dataset("FileDataset", FileDataset, { kind = "files", output = self, name = name })
  return found
end

Output.as_named_input = Output.as_input

--- Its rows as an input: what Dataset.Tabular.from_delimited_files() would read of the folder.
---@param options? tidemill.FromDelimitedFilesOptions
---@return tidemill.TabularDataset
function Output:read_delimited_files(options)
  names.check_self(self, "OutputFileDatasetConfig")
  local found = table_dataset("delimited", "Dataset.Tabular.from_delimited_files", { output = self }, options)
  return found
end

--- Its rows as an input: what Dataset.Tabular.from_json_lines_files() would read of the folder.
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
  local new = output(fields, outputs)
  return new
end

---@alias tidemill.Input tidemill.FileDataset|tidemill.TabularDataset|tidemill.OutputFileDatasetConfig
---@alias tidemill.Argument string|number|boolean|tidemill.PipelineParameter|tidemill.Input

---@class tidemill.ParallelRunStep
---@field name string 1 to 32 characters of a-z, 0-9, '-' and '_'
---@field parallel_run_config tidemill.ParallelRunConfig
---@field inputs tidemill.Input|tidemill.Input[] of one type
---@field side_inputs? tidemill.FileDataset|tidemill.OutputFileDatasetConfig|table[] which every worker may read whole
---@field output? tidemill.OutputFileDatasetConfig|tidemill.OutputFileDatasetConfig[] the first is the folder `output`,
--- each further one `output.<name>`
---@field arguments? tidemill.Argument[] for the entry script (an output, or a dataset of one folder, becomes its
--- path), but for the
--- runner's own, which are taken out by exact name: --error_threshold, --allowed_failed_count,
--- --allowed_failed_percent, --logging_level, --run_invocation_timeout, --task_overhead_timeout,
--- --progress_update_timeout, --first_task_creation_timeout, --resource_monitor_interval. What stands behind `--` is
--- the script's.
---@field allow_reuse? boolean|"content" true; "content": input files are compared by what they hold, not by their times

--- An entry script run over one or more datasets.
---@type fun(fields: tidemill.ParallelRunStep): tidemill.ParallelRunStep
M.ParallelRunStep = constructor "ParallelRunStep"

--- What a pipeline file returns; pipeline:submit{...} begins a job of it (tidemill/job.lua).
---@class tidemill.Pipeline
---@field name string 1 to 32 characters of a-z, 0-9, '-' and '_'
---@field steps tidemill.ParallelRunStep[]
---@field description? string

local answer = names.guard("Pipeline", function() return require("tidemill.job").methods end,
  plan.parameters "Pipeline")
local function job_methods(self, name) return require("tidemill.job").methods[name] or answer(self, name) end
---@type fun(fields: tidemill.Pipeline): tidemill.Pipeline
M.Pipeline = callable("Pipeline", function(fields)
  plan.check("Pipeline", fields)
  local new = freeze("Pipeline", copy(fields), setmetatable({}, { __index = job_methods }))
  return new
end)

--- The Pipeline that a pipeline file returns, run in this state.
---@param path string
---@return tidemill.Pipeline
M.load = function(path) return require("tidemill.job").load(path) end
return names.guarded("tidemill", M)
