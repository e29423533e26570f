-- Models on a real GPU: scores as on the CPU, and what a lack of its memory says. See README.md for
-- what a machine needs.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
package.path = here .. "/../../examples/?.lua;" .. package.path
local job = require "support.job"
local onnx_writer = require "onnx_writer"

-- Why the specs cannot run here; nil: they can.
local function obstacle()
  local library = os.getenv "TM_ONNXRUNTIME_GPU"
  local probe = io.popen "nvidia-smi -L 2>/dev/null"
  local gpus = probe:read "*a"
  probe:close()
  if not gpus:find "GPU 0" then return "this machine has no GPU that nvidia-smi lists" end
  if not library then return "TM_ONNXRUNTIME_GPU, an ONNX Runtime with CUDA, is not set" end
  local file = io.open(library:match "^(.*)/[^/]*$" .. "/libonnxruntime_providers_cuda.so")
  if not file then return "there is no libonnxruntime_providers_cuda.so beside TM_ONNXRUNTIME_GPU" end
  file:close()
end

local WHY = obstacle()

local function note()
  local list = os.getenv "TM_SKIPPED_CASES"
  local out = list and io.open(list, "a")
  if out then
    out:write("gpu/models: ", WHY, "\n")
    out:close()
  end
end

local SIZE = 64

-- x * w + x, with fixed values that no rule of rounding favours
local function model()
  local values = {}
  for i = 1, SIZE * SIZE do values[i] = math.sin(i) / SIZE end
  return {
    inputs = { { "x", "float32", { "n", SIZE } } }, outputs = { { "y", "float32", { "n", SIZE } } },
    initializers = { { "w", "float32", { SIZE, SIZE }, values } },
    nodes = { { "MatMul", { "x", "w" }, { "p" } }, { "Add", { "p", "x" }, { "y" } } },
  }
end

local function new_case(script)
  local t = job.case()
  onnx_writer.write(t:path "m.onnx", model())
  t:inputs(2)
  t:script("local onnx, tensor = require 'tidemill.onnx', require 'tidemill.tensor'\nlocal PATH = '"
    .. t:path "m.onnx" .. "'\n" .. script)
  t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, error_threshold = -1"
  return t
end

describe("a model on a GPU", function()
  after_each(job.check_end)

  it("has the scores that it has on the CPU", function()
    if WHY then note() return pending(WHY) end
    local t = new_case [[
      local gpu, cpu
      function init()
        gpu = onnx.InferenceSession(PATH)
        cpu = onnx.InferenceSession(PATH, { providers = { "CPU" } })
      end
      function run()
        local x = tensor.new("float32", { 3, 64 })
        for i = 1, 3 do for k = 1, 64 do x:set(math.cos(i * k), i, k) end end
        local a, b, largest = gpu:run(x), cpu:run(x), 0
        for i = 1, 3 do
          for k = 1, 64 do largest = math.max(largest, math.abs(a:at(i, k) - b:at(i, k))) end
        end
        return { gpu.providers[1].name .. (largest < 1e-3 and " agrees" or " differs by " .. largest) }
      end]]
    t:expect_job(0, nil, { env = { "TIDEMILL_ONNXRUNTIME=" .. os.getenv "TM_ONNXRUNTIME_GPU" }, limit = 120 })
    assert.same({ "CUDAExecutionProvider agrees", "CUDAExecutionProvider agrees" }, t:rows())
  end)

  it("fails the try with the sizes if its memory does not suffice, and works on", function()
    if WHY then return pending(WHY) end
    local t = new_case [[
      local session
      function init()
        session = onnx.InferenceSession(PATH, { providers = { { "CUDA", gpu_mem_limit = "64MB" } } })
      end
      function run(m)
        local n = number_of(m[1]) == 1 and 1000000 or 1
        return { session:run(tensor.new("float32", { n, 64 })).shape[1] }
      end]]
    t:expect_job(0, nil, { env = { "TIDEMILL_ONNXRUNTIME=" .. os.getenv "TM_ONNXRUNTIME_GPU" }, limit = 120 })
    assert.same({ "1" }, t:rows())
    local errors = t:log "user/error/0/process000.txt"
    assert.is_truthy(errors:find "not enough memory on the GPU for %d", errors)
  end)
end)
