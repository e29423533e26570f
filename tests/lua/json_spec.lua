-- tidemill.json: values as text and back.
local json = require "tidemill.json"
local refused = require("support.folder").refused

describe("json.encode", function()
  it("writes one line with sorted keys", function()
    assert.equal('{"a":[1,"x",true],"b":{"c":null}}', json.encode { b = { c = json.null }, a = { 1, "x", true } })
    assert.equal("[]", json.encode {})
    assert.equal("{}", json.encode(json.object {}))
    assert.equal("{}", json.encode(json.object()))
    assert.equal('"\\"\\n\\u0001é"', json.encode '"\n\1é')
    assert.equal("null", json.encode(json.null))
    assert.equal("null", json.encode(nil))
  end)

  it("writes numbers so that they read back the same", function()
    for text, number in pairs {
      ["0.1"] = 0.1, ["9007199254740992"] = 2 ^ 53, ["-3"] = -3, ["9223372036854775807"] = 0x7fffffffffffffffLL,
      ["18446744073709551615"] = 0xffffffffffffffffULL,
    } do
      assert.equal(text, json.encode(number))
    end
    assert.equal(1 / 3, json.decode(json.encode(1 / 3)))
    assert.equal("[null,null]", json.encode { 0 / 0, math.huge })
  end)

  it("writes one member a line with indent", function()
    assert.equal('{\n  "a": [\n    1,\n    2\n  ],\n  "b": {}\n}',
      json.encode({ a = { 1, 2 }, b = json.object {} }, { indent = 2 }))
    assert.equal("[1]", json.encode({ 1 }, { indent = 0 }))
  end)

  it("reports values that cannot be written, with their places", function()
    local cycle = {}
    cycle.again = { cycle }
    for _, case in ipairs {
      { { a = { b = { 1, 2, print } } }, "'a.b[3]' is a function" },
      { print, "'value' is a function" },
      { { x = "\255" }, "'x' is a string that is not UTF-8" },
      { { [1] = 1, [3] = 3 }, "is a table with holes" },
      { { 1, x = 2 }, "or with keys of several kinds" },
      { cycle, "holds itself" },
      { { io.stdout }, "'[1]' is a userdata" },
      { json.object { 1 }, "is marked by json.object" },
    } do
      local text, message, code = json.encode(case[1])
      assert.is_nil(text)
      assert.equal("cannot write JSON: ", message:sub(1, 19))
      assert.is_truthy(message:find(case[2], 1, true), message)
      assert.is_string(code)
    end
  end)

  it("refuses options that do not exist", function()
    assert.equal("json.encode: unknown option 'indnt'; accepted: indent",
      refused(function() json.encode({}, { indnt = 2 }) end))
    assert.equal("json.encode: 'indent' is 17; accepted: an integer from 0 to 16",
      refused(function() json.encode({}, { indent = 17 }) end))
    assert.is_truthy(refused(function() json.encode({}, 2) end):find "options are a table")
  end)
end)

describe("json.decode", function()
  it("reads back what encode wrote", function()
    local text = '{"a":[1,2.5,"x"],"b":{},"c":[],"d":null,"e":false}'
    assert.equal(text, json.encode(json.decode(text)))
    assert.equal(json.null, json.decode "null")
    assert.equal(2, json.decode('{"a":1,"a":2}').a)
  end)

  it("keeps integers that a number cannot hold", function()
    assert.equal("number", type(json.decode "9007199254740992"))
    local large = json.decode "[9007199254740993,-9223372036854775808]"
    assert.is_true(large[1] == 9007199254740993LL)
    assert.equal("[9007199254740993,-9223372036854775808]", json.encode(large))
  end)

  it("reports the place of invalid JSON", function()
    local deep = ("["):rep(101) .. ("]"):rep(101)
    for _, text in ipairs { "", "{", "[1,]", "tru", "1 2", '{"a" 1}', '["\255"]', deep } do
      local value, message, code = json.decode(text)
      assert.is_nil(value, text)
      assert.is_truthy(message:find "^cannot read JSON: ", message)
      assert.is_string(code)
    end
    local _, message = json.decode '{\n "a": tru }'
    assert.is_truthy(message:find "line 2, column %d+", message)
  end)

  it("raises if its argument is not text, and object() if it is not a plain table", function()
    assert.equal("json.decode: a number was given; accepted: a string", refused(function() json.decode(1) end))
    assert.is_truthy(refused(function() json.object(1) end):find "a number was given; accepted: a table")
    assert.is_truthy(refused(function() json.object(setmetatable({}, {})) end):find "a metatable of its own")
    local fields = { a = 1 }
    assert.equal(fields, json.object(json.object(fields)))
  end)
end)
