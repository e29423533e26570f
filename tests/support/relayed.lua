-- With TM_RELAYED=1, the jobs of a spec run on one node behind a relay instead of on this machine:
-- a `tidemill node` process, which `{program} node` starts. The spec stays as it is.
--
-- Definitions get their node from support/tidemill/definition.lua, which TIDEMILL_LUA_DIR makes the
-- program read in place of its own module, and `map` gets it from its options. Both leave settings
-- alone that choose nodes.
--
-- The folder "0" in a path of a spec stands for the workers' node. Behind a relay a job has node 1
-- and, for each time that it is resumed, one more.
local lfs = require "lfs"

local relayed = { IS_ON = (os.getenv "TM_RELAYED" or "") ~= "" }

--- The id of the node that a job begins with, in messages and logs.
relayed.NODE = relayed.IS_ON and "1" or "0"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
if here:sub(1, 1) ~= "/" then here = lfs.currentdir() .. "/" .. here end

local MOST_NODES = 20 -- that a job of a spec has, one after another
local OPTIONS = { "--compute-target", "exec", "--node-command", "{program} node" }
local SHOWN_OPTIONS = " %-%-compute%-target exec %-%-node%-command '{program} node'"

--- What the program needs in its environment.
---@return string[] variables as NAME=value
function relayed.environment()
  return relayed.IS_ON and { "TIDEMILL_LUA_DIR=" .. here } or {}
end

local function chooses_nodes(words)
  for _, word in ipairs(words) do
    if word == "--" then return false end
    if word:find "^%-%-compute%-target" or word:find "^%-%-node%-" then return true end
  end
  return false
end

--- The arguments of the program, with those that `map` needs in addition.
---@param words string[]
---@return string[]
function relayed.words(words)
  if not relayed.IS_ON or words[1] ~= "map" or chooses_nodes(words) then return words end
  local new = { "map" }
  for _, list in ipairs { OPTIONS, words } do
    for i, word in ipairs(list) do
      if list == OPTIONS or i > 1 then new[#new + 1] = word end
    end
  end
  return new
end

--- A text that the program wrote, without the options that `map` got in addition.
---@param text? string
---@return string?
function relayed.text(text)
  return text and relayed.IS_ON and text:gsub(SHOWN_OPTIONS, "") or text
end

local function has_nodes(job_dir)
  return lfs.attributes(job_dir .. "/nodes/1.txt", "mode") ~= nil
end

--- Notes whether a job in this folder, or in a workspace in it, has had a relay: `has_run`.
---@param dir string
function relayed.note(dir)
  for _, above in ipairs { dir, dir .. "/workspace/jobs" } do
    if not relayed.IS_ON or relayed.has_run or lfs.attributes(above, "mode") ~= "directory" then return end
    for name in lfs.dir(above) do relayed.has_run = relayed.has_run or has_nodes(above .. "/" .. name) end
  end
end

--- A path in the folders of each node: "0" in a path of logs stands for any.
---@param path string
---@return string[] paths of the nodes that have it, at least one path
function relayed.paths(path)
  local above, below = nil, nil
  if relayed.IS_ON then above, below = path:match "^(.*/logs/[%w_/]*/)0(.*)$" end
  if not above or not below:find "^/" and below ~= "" then return { path } end
  local found = {}
  for id = 1, MOST_NODES do
    local one = above .. id .. below
    if lfs.symlinkattributes(one, "mode") then found[#found + 1] = one end
  end
  return #found > 0 and found or { above .. relayed.NODE .. below }
end

return relayed
