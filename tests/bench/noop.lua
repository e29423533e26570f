-- One line per path and nothing else: this measures the way from the supervisor and back.
local function run(mini_batch)
  local rows = {}
  for i = 1, #mini_batch do
    rows[i] = mini_batch[i]
  end
  return rows
end

return { run = run }
