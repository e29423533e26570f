-- show.lua - prints a value at a prompt: with its structure, in the given width, and never all of a
-- large one.
--
--   show(value, { width = 80, has_color = false }) -> text, without a line break at its end
--
-- A table is printed on one line if it fits, otherwise with a line for each field. If fields are
-- left out, it says how many. Bytes that move a terminal's cursor are escaped. Nothing here raises:
-- the error of a __tostring is shown.
local DEPTH, ITEMS, ITEMS_WITHIN, LINES, STRING, STRING_WITHIN = 6, 200, 40, 120, 2000, 120

local colors = { string = "\27[32m", number = "\27[36m", other = "\27[35m", faint = "\27[2m" }

local function width_of(text)
  return #text:gsub("[\128-\191]", "")
end

local escapes = { ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ['"'] = '\\"', ["\\"] = "\\\\" }

local function hex(text)
  return (text:gsub(".", function(byte) return ("\\x%02x"):format(byte:byte()) end))
end

-- Keeps whole UTF-8 characters, except those that control a terminal (U+0080 to U+009F), and
-- escapes all other bytes.
local function quoted(text, most)
  local whole = #text
  if whole > most then
    text = text:sub(1, most):gsub("[\192-\255][\128-\191]*$", "")
  end
  local body = text:gsub('[%c"\\]', function(char) return escapes[char] or hex(char) end)
  body = body:gsub("[\192-\255][\128-\191]*", function(char)
    local first = char:byte()
    local len = first >= 240 and 4 or first >= 224 and 3 or 2
    if #char < len or first > 244 or first == 194 and char:byte(2) < 160 then
      return hex(char)
    end
    return char:sub(1, len) .. hex(char:sub(len + 1))
  end)
  body = body:gsub("^[\128-\191]+", hex):gsub("([%z\1-\127])([\128-\191]+)", function(before, stray)
    return before .. hex(stray)
  end)
  return '"' .. body .. '"' .. (whole > #text and (" ... %d bytes in all"):format(whole) or "")
end

local function number_text(n)
  if n ~= n then
    return "nan"
  elseif n == math.huge or n == -math.huge then
    return n > 0 and "inf" or "-inf"
  elseif n % 1 == 0 and math.abs(n) < 2 ^ 53 then
    return ("%.0f"):format(n)
  end
  for digits = 15, 17 do
    local text = ("%%.%dg"):format(digits):format(n)
    if tonumber(text) == n then
      return text
    end
  end
end

-- ---- one line ----

local shown -- (v, state, depth, room) -> text, its width; nil if it takes more than `room`

local function paint(state, kind, text)
  local width = width_of(text)
  return state.has_color and colors[kind] .. text .. "\27[0m" or text, width
end

-- Returns the result of __tostring, or nil.
local function own_words(v)
  local meta = debug.getmetatable(v)
  if type(meta) ~= "table" or rawget(meta, "__tostring") == nil then
    return nil
  end
  local ok, text = pcall(tostring, v)
  return ok and tostring(text) or "a " .. type(v) .. " whose __tostring fails: " .. tostring(text)
end

local function function_text(f)
  local info = debug.getinfo(f, "Su")
  local names = {}
  for i = 1, info.nparams or 0 do
    names[i] = debug.getlocal(f, i)
  end
  if info.isvararg and info.what ~= "C" then
    names[#names + 1] = "..."
  end
  local place = info.what == "C" and "C" or ("%s:%d"):format(info.source:gsub("^[@=]", ""), info.linedefined)
  return ("function(%s) <%s>"):format(info.what == "C" and "..." or table.concat(names, ", "), place)
end

local function is_list(v, n)
  return n > 0 and next(v, n) == nil and v[1] ~= nil
end

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true until
  while]]):gmatch "%a+" do
  keywords[word] = true
end

local function key_text(k, state, depth)
  if type(k) == "string" and k:find "^[%a_][%w_]*$" and not keywords[k] then
    return k, #k
  end
  local text, width = shown(k, state, depth + 1, 200)
  return "[" .. (text or "...") .. "]", (width or 3) + 2
end

local order = { number = 1, string = 2 }

-- Returns the keys outside the list part, sorted.
local function other_keys(v, n)
  local keys = {}
  for k in next, v do
    if not (type(k) == "number" and k >= 1 and k <= n and k % 1 == 0) then
      keys[#keys + 1] = k
    end
  end
  table.sort(keys, function(a, b)
    local ta, tb = type(a), type(b)
    if ta == tb and order[ta] then
      return a < b
    elseif ta ~= tb then
      return (order[ta] or 3) < (order[tb] or 3)
    end
    return tostring(a) < tostring(b)
  end)
  return keys
end

-- Returns the fields of a table as a list of {key text or nil, its width, value}, and how many more
-- there are.
local function fields_of(v, state, depth, most)
  local n, list = 0, {}
  while rawget(v, n + 1) ~= nil do
    n = n + 1
    if n <= most then
      list[n] = { value = rawget(v, n), width = 0 }
    end
  end
  local left = math.max(0, n - most)
  for _, k in ipairs(other_keys(v, n)) do
    if #list < most then
      local text, width = key_text(k, state, depth)
      list[#list + 1] = { key = text, width = width, value = rawget(v, k) }
    else
      left = left + 1
    end
  end
  return list, left, is_list(v, n)
end

-- Returns the name and the fields of an object of a constructor; for a plain table "" and the
-- table.
local function parts_of(v)
  local meta = debug.getmetatable(v)
  if type(meta) == "table" and rawget(meta, "__tm_tag") and rawget(meta, "__tm_value") then
    return tostring(v) .. " ", rawget(meta, "__tm_value")
  end
  return "", v
end

local function table_line(v, state, depth, room)
  if state.seen[v] then
    return paint(state, "faint", "<the same table again>")
  elseif next(v) == nil then
    return "{}", 2
  elseif depth > DEPTH then
    return paint(state, "faint", "{...}")
  end
  state.seen[v] = true
  local list, left = fields_of(v, state, depth, depth == 0 and ITEMS or ITEMS_WITHIN)
  local parts, used = {}, 4
  for _, field in ipairs(list) do
    local text, width = shown(field.value, state, depth + 1, room - used - field.width)
    used = used + (width or 0) + field.width + (field.key and 5 or 2)
    if not text or used > room or left > 0 then
      state.seen[v] = nil
      return nil
    end
    parts[#parts + 1] = field.key and field.key .. " = " .. text or text
  end
  state.seen[v] = nil
  return "{ " .. table.concat(parts, ", ") .. " }", used - 2
end

function shown(v, state, depth, room)
  local kind = type(v)
  if kind == "string" then
    return paint(state, "string", quoted(v, depth == 0 and STRING or STRING_WITHIN))
  elseif kind == "number" then
    return paint(state, "number", number_text(v))
  elseif kind == "nil" or kind == "boolean" then
    return paint(state, "other", tostring(v))
  elseif kind == "cdata" then
    return paint(state, "number", state.cdata(v))
  end
  local head, fields = "", v
  if kind == "table" then
    head, fields = parts_of(v)
  end
  local words = head == "" and own_words(v)
  if words then
    local first = words:match "^[^\n]*"
    return paint(state, "faint", (first:gsub("%c", hex)) .. (#first < #words and " ..." or ""))
  elseif kind == "function" then
    return paint(state, "faint", function_text(v))
  elseif kind ~= "table" then
    return paint(state, "faint", tostring(v))
  end
  local text, width = table_line(fields, state, depth, room - #head)
  if text then
    return head .. text, #head + width
  end
end

-- ---- several lines ----

local add_value

local function is_short(v)
  local kind = type(v)
  return kind == "number" or kind == "boolean" or kind == "string" and #v <= 20
end

-- Prints a list of short values, as many on a line as fit.
local function add_packed(list, state, indent)
  local line, used = {}, 0
  for _, field in ipairs(list) do
    local text, width = shown(field.value, state, 1, state.width)
    if used > 0 and indent + used + width + 2 > state.width then
      state.add((" "):rep(indent) .. table.concat(line, ", ") .. ",")
      line, used = {}, 0
    end
    line[#line + 1], used = text, used + width + 2
  end
  state.add((" "):rep(indent) .. table.concat(line, ", ") .. ",")
end

local function add_fields(v, state, depth, indent)
  local list, left, is_plain = fields_of(v, state, depth, depth == 0 and ITEMS or ITEMS_WITHIN)
  for _, field in ipairs(list) do
    is_plain = is_plain and is_short(field.value)
  end
  if is_plain then
    add_packed(list, state, indent)
  else
    for i, field in ipairs(list) do
      if state.lines > LINES then
        left = left + #list - i + 1
        break
      end
      local key = field.key and field.key .. " = " or ""
      add_value(field.value, state, depth + 1, indent, key, #key > 0 and field.width + 3 or 0, ",")
    end
  end
  if left > 0 then
    state.add((" "):rep(indent) .. paint(state, "faint", ("... %d more"):format(left)))
  end
end

function add_value(v, state, depth, indent, before, width, behind)
  local text = shown(v, state, depth, state.width - indent - width - #behind)
  local head, fields = "", v
  if not text and type(v) == "table" then
    head, fields = parts_of(v)
  end
  if text then
    state.add((" "):rep(indent) .. before .. text .. behind)
    return
  end
  state.add((" "):rep(indent) .. before .. head .. "{")
  state.seen[fields] = true
  add_fields(fields, state, depth, indent + 2)
  state.seen[fields] = nil
  state.add((" "):rep(indent) .. "}" .. behind)
end

local function new_state(options)
  local lines = {}
  local state = { seen = {}, lines = 0, width = math.max(20, options.width or 80), has_color = options.has_color,
                  text = lines, cdata = require "tidemill.repl.cdata" }
  function state.add(line)
    lines[#lines + 1] = line
    state.lines = state.lines + 1
  end
  return state
end

-- Escapes control bytes in a text of several lines, except its line breaks.
local function plain(text)
  return (text:gsub("[%z\1-\8\11-\31\127]", hex))
end

return function(v, options)
  local kind = type(v)
  if kind == "userdata" or kind == "table" and parts_of(v) == "" then
    local words = own_words(v) -- for a data frame, a table of several lines
    if words then
      return plain(words)
    end
  end
  local state = new_state(options)
  add_value(v, state, 0, 0, "", 0, "")
  return table.concat(state.text, "\n")
end
