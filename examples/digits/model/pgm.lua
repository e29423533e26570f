-- Reading and writing small grey images: binary PGM (P5), one byte a pixel.
local M = {}

-- An array of width * height brightnesses from 0 to 1, row by row, and the width and height; or nil
-- and why not.
function M.read(path)
  local f, why = io.open(path, "rb")
  if not f then return nil, why end
  local text = f:read "*a"
  f:close()
  local width, height, depth, from = text:match "^P5%s+(%d+)%s+(%d+)%s+(%d+)%s()"
  if not width or depth ~= "255" then return nil, path .. ": not a binary PGM with 255 greys" end
  width, height = tonumber(width), tonumber(height)
  if #text - from + 1 < width * height then return nil, path .. ": the image is cut short" end
  local pixels = {}
  for i = 1, width * height do pixels[i] = text:byte(from + i - 1) / 255 end
  return pixels, width, height
end

function M.write(path, pixels, width, height)
  local bytes = {}
  for i, value in ipairs(pixels) do bytes[i] = string.char(math.floor(value * 255 + 0.5)) end
  local f = assert(io.open(path, "wb"))
  f:write("P5\n", width, " ", height, "\n255\n", table.concat(bytes))
  f:close()
end

return M
