---@meta tidemill.path

--- File names as text; no disk is read. Arguments that are not strings, or contain NUL, raise.
---@class tidemill.path
local path = {}

--- Joins the parts with '/'. An absolute part drops all parts before it; an empty part adds
--- nothing.
---@param first string
---@param ... string
---@return string
function path.join(first, ...) end

--- Returns what follows the last '/': "a/b.txt" gives "b.txt", "a/" gives "".
---@param name string
---@return string
function path.basename(name) end

--- Returns what comes before the last '/': "a/b.txt" gives "a", "b.txt" gives ".", "/b.txt" gives
--- "/".
---@param name string
---@return string
function path.dirname(name) end

--- Returns the base name without its last extension: "a/b.tar.gz" gives "b.tar"; ".profile" has no
--- extension.
---@param name string
---@return string
function path.stem(name) end

--- Returns the last extension with its dot, or "". stem(name) .. ext(name) is basename(name).
---@param name string
---@return string
function path.ext(name) end

--- Returns the absolute path, without ".", ".." and "//". Does not follow links.
---@param name string
---@param dir? string the folder where a relative name starts, itself relative to the current
--- directory; by default the current directory
---@return string
function path.absolute(name, dir) end

return path
