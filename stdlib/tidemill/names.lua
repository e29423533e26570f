--- Handles names that do not exist here: names of the original, and misspelt ones. Where Lua alone
--- would continue with nil, an error says what to write instead. Not for scripts.
local plan = require "tidemill.plan"

local M = {}

local MODULES = { argparse = true, entry_script = true, frame = true, fs = true, json = true, onnx = true, path = true,
                  process = true, tensor = true, tokenizer = true }

--- Methods that only refuse a call, with a reason. No list of methods has them.
M.refusing = setmetatable({}, { __mode = "k" })

-- The strings among the keys of a table, or among its values if it is a list, in order.
local function add_names(to, from)
  for key, value in pairs(from or {}) do
    local name = type(key) == "number" and value or key
    local is_listed = type(name) == "string" and name:sub(1, 2) ~= "__" and not M.refusing[value]
    to[#to + 1] = is_listed and name or nil
  end
end

local function sorted_names(from, more)
  local found = {}
  add_names(found, from)
  add_names(found, more)
  table.sort(found)
  return found
end

-- A dataset has no columns before a worker reads it.
local function column_words(name)
  return ("rows are chosen by table:filter(%q, \"==\", value), and run() reads a column as row[%q]"):format(name, name)
end

local function words_of(owner, name, methods, fields)
  local words = plan.instead(owner, name)
  if words then
    return words
  elseif owner == "tidemill" and MODULES[name] then
    return ("write local %s = require \"tidemill.%s\""):format(name, name)
  end
  local nearest = plan.nearest(name, sorted_names(methods, fields))
  if nearest then
    return ("did you mean '%s'?"):format(nearest)
  end
  if owner == "TabularDataset" then
    return column_words(name)
  end
  local known = sorted_names(methods)
  known = #known > 0 and known or sorted_names(fields)
  return #known > 0 and "it has: " .. table.concat(known, ", ") or ("write %s { ... }"):format(owner)
end

--- Raises for a name that `owner` does not have. The message says what to write instead of a name
--- of the original, or which name is similar, or which names exist.
---@param owner string
---@param name any
---@param methods? table
---@param fields? string[]
function M.refuse(owner, name, methods, fields)
  name = tostring(name)
  plan.raise(("%s has no '%s'; %s"):format(owner, name, words_of(owner, name, methods, fields)))
end

--- Raises for a column that is read from a table's definition.
---@param name string
function M.refuse_column(name)
  plan.raise(("TabularDataset has no '%s'; %s"):format(name, column_words(name)))
end

--- Returns an `__index` for `owner`, a name in core/plan/names.h. It raises for every name that the
--- object cannot have. The message says what to write instead of a name of the original, or which
--- name is similar, or which names exist.
---@param owner string
---@param methods? table|fun(): table what the object has, by name
---@param fields? string[] what it may have; these are nil while they are not set
---@return fun(_: any, name: any): nil
function M.guard(owner, methods, fields)
  local may_be_nil = {}
  for _, name in ipairs(fields or {}) do
    may_be_nil[name] = true
  end
  return function(_, name)
    if type(name) ~= "string" or may_be_nil[name] then
      return nil
    end
    M.refuse(owner, name, type(methods) == "function" and methods() or methods, fields)
  end
end

--- Gives `values` such an `__index`.
---@param owner string
---@param values table
---@param fields? string[]
---@return table values
function M.guarded(owner, values, fields)
  local meta = getmetatable(values) or {}
  meta.__index = M.guard(owner, values, fields)
  return setmetatable(values, meta)
end

-- The number of arguments before a table of named ones, as in f(a, { name = value }); nil: there is
-- no such table among the first `most`.
local function count_before_named(most, ...)
  local count = 0
  for i = 1, select("#", ...) do
    if select(i, ...) ~= nil then
      count = i
    end
  end
  local last = select(math.max(count, 1), ...)
  local is_named = count >= 1 and count <= most and type(last) == "table" and not getmetatable(last)
    and type(next(last)) == "string"
  return is_named and count - 1 or nil
end

--- Returns the arguments of a call in order. The caller gave them by position, or the last ones in
--- a table by name, as Python's keyword arguments. Other fields of such a table go into a table of
--- options after the last argument.
---@param names string[] of the arguments, in order
---@param ... any the arguments
---@return any ... the arguments, then the options
function M.arguments(names, ...)
  local before = count_before_named(#names, ...)
  if not before then
    return ...
  end
  local taken, options = { ... }, {}
  for key, value in pairs(taken[before + 1]) do
    options[key] = value
  end
  for i = before + 1, #names do
    taken[i], options[names[i]] = options[names[i]], nil
  end
  taken[#names + 1] = options
  return unpack(taken, 1, #names + 1)
end

--- The same for a function without options: raises for any other name in the table.
---@param caller string
---@param names string[] of the arguments, in order
---@param ... any the arguments
---@return any ... the arguments
function M.all_arguments(caller, names, ...)
  local taken = { M.arguments(names, ...) }
  for key in pairs(taken[#names + 1] or {}) do
    local nearest = plan.nearest(tostring(key), names)
    local words = nearest and ("did you mean '%s'?"):format(nearest)
      or "known: '" .. table.concat(names, "', '") .. "'"
    plan.raise(("%s: unknown key '%s'; %s"):format(caller, tostring(key), words))
  end
  return unpack(taken, 1, #names)
end

--- Raises if a constructor is given an object, or values without a name. Other wrong arguments are
--- left to plan.check().
---@param tag string of the constructor
---@param fields any
---@return any fields
function M.check_fields(tag, fields)
  local is = type(fields) == "table" and getmetatable(fields)
  if type(is) == "string" then
    plan.raise(("%s: the argument is %s %s; accepted: a table, %s { name = value, ... }"):format(tag,
      is:find "^[AEIOU]" and "an" or "a", is, tag))
  end
  for key, value in next, type(fields) == "table" and fields or {} do
    if type(key) ~= "string" then
      local words = type(value) == "string" and ("%q"):format(value) or tostring(value)
      plan.raise(("%s: %s has no name; accepted: %s { name = value, ... }"):format(tag, words, tag))
    end
  end
  return fields
end

--- Raises if a method of an output was called with options, as in the original. An option that is
--- `false` changes nothing. Returns `fields`.
---@param method string
---@param fields table
---@param given any
---@param ... any
---@return table fields
function M.without_options(method, fields, given, ...)
  if given ~= nil and type(given) ~= "table" or select("#", ...) > 0 then
    plan.raise(("output:%s: accepted: no arguments"):format(method))
  end
  for key, value in pairs(given or {}) do
    if value ~= false then
      plan.raise(("output:%s: unknown key '%s'; %s"):format(method, tostring(key),
        plan.instead(method, tostring(key)) or "accepted: no arguments"))
    end
  end
  return fields
end

--- Raises if a method was called with a dot, as in Python.
---@param self any
---@param tag string the type that `self` must have
function M.check_self(self, tag)
  if getmetatable(self) ~= tag then
    plan.raise(("a method of '%s' was called with a dot; accepted: a colon, as in object:method(...)"):format(tag))
  end
end

return M
