-- Compares the kinds that the model has named with the known ones:
-- tidemill lua confusion.lua OUTPUT
local frame = require "tidemill.frame"

local output = assert(arg[1], "name the output of the job")
local counts, kinds, right, total = {}, {}, 0, 0
for row in assert(frame.read_csv(output)):rows() do
  if not counts[row.known] then
    counts[row.known] = {}
    kinds[#kinds + 1] = row.known
  end
  counts[row.known][row.kind] = (counts[row.known][row.kind] or 0) + 1
  total = total + 1
  if row.known == row.kind then right = right + 1 end
end
table.sort(kinds)

print(("%-12s"):format "known" .. ("%12s"):rep(#kinds):format(unpack(kinds)))
for _, known in ipairs(kinds) do
  local line = { ("%-12s"):format(known) }
  for _, kind in ipairs(kinds) do line[#line + 1] = ("%12d"):format(counts[known][kind] or 0) end
  print(table.concat(line))
end
print(("%d of %d right"):format(right, total))
