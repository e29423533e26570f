--- Objects of a definition: made by a constructor from a table, and never changed. Not for scripts.
local names = require "tidemill.names"
local plan = require "tidemill.plan"

local M = {}

-- The fields of each object, also those that it does not show.
local values = setmetatable({}, { __mode = "k" })

local function refuse_write(object, key)
  plan.raise(("%s cannot be changed: '%s' is set once, where it is defined"):format(tostring(object), tostring(key)))
end

--- Copies nested plain tables, so that later changes by the caller do not change the definition.
function M.copy(value, seen)
  if type(value) ~= "table" or getmetatable(value) then
    return value
  end
  seen = seen or {}
  if not seen[value] then
    local new = {}
    seen[value] = new
    for k, v in pairs(value) do
      new[k] = M.copy(v, seen)
    end
  end
  return seen[value]
end

-- Without the fields in `hidden`; `refuse(key)` raises for these.
local function shown_of(all, hidden, refuse)
  return function(_, key)
    if hidden[key] then
      refuse(key)
    end
    return all[key]
  end
end

--- Makes an object of `value`. `hidden`: fields that only our own functions read, by
--- M.values_of(), and refuse(key), which raises for them.
---@param tag string the name of the constructor
---@param value table
---@param methods? table
---@param id? integer of an output
---@param hidden? table<string, boolean>
---@param refuse? fun(key: string)
function M.freeze(tag, value, methods, id, hidden, refuse)
  local where = plan.where()
  local name = type(value.name) == "string" and " '" .. value.name .. "'" or ""
  local words = tag .. name .. (where and " (" .. where .. ")" or "")
  local all = methods and setmetatable(value, { __index = methods }) or value
  local object = setmetatable({}, {
    __tm_tag = tag,
    __tm_where = where,
    __tm_value = value,
    __tm_id = id,
    __index = hidden and shown_of(all, hidden, refuse) or all,
    __newindex = refuse_write,
    __tostring = function()
      return words
    end,
    __metatable = tag,
  })
  values[object] = all
  return object
end

--- The fields of an object, also the hidden ones.
---@param object table
---@return table
function M.values_of(object)
  return values[object]
end

--- A table that can be called, so that it can also explain names of the original, such as
--- ParallelRunConfig.load_yaml.
function M.callable(tag, make)
  return setmetatable({}, {
    __call = function(_, fields) return make(names.check_fields(tag, fields)) end,
    __index = names.guard(tag),
  })
end

--- A constructor that checks its fields by the program's table of parameters.
function M.constructor(tag, methods)
  methods = names.guarded(tag, methods or {}, plan.parameters(tag))
  return M.callable(tag, function(fields)
    plan.check(tag, fields)
    return M.freeze(tag, M.copy(fields), methods)
  end)
end

return M
