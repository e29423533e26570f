-- inputs.lua - the columns of a data frame as the inputs of a model.
local base = require "tidemill.frame.base"
local tensor = require "tidemill.tensor"

local M = {}

local function has(names, name)
  for _, known in ipairs(names) do
    if known == name then
      return true
    end
  end
  return false
end

-- One column as [n, 1], or [n].
local function column_of(df, input)
  local t = tensor.from_frame(df, { columns = { input.name }, type = input.type })
  return #input.shape == 1 and t:reshape { #df } or t
end

-- All columns as [n, k].
local function rows_of(df, state, input)
  local k = input.shape[2]
  if type(k) == "number" and k > 0 and k ~= #state.names then
    base.refuse("run: the data frame has %d columns (%s), and the model's input '%s' takes %d; choose them with "
      .. "df:select(...)", #state.names, table.concat(state.names, ", "), input.name, k)
  end
  return tensor.from_frame(df, { type = input.type })
end

--- Returns the inputs by name.
function M.of_frame(df, inputs)
  local state, by_name = base.state(df, "run"), {}
  for _, input in ipairs(inputs) do
    if has(state.names, input.name) then
      by_name[input.name] = column_of(df, input)
    elseif #inputs == 1 and #input.shape == 2 then
      by_name[input.name] = rows_of(df, state, input)
    else
      base.refuse("run: the data frame has no column '%s', which is an input of the model; columns: %s%s", input.name,
        table.concat(state.names, ", "), base.hint(input.name, state.names))
    end
  end
  return by_name
end

return M
