--- Defines datasets whose items are rows, of files or of databases; see tidemill.lua.
local archives = require "tidemill.archives"
local names = require "tidemill.names"
local objects = require "tidemill.definition"
local plan = require "tidemill.plan"
local tables = require "tidemill.tables"
local workspace = require "tidemill.workspace"

-- Functions of tidemill.lua, passed in because the modules must not require each other. `files`:
-- the methods of datasets of files.
local dataset, with, files

---@class tidemill.TabularDataset
---@field paths string[]
---@field name? string
---@field partition_format? string
---@field partition_keys string[] the columns that partition_format reads from paths, in its order
---@field options table
local TabularDataset = {}

--- Returns the dataset under another name, which the entry script finds in `context.dataset_name`.
---@param name string
---@return tidemill.TabularDataset
function TabularDataset:as_named_input(name)
  return with(self, "TabularDataset", TabularDataset, "name", name)
end

TabularDataset.as_input = TabularDataset.as_named_input

--- Reads the rows from the files at their own paths. This is the default and the only way.
---@return tidemill.TabularDataset
function TabularDataset:as_direct()
  return self
end

local function with_op(self, op)
  names.check_self(self, "TabularDataset")
  local ops = {}
  for i, known in ipairs(objects.values_of(self).ops or {}) do
    ops[i] = known
  end
  ops[#ops + 1] = op
  return with(self, "TabularDataset", TabularDataset, "ops", ops)
end

local function names_of(first, ...)
  return type(first) == "table" and first or { first, ... }
end

--- Keeps only these columns, in this order. The workers read the rows, and do this and all of the
--- following.
---@param ... string|string[]
---@return tidemill.TabularDataset
function TabularDataset:keep_columns(...)
  return with_op(self, { op = "keep", columns = names_of(...) })
end

--- Drops these columns.
---@param ... string|string[]
---@return tidemill.TabularDataset
function TabularDataset:drop_columns(...)
  return with_op(self, { op = "drop", columns = names_of(...) })
end

--- Keeps the rows for which the comparison is true; for a null it never is. Compare a datetime with
--- ISO 8601 text, or with seconds since the epoch.
---@param column string
---@param sign "=="|"~="|"<"|"<="|">"|">="
---@param value string|number|boolean
---@return tidemill.TabularDataset
function TabularDataset:filter(column, sign, value)
  if type(column) == "function" then
    plan.raise("TabularDataset: filter(column, sign, value): a function cannot be given to the workers here; "
      .. "df:filter(function) in run() takes a function")
  end
  return with_op(self, { op = "filter", column = column, is = sign, value = value })
end

--- Takes only the first rows of the dataset, in the order of the files. An empty line of a file
--- counts as a row. Call it before operations that look at values, such as filter().
---@param count integer
---@return tidemill.TabularDataset
function TabularDataset:take(count)
  return with_op(self, { op = "take", count = count })
end

--- Leaves out the first rows of the dataset. Call it before operations that look at values, such as
--- filter().
---@param count integer
---@return tidemill.TabularDataset
function TabularDataset:skip(count)
  return with_op(self, { op = "skip", count = count })
end

--- Draws each row with this probability. A seed always draws the same rows, however the dataset is
--- split.
---@param probability number 0 to 1
---@param seed? integer by default 0
---@return tidemill.TabularDataset
function TabularDataset:take_sample(probability, seed)
  return with_op(self, { op = "sample", probability = probability, seed = seed })
end

--- Splits the rows into two datasets at random: about this share of the rows, and all others.
---@param fraction number 0 to 1
---@param seed? integer by default 0
---@return tidemill.TabularDataset drawn
---@return tidemill.TabularDataset others
function TabularDataset:random_split(fraction, seed)
  return with_op(self, { op = "split", fraction = fraction, seed = seed, part = 1 }),
    with_op(self, { op = "split", fraction = fraction, seed = seed, part = 2 })
end

tables.refuse_for_rows(TabularDataset)

--- Writes the rows into folders by the values of columns, `<target>/<value>/.../rows.csv`, and
--- returns the dataset of these files. The keys are columns of its paths, and all columns keep
--- their types. The call does this at once, in bounded memory; the target appears complete or not
--- at all. Another call reads and writes nothing, as long as the files of this dataset and of the
--- target do not change. A relative target starts in the folder of the pipeline file, or with
--- `partition_by(keys, datastore, path, options)` in the datastore.
---
---     local by_city = sales:partition_by({ "country", "city" }, "sales-by-city")
---     local config = tidemill.ParallelRunConfig {
---       entry_script = "city.lua", partition_keys = { "country", "city" },
---     }
---@param keys string|string[]
---@param target string a folder that is empty, does not exist, or was made by partition_by
---@param options? tidemill.PartitionByOptions
---@return tidemill.TabularDataset
---@overload fun(self: table, keys: string[], in_: table, path: string, options?: table): table
---@overload fun(self: table, arguments: table): table
function TabularDataset:partition_by(keys, target, options, ...)
  names.check_self(self, "TabularDataset")
  local definition, is_of_files = tables.partition(self,
    names.arguments({ "partition_keys", "target" }, keys, target, options, ...))
  return dataset(is_of_files and "FileDataset" or "TabularDataset", is_of_files and files or TabularDataset,
    definition)
end

-- Combines where the files are with how they are read. `place` is { paths, base_dir } or { output
-- }.
local function table_dataset(kind, constructor_name, place, options)
  options = options == nil and {} or options
  plan.check(constructor_name, options)
  return dataset("TabularDataset", TabularDataset, {
    kind = kind, paths = place.paths, base_dir = place.base_dir, output = place.output,
    partition_format = options.partition_format,
    on_unreadable = options.on_unreadable, options = archives.beside_paths(options),
  })
end

local function table_of_files(kind, constructor_name, ...)
  local paths, options, base_dir = workspace.take_datastore(constructor_name, ...)
  local found = table_dataset(kind, constructor_name, { paths = paths, base_dir = base_dir }, options)
  return found
end

local Tabular = {}

---@alias tidemill.ColumnType "bool"|"long"|"double"|"string"|"datetime"
---|{ type: "datetime", formats: string[] }

--- Makes a dataset of the rows of CSV files, given by file, folder (recursively) and pattern.
--- Compressed files (.gz) are decompressed. A mini-batch is a data frame of about `mini_batch_size`
--- bytes of a file.
---@param path string|string[]
---@param options? tidemill.FromDelimitedFilesOptions
---@return tidemill.TabularDataset
---@overload fun(datastore: table, path: string|string[], options?: table): tidemill.TabularDataset
function Tabular.from_delimited_files(path, options, ...)
  local found = table_of_files("delimited", "Dataset.Tabular.from_delimited_files", path, options, ...)
  return found
end

--- Makes a dataset of the rows of files with a JSON object on each line. The columns are the keys
--- of the first 200 objects (of 4 MB at most), and the keys in `columns`. Values of other keys are
--- left out; the step counts them, and its warning names the first such key.
---@param path string|string[]
---@param options? tidemill.FromJsonLinesFilesOptions
---@return tidemill.TabularDataset
---@overload fun(datastore: table, path: string|string[], options?: table): tidemill.TabularDataset
function Tabular.from_json_lines_files(path, options, ...)
  local found = table_of_files("json_lines", "Dataset.Tabular.from_json_lines_files", path, options, ...)
  return found
end

--- Makes a dataset of the rows of a query. The database is an SQLite file, opened read-only. With
--- several files, or a pattern, the query runs on each in turn.
---@param database string|string[]
---@param query string|tidemill.PipelineParameter a SELECT
---@param options? tidemill.FromSqlQueryOptions
---@return tidemill.TabularDataset
---@overload fun(datastore: table, path: string, query: string, options?): tidemill.TabularDataset
---@overload fun(arguments: table): tidemill.TabularDataset
function Tabular.from_sql_query(database, query, options, ...)
  local name, more = "Dataset.Tabular.from_sql_query"
  database, query, options, more = names.arguments({ "database", "query" }, database, query, options, ...)
  local is_query = type(query) == "string" or getmetatable(query) == "PipelineParameter"
  if workspace.is_pair(query) or workspace.is_pair(database) and not is_query then
    plan.raise(name .. ": a datastore is a directory, and a query is asked of a file of SQLite in it: write "
      .. "from_sql_query(datastore, \"shop.db\", query)")
  end
  database = workspace.is_pair(database) and workspace.take_place(name, database) or database
  local paths, text, base_dir = workspace.take_datastore(name, database, query, options)
  local given = options
  if base_dir then
    given = more
  end
  if given ~= nil and type(given) ~= "table" then
    plan.check(name, given)
  end
  local all = { query = text }
  for key, value in pairs(given or {}) do
    all[key] = value
  end
  plan.check(name, all)
  local found = dataset("TabularDataset", TabularDataset, {
    kind = "sql", paths = paths, base_dir = base_dir, options = all,
  })
  return found
end

--- Types of columns, for `set_column_types`.
local DataType = {}
---@return tidemill.ColumnType
function DataType.to_bool() return "bool" end
---@return tidemill.ColumnType
function DataType.to_long() return "long" end
---@return tidemill.ColumnType
function DataType.to_float() return "double" end
---@return tidemill.ColumnType
function DataType.to_string() return "string" end
---@param formats? string|string[] tried in turn: "%d.%m.%Y %H:%M"; by default ISO 8601
---@return tidemill.ColumnType
function DataType.to_datetime(formats)
  return { type = "datetime", formats = type(formats) == "string" and { formats } or formats }
end

names.guarded("DataType", DataType)

---@class tidemill.TabularMake
---@field dataset fun(tag: string, methods: table, value: table): table makes a dataset
---@field with fun(self: table, tag: string, methods: table, key: string, value: any): table copies
--- it with one field set
---@field files table the methods of datasets of files, some of which tables share
---@field fields string[] what a dataset may have

--- Returns what tidemill.lua needs: the methods of tables, the function that makes a table dataset,
--- and the constructors.
---@param o tidemill.TabularMake
local function make(o)
  dataset, with, files = o.dataset, o.with, o.files
  TabularDataset.register, TabularDataset.unregister_all_versions = files.register, files.unregister_all_versions
  TabularDataset.mini_batches = files.mini_batches
  names.guarded("TabularDataset", TabularDataset, o.fields)
  return TabularDataset, table_dataset, Tabular
end

return { make = make, DataType = DataType }
