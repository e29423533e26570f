---@meta
-- Tables of options that the functions in tidemill.lua take.

---@class tidemill.Environment
---@field variables? table<string, string|number|boolean>
---@field module_paths? string|string[] folders that `require` searches after the script's own

---@class tidemill.RegisterOnCompleteOptions
---@field description? string
---@field tags? table<string, string|number|boolean>
