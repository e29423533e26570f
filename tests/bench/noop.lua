-- A line a path, and nothing else: what is measured is the way there and back.
local function run(mini_batch)
  local rows = {}
  for i = 1, #mini_batch do
    rows[i] = mini_batch[i]
  end
  return rows
end

return { run = run }
