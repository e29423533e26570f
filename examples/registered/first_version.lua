-- Values of parameters, for --params-file.
local tidemill = require "tidemill"
local ws = tidemill.Workspace.from_config()
return { readings = tidemill.Dataset.get_by_name(ws, "readings", 1) }
