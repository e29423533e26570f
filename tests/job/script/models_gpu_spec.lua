-- Models on a GPU, with a stand-in for ONNX Runtime that has CUDA: which provider a worker takes,
-- what it says about that, and failures of a GPU. Variables set the devices that the node claims to
-- have.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local root = here .. "/../../.."
local job = require "support.job"
local versions = require "support.onnxruntime.versions"

local MODEL = root .. "/tests/fuzz/corpus/onnx_file/scale.onnx"
local SCRIPT = ([[
local onnx, tensor = require "tidemill.onnx", require "tidemill.tensor"
local session
function init() session = onnx.InferenceSession(%q, OPTIONS) end
function run(m)
  local y = session:run { x = tensor.from_table("float32", { { 1, 2 } }), words = tensor.from_table("string", { "a" }) }
  return { ("%%s %%s %%d"):format(session.providers[1].name, session.providers[1].nodes, y:at(1, 2)) }
end
]]):format(MODEL)
local ONE_TRY = "mini_batch_size = 1, run_max_try = 1, process_count_per_node = "

local t, environment

local function new_case(inputs, workers, config, options)
  t = job.case()
  t:inputs(inputs)
  t:script("local OPTIONS = " .. (options or "nil") .. "\n" .. SCRIPT)
  t:pipeline(ONE_TRY .. workers .. (config or ""))
  environment = { "TIDEMILL_ONNXRUNTIME=" .. assert(os.getenv "TM_ORT_STUB"), "TM_STUB_LOG=" .. t.dir .. "/calls" }
end

local function run(code, ...)
  for _, variable in ipairs { ... } do environment[#environment + 1] = variable end
  t:expect_job(code, nil, { env = environment })
end

local function worker_log(name) return t:log("user/entry_script_log/0/" .. (name or "process000") .. ".log.txt") end

local function has(text, words) assert.is_truthy(text:find(words, 1, true), text) end

describe("a model in a worker", function()
  after_each(job.check_end)

  it("runs with CUDA on the GPU that the worker was given, with defaults for it", function()
    new_case(2, 1)
    run(0, "AZ_BATCHAI_GPU_COUNT_FOUND=1")
    assert.same({ "CUDAExecutionProvider 3 4", "CUDAExecutionProvider 3 4" }, t:rows())
    has(worker_log(), "CUDAExecutionProvider (3 nodes), 1 thread, ")
    has(worker_log(), "; CUDA, because the worker was given the GPU '0'\n")
    has(t:read "calls", "update_cuda\n  arena_extend_strategy=kSameAsRequested\n  cudnn_conv_algo_search=HEURISTIC\n"
      .. "  device_id=0\nappend_cuda\n")
    has(t:read "calls", "add_config session.disable_cpu_ep_fallback 0\n")
  end)

  it("runs on the CPU where the worker was given no GPU, whatever variables say", function()
    new_case(4, 2)
    -- process001 is one too many; a variable of the user gives it nothing
    t:script("local fs = require 'tidemill.fs'\n" .. "local OPTIONS\n" .. SCRIPT .. [[
      local own_init = init
      function init()
        own_init()
        fs.write(os.getenv "MARKS" .. require "tidemill.entry_script"().agent_name, "")
        local limit = os.time() + 60
        while not fs.exists(os.getenv "MARKS" .. "process000") or not fs.exists(os.getenv "MARKS" .. "process001") do
          assert(os.time() < limit)
        end
      end]])
    run(0, "AZ_BATCHAI_GPU_COUNT_FOUND=1", "TIDEMILL_GPU=7", "MARKS=" .. t.dir .. "/mark-")
    has(worker_log "process000", "; CUDA, because the worker was given the GPU '0'\n")
    has(worker_log "process001", "CPUExecutionProvider (3 nodes)")
    has(worker_log "process001", "; the CPU, because the worker was given no GPU\n")
  end)

  it("runs on the CPU where CUDA cannot be loaded, and says why", function()
    new_case(1, 1)
    run(0, "AZ_BATCHAI_GPU_COUNT_FOUND=1", "TM_STUB_FAIL=append_cuda")
    assert.same({ "CPUExecutionProvider 3 4" }, t:rows())
    has(worker_log(), "|WARNING|")
    has(worker_log(), "; the CPU, because CUDA failed: cannot load '" .. MODEL .. "': provider 'CUDA' cannot be "
      .. "used: the stub fails in append_cuda; Failed to load library libstub_cuda.so with error: "
      .. "libcudart.so.12: cannot open")
  end)

  it("that was asked to use CUDA never uses the CPU silently", function()
    new_case(1, 1, "", "{ providers = { 'cuda', 'cpuExecutionProvider' } }")
    run(1, "TM_STUB_FAIL=append_cuda")
    has(t:log "user/error/0/process000.txt", "provider 'CUDA' cannot be used: the stub fails in append_cuda; "
      .. "Failed to load library libstub_cuda.so with error: libcudart.so.12: cannot open shared object file")

    new_case(1, 1, "", "{ providers = { 'CudaExecutionProvider' } }")
    run(1, "TM_STUB_LEFT=2")
    has(t:log "user/error/0/process000.txt", "CUDA cannot run 2 of the model's 3 nodes; with providers = "
      .. "{ \"CUDA\", \"CPU\" } the CPU runs them")
  end)

  it("leaves nodes to the CPU if it may, and counts them; sizes have units", function()
    new_case(1, 1, "", "{ providers = { { 'CUDAExecutionProvider', gpu_mem_limit = '2 GB', device_id = 1 }, 'CPU' } }")
    run(0, "TM_STUB_LEFT=2")
    has(worker_log(), "CUDAExecutionProvider (1 node), CPUExecutionProvider (2 nodes), 1 thread")
    has(worker_log(), "': the CPU runs 2 of 3 nodes, which the GPU cannot run\n")
    has(t:read "calls", "  device_id=1\n  gpu_mem_limit=2147483648\n")
  end)

  it("whose GPU fails ends its worker after the answer, and a fresh one gets the GPU", function()
    new_case(3, 1, ", error_threshold = -1")
    run(1, "AZ_BATCHAI_GPU_COUNT_FOUND=1", "TM_STUB_FAIL=run",
      "TM_STUB_MESSAGE=CUDA failure 700: an illegal memory access was encountered ; GPU=0")
    assert.same({ RUN_EXCEPTION = 3 }, t:statuses()) -- one answer each, and no PROCESS_DIED
    for i = 0, 2 do
      has(worker_log("process00" .. i), "because the worker was given the GPU '0'\n")
      has(t:log("user/error/0/process00" .. i .. ".txt"), "cannot run '" .. MODEL .. "': CUDA failure 700: an illegal")
    end
    assert.is_truthy(t:log "sys/node/0/_main.txt":find "process002 started: pid %d+, GPU 0\n")
  end)

  it("that lacks the GPU's memory fails the try with the sizes, and the worker stays", function()
    new_case(3, 1, ", error_threshold = -1")
    run(1, "AZ_BATCHAI_GPU_COUNT_FOUND=1", "TM_STUB_FAIL=run",
      "TM_STUB_MESSAGE=Available memory of 524288000 is smaller than requested bytes of 1717986918")
    assert.same({ RUN_EXCEPTION = 3 }, t:statuses())
    local errors = t:log "user/error/0/process000.txt"
    assert.equal(3, select(2, errors:gsub("not enough memory on the GPU for 1%.6 GB, where 500 MB are left", "")),
      errors)
  end)

  it("has images decoded by all cores of its worker while a GPU runs it", function()
    new_case(1, 1)
    t:script("local OPTIONS\n" .. SCRIPT .. [[
      local fs, image = require "tidemill.fs", require "tidemill.image"
      local function helpers()
        local before = #fs.list "/proc/self/task"
        for _ in image.batches({ image.bytes "P6 1 1 255\n\255\0\0" }, { width = 1, height = 1 }) do
          return #fs.list "/proc/self/task" - before
        end
      end
      function run()
        local cores, beside_gpu = require "tidemill.entry_script"().cores, helpers()
        session:close()
        return { tostring(beside_gpu == cores), tostring(helpers() == (cores > 1 and 1 or 0)) }
      end]])
    run(0, "AZ_BATCHAI_GPU_COUNT_FOUND=1")
    assert.same({ "true", "true" }, t:rows())
  end)

  it("names the file that the real library lacks for CUDA", function()
    local library = versions.library "1.30"
    if not library then return pending(versions.MISSING) end
    new_case(1, 1, "", "{ providers = { 'CUDA' } }")
    environment = { "TIDEMILL_ONNXRUNTIME=" .. library }
    run(1)
    local errors = t:log "user/error/0/process000.txt"
    assert.is_truthy(errors:find("provider 'CUDA' cannot be used: .*Failed to load "
      .. "library .*/libonnxruntime_providers_shared.so with error: .*cannot open shared object file.*"
      .. "; 'tidemill help models' says which files CUDA needs, and where"), errors)
  end)
end)
