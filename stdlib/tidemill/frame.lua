-- frame.lua - data frames: rows in columns of one type each, in C memory.
--
--   local frame = require "tidemill.frame"
--   local df = frame.from_table {
--     { "city", { "Ulm", "Bonn", "Ulm" } }, { "price", { 3.5, 2, nil } },
--   }
--   print(#df, df.c.price:mean())                                   -- 3  2.75
--   for row in df:rows() do print(row.city, row.price) end
--   print(df:group_by("city"):agg { total = { "sum", "price" } })
--
-- A frame never changes: every method returns a new one, which shares columns. Rows are numbered
-- from 1. A null is nil in Lua, and neither NaN nor "". Lists are given as one table or as
-- arguments. Wrong arguments raise at the caller's line; what can fail outside, such as a file,
-- returns nil, a message and a code.
--
-- Its parts: frame/base.lua (memory), column, values (Lua values to columns), rows, shape, group,
-- join, text.
local base = require "tidemill.frame.base"
local c = require "tidemill.frame_c"
local group = require "tidemill.frame.group"
local join = require "tidemill.frame.join"
local known_names = require "tidemill.names"
local rows = require "tidemill.frame.rows"
local shape = require "tidemill.frame.shape"
local values = require "tidemill.frame.values"
require "tidemill.frame.column"

local refuse = base.refuse

--- Data frames: rows in columns of one type each, in C memory. A frame never changes: every method
--- returns a new one, which shares columns. Rows are numbered from 1. A null is nil in Lua, and
--- neither NaN nor "".
---@class tidemill.frame
local M = {}

--- Stands for null in lists of values. It is json.null. You need it at the end of a list, where nil
--- has no effect.
---@type lightuserdata
M.null = require("tidemill.json").null

--- Rows in columns. `#df` is the number of rows.
---@class tidemill.DataFrame
---@field columns string[] a copy of the list of names, in order
---@field types table<string, string> the type of each column by its name
---@field c table<string, tidemill.Column> the columns by name: df.c.price
---@operator len: integer
local methods = {}

--- Returns a column by its name, as df.c[name].
---
---     local df = frame.from_table { price = { 1, 2 } }
---     assert(df:column("price")[2] == 2)
---@param name string
---@return tidemill.Column
function methods.column(df, name)
  local state = base.state(df, "column")
  return state.columns[base.place(state, name, "column")]
end

--- Iterates over the rows: `for row in df:rows() do ... row.price ... end`. All steps use the same
--- row object, so a row is valid only until the next step; row:copy() makes a table to keep.
--- Columns are read by name: row.price, not row[2]. A step allocates nothing. (If a column is named
--- "copy", row.copy is its value, and there is no row:copy().)
---
---     local df = frame.from_table { a = { 1, 2, 3 } }
---     local sum = 0
---     for row in df:rows() do
---       sum = sum + row.a
---     end
---     assert(sum == 6)
---@return fun(state: tidemill.Row, row: tidemill.Row): tidemill.Row?
---@return tidemill.Row
---@return tidemill.Row
function methods.rows(df)
  local row = rows.cursor(base.state(df, "rows"))
  return rows.step, row, row
end

--- Iterates over the rows with their numbers.
---
---     local df = frame.from_table { a = { "x", "y" } }
---     for i, row in df:irows() do
---       assert(row.a == df.c.a[i])
---     end
---@return fun(row: tidemill.Row): integer?, tidemill.Row?
---@return tidemill.Row
function methods.irows(df)
  return rows.numbered_step, rows.cursor(base.state(df, "irows"))
end

--- Returns the rows as a list of plain tables. Nulls are left out.
---
---     local df = frame.from_table { a = { 1, 2 } }
---     assert(df:to_table()[2].a == 2)
---@return table<string, any>[]
function methods.to_table(df)
  local state, list = base.state(df, "to_table"), {}
  for i = 1, state.len do
    local row = {}
    for place, name in ipairs(state.names) do
      row[name] = base.read(base.handle(state.columns[place]), i - 1)
    end
    list[i] = row
  end
  return list
end

for _, piece in ipairs { shape, group, join, require "tidemill.frame.text" } do
  for name, method in pairs(piece) do
    methods[name] = method
  end
end
-- Functions that the parts share.
for _, name in ipairs {
  "take_rows", "from_rows", "cast_column", "parse_column", "median_of", "concat",
} do
  methods[name] = nil
end

local meta = base.frame_meta
meta.methods = methods -- for code that lists them

function meta.__len(df)
  return base.state(df, "#").len
end

local fields = {
  c = function(state) return state.c end,
  columns = function(state)
    local names = {}
    for i, name in ipairs(state.names) do -- unpack() has a limit
      names[i] = name
    end
    return names
  end,
  types = function(state)
    local types = {}
    for i, name in ipairs(state.names) do
      types[name] = base.type_name(state.columns[i])
    end
    return types
  end,
}

local function column_of(name)
  return (name:find "^[%a_][%w_]*$" and "df.c.%s" or "df.c[%q]"):format(name)
end

-- A method of a frame that has a column of the same name: df:filter(...) works, and df.filter or
-- df["filter"] as a column raises.
local function method_beside_column(name, method)
  local object = newproxy(true)
  local object_meta = getmetatable(object)
  for _, event in ipairs {
    "index", "newindex", "len", "lt", "le", "concat", "unm", "add", "sub", "mul", "div", "mod", "pow", "tostring",
  } do
    object_meta["__" .. event] = function()
      refuse("'%s' is a method of data frames; the column is %s", name, column_of(name))
    end
  end
  object_meta.__call = function(_, ...) return method(...) end
  object_meta.__metatable = "method"
  return object
end

function meta.__index(df, key)
  if key == "c" then
    return base.state(df, "c").c
  end
  local method = methods[key]
  if method then
    return rawget(base.state(df, key).c, key) and method_beside_column(key, method) or method
  end
  local state, field = base.state(df, tostring(key)), fields[key]
  if field then
    return field(state)
  end
  for _, name in ipairs(state.names) do
    if name == key then
      refuse("a data frame has no '%s'; its column is %s", name, column_of(name))
    end
  end
  if type(key) == "number" then
    refuse("a data frame has no '%s'; its rows: for row in df:rows() do print(row.city) end", tostring(key))
  end
  known_names.refuse("a data frame", key, methods, { "c", "columns", "types" })
end

-- df[["a"]] of pandas is a call with a long string in Lua, and `for row in df do` a call with nil.
function meta.__call(_, key)
  refuse(type(key) == "string" and 'a data frame is not a function; df:select { "a", "b" } has the columns a and b'
    or "a data frame is not a function; to walk through it, write for row in df:rows() do")
end

function meta.__newindex()
  refuse("a data frame does not change; df:with_column(name, values) makes one with another column")
end

-- ---- making one ----

local function types_of(types, what)
  if types ~= nil and type(types) ~= "table" then
    refuse("%s: types are a %s; accepted: a table {column = type}", what, type(types))
  end
  local kinds = {}
  for name, type_name in pairs(types or {}) do
    kinds[name] = base.type_of(type_name, ("%s: column '%s'"):format(what, tostring(name)))
  end
  return kinds
end

-- Returns {{name, values}, ...} unchanged, and {name = values} sorted by name.
local function pairs_of(given)
  if type(given) ~= "table" then
    refuse("from_table: a %s was given; accepted: {name = {...}} or {{name, {...}}, ...}", type(given))
  end
  local list, seen = {}, {}
  for i, pair in ipairs(given) do
    list[i] = type(pair) == "table" and { pair[1], pair[2] } or { nil, pair }
  end
  for name, list_of in pairs(given) do
    if type(name) ~= "number" or name > #given then
      list[#list + 1] = { name, list_of }
    end
  end
  for _, pair in ipairs(list) do
    if type(pair[1]) ~= "string" then
      refuse("from_table: %s is not a name of a column; accepted: {name = {...}} or {{name, {...}}, ...}",
        values.shown(pair[1]))
    elseif seen[pair[1]] then
      refuse("from_table: there are two columns '%s'", pair[1])
    elseif type(pair[2]) ~= "table" and not base.is_column(pair[2]) then
      refuse("from_table: the values of column '%s' are %s; accepted: a list", pair[1], values.shown(pair[2]))
    end
    seen[pair[1]] = true
  end
  if #given == 0 then
    table.sort(list, function(a, b) return a[1] < b[1] end)
  end
  return list
end

local function check_keys(list, name)
  for key in pairs(list) do
    if type(key) ~= "number" or key % 1 ~= 0 or key < 1 or key > base.ROWS_MAX then
      refuse("from_table: the values of column '%s' have the key '%s'; accepted: 1, 2, 3, ...", name, tostring(key))
    end
  end
  return table.maxn(list)
end

--- Makes a frame of lists of values, one for each column: {name = {...}}, sorted by name, or
--- {{name, {...}}, ...}, in the order given. nil and frame.null are null; shorter lists are filled
--- with nulls. A column of another frame is accepted too. Types are inferred from the values, and
--- whole numbers are long; `types` overrides them.
---
---     local df = frame.from_table { id = { 1, 2 }, name = { "a", nil } }
---     assert(#df == 2 and df.types.id == "long" and df.c.name[2] == nil)
---     local types = { x = "double", at = "datetime" }
---     local typed = frame.from_table({ { "x", { 1, 2 } }, { "at", { 0 } } }, types)
---     assert(typed.types.x == "double" and typed.columns[1] == "x")
---@param given table
---@param types? table<string, string>
---@return tidemill.DataFrame
function M.from_table(given, types)
  local list, kinds, n = pairs_of(given), types_of(types, "from_table"), 0
  local names, columns = {}, {}
  for i, pair in ipairs(list) do
    names[i] = pair[1]
    n = math.max(n, base.is_column(pair[2]) and #pair[2] or check_keys(pair[2], pair[1]))
  end
  local state = { names = names }
  for name in pairs(kinds) do
    base.place(state, name, "from_table")
  end
  for i, pair in ipairs(list) do
    local name, from = pair[1], pair[2]
    if base.is_column(from) then
      if #from ~= n then
        refuse("from_table: column '%s' has %d rows; another has %d", name, #from, n)
      end
      columns[i] = kinds[name] and shape.cast_column(from, kinds[name], name, false) or from
    else
      columns[i] = values.column(from, n, kinds[name], "from_table", name)
    end
  end
  return base.new_frame(names, columns)
end

--- Makes a frame of rows, tables {column = value}. The columns are sorted by name, or as in
--- `columns`. With `columns`, rows may also be lists, and other names are refused.
---
---     local df = frame.from_rows { { a = 1, b = "x" }, { a = 2 } }
---     assert(#df == 2 and df.c.b[2] == nil)
---     assert(frame.from_rows({ { 1, "x" } }, { "n", "s" }).c.s[1] == "x")
---@param list table[]
---@param columns? string[]
---@return tidemill.DataFrame
function M.from_rows(list, columns)
  if type(list) ~= "table" then
    refuse("from_rows: a %s was given; accepted: a list of tables", type(list))
  end
  local named = {}
  for i, row in ipairs(list) do
    if type(row) ~= "table" then
      refuse("from_rows: row %d is %s; accepted: a table", i, values.shown(row))
    end
    named[i] = columns and {} or row
    for place, name in ipairs(columns or {}) do
      local v = row[name]
      if v == nil then
        v = row[place]
      end
      named[i][name] = v
    end
    for key in pairs(columns and row or {}) do
      if type(key) == "number" and not columns[key] or type(key) ~= "number" and named[i][key] == nil then
        refuse("from_rows: row %d has '%s'; columns: %s", i, tostring(key), table.concat(columns, ", "))
      end
    end
  end
  local df = shape.from_rows(named, #named, columns or {}, "from_rows")
  for _, name in ipairs(columns or {}) do
    if not rawget(df.c, name) then -- null in every row
      df = df:with_column(name, nil, "string")
    end
  end
  return columns and df:select(columns) or df
end

--- Concatenates the rows of all frames. They must have the same columns, in any order; a long
--- column and a double column give a double column.
---
---     local a, b = frame.from_table { x = { 1 } }, frame.from_table { x = { 2, 3 } }
---     assert(frame.concat({ a, b }).c.x[3] == 3)
---@param ... tidemill.DataFrame|tidemill.DataFrame[]
---@return tidemill.DataFrame
function M.concat(...)
  return join.concat(base.list("concat", ...))
end

local read_options = {
  separator = "string", header = "boolean", encoding = "string", support_multi_line = "boolean",
  infer_column_types = "boolean", set_column_types = "table", empty_as_string = "boolean", invalid = base.INVALID,
  max_columns = "number", max_record_size = "number",
}
local line_options = { max_columns = "number", max_record_size = "number" }

-- Makes the frame of a reading, and frees the reading's memory at once; or returns nil, message,
-- code.
local function taken(reading, names, columns, len)
  if not reading then
    return nil, names, columns
  end
  local df = base.read_frame(names, columns, len, reading)
  c.done(reading)
  return df
end

--- Reads a whole delimited file. Types are inferred from the first 200 rows. A later value that
--- does not fit is an error that names line and column, or null with `invalid = "null"`. A line
--- break in quotes belongs to its field. More than `max_columns` columns (65,536) or a row of more
--- than `max_record_size` bytes (64 MB) is an error.
---
---     fs.write(path, 'id,name\n1,"a, b"\n2,\n')
---     local df = frame.read_csv(path)
---     assert(df.types.id == "long" and df.c.name[1] == "a, b" and df.c.name[2] == nil)
---     assert(frame.read_csv(path, { set_column_types = { id = "string" } }).c.id[2] == "2")
---@param path string
---@param options? {separator?: string, header?: boolean, encoding?: string, \
---  support_multi_line?: boolean, infer_column_types?: boolean, \
---  set_column_types?: table<string, string>, empty_as_string?: boolean, invalid?: string, \
---  max_columns?: integer, max_record_size?: integer}
---@return tidemill.DataFrame? df
---@return string? message
---@return string? code
function M.read_csv(path, options)
  base.check_path("read_csv", path)
  options = base.options("read_csv", options, read_options)
  return taken(c.read(path, options, types_of(options.set_column_types, "read_csv")))
end

--- Reads the rows of a file with a JSON object on each line. The columns are in the order in which
--- their keys first appear; a row without a key has null. A column's type fits all its values; a
--- column of objects, lists or mixed types contains JSON text. Strings that are all ISO 8601
--- moments become datetimes. An error names the number of the bad line.
---
---     fs.write(path, '{"a":1}\n{"a":2,"b":"x"}\n')
---     local df = frame.read_json_lines(path)
---     assert(#df == 2 and df.c.b[1] == nil and df.c.a[2] == 2)
---@param path string
---@param options? {max_columns?: integer, max_record_size?: integer} limits, as in read_csv()
---@return tidemill.DataFrame? df
---@return string? message
---@return string? code
function M.read_json_lines(path, options)
  base.check_path("read_json_lines", path)
  return taken(c.read_lines(path, base.options("read_json_lines", options, line_options)))
end

--- Whether a value is a data frame.
---
---     assert(frame.is_frame(frame.from_table { a = { 1 } }) and not frame.is_frame {})
---@param value any
---@return boolean
function M.is_frame(value)
  return base.is_frame(value)
end

return known_names.guarded("tidemill.frame", M)
