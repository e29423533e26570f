-- A module of the script's own.
local units = {}

function units.celsius(fahrenheit)
  return (fahrenheit - 32) * 5 / 9
end

return units
