-- tidemill.frame: values, nulls, printing, files, and the messages of refusals.
local ffi = require "ffi"
local folder = require "support.folder"
local frame = require "tidemill.frame"
local fs = require "tidemill.fs"
local refused = folder.refused

local function small()
  return frame.from_table({
    { "id", { 1, 2, 3, 4 } }, { "price", { 1.5, frame.null, -2, 0 } }, { "name", { "b", "a", "", frame.null } },
    { "on", { true, false, nil, true } }, { "at", { 0, 1.5, -0.25, nil } },
  }, { at = "datetime" })
end

-- Rows as text, null as "-".
local function text_of(df)
  local lines = {}
  for i = 1, #df do
    local row = {}
    for k, name in ipairs(df.columns) do
      local v = df.c[name][i]
      row[k] = v == nil and "-" or tostring(v)
    end
    lines[i] = table.concat(row, " ")
  end
  return table.concat(lines, "; ")
end

describe("a data frame", function()
  it("has rows, columns and types", function()
    local df = small()
    assert.equal(4, #df)
    assert.same({ "id", "price", "name", "on", "at" }, df.columns)
    assert.same({ id = "long", price = "double", name = "string", on = "bool", at = "datetime" }, df.types)
    assert.equal("userdata", type(df))
    assert.equal("1 1.5 b true 0; 2 - a false 1.5; 3 -2  - -0.25; 4 0 - true -", text_of(df))
    df.columns[1] = "changed"
    assert.equal("id", df.columns[1])
  end)

  it("may have a huge number of columns", function()
    local columns = {}
    for i = 1, 20000 do columns[i] = { "c" .. i, { i } } end
    local df = frame.from_table(columns)
    assert.equal(20000, #df.columns)
    assert.equal("c20000", df.columns[20000])
    assert.equal(20000, df.c.c20000[1])
  end)

  it("may be empty", function()
    local none, empty = frame.from_table {}, frame.from_table { a = {} }
    assert.equal(0, #none)
    assert.same({}, none.columns)
    assert.equal(0, #empty)
    assert.equal("string", empty.types.a)
    for _ in empty:rows() do error "a row" end
    assert.equal(0, #empty:sort("a"):filter("a", "==", "x"):head(3):unique())
    assert.equal(0, #empty:group_by("a"):agg { n = "count" })
    assert.equal(0, #empty:join(empty, { on = "a" }))
    assert.equal("a\n", empty:to_csv())
    assert.is_truthy(tostring(empty):find "0 rows, 1 columns")
    assert.is_truthy(tostring(none):find "0 rows, 0 columns")
    assert.equal(0, #frame.from_rows {})
    assert.same({ "a", "b" }, frame.from_rows({}, { "a", "b" }).columns)
  end)

  it("reads columns like arrays", function()
    local c = small().c
    assert.equal(1, c.id[1])
    assert.is_nil(c.id[0])
    assert.is_nil(c.id[5])
    assert.is_nil(c.id[1.5])
    assert.equal(4, #c.id)
    assert.equal("long", c.id.type)
    assert.is_true(c.price:is_null(2))
    assert.is_false(c.price:is_null(1))
    assert.is_nil(c.name[4])
    assert.equal("", c.name[3])
    assert.is_truthy(tostring(c.price):find "4 x double: 1.5, null, %-2.0, 0.0")
  end)

  it("distinguishes null from NaN and from nil", function()
    local df = frame.from_table { x = { 0 / 0, frame.null, 1 }, s = { "", frame.null, "x" } }
    assert.is_true(df.c.x[1] ~= df.c.x[1])
    assert.is_false(df.c.x:is_null(1))
    assert.is_true(df.c.x:is_null(2))
    assert.equal(2, df.c.x:count())
    assert.is_false(df.c.s:is_null(1))
    assert.equal('s,x\n"",nan\n,\nx,1.0\n', df:to_csv())
  end)

  it("keeps 64-bit integers", function()
    local df = frame.from_table { id = { 9007199254740993LL, 2 ^ 53, -9223372036854775807LL - 1, 7LL } }
    assert.equal("cdata", type(df.c.id[1]))
    assert.is_true(df.c.id[1] == 9007199254740993LL)
    assert.equal(2 ^ 53, df.c.id[2])
    assert.equal("-9223372036854775808", df.c.id:as_string(3))
    assert.equal("number", type(df.c.id[4]))
    assert.equal("9007199254740993", df.c.id:as_string()[1])
    assert.equal(1, #df:filter("id", "==", 9007199254740993LL))
    assert.equal("7", text_of(df:filter("id", "<", 8):filter("id", ">", 0)))
    assert.is_true(frame.from_table({ a = { 9223372036854775806LL, 1LL } }).c.a:sum() == 9223372036854775807LL)
    assert.equal(2 ^ 63, frame.from_table({ a = { 9223372036854775807LL, 1LL } }).c.a:sum())
  end)

  it("gives loops direct access to its memory", function()
    local df = small()
    local id, at, on = df.c.id:data(), df.c.at:data(), df.c.on:data()
    assert.is_true(id[0] == 1LL and id[3] == 4LL)
    assert.is_true(at[1] == 1500000LL and at[2] == -250000LL)
    assert.is_true(on[0] == true and on[1] == false)
    local offsets, bytes = df.c.name:data()
    assert.equal("b", ffi.string(bytes + offsets[0], offsets[1] - offsets[0]))
    assert.is_nil(df.c.id:validity())
    assert.equal(13, bit.band(df.c.price:validity()[0], 15))
  end)

  it("has one cursor for its rows", function()
    local df, seen = small(), {}
    local first
    for i, row in df:irows() do
      first = first or row
      assert.equal(first, row)
      seen[i] = row:copy()
    end
    assert.same({ id = 2, name = "a", on = false, at = 1.5 }, seen[2])
    assert.same(seen, df:to_table())
    assert.is_truthy(tostring(first))
    for i, row in df:irows() do
      assert.equal(df.c.id[i], row[df.columns[1]])
    end
  end)

  it("reads ten million numbers row by row in less than 1 MB", function()
    local n = 10000000
    local big = frame.from_table({ { "a", { 1 } }, { "b", { 2.5 } } })
    local parts = {}
    for _ = 1, 10 do big = frame.concat { big, big } end
    for i = 1, math.ceil(n / #big) do parts[i] = big end
    big = frame.concat(parts):head(n)
    parts = nil -- luacheck: ignore
    local function sum_of(rows)
      local sum = 0
      for row in rows:rows() do sum = sum + row.a * row.b end
      return sum
    end
    sum_of(big:head(100000)) -- what the compiler allocates is not the cursor's
    collectgarbage()
    collectgarbage()
    collectgarbage "stop"
    local before, sum = collectgarbage "count", sum_of(big)
    local used = collectgarbage "count" - before
    collectgarbage "restart"
    assert.equal(2.5 * n, sum)
    assert.is_true(used < 1024, used .. " KB")
  end)

  it("releases memory that it no longer needs", function()
    local base = frame.from_table { a = { 1, 2, 3, 4, 5, 6, 7, 8 } }
    for _ = 1, 13 do base = frame.concat { base, base } end -- 0.5 MB a column
    local highest = 0
    for _ = 1, 100 do
      local sorted = base:sort { "a", desc = true }
      assert.equal(8, sorted.c.a[1])
      highest = math.max(highest, collectgarbage "count")
    end
    assert.is_true(highest < 50 * 1024, highest .. " KB")
  end)

  it("is printed with names and types, shortened if it is large", function()
    assert.equal([[
data frame of 3 rows, 3 columns
name     price    id
string  double  long
b          1.5     1
é         null    20
null      -2.0     3]], tostring(frame.from_table {
      { "name", { "b", "é", frame.null } }, { "price", { 1.5, frame.null, -2 } }, { "id", { 1, 20, 3 } },
    }))
    local lines = {}
    local many = frame.from_table { n = (function() local t = {} for i = 1, 100 do t[i] = i end return t end)() }
    for line in tostring(many):gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal(1 + 2 + 10 + 1 + 5, #lines)
    assert.equal("... 85 more", lines[14])
    assert.equal(" 100", lines[19])
    local wide = {}
    for i = 1, 40 do wide[i] = { "column" .. i, { ("x"):rep(60) } } end
    local text = tostring(frame.from_table(wide))
    assert.is_truthy(text:find("x...", 1, true))
    assert.is_truthy(text:find "and %d+ more columns: .*column40")
    for line in text:gmatch "([^\n]*)\nand" do assert.is_true(#line <= 100) end
  end)

  it("with a column named like a method has both", function()
    local df = frame.from_table { filter = { 1, 2 }, kind = { "a", "b" } }
    assert.equal(1, #df:filter("kind", "==", "b"))
    assert.equal(2, df:filter("filter", ">", 1).c.filter[1])
    for row in df:filter("kind", "==", "b"):rows() do
      assert.equal(2, row.filter)
    end
  end)
end)

describe("a data frame's files", function()
  local dir
  before_each(function() dir = folder.new() end)
  after_each(function() dir:remove() end)

  it("are read back unchanged", function()
    local df = frame.from_table({
      { "text", { "a,b", "", frame.null, 'say "x"', "two\nlines", " blank " } }, { "n", { 1, 2, nil, 4, 5, 6 } },
      { "x", { 0.1, 1 / 3, nil, 1e300, -0.5, 2.5 } }, { "on", { true, nil, false, true, true, false } },
      { "at", { 0, 1.5, nil, 1e9, -1, 951782400.123456 } },
    }, { at = "datetime" })
    for _, separator in ipairs { ",", "\t", ";", " " } do
      assert(df:write_csv(dir:at "x.csv", { separator = separator }))
      local back = assert(frame.read_csv(dir:at "x.csv", { separator = separator }))
      assert.same(df.types, back.types)
      assert.equal(text_of(df), text_of(back))
    end
    assert(df:write_csv(dir:at "x.csv", { header = false }))
    assert.same({ "Column1", "Column2", "Column3", "Column4", "Column5" },
      frame.read_csv(dir:at "x.csv", { header = false }).columns)
  end)

  it("are JSON lines, too", function()
    local df = frame.from_table { a = { 1, frame.null }, b = { "x\n", "é" }, c = { 9007199254740993LL, 1LL } }
    assert(df:write_json_lines(dir:at "x.jsonl"))
    assert.equal('{"a":1,"b":"x\\n","c":9007199254740993}\n{"a":null,"b":"é","c":1}\n', dir:read "x.jsonl")
    assert.equal(text_of(df), text_of(frame.read_json_lines(dir:at "x.jsonl")))
    dir:write("bad.jsonl", '{"a":1}\n\n[1]\n')
    local none, message = frame.read_json_lines(dir:at "bad.jsonl")
    assert.is_nil(none)
    assert.is_truthy(message:find("line 3: '[1]' is not a JSON object; invalid_lines = \"drop\"", 1, true), message)
  end)

  it("keep the text of dates and doubles", function()
    local text = "born,at,price\n2026-01-28,2026-01-28T00:00:00Z,175.0\n,2026-01-28T12:30:00Z,1.5\n"
    dir:write("x.csv", text)
    local df = assert(frame.read_csv(dir:at "x.csv"))
    assert.same({ born = "datetime", at = "datetime", price = "double" }, df.types)
    assert.equal(text, df:to_csv())
    assert.equal("2026-01-28", df.c.born:as_string(1))
    assert.is_truthy(tostring(df):find "2026%-01%-28  2026%-01%-28T00:00:00Z")
    assert(df:write_json_lines(dir:at "y.jsonl"))
    assert.equal('{"born":"2026-01-28","at":"2026-01-28T00:00:00Z","price":175.0}', dir:read("y.jsonl"):match "^[^\n]*")
    assert.equal(text, assert(frame.read_json_lines(dir:at "y.jsonl")):to_csv())
  end)

  it("keep dates as dates through operations", function()
    dir:write("x.csv", "k,born,at\n1,2026-01-28,2026-01-28T01:00:00Z\n2,,2026-01-28\n1,2024-02-29,\n")
    local df = assert(frame.read_csv(dir:at "x.csv"))
    local function born_of(made) return made:select("born"):to_csv { header = false } end
    assert.equal('2026-01-28\n""\n2024-02-29\n', born_of(df:copy()))
    assert.equal('""\n2024-02-29\n', born_of(df:tail(2)))
    assert.equal('2024-02-29\n2026-01-28\n""\n', born_of(df:sort "born"))
    assert.equal('2024-02-29\n""\n', born_of(df:group_by "k":agg { born = { "min", "born" } }))
    assert.equal("2026-01-28\n1970-01-02\n2024-02-29\n", born_of(df:fill_null { born = 86400 }))
    assert.equal("2026-01-28\n1970-01-01T12:00:00Z\n2024-02-29\n", born_of(df:fill_null { born = 43200 }))
    assert.equal(6, select(2, born_of(frame.concat(df, df)):gsub("\n", "")))
    assert.is_nil(born_of(frame.concat(df, df)):find "T")
    assert.is_nil(born_of(df:join(df, { on = "born" })):find "T")
    local cast = df:cast({ born = "string" }):cast { born = "datetime" }
    assert.equal('2026-01-28\n""\n2024-02-29\n', born_of(cast))
    assert.is_truthy(df:select("at"):to_csv():find "2026%-01%-28T00:00:00Z")
    dir:write("x.csv", "a,b\n2026-01-28,2026-01-28\n")
    df = assert(frame.read_csv(dir:at "x.csv", { infer_column_types = false, set_column_types = { a = "datetime" } }))
    assert.same({ a = "datetime", b = "string" }, df.types)
    assert.equal("a,b\n2026-01-28,2026-01-28\n", df:to_csv())
  end)

  it("of JSON lines have types that fit all values", function()
    dir:write("x.jsonl", '\239\187\191{"n":1,"at":"2024-01-31","mixed":1,"list":[1, 2]}\r\n'
      .. '{"n":2.5,"at":"2024-01-31T12:00:00Z","mixed":"x","later":true,"list":null}')
    local df = assert(frame.read_json_lines(dir:at "x.jsonl"))
    assert.same({ "n", "at", "mixed", "list", "later" }, df.columns)
    assert.same({ n = "double", at = "datetime", mixed = "string", list = "string", later = "bool" }, df.types)
    assert.same({ "1", "[1, 2]" }, { df.c.mixed[1], df.c.list[1] })
    assert(df:write_json_lines(dir:at "y.jsonl"))
    assert.equal('{"n":1.0,"at":"2024-01-31T00:00:00Z","mixed":"1","list":"[1, 2]","later":null}',
      dir:read("y.jsonl"):match "^[^\n]*")
    assert.equal(text_of(df), text_of(frame.read_json_lines(dir:at "y.jsonl")))
    dir:write("x.jsonl", "")
    assert.equal(0, #frame.read_json_lines(dir:at "x.jsonl"))
    dir:write("x.jsonl", "\31\139\8\0")
    assert.is_truthy(select(2, frame.read_json_lines(dir:at "x.jsonl")):find("from_json_lines_files", 1, true))
  end)

  it("are refused if the file claims too many rows", function()
    local function too_much(read, options, words)
      local df, message = read(dir:at "x", options)
      assert.is_nil(df)
      assert.is_truthy(message:find(words, 1, true), message)
    end
    dir:write("x", "a,b,c\n1,2,3\n1,2,333333\n")
    too_much(frame.read_csv, { max_columns = 2 }, "line 1 (byte 4): column 3 is beyond the limit; accepted: up to 2 ")
    too_much(frame.read_csv, { max_record_size = 7 }, "line 3: a record of more than 7 bytes; max_record_size raises")
    too_much(frame.read_csv, { max_columns = 0 }, "'max_columns' is 0; accepted: an integer from 1 to 16777216")
    assert.equal(2, #frame.read_csv(dir:at "x", { max_columns = 3, max_record_size = 10 }))
    dir:write("x", '{"a":1}\n{"a":1,"b":2}\n')
    too_much(frame.read_json_lines, { max_columns = 1 }, "line 2 (byte 8): column 2 is beyond the limit")
    too_much(frame.read_json_lines, { max_record_size = 10 }, "line 2 (byte 8): a line of more than 10 bytes")
    assert.equal(2, #frame.read_json_lines(dir:at "x", { max_columns = 2 }))
  end)

  it("with bytes that are not text cannot be JSON lines", function()
    local df = frame.from_table { { "a", { "x", "\255" } } }
    local ok, message = df:write_json_lines(dir:at "x.jsonl")
    assert.is_nil(ok)
    assert.equal("row 2, column 'a': the string has bytes that are not UTF-8", message)
  end)

  it("with one column keep their null rows", function()
    local lists = { long = { 1, frame.null, 3 }, string = { frame.null, "x" }, datetime = { 0, frame.null } }
    for kind, values in pairs(lists) do
      local df = frame.from_table({ a = values }, { a = kind })
      assert(df:write_csv(dir:at "x.csv"))
      assert.equal(#values, #frame.read_csv(dir:at "x.csv", { set_column_types = { a = kind } }), kind)
    end
    assert.equal('a\n1\n""\n', frame.from_table({ a = { 1, frame.null } }):to_csv())
  end)

  it("report errors with a reason", function()
    local none, message, code = frame.read_csv(dir:at "missing")
    assert.is_nil(none)
    assert.is_truthy(message:find("missing", 1, true))
    assert.equal("ENOENT", code)
    dir:write("x.csv", "a,b\n1,2\nx,3\n")
    none, message = frame.read_csv(dir:at "x.csv", { set_column_types = { a = "long" } })
    assert.is_nil(none)
    assert.is_truthy(message:find "line 3" and message:find "'a'", message)
    assert.is_nil(frame.read_csv(dir:at "x.csv", { set_column_types = { a = "long" }, invalid = "null" }).c.a[2])
    dir:write("x.csv", "\255\254a\0\n\0001\0\n\0")
    none, message = frame.read_csv(dir:at "x.csv")
    assert.is_nil(none)
    assert.is_truthy(message:find('set encoding = "utf16"', 1, true), message)
    dir:write("x.csv", "\31\139\8\0\0\0\0\0\0\0")
    none, message = frame.read_csv(dir:at "x.csv")
    assert.is_nil(none)
    assert.is_truthy(message:find("it is packed", 1, true), message)
    none, message = small():write_csv(dir:at "no/folder.csv")
    assert.is_nil(none)
    assert.is_string(message)
    assert.is_false(fs.exists(dir:at "no"))
  end)
end)

describe("an invalid operation on a data frame", function()
  local df = small()
  local function first_row()
    local step, row = df:rows()
    return step(nil, row)
  end
  local cases = {
    { function() return (df.c.pric) end, "no column 'pric'; columns: at, id, name, on, price; did you mean 'price'?" },
    { function() return (df:column "nam") end, "column: no column 'nam'; columns: id, price, name, on, at" },
    { function() return (df:select("id", "nme")) end, "select: no column 'nme'" },
    { function() return (df:select("id", "id")) end, "select: column 'id' is named twice" },
    { function() return (df.price) end, "its column is df.c.price" },
    { function()
      local odd = frame.from_table { ["petal.width"] = { 1 } }
      return (odd["petal.width"])
    end, 'its column is df.c["petal.width"]' },
    { function() return (df:with_column("filter", 1)["filter"][1]) end,
      "'filter' is a method of data frames; the column is df.c.filter" },
    { function() return (#df:with_column("head", 1).head) end, "'head' is a method of data frames" },
    { function() return (df:with_column("head", 1).head:mean()) end, "'head' is a method of data frames" },
    { function() return (df[["id", "name"]]) end, 'df:select { "a", "b" } has the columns a and b' },
    { function() for _ in df do error "a step" end end, "to walk through it, write for row in df:rows() do" },
    { function() return (df:drop { columns = { "id" } }) end,
      "drop: the list has the key 'columns'; accepted: a list without keys, drop { x, y }, or drop(x, y)" },
    { function() return (df:select { names = { "id" } }) end, "select: the list has the key 'names'" },
    { function() return (df:unique { subset = { "id" } }) end, "unique: the list has the key 'subset'" },
    { function() return (df:group_by { by = "id" }) end, "group_by: the list has the key 'by'" },
    { function() return (frame.concat { objs = { df } }) end, "concat: the list has the key 'objs'" },
    { function() return (df:rename { columns = { id = "key" } }) end, 'accepted: strings, rename { old = "new" }' },
    { function() return df[1] end, "a data frame has no '1'; its rows: for row in df:rows() do" },
    { function() return (df:filtr()) end, "a data frame has no 'filtr'; did you mean 'filter'?" },
    { function() df.x = 1 end, "a data frame does not change" },
    { function() df.c.x = 1 end, "a data frame does not change" },
    { function() df.c.id[1] = 2 end, "a column does not change" },
    { function() for row in df:rows() do row.id = 1 end end, "a row does not change" },
    { function() for row in df:rows() do row[3] = 1000 end end, "a row does not change (column '3')" },
    { function() return (first_row()[2]) end, "no field 2: columns go by name, row.NAME or" },
    { function() return (first_row()[0]) end, "a row has no field 0: columns go by name" },
    { function() return (first_row()[-1]) end, "a row has no field -1: columns go by name" },
    { function() return (first_row()[1e300]) end, "a row has no field 1e+300: columns go by name" },
    { function() return (first_row()[0.5]) end, "a row has no field 0.5: columns go by name" },
    { function() return (first_row().pric) end, "did you mean 'price'?" },
    { function() return #first_row() end, "a row has no length; #df.columns is" },
    { function() return (pairs(first_row())) end, "table expected, got userdata" },
    { function() local _, row = df:rows() return (row.id) end, "a row is read after the first step of the loop" },
    { function() return (df:filter(function(row) return row[1] end)) end, "a row has no field 1: columns go by name" },
    { function() return (df:map(function(row) return row end)) end, "a userdata for row 1; accepted: a table" },
    { function() return (df:map(function(row) return { x = row.pric } end)) end, "no column 'pric'" },
    { function() return (df.filter("id", "==", 1)) end, "filter: a string was given; accepted: a data frame" },
    { function() return (df:filter("id", "=", 1)) end, "filter: '=' compares nothing; accepted: ==" },
    { function() return (df:filter("id", "==", "1")) end, 'of type long and cannot be compared with the string "1"' },
    { function() return (df:filter("on", ">", 1)) end, "of type bool" },
    { function() return (df:rename { id = "name" }) end, "there would be two columns 'name'" },
    { function() return (df:sort()) end, "sort: no column is named" },
    { function() return (df:sort { "id", desc = 1 }) end, "option 'desc' is a number" },
    { function() return (df:head(-1)) end, "head: -1 is not a number of rows" },
    { function() return (df:with_column("x", { 1, 2, 3, 4, 5 })) end, "5 values for column 'x' of a frame with" },
    { function() return (df:with_column("x", nil)) end, "column 'x' is null in all rows; give its type" },
    { function() return (df:with_column("x", { 1, "a" })) end, "column 'x', row 2: the string \"a\" in a column of" },
    { function() return (df:with_column("x", function(r) return r.id / 2 end, "long")) end, "column 'x', row 1: 0.5" },
    { function() return (df:with_column("x", 1, "int")) end, "'int' is not a type; accepted: bool, long, double" },
    { function() return (df:with_column("x", df:head(2).c.id)) end, "column 'x' has 2 rows; the frame has 4" },
    { function() return (df:cast { name = "long" }) end, "column 'name', row 1: the string \"b\" is not a valid long" },
    { function() return (df:cast { price = "bool" }) end, "column 'price', row 1: 1.5 is not a valid bool" },
    { function() return (df:cast { on = "datetime" }) end, "of type bool, which cannot become datetime" },
    { function() return (df:fill_null { id = "x" }) end, "fill_null: column 'id', row 1" },
    { function() return (df:map(function() return 1 end)) end, "map: the function returned 1 for row 1" },
    { function() return (df:group_by "id":agg { id = "count" }) end, "'id' is a key of the groups" },
    { function() return (df:group_by "id":agg { x = { "summ", "price" } }) end, "did you mean 'sum'?" },
    { function() return (df:group_by "id":agg { x = { "sum", "name" } }) end, "'name' is of type string and has no" },
    { function() return (df:group_by("id"):mean()) end, 'group_by() has no \'mean\'; write df:group_by(column):agg {' },
    { function() return (df:group_by("id").nothing) end, "group_by() has no 'nothing'; it has: agg" },
    { function() return (df:value_counts()) end, "value_counts: a nil was given; accepted: the name of a column: id," },
    { function() return (df.c.id:tolist()) end, "a column has no 'tolist'; write column:to_table()" },
    { function() return (df.c.id.nothing_near) end, "a column has no 'nothing_near'; it has: as_string, count, " },
    { function() return (df.nothing_near) end, "a data frame has no 'nothing_near'; it has: cast, column, " },
    { function() return (df:info()) end, "a data frame has no 'info'; write df:describe()" },
    { function() return (df:join(df, { on = "id", how = "outr" })) end, "'how' is 'outr'; accepted: inner, left" },
    { function() return (df:join(df, {})) end, "join: 'on' is a nil" },
    { function() return (df:join(df:cast { id = "double" }, { on = "id" })) end, "of type long" },
    { function() return (frame.concat(df, df:drop "id")) end, "frame 2 has the columns price, name, on, at" },
    { function() return (frame.concat(df, df:cast { id = "string" })) end, "column 'id' is of type string in frame 2" },
    { function() return (frame.from_table { a = 1 }) end, "the values of column 'a' are 1; accepted: a list" },
    { function() return (frame.from_table { a = { x = 1 } }) end, "column 'a' have the key 'x'" },
    { function() return (frame.from_table { { "a", { 1 } }, { "a", { 2 } } }) end, "two columns 'a'" },
    { function() return (frame.from_table { a = { 1, {} } }) end, "column 'a', row 2: a table" },
    { function() return (frame.from_table({ a = { 1 } }, { b = "long" })) end, "no column 'b'" },
    { function() return (frame.from_rows { 1 }) end, "row 1 is 1; accepted: a table" },
    { function() return (frame.from_rows({ { c = 1 } }, { "a" })) end, "row 1 has 'c'; columns: a" },
    { function() return (df.c.name:sum()) end, "a column of type string has none" },
    { function() return (df.c.id:is_null(5)) end, "no row 5; the column has 4" },
    { function() return (df.c.id:summ()) end, "did you mean 'sum'?" },
    { function() return (df:to_csv { separator = "ab" }) end, "one character" },
    { function() return (df:to_csv "x.csv") end, "df:write_csv(path) writes a file" },
    { function() return (df:to_csv { seperator = ";" }) end, "unknown option 'seperator'; accepted: header" },
    { function() return (frame.read_csv(1)) end, "read_csv: a number was given; accepted: a path" },
  }
  for _, case in ipairs(cases) do
    it("is refused with a reason: " .. case[2], function()
      local words = refused(case[1])
      assert.is_truthy(words:find(case[2], 1, true), words)
    end)
  end
end)
