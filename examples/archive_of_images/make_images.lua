-- Draws 24 small images, PGM files, and packs them into one archive: make_images.lua ARCHIVE
-- ARCHIVE ends in .tar.gz, .tar or any other ending that `tar --auto-compress` knows.
local fs = require "tidemill.fs"
local path = require "tidemill.path"
local process = require "tidemill.process"

local SIZE = 32
local archive = path.absolute(arg[1] or "images.tar.gz")

-- How bright a point is, 0 to 255; x and y are from -1 to 1.
local shapes = {
  disc = function(x, y, k) return x * x + y * y < (k / 7) ^ 2 and 255 or 0 end,
  stripes = function(x, _, k) return math.floor((x + 1) * k) % 2 * 200 end,
  slope = function(x, y, k) return math.floor((x + y + 2) / 4 * 30 * k) end,
}

local function draw(shape, k)
  local bytes = {}
  for row = 0, SIZE - 1 do
    for column = 0, SIZE - 1 do
      bytes[#bytes + 1] = string.char(shape(column / SIZE * 2 - 1, row / SIZE * 2 - 1, k))
    end
  end
  return ("P5\n%d %d\n255\n"):format(SIZE, SIZE) .. table.concat(bytes)
end

local folder = archive .. ".making"
local names = { "notes.txt" }
assert(fs.mkdir(folder, { parents = true, exist_ok = true }))
assert(fs.write(path.join(folder, "notes.txt"), "Not an image.\n"))
for name, shape in pairs(shapes) do
  assert(fs.mkdir(path.join(folder, name), { exist_ok = true }))
  for k = 1, 8 do
    assert(fs.write(path.join(folder, name, ("%s-%d.pgm"):format(name, k)), draw(shape, k)))
  end
  names[#names + 1] = name
end
table.sort(names)
process.run({ "tar", "--create", "--auto-compress", "--file", archive, "--directory", folder, unpack(names) },
  { check = true })
assert(fs.remove(folder, { recursive = true }))
print(("%s: 24 images"):format(path.basename(archive)))
