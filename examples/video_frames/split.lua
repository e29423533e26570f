-- An item is a video; each of its frames becomes a PGM image in the output folder, 0001.pgm and so
-- on.
local fs = require "tidemill.fs"

local function split(name, context)
  local video = assert(io.open(name, "rb"))
  local header = video:read "*l" or ""
  local width, height = header:match "^YUV4MPEG2.* W(%d+)", header:match " H(%d+)"
  if not (width and height and header:find(" Cmono", 1, true)) then
    error(name .. " is not a gray Y4M video: " .. header:sub(1, 60))
  end
  local size, count = width * height, 0
  for line in video:lines() do
    local points = video:read(size)
    if not line:find "^FRAME" or not points or #points < size then
      error(("%s ends within frame %d"):format(name, count + 1))
    end
    count = count + 1
    local image = ("P5\n%d %d\n255\n"):format(width, height) .. points
    assert(fs.write(context:output_file(("%04d.pgm"):format(count)), image))
  end
  video:close()
end

function run(videos, context)
  for _, name in ipairs(videos) do
    split(name, context)
  end
  return videos
end
