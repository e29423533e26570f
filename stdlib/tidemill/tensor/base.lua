-- base.lua - the memory of tensors, and how their elements are read and written.
--
-- A tensor is a userdata with a C struct (model/tensor_ffi.h), which the FFI reads. A new one has
-- its elements in the same userdata. One over other memory has the owner of that memory in its
-- environment table: keep.owner. Bytes of strings that Lua has set are in keep.strings of the
-- tensor that owns the elements.
--
--   * A cast from a userdata to a pointer costs nothing in compiled code, and all tensors share one
--     metatable: a loop over the elements of one tensor is compiled once and works for the next of
--     its type.
--   * Neither a pointer nor, in compiled code, an unused local keeps a tensor alive: ask for the
--     handle where it is used, and again after anything that allocates.
local c = require "tidemill.tensor_c"
local ffi = require "ffi"
local frame = require "tidemill.frame.base"

local cast = ffi.cast

for _, header in ipairs { "tensor", "tensor_ffi" } do
  local text = require("tidemill.tensor." .. header .. "_h"):gsub("\n%s*#[^\n]*", "\n")
  ffi.cdef(text)
end

local M = {}

local refuse = frame.refuse
M.refuse = refuse

local FLOAT32, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, FLOAT64, UINT32, UINT64 =
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
M.type_numbers = {
  float32 = FLOAT32, uint8 = UINT8, int8 = INT8, uint16 = UINT16, int16 = INT16, int32 = INT32, int64 = INT64,
  string = STRING, bool = BOOL, float16 = FLOAT16, float64 = FLOAT64, uint32 = UINT32, uint64 = UINT64,
}
M.type_names = {}
for name, number in pairs(M.type_numbers) do
  M.type_names[number] = name
end
M.MAX_RANK = 16

local handle_p = ffi.typeof "struct tm_tensor_handle *"
local meta = { __metatable = "tensor", __name = "tensor" }
M.meta = meta
c.setup(meta)

function M.is_tensor(v)
  return type(v) == "userdata" and debug.getmetatable(v) == meta
end

local function refuse_ended()
  refuse(c.ended)
end

--- Returns the struct behind a tensor, whose memory may be used now.
local function handle(t)
  local h = cast(handle_p, t)
  if h.ended[0] ~= 0 then
    refuse_ended()
  end
  return h
end
M.handle = handle

--- Returns the sizes as a list.
function M.shape_of(h)
  local shape = {}
  for i = 1, h.tensor.rank do
    shape[i] = tonumber(h.tensor.shape[i - 1])
  end
  return shape
end

--- Returns the number of a type's name; raises for another name.
function M.type_of(name, what)
  local number = M.type_numbers[name]
  if not number then
    refuse("%s: '%s' is not a type; accepted: %s%s", what, tostring(name), table.concat(M.type_names, ", "),
      frame.hint(name, M.type_names))
  end
  return number
end

--- Returns the sizes that were given, after a check, in a list of their own.
function M.check_shape(shape, what)
  if type(shape) ~= "table" then
    refuse("%s: the shape is a %s; accepted: a list of sizes, { 2, 3 }", what, type(shape))
  end
  local sizes = {}
  for i, n in ipairs(shape) do
    if type(n) ~= "number" or n % 1 ~= 0 or n < 0 or n > 2 ^ 53 then
      refuse("%s: size %d of the shape is %s; accepted: an integer, 0 or more", what, i, tostring(n))
    end
    sizes[i] = n
  end
  if #sizes > M.MAX_RANK then
    refuse("%s: the shape has %d axes; accepted: at most %d", what, #sizes, M.MAX_RANK)
  end
  return sizes
end

return M
