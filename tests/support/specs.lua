-- Runs busted specs in the program's own interpreter: tidemill lua specs.lua FILE_spec.lua
-- [OPTION]... The options are those of busted. Specs load shared helpers as "support.NAME".
local here = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = here .. "/../?.lua;" .. package.path

local relayed = require "support.relayed"
if relayed.IS_ON then
  relayed.words_of_busted = { unpack(arg) }
  table.insert(arg, "--helper=" .. here .. "/relayed_cases.lua")
end

-- busted calls error(nil) when specs have failed
local ok, message = pcall(require "busted.runner", { standalone = false, output = "TAP" })
if not ok then
  if message then io.stderr:write(tostring(message), "\n") end
  os.exit(1)
end
