-- A generator of random numbers of our own (xorshift), so that a seed gives the same images
-- everywhere.
local bit = require "bit"

local M = {}
M.__index = M

function M.new(seed)
  local random = setmetatable({ state = bit.tobit(seed * 2654435 + 88172645) }, M)
  for _ = 1, 16 do random:next() end
  return random
end

-- From 0 to 1, 1 excluded.
function M:next()
  local x = self.state
  x = bit.bxor(x, bit.lshift(x, 13))
  x = bit.bxor(x, bit.rshift(x, 17))
  x = bit.bxor(x, bit.lshift(x, 5))
  self.state = x
  return (x % 4294967296) / 4294967296
end

function M:between(low, high) return low + (high - low) * self:next() end

-- An integer from 1 to n.
function M:pick(n) return 1 + math.floor(self:next() * n) end

-- About normal: mean 0, deviation 1.
function M:normal()
  local sum = 0
  for _ = 1, 12 do sum = sum + self:next() end
  return sum - 6
end

return M
