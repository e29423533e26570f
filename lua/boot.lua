-- Prepares a state before user code runs: sets the search path of `require`. Called with the loader
-- of the compiled-in modules, and a function that lists them as {module = label}. `require` calls
-- this loader before it looks for files, so that no file of the user can replace one of our
-- modules.
local find_module, list_modules = ...
table.insert(package.loaders, 2, find_module) -- after package.preload

-- LuaJIT as a library knows only its own folders for C modules; distributions have a folder for Lua
-- 5.1 per architecture.
local arch = ({ x64 = "x86_64", arm64 = "aarch64" })[jit.arch]
if arch and jit.os == "Linux" then
  local dir = "/usr/lib/" .. arch .. "-linux-gnu/lua/5.1/?.so"
  if not package.cpath:find(dir, 1, true) then
    package.cpath = package.cpath .. ";" .. dir
  end
end

-- For developing the standard library: reads files in this folder instead of the compiled-in ones.
local dir = os.getenv "TIDEMILL_LUA_DIR"
if dir and dir ~= "" then
  for module, label in pairs(list_modules()) do
    local path = dir .. "/" .. module:gsub("%.", "/") .. ".lua"
    local file = io.open(path, "rb")
    if file then
      local text = file:read "*a"
      file:close()
      package.preload[module] = function(...)
        return assert(loadstring(text, label))(...)
      end
    end
  end
end

-- The compiled-in modules, without those that only other modules use.
local function public_modules()
  local found = {}
  for module in pairs(list_modules()) do
    if not module:find "_[ch]$" and not module:find "%._" then
      found[#found + 1] = module
    end
  end
  return found
end

-- The last of the loaders: says what to write instead of a module of Python, or of a name that is
-- nearly one of ours. It stays silent if the user has added a loader behind it, which may know the
-- module.
local function refuse(name)
  if package.loaders[#package.loaders] ~= refuse then
    return
  end
  local plan = require "tidemill.plan"
  local words = plan.instead_of_module(name)
  local nearest = not words and plan.nearest(name, public_modules())
  if words then
    plan.raise(("module '%s' not found: Python's '%s' is in Lua: %s"):format(name, name, words))
  elseif nearest then
    plan.raise(("module '%s' not found: did you mean '%s'?"):format(name, nearest))
  end
end
table.insert(package.loaders, refuse)

-- Without this, `allow_reuse = False` would silently be nil. Nor would `type = int`.
local written = {
  True = "true",
  False = "false",
  int = "math.floor(tonumber(x))",
  float = "tonumber(x)",
  bool = "not not x",
}

local function instead_of(name)
  if name == "True" or name == "False" then
    return written[name]
  end
  return ("the name of the type as text, %q; %s(x) is %s"):format(name, name, written[name])
end

-- Scripts also come here through a table of theirs: setmetatable({}, { __index = _G }).int. Only an
-- instruction that reads a global has the name as its constant.
local bit, loadstring, getinfo, load_module = bit, loadstring, debug.getinfo, require

local function reads_global(f, name)
  local util = load_module "jit.util"
  local code_of_x = util.funcbc(loadstring "return x", 1)
  local pc, instruction = 1, util.funcbc(f, 1)
  while instruction do
    local is_read = bit.band(instruction, 0xff) == bit.band(code_of_x, 0xff)
    if is_read and util.funck(f, -bit.rshift(instruction, 16) - 1) == name then
      return true
    end
    pc = pc + 1
    instruction = util.funcbc(f, pc)
  end
  return false
end

-- A setting whose value is a misspelt variable would silently have its default. Notes that a
-- pipeline file itself reads such a variable; its modules may ask whether a global exists.
local registry = debug.getregistry()

local function note_undefined(name)
  local noted = registry["tidemill.notes"]
  local reader = type(noted) == "table" and name ~= "None" and getinfo(3, "fSl")
  local key = reader and reader.currentline .. name
  if not reader or noted[key] or reader.source ~= "@" .. registry["tidemill.file"] then
    return
  end
  noted[key] = true
  if reads_global(reader.func, name) then
    local words = "the variable '%s' is not defined: it is nil; if it may be nil, write _G.%s"
    load_module("tidemill.store").note(words:format(name, name))
  end
end

setmetatable(_G, {
  __index = function(_, name)
    local reader = written[name] and getinfo(2, "fS")
    if reader and reader.what ~= "C" and reads_global(reader.func, name) then
      error(("Lua has no '%s'; write %s"):format(name, instead_of(name)), 2)
    elseif not reader then
      note_undefined(name)
    end
  end,
})
