function run(mini_batch)
  local rows = {}
  for i, path in ipairs(mini_batch) do
    local words = 0
    for line in io.lines(path) do words = words + select(2, line:gsub("%S+", "")) end
    rows[i] = path:match "[^/]+$" .. ": " .. words .. " words"
  end
  return rows
end
