-- The same tensors through a model, again and again, in one process with one thread:
-- session.lua MODEL TENSORS BATCH SIZE TIMES OUTPUT. Prints wall and processor time, seconds.
local ffi = require "ffi"
local onnx = require "tidemill.onnx"
local tensor = require "tidemill.tensor"

ffi.cdef "struct bench_time { int64_t seconds, nanoseconds; }; int clock_gettime(int clock, struct bench_time *out);"
local MONOTONIC, now = 1, ffi.new "struct bench_time"

local function seconds()
  ffi.C.clock_gettime(MONOTONIC, now)
  return tonumber(now.seconds) + tonumber(now.nanoseconds) * 1e-9
end

local function read_tensors(path, batch, size)
  local file = assert(io.open(path, "rb"))
  local list, bytes = {}, batch * 3 * size * size * 4
  for text in function() return file:read(bytes) end do
    local t = tensor.new("float32", { batch, 3, size, size })
    ffi.copy(t:data(), text, bytes)
    list[#list + 1] = t
  end
  file:close()
  return list
end

local model, file, output = arg[1], arg[2], arg[6]
local batch, size, times = tonumber(arg[3]), tonumber(arg[4]), tonumber(arg[5])
local session = onnx.InferenceSession(model, { intra_op_num_threads = 1 })
local tensors = read_tensors(file, batch, size)
local out = assert(io.open(output, "wb"))
for _, t in ipairs(tensors) do
  out:write(session:run(t):bytes())
end
out:close()
local wall, processor = seconds(), os.clock()
for _ = 1, times do
  for _, t in ipairs(tensors) do session:run(t) end
end
print(("%.6f %.6f"):format(seconds() - wall, os.clock() - processor))
