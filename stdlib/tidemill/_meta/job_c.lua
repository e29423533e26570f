---@meta tidemill.job_c
--- The C half of tidemill.job. Not for scripts.
local M = {}

--- Makes a handle of a job; `options` are as for pipeline:submit, with parameters as text. Raises
--- errors in the definition.
---@param pipeline tidemill.Pipeline
---@param options table
---@return userdata
function M.submit(pipeline, options) end

--- Runs a pipeline file in this state. Raises errors in it.
---@param path string
---@return tidemill.Pipeline
function M.load(path) end

---@param job userdata
---@param seconds? number
---@return true?, string?, string?
function M.wait(job, seconds) end

---@param job userdata
---@param now? boolean
function M.cancel(job, now) end

---@param job userdata
---@return string
function M.status(job) end

---@param job userdata
---@return { name: string, dir: string, cause?: string, exit_status?: integer }
function M.info(job) end

---@param job userdata
---@return tidemill.JobCounts
function M.counts(job) end

---@param job userdata
---@return table[]
function M.steps(job) end

---@param job userdata
---@return string?
function M.result(job) end

---@param job userdata
function M.close(job) end

return M
