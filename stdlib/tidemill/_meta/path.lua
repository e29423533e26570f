---@meta tidemill.path

--- Names of files, as text: no disk is asked. Arguments that are no strings, or hold a NUL byte, raise.
---@class tidemill.path
local path = {}

--- The parts with '/' between them. An absolute part makes what stands before it go; an empty one adds nothing.
---@param first string
---@param ... string
---@return string
function path.join(first, ...) end

--- What follows the last '/': "a/b.txt" gives "b.txt", "a/" gives "".
---@param name string
---@return string
function path.basename(name) end

--- What stands before the last '/': "a/b.txt" gives "a", "b.txt" gives ".", "/b.txt" gives "/".
---@param name string
---@return string
function path.dirname(name) end

--- The base name without its last extension: "a/b.tar.gz" gives "b.tar"; ".profile" has none.
---@param name string
---@return string
function path.stem(name) end

--- The last extension with its dot, "" without one: stem(name) .. ext(name) is basename(name).
---@param name string
---@return string
function path.ext(name) end

--- The whole path, without ".", ".." and "//". Links are not followed.
---@param name string
---@param dir? string what a relative name is relative to; the current directory when not given. A relative one is
--- itself relative to the current directory
---@return string
function path.absolute(name, dir) end

return path
