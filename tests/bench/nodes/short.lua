-- A mini-batch takes as many microseconds as the argument says.
local ffi = require "ffi"
ffi.cdef "int usleep(unsigned us);"

local function run(mini_batch)
  ffi.C.usleep(tonumber(arg[1]))
  return mini_batch
end

return { run = run }
