-- A helper of busted for specs that run behind a relay (relayed.lua). Cases in job/not_relayed.lua
-- are skipped. It is an error if a case on that list does not exist, or if no job of the spec had a
-- relay; a run of only some cases checks neither.
local busted = require "busted"
local relayed = require "support.relayed"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local NOT_RELAYED = dofile(here .. "/../job/not_relayed.lua")

local spec, blocks, listed = nil, {}, {}
local is_whole = true -- all cases of the spec run
for _, word in ipairs(relayed.words_of_busted) do is_whole = is_whole and not word:find "^%-" end

local function reason_against(name)
  local reasons = NOT_RELAYED[spec]
  if type(reasons) ~= "table" then return reasons end
  local full = table.concat(blocks, " ") .. " " .. name
  listed[full] = true
  return reasons[full]
end

busted.subscribe({ "file", "start" }, function(file)
  spec = file.name:match "([^/]*)_spec%.lua$"
  return nil, true
end)

busted.subscribe({ "describe", "start" }, function(block)
  blocks[#blocks + 1] = block.name
  return nil, true
end)

busted.subscribe({ "describe", "end" }, function()
  blocks[#blocks] = nil
  return nil, true
end)

busted.subscribe({ "register", "it" }, function(name, _, ...)
  local reason = reason_against(name)
  if not reason then return nil, true end
  busted.publish({ "register", "pending" }, ("%s (%s)"):format(name, reason), function() end, ...)
  return nil, false
end, { priority = 1 })

busted.subscribe({ "exit" }, function()
  if not is_whole or type(NOT_RELAYED[spec]) == "string" then return nil, true end
  for name in pairs(NOT_RELAYED[spec] or {}) do
    if not listed[name] then error("not_relayed.lua: " .. spec .. " has no case '" .. name .. "'", 0) end
  end
  if not relayed.has_run then error("no job of " .. spec .. " had a relay", 0) end
  return nil, true
end)
