-- library.lua - collects the doc comments of stdlib/ for scripts and pipeline files, by the names
-- that these use. Leaves out what is only for the library itself.
--
--   library.open("stdlib") -> {
--     classes = { ["tidemill.Job"] = { about = entry, members = { entry, ... } } },
--     functions = { ["tidemill.fs"] = { entry with its path, ... } } }
local doc = require "tidemill.repl.doc"
local fs = require "tidemill.fs"
local plan = require "tidemill.plan"

local M = {}

--- The modules for scripts, in the order of the reference.
M.modules = { "tidemill", "tidemill.entry_script", "tidemill.frame", "tidemill.tensor", "tidemill.image",
              "tidemill.onnx", "tidemill.tokenizer", "tidemill.fs", "tidemill.path", "tidemill.process",
              "tidemill.json", "tidemill.argparse" }

--- Classes that only parts of the library itself use.
M.internal = {
  ["tidemill.plan"] = true, ["tidemill.store"] = true, ["tidemill.store.Registered"] = true,
  ["tidemill.TabularMake"] = true, ["tidemill.develop"] = true, ["tidemill.entry_script_c"] = true,
  ["tidemill.frame_c"] = true, ["tidemill.image_c"] = true, ["tidemill.json_c"] = true, ["tidemill.onnx_c"] = true,
  ["tidemill.onnx_file_c"] = true, ["tidemill.process_c"] = true, ["tidemill.tensor_c"] = true,
  ["tidemill.tokenizer_c"] = true,
}

--- Returns the contents of a file; raises.
---@param path string
---@return string
function M.read_file(path)
  return assert(fs.read(path))
end

--- Returns the Lua files of a folder, then those in its subfolders, relative to it.
---@param dir string
---@param below? string
---@return string[]
function M.files(dir, below)
  local found, folders = {}, {}
  for _, name in ipairs(assert(fs.list(dir .. (below and "/" .. below or "")))) do
    local path = below and below .. "/" .. name or name
    if assert(fs.stat(dir .. "/" .. path)).type == "directory" then
      folders[#folders + 1] = path
    elseif name:find "%.lua$" then
      found[#found + 1] = path
    end
  end
  for _, folder in ipairs(folders) do
    for _, inner in ipairs(M.files(dir, folder)) do
      found[#found + 1] = inner
    end
  end
  return found
end

local function sorted_names(value)
  local names = {}
  for name in pairs(value) do
    names[#names + 1] = type(name) == "string" and name or nil
  end
  table.sort(names)
  return names
end

-- The names of functions in the public modules: ["=tidemill/tidemill.lua:12"] = { module,
-- "tidemill.load" }.
local function reached()
  local places = {}
  local function look(module, value, path, depth)
    if type(value) == "function" then
      local info = debug.getinfo(value, "S")
      local place = info.source .. ":" .. info.linedefined
      places[place] = places[place] or { module = module, path = path }
    elseif type(value) == "table" and depth < 3 then
      for _, name in ipairs(sorted_names(value)) do
        look(module, value[name], path .. "." .. name, depth + 1)
      end
    end
  end
  for _, module in ipairs(M.modules) do
    look(module, require(module), module, 0)
  end
  return places
end

-- The methods that objects really have, for classes that also have private ones.
local function methods_of(class)
  require "tidemill.tensor"
  local base = require "tidemill.frame.base"
  local metas = { ["tidemill.DataFrame"] = base.frame_meta, ["tidemill.Column"] = base.column_meta,
                  ["tidemill.Tensor"] = require("tidemill.tensor.base").meta }
  return metas[class] and metas[class].methods
end

local function is_module(name)
  for _, module in ipairs(M.modules) do
    if module == name then
      return true
    end
  end
  return false
end

local function class_of(found, name)
  found.classes[name] = found.classes[name] or { heads = {}, members = {} }
  return found.classes[name]
end

local function add(found, entry, places)
  local place = places[entry.label .. ":" .. entry.line]
  if entry.kind == "class" then
    if not M.internal[entry.class] then
      table.insert(class_of(found, entry.class).heads, entry)
    end
  elseif entry.is_method then
    local methods = methods_of(entry.class)
    if not methods or methods[entry.name] then
      table.insert(class_of(found, entry.class).members, entry)
    end
  elseif place or is_module(entry.class) then
    local module = place and place.module or entry.class
    entry.path = place and place.path or entry.class .. "." .. entry.name
    found.functions[module] = found.functions[module] or {}
    table.insert(found.functions[module], entry)
  end
end

--- Returns what the files of a folder, and the table of parameters, document.
---@param dir string
---@return table
function M.open(dir)
  local found, places = { classes = {}, functions = {} }, reached()
  local function read(label, text)
    for _, entry in ipairs(doc.read(text, label)) do
      add(found, entry, places)
    end
  end
  for _, file in ipairs(M.files(dir)) do
    read(file:find "^tidemill/" and "=" .. file or "=tidemill/" .. file, M.read_file(dir .. "/" .. file))
  end
  read("=tidemill/_meta/parameters.lua", plan.classes())
  return found
end

--- Splits a tag into its type and its text: "string? why" is "string?", "why". A type may contain
--- blanks in brackets, after a colon or a comma, and around the bar between two types.
---@param text string
---@return string kind
---@return string words
function M.split_type(text)
  local at, depth = 1, 0
  while at <= #text do
    local c = text:sub(at, at)
    if c == "(" or c == "<" or c == "{" or c == "[" then
      depth = depth + 1
    elseif c == ")" or c == ">" or c == "}" or c == "]" then
      depth = depth - 1
    elseif c == '"' then
      at = text:find('"', at + 1, true) or #text
    elseif c == " " and depth == 0 and not text:sub(1, at - 1):find "[:,|]$" then
      break
    end
    at = at + 1
  end
  return text:sub(1, at - 1), (text:sub(at + 1):gsub("^%s+", ""))
end

return M
