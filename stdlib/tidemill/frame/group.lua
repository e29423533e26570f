-- group.lua - methods of a data frame that compare rows: sorting, groups.
local base = require "tidemill.frame.base"
local ffi = require "ffi"
local guarded = require("tidemill.names").guarded
local shape = require "tidemill.frame.shape"
local values = require "tidemill.frame.values"

local BOOL, LONG, DOUBLE, STRING, DATETIME = base.BOOL, base.LONG, base.DOUBLE, base.STRING, base.DATETIME
local refuse, ops = base.refuse, base.ops
local pairs_of = ffi.typeof "struct tm_sort_pair[?]"

local function array_maker(name)
  local array_type = ffi.typeof(name)
  return function(n) return base.new_array(array_type, n) end
end
local counts_of, sums_of = array_maker "int64_t[?]", array_maker "double[?]"

---@class tidemill.DataFrame
local M = {}

-- The structs of these columns, as C takes them. The frame must keep them alive.
local function structs(state, names, what)
  local list = ffi.new("const struct tm_column *[?]", #names)
  for i, name in ipairs(names) do
    list[i - 1] = base.handle(state.columns[base.place(state, name, what)]).column
  end
  return list
end

-- ---- sort ----

local function sort_keys(...)
  local first = ...
  if select("#", ...) == 1 and type(first) == "table" and first.desc == nil then
    return first
  end
  return { ... }
end

--- Sorts the rows by one column or several; equal rows keep their order. A key is a name or {name,
--- desc = true}. Nulls come last in either direction, and NaN after all numbers; strings compare by
--- bytes.
---
---     local df = frame.from_table { k = { "b", "a", "b" }, n = { 1, 2, 3 } }
---     local sorted = df:sort("k", { "n", desc = true })
---     assert(table.concat(sorted.c.n:to_table(), " ") == "2 3 1")
---@param ... string|table
---@return tidemill.DataFrame
function M.sort(df, ...)
  local state = base.state(df, "sort")
  local given = sort_keys(...)
  if #given == 0 then
    refuse "sort: no column is named"
  end
  local keys, n = ffi.new("struct tm_sort_key[?]", #given), state.len
  for i, key in ipairs(given) do
    if type(key) == "table" then
      base.options("sort", { desc = key.desc }, { desc = "boolean" })
    else
      key = { key }
    end
    keys[i - 1].column = base.handle(state.columns[base.place(state, key[1], "sort")]).column
    keys[i - 1].descends = key.desc and 1 or 0
  end
  local list = base.rows_of(n)
  for i = 0, n - 1 do
    list[i] = i
  end
  ops.sort(keys, #given, list, n, base.new_array(pairs_of, 2 * n + 1))
  return shape.take_rows(state, list, n)
end

-- ---- groups ----

-- Returns the group of each row, the first row of each group, and the number of groups.
local function groups_of(state, names, what)
  local n = state.len
  local ids, firsts = base.rows_of(n), base.rows_of(n)
  local slots, size = base.slots_for(n)
  local count = ops.group(structs(state, names, what), #names, n, ids, firsts, slots, size)
  return ids, firsts, tonumber(count)
end

local function long_column(list, n)
  local column, h = base.new_column(LONG, n)
  ffi.copy(h.column.i64, list, 8 * n)
  return column
end

-- Makes a column of doubles from value(group), where nil means null.
local function double_column(n, value)
  local list = {}
  for g = 0, n - 1 do
    list[g + 1] = value(g)
  end
  return values.column(list, n, DOUBLE, "agg", "")
end

local function check_number(column, words, allows_datetime)
  local kind = base.handle(column).column.type
  if kind == STRING or (kind == DATETIME and not allows_datetime) then
    refuse("agg: column '%s' is of type %s and has no %s", words.column, base.type_names[kind], words.what)
  end
  return kind
end

local function counts(column, g)
  local list = counts_of(g.n)
  ops.group_count(base.handle(column).column, g.ids, list)
  return list
end

local function sums(column, g, exact)
  local list = sums_of(g.n)
  local is_exact = ops.group_sum(base.handle(column).column, g.ids, g.n, list, exact)
  return list, is_exact ~= 0
end

local function pick(what)
  return function(column, g)
    local list = base.rows_of(g.n)
    ops.group_pick(base.handle(column).column, g.ids, g.n, what, list)
    return base.take(column, list, g.n, true)
  end
end

local function spread(finish)
  return function(column, g, words)
    local unit = check_number(column, words, true) == DATETIME and 1e6 or 1
    local count, sum, out = counts(column, g), sums(column, g), sums_of(g.n)
    ops.group_spread(base.handle(column).column, g.ids, g.n, sum, count, out)
    return double_column(g.n, function(i)
      return count[i] > 1 and finish(out[i] / (tonumber(count[i]) - 1), unit) or nil
    end)
  end
end

-- Returns the rows of all groups in one list, and where each group i begins in it: starts[i].
local function members(g)
  local starts, at = counts_of(g.n + 1), counts_of(g.n + 1)
  for i = 0, g.rows - 1 do
    starts[g.ids[i] + 1] = starts[g.ids[i] + 1] + 1
  end
  for i = 1, g.n do
    starts[i] = starts[i] + starts[i - 1]
    at[i] = starts[i]
  end
  local list = base.rows_of(g.rows)
  for i = 0, g.rows - 1 do
    local group = g.ids[i]
    list[at[group]] = i
    at[group] = at[group] + 1
  end
  return list, starts
end

-- Makes a column from the results of a function that gets the column of each group.
local function each(column, g, fn, name)
  local list, starts = members(g)
  local made = {}
  for i = 0, g.n - 1 do
    made[i + 1] = fn(base.take(column, list + starts[i], tonumber(starts[i + 1] - starts[i])))
  end
  return values.column(made, g.n, nil, "agg", name)
end

local function median_of(column)
  local n = column:count()
  local sorted = base.new_frame({ "a" }, { column }):sort "a"
  local c = sorted.c.a
  local mid = math.floor(n / 2)
  if n == 0 then
    return nil
  end
  return n % 2 == 1 and tonumber(c[mid + 1]) or (tonumber(c[mid]) + tonumber(c[mid + 1])) / 2
end
M.median_of = median_of

local aggregates = {
  count = function(column, g)
    return long_column(counts(column, g), g.n)
  end,
  sum = function(column, g, words)
    local kind = check_number(column, words)
    local exact = kind ~= DOUBLE and counts_of(g.n) or nil
    local list, is_exact = sums(column, g, exact)
    if exact and is_exact then
      return long_column(exact, g.n)
    end
    return double_column(g.n, function(i) return list[i] end)
  end,
  mean = function(column, g, words)
    local unit = check_number(column, words, true) == DATETIME and 1e6 or 1
    local count, sum = counts(column, g), sums(column, g)
    return double_column(g.n, function(i)
      return count[i] > 0 and sum[i] / tonumber(count[i]) / unit or nil
    end)
  end,
  std = spread(function(variance, unit) return math.sqrt(variance) / unit end),
  var = spread(function(variance, unit) return variance / unit / unit end),
  min = pick(2),
  max = pick(3),
  first = pick(4),
  last = pick(5),
  median = function(column, g, words)
    check_number(column, words, true)
    local made = each(column, g, median_of, words.column)
    return made:count() > 0 and shape.cast_column(made, DOUBLE, words.column) or
      (base.new_column(DOUBLE, g.n, nil, "null"))
  end,
  count_distinct = function(column, g, words)
    return each(column, g, function(c)
      return select(3, groups_of({ names = { "a" }, columns = { c }, len = #c }, { "a" }, "agg")) -
        (c:count() < #c and 1 or 0)
    end, words.column)
  end,
}

local function aggregate(state, g, name, spec)
  if spec == "count" then
    local list = counts_of(g.n)
    for i = 0, g.rows - 1 do
      list[g.ids[i]] = list[g.ids[i]] + 1
    end
    return long_column(list, g.n)
  end
  local known = base.sorted_keys(aggregates)
  if type(spec) ~= "table" or #spec ~= 2 then
    refuse("agg: '%s' is %s; accepted: \"count\", or {what, column}, what being %s, or a function of a column", name,
      values.shown(spec), table.concat(known, ", "))
  end
  local what, of = spec[1], spec[2]
  local column = state.columns[base.place(state, of, "agg")]
  if type(what) == "function" then
    return each(column, g, what, name)
  end
  if not aggregates[what] then
    refuse("agg: '%s' asks for '%s'; accepted: %s, or a function of a column%s", name, tostring(what),
      table.concat(known, ", "), base.hint(what, known))
  end
  return aggregates[what](column, g, { what = what, column = of })
end

--- Groups of rows. agg() makes one row of each.
---@class tidemill.Groups
local Groups = guarded("group_by()", {})
Groups.__index = Groups

--- Makes one row for each group: its keys, and the aggregates in `specs`, by name. An aggregate is
--- "count" (rows), or {what, column}: count (values), sum, mean, min, max, std, var, median, first,
--- last, count_distinct, or a function that gets the group's column. Nulls are left out. The groups
--- are in the order of their first rows.
---
---     local df = frame.from_table { k = { "a", "b", "a" }, revenue = { 1, 2, 3 } }
---     local sums = df:group_by("k"):agg { revenue = { "sum", "revenue" }, n = "count" }
---     assert(sums.c.k[1] == "a" and sums.c.revenue[1] == 4 and sums.c.n[1] == 2)
---@param specs table<string, string|table>
---@return tidemill.DataFrame
function Groups:agg(specs)
  local state = base.state(self.df, "agg")
  if type(specs) ~= "table" then
    refuse("agg: a %s was given; accepted: a table {name = {\"sum\", column}, n = \"count\"}", type(specs))
  end
  local names, columns, made = {}, {}, {}
  for i, name in ipairs(self.keys) do
    names[i] = name
    columns[i] = base.take(state.columns[base.place(state, name, "agg")], self.firsts, self.n)
    if specs[name] then
      refuse("agg: '%s' is a key of the groups; choose another name", name)
    end
  end
  for name in pairs(specs) do
    made[#made + 1] = tostring(name)
  end
  table.sort(made)
  for _, name in ipairs(made) do
    names[#names + 1] = name
    columns[#columns + 1] = aggregate(state, self, name, specs[name])
  end
  return base.new_frame(names, columns)
end

--- Groups the rows that are equal in these columns, for agg(). Null is a value of its own here.
---
---     local df = frame.from_table { k = { "a", "b", "a" } }
---     assert(#df:group_by("k"):agg { n = "count" } == 2)
---@param ... string|string[]
---@return tidemill.Groups
function M.group_by(df, ...)
  local state, keys = base.state(df, "group_by"), base.list("group_by", ...)
  if #keys == 0 then
    refuse "group_by: no column is named"
  end
  local ids, firsts, n = groups_of(state, keys, "group_by")
  return setmetatable({ df = df, keys = keys, ids = ids, firsts = firsts, n = n, rows = state.len }, Groups)
end

--- Keeps the first of all rows that are equal in these columns, or in all columns if none is named.
---
---     local df = frame.from_table { k = { "a", "b", "a" }, n = { 1, 2, 3 } }
---     assert(#df:unique("k") == 2 and #df:unique() == 3)
---@param ... string|string[]
---@return tidemill.DataFrame
function M.unique(df, ...)
  local state, names = base.state(df, "unique"), base.list("unique", ...)
  if #names == 0 then
    names = state.names
  end
  local _, firsts, n = groups_of(state, names, "unique")
  return shape.take_rows(state, firsts, n)
end

--- Counts how often each value of a column occurs (`count`), the most frequent first. Null is a
--- value too.
---
---     local df = frame.from_table { k = { "b", "a", "b" } }
---     local counts = df:value_counts "k"
---     assert(counts.c.k[1] == "b" and counts.c.count[1] == 2)
---@param name string
---@return tidemill.DataFrame
function M.value_counts(df, name)
  local state = base.state(df, "value_counts")
  base.place(state, name, "value_counts")
  if name == "count" then
    df = df:rename { count = "value" }
    name = "value"
  end
  return df:group_by(name):agg({ count = "count" }):sort { "count", desc = true }
end

--- Describes each column in a row: `column`, `type`, `count` (values), `nulls`, and for numbers
--- `mean`, `std`, `min`, `median`, `max`.
---
---     local df = frame.from_table { a = { 1, nil, 2 } }
---     local d = df:describe()
---     assert(d.c.column[1] == "a" and d.c.nulls[1] == 1 and d.c.mean[1] == 1.5)
---@return tidemill.DataFrame
function M.describe(df)
  local state = base.state(df, "describe")
  local lists = { column = {}, type = {}, count = {}, nulls = {}, mean = {}, std = {}, min = {}, median = {}, max = {} }
  for i, column in ipairs(state.columns) do
    lists.column[i], lists.type[i], lists.count[i] = state.names[i], column.type, column:count()
    lists.nulls[i] = state.len - lists.count[i]
    local kind = base.handle(column).column.type
    if kind ~= STRING and kind ~= BOOL then
      for _, what in ipairs { "mean", "std", "min", "max" } do
        lists[what][i] = column[what](column)
      end
      lists.median[i] = median_of(column)
    end
  end
  local names = { "column", "type", "count", "nulls", "mean", "std", "min", "median", "max" }
  local kinds = { STRING, STRING, LONG, LONG, DOUBLE, DOUBLE, DOUBLE, DOUBLE, DOUBLE }
  local columns = {}
  for i, name in ipairs(names) do
    columns[i] = values.column(lists[name], #state.names, kinds[i], "describe", name)
  end
  return base.new_frame(names, columns)
end

return M
