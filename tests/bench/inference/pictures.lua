-- Writes JPEGs as large as photographs: pictures.lua FOLDER NUMBER WIDTH HEIGHT. They have soft
-- colours, edges and noise, and the same bytes every time.
local ffi = require "ffi"
local image = require "tidemill.image"
local tensor = require "tidemill.tensor"

local DISTINCT = 16 -- the others are copies

local function draw(t, seed, width, height)
  local data, state = ffi.cast("uint8_t *", t:data()), seed * 7919 + 1
  local cx, cy, reach = width * (0.2 + 0.04 * seed), height * (0.8 - 0.03 * seed), height * 0.3
  for y = 0, height - 1 do
    for x = 0, width - 1 do
      state = (state * 16807) % 2147483647
      local noise = state % 25 - 12
      local is_inside = (x - cx) ^ 2 + (y - cy) ^ 2 < reach ^ 2
      local at = data + (y * width + x) * 3
      at[0] = math.max(0, math.min(255, 110 + 90 * math.sin(x / 97 + seed) + (is_inside and 60 or 0) + noise))
      at[1] = math.max(0, math.min(255, 110 + 90 * math.sin(y / 71 - seed) - (is_inside and 60 or 0) + noise))
      at[2] = math.max(0, math.min(255, 110 + 90 * math.sin((x + y) / 131) + noise))
    end
  end
end

local folder, n, width, height = arg[1], tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4])
local t, texts = tensor.new("uint8", { height, width, 3 }), {}
for i = 0, n - 1 do
  local path = ("%s/%04d.jpg"):format(folder, i)
  if i < DISTINCT then
    draw(t, i, width, height)
    assert(image.write(path, t, { quality = 90 }))
    local file = assert(io.open(path, "rb"))
    texts[i] = file:read "*a"
    file:close()
  else
    local file = assert(io.open(path, "wb"))
    file:write(texts[i % DISTINCT])
    assert(file:close())
  end
end
