-- Draws a small video, in which the moon goes over a hill: make_video.lua FILE.y4m Y4M is a header
-- line, and for each frame a line and its points as they are; gray alone here (Cmono).
local ffi = require "ffi"

local WIDTH, HEIGHT, FRAMES = 160, 120, 48

-- How bright a point is, 0 to 255; the moon stands at moon_x, moon_y. Integers alone: the same
-- everywhere.
local function point(x, y, moon_x, moon_y)
  if y > 60 + math.abs(x - 110) / 2 then
    return 12 -- the hill
  elseif (x - moon_x) ^ 2 + (y - moon_y) ^ 2 < 14 ^ 2 then
    return 230
  end
  return 40 + (y - y % 2) / 2 -- the sky, brighter below
end

local file = assert(io.open(arg[1] or "moon.y4m", "wb"))
file:write(("YUV4MPEG2 W%d H%d F12:1 Ip A1:1 Cmono\n"):format(WIDTH, HEIGHT))
local points = ffi.new("uint8_t[?]", WIDTH * HEIGHT)
for frame = 0, FRAMES - 1 do
  local moon_x, moon_y = 10 + 3 * frame, 25 + (frame - 16) ^ 2 / 16
  for i = 0, WIDTH * HEIGHT - 1 do
    local x = i % WIDTH
    points[i] = point(x, (i - x) / WIDTH, moon_x, moon_y)
  end
  file:write("FRAME\n", ffi.string(points, WIDTH * HEIGHT))
end
assert(file:close())
print(("%s: %d frames"):format(arg[1] or "moon.y4m", FRAMES))
