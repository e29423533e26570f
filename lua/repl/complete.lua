-- complete.lua - completes the text before the cursor: globals, fields, methods, columns,
-- parameters of a constructor, modules, paths, names of registered datasets.
--
--   complete(text, width) -> the common part of all candidates, to insert; a list of several
--
-- Calls no code of the user: reads values from tables directly, and from the tables that __index
-- leads to. Knows data frames, tensors and objects of constructors.
local fs = require "tidemill.fs"
local path = require "tidemill.path"

local LISTED = 120

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true until
  while]]):gmatch "%a+" do
  keywords[#keywords + 1] = word
end

-- ---- values, without calls ----

local function frame_base()
  return package.loaded["tidemill.frame.base"]
end

local function is_frame(v)
  local base = frame_base()
  return base and type(v) == "userdata" and base.is_frame(v)
end

local function is_column(v)
  local base = frame_base()
  return base and type(v) == "userdata" and base.is_column(v)
end

local function is_tensor(v)
  local base = package.loaded["tidemill.tensor.base"]
  return base and base.is_tensor(v)
end

-- Calls on_field(name, value) for each field of a value, the nearest first.
local function each_field(v, on_field)
  local seen = 0
  while v ~= nil and seen < 8 do
    local meta = debug.getmetatable(v)
    if type(v) == "table" then
      for k, field in next, v do
        on_field(k, field)
      end
    end
    v = type(meta) == "table" and rawget(meta, "__index")
    v = type(v) == "table" and v or nil
    seen = seen + 1
  end
end

local function names_of_frame(df)
  local ok, names = pcall(function() return df.columns end)
  return ok and names or {}
end

-- The fields and methods of a frame, a column or a tensor, which come from our __index.
local function object_fields(v)
  local fields = is_frame(v) and { c = true, columns = true, types = true }
    or { type = true, shape = is_tensor(v) or nil }
  for name, method in pairs(debug.getmetatable(v).methods) do
    fields[name] = method
  end
  return fields
end

local function index(v, key)
  if is_frame(v) then
    local ok, field = pcall(function() return v[key] end)
    return ok and field or nil
  end
  local found
  each_field(v, function(k, field)
    if found == nil and k == key then
      found = field
    end
  end)
  return found
end

-- Returns the value of an expression of names: a.b["c"][1]; nil for any other expression.
local function value_of(expression)
  local name, rest = expression:match "^([%a_][%w_]*)(.*)$"
  if not name then
    return nil
  end
  local v = index(_G, name)
  while v ~= nil and rest ~= "" do
    local key, behind = rest:match "^%.([%a_][%w_]*)(.*)$"
    if not key then
      key, behind = rest:match '^%["([^"\\]*)"%](.*)$'
    end
    if not key then
      key, behind = rest:match "^%['([^'\\]*)'%](.*)$"
    end
    if not key then
      key, behind = rest:match "^%[(%d+)%](.*)$"
      key = tonumber(key)
    end
    if not key then
      return nil
    end
    v, rest = index(v, key), behind
  end
  return v
end

-- ---- candidates ----

local function add_fields(found, v, wants_methods)
  if is_frame(v) or is_column(v) or is_tensor(v) then
    for name, field in pairs(object_fields(v)) do
      if not wants_methods or type(field) == "function" then
        found[name] = field
      end
    end
    return
  end
  local base = frame_base()
  if not wants_methods and type(v) == "table" and base and debug.getmetatable(v) == base.names_meta then
    for name in next, v do
      found[name] = true
    end
    return
  end
  if type(v) == "string" then
    v = string
  end
  local meta = type(v) == "table" and debug.getmetatable(v)
  for name, method in pairs(type(meta) == "table" and rawget(meta, "methods") or {}) do
    found[name] = method -- of our objects whose __index is a function
  end
  each_field(v, function(k, field)
    if type(k) == "string" and k:find "^[%a_][%w_]*$" and (not wants_methods or type(field) == "function") then
      found[k] = found[k] or field
    end
  end)
end

local function complete_name(before)
  local expression, separator, word = before:match "([%a_][%w_%.%[%]\"']*)([%.:])([%w_]*)$"
  local found = {}
  if expression then
    local v = value_of(expression)
    if v ~= nil then
      add_fields(found, v, separator == ":")
    end
    return word, found
  end
  word = before:match "[%a_][%w_]*$"
  if not word then
    if before:find "[%w_%.:%]%)\"']$" then
      return nil
    end
    word = ""
  elseif before:find "[%.:]%s*[%a_][%w_]*$" then
    return nil -- of an unknown object
  end
  add_fields(found, _G, false)
  for _, keyword in ipairs(keywords) do
    found[keyword] = true
  end
  return word, found
end

-- Returns the text before an open string, its text, and its quote; nil outside a string.
local function open_string(text)
  local at, quote, from = 1, nil, nil
  while at <= #text do
    local char = text:sub(at, at)
    if quote then
      if char == "\\" then
        at = at + 1
      elseif char == quote then
        quote = nil
      end
    elseif char == '"' or char == "'" then
      quote, from = char, at
    elseif text:find("^%-%-", at) then
      at = (text:find("\n", at, true) or #text + 1) - 1
    end
    at = at + 1
  end
  if quote then
    return text:sub(1, from - 1), text:sub(from + 1), quote
  end
end

local function complete_path(typed)
  local dir, word = typed:match "^(.*/)([^/]*)$"
  local found = {}
  dir, word = dir or "", word or typed
  local home = dir:find "^~/" and os.getenv "HOME"
  for _, name in ipairs(fs.list(home and home .. dir:sub(2) or dir == "" and "." or dir) or {}) do
    if name:sub(1, 1) ~= "." or word:sub(1, 1) == "." then
      local whole = path.join(dir == "" and "." or dir, name)
      local stat = fs.stat(whole)
      found[name .. (stat and stat.type == "directory" and "/" or "")] = true
    end
  end
  return word, found
end

local function set_of(list)
  local set = {}
  for _, name in ipairs(list) do
    set[name] = true
  end
  return set
end

-- Returns the frame whose columns a string may name: df.c["..., df:column "..., df:filter("...,
-- df:sort({"..., also later in the list.
local function frame_before(before)
  local expression = before:match "([%a_][%w_%.%[%]\"']*)%.c%[%s*$"
    or before:match "([%a_][%w_%.%[%]\"']*):[%a_][%w_]*%s*[%({]?[^%(%)]*$"
  local v = expression and value_of(expression)
  return is_frame(v) and v
end

local function dataset_names(before)
  local expression = before:match "get_by_name%s*%(%s*([%a_][%w_%.]*)%s*,%s*$"
  local workspace = expression and value_of(expression)
  if not workspace then
    return nil
  end
  local ok, names = pcall(function() return require("tidemill.store").datasets(workspace.path) end)
  return ok and names or {}
end

local function complete_string(before, typed)
  local frame = frame_before(before)
  if frame then
    return typed, set_of(names_of_frame(frame))
  elseif before:find "require%s*%(?%s*$" then
    local names = set_of(require("tidemill.repl.help").modules())
    for name in pairs(package.loaded) do
      names[name] = true
    end
    return typed, names
  end
  local names = dataset_names(before)
  if names then
    return typed, set_of(names)
  end
  return complete_path(typed)
end

-- In the braces of a constructor, at the place of a key: its parameters.
local function complete_parameter(text)
  local constructor, inside = (text .. "}"):match "([%a_][%w_%.]*)%s*%(?[^(){}]*(%b{})$"
  local word = inside and inside:match "[{,;]%s*([%a_][%w_]*)}$" or inside and inside:match "[{,;]%s*()}$" and ""
  if not word then
    return nil
  end
  local fields = require("tidemill.plan").parameters(constructor:match "Dataset%..*$" or constructor:match "[^%.]+$")
  if fields then
    return word, set_of(fields), " = "
  end
end

-- ---- the common part, the list ----

local function common_start(list)
  local first, last = list[1], list[#list]
  local n = 0
  while n < #first and first:byte(n + 1) == last:byte(n + 1) do
    n = n + 1
  end
  while n > 0 and n < #first and first:byte(n + 1) >= 128 and first:byte(n + 1) < 192 do
    n = n - 1 -- not within a character
  end
  return first:sub(1, n)
end

local function columns_of(list, width)
  local widest, left = 0, math.max(0, #list - LISTED)
  for i = 1, #list - left do
    widest = math.max(widest, #list[i])
  end
  local per_line = math.max(1, math.floor(width / (widest + 2)))
  local rows, lines = math.ceil((#list - left) / per_line), {}
  for row = 1, rows do
    local cells = {}
    for i = row, #list - left, rows do
      cells[#cells + 1] = ("%-" .. math.min(99, widest) .. "s"):format(list[i])
    end
    lines[row] = table.concat(cells, "  "):gsub("%s+$", "")
  end
  if left > 0 then
    lines[#lines + 1] = ("... %d more"):format(left)
  end
  return table.concat(lines, "\n")
end

return function(text, width)
  local before, typed, quote = open_string(text)
  local word, found, behind
  if before then
    word, found = complete_string(before, typed)
  else
    word, found, behind = complete_parameter(text)
    if not word then
      word, found = complete_name(text)
    end
  end
  word = word or ""
  local list = {}
  for name in pairs(found or {}) do
    if name:sub(1, #word) == word and (word:sub(1, 1) == "_" or name:sub(1, 1) ~= "_" or before) then
      list[#list + 1] = (name:gsub("%c", "?"))
    end
  end
  table.sort(list)
  if #list == 0 then
    return "", ""
  end
  local insert = common_start(list):sub(#word + 1)
  if #list == 1 then
    behind = behind or list[1]:sub(-1) ~= "/" and quote -- a folder continues
    return insert .. (behind or ""), ""
  end
  return insert, insert == "" and columns_of(list, width) or ""
end
