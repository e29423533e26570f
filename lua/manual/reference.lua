-- reference.lua - writes the reference of the Lua API as Markdown, from the doc comments of
-- stdlib/.
local library = require "manual.library"
local doc = require "tidemill.repl.doc"

local M = {}

local HEAD = [[
# The Lua API of tidemill %s

This page is generated from the comments in the Lua files, which `help(x)` shows too. For the values that a parameter
of `ParallelRunConfig` and the others accepts, see `tidemill(1)` and `tidemill help PARAMETER`. For what an entry
script may define, see `tidemill-entry-script(7)`.

A `?` after a name or a type means that it may be left out, or nil. `a.b()` is called with a dot, `A:b()` on an
object of the class A.
]]

-- Converts text to Markdown: escapes tags outside code, and indents examples far enough.
local function markdown(text)
  local out = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if line:find "^%s%s+%S" then
      if out[#out] and out[#out] ~= "" and not out[#out]:find "^    " then
        out[#out + 1] = ""
      end
      out[#out + 1] = "    " .. line:gsub("^%s%s", "")
    else
      out[#out + 1] = (line .. "`"):gsub("(.-)(`[^`]*`?)", function(plain, code)
        return plain:gsub("<", "\\<") .. code
      end):sub(1, -2)
    end
  end
  return (table.concat(out, "\n"):gsub("%s+$", ""))
end

local heads = { param = "", field = "", ["return"] = "returns ", overload = "also ", type = "is " }

local function tag_line(tag)
  local kind, words = library.split_type(tag.text)
  local name = tag.name and ("`%s` "):format(tag.name) or ""
  return ("- %s%s`%s`%s"):format(heads[tag.tag], name, kind, words ~= "" and " " .. markdown(words) or "")
end

local function add_tags(out, entry)
  local first = true
  for _, tag in ipairs(entry.tags) do
    if heads[tag.tag] then
      out[#out + 1] = (first and "\n" or "") .. tag_line(tag)
      first = false
    end
  end
end

local function add_function(out, entry)
  out[#out + 1] = ("\n### `%s`"):format(doc.signature(entry, entry.path))
  if entry.text ~= "" then
    out[#out + 1] = "\n" .. markdown(entry.text)
  end
  add_tags(out, entry)
end

local function add_class(out, name, class)
  out[#out + 1] = ("\n## %s"):format(name)
  for _, entry in ipairs(class.heads) do
    if entry.text ~= "" then
      out[#out + 1] = "\n" .. markdown(entry.text)
    end
    add_tags(out, entry)
  end
  for _, entry in ipairs(class.members) do
    add_function(out, entry)
  end
end

local function add_module(out, module, found)
  out[#out + 1] = ("\n# %s\n\n    require %q"):format(module, module)
  for _, entry in ipairs(found.classes[module] and found.classes[module].heads or {}) do
    if entry.text ~= "" then
      out[#out + 1] = "\n" .. markdown(entry.text)
    end
    add_tags(out, entry)
  end
  for _, entry in ipairs(found.functions[module] or {}) do
    add_function(out, entry)
  end
end

--- Returns the whole text: the modules, then the classes sorted by name.
---@param found table what library.open() returned
---@param version string
---@return string
function M.text(found, version)
  local out, names = { HEAD:format(version):gsub("\n$", "") .. "" }, {}
  for _, module in ipairs(library.modules) do
    add_module(out, module, found)
    names[module] = true
  end
  local classes = {}
  for name in pairs(found.classes) do
    classes[#classes + 1] = not names[name] and name or nil
  end
  table.sort(classes)
  out[#out + 1] = "\n# Classes"
  for _, name in ipairs(classes) do
    add_class(out, name, found.classes[name])
  end
  return table.concat(out, "\n") .. "\n"
end

return M
