-- tensor.lua - tensors: numbers of one type in C memory, of any rank; what models take and return.
--
--   local tensor = require "tidemill.tensor"
--   local t = tensor.from_table("float32", { { 1, 2, 3 }, { 4, 5, 6 } })
--   print(t.type, #t, t.shape[2], t[2][3])                          -- float32  2  3  6
--   local labels, scores = t:softmax():argmax()
--
-- Places are numbered from 1, pointers of the FFI from 0. A slice shares the memory of its tensor
-- and keeps it alive. The collector and the memory limit count a tensor. Wrong arguments raise at
-- the caller's line.
--
-- Its parts: tensor/base.lua (memory), elements, shapes, numbers, frames.
local base = require "tidemill.tensor.base"
local ffi = require "ffi"
local frames = require "tidemill.tensor.frames"
local known_names = require "tidemill.names"
local numbers = require "tidemill.tensor.numbers"
local shapes = require "tidemill.tensor.shapes"

local refuse, handle = base.refuse, base.handle

---@alias tidemill.TensorType
---| "float32" | "float64" | "float16" | "int8" | "uint8" | "int16" | "uint16" | "int32" | "uint32"
---| "int64" | "uint64" | "bool" | "string"

--- Tensors: numbers of one type in C memory, of any rank. Types: float32, float64, float16, int8,
--- uint8, int16, uint16, int32, uint32, int64, uint64, bool, string. A tensor has less than 2 GB. A
--- slice shares the memory of its tensor.
---@class tidemill.tensor
local M = {}

local methods = require "tidemill.tensor.elements"
for _, piece in ipairs { shapes, numbers, frames } do
  for name, method in pairs(piece.methods) do
    methods[name] = method
  end
  for name, fn in pairs(piece.functions or {}) do
    M[name] = fn
  end
end

--- Makes a tensor of zeros. Bools are false, and strings empty.
---
---     local t = tensor.new("float32", { 2, 3 })
---     assert(t.type == "float32" and #t == 2 and t.shape[2] == 3 and t:at(2, 3) == 0)
---@param type_name tidemill.TensorType
---@param shape integer[]
---@return tidemill.Tensor
function M.new(type_name, shape)
  return (base.new(base.type_of(type_name, "new"), base.check_shape(shape, "new")))
end

-- ---- nested lists ----

local function path_text(path)
  return #path == 0 and "the value" or "[" .. table.concat(path, "][") .. "]"
end

local function refuse_value(v, path, kind)
  refuse("from_table: %s is %s; accepted for %s: %s", path_text(path), base.value_text(v), base.type_names[kind],
    base.wanted[kind])
end

-- The sizes of nested lists, by the first element of each.
local function sizes_of(nested)
  local shape, list = {}, nested
  while type(list) == "table" do
    shape[#shape + 1] = #list
    if #shape > base.MAX_RANK then
      refuse("from_table: the lists are nested more than %d deep; accepted: at most %d axes", base.MAX_RANK,
        base.MAX_RANK)
    end
    list = list[1]
  end
  return shape
end

local function check_list(list, path, axis, shape)
  if type(list) ~= "table" then
    refuse("from_table: %s is %s, and the elements before it are lists of %d; accepted: one shape", path_text(path),
      base.value_text(list), shape[axis])
  elseif #list ~= shape[axis] then
    refuse("from_table: %s has %d elements, and the lists before it have %d; accepted: one shape", path_text(path),
      #list, shape[axis])
  end
  for key in pairs(list) do
    if type(key) ~= "number" or key % 1 ~= 0 or key < 1 or key > #list then
      refuse("from_table: %s has the key '%s'%s; accepted: lists, { 1, 2, 3 }",
        #path == 0 and "the table" or path_text(path), tostring(key),
        type(key) == "number" and (", and nothing at %d"):format(#list + 1) or "")
    end
  end
end

-- Writes the elements of nested lists from number `first` on, from 0; returns the next number.
local function fill(t, list, path, shape, first)
  local axis, kind = #path + 1, handle(t).tensor.type
  check_list(list, path, axis, shape)
  local writer = base.writers[kind]
  for i = 1, shape[axis] do
    local v = list[i]
    if axis < #shape then
      path[axis] = i
      first = fill(t, v, path, shape, first)
      path[axis] = nil
    elseif not writer(handle(t).tensor.data, first, v) then
      path[axis] = i
      if type(v) == "table" then
        refuse("from_table: %s is a list, and the elements before it are none; accepted: one shape", path_text(path))
      end
      refuse_value(v, path, kind)
    else
      first = first + 1
    end
  end
  return first
end

--- Makes a tensor of nested lists, which must have one shape. One value makes a tensor with the
--- shape []. A value that does not fit the type raises, with its place.
---
---     local t = tensor.from_table("int32", { { 1, 2, 3 }, { 4, 5, 6 } })
---     assert(t.shape[1] == 2 and t.shape[2] == 3 and t[2][1] == 4)
---     assert(tensor.from_table("string", { "a", "b" })[2] == "b")
---@param type_name tidemill.TensorType
---@param nested any
---@return tidemill.Tensor
function M.from_table(type_name, nested)
  local kind, shape = base.type_of(type_name, "from_table"), sizes_of(nested)
  local t = base.new(kind, shape)
  if #shape > 0 then
    fill(t, nested, {}, shape, 0)
  elseif not base.writers[kind](handle(t).tensor.data, 0, nested) then
    refuse_value(nested, {}, kind)
  end
  -- its strings are those of the lists until they are copied
  return kind == base.STRING and methods.copy(t) or t
end

-- ---- memory of others ----

-- Returns the declaration of a pointer's or an array's type; raises for anything else.
local function check_pointer(pointer)
  local ctype = type(pointer) == "cdata" and tostring(ffi.typeof(pointer)) or ""
  if not (ctype:find "%*%)?>$" or ctype:find "%[[%d?]*%]>$") then
    refuse("over: %s was given; accepted: a pointer or an array of the FFI",
      type(pointer) == "cdata" and ctype:match "ctype<(.*)>" or base.value_text(pointer))
  end
  return ctype
end

--- Makes a tensor over memory of the FFI: a pointer to it, or an array. The tensor keeps `owner`
--- alive, and an array itself. If something else frees the memory, the tensor must not be used any
--- more.
---
---     local ffi = require "ffi"
---     local array = ffi.new("float[6]", 1, 2, 3, 4, 5, 6)
---     local t = tensor.over(array, "float32", { 2, 3 })
---     array[5] = 60
---     assert(t:at(2, 3) == 60)
---@param pointer ffi.cdata*
---@param type_name tidemill.TensorType
---@param shape integer[]
---@param owner? any what the memory belongs to
---@return tidemill.Tensor
function M.over(pointer, type_name, shape, owner)
  local kind, sizes = base.type_of(type_name, "over"), base.check_shape(shape, "over")
  local ctype, bytes = check_pointer(pointer), base.sizes[kind]
  for _, n in ipairs(sizes) do
    bytes = bytes * n
  end
  local is_array = ctype:find "%[[%d?]*%]>$"
  if is_array and ffi.sizeof(pointer) < bytes then
    refuse("over: the array has %d bytes, and %s %s takes %.0f", ffi.sizeof(pointer), type_name,
      base.shape_text(sizes), bytes)
  elseif pointer == nil and bytes > 0 then
    refuse "over: the pointer is NULL"
  elseif bytes > 2 ^ 53 then
    refuse("over: %s %s is larger than any memory", type_name, base.shape_text(sizes))
  end
  return (base.over(pointer, kind, sizes, { owner = owner, pointer = pointer }))
end

known_names.guarded("tidemill.tensor", M)
return M
