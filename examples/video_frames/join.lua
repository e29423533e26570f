-- A row is a frame, and all rows are one mini-batch: their images become a video again, in order,
-- beside a summary. The first argument is the folder of the images, the second the video whose size
-- and speed the new one has.
local fs = require "tidemill.fs"
local path = require "tidemill.path"
local folder, original = ...

local function join(rows, name)
  local video = assert(io.open(name, "wb"))
  local header = io.lines(original)()
  video:write(header, "\n")
  for row in rows:rows() do
    local image = assert(fs.read(path.join(folder, ("%04d.pgm"):format(row.frame))))
    video:write("FRAME\n", image:match "^P5%s%d+%s%d+%s255%s(.*)$")
  end
  assert(video:close())
end

local function summary(rows)
  local lines = { ("%d frames"):format(#rows) }
  for _, column in ipairs { "brightness", "edge_points" } do
    local most = rows:sort({ column, desc = true }, "frame"):head(1)
    lines[#lines + 1] = ("%s: %.1f in the mean, %.1f at most, in frame %d"):format(
      column, rows:column(column):mean(), most:column(column)[1], most.c.frame[1])
  end
  return table.concat(lines, "\n") .. "\n"
end

function run(rows, context)
  rows = rows:sort "frame"
  join(rows, context:output_file "edges.y4m")
  assert(fs.write(context:output_file "summary.txt", summary(rows)))
  return rows
end
