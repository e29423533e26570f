-- help.lua - help(x) at a prompt: describes a function, an object, a module or a parameter. The
-- texts for functions and objects come from the doc comments of the standard library, those for
-- parameters and commands from the program's tables.
local doc = require "tidemill.repl.doc"

local M = {}

local entries, by_place, by_name, by_class, by_field -- made at the first call
-- C functions: the i-th compiled-in file; the program's help on a topic; the width of the terminal.
local source, topic_text, columns

--- Sets the sources of texts, and their width. Call it once.
function M.open(source_of, help_of, width_of)
  source, topic_text, columns = source_of, help_of, width_of
end

local function add(index, key, entry)
  index[key] = index[key] or {}
  table.insert(index[key], entry)
end

-- Fields of a table that a function takes, or of an object, by their names: { class, tag }.
local function add_fields(entry)
  for _, tag in ipairs(entry.kind == "class" and entry.tags or {}) do
    if tag.tag == "field" and tag.name then
      add(by_field, (tag.name:gsub("%?$", "")), { class = entry.class, tag = tag })
    end
  end
end

local function read_text(label, text)
  for _, entry in ipairs(doc.read(text, label)) do
    entries[#entries + 1] = entry
    by_place[label .. ":" .. entry.line] = entry
    add(by_name, entry.name, entry)
    if entry.class then
      add(by_class, entry.class, entry)
    end
    add_fields(entry)
  end
end

local function read_all()
  if entries then
    return
  end
  entries, by_place, by_name, by_class, by_field = {}, {}, {}, {}, {}
  local i = 1
  local module, label, text = source(i)
  while module do
    if module:find "^tidemill" and not module:find "^tidemill%.repl" and not module:find "_h$" then
      read_text(label, text)
    end
    i = i + 1
    module, label, text = source(i)
  end
  read_text("=tidemill/_meta/parameters.lua", require("tidemill.plan").classes())
end

-- ---- formatting ----

local WIDTH = 100

-- Some terminals cut text that ends at the last column.
local function room_of()
  return math.min(WIDTH, columns() - 1)
end

local function wrap(text, indent)
  local lines, line, room = {}, "", room_of()
  for word in text:gmatch "%S+" do
    if line ~= "" and #indent + #line + 1 + #word > room then
      lines[#lines + 1] = indent .. line
      line = word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line ~= "" and indent .. line or nil
  return table.concat(lines, "\n")
end

-- Text below a name, or this far to the right, is prose; other indented lines are examples.
local PROSE = 12

-- Returns what stands before the words of a line, and the words.
local function split(line, room)
  local head, words = line:match "^(%s*%S.-  +)(%S.*)$"
  if not head or #head > room / 2 then
    head, words = line:match "^(%s*)(.*)$"
  end
  return head, words
end

-- Formats text that has lines already. If a line of a paragraph is too long, its lines are joined
-- and wrapped again, below the first word of its first line.
local function refit(text)
  local out, part, room = {}, nil, room_of()
  local function flush()
    if part then
      local wrapped = part.is_long and wrap(table.concat(part.words, " "), (" "):rep(#part.head))
      out[#out + 1] = wrapped and part.head .. wrapped:sub(#part.head + 1) or table.concat(part.lines, "\n")
    end
    part = nil
  end
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local head, words = split(line, room)
    local is_more = part and line ~= "" and #head == #part.head and not head:find "%S" and not line:find "%S  +%S"
    if not is_more or not part.is_prose then
      flush()
      part = { head = head, lines = {}, words = {}, is_prose = head == "" or #head > PROSE or head:find "%S" }
    end
    table.insert(part.lines, line)
    table.insert(part.words, words)
    part.is_long = part.is_long or #line > room
  end
  flush()
  return table.concat(out, "\n")
end

-- Wraps paragraphs; examples, which are indented, stay as they are.
local function add_text(out, text)
  local paragraph = {}
  local function flush()
    if #paragraph > 0 then
      out[#out + 1] = wrap(table.concat(paragraph, " "), "  ")
      paragraph = {}
    end
  end
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if line:find "^%s%s+%S" or line == "" then
      flush()
      out[#out + 1] = line == "" and "" or "  " .. line
    else
      paragraph[#paragraph + 1] = line
    end
  end
  flush()
end

local function add_tags(out, entry, gap)
  local heads = { param = "  with ", ["return"] = "  returns ", field = "  ", overload = "  also " }
  for _, tag in ipairs(entry.tags) do
    if heads[tag.tag] then
      out[#out + 1] = gap
      gap = nil
      local text = heads[tag.tag] .. (tag.name and tag.name .. ": " or "") .. tag.text
      out[#out + 1] = "  " .. wrap(text, "      "):gsub("^%s+", "")
    end
  end
end

-- Lists the methods of a class or the functions of a module; `methods`: those that an object has,
-- or nil.
local function add_members(out, class, methods)
  for _, entry in ipairs(by_class[class] or {}) do
    if entry.kind ~= "class" and not (methods and methods[entry.name] == nil) then
      local name = (entry.is_method and ":" or ".") .. entry.name
      if entry.kind == "function" then
        name = name .. "(" .. (entry.params or "") .. ")"
      end
      out[#out + 1] = ("  %-32s %s"):format(name, doc.summary(entry))
    end
  end
end

local function entry_text(entry, path)
  local out = { doc.signature(entry, path), "" }
  add_text(out, entry.text)
  add_tags(out, entry, "")
  local fields = entry.name:find "^%u" and by_class["tidemill." .. entry.name]
  for _, class in ipairs(fields or {}) do -- what a constructor takes
    if class.kind == "class" then
      add_tags(out, class, "")
    end
  end
  return table.concat(out, "\n")
end

-- The metatables of objects in C memory, by their classes: { module, its part with it, field }.
local metas = {
  ["tidemill.DataFrame"] = { "tidemill.frame", "tidemill.frame.base", "frame_meta" },
  ["tidemill.Column"] = { "tidemill.frame", "tidemill.frame.base", "column_meta" },
  ["tidemill.Tensor"] = { "tidemill.tensor", "tidemill.tensor.base", "meta" },
}

local function class_text(class, methods)
  local place = metas[class]
  if place then
    require(place[1])
    methods = require(place[2])[place[3]].methods
  end
  local out, heads = { class, "" }, 0
  for _, entry in ipairs(by_class[class] or {}) do
    if entry.kind == "class" then
      heads = heads + 1
      if entry.text ~= "" then
        add_text(out, entry.text)
      end
      add_tags(out, entry)
    end
  end
  if heads > 0 then
    out[#out + 1] = ""
  end
  add_members(out, class, methods)
  return table.concat(out, "\n")
end

-- ---- finding x ----

-- Finds the name of a value in the modules: "tidemill.Dataset.File.from_files".
local function path_of(value)
  local seen = {}
  local function look(t, path, depth)
    if seen[t] or depth > 3 then
      return nil
    end
    seen[t] = true
    for k, v in next, t do
      if rawequal(v, value) and type(k) == "string" then
        return path .. "." .. k
      end
    end
    for k, v in next, t do
      local found = type(k) == "string" and type(v) == "table" and look(v, path .. "." .. k, depth + 1)
      if found then
        return found
      end
    end
  end
  local modules = {}
  for name, module in pairs(package.loaded) do
    if type(module) == "table" and name:find "^tidemill" and not name:find "^tidemill%.repl" then
      modules[#modules + 1] = name
    end
  end
  table.sort(modules)
  for _, name in ipairs(modules) do
    if rawequal(package.loaded[name], value) then
      return name, true
    end
  end
  for _, name in ipairs(modules) do
    local found = look(package.loaded[name], name, 0)
    if found then
      return found
    end
  end
end

-- Finds the entry for a path of names, in its owner's class first.
local function entry_at(path)
  local owner, name = path:match "^(.*)[%.:]([^%.:]+)$"
  local last = owner and owner:match "[^%.:]+$"
  for _, entry in ipairs(by_name[name or path] or {}) do
    local class = entry.class and (entry.class == owner or entry.class:match "[^%.]+$" == last)
    if entry.kind ~= "class" and (not owner or class or entry.owner == last) then
      return entry
    end
  end
end

local function function_text(f)
  local info = debug.getinfo(f, "S")
  local path = path_of(f)
  local entry = by_place[info.source .. ":" .. info.linedefined] or path and entry_at(path)
  if entry then
    return entry_text(entry, not entry.is_method and path or nil)
  end
  return info.what == "C" and "a function of Lua or of a C library, which has no help here"
    or ("a function of %s, line %d, which has no doc comment")
      :format(info.source:gsub("^[@=]", ""), info.linedefined)
end

-- Returns the class of one of our objects.
local function class_of(value)
  local meta = debug.getmetatable(value)
  if type(meta) ~= "table" then
    return nil
  end
  local tag = rawget(meta, "__tm_tag") or rawget(meta, "__name") or rawget(meta, "__metatable")
  local names = { ["data frame"] = "DataFrame", ["column of a data frame"] = "Column", tensor = "Tensor" }
  local class = type(tag) == "string" and "tidemill." .. (names[tag] or tag)
  return class and by_class[class] and class
end

-- Describes a table in a module, such as tidemill.Dataset.File; nil: it is unknown.
local function table_text(path, value)
  local out, names = { path, "" }, {}
  for name, v in next, value do
    names[#names + 1] = type(name) == "string" and (type(v) == "table" or entry_at(path .. "." .. name)) and name or nil
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local entry = entry_at(path .. "." .. name)
    local label = entry and "." .. name .. "(" .. (entry.params or "") .. ")" or "." .. name
    out[#out + 1] = (("  %-32s %s"):format(label, entry and doc.summary(entry) or ""):gsub("%s+$", ""))
  end
  return #names > 0 and table.concat(out, "\n") or nil
end

local function value_text(value)
  local class = class_of(value)
  if class then
    return class_text(class, debug.getmetatable(value).methods)
  end
  local path = path_of(value)
  if path and by_class[path] then
    return class_text(path)
  elseif path and topic_text(path:match "[^%.]+$") then
    return topic_text(path:match "[^%.]+$")
  end
  local text = path and type(value) == "table" and table_text(path, value)
  if text then
    return text
  end
  return ("a %s; help() lists what there is to know"):format(type(value))
end

-- Finds a class by its name or the name of an object: "Job", "job".
local function class_named(topic)
  for _, name in ipairs { topic, "tidemill." .. topic, "tidemill." .. topic:gsub("^%l", string.upper) } do
    if by_class[name] then
      return name
    end
  end
end

local function field_text(name, field)
  return ("%s, of %s\n\n%s"):format(name, field.class, wrap(field.tag.text, "  "))
end

-- ---- unknown names ----

local MOST_LONGER = 3

-- The names of functions in `owner`, a class or module by its full or last name, or an object by
-- the name of its class: "Context", "context".
local function members_of(owner)
  local last, names = owner:match("[^%.:]+$"):lower(), {}
  for name, list in pairs(by_name) do
    for _, entry in ipairs(list) do
      local of = entry.class and entry.class:match "[^%.]+$" or entry.owner or ""
      names[#names + 1] = entry.kind ~= "class" and of:lower() == last and name or nil
    end
  end
  return names
end

local function all_names(known)
  local names, seen = {}, {}
  local function add_once(name)
    names[#names + 1] = not seen[name] and not name:find "[%.:]" and name or nil
    seen[name] = true
  end
  for _, name in ipairs(known or {}) do
    add_once(name)
  end
  for _, index in ipairs { by_name, by_field } do
    for name in pairs(index) do
      add_once(name)
    end
  end
  for class in pairs(by_class) do
    add_once(class:match "[^%.]+$")
  end
  return names
end

-- Returns the nearest name, and the first names that begin with `given`, in quotes.
local function nearest_of(given, names, prefix)
  table.sort(names)
  local nearest = require("tidemill.plan").nearest(given, names)
  local found = { nearest and "'" .. prefix .. nearest .. "'" }
  for _, name in ipairs(names) do
    if #found < MOST_LONGER and #given > 2 and name ~= nearest and name:find(given, 1, true) == 1 then
      found[#found + 1] = "'" .. prefix .. name .. "'"
    end
  end
  return found
end

-- Returns "did you mean 'a' or 'b'?", the nearest name first; nil: no name is similar.
local function suggested(given, known)
  local owner, last = given:match "^(.*[%.:])([^%.:]+)$"
  local found = owner and nearest_of(last, members_of(owner:sub(1, -2)), owner) or {}
  found = #found > 0 and found or nearest_of(last or given, all_names(known), "")
  return #found > 0 and ("did you mean %s?"):format(table.concat(found, " or ")) or nil
end

local OVERVIEW = [[
help(x)              x: a function, an object, a module: help(tidemill.Pipeline), help(df), help(fs.read)
help "run_max_try"   a parameter, "parameters" for all; a command; or a name: help "DataFrame", help "filter"

Modules, each reached by require:]]

local function overview()
  local out, names = { OVERVIEW }, {}
  for class, list in pairs(by_class) do
    if class:find "^tidemill[%.%l_]*$" and #list > 1 then
      names[#names + 1] = class
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local summary = ""
    for _, entry in ipairs(by_class[name]) do
      summary = entry.kind == "class" and entry.text ~= "" and doc.summary(entry) or summary
    end
    out[#out + 1] = ("  %-24s %s"):format(name, summary)
  end
  return table.concat(out, "\n")
end

local function named_text(given)
  if given == "modules" then
    return overview()
  end
  local topic = given:gsub("^%-%-?(%a)", "%1")
  local entry = topic:find "[%.:]" and (entry_at(topic) or entry_at((topic:gsub("^%l", string.upper))))
  local parts, class = {}, class_named(topic)
  if class then
    parts[1] = class_text(class)
  elseif entry then
    parts[1] = entry_text(entry)
  elseif not topic:find "[%.:]" then
    for _, named in ipairs(by_name[topic] or {}) do
      parts[#parts + 1] = named.kind ~= "class" and entry_text(named) or nil
    end
  end
  local words = topic_text(given) or topic_text(topic)
  parts[#parts + 1] = words and words:gsub("\n+$", "") or nil
  for _, field in ipairs(#parts == 0 and by_field[topic] or {}) do
    parts[#parts + 1] = field_text(topic, field)
  end
  return #parts > 0 and table.concat(parts, "\n\n") or nil
end

local function unknown_text(given)
  local words = suggested(given)
  return ("there is no help on '%s'; %shelp() lists the topics"):format(given, words and words .. " " or "")
end

--- Returns the text of help(...).
function M.text(n, value)
  read_all()
  if n == 0 then
    return overview()
  elseif type(value) == "string" then
    return named_text(value) or unknown_text(value)
  elseif rawequal(value, M.help) then
    return overview()
  elseif type(value) == "function" then
    return function_text(value)
  end
  return value_text(value)
end

-- A table or function below the module tidemill, by its path "Dataset.File"; nil: there is none.
local function value_at(path)
  local value = require "tidemill"
  for name in path:gsub("^tidemill%.", ""):gmatch "[^.]+" do
    value = type(value) == "table" and rawget(value, name) or nil
  end
  return value
end

--- Prints the help on a name. Raises if there is none.
function M.print_named(name)
  read_all()
  local text = named_text(name)
  if not text then
    local value = value_at(name)
    text = value ~= nil and M.text(1, value) or require("tidemill.plan").explain(name) or error(unknown_text(name), 0)
  end
  io.write(refit(text), "\n")
end

--- Returns "did you mean 'x'?", which the console shows without quotes; or nothing.
---@param name string that has no help
---@param known string[] names that have help besides those of the library
function M.suggestion(name, known)
  local words = suggested(name, known)
  if words then
    return setmetatable({}, { __tostring = function() return words end })
  end
end

--- The global `help`: a table that can be called, so that the bare name shows how.
M.help = setmetatable({}, {
  __call = function(_, ...) io.write(refit(M.text(select("#", ...), (...))), "\n") end,
  __tostring = function() return 'help() lists the topics, help(x) describes x, help "name" what has this name' end,
})

--- Returns the modules that may be required, for completion.
function M.modules()
  local names, i = {}, 1
  local module = source(i)
  while module do
    if module:find "^tidemill" and not module:find "^tidemill%.repl" and not module:find "_meta"
      and not module:find "_h$" then
      names[#names + 1] = module
    end
    i = i + 1
    module = source(i)
  end
  return names
end

return M
