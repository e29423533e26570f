--- Datasets of files, and what datasets of rows share with them; see tidemill.lua.
local archives = require "tidemill.archives"
local objects = require "tidemill.definition"
local develop = require "tidemill.develop"
local names = require "tidemill.names"
local plan = require "tidemill.plan"
local tables = require "tidemill.tables"
local workspace = require "tidemill.workspace"

local copy, freeze, values_of = objects.copy, objects.freeze, objects.values_of

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

-- Fields that a table does not show. `sales["kind"]` is an attempt to read a column, and must not
-- get the kind of the dataset.
local NOT_OF_TABLES = {}
for _, name in ipairs {
  "kind", "output", "null_separated", "on_unreadable", "input", "ops", "base_dir", "limit", "mode", "place",
  "workspace", "parameter",
} do
  NOT_OF_TABLES[name] = true
end

-- `known`: other fields of the object, or nil.
local function dataset(tag, methods, value, known)
  plan.check_dataset(value)
  local more = setmetatable(known or {}, { __index = methods })
  more.partition_keys = keys_of(value.partition_format)
  if tag == "TabularDataset" then
    return freeze(tag, copy(value), more, nil, NOT_OF_TABLES, names.refuse_column)
  end
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
  local old, new = values_of(self), {}
  if old.parameter and key ~= "name" then
    plan.raise(("the dataset is PipelineParameter '%s', which is given a name and a place alone; "
      .. "write it into its default_value"):format(old.parameter.name))
  end
  for _, k in ipairs(KEYS) do
    new[k] = old[k]
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

names.guarded("Dataset.File", File)

return { FileDataset = FileDataset, File = File, FIELDS = FIELDS, dataset = dataset, with = with, classes = classes,
         stored = stored }
