-- shapes.lua - methods of a tensor that choose or arrange elements; concat and stack.
local base = require "tidemill.tensor.base"

local refuse, check, handle = base.refuse, base.check, base.handle

---@class tidemill.Tensor
local methods = {}

--- Returns elements `first` to `last` of the first axis, both included and numbered from 1, over
--- the same memory. Negative numbers count from the end. By default `last` is the last one.
---
---     local t = tensor.from_table("int64", { 1, 2, 3, 4 })
---     assert(t:slice(2, 3)[1] == 2 and #t:slice(-3) == 3)
---@param first integer
---@param last? integer
---@return tidemill.Tensor
function methods.slice(t, first, last)
  local h = check(t, "slice")
  local shape = base.shape_of(h)
  last = last or -1
  if type(first) ~= "number" or type(last) ~= "number" or first % 1 ~= 0 or last % 1 ~= 0 then
    refuse("tensor:slice: %s and %s were given; accepted: numbers on the first axis", base.value_text(first),
      base.value_text(last))
  elseif #shape == 0 then
    refuse("tensor:slice: a tensor with the shape [] has no axis")
  end
  local n, size = shape[1], 1
  for i = 2, #shape do
    size = size * shape[i]
  end
  first = math.min(math.max(first < 0 and n + 1 + first or first, 1) - 1, n)
  last = math.min(last < 0 and n + 1 + last or last, n)
  shape[1] = math.max(last - first, 0)
  return base.view(t, shape, first * size)
end

-- Replaces the -1 among the sizes.
local function fill_in(sizes, count)
  local known, free = 1, nil
  for i, n in ipairs(sizes) do
    if n == -1 then
      if free then
        refuse("tensor:reshape: sizes %d and %d of the shape are -1; accepted: one -1", free, i)
      end
      free = i
    else
      known = known * n
    end
  end
  if free and known > 0 and count % known == 0 then
    sizes[free] = count / known
    known = count
  end
  return known == count and (not free or sizes[free] >= 0)
end

--- Returns the same elements in another shape, over the same memory. One size may be -1; it is
--- worked out.
---
---     local t = tensor.from_table("int64", { 1, 2, 3, 4, 5, 6 })
---     assert(t:reshape({ 2, -1 }):at(2, 1) == 4)
---@param shape integer[]
---@return tidemill.Tensor
function methods.reshape(t, shape)
  local h = check(t, "reshape")
  local sizes, count = base.check_shape(shape, "tensor:reshape", true), base.count_of(h)
  local wanted = base.shape_text(sizes)
  if not fill_in(sizes, count) then
    refuse("tensor:reshape: the shape %s has %.0f elements, which do not fit into %s",
      base.shape_text(base.shape_of(h)), count, wanted)
  end
  return base.view(t, sizes, 0)
end

-- ---- several tensors ----

-- Returns the list, of which each element is a tensor of the type of the first one.
local function check_list(list, what)
  if base.is_tensor(list) or type(list) ~= "table" then
    refuse("%s: %s was given; accepted: a list of tensors", what,
      base.is_tensor(list) and "a tensor" or base.value_text(list))
  elseif #list == 0 then
    refuse("%s: the list is empty; accepted: one tensor or more", what)
  end
  for i, t in ipairs(list) do
    if not base.is_tensor(t) then
      refuse("%s: element %d is %s; accepted: a tensor", what, i, base.value_text(t))
    end
    local kind, first = handle(t).tensor.type, handle(list[1]).tensor.type
    if kind ~= first then
      refuse("%s: tensor %d has the type %s, and tensor 1 has %s; t:cast(%q) converts it", what, i,
        base.type_names[kind], base.type_names[first], base.type_names[first])
    end
  end
  return list
end

-- Refuses the shape of tensor i unless it is that of the first one, apart from the first `free`
-- axes.
local function check_shapes(list, what, free)
  local first = base.shape_of(handle(list[1]))
  if #first < free then
    refuse("%s: a tensor with the shape [] has no axis; tensor.stack makes one", what)
  end
  for i, t in ipairs(list) do
    local shape = base.shape_of(handle(t))
    local fits = #shape == #first
    for axis = free + 1, #first do
      fits = fits and shape[axis] == first[axis]
    end
    if not fits then
      refuse("%s: tensor %d has the shape %s, and tensor 1 has %s; accepted: the same%s", what, i,
        base.shape_text(shape), base.shape_text(first), free > 0 and " but for the first size" or "")
    end
  end
  return first
end

-- Makes a tensor of this shape with the elements of all, one after the other.
local function joined(list, shape)
  local bytes = 0
  for _, t in ipairs(list) do
    bytes = bytes + base.string_bytes(handle(t))
  end
  local made, room = base.new(handle(list[1]).tensor.type, shape, bytes)
  local at = 0
  for _, t in ipairs(list) do
    room = base.copy_into(made, at, t, room)
    at = at + base.count_of(handle(t))
  end
  return made
end

---@class tidemill.tensor
local M = {}

--- Joins tensors of one type along the first axis, in memory of its own. The other sizes must be
--- equal.
---
---     local a = tensor.from_table("float32", { { 1, 2 } })
---     local b = tensor.from_table("float32", { { 3, 4 }, { 5, 6 } })
---     assert(tensor.concat({ a, b }):at(3, 2) == 6)
---@param list tidemill.Tensor[]
---@return tidemill.Tensor
function M.concat(list)
  local shape, n = check_shapes(check_list(list, "concat"), "concat", 1), 0
  for _, t in ipairs(list) do
    n = n + tonumber(handle(t).tensor.shape[0])
  end
  shape[1] = n
  return joined(list, shape)
end

--- Puts tensors of one type and shape side by side along another axis in front, in memory of its
--- own.
---
---     local a = tensor.from_table("float32", { 1, 2 })
---     local b = tensor.from_table("float32", { 3, 4 })
---     assert(tensor.stack({ a, b }):at(2, 1) == 3)
---@param list tidemill.Tensor[]
---@return tidemill.Tensor
function M.stack(list)
  local shape = check_shapes(check_list(list, "stack"), "stack", 0)
  if #shape == base.MAX_RANK then
    refuse("stack: the tensors have %d axes; accepted: less than %d", #shape, base.MAX_RANK)
  end
  table.insert(shape, 1, #list)
  return joined(list, shape)
end

return { methods = methods, functions = M }
