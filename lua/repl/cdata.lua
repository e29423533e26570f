-- cdata.lua - a C value as text: 64-bit integers in digits, structs with their fields, arrays with
-- their first elements, pointers as LuaJIT writes them; nothing is read through a pointer.
local ffi = require "ffi"

local ELEMENTS, DEPTH = 16, 4
local STRUCT, POINTER, ARRAY, FIELD, ATTRIBUTE, TYPEDEF = 1, 2, 3, 9, 8, 7
local REFERENCE = 0x00800000 -- of a pointer: v.field of a struct inside another one
-- undocumented, in LuaJIT 2.1; without it a struct is written as LuaJIT writes it
local typeinfo = ffi.typeinfo

local text_of

-- The kind and info of a type, after names, attributes and references are resolved.
local function resolve(id)
  local info = typeinfo(id)
  local kind = bit.rshift(info.info, 28)
  while kind == ATTRIBUTE or kind == TYPEDEF or kind == POINTER and bit.band(info.info, REFERENCE) ~= 0 do
    info = typeinfo(bit.band(info.info, 0xffff))
    kind = bit.rshift(info.info, 28)
  end
  return kind, info
end

local function struct_text(v, info, depth)
  local parts, at = {}, info.sib
  while at do
    local field = typeinfo(at)
    if field.name and bit.rshift(field.info, 28) >= FIELD then
      local ok, value = pcall(function() return v[field.name] end)
      parts[#parts + 1] = field.name .. " = " .. (ok and text_of(value, depth + 1) or "?")
    end
    at = field.sib
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function array_text(v, info, depth)
  local parts = {}
  local _, element = resolve(bit.band(info.info, 0xffff))
  local n = info.size and element.size and element.size > 0 and info.size / element.size or 0
  for i = 0, math.min(n, ELEMENTS) - 1 do
    parts[#parts + 1] = text_of(v[i], depth + 1)
  end
  if n > ELEMENTS then
    parts[#parts + 1] = ("... %d more"):format(n - ELEMENTS)
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

-- "struct point " from "cdata<struct point>: 0x..."; nothing for a type without a name.
local function named(plain)
  local name = plain:match "^cdata<([^>]*)>":gsub(" ?%(?&%)?", "")
  return name:find "^struct %d" and "" or name .. " "
end

function text_of(v, depth)
  if type(v) ~= "cdata" then
    return type(v) == "string" and ("%q"):format(v) or tostring(v)
  end
  local plain = tostring(v)
  if not typeinfo or not plain:find "^cdata<" or depth > DEPTH then
    return plain -- 42LL, or a __tostring
  end
  local kind, info = resolve(tonumber(ffi.typeof(v)))
  if kind == STRUCT then
    return named(plain) .. struct_text(v, info, depth)
  elseif kind == ARRAY then
    return named(plain) .. array_text(v, info, depth)
  end
  return plain
end

return function(v)
  local ok, text = pcall(text_of, v, 0)
  return (ok and text or tostring(v):gsub("%c", "?"))
end
