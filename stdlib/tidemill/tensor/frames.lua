-- frames.lua - data frames as tensors, and tensors as columns.
local base = require "tidemill.tensor.base"
local convert = require("tidemill.tensor.numbers").convert
local ffi = require "ffi"
local frame = require "tidemill.frame.base"
local null = require("tidemill.json").null

local cast, refuse, check, handle = ffi.cast, base.refuse, base.check, base.handle
local char_p, bytes_of = ffi.typeof "char *", ffi.typeof "char[?]"

-- The tensors' types of the columns' ones. A datetime is not a number.
local tensor_types = {
  [frame.BOOL] = base.BOOL, [frame.LONG] = base.INT64, [frame.DOUBLE] = base.FLOAT64, [frame.STRING] = base.STRING,
}

-- ---- a frame as a tensor ----

local function first_null(column)
  local h = frame.handle(column)
  if h.column.validity == nil then
    return nil
  end
  local rows = frame.rows_of(frame.len(column))
  local n = tonumber(frame.ops.where_null(frame.handle(column).column, 1, rows))
  return n > 0 and rows[0] + 1 or nil, rows, n
end

local function check_type(column, name, kind)
  local from = frame.handle(column).column.type
  local words
  if from == frame.DATETIME then
    words = ("df:cast { %s = \"double\" } has its seconds"):format(name)
  elseif from == frame.STRING and kind ~= base.STRING then
    words = "accepted: numbers and bools"
  elseif from ~= frame.STRING and kind == base.STRING then
    words = ("df:cast { %s = \"string\" } has its text"):format(name)
  end
  if words then
    refuse("from_frame: column '%s' is of type %s, and the tensor of type %s; %s", name, frame.type_name(column),
      base.type_names[kind], words)
  end
end

-- Returns the place of the columns in the frame.
local function places_of(state, names)
  local places = {}
  for i, name in ipairs(names) do
    places[i] = frame.place(state, name, "from_frame")
  end
  return places
end

local function check_value(value, kind)
  if value == null or not base.writers[kind](bytes_of(16), 0, value) then
    refuse("from_frame: option 'null' is %s; accepted for %s: %s", base.value_text(value), base.type_names[kind],
      base.wanted[kind])
  end
end

-- Raises at the first null, unless there is a value for nulls.
local function check_nulls(state, places, value)
  for _, place in ipairs(value == nil and places or {}) do
    local row = first_null(state.columns[place])
    if row then
      refuse("from_frame: column '%s', row %d: null; accepted: numbers, or an option null = value", state.names[place],
        row)
    end
  end
end

-- A column as a tensor over its memory.
local function shared(column, kind)
  local v = frame.handle(column).column
  local made, h = base.over(v.data, kind, { tonumber(v.len), 1 }, { owner = column })
  h.ended, h.is_read_only = frame.handle(column).ended, 1
  return made
end

-- The memory of a column's values, with 0 where it is null. Keep both results.
local function values_of(column)
  local row, rows, n = first_null(column)
  local v = frame.handle(column).column
  if not row then
    return v.data, column
  end
  local kind = tensor_types[v.type]
  local size = frame.len(column) * base.sizes[kind]
  local copy = frame.new_array(bytes_of, size)
  ffi.copy(copy, frame.handle(column).column.data, size)
  for i = 0, n - 1 do
    ffi.fill(copy + rows[i] * base.sizes[kind], base.sizes[kind])
  end
  return cast("void *", copy), copy
end

local function set_nulls(t, k, column, value)
  local row, rows, n = first_null(column)
  local h = handle(t)
  local kind, width = h.tensor.type, tonumber(h.tensor.shape[1])
  for i = 0, row and n - 1 or -1 do
    base.writers[kind](handle(t).tensor.data, rows[i] * width + k, value)
  end
end

-- Writes a column of numbers or bools into column k, from 0, of a tensor.
local function fill_numbers(t, k, column, name, value)
  local from = tensor_types[frame.handle(column).column.type]
  local data, owner = values_of(column)
  local to = handle(t).tensor
  local width, kind = tonumber(to.shape[1]), to.type
  local bad = convert(data, 1, from, cast(char_p, to.data) + k * base.sizes[kind], width, kind, frame.len(column))
  if bad then
    refuse("from_frame: column '%s', row %d: NaN, which %s does not have", name, bad + 1, base.type_names[kind])
  end
  set_nulls(t, k, column, value)
  return owner
end

-- Writes a column of strings. Their bytes stay the column's.
local function fill_strings(t, k, column, value)
  local v, h = frame.handle(column).column, handle(t)
  local width, to = tonumber(h.tensor.shape[1]), cast(base.pointers[base.STRING], h.tensor.data)
  local off = v.is_wide ~= 0 and v.off64 or v.off32
  for i = 0, frame.len(column) - 1 do
    local s = to[i * width + k]
    s.bytes, s.len = v.bytes + off[i], off[i + 1] - off[i]
  end
  if value ~= nil then
    set_nulls(t, k, column, value)
  end
end

---@class tidemill.tensor
local M = {}

--- Makes a tensor of rows and columns of a data frame: of all columns, or of those in `columns`, in
--- this order. A null raises with its column and row, unless `null` has a value for it. If there is
--- one column, of the type wanted (bool, or long for int64, or double for float64) and without
--- nulls, the tensor shares its memory, and ends with the frame.
---
---     local df = frame.from_table { { "a", { 1, 2 } }, { "b", { 0.5, nil } } }
---     local t = tensor.from_frame(df, { type = "float32", null = -1 })
---     assert(t:at(1, 2) == 0.5 and t:at(2, 2) == -1)
---     assert(tensor.from_frame(df, { columns = { "a" } }).shape[2] == 1)
---@param df tidemill.DataFrame
---@param options? {columns?: string[], type?: tidemill.TensorType, null?: any}
---@return tidemill.Tensor
function M.from_frame(df, options)
  if not frame.is_frame(df) then
    refuse("from_frame: %s was given; accepted: a data frame", base.value_text(df))
  end
  options = base.options("from_frame", options, { columns = "table", type = "string", null = "any" })
  local state, kind = frame.state(df, "from_frame"), base.type_of(options.type or "float32", "from_frame")
  local value = options.null
  if value ~= nil then
    check_value(value, kind)
  end
  local places = places_of(state, frame.list("from_frame", options.columns or state.names))
  for _, place in ipairs(places) do
    check_type(state.columns[place], state.names[place], kind)
  end
  check_nulls(state, places, value)
  local first = state.columns[places[1]]
  if #places == 1 and kind ~= base.STRING and tensor_types[frame.handle(first).column.type] == kind
    and not first_null(first) then
    return shared(first, kind)
  end
  local t = base.new(kind, { state.len, #places })
  if kind == base.STRING then
    debug.getfenv(t).owner, debug.getfenv(t).null = df, value
    handle(t).ended = first and frame.handle(first).ended or handle(t).ended
  end
  for k, place in ipairs(places) do
    local column = state.columns[place]
    if kind == base.STRING then
      fill_strings(t, k - 1, column, value)
    else
      fill_numbers(t, k - 1, column, state.names[place], value)
    end
  end
  return t
end

-- ---- a tensor as columns ----

local function column_type(kind)
  if kind == base.BOOL then
    return frame.BOOL
  elseif kind == base.STRING then
    return frame.STRING
  end
  return base.is_real[kind] and frame.DOUBLE or frame.LONG
end

-- Raises if one of n elements of a uint64 is beyond the range of long.
local function check_unsigned(t, first, step, n, what, name)
  local data = cast(base.pointers[base.UINT64], handle(t).tensor.data)
  for i = 0, n - 1 do
    if data[first + i * step] > 9223372036854775807ULL then
      refuse("%s: column '%s', row %d: %s is beyond the range of long; t:cast \"float64\" converts it", what, name,
        i + 1, (tostring(data[first + i * step]):gsub("ULL$", "")))
    end
  end
end

local function string_column(t, first, step, n)
  local bytes = 0
  local from = cast(base.pointers[base.STRING], handle(t).tensor.data)
  for i = 0, n - 1 do
    bytes = bytes + tonumber(from[first + i * step].len)
  end
  local column, h = frame.new_column(frame.STRING, n, bytes)
  from = cast(base.pointers[base.STRING], handle(t).tensor.data)
  local v, at = h.column, 0
  local off = v.is_wide ~= 0 and v.off64 or v.off32
  for i = 0, n - 1 do
    local s = from[first + i * step]
    ffi.copy(v.bytes + at, s.bytes, s.len)
    at = at + tonumber(s.len)
    off[i + 1] = at
  end
  return column
end

-- Makes a column of n elements: number `first`, from 0, and each `step`-th after it.
local function column_of(t, first, step, n, what, name)
  local kind = handle(t).tensor.type
  if kind == base.STRING then
    return string_column(t, first, step, n)
  elseif kind == base.UINT64 then
    check_unsigned(t, first, step, n, what, name)
  end
  local to_type = column_type(kind)
  local column, h = frame.new_column(to_type, n)
  local from = cast(char_p, handle(t).tensor.data) + first * base.sizes[kind]
  convert(from, step, kind, h.column.data, 1, tensor_types[to_type], n)
  return column
end

frame.column_makers[base.meta] = function(t, what, name)
  local shape = base.shape_of(handle(t))
  if #shape ~= 1 then
    refuse("%s: the tensor for column '%s' has the shape %s; accepted: one axis%s", what, name, base.shape_text(shape),
      #shape == 2 and (shape[2] == 1 and "; t:reshape { -1 } has it" or "; t:to_frame(names) makes several columns")
        or "")
  end
  return column_of(t, 0, 1, shape[1], what, name)
end

---@class tidemill.Tensor
local methods = {}

--- Makes a data frame of a tensor with two axes: rows, and columns with these names. Integers
--- become long, floats double.
---
---     local t = tensor.from_table("float32", { { 1, 2 }, { 3, 4 } })
---     local df = t:to_frame { "a", "b" }
---     assert(df.c.b[2] == 4 and df.types.a == "double")
---@param names string[] one for each column
---@return tidemill.DataFrame
function methods.to_frame(t, names)
  local shape = base.shape_of(check(t, "to_frame"))
  if #shape ~= 2 then
    refuse("tensor:to_frame: the tensor has the shape %s; accepted: two axes%s", base.shape_text(shape),
      #shape == 1 and "; t:reshape { -1, 1 } has one column" or "")
  elseif type(names) ~= "table" then
    refuse("tensor:to_frame: %s was given; accepted: a list of %.0f names", base.value_text(names), shape[2])
  elseif #names ~= shape[2] then
    refuse("tensor:to_frame: %d names for a tensor with the shape %s; accepted: %.0f", #names, base.shape_text(shape),
      shape[2])
  end
  local columns, list, seen = {}, {}, {}
  for k, name in ipairs(names) do
    if type(name) ~= "string" then
      refuse("tensor:to_frame: name %d is %s; accepted: a string", k, base.value_text(name))
    elseif seen[name] then
      refuse("tensor:to_frame: there are two columns '%s'", name)
    end
    seen[name] = true
    list[k], columns[k] = name, column_of(t, k - 1, shape[2], shape[1], "tensor:to_frame", name)
  end
  return frame.new_frame(list, columns)
end

return { methods = methods, functions = M }
