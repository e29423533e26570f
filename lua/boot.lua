-- Prepares a state before user code runs: sets the search path of `require`. Called with {module =
-- label} of the compiled-in modules. These are in package.preload already, which `require` searches
-- first, so that no file of the user can replace one of our modules.
local labels = ...

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
  for module, label in pairs(labels) do
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

local modules = {} -- without those that only other modules use
for module in pairs(labels) do
  if not module:find "_[ch]$" and not module:find "%._" then
    modules[#modules + 1] = module
  end
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
  local nearest = not words and plan.nearest(name, modules)
  if words then
    plan.raise(("module '%s' not found: Python's '%s' is in Lua: %s"):format(name, name, words))
  elseif nearest then
    plan.raise(("module '%s' not found: did you mean '%s'?"):format(name, nearest))
  end
end
table.insert(package.loaders, refuse)

-- Without this, `allow_reuse = False` would silently be nil.
local written = { True = "true", False = "false" }
-- Nor would `type = int`.
for name, call in pairs { int = "math.floor(tonumber(x))", float = "tonumber(x)", bool = "not not x" } do
  written[name] = ("the name of the type as text, %q; %s(x) is %s"):format(name, name, call)
end

-- Scripts also come here through a table of theirs: setmetatable({}, { __index = _G }).int. Only an
-- instruction that reads a global has the name as its constant.
local util, getinfo, band, rshift = require "jit.util", debug.getinfo, bit.band, bit.rshift
local READS_GLOBAL = band(util.funcbc(loadstring "return x", 1), 0xff)

local function reads_global(f, name)
  local pc, instruction = 1, util.funcbc(f, 1)
  while instruction do
    if band(instruction, 0xff) == READS_GLOBAL and util.funck(f, -rshift(instruction, 16) - 1) == name then
      return true
    end
    pc = pc + 1
    instruction = util.funcbc(f, pc)
  end
  return false
end

setmetatable(_G, {
  __index = function(_, name)
    local reader = written[name] and getinfo(2, "fS")
    if reader and reader.what ~= "C" and reads_global(reader.func, name) then
      error(("Lua has no '%s'; write %s"):format(name, written[name]), 2)
    end
  end,
})
