-- onnx.inspect(): the example in its comment, and what it refuses.
local onnx = require "tidemill.onnx.inspect"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local root = here .. "/../../"
local models = root .. "tests/fuzz/corpus/onnx_file/"

describe("onnx.inspect", function()
  it("does what its documentation says", function()
    local example = {}
    for line in io.lines(root .. "stdlib/tidemill/onnx/inspect.lua") do
      example[#example + 1] = line:match "^%-%-%-     (.*)$"
    end
    assert.is_true(#example > 3)
    local run = assert(loadstring(table.concat(example, "\n")))
    setfenv(run, setmetatable({ onnx = onnx, model = models .. "labels.onnx" }, { __index = _G }))()
  end)

  it("returns all that the file says", function()
    local info = assert(onnx.inspect(models .. "labels.onnx"))
    assert.same({ { name = "scores", type = "float32", shape = { "n", 2 } } }, info.inputs)
    assert.same({
      { name = "labels", type = "string", shape = { "n" } },
      { name = "probabilities", type = "sequence<map<string,float32>>" },
    }, info.outputs)
    assert.same({ ["ai.onnx"] = 13, ["ai.onnx.ml"] = 1 }, info.opsets)
    assert.same({ ArgMax = 1, Gather = 1, ["ai.onnx.ml.ZipMap"] = 1 }, info.operators)
    assert.same({ 3, 6, "tidemill", 8 }, { info.nodes, info.weights, info.producer, info.ir_version })
    assert.same({ purpose = "a test", author = "tidemill" }, onnx.inspect(models .. "scale.onnx").metadata)
    assert.same({ { file = "elsewhere.bin", tensors = 2, bytes = 32 } },
      onnx.inspect(models .. "elsewhere.onnx").data_files)
  end)

  it("returns nil, a message and a code for what is not a model", function()
    local info, message, code = onnx.inspect(here .. "/README.md")
    assert.is_nil(info)
    assert.truthy(message:find("cannot read '" .. here .. "/README.md': the file is not an ONNX model: ", 1, true))
    assert.equal("EINPUT", code)
    assert.equal("ENOENT", select(3, onnx.inspect(here .. "/none.onnx")))
    assert.truthy(select(2, onnx.inspect(here)):find("it is a folder; name the .onnx file", 1, true))
  end)

  it("raises at the caller's line if there is no path", function()
    local ok, message = pcall(function() onnx.inspect(7) end)
    assert.is_false(ok)
    assert.truthy(message:find("onnx_inspect_spec.lua:%d+: onnx.inspect: a number was given; accepted: "), message)
  end)
end)
