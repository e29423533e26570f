-- Methods of tidemill.frame beside the same in plain Lua, over random rows: numbers with NaN and
-- -0, strings of any bytes, and nulls. TM_SEED gives the same rows again.
local frame = require "tidemill.frame"

local seed = tonumber(os.getenv "TM_SEED") or os.time()
local KINDS = { k = "long", x = "double", s = "string", b = "bool", t = "datetime" }
local NAMES = { "k", "x", "s", "b", "t" }

local makers = {
  k = function() return math.random(-4, 4) end,
  x = function()
    local pick = math.random(8)
    return pick == 1 and 0 / 0 or pick == 2 and -0 or pick == 3 and math.huge or math.random(-5, 5) / 2
  end,
  s = function()
    local parts = {}
    for i = 1, math.random(0, 11) do parts[i] = string.char(math.random(4) == 1 and math.random(0, 255) or 97) end
    return table.concat(parts)
  end,
  b = function() return math.random(2) == 1 end,
  t = function() return math.random(-8, 8) / 4 end,
}

-- n rows as plain tables, and the frame of them; a sliced one now and then, whose memory begins
-- elsewhere.
local function random_rows(n)
  local before, list, columns = math.random(0, 9), {}, {}
  for k, name in ipairs(NAMES) do
    columns[k] = { name, {} }
    for i = 1, n + before do
      columns[k][2][i] = math.random(6) == 1 and frame.null or makers[name]()
    end
  end
  for i = 1, n do
    list[i] = { n = i }
    for k, name in ipairs(NAMES) do
      local v = columns[k][2][i + before]
      list[i][name] = v ~= frame.null and v or nil
      if v == false then list[i][name] = false end
    end
  end
  return list, frame.from_table(columns, KINDS):slice(before + 1)
end

local function shown(v)
  if v == nil then return "-" end
  return type(v) == "number" and (v ~= v and "nan" or ("%.17g"):format(v + 0)) or tostring(v)
end

local function row_text(row, names)
  local parts = {}
  for i, name in ipairs(names) do parts[i] = shown(row[name]) end
  return table.concat(parts, "\1")
end

-- The frame's rows are those of the list.
local function expect(list, df, names)
  names = names or NAMES
  assert.equal(#list, #df)
  for i, row in df:irows() do
    local want, got = row_text(list[i], names), row_text(row, names)
    if want ~= got then error(("row %d (seed %d): %q, not %q"):format(i, seed, got, want), 2) end
  end
end

-- As the frame orders: NaN behind numbers.
local function is_less(a, b)
  if type(a) == "boolean" then return not a and b end
  if a ~= a then return false end
  if b ~= b then return true end
  return a < b
end

local function is_same(a, b) return a == b or (a ~= a and b ~= b) end

local function sorted(list, keys)
  local copy = {}
  for i, row in ipairs(list) do copy[i] = row end
  table.sort(copy, function(p, q)
    for _, key in ipairs(keys) do
      local a, b = p[key[1]], q[key[1]]
      if (a == nil) ~= (b == nil) then return b == nil end
      if a ~= nil and not is_same(a, b) then
        if key.desc then return is_less(b, a) end
        return is_less(a, b)
      end
    end
    return p.n < q.n
  end)
  return copy
end

local function group_key(row, keys)
  local parts = {}
  for i, key in ipairs(keys) do
    parts[i] = type(row[key]) .. ":" .. shown(row[key] == 0 and 0 or row[key])
  end
  return table.concat(parts, "\0")
end

local function groups_of(list, keys)
  local order, by_key = {}, {}
  for _, row in ipairs(list) do
    local key = group_key(row, keys)
    if not by_key[key] then
      by_key[key] = {}
      order[#order + 1] = by_key[key]
    end
    table.insert(by_key[key], row)
  end
  return order
end

local function values(rows, name)
  local list = {}
  for _, row in ipairs(rows) do
    if row[name] ~= nil then list[#list + 1] = row[name] end
  end
  return list
end

local function best(list, is_better)
  local found
  for _, v in ipairs(list) do
    if v == v and (found == nil or is_better(v, found)) then found = v end
  end
  return found
end

local plain = {
  count = function(list) return #list end,
  sum = function(list)
    local sum = 0
    for _, v in ipairs(list) do sum = sum + (v == true and 1 or v or 0) end
    return sum
  end,
  min = function(list) return best(list, is_less) end,
  max = function(list) return best(list, function(a, b) return is_less(b, a) end) end,
  first = function(list) return list[1] end,
  last = function(list) return list[#list] end,
  count_distinct = function(list)
    local seen, n = {}, 0
    for _, v in ipairs(list) do
      local key = shown(v == 0 and 0 or v)
      n, seen[key] = n + (seen[key] and 0 or 1), true
    end
    return n
  end,
}
function plain.mean(list) return #list > 0 and plain.sum(list) / #list or nil end
function plain.var(list)
  local mean, sum = plain.mean(list), 0
  for _, v in ipairs(list) do sum = sum + (v - mean) ^ 2 end
  return #list > 1 and sum / (#list - 1) or nil
end
function plain.std(list) local var = plain.var(list) return var and math.sqrt(var) end
function plain.median(list)
  local copy = { unpack(list) }
  table.sort(copy, is_less)
  local n = #copy
  if n == 0 then return nil end
  return n % 2 == 1 and copy[(n + 1) / 2] or (copy[n / 2] + copy[n / 2 + 1]) / 2
end

local function near(a, b)
  if a == nil or b == nil or type(a) ~= "number" then return a == b end
  return is_same(a, b) or math.abs(a - b) <= 1e-9 * math.max(1, math.abs(a))
end

local function matches(p, q, on)
  for _, key in ipairs(on) do
    if p[key] == nil or q[key] == nil or not is_same(p[key], q[key]) then return false end
  end
  return true
end

-- Rows {left, right}, either nil.
local function joined(left, right, on, how)
  local list, found = {}, {}
  for _, p in ipairs(left) do
    local any = false
    for j, q in ipairs(right) do
      if matches(p, q, on) then
        any, found[j] = true, true
        list[#list + 1] = { p, q }
      end
    end
    if not any and how ~= "inner" then list[#list + 1] = { p } end
  end
  for j, q in ipairs(right) do
    if how == "outer" and not found[j] then list[#list + 1] = { nil, q } end
  end
  return list
end

describe("tidemill.frame, compared with plain Lua,", function()
  setup(function() math.randomseed(seed) end)

  local function each(n, fn)
    for _ = 1, n do fn(random_rows(math.random(4) == 1 and math.random(0, 3) or math.random(200))) end
  end

  it("sorts", function()
    each(60, function(list, df)
      local keys = {}
      for i = 1, math.random(3) do keys[i] = { NAMES[math.random(#NAMES)], desc = math.random(2) == 1 } end
      expect(sorted(list, keys), df:sort(keys))
    end)
  end)

  it("filters", function()
    local holds = {
      ["=="] = function(a, b) return a == b end, ["~="] = function(a, b) return a ~= b end,
      ["<"] = function(a, b) return a < b end, ["<="] = function(a, b) return a <= b end,
      [">"] = function(a, b) return a > b end, [">="] = function(a, b) return a >= b end,
    }
    each(60, function(list, df)
      for op, hold in pairs(holds) do
        local name = ({ "k", "x", "s", "t" })[math.random(4)]
        local v = makers[name]()
        local want = {}
        for _, row in ipairs(list) do
          if row[name] ~= nil and hold(row[name], v) then want[#want + 1] = row end
        end
        expect(want, df:filter(name, op, v))
        expect(want, df:filter(function(row) return row[name] ~= nil and hold(row[name], v) end))
      end
    end)
  end)

  it("groups", function()
    each(40, function(list, df)
      local keys = math.random(2) == 1 and { "k", "b" } or { NAMES[math.random(#NAMES)] }
      local of = ({ "k", "x", "t" })[math.random(3)]
      local specs = { rows = "count" }
      for what in pairs(plain) do
        if not (of == "t" and what == "sum") then specs["of_" .. what] = { what, of } end
      end
      specs.first_s, specs.max_s, specs.max_b = { "first", "s" }, { "max", "s" }, { "max", "b" }
      specs.own = { function(c) return c:count() end, of }
      local groups, got = groups_of(list, keys), df:group_by(keys):agg(specs)
      assert.equal(#groups, #got)
      for i, rows in ipairs(groups) do
        assert.equal(#rows, got.c.rows[i])
        for name, spec in pairs(specs) do
          if type(spec) == "table" and type(spec[1]) == "string" then
            local want, is = plain[spec[1]](values(rows, spec[2])), got.c[name][i]
            if not near(want, is) then
              error(("%s, group %d (seed %d): %s, not %s"):format(name, i, seed, shown(is), shown(want)))
            end
          end
        end
        assert.equal(#values(rows, of), got.c.own[i])
      end
    end)
  end)

  it("finds distinct rows", function()
    each(40, function(list, df)
      local keys, want = { NAMES[math.random(#NAMES)], "b" }, {}
      for i, rows in ipairs(groups_of(list, keys)) do want[i] = rows[1] end
      expect(want, df:unique(keys))
      local counts, n = df:value_counts "s", 0
      assert.equal(#groups_of(list, { "s" }), #counts)
      for i = 1, #counts do
        n = n + counts.c.count[i]
        assert.is_true(i == 1 or counts.c.count[i] <= counts.c.count[i - 1])
      end
      assert.equal(#list, n)
    end)
  end)

  it("joins", function()
    each(40, function(left, a)
      local right, b = random_rows(math.random(0, 40))
      local on = math.random(2) == 1 and { "k", "b" } or { NAMES[math.random(#NAMES)] }
      local is_key = {}
      for _, key in ipairs(on) do is_key[key] = true end
      for _, how in ipairs { "inner", "left", "outer" } do
        local want, names = {}, { unpack(NAMES) }
        for i, pair in ipairs(joined(left, right, on, how)) do
          local row = {}
          for _, name in ipairs(NAMES) do
            if pair[1] then row[name] = pair[1][name] elseif is_key[name] then row[name] = pair[2][name] end
            if not is_key[name] and pair[2] then row[name .. "_right"] = pair[2][name] end
          end
          want[i] = row
        end
        for _, name in ipairs(NAMES) do
          if not is_key[name] then names[#names + 1] = name .. "_right" end
        end
        local got = a:join(b, { on = on, how = how })
        assert.same(names, got.columns)
        expect(want, got, names)
      end
      local semi, anti = {}, {}
      for _, p in ipairs(left) do
        local any = false
        for _, q in ipairs(right) do any = any or matches(p, q, on) end
        table.insert(any and semi or anti, p)
      end
      expect(semi, a:join(b, { on = on, how = "semi" }))
      expect(anti, a:join(b, { on = on, how = "anti" }))
      local left_join = b:join(a, { on = on, how = "left" })
      local right_join = a:join(b, { on = on, how = "right" })
      assert.equal(#left_join, #right_join)
      for _, key in ipairs(on) do
        for i = 1, #left_join do assert.equal(shown(left_join.c[key][i]), shown(right_join.c[key][i])) end
      end
    end)
  end)

  it("takes, slices, concatenates and copies", function()
    each(60, function(list, df)
      local n = #list
      local i, j = math.random(-n - 2, n + 2), math.random(-n - 2, n + 2)
      local want, all = {}, {}
      for k, row in ipairs(list) do want[k] = row end
      local function part(from, to)
        local rows = {}
        for k = from, to do rows[#rows + 1] = want[k] end
        return rows
      end
      local first = i < 0 and math.max(n + 1 + i, 1) or math.max(i, 1)
      local last = j < 0 and n + 1 + j or math.min(j, n)
      expect(part(first, last), df:slice(i, j))
      expect(part(1, math.min(7, n)), df:head(7))
      expect(part(math.max(n - 6, 1), n), df:tail(7))
      expect(list, df:copy())
      for _, rows in ipairs { list, part(first, last), list } do
        for _, row in ipairs(rows) do all[#all + 1] = row end
      end
      local other = df:select { "t", "s", "b", "x", "k" } -- in another order
      expect(all, frame.concat(df, other:slice(i, j), other))
      expect(list, frame.from_rows(list, { "n", unpack(NAMES) }))
    end)
  end)

  it("fills, casts and computes", function()
    each(40, function(list, df)
      local filled, want = df:fill_null { k = 7, s = "none", b = true }, {}
      for i, row in ipairs(list) do
        want[i] = { k = row.k or 7, x = row.x, s = row.s or "none", b = row.b == nil or row.b, t = row.t }
      end
      expect(want, filled)
      local there = df:cast({ k = "string", x = "string", b = "string", t = "string" })
      expect(list, there:cast { k = "long", x = "double", b = "bool", t = "datetime" })
      local twice = df:with_column("y", function(row) return row.k and row.k * 2 end, "long")
      local mapped = df:map(function(row) return row.k and { k = row.k, y = row.k * 2 } or nil end)
      local rows = {}
      for _, row in ipairs(list) do
        if row.k then rows[#rows + 1] = { k = row.k, y = row.k * 2 } end
      end
      expect(rows, mapped, { "k", "y" })
      expect(rows, twice:filter("k", "~=", nil), { "k", "y" })
    end)
  end)
end)
