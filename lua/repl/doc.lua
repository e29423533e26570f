-- doc.lua - reads the doc comments of the standard library, for help(). It reads them from the
-- files that are run, so that each text exists only once.
--
--   local doc = require "tidemill.repl.doc"
--   doc.read(text, label) -> { {kind = "function", ...}, {kind = "class", ...}, ... }, in order
--
-- A block is the lines that begin with "---"; it describes the next line. In a block, text comes
-- first, then tags (@param, @return, @field, @class, @type). A line without a tag continues the one
-- before.

---@class tidemill.DocTag
---@field tag string "param", "return", "field", ...
---@field name? string of a parameter or field, with "?" at the end if it is optional
---@field text string its type and its meaning, in one line

---@class tidemill.DocEntry
---@field kind "function"|"class"|"value"
---@field name string the last part of its name
---@field owner? string the variable whose field it is
---@field class? string for a method, the class of its owner; for a class, its whole name
---@field params? string the text in the brackets
---@field is_method? boolean called with ':'
---@field text string
---@field tags tidemill.DocTag[]
---@field label string of the file: "tidemill/frame.lua"
---@field line integer of the definition

local M = {}

local function new_tag(line)
  local tag, rest = line:match "^%-%-%-@([%w_]+)%s*(.*)$"
  local name
  if tag == "param" or tag == "field" then
    name, rest = rest:match "^(%S+)%s*(.*)$"
    if name == "private" then
      tag = name -- of the object itself
    end
  end
  return { tag = tag, name = name, text = rest or "" }
end

-- Splits the lines of a block into the text and the tags.
local function read_block(lines)
  local text, tags = {}, {}
  for _, line in ipairs(lines) do
    local last = tags[#tags]
    if line:find "^%-%-%-@" then
      tags[#tags + 1] = new_tag(line)
    elseif last then
      last.text = (last.text .. " " .. line:sub(4):gsub("^%s+", "")):gsub("^%s+", "")
    else
      text[#text + 1] = line:sub(4):gsub("^ ", "")
    end
  end
  return table.concat(text, "\n"), tags
end

local function find_tag(tags, wanted)
  for _, tag in ipairs(tags) do
    if tag.tag == wanted then
      return tag
    end
  end
end

-- Parses a definition: kind, owner, separator, name, parameters.
local function defined(line)
  local path, params = line:match "^function%s+([%w_%.:]+)%s*%((.-)%)"
  if not path then
    path, params = line:match "^([%w_%.:]+)%s*=%s*function%s*%((.-)%)"
  end
  if path then
    local owner, separator, name = path:match "^(.-)([%.:])([%w_]+)$"
    return "function", owner, separator, name or path, params
  end
  local owner, name = line:match "^([%w_]+)%.([%w_]+)%s*="
  if owner then
    return "value", owner, ".", name
  end
end

-- A class has a name of its own; in this file, the variable on the next line stands for it.
local function class_entry(text, tags, line, label, number, classes)
  local tag = find_tag(tags, "class")
  local name = tag.text:match "^[%w_%.]+" or tag.text
  local variable = line:match "^local%s+([%w_]+)%s*="
  if variable then
    classes[variable] = name
  end
  return { kind = "class", name = name:match "[^%.]+$", class = name, text = text, tags = tags, label = label,
           line = number }
end

local function entry_of(lines, line, label, number, classes)
  local text, tags = read_block(lines)
  if find_tag(tags, "class") then
    return class_entry(text, tags, line, label, number, classes)
  end
  local kind, owner, separator, name, params = defined(line)
  if not kind or line:find "^local" then
    return nil
  end
  local class = owner and classes[owner]
  local is_object = class and class:match "[^%.]+$":find "^%u" ~= nil
  if is_object and separator == "." and params then
    params = params:gsub("^[%w_]+,?%s*", "", 1) -- the object itself
  end
  return { kind = kind, name = name, owner = owner, class = class, is_method = is_object, params = params,
           text = text, tags = tags, label = label, line = number }
end

--- Returns the entries of one file.
---@param text string
---@param label string
---@return tidemill.DocEntry[]
function M.read(text, label)
  local entries, block, number, classes = {}, {}, 0, {}
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    line = line:gsub("^%s+", "") -- also within a table
    if line:find "^%-%-%-" and not line:find "^%-%-%-@meta" then
      block[#block + 1] = line
    elseif #block > 0 then
      entries[#entries + 1] = entry_of(block, line, label, number, classes)
      block = {}
    end
  end
  return entries
end

--- Returns the first sentence of an entry, or as much of it as fits on a line.
---@param entry tidemill.DocEntry
---@return string
function M.summary(entry)
  local text = entry.text:gsub("%s+", " ")
  local sentence = text:match "^(.-%.)%s" or text
  return #sentence <= 80 and sentence or sentence:sub(1, 78):gsub("%s+%S*$", "") .. " ..."
end

--- Returns how to call it: "df:filter(f, ...)" as "DataFrame:filter(f, ...)".
---@param entry tidemill.DocEntry
---@param path? string where it was found; by default its owner
---@return string
function M.signature(entry, path)
  local owner = entry.class or entry.owner
  local name = path or owner and (entry.is_method and owner:match "[^%.]+$" .. ":" or owner .. ".") .. entry.name
    or entry.name
  return entry.kind == "function" and ("%s(%s)"):format(name, entry.params or "") or name
end

return M
