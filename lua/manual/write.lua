-- write.lua - writes a part of the manual to standard output: tidemill lua write.lua
-- header|entry-script|reference|parameters ROOT. ROOT is the top of the source tree, which has the
-- texts. `tidemill help --man` writes tidemill(1).
local here = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = here .. "/../?.lua;" .. package.path -- "manual.NAME"

local library = require "manual.library"
local version = require("tidemill").version

local writers = {}

function writers.header(root)
  local header = require "manual.header"
  return header.page(header.source(root .. "/core/include"), version)
end

writers["entry-script"] = function(root)
  return require("manual.entry_script").page(library.open(root .. "/stdlib"), version,
    library.read_file(root .. "/examples/hello/score.lua"))
end

function writers.reference(root)
  return require("manual.reference").text(library.open(root .. "/stdlib"), version)
end

function writers.parameters()
  return require("tidemill.plan").classes()
end

local kind, root = ...
io.write(assert(writers[kind], "usage: tidemill lua write.lua header|entry-script|reference|parameters ROOT")(root))
