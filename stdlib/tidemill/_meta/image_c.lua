---@meta tidemill.image_c

--- The C half of `tidemill.image`. Not for scripts.
---@class tidemill.image_c
local image_c = {}

--- Makes what the other functions take as options.
---@param fields table numbers of enums, sizes (0: not set), lists of four; image/options.lua makes
--- it
---@return userdata options
function image_c.options(fields) end

--- Reads the header.
---@param name string for messages, and the path of the file if there are no bytes
---@param contents string|false
---@param max_bytes integer
---@return table? info
---@return string? message
---@return string? code
function image_c.info(name, contents, max_bytes) end

--- Reads one image.
---@param options userdata
---@param name string
---@param contents string|false
---@return tidemill.Tensor?
---@return table|string place_or_message
---@return string? code
function image_c.load(options, name, contents) end

--- Writes an image file.
---@param path string
---@param tensor tidemill.Tensor uint8, of two or three axes
---@param format string "png" or "jpeg"
---@param quality integer
---@return boolean? ok
---@return string? message
---@return string? code
function image_c.write(path, tensor, format, quality) end

--- Returns the shape of a tensor of n images.
---@param options userdata
---@param n integer
---@return integer[]
function image_c.shape(options, n) end

--- Begins work on batches, with helper threads. The collector ends it, if close() does not.
---@param options userdata
---@param threads integer
---@return userdata work
function image_c.open(options, threads) end

--- Adds a batch. Nothing of it may be used until it was taken.
---@param work userdata
---@param tensor tidemill.Tensor with room for all of it
---@param names string[]
---@param contents (string|false)[]
function image_c.add(work, tensor, names, contents) end

--- Waits for the first batch that was added and not taken. The images that could be read are then
--- the first ones in its tensor.
---@param work userdata
---@return integer[]? numbers of those in the batch; nil: it was stopped
---@return table[]|string places
---@return table<integer, string>|string failures messages by number
function image_c.take(work) end

--- Ends the work.
---@param work userdata
function image_c.close(work) end

--- Makes a new tensor shorter. Only for one that no script has seen.
---@param tensor tidemill.Tensor
---@param n integer of its first axis
function image_c.shorten(tensor, n) end

--- Returns the first n slices as a tensor, until finish() ends it.
---@param tensor tidemill.Tensor
---@param n integer
---@return tidemill.Tensor
---@return userdata lease
function image_c.lend(tensor, n) end

--- Ends what lend() returned.
---@param lease userdata
function image_c.finish(lease) end

--- Returns the number of cores that this process may use.
---@return integer
function image_c.cores() end

return image_c
