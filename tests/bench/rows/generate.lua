-- A table to measure with: generate.lua FILE MEGABYTES. The same bytes every time: its numbers come
-- from a generator of its own. Prints the number of rows.
local bit = require "bit"
local buffer = require "string.buffer"

local STORES = {}
local WORDS = { "ebb", "flood", "tide", "mill", "stone", "wheel", "sluice", "grain", "flour", "sack", "cart" }
for i = 1, 40 do STORES[i] = ("store-%02d"):format(i) end

local state = 88172645
--- A whole number from 0 to n - 1 (xorshift32).
local function random(n)
  state = bit.bxor(state, bit.lshift(state, 13))
  state = bit.bxor(state, bit.rshift(state, 17))
  state = bit.bxor(state, bit.lshift(state, 5))
  return bit.band(state, 0x7fffffff) % n
end

local function word() return WORDS[random(#WORDS) + 1] end

local function put_row(out, id)
  out:put(id, ",", STORES[random(#STORES) + 1], ",", random(500) + 1, ",")
  out:putf("%d.%02d,%d.%03d,", random(900), random(100), random(20), random(1000))
  out:putf("20%02d-%02d-%02d,", random(27), random(12) + 1, random(28) + 1)
  out:put(random(2) == 0 and "true" or "false", ",", word(), ",")
  out:put('"', word(), ", ", word(), ' ""', word(), '"" ', word(), '",')
  out:put(random(2000000000), "\n")
end

local function main(path, megabytes)
  local file = assert(io.open(path, "w"))
  local out, size, id = buffer.new(), 0, 0
  out:put "id,store,quantity,price,tax,day,is_member,item,comment,code\n"
  while size < megabytes * 1e6 do
    for _ = 1, 4096 do
      id = id + 1
      put_row(out, id)
    end
    size = size + #out
    assert(file:write(out:get()))
  end
  assert(file:close())
  print(id)
end

main(arg[1], tonumber(arg[2]))
