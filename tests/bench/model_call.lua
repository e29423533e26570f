-- What session:run() of a tiny model costs beyond the call of the library itself, made by FFI in
-- the same process, in turns:
--
--   TIDEMILL_ONNXRUNTIME=FILE tidemill lua tests/bench/model_call.lua
local root = arg[0]:match "^(.*)/tests/bench/" or "."
package.path = root .. "/examples/?.lua;" .. package.path
local ffi = require "ffi"
local onnx = require "tidemill.onnx"
local onnx_writer = require "onnx_writer"
local tensor = require "tidemill.tensor"

local CALLS, ROUNDS, BUDGET_US = 50000, 9, 4

ffi.cdef [[
struct bench_base { void *const *(*table)(uint32_t version); const char *(*version)(void); };
struct bench_base *OrtGetApiBase(void);
]]

local model = os.tmpname()
onnx_writer.write(model, {
  inputs = { { "x", "float32", { "n", 3 } } }, outputs = { { "y", "float32", { "n", 2 } } },
  initializers = { { "w", "float32", { 3, 2 }, { 1, 2, 3, 4, 5, 6 } } },
  nodes = { { "MatMul", { "x", "w" }, { "y" } } },
})

-- The functions by their index: core/model/ort_api.h.
local api = ffi.load(assert(onnx.runtime()).path).OrtGetApiBase().table(17)
local function fn(index, kind) return ffi.cast(kind, api[index]) end
local make_env = fn(3, "void *(*)(int, const char *, void **)")
local make_options = fn(10, "void *(*)(void **)")
local set_threads = fn(24, "void *(*)(void *, int)")
local make_session = fn(7, "void *(*)(void *, const char *, void *, void **)")
local cpu_memory = fn(69, "void *(*)(int, int, void **)")
local make_tensor = fn(49, "void *(*)(void *, void *, size_t, const int64_t *, size_t, int, void **)")
local run = fn(9, "void *(*)(void *, void *, const char **, void **, size_t, const char **, size_t, void **)")
local data_of = fn(51, "void *(*)(void *, float **)")
local release = fn(96, "void (*)(void *)")

local out = ffi.new "void *[1]"
local function made(f, ...)
  assert(f(...) == nil)
  return out[0]
end
local env = made(make_env, 2, "bench", out)
local options = made(make_options, out)
assert(set_threads(options, 1) == nil)
local c_session = made(make_session, env, model, options, out)
local memory = made(cpu_memory, 0, 0, out)

local x, shape = ffi.new("float[3]", 1, 2, 3), ffi.new("int64_t[2]", 1, 3)
local input_names, output_names = ffi.new("const char *[1]", { "x" }), ffi.new("const char *[1]", { "y" })
local input, output, y = ffi.new "void *[1]", ffi.new "void *[1]", ffi.new "float *[1]"

local function library_call()
  assert(make_tensor(memory, x, 12, shape, 2, 1, input) == nil)
  output[0] = nil
  assert(run(c_session, nil, input_names, input, 1, output_names, 1, output) == nil)
  assert(data_of(output[0], y) == nil)
  release(input[0])
  release(output[0])
end

local session = onnx.InferenceSession(model, { intra_op_num_threads = 1 })
os.remove(model)
local inputs = { x = tensor.from_table("float32", { { 1, 2, 3 } }) }
local function session_call() session:run(inputs) end

local function time(f)
  local begin = os.clock()
  for _ = 1, CALLS do f() end
  return (os.clock() - begin) / CALLS * 1e6
end

local c, ours = math.huge, math.huge
for _ = 1, ROUNDS do
  c, ours = math.min(c, time(library_call)), math.min(ours, time(session_call))
end
print(("the library %.2f us, session:run %.2f us: %.2f us more, of at most %g"):format(c, ours, ours - c, BUDGET_US))
os.exit(ours - c <= BUDGET_US and 0 or 1)
