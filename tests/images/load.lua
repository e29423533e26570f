-- Reads lines "PATH<TAB>OPTIONS" from stdin, where OPTIONS is a Lua table. For each it loads the
-- image and writes "SIZE SIZE SIZE SCALE_X SCALE_Y OFFSET_X OFFSET_Y\n" and the elements, or
-- "error: MESSAGE\n".
local image = require "tidemill.image"

for line in io.lines() do
  local path, options = line:match "^(.-)\t(.*)$"
  local t, place = image.load(path, assert(loadstring("return " .. options))())
  if t then
    io.write(("%d %d %d %.17g %.17g %.17g %.17g\n"):format(t.shape[1], t.shape[2], t.shape[3], place.scale_x,
      place.scale_y, place.offset_x, place.offset_y), t:bytes())
  else
    io.write("error: ", place, "\n")
  end
  io.flush()
end
