-- Reuse of steps that have loaded ONNX Runtime, here a stand-in for it: only if the same file would
-- be found now.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local job = require "support.job"
local lfs = require "lfs"

local MODEL = here .. "/../../../tests/fuzz/corpus/onnx_file/scale.onnx"
local SCRIPT = ([[
local session = require("tidemill.onnx").InferenceSession(%q)
function run(m) return names_of(m) end]]):format(MODEL)

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text)) end

local function copy(t, name)
  local path = t:path(name)
  assert(os.execute(("mkdir -p '%s' && cp '%s' '%s'"):format(path:match "^(.*)/", os.getenv "TM_ORT_STUB", path)) == 0)
  return path
end

local function run(t, ...)
  local r = t:run({ "run", "pipeline.lua", "--progress", "none", "--json" },
    { env = { "XDG_DATA_HOME=" .. t.dir .. "/data", "LD_LIBRARY_PATH=", ... } })
  t:expect(r, 0)
  return r.result.steps[1].reused, r.err
end

local function new_case()
  local t = job.case()
  t:inputs(2)
  t:script(SCRIPT)
  t:pipeline "mini_batch_size = 1, process_count_per_node = 1"
  return t
end

describe("a step that has loaded ONNX Runtime", function()
  after_each(job.check_end)

  it("is reused while the same file would be found", function()
    local t = new_case()
    local here_too = "TIDEMILL_ONNXRUNTIME=" .. copy(t, "a/libonnxruntime.so.1")
    assert.is_false(run(t, here_too))
    assert.is_true(run(t, here_too))
    assert.is_true(run(t, here_too)) -- from the reused one

    local other = copy(t, "b/libonnxruntime.so.1")
    local reused, err = run(t, "TIDEMILL_ONNXRUNTIME=" .. other)
    assert.is_false(reused)
    has(err, ("step 'score' is run: ONNX Runtime 1.30.0 of '%s' was used, and '%s' would be now"):format(
      t:path "a/libonnxruntime.so.1", other))
  end)

  it("is run again if the file has been replaced, or a nearer one was installed, or it is gone", function()
    local t = new_case()
    local file = copy(t, "data/tidemill/libonnxruntime.so.1")
    assert.is_false(run(t))
    assert.is_true(run(t))
    assert(lfs.touch(file, 1000000000, 1000000000))
    local reused, err = run(t)
    assert.is_false(reused)
    has(err, "ONNX Runtime 1.30.0 was used, and its file '" .. file .. "' has changed")
    assert.is_true(run(t))

    local near = copy(t, "node_modules/onnxruntime-node/bin/napi-v6/linux/"
      .. (jit.arch == "x64" and "x64" or "arm64") .. "/libonnxruntime.so.1")
    reused, err = run(t)
    assert.is_false(reused)
    has(err, "' was used, and '" .. near .. "' would be now")
    assert.is_true(run(t))

    assert(os.remove(near))
    assert(os.remove(file))
    local r = t:run({ "run", "pipeline.lua", "--dry-run", "--explain" }, { env = { "LD_LIBRARY_PATH=" } })
    has(r.out .. r.err, "would not be found now")
  end)
end)
