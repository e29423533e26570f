-- All contents read as those of files.
local function run(mini_batch)
  local rows = {}
  for i, path in ipairs(mini_batch) do
    local file = assert(io.open(path))
    rows[i] = #assert(file:read "*a")
    file:close()
  end
  return rows
end

return { run = run }
