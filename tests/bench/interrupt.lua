-- The cost of interruptible: an item is the name of a workload; each returned element is "name
-- seconds", the shortest of several runs in one worker. The first run also compiles the code. Time
-- is that of the wall clock: with a CPU timer set, CPU time counts in ticks of some ms.
local ffi = require "ffi"

ffi.cdef [[
typedef struct { long seconds, nanoseconds; } bench_time;
int clock_gettime(int clock, bench_time *out);
]]
local time = ffi.new "bench_time"
local function now()
  ffi.C.clock_gettime(1, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

local RUNS = tonumber(... or 7)
local workloads = {}

function workloads.numbers_sieve()
  local n, count, is_composite = 400000, 0, {}
  for i = 2, n do
    if not is_composite[i] then
      count = count + 1
      for j = i * i, n, i do
        is_composite[j] = true
      end
    end
  end
  return count
end

function workloads.numbers_mandelbrot()
  local inside = 0
  for y = 0, 199 do
    for x = 0, 199 do
      local cr, ci, zr, zi = x / 100 - 1.5, y / 100 - 1, 0, 0
      local n = 0
      while n < 100 and zr * zr + zi * zi < 4 do
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        n = n + 1
      end
      if n == 100 then inside = inside + 1 end
    end
  end
  return inside
end

function workloads.numbers_matrix()
  local n, a, b = 120, {}, {}
  for i = 1, n do
    a[i], b[i] = {}, {}
    for j = 1, n do
      a[i][j], b[i][j] = i + j, i - j
    end
  end
  local trace = 0
  for i = 1, n do
    for j = 1, n do
      local sum = 0
      for k = 1, n do
        sum = sum + a[i][k] * b[k][j]
      end
      if i == j then trace = trace + sum end
    end
  end
  return trace
end

local text = ("the ebb and the flood of the tide turn the wheel of the mill; "):rep(2000)

function workloads.strings_words()
  local counts = {}
  for word in text:gmatch "%a+" do
    counts[word] = (counts[word] or 0) + 1
  end
  return counts.tide
end

function workloads.strings_build()
  local parts = {}
  for i = 1, 60000 do
    parts[#parts + 1] = "row " .. i .. ","
  end
  return #table.concat(parts)
end

local N = 1000000
local xs, ys = ffi.new("double[?]", N), ffi.new("double[?]", N)

function workloads.ffi_array()
  for i = 0, N - 1 do
    local x = xs[i]
    local y = ys[i]
    y = y + 1.5 * x
    x = x + 1
    xs[i] = x
    ys[i] = y
  end
  return ys[N - 1]
end

local bytes = ffi.new("uint8_t[?]", N)
for i = 0, N - 1 do
  bytes[i] = i % 61 + 10
end

function workloads.ffi_bytes()
  local lines, length, longest = 0, 0, 0
  for i = 0, N - 1 do
    if bytes[i] == 10 then
      lines = lines + 1
      if length > longest then
        longest = length
      end
      length = 0
    else
      length = length + 1
    end
  end
  return lines + longest
end

function run(mini_batch) -- luacheck: ignore
  local rows = {}
  for i, path in ipairs(mini_batch) do
    local name = path:match "[^/]+$"
    local best = math.huge
    for _ = 1, RUNS do
      collectgarbage()
      local begin = now()
      assert(workloads[name]())
      best = math.min(best, now() - begin)
    end
    rows[i] = ("%s %.6f"):format(name, best)
  end
  return rows
end
