-- Compares the output with the labels: luajit accuracy.lua OUTPUT [LABELS]
-- Status 1 where fewer than 95 % are right, or a file is missing or named twice.
local here = arg[0]:match "^(.*)/" or "."

local function read_rows(path)
  local rows, count = {}, 0
  for line in assert(io.open(path)):lines() do
    local name, digit = line:match "^(.+): (%d)$"
    if not name or rows[name] then
      print(path .. ": not a row, or a second one for its file: " .. line)
      os.exit(1)
    end
    rows[name], count = digit, count + 1
  end
  return rows, count
end

if not arg[1] then
  print "usage: accuracy.lua OUTPUT [LABELS]"
  os.exit(2)
end
local predicted, rows = read_rows(arg[1])
local labels, count = read_rows(arg[2] or here .. "/labels.txt")
local right = 0
for name, digit in pairs(labels) do
  if predicted[name] == digit then right = right + 1 end
end
local percent = 100 * right / count
print(("%d rows for %d images, %d right: %.1f %%"):format(rows, count, right, percent))
os.exit(rows == count and percent >= 95 and 0 or 1)
