-- A temporary folder for one spec. dir:remove() removes it with everything in it.
--
--   local dir = folder.new()          -- in before_each
--   dir:write("a/b.txt", "text")      -- returns the path; makes missing folders
--   dir:remove()                      -- in after_each
local lfs = require "lfs"

local folder = {}
local Folder = {}
Folder.__index = Folder

function folder.new()
  local path = os.tmpname()
  assert(os.remove(path))
  assert(lfs.mkdir(path))
  return setmetatable({ path = path }, Folder)
end

--- The path of a name in it.
function Folder:at(name) return self.path .. "/" .. name end

function Folder:write(name, text)
  for above in name:gmatch "()/" do lfs.mkdir(self:at(name:sub(1, above - 1))) end
  local file = assert(io.open(self:at(name), "wb"))
  assert(file:write(text))
  file:close()
  return self:at(name)
end

function Folder:read(name)
  local file = assert(io.open(self:at(name), "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

function Folder:has(name) return lfs.symlinkattributes(self:at(name), "mode") ~= nil end

--- Removes a file, or a folder with its contents; does not follow links.
function folder.remove_tree(path)
  if lfs.symlinkattributes(path, "mode") == "directory" then
    for name in lfs.dir(path) do
      if name ~= "." and name ~= ".." then folder.remove_tree(path .. "/" .. name) end
    end
    lfs.rmdir(path)
  else
    os.remove(path)
  end
end

--- The same, but nobody sees the folder with only some of its files.
function folder.remove_at_once(path)
  assert(os.rename(path, path .. ".removed"))
  folder.remove_tree(path .. ".removed")
end

function Folder:remove()
  folder.remove_tree(self.path)
end

--- The message of the error that `f` raises, which must name a line of the calling spec.
function folder.refused(f)
  local file = debug.getinfo(2, "S").short_src:match "[^/]+$"
  local ok, message = pcall(f)
  assert(not ok, "nothing was raised")
  local at, stop = tostring(message):find(file .. ":%d+: ")
  assert(at, "no line of " .. file .. " in: " .. tostring(message))
  return (message:sub(stop + 1))
end

return folder
