-- join.lua - combines frames: side by side by keys, or one below the other.
local base = require "tidemill.frame.base"
local ffi = require "ffi"
local shape = require "tidemill.frame.shape"

local LONG, DOUBLE = base.LONG, base.DOUBLE
local refuse, ops = base.refuse, base.ops

---@class tidemill.DataFrame
local M = {}

local hows = { inner = true, left = true, right = true, outer = true, semi = true, anti = true }

-- The names of the keys on both sides, from "id", {"id", "day"} or {left = "right"}.
local function keys_of(on)
  local left, right = {}, {}
  if type(on) == "string" then
    on = { on }
  end
  if type(on) ~= "table" or next(on) == nil then
    refuse("join: 'on' is %s; accepted: a name, a list of names, or {left = \"right\"}",
      type(on) == "table" and "empty" or "a " .. type(on))
  end
  for i, name in ipairs(on) do
    left[i], right[i] = name, name
  end
  local others = {}
  for key in pairs(on) do
    others[#others + 1] = type(key) == "string" and key or nil
  end
  table.sort(others)
  for _, name in ipairs(others) do
    left[#left + 1], right[#right + 1] = name, on[name]
  end
  return left, right
end

local function columns_of(state, names)
  local list, structs = {}, ffi.new("const struct tm_column *[?]", #names)
  for i, name in ipairs(names) do
    list[i] = state.columns[base.place(state, name, "join")]
    structs[i - 1] = base.handle(list[i]).column
  end
  return list, structs
end

local function check_types(a, b, left_names, right_names)
  for i, column in ipairs(a) do
    local x, y = base.type_name(column), base.type_name(b[i])
    if x ~= y then
      refuse("join: column '%s' is of type %s, column '%s' of the other frame of type %s; cast one of them",
        left_names[i], x, right_names[i], y)
    end
  end
end

-- The pairs of rows: two lists and their length; `matched` marks the rows of the right side that
-- have a match.
local function pairs_of(left, right, left_keys, right_keys, keep)
  local n_keys, next_of = #left_keys, base.rows_of(right.len)
  local slots, size = base.slots_for(right.len)
  ops.join_index(select(2, columns_of(right, right_keys)), n_keys, right.len, next_of, slots, size)
  local matched = ffi.new("uint8_t[?]", right.len)
  local function run(x, y)
    local a, b = select(2, columns_of(left, left_keys)), select(2, columns_of(right, right_keys))
    return tonumber(ops.join(a, b, n_keys, left.len, next_of, slots, size, keep and 1 or 0, x, y, matched))
  end
  local n = run(nil, nil)
  if n > base.ROWS_MAX then
    refuse("join: there would be %.0f rows; a data frame has at most 2^31 - 2", n)
  end
  local x, y = base.rows_of(n), base.rows_of(n)
  run(x, y)
  return x, y, n, matched
end

-- The names of the right side's other columns in the result, and their places.
local function right_columns(left, right, right_keys, suffix)
  local is_key, taken, list = {}, {}, {}
  for _, name in ipairs(right_keys) do
    is_key[name] = true
  end
  for _, name in ipairs(left.names) do
    taken[name] = true
  end
  for i, name in ipairs(right.names) do
    if not is_key[name] then
      local new = taken[name] and name .. suffix or name
      if taken[new] then
        refuse("join: there would be two columns '%s'; choose another 'suffix'", new)
      end
      taken[new] = true
      list[#list + 1] = { name = new, column = right.columns[i] }
    end
  end
  return list
end

-- Appends the rows of the right side without a match; their left row is -1.
local function with_unmatched(x, y, n, matched, right_len)
  local more = 0
  for i = 0, right_len - 1 do
    more = more + (1 - matched[i])
  end
  local all_x, all_y = base.rows_of(n + more), base.rows_of(n + more)
  ffi.copy(all_x, x, 4 * n)
  ffi.copy(all_y, y, 4 * n)
  for i = 0, right_len - 1 do
    if matched[i] == 0 then
      all_x[n], all_y[n] = -1, i
      n = n + 1
    end
  end
  return all_x, all_y, n
end

-- Makes the key columns: from the left side, and for rows that it lacks, from the right.
local function key_column(left, right, x, y, n)
  local both, at = base.join_columns { left, right }, base.len(left)
  local list = base.rows_of(n)
  for i = 0, n - 1 do
    list[i] = x[i] >= 0 and x[i] or at + y[i]
  end
  return base.take(both, list, n)
end

local function joined(left, right, keys, x, y, n, suffix)
  local names, columns, place = {}, {}, {}
  for i, name in ipairs(keys.left) do
    place[name] = keys.right[i]
  end
  for i, name in ipairs(left.names) do
    names[i] = name
    columns[i] = place[name]
        and key_column(left.columns[i], right.columns[base.place(right, place[name], "join")], x, y, n)
      or base.take(left.columns[i], x, n, true)
  end
  for _, more in ipairs(right_columns(left, right, keys.right, suffix)) do
    names[#names + 1], columns[#columns + 1] = more.name, base.take(more.column, y, n, true)
  end
  return base.new_frame(names, columns)
end

local function filtered(left, right, keys, wanted)
  local x, y, n = pairs_of(left, right, keys.left, keys.right, true)
  local list, count, last = base.rows_of(left.len), 0, -1
  for i = 0, n - 1 do
    if (y[i] >= 0) == wanted and x[i] ~= last then
      list[count], last = x[i], x[i]
      count = count + 1
    end
  end
  return shape.take_rows(left, list, count)
end

--- Joins the rows of two frames whose keys are equal. `on`: a name, a list of names, or {left =
--- "right"} if the names differ. `how`: "inner" (the default), "left" (all rows of this frame),
--- "right", "outer" (all rows of both), "semi" (rows of this frame with a match, once each), "anti"
--- (rows of this frame without one). The rows are in the order of this frame, or of the other one
--- for "right"; rows that are only in the other frame come last. A null in a key matches nothing.
--- If both frames have a column of the same name, the other frame's column gets `suffix`, by
--- default "_right".
---
---     local orders = frame.from_table { id = { 1, 2, 2 }, n = { 5, 6, 7 } }
---     local names = frame.from_table { id = { 2, 3 }, name = { "b", "c" } }
---     assert(#orders:join(names, { on = "id" }) == 2)
---     assert(orders:join(names, { on = { "id" }, how = "left" }).c.name[1] == nil)
---     assert(#orders:join(names, { on = "id", how = "outer" }) == 4)
---@param other tidemill.DataFrame
---@param options {on: string|table, how?: string, suffix?: string}
---@return tidemill.DataFrame
function M.join(df, other, options)
  local left, right = base.state(df, "join"), base.state(other, "join")
  options = base.options("join", options, { on = "any", how = "string", suffix = "string" })
  local how, suffix, keys = options.how or "inner", options.suffix or "_right", {}
  if not hows[how] then
    refuse("join: 'how' is '%s'; accepted: inner, left, right, outer, semi, anti", how)
  end
  keys.left, keys.right = keys_of(options.on)
  check_types(columns_of(left, keys.left), columns_of(right, keys.right), keys.left, keys.right)
  if how == "semi" or how == "anti" then
    return filtered(left, right, keys, how == "semi")
  elseif how == "right" then
    local y, x, n = pairs_of(right, left, keys.right, keys.left, true)
    return joined(left, right, keys, x, y, n, suffix)
  end
  local x, y, n, matched = pairs_of(left, right, keys.left, keys.right, how ~= "inner")
  if how == "outer" then
    x, y, n = with_unmatched(x, y, n, matched, right.len)
  end
  return joined(left, right, keys, x, y, n, suffix)
end

-- ---- concat ----

local function same_columns(first, state, number)
  local found = #first.names == #state.names
  for _, name in ipairs(state.names) do
    local is_there = false
    for _, known in ipairs(first.names) do
      is_there = is_there or known == name
    end
    found = found and is_there
  end
  if not found then
    refuse("concat: frame %d has the columns %s, the first one %s", number, table.concat(state.names, ", "),
      table.concat(first.names, ", "))
  end
end

local function check_kinds(parts, name)
  local first = base.handle(parts[1]).column.type
  for i, part in ipairs(parts) do
    local kind = base.handle(part).column.type
    local are_numbers = (kind == LONG or kind == DOUBLE) and (first == LONG or first == DOUBLE)
    if kind ~= first and not are_numbers then
      refuse("concat: column '%s' is of type %s in frame %d, of type %s in the first; cast one of them", name,
        base.type_names[kind], i, base.type_names[first])
    end
  end
end

--- Concatenates the rows of all frames.
function M.concat(frames)
  if type(frames) ~= "table" or #frames == 0 then
    refuse "concat: no frame was given; accepted: a list of data frames"
  end
  local states, columns = {}, {}
  for i, df in ipairs(frames) do
    states[i] = base.state(df, "concat")
    same_columns(states[1], states[i], i)
  end
  for place, name in ipairs(states[1].names) do
    local parts = {}
    for i, state in ipairs(states) do
      parts[i] = state.columns[base.place(state, name, "concat")]
    end
    check_kinds(parts, name)
    columns[place] = base.join_columns(parts)
  end
  return base.new_frame(states[1].names, columns)
end

return M
