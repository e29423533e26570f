---@meta tidemill.onnx_c
-- The C side of tidemill.onnx: lua/model/lib_onnx.c. Scripts use tidemill.onnx.

---@class tidemill.onnx_c
local c = {}

--- Finds and loads ONNX Runtime. nil, message, code: it cannot be used.
---@param folders string[] where to look first
---@return string? path
---@return string version
---@return string providers one in each line
function c.runtime(folders) end

--- Says which library was loaded (core/sys/plugin_record.h), as JSON; nil: none was.
---@return string?
function c.record() end

--- Takes the lines that the library has logged since the last call.
---@return string? lines each begins with its level, 0 to 3; nil: there are none
---@return integer? lost how many more there were
function c.take_log() end

--- Whether a line of the library's log says nothing that the message does not say.
---@param line string
---@param message string
---@return boolean
function c.repeats(line, message) end

--- How many cores this process may use.
---@return integer
function c.cores() end

--- Returns the bytes of a size, "4GB"; nil: not a size.
---@param text string
---@return number?
function c.bytes(text) end

--- Loads a model. nil, message, code, whether a GPU failed, and whether a provider cannot be used
--- on this machine: it cannot be loaded.
---@param path string
---@param options table checked, see onnx/options.lua
---@param folders string[]
---@param shown string its path in messages
---@return userdata? session
---@return table model inputs, outputs, providers, metadata, is_on_device
---@return number seconds that it took
function c.open(path, options, folders, shown) end

--- Finds or makes the copy of a model that workers share. Of fewer bytes of weights than
--- weights_min there is none; is_limited: this worker has a limited time.
---@param path string
---@param options table checked, see onnx/options.lua
---@param folders string[]
---@param place { models_dir: string, session: string, weights_min: integer, is_limited: boolean }
---@param wait_s number for another process that makes it
---@return string state "ready", "made", "busy", "plain", "refused", "unchecked" or "none"
---@return string? text the copy's path, or why there is none
function c.prepare(path, options, folders, place, wait_s) end

--- Runs a model, and returns its outputs. nil, message, code, and whether a GPU failed, for another
--- reason than its memory: it failed. Raises for a wrong call.
---@param session userdata
---@param inputs table<string, tidemill.Tensor>|tidemill.Tensor
---@param outputs? string[]
function c.run(session, inputs, outputs) end

---@param session userdata
function c.close(session) end

return c
