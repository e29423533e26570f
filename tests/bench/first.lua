-- Notes when the first run() of each worker began, on the clock of the whole machine.
local ffi = require "ffi"
ffi.cdef [[
typedef struct { long sec, nsec; } tm_bench_time;
int clock_gettime(int clock, tm_bench_time *out);
]]
local worker = require "tidemill.entry_script"().agent_name
local has_begun = false

local function run(mini_batch)
  if not has_begun then
    has_begun = true
    local now = ffi.new "tm_bench_time[1]"
    ffi.C.clock_gettime(1, now) -- CLOCK_MONOTONIC
    local file = assert(io.open(arg[1] .. "." .. worker, "w"))
    file:write(("%d%09d\n"):format(tonumber(now[0].sec), tonumber(now[0].nsec)))
    file:close()
  end
  return mini_batch
end

return { run = run }
