--- Names that do not exist here: of the original, and misspelt ones. Each is answered with what to write instead, where
--- Lua alone would go on with nil. Not for scripts.
local plan = require "tidemill.plan"

local M = {}

local MODULES = { argparse = true, entry_script = true, frame = true, fs = true, json = true, path = true,
                  process = true }

local function keys_of(known)
  local keys = {}
  for key in pairs(known) do
    keys[#keys + 1] = type(key) == "string" and key or nil
  end
  table.sort(keys)
  return keys
end

local function words_of(owner, name, known)
  local words = plan.instead(owner, name)
  if words or not known then
    return words
  end
  if owner == "tidemill" and MODULES[name] then
    return ("write local %s = require \"tidemill.%s\""):format(name, name)
  end
  local nearest = plan.nearest(name, keys_of(known))
  return nearest and ("did you mean '%s'?"):format(nearest)
end

--- An `__index` for `owner`, a name of core/plan/names.h. It raises for a name of the original, and, where `known` is
--- given, for one that is nearly in that table. Any other name is nil, as Lua has it.
---@param owner string
---@param known? table
---@return fun(_: any, name: any): nil
function M.guard(owner, known)
  return function(_, name)
    local words = type(name) == "string" and words_of(owner, name, known)
    if words then
      plan.raise(("%s has no '%s'; %s"):format(owner, name, words))
    end
  end
end

--- `values` with that `__index`.
---@param owner string
---@param values table
---@param is_module? boolean misspelt names raise, too
---@return table values
function M.guarded(owner, values, is_module)
  local meta = getmetatable(values) or {}
  meta.__index = M.guard(owner, is_module and values or nil)
  return setmetatable(values, meta)
end

--- Raises when a method was called with a dot, as Python has it.
---@param self any
---@param tag string what `self` is to be
function M.check_self(self, tag)
  if getmetatable(self) ~= tag then
    plan.raise(("a method of '%s' was called with a dot; accepted: a colon, as in object:method(...)"):format(tag))
  end
end

return M
