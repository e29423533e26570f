-- A job of a stock LuaJIT: `luajit script.lua PIPELINE.lua`, with the module tidemill in
-- package.cpath.
local path = assert(arg[1], "a pipeline file is expected")
local tidemill = require "tidemill"

local pipeline = tidemill.load(path)
local job = pipeline:submit {
  on_event = function(event)
    if event.kind == "mini_batch" and event.outcome ~= "done" then
      io.stderr:write(("mini-batch %d: %s\n"):format(event.mini_batch, event.text))
    end
  end,
}
print(job:wait(), job:output())
os.exit(job:status() == "Completed" and 0 or 1, true)
