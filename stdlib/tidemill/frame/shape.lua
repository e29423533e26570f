-- shape.lua - methods of a data frame that select rows and columns, or make new ones.
local base = require "tidemill.frame.base"
local c = require "tidemill.frame_c"
local ffi = require "ffi"
local rows = require "tidemill.frame.rows"
local values = require "tidemill.frame.values"

local BOOL, LONG, DOUBLE, STRING, DATETIME = base.BOOL, base.LONG, base.DOUBLE, base.STRING, base.DATETIME
local refuse, ops = base.refuse, base.ops

---@class tidemill.DataFrame
local M = {}

local function check_names(state, names, what)
  for i, name in ipairs(names) do
    base.place(state, name, what)
    for j = 1, i - 1 do
      if names[j] == name then
        refuse("%s: column '%s' is named twice", what, name)
      end
    end
  end
  return names
end

local function check_map(map, what, words)
  if type(map) ~= "table" then
    refuse("%s: a %s was given; accepted: a table %s", what, type(map), words)
  end
end

--- Selects rows by their numbers, from 0.
local function take_rows(state, list, n)
  local columns = {}
  for i, column in ipairs(state.columns) do
    columns[i] = base.take(column, list, n)
  end
  return base.new_frame(state.names, columns)
end
M.take_rows = take_rows

--- Selects these columns, in this order.
---
---     local df = frame.from_table { { "a", { 1 } }, { "b", { 2 } }, { "c", { 3 } } }
---     assert(table.concat(df:select("c", "a").columns, " ") == "c a")
---@param ... string|string[]
---@return tidemill.DataFrame
function M.select(df, ...)
  local state = base.state(df, "select")
  local names, columns, picked = check_names(state, base.list("select", ...), "select"), {}, {}
  for i, name in ipairs(names) do
    columns[i], picked[i] = state.columns[base.place(state, name, "select")], name
  end
  return base.new_frame(picked, columns)
end

--- Drops these columns.
---
---     local df = frame.from_table { { "a", { 1 } }, { "b", { 2 } }, { "c", { 3 } } }
---     assert(table.concat(df:drop("b").columns, " ") == "a c")
---@param ... string|string[]
---@return tidemill.DataFrame
function M.drop(df, ...)
  local state = base.state(df, "drop")
  local names, columns, gone = {}, {}, {}
  for _, name in ipairs(check_names(state, base.list("drop", ...), "drop")) do
    gone[name] = true
  end
  for i, name in ipairs(state.names) do
    if not gone[name] then
      names[#names + 1], columns[#columns + 1] = name, state.columns[i]
    end
  end
  return base.new_frame(names, columns)
end

--- Renames columns: {old = "new"}.
---
---     local df = frame.from_table { a = { 1 } }
---     assert(df:rename({ a = "b" }).c.b[1] == 1)
---@param map table<string, string>
---@return tidemill.DataFrame
function M.rename(df, map)
  local state = base.state(df, "rename")
  check_map(map, "rename", '{old = "new"}')
  for old, new in pairs(map) do
    if type(new) ~= "string" then
      refuse("rename: the new name of column '%s' is a %s; accepted: strings, rename { old = \"new\" }", tostring(old),
        type(new))
    end
    base.place(state, old, "rename")
  end
  local names, seen = {}, {}
  for i, name in ipairs(state.names) do
    names[i] = map[name] or name
    if seen[names[i]] then
      refuse("rename: there would be two columns '%s'", names[i])
    end
    seen[names[i]] = true
  end
  return base.new_frame(names, state.columns)
end

local function view(state, first, n)
  local columns = {}
  for i, column in ipairs(state.columns) do
    local h = base.handle(column)
    columns[i] = base.view_column(h.column, first, n, column, h.ended)
  end
  return base.new_frame(state.names, columns)
end

local function check_count(n, what)
  if type(n) ~= "number" or n < 0 or n % 1 ~= 0 then
    refuse("%s: %s is not a number of rows", what, values.shown(n))
  end
  return n
end

--- Returns the first n rows, by default 10.
---
---     local df = frame.from_table { a = { 1, 2, 3 } }
---     assert(#df:head(2) == 2 and df:head(2).c.a[2] == 2)
---@param n? integer
---@return tidemill.DataFrame
function M.head(df, n)
  local state = base.state(df, "head")
  return view(state, 0, math.min(check_count(n or 10, "head"), state.len))
end

--- Returns the last n rows, by default 10.
---
---     local df = frame.from_table { a = { 1, 2, 3 } }
---     assert(df:tail(2).c.a[1] == 2)
---@param n? integer
---@return tidemill.DataFrame
function M.tail(df, n)
  local state = base.state(df, "tail")
  n = math.min(check_count(n or 10, "tail"), state.len)
  return view(state, state.len - n, n)
end

--- Returns rows i to j, both included and numbered from 1. Negative numbers count from the end, as
--- in string.sub(). By default j is the last row.
---
---     local df = frame.from_table { a = { 1, 2, 3, 4 } }
---     assert(df:slice(2, 3).c.a[1] == 2 and #df:slice(2, 3) == 2)
---     assert(df:slice(-1).c.a[1] == 4)
---@param i integer
---@param j? integer
---@return tidemill.DataFrame
function M.slice(df, i, j)
  local state = base.state(df, "slice")
  j = j or -1
  if type(i) ~= "number" or type(j) ~= "number" or i % 1 ~= 0 or j % 1 ~= 0 then
    refuse("slice: %s and %s were given; accepted: numbers of rows", values.shown(i), values.shown(j))
  end
  i = math.max(i < 0 and state.len + 1 + i or i, 1)
  j = math.min(j < 0 and state.len + 1 + j or j, state.len)
  return view(state, math.min(i - 1, state.len), math.max(j - i + 1, 0))
end

-- ---- filter ----

local comparisons = { ["=="] = 1, ["~="] = 2, ["!="] = 2, ["<"] = 3, ["<="] = 4, [">"] = 5, [">="] = 6 }

local function filter_by_function(state, fn)
  local list, n = base.rows_of(state.len), 0
  local row, i = rows.cursor(state), 0
  while rows.step(nil, row) do
    i = i + 1
    if fn(row) then
      list[n] = i - 1
      n = n + 1
    end
  end
  return take_rows(state, list, n)
end

-- The value that a column is compared with, or nil if it does not have the column's type.
local function value_for(kind, v)
  local value = ffi.new "struct tm_value"
  local t = type(v)
  if kind == STRING and t == "string" then
    value.string, value.string_len = v, #v
  elseif kind == BOOL and t == "boolean" then
    value.i64, value.is_integer = v and 1 or 0, 1
  elseif kind == DATETIME and t == "number" then
    value.f64 = v * 1e6
  elseif (kind == LONG or kind == DOUBLE) and t == "number" then
    value.f64 = v
  elseif (kind == LONG or kind == DOUBLE) and base.is_int64(v) then
    value.i64, value.is_integer = v, 1
  else
    return nil
  end
  return value
end

local function filter_by_value(state, name, op, v)
  local place = base.place(state, name, "filter")
  local h = base.handle(state.columns[place])
  local number = comparisons[op]
  if not number then
    refuse("filter: '%s' compares nothing; accepted: ==, ~=, <, <=, >, >=", tostring(op))
  end
  local list = base.rows_of(state.len)
  if v == nil and number <= 2 then
    return take_rows(state, list, tonumber(ops.where_null(h.column, number == 1 and 1 or 0, list)))
  end
  local value = value_for(h.column.type, v)
  if not value then
    refuse("filter: column '%s' is of type %s and cannot be compared with %s", name,
      base.type_names[h.column.type], values.shown(v))
  end
  return take_rows(state, list, tonumber(ops.compare(h.column, number, value, list)))
end

--- Keeps the rows for which a function of the row returns true, or in which a column compares to a
--- value: `==`, `~=`, `<`, `<=`, `>`, `>=`. A comparison with null is never true, not even with
--- `~=`. To find nulls, write `filter(name, "==", nil)`; to drop them, `filter(name, "~=", nil)`.
---
---     local df = frame.from_table { price = { 1, 5, nil, 7 } }
---     assert(#df:filter("price", ">", 3) == 2)
---     assert(#df:filter(function(row) return row.price == nil end) == 1)
---     assert(#df:filter("price", "~=", nil) == 3)
---@param what string|fun(row: tidemill.Row): boolean
---@param op? "=="|"~="|"<"|"<="|">"|">="
---@param value? any
---@return tidemill.DataFrame
function M.filter(df, what, op, value)
  local state = base.state(df, "filter")
  if type(what) == "function" then
    return filter_by_function(state, what)
  end
  return filter_by_value(state, what, op, value)
end

-- ---- new columns ----

--- Makes a frame from the results of a function for each row: a table of named values, or nil to
--- leave the row out. Columns with names of this frame come first, in its order; the others follow,
--- sorted by name. A column's type fits all its values.
---
---     local df = frame.from_table { a = { 1, 2 } }
---     local twice = df:map(function(row) return { a = row.a, b = row.a * 2 } end)
---     assert(twice.c.b[2] == 4)
---@param fn fun(row: tidemill.Row): table?
---@return tidemill.DataFrame
function M.map(df, fn)
  local state = base.state(df, "map")
  if type(fn) ~= "function" then
    refuse("map: a %s was given; accepted: a function of a row", type(fn))
  end
  local made, n = {}, 0
  local row, i = rows.cursor(state), 0
  while rows.step(nil, row) do
    i = i + 1
    local new = fn(row)
    if type(new) == "table" then
      n = n + 1
      made[n] = new
    elseif new ~= nil then
      refuse("map: the function returned %s for row %d; accepted: a table of named values, such as row:copy(), or nil",
        values.shown(new), i)
    end
  end
  return M.from_rows(made, n, state.names, "map")
end

--- Makes a frame of tables 1 to n, with columns for all their names: those of `first` first.
function M.from_rows(list, n, first, what)
  local by_name, names, others = {}, {}, {}
  for i = 1, n do
    for name, v in pairs(list[i]) do
      if not by_name[name] then
        if type(name) ~= "string" then
          refuse("%s: row %d has the key %s; accepted: names of columns", what, i, tostring(name))
        end
        by_name[name] = {}
        others[#others + 1] = name
      end
      by_name[name][i] = v
    end
  end
  for _, name in ipairs(first) do
    names[#names + 1] = by_name[name] and name or nil
  end
  local known = {}
  for _, name in ipairs(names) do
    known[name] = true
  end
  table.sort(others)
  for _, name in ipairs(others) do
    names[#names + 1] = not known[name] and name or nil
  end
  local columns = {}
  for i, name in ipairs(names) do
    columns[i] = values.column(by_name[name], n, nil, what, name)
  end
  return base.new_frame(names, columns)
end

local function computed(state, fn)
  local list = {}
  local row, i = rows.cursor(state), 0
  while rows.step(nil, row) do
    i = i + 1
    list[i] = fn(row)
  end
  return list
end

local function check_list(list, n, name)
  local last = table.maxn(list)
  for key in pairs(list) do
    if type(key) ~= "number" or key % 1 ~= 0 or key < 1 then
      refuse("with_column: the values of column '%s' have the key '%s'; accepted: 1 to %d", name, tostring(key), n)
    end
  end
  if last > n then
    refuse("with_column: %d values for column '%s' of a frame with %d rows", last, name, n)
  end
  return list
end

local function column_from(state, name, from, kind)
  local n = state.len
  local make = type(from) == "userdata" and base.column_makers[debug.getmetatable(from)]
  if make then
    from = make(from, "with_column", name)
  end
  if base.is_column(from) then
    if base.len(from) ~= n then
      refuse("with_column: column '%s' has %d rows; the frame has %d", name, base.len(from), n)
    end
    return kind and M.cast_column(from, kind, name, false) or from
  elseif type(from) == "function" then
    return values.column(computed(state, from), n, kind, "with_column", name)
  elseif type(from) == "table" then
    return values.column(check_list(from, n, name), n, kind, "with_column", name)
  end
  return values.constant(from, n, kind, "with_column", name)
end

local function replaced(state, name, column)
  local names, columns, place = {}, {}, nil
  for i, known in ipairs(state.names) do
    names[i], columns[i] = known, state.columns[i]
    place = known == name and i or place
  end
  place = place or #names + 1
  names[place], columns[place] = name, column
  return base.new_frame(names, columns)
end

--- Adds a column, or replaces the one with that name. `from` is a function of each row, a list of
--- values (nil for null), a column, a tensor with one axis, or one value for all rows. The type is
--- inferred from the values unless it is given.
---
---     local df = frame.from_table { a = { 1, 2 } }
---     local more = df:with_column("twice", function(row) return row.a * 2 end)
---     assert(more.c.twice[2] == 4)
---     assert(df:with_column("x", { "p", "q" }).c.x[1] == "p")
---     assert(df:with_column("one", 1, "double").types.one == "double")
---@param name string
---@param from any
---@param type? string
---@return tidemill.DataFrame
function M.with_column(df, name, from, type_name)
  local state = base.state(df, "with_column")
  if type(name) ~= "string" then
    refuse("with_column: %s is not a name of a column; accepted: a string", values.shown(name))
  end
  local kind = type_name ~= nil and base.type_of(type_name, "with_column") or nil
  return replaced(state, name, column_from(state, name, from, kind))
end

--- Replaces the nulls of the named columns by these values.
---
---     local df = frame.from_table { a = { nil, 1 } }
---     assert(df:fill_null({ a = 0 }).c.a[1] == 0)
---@param map table<string, any>
---@return tidemill.DataFrame
function M.fill_null(df, map)
  local state = base.state(df, "fill_null")
  check_map(map, "fill_null", "{column = value}")
  for name, v in pairs(map) do
    local column = state.columns[base.place(state, name, "fill_null")]
    local h = base.handle(column)
    local one = values.column({ v }, 1, h.column.type, "fill_null", name)
    base.handle(one).column.is_date = h.column.is_date
    if h.column.validity ~= nil then
      -- the value is row `len` of a longer column; nulls are taken from there
      local longer = base.join_columns { column, one }
      local bits, list = h.column.validity, base.rows_of(state.len)
      for i = 0, state.len - 1 do
        local has = bit.band(bit.rshift(bits[bit.rshift(i, 3)], bit.band(i, 7)), 1) == 1
        list[i] = has and i or state.len
      end
      df = replaced(state, name, base.take(longer, list, state.len))
      state = base.state(df, "fill_null")
    end
  end
  return df
end

-- ---- cast ----

local function same(v)
  return v
end

-- casts[from][to](value) returns the converted value, or nil if there is none.
local casts = {
  [BOOL] = {
    [LONG] = function(v) return v and 1 or 0 end,
    [DOUBLE] = function(v) return v and 1 or 0 end,
  },
  [LONG] = {
    [DOUBLE] = tonumber,
    [BOOL] = function(v) return v == 1 or (v ~= 0 and nil) end,
    [DATETIME] = tonumber,
  },
  [DOUBLE] = {
    [LONG] = function(v) return v % 1 == 0 and v >= -2 ^ 63 and v < 2 ^ 63 and v or nil end,
    [BOOL] = function(v) return v == 1 or (v ~= 0 and nil) end,
    [DATETIME] = same,
  },
  [DATETIME] = { [DOUBLE] = same, [LONG] = math.floor },
}

local function refuse_cast(from, kind)
  refuse("cast: column '%s', row %d: %s is not a valid %s; { invalid = \"null\" } makes it null", from.name, from.row,
    values.shown(from.value), base.type_names[kind])
end

local function cast_values(column, kind, name, invalid, one)
  local list, n = {}, base.len(column)
  for i = 1, n do
    local v = base.read(base.handle(column), i - 1)
    if v ~= nil then
      local to = one(v)
      if to == nil and not invalid then
        refuse_cast({ name = name, row = i, value = v }, kind)
      end
      list[i] = to
    end
  end
  return values.column(list, n, kind, "cast", name)
end

--- Converts a column to another type; `invalid`: values that do not fit become null.
function M.cast_column(column, kind, name, invalid)
  local from = base.handle(column).column.type
  if from == kind then
    return column
  elseif kind == STRING then
    return column:as_string()
  elseif from == STRING then
    return M.parse_column(column, kind, name, invalid)
  end
  local one = casts[from][kind]
  if not one then
    refuse("cast: column '%s' is of type %s, which cannot become %s", name, base.type_names[from],
      base.type_names[kind])
  end
  return cast_values(column, kind, name, invalid, one)
end

--- Converts a column of strings to another type.
function M.parse_column(column, kind, name, invalid)
  local n = base.len(column)
  local parsed, h = base.new_column(kind, n, nil, true)
  local from = base.handle(column).column
  if from.validity ~= nil then
    ffi.copy(h.column.validity, from.validity, math.floor((n + 7) / 8))
  end
  local bad = c.parse(column, parsed, invalid)
  if bad >= 0 then
    refuse_cast({ name = name, row = bad + 1, value = column[bad + 1] }, kind)
  end
  return parsed
end

--- Converts columns to other types: {column = "long"}. A value that does not fit raises, with
--- column and row, or becomes null with { invalid = "null" }. A double becomes a long if it is
--- whole. A datetime becomes a number of seconds. Strings are parsed as in a delimited file.
---
---     local df = frame.from_table { a = { "1", "2", "x" } }
---     local cast = df:cast({ a = "long" }, { invalid = "null" })
---     assert(cast.c.a[2] == 2 and cast.c.a[3] == nil)
---@param map table<string, string>
---@param options? {invalid?: "error"|"null"}
---@return tidemill.DataFrame
function M.cast(df, map, options)
  local state = base.state(df, "cast")
  check_map(map, "cast", "{column = type}")
  local invalid = base.options("cast", options, { invalid = base.INVALID }).invalid
  for name, type_name in pairs(map) do
    local column = state.columns[base.place(state, name, "cast")]
    local kind = base.type_of(type_name, ("cast: column '%s'"):format(name))
    df = replaced(state, name, M.cast_column(column, kind, name, invalid == "null"))
    state = base.state(df, "cast")
  end
  return df
end

--- Returns a frame with memory of its own. Use it to keep data of the frame that run() gets.
---
---     local df = frame.from_table { a = { 1, 2 } }
---     assert(df:copy().c.a[2] == 2)
---@return tidemill.DataFrame
function M.copy(df)
  local state = base.state(df, "copy")
  local columns = {}
  for i, column in ipairs(state.columns) do
    columns[i] = base.join_columns { column }
  end
  return base.new_frame(state.names, columns)
end

return M
