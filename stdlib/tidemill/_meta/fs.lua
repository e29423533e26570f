---@meta tidemill.fs

--- Files and folders. An operation that fails returns nil, a message and a code ("ENOENT", "EACCES", ...), so that
--- `assert(fs.read(path))` raises the message. A wrong argument or option raises at the caller's line.
---@class tidemill.fs
local fs = {}

--- The whole file, at most 1 GB; as bytes.
---@param path string
---@return string? text
---@return string? message
---@return string? code
function fs.read(path) end

--- Puts a file with this text under the name: whole or, after a kill or a power cut, not at all; who reads meanwhile
--- sees the old one. It is written beside its place and renamed. A link is followed, the mode of a file that was there
--- is kept, the folder must exist.
---@param path string
---@param text string
---@param options? { sync?: boolean } false: not sent to the disk first; faster, and safe against kills alone
---@return true? ok
---@return string? message
---@return string? code
function fs.write(path, text, options) end

--- Adds the text at the end of the file, with one write, so that lines of several workers do not mix (on a local disk).
--- A file that is missing is made.
---@param path string
---@param text string
---@return true? ok
---@return string? message
---@return string? code
function fs.append(path, text) end

--- Makes a folder.
---@param path string
---@param options? { parents?: boolean, exist_ok?: boolean } those above it as well; a folder that is there is no error
---@return true? ok
---@return string? message
---@return string? code
function fs.mkdir(path, options) end

--- The names in a folder but "." and "..", in the order of their bytes.
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
---@param options? { follow?: boolean } false: of a link itself, not of what it leads to
---@return tidemill.fs.Stat? stat
---@return string? message
---@return string? code ENOENT when nothing is there
function fs.stat(path, options) end

--- Whether the name leads to something: false also for a link that leads nowhere, and for what may not be looked at.
---@param path string
---@return boolean
function fs.exists(path) end

--- Removes a file, a link (not what it leads to) or an empty folder. What is missing is an error, ENOENT.
---@param path string
---@param options? { recursive?: boolean } a folder with all that is in it; a path whose last part is "." or ".."
--- raises, and so does "/"
---@return true? ok
---@return string? message
---@return string? code
function fs.remove(path, options) end

--- Copies a file's bytes and permissions; the copy appears whole, as with `write`. `to` is the name of the copy, not of
--- the folder for it.
---@param from string
---@param to string
---@param options? { sync?: boolean } as for `write`
---@return true? ok
---@return string? message
---@return string? code
function fs.copy(from, to, options) end

return fs
