--- Parts of tables other than their definition: writing rows into folders, and methods that only
--- files have.
local names = require "tidemill.names"
local plan = require "tidemill.plan"
local workspace = require "tidemill.workspace"

local M = {}

local function keys_of(keys)
  keys = type(keys) == "table" and keys or { keys }
  for i = 1, math.max(#keys, 1) do
    if type(keys[i]) ~= "string" then
      plan.raise "dataset:partition_by(keys, target): accepted: keys, a name of a column or a list of them"
    end
  end
  return keys
end

--- Writes the rows of a table into folders by the values of columns. Returns the definition of the
--- new dataset, and whether it is a dataset of files. Raises errors.
function M.partition(dataset, keys, target, options, ...)
  local paths, given, base_dir = workspace.take_datastore("dataset:partition_by", target, options, ...)
  if type(given) == "string" then
    plan.raise("dataset:partition_by(keys, target): a name is not an argument; write "
      .. "dataset:partition_by(keys, target):register(workspace, name)")
  end
  given = given == nil and {} or given
  plan.check("dataset:partition_by", given)
  if type(paths) ~= "table" or #paths ~= 1 or type(paths[1]) ~= "string" or paths[1] == "" then
    plan.raise "dataset:partition_by(keys, target): accepted: a target, the path of a folder"
  end
  local made, notes = plan.partition(dataset, keys_of(keys), paths[1], base_dir, given.overwrite == true)
  if notes then
    workspace.note("dataset:partition_by: " .. notes)
  end
  if given.partition_as_file_dataset then
    return { kind = "files", paths = made.paths, partition_format = made.partition_format }, true
  end
  return made, false
end

local instead = {
  partition_by = "files are partitioned by their paths: Dataset.File.from_files(path, "
    .. "{ partition_format = \"{store}/{date:yyyy/MM/dd}/*.csv\" })",
  filter = "files are chosen by their paths: a pattern, as \"2026-*/*.csv\", or a list of paths",
  skip = "files are chosen by their paths: a pattern, or a list of them",
  take_sample = "files are chosen by their paths: a pattern, or a list of them",
  random_split = "files are chosen by their paths: a pattern, or a list of them",
  keep_columns = "files have no columns; Dataset.Tabular.from_delimited_files reads their rows",
  drop_columns = "files have no columns; Dataset.Tabular.from_delimited_files reads their rows",
}

--- Adds methods to tables that only files have; they raise and say so.
function M.refuse_for_rows(methods)
  for _, name in ipairs { "as_mount", "as_download" } do
    methods[name] = function()
      plan.raise(("dataset:%s is for files, of a FileDataset; the rows of a table are read where its files are"):format(
        name))
    end
    names.refusing[methods[name]] = true
  end
end

--- Adds methods to datasets of files that only tables have; they raise and say so.
function M.refuse_for_files(methods)
  for name, words in pairs(instead) do
    methods[name] = function()
      plan.raise(("dataset:%s is for rows, of a TabularDataset; %s"):format(name, words))
    end
    names.refusing[methods[name]] = true
  end
end

return M
