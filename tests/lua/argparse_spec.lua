-- tidemill.argparse: the arguments of a script.
local argparse = require "tidemill.argparse"

local function refused(f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  local line, words = tostring(message):match "argparse_spec%.lua:(%d+): argparse: (.*)$"
  assert.is_truthy(line, "no line of the caller in: " .. tostring(message))
  return words
end

local function parser_of(...)
  local parser = argparse.ArgumentParser { prog = "score.lua" }
  for _, argument in ipairs { ... } do
    parser:add_argument(unpack(argument))
  end
  return parser
end

local function parse(parser, ...)
  local found = parser:parse_args { ... }
  return found
end

describe("tidemill.argparse", function()
  it("reads options in each of their forms", function()
    local parser = parser_of({ "--threshold", "-t", { type = "number" } })
    for _, words in ipairs { { "--threshold", "0.5" }, { "--threshold=0.5" }, { "-t", "0.5" }, { "-t0.5" } } do
      assert.same({ threshold = 0.5 }, parser:parse_args(words))
    end
    assert.same({ threshold = -1 }, parse(parser, "--threshold", "-1"))
    assert.same({ threshold = 2 }, parse(parser, "--threshold", "1", "-t", "2"))
    assert.same({ threshold = 2 }, parse(parser, "--threshold", 2))
  end)

  it("has defaults, and types", function()
    local parser = parser_of({ "--n", { type = "integer", default = 3 } }, { "--on", { type = "boolean" } },
      { "--out-dir", {} }, { "--quiet", { action = "store_true" } }, { "--color", { action = "store_false" } })
    assert.same({ n = 3, quiet = false, color = true }, parse(parser))
    assert.same({ n = 4, on = false, out_dir = "", quiet = true, color = false },
      parse(parser, "--n=4", "--on", "false", "--out-dir=", "--quiet", "--color"))
  end)

  it("accepts Python's names of types, and names and options in one table", function()
    local parser = argparse.ArgumentParser {}
    parser:add_argument { "--count", "-c", type = "int", default = 3 }
    parser:add_argument("--rate", { type = "float" })
    parser:add_argument { "model", type = "str" }
    assert.same({ count = 4, rate = 0.5, model = "m" }, parse(parser, "m", "-c", "4", "--rate", "0.5"))
    assert.equal("argument --count/-c is 'x'; accepted: an integer", refused(parse, parser, "m", "-c", "x"))
    assert.equal("add_argument: a name is missing; accepted: \"--name\", \"-n\", \"name\"",
      refused(parser.add_argument, parser, { type = "int" }))
  end)

  it("knows only exact names", function()
    local parser = parser_of({ "--threshold", {} })
    assert.equal("unknown argument '--thresh'; did you mean '--threshold'?", refused(parse, parser, "--thresh", "1"))
    local found, rest = parser:parse_known_args { "--thresh", "1", "--threshold", "2", "x", "--threshold-max=3", "-q" }
    assert.same({ threshold = "2" }, found)
    assert.same({ "--thresh", "1", "x", "--threshold-max=3", "-q" }, rest)
  end)

  it("accepts positional arguments between options", function()
    local parser = parser_of({ "model" }, { "files", { nargs = "+" } }, { "last", {} }, { "-v", { action = "count" } })
    assert.same({ model = "m", files = { "a", "b" }, last = "c", v = 3 },
      parse(parser, "m", "-v", "a", "b", "-vv", "c"))
    assert.equal("argument 'last' is missing", refused(parse, parser, "m", "a"))
    local optional = parser_of({ "first", { nargs = "?", default = "x" } }, { "more", { nargs = "*" } })
    assert.same({ first = "x" }, parse(optional))
    assert.same({ first = "a", more = { "b" } }, parse(optional, "a", "b"))
    local _, rest = parser_of({ "one" }):parse_known_args { "a", "b", "--c" }
    assert.same({ "b", "--c" }, rest)
  end)

  it("accepts several values, and words after -- unchanged", function()
    local parser = parser_of({ "--size", { nargs = 2, type = "integer" } }, { "--tag", { action = "append" } },
      { "--names", { nargs = "*" } }, { "rest", { nargs = "*" } })
    assert.same({ size = { 3, 4 }, tag = { "a", "b" }, names = {} },
      parse(parser, "--tag", "a", "--size", "3", "4", "--tag=b", "--names"))
    assert.same({ names = { "x" }, rest = { "--size", "1" } }, parse(parser, "--names", "x", "--", "--size", "1"))
    assert.equal("argument --size: 1 of 2 values are missing", refused(parse, parser, "--size", "3"))
  end)

  it("refuses a value, and lists the accepted ones", function()
    local parser = parser_of({ "--n", { type = "integer" } }, { "--x", { type = "number" } },
      { "--mode", "-m", { choices = { "fast", "slow" } } }, { "--quiet", { action = "store_true" } },
      { "--even", { type = function(text)
        local n = tonumber(text)
        return n and n % 2 == 0 and n or nil, "an even number"
      end } })
    assert.equal("argument --n is '1.5'; accepted: an integer", refused(parse, parser, "--n", "1.5"))
    assert.equal("argument --x is 'one'; accepted: a number", refused(parse, parser, "--x=one"))
    assert.equal("argument --mode/-m is 'quick'; accepted: 'fast', 'slow'", refused(parse, parser, "-mquick"))
    assert.equal("argument --quiet takes no value; 'yes' was given", refused(parse, parser, "--quiet=yes"))
    assert.equal("argument --n: its value is missing", refused(parse, parser, "--n"))
    assert.equal("argument --n: its value is missing", refused(parse, parser, "--n", "--quiet"))
    assert.equal("argument --even is '3'; accepted: an even number", refused(parse, parser, "--even", "3"))
    assert.equal("argument --must is missing", refused(parse, parser_of({ "--must", { required = true } })))
    assert.equal("a number was given; accepted: a list of arguments",
      refused(parser.parse_args, parser, 3))
  end)

  it("names the colon after a call with a dot, and the methods after another name", function()
    local parser = argparse.ArgumentParser()
    assert.equal("add_argument was called with a dot; accepted: a colon, parser:add_argument(...)",
      refused(parser.add_argument, "--n", { type = "int" }))
    assert.equal("parse_args was called with a dot; accepted: a colon, parser:parse_args(...)",
      refused(parser.parse_args))
    local ok, said = pcall(function() return parser:add_subparsers() end)
    assert.is_false(ok)
    assert.is_truthy(said:find("the parser has no 'add_subparsers'; it has: add_argument, format_help,", 1, true), said)
  end)

  it("refuses a meaningless definition", function()
    for words, argument in pairs {
      ["add_argument: '--two words' is not a name; accepted: \"--name\", \"-n\", \"name\""] = { "--two words" },
      ["add_argument: a name is missing; accepted: \"--name\", \"-n\", \"name\""] = { {} },
      ["add_argument: 'b' is a positional argument, which has one name"] = { "--a", "b" },
      ["add_argument '--a': unknown key 'typ'; known: action, choices, default, dest, help, metavar, nargs, "
        .. "required, type"] = { "--a", { typ = "number" } },
      ["add_argument '--a': 'action' is 'help'; accepted: store, store_true, store_false, append or count"] =
        { "--a", { action = "help" } },
      ["add_argument '--a': 'type' is 'double'; accepted: string, number, integer, boolean, or a function"] =
        { "--a", { type = "double" } },
      ["add_argument '--a': 'nargs' is '0'; accepted: an integer from 1 on, \"?\", \"*\" or \"+\""] =
        { "--a", { nargs = 0 } },
    } do
      assert.equal(words, refused(parser_of, argument))
    end
    assert.equal("add_argument: '-a' is there already", refused(parser_of, { "-a" }, { "--all", "-a" }))
  end)

  it("has values that raise for a name that no argument has", function()
    local parser = parser_of({ "file" }, { "--labels-dir" })
    local args = parser:parse_args { "x" }
    assert.is_nil(args.labels_dir)
    assert.same({ file = "x" }, args)
    local ok, message = pcall(function() return args.label_dir end)
    assert.is_false(ok)
    assert.is_truthy(message:find("parse_args() has no 'label_dir'; did you mean 'labels_dir'?", 1, true), message)
    ok, message = pcall(function() return args.model end)
    assert.is_false(ok)
    assert.is_truthy(message:find("parse_args() has no 'model'; it has: file, labels_dir", 1, true), message)
    assert.is_nil(parser_of():parse_args({}).anything)
  end)

  it("prints help", function()
    local parser = parser_of({ "model", { help = "a file" } }, { "--size", "-s", { nargs = 2, default = 5 } },
      { "--quiet", { action = "store_true", help = "says less" } })
    assert.equal([[
usage: score.lua [--size SIZE SIZE] [--quiet] model

arguments:
  model                    a file

options:
  --size, -s SIZE SIZE      (5)
  --quiet                  says less
]], parser:format_help())
  end)
end)
