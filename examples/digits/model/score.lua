-- The entry script: says which digit each image shows.
local EntryScript = require "tidemill.entry_script"
local network = require "network"
local pgm = require "pgm"

local arguments = { ... }
local threshold = 0 -- less sure than this: a line in the script's log
for i, name in ipairs(arguments) do
  if name == "--threshold" then threshold = assert(tonumber(arguments[i + 1]), "--threshold wants a number") end
end

local logger, digits

-- Once per worker: the expensive part.
function init()
  logger = EntryScript().logger
  digits = network.decode(require "weights")
  logger:info("the network is loaded, threshold %g", threshold)
end

-- One row for each image. An image that cannot be read has none, and so counts as a failed item.
function run(mini_batch)
  local rows = {}
  for _, path in ipairs(mini_batch) do
    local name = path:match "[^/]+$"
    local pixels, why = pgm.read(path)
    if pixels and #pixels == digits.hidden.inputs then
      local digit, probability = network.classify(digits, pixels)
      if probability < threshold then logger:warning("%s: unsure, %d with %.2f", name, digit, probability) end
      rows[#rows + 1] = name .. ": " .. digit
    else
      logger:error("%s: %s", name, pixels and "not 16 x 16 pixels" or why)
    end
  end
  return rows
end
