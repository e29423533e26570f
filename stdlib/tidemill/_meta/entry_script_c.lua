---@meta tidemill.entry_script_c
-- The C side of tidemill.entry_script: lua/entry/lib_entry_script.c. Scripts use
-- tidemill.entry_script.

---@class tidemill.entry_script_c
---@field properties table<string, any> the properties of EntryScript except its logger
---@field is_only_worker boolean whether the step has at most one worker on the node at once
---@field owns_process boolean whether nothing but the script runs in this process, as in a worker
---@field library_dirs string[] where libraries are looked for first
---@field models_dir string? where the job's workers share models
---@field session string which session of the job this is
---@field init_left fun(): number? the seconds until init_timeout; nil: there is none, or it is over
---@field level integer the lowest level that is written: 0 debug, 1 info, 2 warning, 3 error
---@field gpu string? the GPU that the worker was given, as CUDA_VISIBLE_DEVICES has it
local c = {}

--- Appends a line to the worker's log, at any level.
---@param level integer 0 to 3
---@param message string line breaks are kept; lines after the first are indented by four blanks
function c.write(level, message) end

--- Keeps with the step which library runs it, so that its result is not reused when another one
--- would be found. nil, message, code: it cannot be written.
---@param name string of the record: letters and digits
---@param record string core/sys/plugin_record.h, as JSON
---@return true?
function c.keep_library(name, record) end

--- Shows to users whether this call waits for another worker.
---@param is_waiting boolean
function c.show_wait(is_waiting) end

--- Replaces this worker by a fresh process, when the current mini-batch has been answered.
---@param why string for the log of the job
function c.retire(why) end

return c
