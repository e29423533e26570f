---@meta tidemill.plan

--- The C half of the constructors in `tidemill`. Not for scripts.
---@class tidemill.plan
---@field version string
local plan = {}

--- Raises, at the line of the definition, if a constructor does not accept these fields.
---@param kind string the constructor's name
---@param fields table
function plan.check(kind, fields) end

--- Raises if a dataset, given without its tag, is not accepted.
---@param fields table
function plan.check_dataset(fields) end

--- Returns the innermost line of the user's code, "pipeline.lua:12"; nil: it is not known.
---@return string?
function plan.where() end

--- Returns the path of the list of items that failed in a job. Raises if there is no such job, or
--- it has not ended.
---@param job string directory, name, "latest", or the path of a list
---@param step? string
---@return string
function plan.failed_items(job, step) end

--- Returns the names of the parameters of a constructor; nil: there is no such constructor.
---@param kind string
---@return string[]?
function plan.parameters(kind) end

--- Returns a file of doc comments: the fields of constructors and of tables of options.
---@return string
function plan.classes() end

--- Returns what to write instead of a name of the original that does not exist here; nil: it is not
--- a known name.
---@param owner string as core/plan/names.h lists them
---@param name string
---@return string?
function plan.instead(owner, name) end

--- Returns what to write instead of a module of Python; nil: it is not a known module.
---@param name string as given to `require`
---@return string?
function plan.instead_of_module(name) end

--- Returns what is known of a name that nothing here has: a setting under another name, a name or
--- an argument of the original, or Python; nil: nothing.
---@param name string
---@return string?
function plan.explain(name) end

--- Returns what to write for a line of Python that the compiler refused; nil: nothing.
---@param text string
---@param message string of the compiler, "NAME:LINE: ..."
---@return string?
function plan.explain_syntax(text, message) end

--- Returns the name in a list that is nearest to a misspelt one; nil: none is near.
---@param name string
---@param names string[]
---@return string?
function plan.nearest(name, names) end

--- Writes the rows of a table into folders by the values of its columns. Raises errors.
---@param dataset table
---@param keys string[]
---@param target string a folder, relative to base_dir or to the pipeline file's folder
---@param base_dir? string
---@param overwrite? boolean
---@return table definition of the new dataset
---@return string? notes warnings about the rows
function plan.partition(dataset, keys, target, base_dir, overwrite) end

--- Raises at the innermost line of the user's code.
---@param message string
function plan.raise(message) end

return plan
