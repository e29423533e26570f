---@meta tidemill.fs

--- Files and folders. An operation that fails returns nil, a message and a code ("ENOENT",
--- "EACCES", ...), so `assert(fs.read(path))` raises the message. A wrong argument or option raises
--- at the caller's line.
---@class tidemill.fs
local fs = {}

--- Returns the whole file as bytes; at most 1 GB.
---@param path string
---@return string? text
---@return string? message
---@return string? code
function fs.read(path) end

--- Writes a file with this text. After a kill or a power cut, the file is complete or unchanged,
--- and another process that reads it sees the old file or the new one. To do so, it writes a
--- temporary file beside it and renames that. It follows a link, and keeps the mode of an existing
--- file. The folder must exist.
---@param path string
---@param text string
---@param options? { sync?: boolean } false: does not wait for the disk; faster, but not safe
--- against a power cut
---@return true? ok
---@return string? message
---@return string? code
function fs.write(path, text, options) end

--- Appends the text to the file with a single write, so that lines of several workers do not mix
--- (on a local disk). Creates the file if it does not exist.
---@param path string
---@param text string
---@return true? ok
---@return string? message
---@return string? code
function fs.append(path, text) end

--- Makes a folder.
---@param path string
---@param options? { parents?: boolean, exist_ok?: boolean } parents: also makes missing folders
--- above it; exist_ok: an existing folder is not an error
---@return true? ok
---@return string? message
---@return string? code
function fs.mkdir(path, options) end

--- Returns the names in a folder except "." and "..", sorted by bytes.
---@param path string
---@return string[]? names
---@return string? message
---@return string? code
function fs.list(path) end

---@class tidemill.fs.Stat
---@field type "file"|"directory"|"link"|"other"
---@field size integer bytes
---@field mtime number seconds since the epoch
---@field mode integer permissions: 420 is 0644

---@param path string
---@param options? { follow?: boolean } false: describes a link itself, not its target
---@return tidemill.fs.Stat? stat
---@return string? message
---@return string? code ENOENT: nothing exists there
function fs.stat(path, options) end

--- Whether the path leads to something. False also for a link to nothing, and for a path without
--- permission.
---@param path string
---@return boolean
function fs.exists(path) end

--- Removes a file, a link (not its target) or an empty folder. A missing path is an error, ENOENT.
---@param path string
---@param options? { recursive?: boolean } also removes a folder with all its contents; "/", and a
--- path whose last part is "." or "..", raise
---@return true? ok
---@return string? message
---@return string? code
function fs.remove(path, options) end

--- Copies a file's bytes and permissions. The copy appears complete, as with `write`. `to` is the
--- name of the copy, not its folder.
---@param from string
---@param to string
---@param options? { sync?: boolean } as for `write`
---@return true? ok
---@return string? message
---@return string? code
function fs.copy(from, to, options) end

return fs
