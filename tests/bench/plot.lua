-- Draws what run.sh has measured: plot.lua FIGURES.tsv OUT.svg
--
-- A line of FIGURES.tsv is a point, between tabs: "growth", who, mini-batches, us each, peak kB; or
-- "listing", folders, files, seconds to list, ms to the first run(), peak kB, seconds of the whole
-- job.
local WIDTH, HEIGHT, LEFT, TOP = 380, 220, 60, 40
local COLOURS = { "#0b6e99", "#d9730d", "#448361" }

local function read_points(path)
  local points = {}
  for line in assert(io.lines(path)) do
    local point = {}
    for field in line:gmatch "[^\t]+" do point[#point + 1] = field end
    if not line:find "^#" then points[#points + 1] = point end
  end
  return points
end

--- The points of one line, as {x, y} in order of x.
local function series_of(points, part, name, column, scale)
  local series = {}
  for _, p in ipairs(points) do
    if p[1] == part and (not name or p[2] == name) then
      series[#series + 1] = { tonumber(p[3]), tonumber(p[column]) * scale }
    end
  end
  table.sort(series, function(a, b) return a[1] < b[1] end)
  return series
end

local function short(n)
  if n >= 1e6 then return ("%gM"):format(n / 1e6) end
  if n >= 1e3 then return ("%gk"):format(n / 1e3) end
  return ("%g"):format(n)
end

--- The next of 1, 2, 5, 10, 20 ... that is not below n.
local function round_up(n)
  local step = 10 ^ math.floor(math.log10(n))
  for _, factor in ipairs { 1, 2, 5, 10 } do
    if factor * step >= n then return factor * step end
  end
end

local function range_of(all)
  local low, high, top = math.huge, 0, 0
  for _, line in ipairs(all) do
    for _, p in ipairs(line.points) do
      low, high, top = math.min(low, p[1]), math.max(high, p[1]), math.max(top, p[2])
    end
  end
  return math.log10(low), math.max(math.log10(high), math.log10(low) + 1), round_up(top * 1.05)
end

local function text(x, y, anchor, words, extra)
  return ('<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>'):format(x, y, anchor, extra or "", words)
end

local function axes(out, low, high, top, place_x, place_y)
  for i = 0, 4 do
    local y = place_y(top * i / 4)
    out[#out + 1] = ('<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>'):format(LEFT, y, LEFT + WIDTH, y)
    out[#out + 1] = text(LEFT - 6, y + 4, "end", ("%g"):format(top * i / 4))
  end
  for power = math.ceil(low - 1e-9), math.floor(high + 1e-9) do
    out[#out + 1] = text(place_x(10 ^ power), TOP + HEIGHT + 18, "middle", short(10 ^ power))
  end
end

local function draw_line(out, line, colour, place_x, place_y)
  local at = {}
  for i, p in ipairs(line.points) do
    at[i] = ("%.1f,%.1f"):format(place_x(p[1]), place_y(p[2]))
    out[#out + 1] = ('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>'):format(place_x(p[1]), place_y(p[2]), colour)
  end
  local path = '<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>'
  out[#out + 1] = path:format(table.concat(at, " "), colour)
end

--- One chart: x is logarithmic, y starts at zero, and the lines are named below.
local function chart(out, left, title, x_name, all)
  local low, high, top = range_of(all)
  local function place_x(x) return LEFT + (math.log10(x) - low) / (high - low) * WIDTH end
  local function place_y(y) return TOP + HEIGHT * (1 - y / top) end
  out[#out + 1] = ('<g transform="translate(%d 0)">'):format(left)
  out[#out + 1] = text(LEFT, 22, "start", title, ' font-weight="bold"')
  axes(out, low, high, top, place_x, place_y)
  out[#out + 1] = text(LEFT + WIDTH / 2, TOP + HEIGHT + 36, "middle", x_name)
  for i, line in ipairs(all) do
    draw_line(out, line, COLOURS[i], place_x, place_y)
    out[#out + 1] = text(LEFT, TOP + HEIGHT + 40 + 16 * i, "start", line.name, (' fill="%s"'):format(COLOURS[i]))
  end
  out[#out + 1] = "</g>"
end

local function main(from, to)
  local points = read_points(from)
  local panel = LEFT + WIDTH + 40
  local out = { ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">')
    :format(2 * panel, TOP + HEIGHT + 100), '<rect width="100%" height="100%" fill="white"/>' }
  local many = "1"
  for _, p in ipairs(points) do
    if p[1] == "listing" and tonumber(p[2]) > tonumber(many) then many = p[2] end
  end
  chart(out, 0, "Cost of a mini-batch, µs", "mini-batches", {
    { name = "one path each, no-op run(), 2 workers", points = series_of(points, "growth", nil, 4, 1) },
  })
  chart(out, panel, "Peak memory of the supervisor, MB", "mini-batches, or files", {
    { name = "mini-batches of one path, from a list", points = series_of(points, "growth", nil, 5, 1 / 1024) },
    { name = ("files in %s folders"):format(many), points = series_of(points, "listing", many, 6, 1 / 1024) },
    { name = "files in one folder", points = series_of(points, "listing", "1", 6, 1 / 1024) },
  })
  out[#out + 1] = "</svg>\n"
  local file = assert(io.open(to, "w"))
  assert(file:write(table.concat(out, "\n")))
  assert(file:close())
end

main(arg[1], arg[2])
