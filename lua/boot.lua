-- Prepares a state before user code runs: where `require` looks.
-- Called with {module = label} of what is compiled in; those are in package.preload already, which `require` asks
-- first, so that no file of a user's takes the place of a module of ours.
local labels = ...

-- LuaJIT as a library knows only its own folders for C modules; distributions keep Lua 5.1's in one by architecture.
local arch = ({ x64 = "x86_64", arm64 = "aarch64" })[jit.arch]
if arch and jit.os == "Linux" then
  local dir = "/usr/lib/" .. arch .. "-linux-gnu/lua/5.1/?.so"
  if not package.cpath:find(dir, 1, true) then
    package.cpath = package.cpath .. ";" .. dir
  end
end

-- For working on the standard library: the files of this folder are read in place of what is compiled in.
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

-- Without this, `allow_reuse = False` would be nil, and mean nothing.
local written = { True = "true", False = "false" }
setmetatable(_G, {
  __index = function(_, name)
    if written[name] then
      error(("Lua has no '%s'; write %s"):format(name, written[name]), 2)
    end
  end,
})
