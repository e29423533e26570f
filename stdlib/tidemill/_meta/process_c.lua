---@meta tidemill.process_c
-- The C side of tidemill.process; lua/lib_process.c. Scripts use tidemill.process.

---@class tidemill.process_c
local c = {}

---@param settings table checked by tidemill.process: argv, env and changes, cwd, input, stdout, stderr, timeout,
--- capture_stdout, capture_stderr, show_stderr
---@return tidemill.process.Result?, string? message, string? code
function c.run(settings) end

---@param settings table
---@return tidemill.process.Program?, string? message, string? code
function c.spawn(settings) end

---@class tidemill.process.Program
---@field pid integer
local Program = {} -- luacheck: ignore 241

--- Waits for its end. May be asked again; the answer stays.
---@param seconds? number without it, without limit; 0: only looks
---@return { code?: integer, signal?: integer }? ended nil when it still runs
---@return string? message
---@return string? code ETIMEDOUT when it still runs
function Program:wait(seconds) end

--- Sends a signal to the program alone. One that has ended is no error.
---@param signal? integer 9 (SIGKILL) when not given; 15 asks it to end; 0 does nothing
---@return true? ok
---@return string? message
---@return string? code
function Program:kill(signal) end

return c
