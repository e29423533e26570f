-- Draws digits as people write them: strokes through a few points, bent by a writer's habits and by
-- chance.
local M = { SIZE = 16 }

-- shapes[digit]: the ways to write it; a way is a list of strokes, a stroke is x, y, x, y, … in a
-- unit square, y downwards. A stroke of two points is straight, a longer one a smooth curve.
local shapes = {
  [0] = { { { .5, .05, .2, .2, .14, .5, .25, .85, .5, .95, .76, .85, .86, .5, .76, .18, .5, .05 } },
    { { .6, .06, .3, .15, .18, .55, .3, .9, .55, .94, .78, .75, .82, .4, .7, .12, .5, .06 } } },
  [1] = { { { .5, .05, .5, .95 } },
    { { .28, .28, .53, .05 }, { .53, .05, .53, .95 } },
    { { .3, .22, .52, .05 }, { .52, .05, .52, .94 }, { .28, .94, .76, .94 } } },
  [2] = { { { .2, .27, .35, .07, .65, .07, .8, .27, .65, .52, .2, .93 }, { .2, .93, .84, .93 } },
    { { .2, .2, .5, .05, .78, .2, .7, .5, .35, .82, .18, .9, .3, .78, .55, .88, .85, .92 } } },
  [3] = { { { .2, .15, .5, .05, .75, .2, .7, .4, .43, .48 },
    { .43, .48, .75, .55, .82, .75, .6, .93, .3, .93, .15, .82 } },
    { { .2, .07, .76, .07 }, { .76, .07, .45, .42 }, { .45, .42, .78, .55, .8, .8, .5, .95, .18, .84 } } },
  [4] = { { { .3, .08, .18, .56 }, { .18, .56, .86, .56 }, { .68, .28, .66, .95 } },
    { { .62, .05, .14, .62 }, { .14, .62, .88, .62 }, { .62, .05, .62, .95 } } },
  [5] = { { { .78, .07, .3, .07 }, { .3, .07, .25, .45 },
    { .25, .45, .55, .38, .82, .55, .78, .82, .5, .95, .18, .85 } },
    { { .32, .08, .28, .42, .6, .42, .8, .65, .6, .92, .2, .9 }, { .32, .08, .8, .06 } } },
  [6] = { { { .7, .07, .4, .25, .2, .6, .3, .9, .6, .95, .8, .75, .65, .52, .4, .55, .22, .72 } },
    { { .35, .05, .22, .4, .2, .75, .45, .95, .75, .85, .72, .6, .45, .52, .22, .7 } } },
  [7] = { { { .17, .08, .82, .08 }, { .82, .08, .42, .95 } },
    { { .17, .08, .82, .08 }, { .82, .08, .42, .95 }, { .35, .5, .78, .5 } },
    { { .18, .2, .2, .08 }, { .2, .08, .82, .1 }, { .82, .1, .55, .5, .45, .95 } } },
  [8] = { { { .5, .48, .25, .35, .3, .1, .5, .05, .72, .12, .72, .35, .5, .48, .22, .68, .28, .92, .5, .96, .74, .9,
    .8, .68, .5, .48 } },
    { { .72, .15, .45, .05, .27, .22, .5, .45, .78, .7, .55, .95, .25, .8, .4, .52, .7, .3, .72, .15 } } },
  [9] = { { { .78, .25, .5, .05, .22, .2, .3, .45, .6, .48, .78, .25 }, { .78, .25, .8, .6, .6, .9, .35, .95 } },
    { { .76, .25, .48, .05, .2, .25, .35, .48, .62, .46, .76, .25 }, { .76, .1, .7, .95 } } },
}

-- A point of the Catmull-Rom curve between the second and third of four values.
local function curve(a, b, c, d, t)
  return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t * t * t)
end

-- Straight pieces x1, y1, x2, y2 that make up the stroke.
local function add_pieces(pieces, stroke)
  local n = #stroke / 2
  local function x(i) return stroke[2 * math.max(1, math.min(n, i)) - 1] end
  local function y(i) return stroke[2 * math.max(1, math.min(n, i))] end
  local steps = n == 2 and 1 or 4
  for i = 1, n - 1 do
    local from_x, from_y = x(i), y(i)
    for step = 1, steps do
      local t = step / steps
      local to_x = curve(x(i - 1), x(i), x(i + 1), x(i + 2), t)
      local to_y = curve(y(i - 1), y(i), y(i + 1), y(i + 2), t)
      if n == 2 then to_x, to_y = x(2), y(2) end
      pieces[#pieces + 1] = { from_x, from_y, to_x, to_y }
      from_x, from_y = to_x, to_y
    end
  end
end

local function distance(piece, x, y)
  local dx, dy = piece[3] - piece[1], piece[4] - piece[2]
  local length = dx * dx + dy * dy
  local t = length > 0 and ((x - piece[1]) * dx + (y - piece[2]) * dy) / length or 0
  t = math.max(0, math.min(1, t))
  local ex, ey = x - piece[1] - t * dx, y - piece[2] - t * dy
  return math.sqrt(ex * ex + ey * ey)
end

-- A person's habits: slant, pen, size, and for each digit which way, with its points a little
-- elsewhere.
function M.writer(random)
  local writer = {
    slant = random:normal() * 0.18, turn = random:normal() * 0.06, pen = random:between(0.6, 1.25),
    width = random:between(0.6, 0.9), height = random:between(0.75, 0.95), ways = {},
  }
  for digit = 0, 9 do
    local way = {}
    for i, stroke in ipairs(shapes[digit][random:pick(#shapes[digit])]) do
      way[i] = {}
      for j, value in ipairs(stroke) do way[i][j] = value + random:normal() * 0.025 end
    end
    writer.ways[digit] = way
  end
  return writer
end

-- From the unit square to pixels, for one image of `size` x `size`.
local function placement(writer, random, size)
  local scale = size / M.SIZE
  local slant = writer.slant + random:normal() * 0.06
  local turn = writer.turn + random:normal() * 0.06
  local width = writer.width * random:between(0.9, 1.1) * 12 * scale
  local height = writer.height * random:between(0.92, 1.08) * 14 * scale
  local at_x, at_y = size / 2 + random:normal() * 0.6 * scale, size / 2 + random:normal() * 0.6 * scale
  local cos, sin = math.cos(turn), math.sin(turn)
  return function(x, y)
    local px, py = (x - 0.5) * width, (y - 0.5) * height
    px = px - slant * py
    return at_x + cos * px - sin * py, at_y + sin * px + cos * py
  end
end

-- size * size brightnesses from 0 to 1: a light digit on a dark, noisy ground. `size` is SIZE by
-- default; pen and place are larger in a larger image.
function M.digit(digit, writer, random, size)
  size = size or M.SIZE
  local place, pieces = placement(writer, random, size), {}
  for _, stroke in ipairs(writer.ways[digit]) do
    local placed = {}
    for i = 1, #stroke, 2 do
      placed[i], placed[i + 1] = place(stroke[i] + random:normal() * 0.02, stroke[i + 1] + random:normal() * 0.02)
    end
    add_pieces(pieces, placed)
  end
  local pen, light, pixels = writer.pen * random:between(0.85, 1.15) * size / M.SIZE, random:between(0.7, 1), {}
  for y = 0.5, size - 0.5 do
    for x = 0.5, size - 0.5 do
      local nearest = math.huge
      for _, piece in ipairs(pieces) do nearest = math.min(nearest, distance(piece, x, y)) end
      local ink = math.max(0, math.min(1, pen + 0.5 - nearest)) * light + math.abs(random:normal()) * 0.08
      pixels[#pixels + 1] = math.max(0, math.min(1, ink))
    end
  end
  return pixels
end

return M
