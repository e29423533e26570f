-- The prompt's Lua: values as text, completion, doc comments.
local show = require "tidemill.repl.show"
local complete = require "tidemill.repl.complete"
local doc = require "tidemill.repl.doc"
local repl = require "tidemill.repl"
local ffi = require "ffi"
local frame = require "tidemill.frame"
local folder = require "support.folder"
local tensor = require "tidemill.tensor"

local function shown(v, width) return show(v, { width = width or 80 }) end

describe("values at the prompt", function()
  it("are on one line if they fit", function()
    for _, case in ipairs {
      { 1, "1" }, { -0.5, "-0.5" }, { 0.1, "0.1" }, { 2 ^ 53 - 1, "9007199254740991" }, { 1 / 0, "inf" },
      { 0 / 0, "nan" }, { true, "true" }, { "x", '"x"' }, { {}, "{}" }, { { {} }, "{ {} }" },
      { { 1, "a", x = 2 }, '{ 1, "a", x = 2 }' }, { { ["end"] = 1, ["a b"] = 2 }, '{ ["a b"] = 2, ["end"] = 1 }' },
      { { [-1] = 0, [2.5] = 1 }, "{ [-1] = 0, [2.5] = 1 }" },
    } do
      assert.equal(case[2], shown(case[1]))
    end
    assert.equal("nil", shown(nil))
  end)

  it("move no cursor: control bytes and bytes that are not UTF-8 are escaped", function()
    assert.equal([["\x1b[2J\n\t\"\\"]], shown '\27[2J\n\t"\\')
    assert.equal([["é€\xff\xc2\x9b\xe2\x82"]], shown "é€\255\194\155\226\130")
    assert.equal([["\x80a\xbf"]], shown "\128a\191")
  end)

  it("have one field a line if they are wide, and end with the number of omitted ones", function()
    assert.equal('{\n  a = "xxxxxxxxxxxxxxx",\n  b = "yyyyyyyyyyyyyyy",\n}',
      shown({ a = ("x"):rep(15), b = ("y"):rep(15) }, 30))
    local many = {}
    for i = 1, 5000 do many[i] = i end
    local text = shown(many)
    assert.matches("%.%.%. 4800 more\n}$", text)
    for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 80) end
    assert.matches("%d+ bytes in all$", shown(("x"):rep(100000)))
  end)

  it("are shortened if they contain themselves, or are deep", function()
    local t = {}
    t.t = t
    assert.equal("{ t = <the same table again> }", shown(t))
    local deep = {}
    local inner = deep
    for _ = 1, 100 do inner.x = {}; inner = inner.x end
    inner.x = 1
    assert.matches("{%.%.%.}", shown(deep))
  end)

  it("of C types are shown: integers in digits, structs with fields, arrays with elements", function()
    ffi.cdef "struct repl_spec { int x; struct { double y; char c[3]; } in_; const char *p; };"
    assert.equal("42LL", shown(42LL))
    local s = ffi.new "struct repl_spec"
    s.x, s.in_.y = 7, 0.5
    assert.equal("struct repl_spec { x = 7, "
      .. "in_ = { y = 0.5, c = char[3] { 0, 0, 0 } }, p = cdata<const char *>: NULL }",
      shown(s))
    assert.matches("^int %[20%] { 0, .*%.%.%. 4 more }$", shown(ffi.new "int[20]"))
    assert.matches("^cdata<int %*>", shown(ffi.cast("int *", 8)))
  end)

  it("are shown by __tostring, even if that fails", function()
    local kind = { __tostring = function(self) return self.words end }
    assert.equal("a\nb\\x1b", shown(setmetatable({ words = "a\nb\27" }, kind)))
    assert.matches("__tostring fails: .*no words",
      shown(setmetatable({}, { __tostring = function() error "no words" end })))
    assert.matches("^data frame of 1 rows", shown(frame.from_table { a = { 1 } }))
    assert.matches("^function%(a, b, %.%.%.%) <.*repl_spec.lua:%d+>$", shown(function(a, b, ...) return a, b, ... end))
  end)

  it("of constructors are shown with their fields", function()
    local text = shown(require("tidemill").PipelineParameter { name = "workers", default_value = 2 }, 200)
    assert.matches('^PipelineParameter \'workers\' %(.*repl_spec.lua:%d+%) '
      .. '{ default_value = 2, name = "workers" }$', text)
  end)
end)

describe("a piece of input", function()
  it("is complete, continued on the next line, or wrong", function()
    assert.equal(3, repl.compile("1 + 2", "=x")())
    assert.equal(3, repl.compile("= 1 + 2", "=x")())
    assert.is_nil(repl.compile("-- a comment", "=x")())
    for _, text in ipairs { "for i = 1, 2 do", "f(", "x = {", "'a' ..", "[[", "--[[", "function f()", "{" } do
      local piece, more = repl.compile(text, "=x")
      assert.is_nil(piece)
      assert.equal("more", more, text)
    end
    for _, text in ipairs { "x = = 1", "end", "a b", "1 1" } do
      local piece, message = repl.compile(text, "=x")
      assert.is_nil(piece)
      assert.matches("^x:1: ", message)
    end
    for _, text in ipairs { "tidemill run p.lua", " tidemill status", "status latest", "run p.lua",
                            "logs latest --errors" } do
      local _, message = repl.compile(text, "=x")
      assert.matches("; this is a command of the shell: Ctrl%-D leaves the prompt$", message)
    end
    local _, message = repl.compile("runs latest", "=x")
    assert.is_nil(message:find("of the shell", 1, true))
    assert.is_nil((repl.compile("\27LJ", "=x"))) -- compiled already
  end)

  it("that defines a local variable is noted once, for the variable ends with it", function()
    local said, say = {}, repl.say
    repl.say, repl.has_noted_local = function(words) said[#said + 1] = words end, nil
    for _, text in ipairs { "local function f() end", "for i = 1, 2 do\nlocal z = 1\nend", "x = 1", "local z =",
                            "local z = = 1", "local z = 1 + 2", "local y = 1" } do
      repl.compile(text, "=x")
    end
    repl.say, repl.has_noted_local = say, nil
    assert.same({ "'local z' ends with this line; to keep it, write: z = 1 + 2" }, said)
  end)

  it("returns its first value, and shows all", function()
    assert.equal('1\nnil\n"x"', repl.shown(80, false, 1, nil, "x"))
    assert.equal(1, rawget(_G, "_"))
    assert.equal("", repl.shown(80, false))
    rawset(_G, "_", nil)
  end)
end)

describe("completion", function()
  setup(function()
    rawset(_G, "spec", { one = 1, one_more = 2, f = function() end, deep = { { inner = true } }, ["no name"] = 1 })
    rawset(_G, "spec_frame", frame.from_table { price = { 1 }, ["odd name"] = { 2 } })
    rawset(_G, "spec_tensor", tensor.new("int8", { 2 }))
  end)
  teardown(function()
    rawset(_G, "spec", nil)
    rawset(_G, "spec_frame", nil)
    rawset(_G, "spec_tensor", nil)
  end)

  it("inserts the common prefix, and lists the candidates", function()
    for text, expected in pairs {
      ["spec.on"] = { "e", "" }, ["spec.one"] = { "", "one       one_more" }, ["spec.one_"] = { "more", "" },
      ["x = spec.deep[1].i"] = { "nner", "" }, ["spec['deep'][1].i"] = { "nner", "" }, ["spec:"] = { "f", "" },
      ["spec.nothing"] = { "", "" }, ["spec.no"] = { "", "" }, ["("] = nil, ["(spec.f"] = { "", "" },
      ["'spec.on"] = { "", "" }, ["-- 'x\nspec.on"] = { "e", "" }, ["f().o"] = { "", "" },
      ["spec_tensor:soft"] = { "max", "" }, ["spec_tensor.sha"] = { "pe", "" },
      ["spec_frame.c.p"] = { "rice", "" },
      ["spec_frame:filter('od"] = { "d name'", "" }, ["spec_frame:sort('price', \"od"] = { 'd name"', "" },
      ["spec_frame.col"] = { "umn", "columns" }, ["retur"] = { "n", "" },
    } do
      local insert, list = complete(text, 80)
      if text ~= "spec_frame.col" then
        assert.same(expected, { insert, list }, text)
      end
    end
  end)

  it("closes the quote of the only file, but not of a folder", function()
    local dir = folder.new()
    dir:write("deep/a.lua", "")
    dir:write("score.lua", "")
    assert.equal('ore.lua"', (complete('dofile "' .. dir:at "sc", 80)))
    assert.equal("eep/", (complete("dofile '" .. dir:at "d", 80)))
    dir:remove()
  end)

  it("names the parameters of constructors", function()
    assert.equal("y = ", (complete("tidemill.ParallelRunConfig { run_max_tr", 80)))
    assert.equal("y = ", (complete("C.ParallelRunConfig({ a = { 1 }, run_max_tr", 80)))
    assert.equal("", (complete("Unknown { run_max_tr", 80)))
    assert.equal("der = ", (complete("tidemill.Dataset.Tabular.from_delimited_files('x', { hea", 80)))
  end)
end)

describe("doc comments", function()
  local text = [==[
--- What the class is.
---@class tidemill.Thing
---@field a integer the first
--- and more of it
local Thing = {}

--- Does it. And more.
---@param x string what
---@return integer
function Thing:act(x)
end

--- A function.
function Thing.other(thing, y, ...)
end

-- Not a doc comment.
function Thing.hidden()
end
]==]
  it("become entries", function()
    local entries = doc.read(text, "=x")
    assert.equal(3, #entries)
    assert.equal("the first and more of it", entries[1].tags[2].text:match "^integer (.*)$")
    assert.equal("Thing:act(x)", doc.signature(entries[2]))
    assert.equal("Does it.", doc.summary(entries[2]))
    assert.equal(10, entries[2].line)
    assert.equal("Thing:other(y, ...)", doc.signature(entries[3]))
  end)
end)
