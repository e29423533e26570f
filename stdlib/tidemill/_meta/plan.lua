---@meta tidemill.plan

--- The C half of the constructors in `tidemill`. Not for scripts.
---@class tidemill.plan
---@field version string
local plan = {}

--- Raises, at the caller's definition, when a constructor would not accept these fields.
---@param kind string the constructor's name
---@param fields table
function plan.check(kind, fields) end

--- The same for a dataset, without its tag.
---@param fields table
function plan.check_dataset(fields) end

--- The innermost line of code that is not ours, "pipeline.lua:12"; nil when none is known.
---@return string?
function plan.where() end

--- The path of the list of items that failed in a job; raises when there is no such job, or it is not over.
---@param job string directory, name, "latest", or the path of a list
---@param step? string
---@return string
function plan.failed_items(job, step) end

--- The names of the parameters of a constructor; nil when there is no such.
---@param kind string
---@return string[]?
function plan.parameters(kind) end

--- What to write instead of a name of the original that does not exist here; nil: it is not a known one.
---@param owner string as core/plan/names.h lists them
---@param name string
---@return string?
function plan.instead(owner, name) end

--- The name of a list that is nearest to a misspelt one; nil: none is near.
---@param name string
---@param names string[]
---@return string?
function plan.nearest(name, names) end

--- Writes the rows of a table into folders by the values of its columns; raises.
---@param dataset table
---@param keys string[]
---@param target string a folder, against base_dir or the pipeline file's folder
---@param base_dir? string
---@param overwrite? boolean
---@return table definition of the new dataset
---@return string? notes what was not as it should be in the rows
function plan.partition(dataset, keys, target, base_dir, overwrite) end

--- Raises at that line.
---@param message string
function plan.raise(message) end

return plan
