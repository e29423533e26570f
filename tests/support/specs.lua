-- Runs busted specs inside the program's own interpreter: tidemill lua specs.lua FILE_spec.lua
-- [OPTION]... The options are busted's. What specs share is found as "support.NAME".
local here = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = here .. "/../?.lua;" .. package.path

-- busted's way to say that specs failed is error(nil)
local ok, message = pcall(require "busted.runner", { standalone = false, output = "TAP" })
if not ok then
  if message then io.stderr:write(tostring(message), "\n") end
  os.exit(1)
end
