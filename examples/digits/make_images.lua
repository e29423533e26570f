-- Draws the images of this example and writes their labels: luajit make_images.lua
-- 20 writers, none of whom train.lua knows, write each digit once, in an order of their own.
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. here .. "/model/?.lua;" .. package.path
local draw, pgm, Random = require "draw", require "pgm", require "random"

local WRITERS, SEED = 20, 2

local random = Random.new(SEED)
local labels = assert(io.open(here .. "/labels.txt", "w"))
local count = 0
for _ = 1, WRITERS do
  local writer = draw.writer(random)
  local order = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 }
  for i = #order, 2, -1 do
    local j = random:pick(i)
    order[i], order[j] = order[j], order[i]
  end
  for _, digit in ipairs(order) do
    local name = ("%04d.pgm"):format(count)
    pgm.write(here .. "/images/" .. name, draw.digit(digit, writer, random), draw.SIZE, draw.SIZE)
    labels:write(name, ": ", digit, "\n")
    count = count + 1
  end
end
labels:close()
print(count .. " images")
