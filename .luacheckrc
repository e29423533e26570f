-- Every Lua file is checked: the library's own, scripts of examples and of tests.
std = "luajit"
codes = true
max_line_length = 120
include_files = { "**/*.lua" }
exclude_files = { "build", "build-*" }

-- An entry script defines its hooks as globals.
local hooks = { "init", "run", "shutdown", "recover" }
files["examples"] = { globals = hooks }
files["stdlib/tidemill/model_script.lua"] = { globals = hooks }
files["tests"] = { globals = hooks, allow_defined_top = true }

-- Types alone: what C provides, without bodies.
files["stdlib/tidemill/_meta"] = { ignore = { "212" } }
