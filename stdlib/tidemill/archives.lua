--- The definition of a dataset of archives, for tidemill.lua. Not for scripts.
local plan = require "tidemill.plan"
local workspace = require "tidemill.workspace"

local M = {}

--- Splits the options that say where files are from those that say how they are read; returns the
--- latter.
function M.beside_paths(options)
  local rest = {}
  for key, value in pairs(options) do
    if key ~= "partition_format" and key ~= "on_unreadable" then
      rest[key] = value
    end
  end
  return rest
end

--- Makes the definition from the arguments of Dataset.File.from_archives.
function M.define(path, options, ...)
  local paths, given, base_dir = workspace.take_datastore("Dataset.File.from_archives", path, options, ...)
  given = given == nil and {} or given
  plan.check("Dataset.File.from_archives", given)
  return {
    kind = "archives", paths = paths, on_unreadable = given.on_unreadable, partition_format = given.partition_format,
    base_dir = base_dir, options = M.beside_paths(given),
  }
end

return M
