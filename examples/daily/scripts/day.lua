-- A file is what one shop has sold on one day; the row is its total.
local frame = require "tidemill.frame"
local path = require "tidemill.path"

function run(files)
  local rows = {}
  for i, file in ipairs(files) do
    local orders = frame.read_csv(file)
    rows[i] = ("%s,%d,%g"):format(path.stem(file), #orders, orders.c.amount:sum())
  end
  return rows
end
