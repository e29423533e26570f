---@meta tidemill.develop_c

--- The C half of tidemill.develop. Not for scripts. Scripts, walks and mini-batches are userdata.
--- Errors raise.
local develop_c = {}

---@param fields { script: string, script_name: string, script_dir: string, arguments: string[],
--- level: integer }
---@return userdata script with its own folders; not loaded yet
function develop_c.open(fields) end

--- Loads the script, or loads it again.
---@param script userdata
function develop_c.load(script) end

---@param script userdata
function develop_c.init(script) end

---@param script userdata
---@param given table|userdata what run() is given
---@param items integer
---@param info? userdata for its context
---@return any returned
---@return integer elements
---@return table<integer, string> marks
function develop_c.run(script, given, items, info) end

---@param script userdata
---@return string
function develop_c.rows(script) end

---@param script userdata
function develop_c.shutdown(script) end

---@param script userdata
---@return {output_dir: string, log_dir: string, temp_dir: string, log: string, script_dir: string}
function develop_c.places(script) end

---@param script userdata
---@return table
function develop_c.environment(script) end

---@param dataset table
---@param options table
---@return userdata walk
function develop_c.walk(dataset, options) end

---@param walk userdata
---@return (table|userdata)? given
---@return userdata? info
---@return integer? index
---@return string? warnings
function develop_c.next(walk) end

---@param dir string
---@param step? string
---@param index integer
---@param is_over boolean the job has ended, even if a process still has it open
---@return userdata script
---@return table|userdata given
---@return userdata info
---@return string? notes
function develop_c.again(dir, step, index, is_over) end

return develop_c
