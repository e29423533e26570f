-- Draws the images of this example, and writes them as PNG and JPEG in turn, and which digit each
-- shows: tidemill lua make_images.lua [FOLDER]
-- 20 writers, none of whom train.lua knows, write each digit once, in an order of their own.
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. here .. "/../digits/?.lua;" .. package.path
local draw, Random = require "draw", require "random"
local fs = require "tidemill.fs"
local image = require "tidemill.image"
local tensor = require "tidemill.tensor"

local WRITERS, SIZE, SEED = 20, 28, 2

local out = arg[1] or here
local random = Random.new(SEED)
local truth, count = {}, 0

local function write(digit, writer)
  local pixels = draw.digit(digit, writer, random, SIZE)
  local t = tensor.new("uint8", { SIZE, SIZE })
  local bytes = t:data()
  for i, value in ipairs(pixels) do bytes[i - 1] = math.floor(value * 255 + 0.5) end
  local name = ("%04d.%s"):format(count, count % 2 == 0 and "jpg" or "png")
  assert(image.write(out .. "/images/" .. name, t, { quality = count % 2 == 0 and 90 or nil }))
  truth[#truth + 1] = name .. ": " .. digit .. "\n"
  count = count + 1
end

assert(fs.mkdir(out .. "/images", { exist_ok = true }))
for _ = 1, WRITERS do
  local writer = draw.writer(random)
  local order = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 }
  for i = #order, 2, -1 do
    local j = random:pick(i)
    order[i], order[j] = order[j], order[i]
  end
  for _, digit in ipairs(order) do write(digit, writer) end
end
assert(fs.write(out .. "/truth.txt", table.concat(truth)))
print(count .. " images")
