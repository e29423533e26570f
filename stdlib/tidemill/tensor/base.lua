-- base.lua - the memory of tensors, and how their elements are read and written.
--
-- A tensor is a userdata with a C struct (model/tensor_ffi.h), which the FFI reads. A new one has
-- its elements in the same userdata. One over other memory has the owner of that memory in its
-- environment table: keep.owner. Strings that Lua has set are in keep.strings of the tensor that
-- owns the elements.
--
--   * A cast from a userdata to a pointer costs nothing in compiled code, and all tensors share one
--     metatable: a loop over the elements of one tensor is compiled once and works for the next of
--     its type.
--   * Neither a pointer nor, in compiled code, an unused local keeps a tensor alive: ask for the
--     handle where you use it, and again after anything that allocates.
local c = require "tidemill.tensor_c"
local ffi = require "ffi"
local frame = require "tidemill.frame.base"
local json = require "tidemill.json"
local shown = require("tidemill.frame.values").shown

local cast, string_of = ffi.cast, ffi.string

local M = {}

---@type table the functions in core/data/tensor/tensor_ops.h
local ops = frame.load_ops("tidemill.tensor", "tensor", { "tensor", "tensor_ops", "tensor_ffi" }, c.ops)
M.ops = ops

local refuse = frame.refuse
M.refuse, M.shown, M.options = refuse, shown, frame.options

local FLOAT32, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, FLOAT64, UINT32, UINT64 =
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
M.STRING, M.BOOL, M.INT64, M.FLOAT64, M.UINT64 = STRING, BOOL, INT64, FLOAT64, UINT64

--- The names of types, in the order of messages.
M.TYPES = {
  "float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool",
  "string",
}
M.type_numbers = {
  float32 = FLOAT32, uint8 = UINT8, int8 = INT8, uint16 = UINT16, int16 = INT16, int32 = INT32, int64 = INT64,
  string = STRING, bool = BOOL, float16 = FLOAT16, float64 = FLOAT64, uint32 = UINT32, uint64 = UINT64,
}
M.type_names = {}
for name, number in pairs(M.type_numbers) do
  M.type_names[number] = name
end
M.MAX_RANK = 16

--- Whether the type has fractions.
M.is_real = { [FLOAT32] = true, [FLOAT64] = true, [FLOAT16] = true }

local elements = {
  [FLOAT32] = "float", [FLOAT64] = "double", [FLOAT16] = "uint16_t", [INT8] = "int8_t", [UINT8] = "uint8_t",
  [INT16] = "int16_t", [UINT16] = "uint16_t", [INT32] = "int32_t", [UINT32] = "uint32_t", [INT64] = "int64_t",
  [UINT64] = "uint64_t", [BOOL] = "bool", [STRING] = "struct tm_tensor_string",
}
local pointers = {}
M.pointers, M.constants, M.sizes = pointers, {}, {} -- sizes: bytes of one element
for kind, element in pairs(elements) do
  pointers[kind], M.constants[kind] = ffi.typeof(element .. " *"), ffi.typeof("const " .. element .. " *")
  M.sizes[kind] = ffi.sizeof(element)
end

local handle_p = ffi.typeof "struct tm_tensor_handle *"
local char_p = ffi.typeof "char *"
local meta = { __metatable = "tensor", __name = "tensor" }
M.meta = meta
c.setup(meta)

local function is_tensor(v)
  return type(v) == "userdata" and debug.getmetatable(v) == meta
end
M.is_tensor = is_tensor

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

--- The same for the object of a method.
function M.check(t, what)
  if not is_tensor(t) then
    refuse("tensor:%s: a %s was given; accepted: a tensor (methods are called with ':')", what, type(t))
  end
  return handle(t)
end

-- ---- types and shapes ----

--- Returns the number of a type's name; raises for another name.
function M.type_of(name, what)
  local number = M.type_numbers[name]
  if not number then
    refuse("%s: %s is not a type of tensors; accepted: %s%s", what,
      type(name) == "string" and ("'%s'"):format(name) or shown(name), table.concat(M.TYPES, ", "),
      frame.hint(name, M.TYPES))
  end
  return number
end

--- Returns the sizes as a list.
function M.shape_of(h)
  local shape = {}
  for i = 1, h.tensor.rank do
    shape[i] = tonumber(h.tensor.shape[i - 1])
  end
  return shape
end

function M.shape_text(shape)
  local sizes = {}
  for i, n in ipairs(shape) do
    sizes[i] = ("%.0f"):format(n)
  end
  return "[" .. table.concat(sizes, ", ") .. "]"
end

--- Returns the number of elements of a tensor.
local function count_of(h)
  local n = 1
  for i = 0, h.tensor.rank - 1 do
    n = n * tonumber(h.tensor.shape[i])
  end
  return n
end
M.count_of = count_of

--- Returns the sizes that were given, after a check, in a list of their own. `may_be_free`: one may
--- be -1.
function M.check_shape(shape, what, may_be_free)
  if type(shape) ~= "table" then
    refuse("%s: the shape is %s; accepted: a list of sizes, { 2, 3 }", what, shown(shape))
  end
  local sizes = {}
  for i = 1, table.maxn(shape) do
    local n = shape[i]
    if type(n) ~= "number" or n % 1 ~= 0 or n > 2 ^ 53 or n < 0 and not (n == -1 and may_be_free) then
      refuse("%s: size %d of the shape is %s; accepted: an integer, 0 or more%s", what, i, shown(n),
        may_be_free and ", or one -1" or "")
    end
    sizes[i] = n
  end
  for key in pairs(shape) do
    if type(key) ~= "number" then
      refuse("%s: the shape has the key '%s'; accepted: a list of sizes, { 2, 3 }", what, tostring(key))
    end
  end
  if #sizes > M.MAX_RANK then
    refuse("%s: the shape has %d axes; accepted: at most %d", what, #sizes, M.MAX_RANK)
  end
  return sizes
end

-- ---- making tensors ----

--- Makes a tensor of zeros. For strings, `bytes` is the room for the bytes of all; it is returned,
--- too.
function M.new(kind, shape, bytes)
  local t, room = c.new(kind, shape, bytes)
  return t, room and cast(char_p, room) or nil
end

--- Makes a tensor over the memory of another one: `shape`, from element `first` (from 0) on.
function M.view(t, shape, first)
  local made = c.new_handle { owner = t }
  local h, from = cast(handle_p, made), handle(t)
  local to = h.tensor
  to.type, to.rank = from.tensor.type, #shape
  for i, n in ipairs(shape) do
    to.shape[i - 1] = n
  end
  to.data = cast(char_p, from.tensor.data) + first * M.sizes[to.type]
  h.ended, h.is_read_only = from.ended, from.is_read_only
  return made
end

--- Makes a tensor over memory that `keep` keeps alive.
function M.over(data, kind, shape, keep)
  local made = c.new_handle(keep)
  local h = cast(handle_p, made)
  h.tensor.data, h.tensor.type, h.tensor.rank = cast(char_p, data), kind, #shape
  for i, n in ipairs(shape) do
    h.tensor.shape[i - 1] = n
  end
  return made, h
end

--- Copies all elements of a tensor to element `first` (from 0) of another of the same type. For
--- strings, `room` is where their bytes go; returns where the next ones go.
function M.copy_into(to, first, from, room)
  local source = handle(from)
  local n = count_of(source)
  local data = cast(pointers[source.tensor.type], handle(to).tensor.data) + first
  if source.tensor.type == STRING then
    return ops.copy_strings(source.tensor.data, n, data, room)
  end
  ffi.copy(data, source.tensor.data, n * M.sizes[source.tensor.type])
end

--- Returns the bytes of all strings, 0 for other types.
function M.string_bytes(h)
  return h.tensor.type == STRING and tonumber(ops.string_bytes(h.tensor.data, count_of(h))) or 0
end

-- ---- elements ----

local has_said = false
local function say_large()
  has_said = true
  io.stderr:write("an integer of a tensor beyond 2^53 is read as a 64-bit integer: it prints with LL or ULL behind it ",
    "and finds nothing as a key of a table (said once)\n")
end

local function exact(x)
  if not has_said then
    say_large()
  end
  return x
end

local float_p, double_p, half_p, string_p =
  pointers[FLOAT32], pointers[FLOAT64], pointers[FLOAT16], pointers[STRING]
local int8_p, uint8_p, int16_p, uint16_p = pointers[INT8], pointers[UINT8], pointers[INT16], pointers[UINT16]
local int32_p, uint32_p, int64_p, uint64_p = pointers[INT32], pointers[UINT32], pointers[INT64], pointers[UINT64]

local function read_integer(data, kind, i)
  if kind == UINT8 then
    return cast(uint8_p, data)[i]
  elseif kind == INT32 then
    return cast(int32_p, data)[i]
  elseif kind == INT8 then
    return cast(int8_p, data)[i]
  elseif kind == INT16 then
    return cast(int16_p, data)[i]
  elseif kind == UINT16 then
    return cast(uint16_p, data)[i]
  elseif kind == UINT32 then
    return cast(uint32_p, data)[i]
  end
  local x = cast(uint64_p, data)[i]
  if x > 9007199254740992ULL then
    return exact(x)
  end
  return tonumber(x)
end

--- Returns element i, from 0, of the elements at `data`.
local function read(data, kind, i)
  if kind == FLOAT32 then
    return cast(float_p, data)[i]
  elseif kind == FLOAT64 then
    return cast(double_p, data)[i]
  elseif kind == INT64 then
    local x = cast(int64_p, data)[i]
    if x > 9007199254740992LL or x < -9007199254740992LL then
      return exact(x)
    end
    return tonumber(x)
  elseif kind == BOOL then
    return cast(uint8_p, data)[i] ~= 0
  elseif kind == STRING then
    local s = cast(string_p, data)[i]
    return s.len > 0 and string_of(s.bytes, s.len) or ""
  elseif kind == FLOAT16 then
    return ops.of_half(cast(half_p, data)[i])
  end
  return read_integer(data, kind, i)
end
M.read = read

local limits = {
  [INT8] = { -128, 127 }, [UINT8] = { 0, 255 }, [INT16] = { -32768, 32767 }, [UINT16] = { 0, 65535 },
  [INT32] = { -2 ^ 31, 2 ^ 31 - 1 }, [UINT32] = { 0, 2 ^ 32 - 1 },
}
M.wanted = { [BOOL] = "true or false", [STRING] = "a string", [INT64] = "an integer of 64 bits",
             [UINT64] = "an integer of 64 bits, 0 or more" }
for kind, limit in pairs(limits) do
  M.wanted[kind] = ("an integer from %.0f to %.0f"):format(limit[1], limit[2])
end
for kind in pairs(M.is_real) do
  M.wanted[kind] = "a number"
end

local int64, uint64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"

-- Returns a number, or a 64-bit integer beyond 2^53; nil for anything else.
local function numeric(v)
  if type(v) == "number" then
    return v
  elseif type(v) == "cdata" then
    if ffi.istype(int64, v) then
      return v <= 9007199254740992LL and v >= -9007199254740992LL and tonumber(v) or v
    elseif ffi.istype(uint64, v) then
      return v <= 9007199254740992ULL and tonumber(v) or v
    end
  end
end

local function integer_writer(kind)
  local pointer, low, high = pointers[kind], limits[kind][1], limits[kind][2]
  return function(data, i, v)
    if type(v) == "cdata" then
      v = numeric(v)
    end
    if type(v) ~= "number" or v % 1 ~= 0 or v < low or v > high then
      return false
    end
    cast(pointer, data)[i] = v
    return true
  end
end

local function real_writer(kind)
  local pointer = pointers[kind]
  return function(data, i, v)
    if type(v) ~= "number" then
      v = numeric(v)
      if v == nil then
        return false
      end
    end
    cast(pointer, data)[i] = tonumber(v)
    return true
  end
end

--- Writers by type: (data, i, v) -> whether the value fits and was written to element i, from 0.
--- That of strings does not keep the string alive.
local writers = {
  [FLOAT32] = real_writer(FLOAT32),
  [FLOAT64] = real_writer(FLOAT64),
  [FLOAT16] = function(data, i, v)
    v = numeric(v)
    if v == nil then
      return false
    end
    cast(pointers[FLOAT16], data)[i] = ops.half_of(tonumber(v))
    return true
  end,
  [INT64] = function(data, i, v)
    v = numeric(v)
    if type(v) == "number" then
      if v % 1 ~= 0 or v >= 2 ^ 63 or v < -2 ^ 63 then
        return false
      end
    elseif v == nil or ffi.istype(uint64, v) and v > 9223372036854775807ULL then
      return false
    end
    cast(pointers[INT64], data)[i] = v
    return true
  end,
  [UINT64] = function(data, i, v)
    v = numeric(v)
    if type(v) == "number" then
      if v % 1 ~= 0 or v >= 2 ^ 64 or v < 0 then
        return false
      end
    elseif v == nil or ffi.istype(int64, v) and v < 0 then
      return false
    end
    cast(pointers[UINT64], data)[i] = v
    return true
  end,
  [BOOL] = function(data, i, v)
    if type(v) ~= "boolean" then
      return false
    end
    cast(pointers[BOOL], data)[i] = v
    return true
  end,
  [STRING] = function(data, i, v)
    if type(v) ~= "string" then
      return false
    end
    local s = cast(pointers[STRING], data)[i]
    s.bytes, s.len = v, #v
    return true
  end,
}
for kind in pairs(limits) do
  writers[kind] = integer_writer(kind)
end
M.writers = writers

--- Formats a value for a message.
function M.value_text(v)
  if v == json.null then
    return "null"
  elseif type(v) == "cdata" and numeric(v) then
    return tostring(numeric(v))
  end
  return shown(v)
end

return M
