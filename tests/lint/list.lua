-- Prints the files of the tree, one per line, without those that .gitignore names:
-- luajit list.lua ROOT ENDING...
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. package.path
local source = require "source"

local wanted = {}
for i = 2, #arg do wanted[arg[i]] = true end
for _, path in ipairs(source.list(arg[1])) do
  if wanted[path:match "%.(%w+)$" or ""] then print(path) end
end
