-- Runs the specs beside this file with busted, in our interpreter: `tidemill lua tests/lua/run.lua
-- [busted's options]`.
local here = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = here .. "/../?.lua;" .. package.path -- "support.NAME"
if #arg == 0 then
  table.insert(arg, here) -- busted reads the global
end
-- busted's way to say that specs failed is error(nil)
local ok, err = pcall(require "busted.runner", { standalone = false })
if not ok then
  io.stderr:write(err and tostring(err) .. "\n" or "")
  os.exit(1)
end
