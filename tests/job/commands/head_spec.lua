-- `tidemill head` of models: what it prints, and files that are not models. Tables are in
-- inputs/tables_spec.lua.
local fs = require "tidemill.fs"
local job = require "support.job"

local models = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" .. "/../../fuzz/corpus/onnx_file/"

local function put(t, name, text)
  assert(fs.write(t.dir .. "/" .. name, text))
end

local function model(name) return assert(fs.read(models .. name .. ".onnx")) end

local function refused(t, status, message, ...)
  local r = t:run { "head", ... }
  t:expect(r, status)
  assert.equal("", r.out)
  assert.truthy(r.err:find(message, 1, true), r.err)
end

describe("head of a model", function()
  local t
  before_each(function() t = job.case() end)

  it("prints inputs, outputs, opsets, sizes and the producer", function()
    put(t, "m.onnx", model "scale")
    local r = t:run { "head", "m.onnx" }
    t:expect(r, 0)
    assert.equal("", r.err)
    assert.equal([[
inputs:   x float32 [n, 3]
outputs:  y float32 [n, 3]
opsets:   ai.onnx 13
size:     1 node, 12 bytes of weights
producer: onnx_models.lua
metadata: author = tidemill
          purpose = a test
]], r.out)
  end)

  it("knows it by its contents, and prints several with their paths", function()
    put(t, "labels", model "labels")
    put(t, "branches.bin", model "branches")
    local r = t:run { "head", "labels", "branches.bin" }
    t:expect(r, 0)
    assert.equal(([[
model:    DIR/labels
inputs:   scores float32 [n, 2]
outputs:  labels string [n]
          probabilities sequence<map<string,float32>>
opsets:   ai.onnx 13, ai.onnx.ml 1
size:     3 nodes, 6 bytes of weights
producer: tidemill
model:    DIR/branches.bin
inputs:   is_large bool []
outputs:  y int64 [2]
opsets:   ai.onnx 13
size:     3 nodes, 32 bytes of weights
producer: tidemill
]]):gsub("DIR", t.dir), r.out)
  end)

  it("prints a model whose data are missing, with a warning", function()
    put(t, "m.onnx", model "elsewhere")
    local r = t:run { "head", "m.onnx" }
    t:expect(r, 0)
    assert.truthy(r.out:find("data:     elsewhere.bin, 32 bytes of 2 tensors", 1, true), r.out)
    assert.truthy(r.err:find("the data of tensor 'second' are in 'elsewhere.bin', which is missing; copy it", 1, true))
    put(t, "elsewhere.bin", ("\0"):rep(32))
    assert.equal("", t:run({ "head", "m.onnx" }).err)
  end)

  it("refuses what is not a whole model, and says what it is", function()
    put(t, "pointer.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n")
    refused(t, 1, "cannot read '" .. t.dir .. "/pointer.onnx': the file is a Git LFS pointer; run 'git lfs pull'",
      "pointer.onnx")
    put(t, "cut.onnx", model("scale"):sub(1, 60))
    refused(t, 1, "the file is cut: a part of it ends at byte", "cut.onnx")
    put(t, "weights.pt", "PK\3\4........archive/data.pkl")
    refused(t, 1, "the file is a PyTorch model; export it: torch.onnx.export(", "weights.pt")
    put(t, "empty.onnx", "")
    refused(t, 1, "the file is empty", "empty.onnx")
    refused(t, 3, "none.onnx': no such file or directory", "none.onnx")
    put(t, "table.onnx", "a,b\n1,2\n")
    refused(t, 1, "the file is not an ONNX model: ", "table.onnx")
  end)

  it("refuses options of tables", function()
    put(t, "m.onnx", model "scale")
    refused(t, 2, "'m.onnx' is a model: options of tables do not go with it", "m.onnx", "--separator", ";")
  end)
end)
