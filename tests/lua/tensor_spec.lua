-- tidemill.tensor: values of each type, shared memory, frames, and the messages of refusals.
local ffi = require "ffi"
local folder = require "support.folder"
local frame = require "tidemill.frame"
local tensor = require "tidemill.tensor"

-- Checks that a call raises with these words, at a line of the script.
local function refused(words, f, ...)
  local arguments, n = { ... }, select("#", ...)
  local message = folder.refused(function()
    f(unpack(arguments, 1, n))
  end)
  assert(message:find(words, 1, true), message)
  return message
end

local function small()
  return tensor.from_table("float32", { { 1, 2, 3 }, { 4, 5, 6 } })
end

describe("a tensor", function()
  it("has a type, a shape and elements", function()
    local t = small()
    assert.equal("float32", t.type)
    assert.same({ 2, 3 }, t.shape)
    assert.equal(2, #t)
    assert.equal("userdata", type(t))
    assert.equal(6, t:at(2, 3))
    assert.equal(6, t[2][3])
    assert.is_nil(t[0])
    assert.is_nil(t[3])
    assert.is_nil(t[1.5])
    assert.is_nil(t[1][4])
    t.shape[1] = 9
    assert.same({ 2, 3 }, t.shape)
  end)

  it("may have up to 16 axes, none, or no element", function()
    local shape, places = {}, {}
    for i = 1, 16 do shape[i], places[i] = i == 7 and 3 or 1, i == 7 and 2 or 1 end
    local deep = tensor.new("int16", shape)
    deep:set(5, unpack(places))
    assert.equal(5, deep:at(unpack(places)))
    assert.equal(5, deep:reshape({ -1 })[2])
    local one = tensor.from_table("float64", 2.5)
    assert.same({}, one.shape)
    assert.equal(2.5, one:at())
    assert.equal(2.5, one:to_table())
    one:set(7)
    assert.equal("tensor float64 []: 7", tostring(one))
    local none = tensor.new("float32", { 0, 3 })
    assert.equal(0, #none)
    assert.same({}, none:to_table())
    assert.same({ {}, {} }, tensor.new("bool", { 2, 0 }):to_table())
    assert.same({ 0 }, tensor.from_table("int8", {}).shape)
    assert.same({ 0, 5 }, none:reshape({ 0, 5 }).shape)
  end)

  it("begins with zeros, at an address that 64 divides", function()
    for _, name in ipairs { "float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                            "int64", "uint64", "bool", "string" } do
      local t = tensor.new(name, { 3 })
      local zero = name == "bool" and false or name == "string" and "" or 0
      if name == "bool" then zero = false end
      assert.same({ zero, zero, zero }, t:to_table())
      assert.equal(0, tonumber(ffi.cast("uintptr_t", t:data()) % 64))
    end
  end)

  it("holds the values of its type", function()
    for name, values in pairs {
      float32 = { 0.5, -0.0, 2 ^ 100, 1 / 0 }, float64 = { 0.1, 1e308 }, float16 = { 0.5, -65504, 2 ^ -24 },
      int8 = { -128, 127 }, uint8 = { 0, 255 }, int16 = { -32768, 32767 }, uint16 = { 0, 65535 },
      int32 = { -2 ^ 31, 2 ^ 31 - 1 }, uint32 = { 0, 2 ^ 32 - 1 }, int64 = { -2 ^ 53, 2 ^ 53 }, uint64 = { 0, 2 ^ 53 },
      bool = { true, false }, string = { "", "a\0b", ("x"):rep(1e5) },
    } do
      assert.same(values, tensor.from_table(name, values):to_table(), name)
      local t = tensor.new(name, { #values })
      for i, v in ipairs(values) do t:set(v, i) end
      for i, v in ipairs(values) do assert.equal(v, t[i]) end
    end
  end)

  it("has integers beyond 2^53 as 64-bit integers", function()
    local t = tensor.from_table("int64", { 9007199254740993LL, -9223372036854775807LL - 1, 2 ^ 53, 5ULL })
    assert.equal(9007199254740993LL, t[1])
    assert.equal(-9223372036854775807LL - 1, t[2])
    assert.equal("number", type(t[3]))
    assert.equal("tensor int64 [4]: [9007199254740993, -9223372036854775808, 9007199254740992, 5]", tostring(t))
    local u = tensor.from_table("uint64", { 18446744073709551615ULL, 2 ^ 63, 7LL })
    assert.equal(18446744073709551615ULL, u[1])
    assert.equal(9223372036854775808ULL, u[2])
    assert.equal(7, u[3])
    assert.equal(5, tensor.from_table("int8", { 5LL })[1])
    assert.equal(2 ^ 60, tensor.from_table("float32", { 2LL ^ 60 })[1])
  end)

  it("is short as text", function()
    assert.equal("tensor float32 [2, 3]: [[1, 2, 3], [4, 5, 6]]", tostring(small()))
    assert.equal("tensor float32 [1000, 1000]: [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...], ...]",
      tostring(tensor.new("float32", { 1000, 1000 })))
    assert.equal('tensor string [3]: ["a\\nb", "", "' .. ("x"):rep(40) .. '..."]',
      tostring(tensor.from_table("string", { "a\nb", "", ("x"):rep(50) })))
    assert.equal("tensor float32 [2]: [0.1, nan]", (tostring(tensor.from_table("float32", { 0.1, 0 / 0 }))
      :gsub("-nan", "nan")))
    assert.equal("tensor bool [1, 2]: [[true, false]]", tostring(tensor.from_table("bool", { { true, false } })))
  end)

  it("refuses what does not fit, with the place", function()
    local t = small()
    refused("new: 'float' is not a type of tensors; accepted: float32, float64, float16, int8, uint8, int16, uint16, "
      .. "int32, uint32, int64, uint64, bool, string; did you mean 'float32'?", tensor.new, "float", { 1 })
    refused("new: a table is not a type of tensors", tensor.new, { 1 }, "float32")
    refused("new: the shape is 3; accepted: a list of sizes, { 2, 3 }", tensor.new, "int8", 3)
    refused("new: size 2 of the shape is -1; accepted: an integer, 0 or more", tensor.new, "int8", { 2, -1 })
    refused("new: size 1 of the shape is 1.5", tensor.new, "int8", { 1.5 })
    refused("new: size 2 of the shape is a nil", tensor.new, "int8", { 1, nil, 2 })
    refused("new: the shape has the key 'rows'", tensor.new, "int8", { rows = 2 })
    refused("new: the shape has 17 axes; accepted: at most 16", tensor.new, "int8",
      { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 })
    refused("a tensor of float32 [1000, 3, 1000, 1000] has 2 GB or more; accepted: less than 2 GB", tensor.new,
      "float32", { 1000, 3, 1000, 1000 })
    refused("has 2 GB or more", tensor.new, "uint8", { 2 ^ 31 })
    refused("has 2 GB or more", tensor.new, "float32", { 2 ^ 40, 2 ^ 40 })
    refused("tensor:at: there is no element (1) in the shape [2, 3]; accepted: 2 numbers from 1 to these sizes", t.at,
      t, 1)
    refused("tensor:at: there is no element (3, 1) in", t.at, t, 3, 1)
    refused("tensor:at: there is no element (1, 0) in", t.at, t, 1, 0)
    refused("tensor:at: there is no element (1, 1, 1) in", t.at, t, 1, 1, 1)
    refused('tensor:at: there is no element (1, the string "2") in', t.at, t, 1, "2")
    refused("tensor:set: there is no element () in", t.set, t, 1)
    refused("accepted: no number", t.at, tensor.new("int8", {}), 1)
    refused("tensor:set: the string \"x\" does not fit the type float32; accepted: a number", t.set, t, "x", 1, 1)
    refused("t[1] cannot be assigned; t:set(value, i, j, ...) sets an element", function() t[1] = 5 end)
    refused("a tensor has no 'shap'; did you mean 'shape'?", function() return t.shap end)
    refused("tidemill.tensor has no 'stak'; did you mean 'stack'?", function() return tensor.stak end)
    refused("tensor:at: a table was given; accepted: a tensor (methods are called with ':')", t.at, {}, 1)
    refused("t[1]: a tensor with the shape [] has no axis; its value is t:at()", function()
      return tensor.new("int8", {})[1]
    end)
    refused("#t: a tensor with the shape [] has no axis", function() return #tensor.new("int8", {}) end)
    refused("tensor:bytes: strings have no bytes of one size", function()
      return tensor.new("string", { 1 }):bytes()
    end)
  end)

  it("refuses values that a type does not have", function()
    for _, case in ipairs {
      { "int8", 128, "an integer from -128 to 127" }, { "int8", -129, "an integer" }, { "uint8", -1, "from 0 to 255" },
      { "uint8", 0.5, "an integer" }, { "int16", 2 ^ 20, "an integer" }, { "uint32", 2 ^ 32, "an integer" },
      { "int32", 0 / 0, "an integer" }, { "int64", 2 ^ 63, "an integer of 64 bits" }, { "int64", 1 / 0, "an integer" },
      { "int64", 2 ^ 63 + 0ULL, "an integer of 64 bits" }, { "uint64", -1, "an integer of 64 bits, 0 or more" },
      { "uint64", 2 ^ 64, "an integer" }, { "uint64", -5LL, "an integer" }, { "uint8", 300LL, "an integer" },
      { "bool", 1, "true or false" }, { "string", 1, "a string" }, { "float16", "1", "a number" },
      { "float64", true, "a number" }, { "float32", ffi.new "int[1]", "a number" },
    } do
      local t = tensor.new(case[1], { 1 })
      local words = refused(("does not fit the type %s; accepted: "):format(case[1]), t.set, t, case[2], 1)
      assert.truthy(words:find(case[3], 1, true), words)
      refused("from_table: [1] is", tensor.from_table, case[1], { case[2] })
      assert.same(tensor.new(case[1], { 1 }):to_table(), t:to_table())
    end
  end)
end)

describe("tensor.from_table", function()
  it("takes one shape only", function()
    refused("from_table: [2] has 1 elements, and the lists before it have 2; accepted: one shape", tensor.from_table,
      "int8", { { 1, 2 }, { 3 } })
    refused("from_table: [2][1] has 2 elements, and the lists before it have 1", tensor.from_table, "int8",
      { { { 1 } }, { { 1, 2 } } })
    refused("from_table: [2] is 3, and the elements before it are lists of 2; accepted: one shape",
      tensor.from_table, "int8", { { 1, 2 }, 3 })
    refused("from_table: [1][2] is a list, and the elements before it are none", tensor.from_table, "int8",
      { { 1, { 2 } } })
    refused("from_table: [2] is null; accepted for float32: a number", tensor.from_table, "float32",
      { 1, frame.null })
    refused("the table has the key 'x'; accepted: lists, { 1, 2, 3 }", tensor.from_table, "int8", { 1, x = 2 })
    refused("[1] has the key 'x'", tensor.from_table, "int8", { { x = 2 } })
    refused("has the key '3', and nothing at 2", tensor.from_table, "int8", { [1] = 1, [3] = 2 })
    refused("from_table: the value is a nil; accepted for int8", tensor.from_table, "int8", nil)
    local cycle = {}
    cycle[1] = cycle
    refused("from_table: the lists are nested more than 16 deep", tensor.from_table, "int8", cycle)
  end)

  it("takes a long list", function()
    local list = {}
    for i = 1, 1e5 do list[i] = i end
    local t = tensor.from_table("int32", list)
    assert.equal(1e5, t[1e5])
    assert.equal(1e5, #t:to_table())
  end)
end)

describe("a slice of a tensor", function()
  it("shares its memory, and keeps it alive", function()
    local t = tensor.from_table("int64", { { 1, 2 }, { 3, 4 }, { 5, 6 } })
    local row, rows, flat = t[2], t:slice(2), t:reshape { -1 }
    row:set(30, 1)
    assert.equal(30, t:at(2, 1))
    assert.equal(30, rows:at(1, 1))
    assert.equal(30, flat[3])
    local last = t:slice(2):slice(-1)[1]:reshape { 2, 1 }
    t, row, rows = nil, nil, nil
    assert.is_nil(t or row or rows)
    for _ = 1, 3 do
      collectgarbage()
      tensor.new("int64", { 1000 })
    end
    assert.same({ { 5 }, { 6 } }, last:to_table())
    assert.equal(30, flat[3])
  end)

  it("is chosen as rows of a data frame are", function()
    local t = tensor.from_table("int8", { 1, 2, 3, 4 })
    for _, case in ipairs { { 2, 3 }, { 2 }, { -2 }, { -3, -2 }, { 0, 9 }, { 3, 2 }, { 9 }, { -9, -9 } } do
      local df = frame.from_table { a = { 1, 2, 3, 4 } }
      assert.same({ df:slice(case[1], case[2]).c.a:to_table() }, { t:slice(case[1], case[2]):to_table(),
        #t:slice(case[1], case[2]) })
    end
    refused("tensor:slice: a nil and -1 were given; accepted: numbers on the first axis", t.slice, t)
    refused("tensor:slice: 1.5 and -1 were given", t.slice, t, 1.5)
    refused("tensor:slice: a tensor with the shape [] has no axis", function()
      return tensor.new("int8", {}):slice(1)
    end)
  end)

  it("keeps the strings that were set through it", function()
    local t = tensor.new("string", { 3, 2 })
    for i = 1, 3 do
      for j = 1, 2 do t[i]:reshape({ 2, 1 }):set("string " .. i .. j, j, 1) end
    end
    t[1]:set("again", 1)
    for _ = 1, 3 do collectgarbage() end
    assert.same({ { "again", "string 12" }, { "string 21", "string 22" }, { "string 31", "string 32" } },
      t:to_table())
    local copy = t:copy()
    t:set("other", 1, 1)
    assert.equal("again", copy:at(1, 1))
  end)

  it("may have another shape", function()
    local t = small()
    assert.same({ 3, 2 }, t:reshape({ 3, -1 }).shape)
    assert.same({ { { 1 }, { 2 }, { 3 } }, { { 4 }, { 5 }, { 6 } } }, t:reshape({ -1, 3, 1 }):to_table())
    assert.equal(4, t:slice(2):reshape({ 3 })[1])
    refused("tensor:reshape: the shape [2, 3] has 6 elements, which do not fit into [4, -1]", t.reshape, t, { 4, -1 })
    refused("which do not fit into [5]", t.reshape, t, { 5 })
    refused("which do not fit into [0, -1]", t.reshape, t, { 0, -1 })
    refused("tensor:reshape: sizes 1 and 3 of the shape are -1; accepted: one -1", t.reshape, t, { -1, 2, -1 })
    refused("size 1 of the shape is -2; accepted: an integer, 0 or more, or one -1", t.reshape, t, { -2 })
  end)
end)

describe("several tensors", function()
  it("are joined along the first axis or a new one", function()
    local t = small()
    local joined = tensor.concat { t, t:slice(2), tensor.new("float32", { 0, 3 }) }
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 }, { 4, 5, 6 } }, joined:to_table())
    assert.same({ { { 1, 2, 3 }, { 4, 5, 6 } }, { { 1, 2, 3 }, { 4, 5, 6 } } }, tensor.stack({ t, t }):to_table())
    joined:set(9, 1, 1)
    assert.equal(1, t:at(1, 1))
    assert.same({ 5, 7 }, tensor.stack({ tensor.from_table("int8", 5), tensor.from_table("int8", 7) }):to_table())
    local words = tensor.from_table("string", { "a", "", "bcd" })
    local both = tensor.concat { words, words:slice(3) }
    words:set("changed", 1)
    collectgarbage()
    assert.same({ "a", "", "bcd", "bcd" }, both:to_table())
  end)

  it("must fit together", function()
    local t = small()
    refused("concat: tensor 2 has the shape [3], and tensor 1 has [2, 3]; accepted: the same but for the first size",
      tensor.concat, { t, t[1] })
    refused("stack: tensor 2 has the shape [1, 3], and tensor 1 has [2, 3]; accepted: the same", tensor.stack,
      { t, t:slice(2) })
    refused("concat: tensor 2 has the type int8, and tensor 1 has float32; t:cast(\"float32\") converts it",
      tensor.concat, { t, t:cast "int8" })
    refused("concat: the list is empty", tensor.concat, {})
    refused("concat: a tensor was given; accepted: a list of tensors", tensor.concat, t)
    refused("stack: element 2 is 5; accepted: a tensor", tensor.stack, { t, 5 })
    refused("concat: a tensor with the shape [] has no axis; tensor.stack makes one", tensor.concat,
      { tensor.new("int8", {}) })
  end)
end)

describe("a tensor as numbers", function()
  it("is cast", function()
    local t = tensor.from_table("float32", { { 0.5, 1.5 }, { -2.5, 300 } })
    assert.same({ { 0, 2 }, { -2, 300 } }, t:cast("int16"):to_table())
    assert.same({ { 0, 2 }, { 0, 255 } }, t:cast("uint8"):to_table())
    assert.same({ { true, true }, { true, true } }, t:cast("bool"):to_table())
    assert.same({ 1, 0 }, tensor.from_table("bool", { true, false }):cast("float64"):to_table())
    assert.same({ 0.0999755859375 }, tensor.from_table("float64", { 0.1 }):cast("float16"):to_table())
    local same = t:cast "float32"
    same:set(9, 1, 1)
    assert.equal(0.5, t:at(1, 1))
    t:set(0 / 0, 2, 1)
    refused("tensor:cast: element (2, 1) is NaN, which int8 does not have", t.cast, t, "int8")
    refused("tensor:cast: the value is NaN", function() tensor.from_table("float16", 0 / 0):cast "uint64" end)
    refused("tensor:cast: float32 cannot become string; only numbers and bools are converted", t.cast, t, "string")
    refused("tensor:cast: string cannot become int8", function() tensor.new("string", { 1 }):cast "int8" end)
    refused("tensor:cast: 'long' is not a type of tensors", t.cast, t, "long")
  end)

  it("has its largest elements", function()
    local t = tensor.from_table("float32", { { 1, 7, 7 }, { -1, -2, 0 / 0 } })
    local places, values = t:argmax()
    assert.equal("int64", places.type)
    assert.same({ { 2, 1 }, { 7, -1 } }, { places:to_table(), values:to_table() })
    places, values = t:top(2)
    assert.same({ { 2, 3 }, { 1, 2 } }, places:to_table())
    assert.same({ { 7, 7 }, { -1, -2 } }, values:to_table())
    assert.same({ 2, 0 }, (t:top(0)).shape)
    assert.equal("uint8", select(2, tensor.from_table("uint8", { 3, 9 }):argmax()).type)
    assert.equal(2, tensor.from_table("bool", { false, true }):argmax():at())
    refused("tensor:top: 4 was given; accepted: an integer from 0 to 3, the last size of the shape [2, 3]", t.top, t, 4)
    refused("tensor:top: a nil was given", t.top, t)
    refused("tensor:argmax: the last axis of the shape [2, 0] has no element", function()
      tensor.new("int8", { 2, 0 }):argmax()
    end)
    refused("tensor:argmax: the tensor has strings", function() tensor.new("string", { 2 }):argmax() end)
    refused("tensor:top: a tensor with the shape [] has no axis", function() tensor.new("int8", {}):top(1) end)
  end)

  it("has a softmax", function()
    local t = tensor.from_table("float64", { { 1000, 1000 }, { 0, math.log(3) } }):softmax()
    assert.equal(0.5, t:at(1, 1))
    assert.is_true(math.abs(t:at(2, 2) - 0.75) < 1e-15)
    refused("tensor:softmax: the tensor has the type int32; accepted: float32, float64, float16", function()
      tensor.new("int32", { 2 }):softmax()
    end)
  end)
end)

describe("tensor.over", function()
  it("shares memory of the FFI, and keeps it and its owner alive", function()
    local was_freed = false
    local owner = newproxy(true)
    getmetatable(owner).__gc = function() was_freed = true end
    local t = tensor.over(ffi.new("int32_t[4]", 1, 2, 3, 4), "int32", { 2, 2 }, owner)[2]
    owner = nil
    assert.is_nil(owner)
    for _ = 1, 3 do
      collectgarbage()
      ffi.new("int32_t[4]", 9, 9, 9, 9)
    end
    assert.is_false(was_freed)
    assert.same({ 3, 4 }, t:to_table())
    t = nil
    collectgarbage()
    collectgarbage()
    assert.is_true(was_freed and t == nil)
    local bytes = ffi.new("uint8_t[?]", 8)
    tensor.over(ffi.cast("void *", bytes), "uint8", { 8 }, bytes):set(7, 8)
    assert.equal(7, bytes[7])
  end)

  it("refuses what is not memory", function()
    refused("over: 5 was given; accepted: a pointer or an array of the FFI", tensor.over, 5, "int8", { 1 })
    refused("over: int64_t was given; accepted: a pointer or an array", tensor.over, 5LL, "int8", { 1 })
    refused("over: the array has 8 bytes, and int64 [2] takes 16", tensor.over, ffi.new "int[2]", "int64", { 2 })
    refused("over: the pointer is NULL", tensor.over, ffi.cast("float *", nil), "float32", { 1 })
    refused("over: int8 [1099511627776, 1099511627776] is larger than any memory", tensor.over,
      ffi.cast("int8_t *", 64), "int8", { 2 ^ 40, 2 ^ 40 })
    assert.equal(0, #tensor.over(ffi.cast("float *", nil), "float32", { 0 }))
  end)
end)

describe("a data frame", function()
  local function mixed()
    return frame.from_table({
      { "id", { 1, 2, 3 } }, { "x", { 0.5, 1.5, -2.5 } }, { "gap", { 1, frame.null, 3 } },
      { "on", { true, false, true } }, { "name", { "a", "", "bcd" } }, { "at", { 0, 1, 2 } },
    }, { at = "datetime" })
  end

  it("becomes a tensor of rows and columns", function()
    local df = mixed()
    local t = tensor.from_frame(df, { columns = { "x", "id", "on" } })
    assert.equal("tensor float32 [3, 3]: [[0.5, 1, 1], [1.5, 2, 0], [-2.5, 3, 1]]", tostring(t))
    assert.same({ { 0 }, { 2 }, { -2 } }, tensor.from_frame(df, { columns = { "x" }, type = "int8" }):to_table())
    assert.same({ { "a" }, { "" }, { "bcd" } },
      tensor.from_frame(df, { columns = { "name" }, type = "string" }):to_table())
    assert.same({ { 1, 1 }, { 2, -1 }, { 3, 3 } },
      tensor.from_frame(df, { columns = { "id", "gap" }, null = -1 }):to_table())
    assert.same({ { "x" }, { "none" } }, tensor.from_frame(frame.from_table { s = { "x", frame.null } },
      { type = "string", null = "none" }):to_table())
    local sliced = tensor.from_frame(df:slice(2), { columns = { "gap", "id" }, type = "int32", null = 0 })
    assert.same({ { 0, 2 }, { 3, 3 } }, sliced:to_table())
    assert.same({ 2, 0 }, tensor.from_frame(df:slice(2), { columns = {} }).shape)
  end)

  it("does not hand out what is in the memory of nulls", function()
    local nan = frame.from_table { x = { 1, 2 } }:cast { x = "double" }
    local v = require("tidemill.frame.base").handle(nan.c.x).column
    v.f64[1], v.validity = 0 / 0, ffi.new("uint8_t[1]", 1)
    local bits = v.validity
    assert.same({ { 1 }, { 7 } }, tensor.from_frame(nan, { type = "int8", null = 7 }):to_table())
    assert.equal(1, bits[0])
  end)

  it("shares one column of the type wanted", function()
    local df = mixed()
    for name, kind in pairs { id = "int64", x = "float64", on = "bool" } do
      local t = tensor.from_frame(df, { columns = { name }, type = kind })
      assert.equal(ffi.cast("void *", df.c[name]:data()), ffi.cast("void *", t:data()))
      assert.equal("const", tostring(ffi.typeof(t:data())):match "const")
      refused("tensor:set: this tensor shares the memory of a data frame, which does not change; t:copy() can be set",
        t.set, t, df.c[name][1], 1, 1)
      refused("shares the memory of a data frame", function() t[1]:set(df.c[name][1], 1) end)
      t:copy():set(df.c[name][1], 1, 1)
    end
    local kept = tensor.from_frame(mixed(), { columns = { "x" }, type = "float64" })
    for _ = 1, 3 do collectgarbage() mixed() end
    assert.same({ { 0.5 }, { 1.5 }, { -2.5 } }, kept:to_table())
  end)

  it("refuses nulls, text and NaN where there can be none", function()
    local df = mixed()
    refused("from_frame: column 'gap', row 2: null; accepted: numbers, or an option null = value", tensor.from_frame,
      df, { columns = { "id", "gap" } })
    refused("from_frame: column 'name' is of type string, and the tensor of type float32; accepted: numbers and bools",
      tensor.from_frame, df, { columns = { "name" } })
    refused("from_frame: column 'id' is of type long, and the tensor of type string; df:cast { id = \"string\" } has "
      .. "its text", tensor.from_frame, df, { columns = { "id" }, type = "string" })
    refused("column 'at' is of type datetime, and the tensor of type float32; df:cast { at = \"double\" } has its "
      .. "seconds", tensor.from_frame, df, { columns = { "at" } })
    refused("from_frame: column 'x', row 2: NaN, which int8 does not have", tensor.from_frame,
      frame.from_table { x = { 1, 0 / 0 } }, { type = "int8" })
    refused("from_frame: no column 'idd'", tensor.from_frame, df, { columns = { "idd" } })
    refused("from_frame: unknown option 'column'; accepted: columns, null, type; did you mean 'columns'?",
      tensor.from_frame, df, { column = { "id" } })
    refused("from_frame: option 'null' is 300; accepted for uint8: an integer from 0 to 255", tensor.from_frame, df,
      { columns = { "gap" }, type = "uint8", null = 300 })
    refused("from_frame: option 'null' is null; accepted for float32: a number", tensor.from_frame, df,
      { null = frame.null })
    refused("from_frame: a table was given; accepted: a data frame", tensor.from_frame, { 1 })
  end)

  it("is made of a tensor", function()
    local t = tensor.from_table("int16", { { 1, -2 }, { 3, 4 } })
    local df = t:to_frame { "a", "b" }
    assert.same({ a = "long", b = "long" }, df.types)
    assert.same({ 1, 3 }, df.c.a:to_table())
    assert.same({ -2, 4 }, df.c.b:to_table())
    df = tensor.from_table("string", { { "p", "qq" }, { "", "r" } }):to_frame { "x", "y" }
    assert.same({ "qq", "r" }, df.c.y:to_table())
    assert.equal("", df.c.x[2])
    assert.same({ bool = true }, { bool = tensor.from_table("bool", { { true } }):to_frame({ "b" }).c.b[1] })
    assert.equal(0, #tensor.new("float32", { 0, 1 }):to_frame { "a" })
    refused("tensor:to_frame: 1 names for a tensor with the shape [2, 2]; accepted: 2", t.to_frame, t, { "a" })
    refused("tensor:to_frame: there are two columns 'a'", t.to_frame, t, { "a", "a" })
    refused("tensor:to_frame: name 2 is 5; accepted: a string", t.to_frame, t, { "a", 5 })
    refused("tensor:to_frame: a nil was given; accepted: a list of 2 names", t.to_frame, t)
    refused("tensor:to_frame: the tensor has the shape [2]; accepted: two axes; t:reshape { -1, 1 } has one column",
      function() t[1]:to_frame { "a" } end)
    refused("tensor:to_frame: column 'b', row 2: 9223372036854775808 is beyond the range of long; t:cast \"float64\" "
      .. "converts it", function()
      tensor.from_table("uint64", { { 1, 2 }, { 3, 2 ^ 63 } }):to_frame { "a", "b" }
    end)
  end)

  it("gets a tensor as a column", function()
    local df = frame.from_table { a = { 1, 2, 3 } }
    local more = df:with_column("b", tensor.from_table("float16", { 0.5, 1, 2 }))
      :with_column("s", tensor.from_table("string", { "x", "", "zz" }))
      :with_column("i", tensor.from_table("uint8", { 7, 8, 9 }), "string")
    assert.same({ 0.5, 1, 2 }, more.c.b:to_table())
    assert.same({ "x", "", "zz" }, more.c.s:to_table())
    assert.same({ "7", "8", "9" }, more.c.i:to_table())
    local t = tensor.from_table("int64", { 4, 5, 6 })
    local own = df:with_column("c", t)
    t:set(40, 1)
    assert.equal(4, own.c.c[1])
    refused("with_column: column 'c' has 2 rows; the frame has 3", df.with_column, df, "c",
      tensor.new("int8", { 2 }))
    refused("with_column: the tensor for column 'c' has the shape [3, 1]; accepted: one axis; t:reshape { -1 } has it",
      df.with_column, df, "c", tensor.new("int8", { 3, 1 }))
    refused("the shape [3, 2]; accepted: one axis; t:to_frame(names) makes several columns", df.with_column, df, "c",
      tensor.new("int8", { 3, 2 }))
  end)
end)

describe("a loop over a tensor", function()
  -- How many loops in the file of f() were compiled while it ran.
  local function compiled_loops(f)
    local util, loops, starts = require "jit.util", 0, {}
    local function on_trace(what, trace, fn)
      if what == "start" then
        starts[trace] = fn
      elseif what == "stop" and util.traceinfo(trace).linktype == "loop"
        and util.funcinfo(starts[trace]).source == util.funcinfo(f).source then
        loops = loops + 1
      end
    end
    jit.flush()
    jit.attach(on_trace, "trace")
    f()
    jit.attach(on_trace)
    return loops
  end

  -- LuaJIT gives up on a loop at random, and tries it again later. It never compiles some loops.
  local function most_compiled_loops(f)
    local most = 0
    for _ = 1, 10 do
      most = math.max(most, compiled_loops(f))
      if most == 2 then break end
    end
    return most
  end

  it("is compiled for every type", function()
    if not jit.status() then return end
    for _, name in ipairs { "float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                            "int64", "uint64", "bool" } do
      local t, wide, v = tensor.new(name, { 500 }), tensor.new(name, { 500, 2 }), 1
      if name == "bool" then v = true end
      local count
      assert.equal(2, most_compiled_loops(function()
        count = 0
        for i = 1, 500 do wide:set(v, i, 2) end
        for i = 1, 500 do if wide:at(i, 2) == v and t[i] ~= v then count = count + 1 end end
      end), name)
      assert.equal(500, count)
    end
  end)
end)
