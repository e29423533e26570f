-- All contents read through context:open().
local function run(mini_batch, context)
  local rows = {}
  for i, item in ipairs(mini_batch) do
    local reader = assert(context:open(item))
    rows[i] = #assert(reader:read "*a")
    reader:close()
  end
  return rows
end

return { run = run }
