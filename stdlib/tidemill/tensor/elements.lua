-- elements.lua - methods of a tensor that read and write its elements.
local base = require "tidemill.tensor.base"
local ffi = require "ffi"
local refuse_name = require("tidemill.names").refuse

local cast, refuse, handle, check = ffi.cast, base.refuse, base.handle, base.check
local read, writers = base.read, base.writers
local handle_p = ffi.typeof "struct tm_tensor_handle *"

--- Numbers of one type in C memory, of any rank. `#t` is the size of the first axis. `t[i]` is
--- element i, from 1, of a tensor with one axis; of one with more axes it is the i-th slice, which
--- shares the memory; nil where there is none. An int64 beyond 2^53 is read as a 64-bit integer,
--- as in data frames. Call methods with ':'.
---@class tidemill.Tensor
---@field type tidemill.TensorType
---@field shape integer[] the size of each axis; a copy
---@operator len: integer
---@field [integer] boolean|number|string|tidemill.Tensor|nil
local methods = {}

local meta = base.meta
meta.methods = methods -- for code that lists them

-- The i-th slice, from 1, of a tensor with several axes.
local function row_of(t, i)
  local shape = base.shape_of(handle(t))
  local size = 1
  table.remove(shape, 1)
  for _, n in ipairs(shape) do
    size = size * n
  end
  return base.view(t, shape, (i - 1) * size)
end

local function refuse_scalar(what)
  refuse("%s: a tensor with the shape [] has no axis; its value is t:at()", what)
end

function meta.__index(t, key)
  if type(key) == "number" then
    local h = handle(t)
    local rank = h.tensor.rank
    if rank == 0 then
      refuse_scalar(("t[%s]"):format(tostring(key)))
    elseif not (key >= 1 and key <= tonumber(h.tensor.shape[0]) and key % 1 == 0) then
      return nil
    elseif rank == 1 then
      return read(h.tensor.data, h.tensor.type, key - 1)
    end
    return row_of(t, key)
  end
  local method = methods[key]
  if method then
    return method
  elseif key == "type" then
    return base.type_names[handle(t).tensor.type]
  elseif key == "shape" then
    return base.shape_of(handle(t))
  end
  refuse_name("a tensor", key, methods, { "type", "shape" })
end

function meta.__len(t)
  local h = handle(t)
  if h.tensor.rank == 0 then
    refuse_scalar "#t"
  end
  return tonumber(h.tensor.shape[0])
end

function meta.__newindex(_, key)
  refuse("t[%s] cannot be assigned; t:set(value, i, j, ...) sets an element", tostring(key))
end

-- ---- by place ----

local function refuse_place(h, what, ...)
  local places, shape, last = { ... }, base.shape_of(h), select("#", ...)
  while last > 0 and places[last] == nil do
    last = last - 1
  end
  for i = 1, last do
    places[i] = base.value_text(places[i])
  end
  refuse("tensor:%s: there is no element (%s) in the shape %s; accepted: %s", what, table.concat(places, ", "),
    base.shape_text(shape), #shape == 0 and "no number"
      or ("%d number%s from 1 to these sizes"):format(#shape, #shape > 1 and "s" or ""))
end

-- Whether i is a place on an axis, from 0.
local function is_on(h, axis, i)
  return type(i) == "number" and i >= 1 and i <= tonumber(h.tensor.shape[axis]) and i % 1 == 0
end

local function deep_place(h, what, at, ...)
  local rank = h.tensor.rank
  if select("#", ...) ~= rank then
    refuse_place(h, what, ...)
  end
  for axis = 4, rank - 1 do
    local i = select(axis + 1, ...)
    if not is_on(h, axis, i) then
      refuse_place(h, what, ...)
    end
    at = at * tonumber(h.tensor.shape[axis]) + i - 1
  end
  return at
end

-- Returns the number of an element, from 0, by its places on the axes. Without a loop for up to
-- four axes, so that a loop around it is compiled.
local function place(h, what, i, j, k, l, ...)
  local rank, at = h.tensor.rank, 0
  if rank >= 1 then
    if not is_on(h, 0, i) then refuse_place(h, what, i, j, k, l, ...) end
    at = i - 1
  elseif i ~= nil then
    refuse_place(h, what, i, j, k, l, ...)
  end
  if rank >= 2 then
    if not is_on(h, 1, j) then refuse_place(h, what, i, j, k, l, ...) end
    at = at * tonumber(h.tensor.shape[1]) + j - 1
  elseif j ~= nil then
    refuse_place(h, what, i, j, k, l, ...)
  end
  if rank >= 3 then
    if not is_on(h, 2, k) then refuse_place(h, what, i, j, k, l, ...) end
    at = at * tonumber(h.tensor.shape[2]) + k - 1
  elseif k ~= nil then
    refuse_place(h, what, i, j, k, l, ...)
  end
  if rank >= 4 then
    if not is_on(h, 3, l) then refuse_place(h, what, i, j, k, l, ...) end
    at = at * tonumber(h.tensor.shape[3]) + l - 1
  elseif l ~= nil then
    refuse_place(h, what, i, j, k, l, ...)
  end
  if rank > 4 or select("#", ...) > 0 then
    return deep_place(h, what, at, i, j, k, l, ...)
  end
  return at
end

--- Returns an element by its place on each axis, from 1.
---
---     local t = tensor.from_table("float32", { { 1, 2, 3 }, { 4, 5, 6 } })
---     assert(t:at(2, 3) == 6)
---@param i? integer
---@param ... integer
---@return boolean|number|string
function methods.at(t, i, ...)
  local h = check(t, "at")
  return read(h.tensor.data, h.tensor.type, place(h, "at", i, ...))
end

-- Keeps a string alive with the tensor that owns the elements.
local function keep_string(t, h, at, value)
  local data = cast("char *", h.tensor.data) + at * base.sizes[base.STRING]
  local keep = debug.getfenv(t)
  while base.is_tensor(keep.owner) do
    t = keep.owner
    keep = debug.getfenv(t)
  end
  keep.strings = keep.strings or {}
  keep.strings[tonumber(data - cast("char *", cast(handle_p, t).tensor.data))] = value
end

--- Sets an element by its place on each axis, from 1. The value must fit the type. A tensor over a
--- column of a data frame cannot be set.
---
---     local t = tensor.new("uint8", { 2, 2 })
---     t:set(255, 1, 2)
---     assert(t:at(1, 2) == 255)
---@param value boolean|number|string
---@param i? integer
---@param ... integer
function methods.set(t, value, i, ...)
  local h = check(t, "set")
  local at, kind = place(h, "set", i, ...), h.tensor.type
  if h.is_read_only ~= 0 then
    refuse("tensor:set: this tensor shares the memory of a data frame, which does not change; t:copy() can be set")
  elseif not writers[kind](h.tensor.data, at, value) then
    refuse("tensor:set: %s does not fit the type %s; accepted: %s", base.value_text(value), base.type_names[kind],
      base.wanted[kind])
  end
  if kind == base.STRING then
    keep_string(t, h, at, value)
  end
end

-- ---- all of them ----

--- Returns the memory, for fast loops: a pointer of the tensor's type, from 0, in C order. A
--- float16 is its 16 bits as uint16_t, a bool a bool. Strings are structs with `bytes` and `len`.
--- Keep the tensor while you use the pointer.
---
---     local t = tensor.from_table("float32", { { 1, 2 }, { 3, 4 } })
---     local data, sum = t:data(), 0
---     for i = 0, 3 do
---       sum = sum + data[i]
---     end
---     assert(sum == 10)
---@return ffi.cdata*
function methods.data(t)
  local h = check(t, "data")
  local types = h.is_read_only ~= 0 and base.constants or base.pointers
  return cast(types[h.tensor.type], h.tensor.data)
end

--- Returns the elements as a string of bytes, as they lie in memory; not of strings.
---
---     local t = tensor.from_table("uint8", { 72, 105 })
---     assert(t:bytes() == "Hi")
---@return string
function methods.bytes(t)
  local h = check(t, "bytes")
  if h.tensor.type == base.STRING then
    refuse("tensor:bytes: strings have no bytes of one size; t:to_table() has their values")
  end
  return ffi.string(h.tensor.data, base.count_of(h) * base.sizes[h.tensor.type])
end

-- The elements from number `first` on, from 0, as nested lists for the axes from `axis` on, from 0.
-- Returns them and the number of the next element.
local function nested(t, axis, first)
  local h = handle(t)
  local n, list = tonumber(h.tensor.shape[axis]), {}
  if axis == h.tensor.rank - 1 then
    local kind = h.tensor.type
    for i = 1, n do
      list[i] = read(cast(handle_p, t).tensor.data, kind, first + i - 1)
    end
    return list, first + n
  end
  for i = 1, n do
    list[i], first = nested(t, axis + 1, first)
  end
  return list, first
end

--- Returns the elements as nested lists; a tensor with the shape [] as its value.
---
---     local t = tensor.from_table("int64", { { 1, 2 }, { 3, 4 } })
---     assert(t:to_table()[2][1] == 3)
---@return table|boolean|number|string
function methods.to_table(t)
  local h = check(t, "to_table")
  if h.tensor.rank == 0 then
    return read(h.tensor.data, h.tensor.type, 0)
  end
  return (nested(t, 0, 0))
end

--- Returns a tensor with memory of its own. Use it to keep what would end, such as a tensor over
--- the frame that run() gets.
---
---     local t = tensor.from_table("float32", { 1, 2 })
---     local copy = t:copy()
---     copy:set(9, 1)
---     assert(t[1] == 1)
---@return tidemill.Tensor
function methods.copy(t)
  local h = check(t, "copy")
  local made, room = base.new(h.tensor.type, base.shape_of(h), base.string_bytes(h))
  base.copy_into(made, 0, t, room)
  return made
end

-- ---- as text ----

local SHOWN = 12 -- elements
local formats = { float32 = "%.7g", float16 = "%.4g", float64 = "%.14g" }

local function element_text(t, i, format)
  local h = handle(t)
  local kind = h.tensor.type
  if kind == base.INT64 or kind == base.UINT64 then
    return (tostring(cast(base.pointers[kind], h.tensor.data)[i]):gsub("U?LL$", ""))
  end
  local v = read(h.tensor.data, kind, i)
  if type(v) == "string" then
    return (("%q"):format(#v > 40 and v:sub(1, 40) .. "..." or v):gsub("\n", "n"))
  end
  return type(v) == "number" and format:format(v) or tostring(v)
end

-- Adds the elements below an axis, from number `first` on, to a list of texts; `left`: how many may
-- still be added. Returns how many are left then.
local function add_text(out, t, shape, axis, first, left, format)
  if axis > #shape then
    out[#out + 1] = element_text(t, first, format)
    return left - 1
  end
  local size = 1
  for i = axis + 1, #shape do
    size = size * shape[i]
  end
  out[#out + 1] = "["
  for i = 1, shape[axis] do
    out[#out + 1] = i > 1 and ", " or nil
    if left <= 0 then
      out[#out + 1] = "..."
      break
    end
    left = add_text(out, t, shape, axis + 1, first + (i - 1) * size, left, format)
  end
  out[#out + 1] = "]"
  return left
end

function meta.__tostring(t)
  local h = handle(t)
  local shape, name = base.shape_of(h), base.type_names[h.tensor.type]
  local out = {}
  add_text(out, t, shape, 1, 0, SHOWN, formats[name] or "%.0f")
  return ("tensor %s %s: %s"):format(name, base.shape_text(shape), table.concat(out))
end

return methods
