-- One sha256sum for a whole mini-batch: its files are the arguments, its lines are the rows.
local path = require "tidemill.path"
local process = require "tidemill.process"

function run(mini_batch)
  local r = process.run({ "sha256sum", "--", unpack(mini_batch) }, { capture_output = true, check = true })
  local rows = {}
  for sum, name in r.stdout:gmatch "(%x+)  ([^\n]+)\n" do
    rows[#rows + 1] = sum .. "  " .. path.basename(name)
  end
  return rows
end
