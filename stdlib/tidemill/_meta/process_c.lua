---@meta tidemill.process_c
-- The C side of tidemill.process; lua/bind/lib_process.c. Scripts use tidemill.process.

---@class tidemill.process_c
local c = {}

---@param settings table checked by tidemill.process: argv, env and changes, cwd, input, stdout,
--- stderr, timeout, capture_stdout, capture_stderr, show_stderr
---@return tidemill.process.Result?, string? message, string? code
function c.run(settings) end

---@param settings table
---@return tidemill.process.Program?, string? message, string? code
function c.spawn(settings) end

---@class tidemill.process.Program
---@field pid integer
local Program = {} -- luacheck: ignore 241

--- Waits for its end. You may ask again; the answer stays the same.
---@param seconds? number by default without limit; 0: does not wait
---@return { code?: integer, signal?: integer }? ended nil if it is still running
---@return string? message
---@return string? code ETIMEDOUT if it is still running
function Program:wait(seconds) end

--- Sends a signal to the program only. If the program has ended, this is not an error.
---@param signal? integer 9 (SIGKILL) by default; 15 asks it to end; 0 does nothing
---@return true? ok
---@return string? message
---@return string? code
function Program:kill(signal) end

return c
