-- Reports when the first run() of each worker began: "WORKER NANOSECONDS", by the wall clock, to
-- the FIFO "ARGUMENT.begun". This and each later run() ends when somebody has "ARGUMENT.go",
-- another FIFO, open for writing.
local ffi = require "ffi"
ffi.cdef [[
typedef struct { long sec, nsec; } tm_bench_time;
int clock_gettime(int clock, tm_bench_time *out);
]]
local worker = require "tidemill.entry_script"().agent_name
local has_begun = false

local function report()
  has_begun = true
  local now = ffi.new "tm_bench_time[1]"
  ffi.C.clock_gettime(0, now) -- CLOCK_REALTIME
  local file = assert(io.open(arg[1] .. ".begun", "w"))
  file:write(("%s %d%09d\n"):format(worker, tonumber(now[0].sec), tonumber(now[0].nsec)))
  file:close()
end

local function run(mini_batch)
  if not has_begun then report() end
  assert(io.open(arg[1] .. ".go")):close()
  return mini_batch
end

return { run = run }
