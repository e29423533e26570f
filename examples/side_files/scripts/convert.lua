-- The entry script. `units` and `places.tsv` lie beside it: `require` looks there, and it is the
-- current directory.
local path = require "tidemill.path"
local units = require "units"

local places = {}

-- Once per worker: the table that every mini-batch needs.
function init()
  for line in io.lines "places.tsv" do
    local sensor, place = line:match "^([^\t]+)\t(.+)$"
    places[sensor] = place
  end
end

function run(mini_batch)
  local rows = {}
  for i, name in ipairs(mini_batch) do
    local sensor, highest = path.stem(name), -math.huge
    for line in io.lines(name) do highest = math.max(highest, tonumber(line)) end
    rows[i] = ("%s: %.1f C"):format(places[sensor] or error("no place for sensor " .. sensor), units.celsius(highest))
  end
  return rows
end
