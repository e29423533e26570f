-- sources.lua - what tidemill.image reads: paths, readers of context:open(), bytes.
local base = require "tidemill.tensor.base"

local M = {}

local refuse = base.refuse

local bytes_meta = { __metatable = "the bytes of an image", __name = "the bytes of an image" }

--- The bytes of an image file as a source. `name` is for messages.
function M.bytes(text, name)
  if type(text) ~= "string" then
    refuse("image.bytes: a %s was given; accepted: the contents of an image file, a string", type(text))
  end
  if name ~= nil and type(name) ~= "string" then
    refuse("image.bytes: the name is a %s; accepted: a string", type(name))
  end
  return setmetatable({ text = text, name = name }, bytes_meta)
end

local function is_reader(source)
  if type(source) ~= "userdata" and (type(source) ~= "table" or debug.getmetatable(source) == nil) then
    return false
  end
  local ok, read = pcall(function() return source.read end)
  return ok and type(read) == "function"
end

-- Reads what is left of a reader. Returns nil and a message if that is too much, or damaged.
local function read_all(reader, name, max_bytes)
  local ok, text = pcall(function()
    if reader.size and reader:size() > max_bytes then
      return nil
    end
    return reader:read "*a"
  end)
  if not ok then
    return nil, ("cannot read '%s': %s"):format(name, text)
  elseif not text or #text > max_bytes then
    return nil, ("cannot read '%s': it has more than %d bytes, which 'max_bytes' allows"):format(name, max_bytes)
  end
  return text
end

--- Returns a name, and the bytes or false if the name is that of a file; or nil and a message.
--- Raises for what is not a source.
function M.open(what, source, i, max_bytes)
  if type(source) == "string" then
    if source == "" or source:find("\0", 1, true) then
      refuse("%s: source %d is %s", what, i, source == "" and "empty; accepted: a path" or
        "a string with a NUL byte; for the contents of a file write image.bytes(text)")
    end
    return source, false
  elseif type(source) == "table" and debug.getmetatable(source) == bytes_meta then
    return rawget(source, "name") or ("image %d"):format(i), rawget(source, "text")
  elseif is_reader(source) then
    local name = ("image %d"):format(i)
    local text, message = read_all(source, name, max_bytes)
    if not text then
      return nil, message
    end
    return name, text
  end
  refuse("%s: source %d is a %s; accepted: a path, a reader of context:open(), or image.bytes(text)", what, i,
    type(source))
end

--- Raises unless it is a list of sources. Returns its length.
function M.check_list(what, sources)
  if type(sources) ~= "table" or debug.getmetatable(sources) == bytes_meta or is_reader(sources) then
    refuse("%s: a %s was given; accepted: a list of paths, readers of context:open(), or image.bytes(text)", what,
      type(sources) == "string" and "single path" or type(sources))
  end
  return #sources
end

return M
