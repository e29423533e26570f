-- numbers.lua - methods of a tensor that compute: conversions, and the largest along the last axis.
local base = require "tidemill.tensor.base"
local ffi = require "ffi"

local refuse, check, handle, ops = base.refuse, base.check, base.handle, base.ops
local int64_p = ffi.typeof "int64_t *"

---@class tidemill.Tensor
local methods = {}

-- Of the last call only, so that nothing is allocated between asking for a pointer and using it.
local from_run, to_run = ffi.new "struct tm_tensor_run", ffi.new "struct tm_tensor_run"

--- Converts n elements: `from`, `to` = {data, step, type}. Returns the first that is NaN where no
--- NaN can be, from 0, or nil.
local function convert(from_data, from_step, from_type, to_data, to_step, to_type, n)
  from_run.data, from_run.step, from_run.type = from_data, from_step, from_type
  to_run.data, to_run.step, to_run.type = to_data, to_step, to_type
  local bad = tonumber(ops.cast(from_run, to_run, n))
  return bad >= 0 and bad or nil
end

-- The places of element number `at`, from 0, as text: "element (2, 1)".
local function place_text(shape, at)
  if #shape == 0 then
    return "the value"
  end
  local places = {}
  for axis = #shape, 1, -1 do
    places[axis] = ("%.0f"):format(at % shape[axis] + 1)
    at = math.floor(at / shape[axis])
  end
  return "element (" .. table.concat(places, ", ") .. ")"
end

--- Returns the elements in another type, in memory of its own. For an integer type, values are
--- rounded, halves to even, and what is beyond its range becomes its smallest or largest value; NaN
--- raises. For bool, 0 is false and anything else true. Strings are not converted.
---
---     local t = tensor.from_table("float32", { 1.5, 2.5, 300 })
---     local bytes = t:cast "uint8"
---     assert(bytes[1] == 2 and bytes[2] == 2 and bytes[3] == 255)
---@param type_name tidemill.TensorType
---@return tidemill.Tensor
function methods.cast(t, type_name)
  local kind = check(t, "cast").tensor.type
  local wanted = base.type_of(type_name, "tensor:cast")
  if kind == wanted then
    return t:copy()
  elseif kind == base.STRING or wanted == base.STRING then
    refuse("tensor:cast: %s cannot become %s; only numbers and bools are converted", base.type_names[kind], type_name)
  end
  local shape = base.shape_of(handle(t))
  local made = base.new(wanted, shape)
  local from = handle(t).tensor
  local bad = convert(from.data, 1, kind, handle(made).tensor.data, 1, wanted, base.count_of(handle(t)))
  if bad then
    refuse("tensor:cast: %s is NaN, which %s does not have", place_text(shape, bad), type_name)
  end
  return made
end

-- Returns type and shape of a tensor whose rows, along the last axis, are compared.
local function rows_of(t, what)
  local h = check(t, what)
  local shape = base.shape_of(h)
  if h.tensor.type == base.STRING then
    refuse("tensor:%s: the tensor has strings; accepted: numbers, bools", what)
  elseif #shape == 0 then
    refuse("tensor:%s: a tensor with the shape [] has no axis", what)
  end
  return h.tensor.type, shape
end

-- Returns the places, from 1, and the values of the k largest of each row, in tensors of this
-- shape.
local function largest(t, kind, k, shape)
  local places, values = base.new(base.INT64, shape), base.new(kind, shape)
  local from, to = handle(t).tensor, ffi.cast(int64_p, handle(places).tensor.data)
  ops.top(from, k, to)
  ops.pick(from, k, to, handle(values).tensor.data)
  for i = 0, base.count_of(handle(places)) - 1 do
    to[i] = to[i] + 1
  end
  return places, values
end

--- Finds the largest element along the last axis: its place, from 1, as int64, and its value, as
--- tensors with one axis less. Of equal elements the first is taken. NaN is smaller than any
--- number.
---
---     local t = tensor.from_table("float32", { { 1, 7, 7 }, { 3, 2, 1 } })
---     local places, values = t:argmax()
---     assert(places[1] == 2 and values[1] == 7 and places[2] == 1)
---@return tidemill.Tensor places
---@return tidemill.Tensor values
function methods.argmax(t)
  local kind, shape = rows_of(t, "argmax")
  if shape[#shape] == 0 then
    refuse("tensor:argmax: the last axis of the shape %s has no element", base.shape_text(shape))
  end
  shape[#shape] = nil
  return largest(t, kind, 1, shape)
end

--- Finds the k largest elements along the last axis, in descending order: their places, from 1, as
--- int64, and their values, as tensors with k as the last size. Equal elements stay in their order.
--- NaN is smaller than any number.
---
---     local t = tensor.from_table("float32", { { 0.1, 0.7, 0.2 } })
---     local places, values = t:top(2)
---     assert(places:at(1, 1) == 2 and places:at(1, 2) == 3 and values.shape[2] == 2)
---@param k integer at most the size of the last axis
---@return tidemill.Tensor places
---@return tidemill.Tensor values
function methods.top(t, k)
  local kind, shape = rows_of(t, "top")
  local n = shape[#shape]
  if type(k) ~= "number" or k % 1 ~= 0 or k < 0 or k > n then
    refuse("tensor:top: %s was given; accepted: an integer from 0 to %.0f, the last size of the shape %s",
      base.value_text(k), n, base.shape_text(shape))
  end
  shape[#shape] = k
  return largest(t, kind, k, shape)
end

--- Returns the softmax along the last axis: numbers from 0 to 1 whose sum is 1, in memory of its
--- own. The type stays.
---
---     local t = tensor.from_table("float32", { { 0, math.log(3) } })
---     assert(math.abs(t:softmax():at(1, 2) - 0.75) < 1e-6)
---@return tidemill.Tensor
function methods.softmax(t)
  local kind, shape = rows_of(t, "softmax")
  if not base.is_real[kind] then
    refuse("tensor:softmax: the tensor has the type %s; accepted: float32, float64, float16; t:cast \"float32\" "
      .. "converts it", base.type_names[kind])
  end
  local made = base.new(kind, shape)
  ops.softmax(handle(t).tensor, handle(made).tensor.data)
  return made
end

return { methods = methods, convert = convert }
