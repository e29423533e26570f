-- Writes models as ONNX files, for the examples and the tests: no Python, no library.
--
--   local onnx = require "onnx_writer"
--   onnx.write("double.onnx", {
--     inputs = { { "x", "float32", { "n", 3 } } },     -- name, type, shape: a text is a free axis
--     outputs = { { "y", "float32", { "n", 3 } } },
--     initializers = { { "two", "float32", {}, { 2 } } },
--     nodes = { { "Mul", { "x", "two" }, { "y" } } },  -- operator, inputs, outputs
--   })
--
-- A node may also have `name`, `domain` and `attributes`: a whole number, a text or a list of
-- either is written as such, others as { float = 1.5 }, { floats = { 1.5 } }, { tensor = { name,
-- type, shape, values } } or { graph = { nodes = ..., outputs = ... } }. Attributes are sorted by
-- name, so that a model always has the same bytes. Values of an initializer may also be a text,
-- their bytes, or { file =, offset =, length = }, data in another file. An output that is a
-- sequence: { "z", sequence = { map = { "int64", "float32" } } }.
--
-- In a file of protobuf each field has a key, its number and the kind of its value; a message is a
-- field with its length.
local ffi = require "ffi"

local M = {}

local types = {
  float32 = { 1, "float" }, uint8 = { 2, "uint8_t" }, int8 = { 3, "int8_t" }, uint16 = { 4, "uint16_t" },
  int16 = { 5, "int16_t" }, int32 = { 6, "int32_t" }, int64 = { 7, "int64_t" }, string = { 8 }, bool = { 9, "uint8_t" },
  float16 = { 10, "uint16_t" }, float64 = { 11, "double" }, uint32 = { 12, "uint32_t" }, uint64 = { 13, "uint64_t" },
}

local function varint(n)
  local rest, bytes = ffi.cast("uint64_t", ffi.cast("int64_t", n)), {}
  while rest >= 128 do
    bytes[#bytes + 1] = string.char(tonumber(rest % 128) + 128)
    rest = rest / 128
  end
  return table.concat(bytes) .. string.char(tonumber(rest))
end

local function int(field, n) return n and varint(field * 8) .. varint(n) or "" end
local function bytes(field, s) return s and varint(field * 8 + 2) .. varint(#s) .. s or "" end
local function float(field, x) return varint(field * 8 + 5) .. ffi.string(ffi.new("float[1]", x), 4) end

-- Each element of a list by `write`, one after another.
local function each(list, write)
  local out = {}
  for i, value in ipairs(list or {}) do out[i] = write(value) end
  return table.concat(out)
end

local function raw(kind, values)
  return ffi.string(ffi.new(kind .. "[?]", #values, values), #values * ffi.sizeof(kind))
end

-- Data of a tensor that are in another file.
local function elsewhere(place)
  local function entry(key, value) return bytes(13, bytes(1, key) .. bytes(2, value)) end
  return entry("location", place.file) .. (place.offset and entry("offset", ("%d"):format(place.offset)) or "")
    .. (place.length and entry("length", ("%d"):format(place.length)) or "") .. int(14, 1)
end

-- { name, type, shape, values }
local function tensor(t)
  local name, kind, shape, values = t[1], types[t[2]], t[3], t[4]
  local data
  if type(values) == "string" then
    data = bytes(9, values)
  elseif values.file then
    data = elsewhere(values)
  elseif t[2] == "string" then
    data = each(values, function(s) return bytes(6, s) end)
  else
    data = bytes(9, raw(kind[2], values))
  end
  return each(shape, function(n) return int(1, n) end) .. int(2, kind[1]) .. bytes(8, name) .. data
end

local graph

local function attribute_value(value)
  if type(value) == "number" then return int(3, value) .. int(20, 2) end
  if type(value) == "string" then return bytes(4, value) .. int(20, 3) end
  if value.float then return float(2, value.float) .. int(20, 1) end
  if value.floats then return each(value.floats, function(x) return float(7, x) end) .. int(20, 6) end
  if value.tensor then return bytes(5, tensor(value.tensor)) .. int(20, 4) end
  if value.graph then return bytes(6, graph(value.graph)) .. int(20, 5) end
  if type(value[1]) == "string" then return each(value, function(s) return bytes(9, s) end) .. int(20, 8) end
  return each(value, function(n) return int(8, n) end) .. int(20, 7)
end

local function attributes(given)
  local names = {}
  for name in pairs(given or {}) do names[#names + 1] = name end
  table.sort(names)
  return each(names, function(name) return bytes(5, bytes(1, name) .. attribute_value(given[name])) end)
end

local function node(n)
  return each(n[2], function(s) return bytes(1, s) end) .. each(n[3], function(s) return bytes(2, s) end)
    .. bytes(3, n.name) .. bytes(4, n[1]) .. attributes(n.attributes) .. bytes(7, n.domain)
end

local function value_type(kind, shape)
  if type(kind) == "table" and kind.map then
    return bytes(5, int(1, types[kind.map[1]][1]) .. bytes(2, value_type(kind.map[2], {})))
  end
  local axes = each(shape, function(n)
    return bytes(1, type(n) == "number" and int(1, n) or bytes(2, n))
  end)
  return bytes(1, int(1, types[kind][1]) .. bytes(2, axes))
end

local function value_info(v)
  local kind = v.sequence and bytes(4, bytes(1, value_type(v.sequence, {}))) or value_type(v[2], v[3])
  return bytes(1, v[1]) .. bytes(2, kind)
end

function graph(g)
  return each(g.nodes, function(n) return bytes(1, node(n)) end) .. bytes(2, g.name or "graph")
    .. each(g.initializers, function(t) return bytes(5, tensor(t)) end)
    .. each(g.inputs, function(v) return bytes(11, value_info(v)) end)
    .. each(g.outputs, function(v) return bytes(12, value_info(v)) end)
end

-- The bytes of a file. `opset` (13), `opsets` of other domains by name, `ir_version` (8),
-- `producer`, `metadata` by key.
function M.encode(model)
  local opsets, metadata = { { "", model.opset or 13 } }, {}
  for domain, version in pairs(model.opsets or {}) do opsets[#opsets + 1] = { domain, version } end
  for key, value in pairs(model.metadata or {}) do metadata[#metadata + 1] = { key, value } end
  for _, pairs_of in ipairs { opsets, metadata } do
    table.sort(pairs_of, function(a, b) return a[1] < b[1] end)
  end
  return int(1, model.ir_version or 8) .. bytes(2, model.producer or "tidemill") .. bytes(7, graph(model))
    .. each(opsets, function(o) return bytes(8, bytes(1, o[1]) .. int(2, o[2])) end)
    .. each(metadata, function(m) return bytes(14, bytes(1, m[1]) .. bytes(2, m[2])) end)
end

function M.write(path, model)
  local file = assert(io.open(path, "wb"))
  file:write(M.encode(model))
  assert(file:close())
end

return M
