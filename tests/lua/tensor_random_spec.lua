-- Functions of tidemill.tensor beside the same in plain Lua, over random shapes and values: edges
-- of each type, halves, NaN, -0 and infinity. TM_SEED gives the same values again.
local frame = require "tidemill.frame"
local show = require "tidemill.repl.show"
local tensor = require "tidemill.tensor"

local seed = tonumber(os.getenv "TM_SEED") or os.time()
local ROUNDS = os.getenv "TM_LONG" and 3000 or 150

local LIMITS = {
  int8 = { -2 ^ 7, 2 ^ 7 - 1 }, uint8 = { 0, 2 ^ 8 - 1 }, int16 = { -2 ^ 15, 2 ^ 15 - 1 }, uint16 = { 0, 2 ^ 16 - 1 },
  int32 = { -2 ^ 31, 2 ^ 31 - 1 }, uint32 = { 0, 2 ^ 32 - 1 }, int64 = { -2 ^ 53, 2 ^ 53 }, uint64 = { 0, 2 ^ 53 },
}
local EDGES = { -- of infinity
  int64 = { [math.huge] = 9223372036854775807LL, [-math.huge] = -9223372036854775807LL - 1 },
  uint64 = { [math.huge] = 18446744073709551615ULL },
}
local REALS = { "float32", "float64", "float16" }
local INTEGERS = { "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64" }
local NUMBERS = {}
for _, name in ipairs(REALS) do NUMBERS[#NUMBERS + 1] = name end
for _, name in ipairs(INTEGERS) do NUMBERS[#NUMBERS + 1] = name end

local function one_of(list) return list[math.random(#list)] end

-- ---- what a type makes of a number, in plain Lua ----

-- To the nearest of the numbers with this many binary digits, of two the even one; `least`: the
-- smallest distance of two.
local function nearest(x, digits, least, most)
  if x ~= x or x == 0 or math.abs(x) == math.huge then return x end
  local _, exponent = math.frexp(x)
  local unit = math.max(2 ^ (exponent - digits), least)
  local whole, rest = math.modf(math.abs(x) / unit)
  if rest > 0.5 or rest == 0.5 and whole % 2 == 1 then whole = whole + 1 end
  local y = whole * unit
  y = y > most and math.huge or y
  return x < 0 and -y or y
end

local function half_even(x)
  local floor = math.floor(x)
  local rest = x - floor
  if rest > 0.5 or rest == 0.5 and floor % 2 == 1 then return floor + 1 end
  return floor
end

-- nil: the type has no such value.
local function as(name, x)
  if type(x) == "boolean" then x = x and 1 or 0 end
  if name == "bool" then return x ~= 0 end
  if name == "float64" then return x end
  if name == "float32" then return nearest(x, 24, 2 ^ -149, (2 - 2 ^ -23) * 2 ^ 127) end
  if name == "float16" then return nearest(x, 11, 2 ^ -24, 65504) end
  if x ~= x then return nil end
  local limits = LIMITS[name]
  if math.abs(x) == math.huge then return EDGES[name] and EDGES[name][x] or limits[x < 0 and 1 or 2] end
  return math.min(math.max(half_even(x), limits[1]), limits[2]) + 0 -- there is no -0
end

local function random_value(name)
  local pick = math.random(10)
  if name == "bool" then return pick > 5 end
  if LIMITS[name] then
    local limits = LIMITS[name]
    if pick == 1 then return limits[1] elseif pick == 2 then return limits[2] end
    return math.max(math.random(-100, 100), limits[1])
  end
  if pick == 1 then return 0 / 0 elseif pick == 2 then return one_of { math.huge, -math.huge } end
  if pick == 3 then return -0 end
  if pick == 4 then return as(name, (math.random() - 0.5) * 2 ^ math.random(-30, 16)) end
  return math.random(-400, 400) / 2 -- halves, in each of the types
end

-- ---- random tensors, with the same as nested lists ----

local function random_shape(rank)
  local shape = {}
  for i = 1, rank do shape[i] = math.random(0, 4) end
  return shape
end

local function random_nested(name, shape, axis)
  if axis > #shape then return random_value(name) end
  local list = {}
  for i = 1, shape[axis] do list[i] = random_nested(name, shape, axis + 1) end
  return list
end

-- A tensor of this type and rank, its nested lists and its shape; sometimes a slice of a longer
-- one, whose memory begins elsewhere.
local function random_tensor(name, rank)
  local shape = random_shape(rank)
  local before = math.random(0, 2)
  shape[1] = shape[1] + before
  local nested = random_nested(name, shape, 1)
  local t = tensor.from_table(name, nested)
  if #nested == 0 then t = tensor.new(name, shape) end -- {} has one axis
  for axis = 2, rank do
    if shape[axis] == 0 then t = tensor.new(name, shape) end
  end
  for _ = 1, before do table.remove(nested, 1) end
  shape[1] = shape[1] - before
  return t:slice(before + 1), nested, shape
end

local function is_same(a, b)
  if type(a) == "table" then
    for i = 1, math.max(#a, #b) do
      if not is_same(a[i], b[i]) then return false end
    end
    return type(b) == "table"
  end
  return a == b and (a ~= 0 or 1 / a == 1 / b) or (a ~= a and b ~= b)
end

local function expect(want, t, what)
  local got = t:to_table()
  if not is_same(want, got) then
    error(("%s (seed %d): %s, not %s"):format(what, seed, show(got, { width = 200 }), show(want, { width = 200 })), 2)
  end
end

-- f(list) for each list of the last axis.
local function map_rows(nested, rank, f)
  if rank == 1 then return f(nested) end
  local out = {}
  for i, list in ipairs(nested) do out[i] = map_rows(list, rank - 1, f) end
  return out
end

local function map_all(v, f)
  if type(v) ~= "table" then return f(v) end
  local out = {}
  for i, inner in ipairs(v) do out[i] = map_all(inner, f) end
  return out
end

-- The places of a row in descending order; NaN last, of equal values the first first.
local function in_order(row)
  local places = {}
  for i = 1, #row do places[i] = i end
  local function key(i)
    local v = row[i]
    if type(v) == "boolean" then v = v and 1 or 0 end
    return v
  end
  table.sort(places, function(p, q)
    local a, b = key(p), key(q)
    if a == a and b == b and a ~= b then return a > b end
    if (a ~= a) ~= (b ~= b) then return b ~= b end
    return p < q
  end)
  return places
end

describe("over random tensors", function()
  setup(function() math.randomseed(seed) end)

  local function rounds(what, f)
    it(what, function()
      for _ = 1, ROUNDS do f() end
    end)
  end

  rounds("slices and places are those of nested lists", function()
    local t, nested, shape = random_tensor(one_of(NUMBERS), math.random(4))
    expect(nested, t, "to_table")
    local at, places, inner = t, {}, nested
    for axis = 1, #shape do
      if shape[axis] == 0 then return end
      places[axis] = math.random(shape[axis])
      at, inner = at[places[axis]], inner[places[axis]]
    end
    assert.is_true(is_same(inner, at) and is_same(inner, t:at(unpack(places))))
    t:set(1, unpack(places))
    assert.equal(1, t:at(unpack(places)))
  end)

  rounds("a cast is that of each value", function()
    local from = math.random(8) == 1 and "bool" or one_of(NUMBERS)
    local to = math.random(8) == 1 and "bool" or one_of(NUMBERS)
    local t, nested = random_tensor(from, math.random(3))
    local has_nan = false
    local want = map_all(nested, function(v)
      local x = as(to, v)
      has_nan = has_nan or x == nil
      return x
    end)
    if has_nan then
      local ok, words = pcall(t.cast, t, to)
      assert.is_true(not ok and words:find("NaN", 1, true) ~= nil)
    else
      expect(want, t:cast(to), from .. " to " .. to)
    end
  end)

  rounds("the largest are those of a sort", function()
    local t, nested, shape = random_tensor(math.random(6) == 1 and "bool" or one_of(NUMBERS), math.random(3))
    local k = math.random(0, shape[#shape])
    local places, values = t:top(k)
    expect(map_rows(nested, #shape, function(row) return { unpack(in_order(row), 1, k) } end), places, "top")
    expect(map_rows(nested, #shape, function(row)
      local out = {}
      for i, place in ipairs { unpack(in_order(row), 1, k) } do out[i] = row[place] end
      return out
    end), values, "top's values")
    if shape[#shape] == 0 then return end
    places, values = t:argmax()
    local function first(row) return in_order(row)[1] end
    expect(map_rows(nested, #shape, first), places, "argmax")
    expect(map_rows(nested, #shape, function(row) return row[first(row)] end), values, "argmax's values")
  end)

  rounds("joined tensors are joined lists", function()
    local name, shape = one_of(NUMBERS), random_shape(math.random(3))
    local list, rows, stack = {}, {}, {}
    for i = 1, math.random(4) do
      local nested = random_nested(name, shape, 1)
      list[i], stack[i] = tensor.new(name, shape), nested
      if list[i]:reshape({ -1, 1 }).shape[1] > 0 then list[i] = tensor.from_table(name, nested) end
      for _, row in ipairs(nested) do rows[#rows + 1] = row end
    end
    expect(rows, tensor.concat(list), "concat")
    expect(stack, tensor.stack(list), "stack")
  end)

  rounds("a frame and its tensor have the same values", function()
    local n, width, columns, names = math.random(0, 5), math.random(4), {}, {}
    for k = 1, width do
      names[k] = "c" .. k
      local kind, values = one_of { "bool", "long", "double" }, {}
      for i = 1, n + 1 do
        values[i] = math.random(-50, 50) / (kind == "long" and 1 or 4)
        if kind == "bool" then values[i] = values[i] > 0 end
        if math.random(5) == 1 then values[i] = frame.null end
      end
      columns[k] = { names[k], values, kind }
    end
    local types = {}
    for k = 1, width do types[names[k]] = columns[k][3] end
    local df, name = frame.from_table(columns, types):slice(2), one_of(NUMBERS)
    local want = {}
    for i = 1, n do
      want[i] = {}
      for k = 1, width do
        local v = columns[k][2][i + 1]
        want[i][k] = v == frame.null and 77 or as(name, v)
      end
    end
    local t = tensor.from_frame(df, { type = name, null = 77 })
    expect(want, t, "from_frame as " .. name)
    local back = t:to_frame(names)
    for k = 1, width do
      for i = 1, n do assert.is_true(is_same(want[i][k], back.c[names[k]][i])) end
    end
    if n > 0 then
      local column = t:reshape { -1 }
      local wide = frame.from_table { x = column:to_table() }:with_column("y", column)
      assert.is_true(is_same(wide.c.x:to_table(), wide.c.y:to_table()))
    end
  end)
end)
