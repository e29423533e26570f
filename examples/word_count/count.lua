-- A row for each text, a table: it is written as one line of JSON.
local fs = require "tidemill.fs"
local path = require "tidemill.path"

local function most_frequent(counts)
  local best
  for word, n in pairs(counts) do
    if not best or n > counts[best] or (n == counts[best] and word < best) then best = word end
  end
  return best
end

function run(mini_batch)
  local rows = {}
  for i, name in ipairs(mini_batch) do
    local words, counts = 0, {}
    for word in assert(fs.read(name)):gmatch "%a[%a'-]*" do
      word = word:lower()
      words = words + 1
      if #word > 4 then counts[word] = (counts[word] or 0) + 1 end
    end
    rows[i] = { text = path.basename(name), words = words, most_frequent = most_frequent(counts) }
  end
  return rows
end
