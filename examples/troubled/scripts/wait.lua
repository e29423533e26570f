-- Waits as a script does that waits for a network: without using a processor.
local ffi = require "ffi"
ffi.cdef "int usleep(unsigned int microseconds);"

local pace = tonumber(arg[1])

return function(seconds)
  ffi.C.usleep(seconds * pace * 1e6)
end
