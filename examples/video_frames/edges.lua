-- An item is a frame. Its edges are an image in the folder that the first argument names, and its
-- row says how bright it is and how many of its points are on an edge: where the brightness is
-- steeper than the second argument.
local ffi = require "ffi"
local frame = require "tidemill.frame"
local fs = require "tidemill.fs"
local path = require "tidemill.path"
local folder, threshold = (...), tonumber((select(2, ...)))

-- The operator of Sobel, point by point; the border stays black.
local function find_edges(points, width, height)
  local edges, count = ffi.new("uint8_t[?]", width * height), 0
  for y = 1, height - 2 do
    for x = 1, width - 2 do
      local at = y * width + x
      local above, here, below = points + at - width, points + at, points + at + width
      local dx = above[1] + 2 * here[1] + below[1] - above[-1] - 2 * here[-1] - below[-1]
      local dy = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1]
      if dx * dx + dy * dy > threshold * threshold then
        edges[at], count = 255, count + 1
      end
    end
  end
  return edges, count
end

local function brightness(points, size)
  local sum = 0
  for i = 0, size - 1 do
    sum = sum + points[i]
  end
  return sum / size
end

function run(files)
  local rows = {}
  for i, file in ipairs(files) do
    local image = assert(fs.read(file))
    local header, width, height = image:match "^(P5%s(%d+)%s(%d+)%s255%s)"
    width, height = tonumber(width), tonumber(height)
    if not header or #image - #header ~= width * height then
      error(file .. " is not an 8-bit PGM image")
    end
    local points, size = ffi.cast("const uint8_t *", image) + #header, width * height
    local edges, count = find_edges(points, width, height)
    assert(fs.write(path.join(folder, path.basename(file)), header .. ffi.string(edges, size)))
    rows[i] = { tonumber(path.stem(file)), brightness(points, size), count }
  end
  return frame.from_rows(rows, { "frame", "brightness", "edge_points" })
end
