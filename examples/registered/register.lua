-- tidemill lua register.lua [--description TEXT]: what is in readings/ becomes the next version of
-- the dataset `readings`, unless the newest version is that already.
local argparse = require "tidemill.argparse"
local tidemill = require "tidemill"

local parser = argparse.ArgumentParser { description = "registers the readings" }
parser:add_argument("--description", { help = "of this version" })
local args = parser:parse_args()

local ws = tidemill.Workspace.from_config()
local found = tidemill.Dataset.File.from_files "readings/*.csv"
local registered = found:register(ws, "readings", { create_new_version = true, description = args.description })
print(("readings version %d: %s"):format(registered.version, registered.description))
