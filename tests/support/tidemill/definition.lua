-- Read by the program in place of its own module, if TIDEMILL_LUA_DIR names the folder above: gives
-- each ParallelRunConfig that does not choose its nodes one node behind a relay. See
-- support/relayed.lua.
local load_own = package.loaders[2] -- the loader of the compiled-in modules (lua/boot.lua)
local M = load_own "tidemill.definition" "tidemill.definition"
local callable = M.callable

local CHOOSE_NODES = { compute_target = true, instance_count = true, resources = true }

local function chooses_nodes(fields)
  for key in pairs(fields) do
    if CHOOSE_NODES[key] or key:find "^node_" then return true end
  end
  return false
end

local function with_node(fields)
  if type(fields) ~= "table" or chooses_nodes(fields) then return fields end
  local new = { compute_target = "exec", node_command = "{program} node" }
  for key, value in pairs(fields) do new[key] = value end
  return new
end

function M.callable(tag, make)
  if tag ~= "ParallelRunConfig" then return callable(tag, make) end
  return callable(tag, function(fields) return make(with_node(fields)) end)
end

return M
