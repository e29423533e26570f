-- A file is the totals of one day; the row says what they come to, with tax.
local vat = tonumber((...))

function run(files)
  local rows = {}
  for i, file in ipairs(files) do
    local shops, orders, amount = 0, 0, 0
    for line in io.lines(file) do
      local count, sum = line:match ",(%d+),(%S+)$"
      shops, orders, amount = shops + 1, orders + count, amount + sum
    end
    rows[i] = ("%s: %d orders in %d shops, %.2f, with %g %% tax %.2f"):format(
      file:match "day%-([%d-]+)", orders, shops, amount, vat, amount * (1 + vat / 100))
  end
  return rows
end
