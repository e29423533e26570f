-- The delay of an interruption of run(): endless loops of several kinds, one for each item.
local ffi = require "ffi"

local loops = {
  function() while true do end end,
  function() local x = 0 while true do x = x + 1 end end,
  function()
    local a = ffi.new "double[1000]"
    while true do
      for i = 0, 999 do
        a[i] = a[i] + 1
      end
    end
  end,
  function() while true do pcall(function() while true do end end) end end,
  function() while true do local s = "" for i = 1, 1000 do s = s .. i end end end,
  function() coroutine.wrap(function() while true do end end)() end,
}

function recover() end -- luacheck: ignore

function run(mini_batch) -- luacheck: ignore
  loops[tonumber(mini_batch[1]:match "%d+$") % #loops + 1]()
end
