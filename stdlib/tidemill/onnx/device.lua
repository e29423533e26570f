-- device.lua - the GPU that this worker was given, and which sessions run on one. Others than
-- tidemill.onnx ask here, because it loads nothing.
local M = {}

local sessions = setmetatable({}, { __mode = "k" })

--- Returns the name of the worker's GPU, as CUDA_VISIBLE_DEVICES has it; nil: it was given none, or
--- this is not a worker.
function M.given()
  local ok, worker = pcall(require, "tidemill.entry_script_c")
  return ok and worker.gpu or nil
end

--- Notes that a session runs on a device, until it is collected or dropped.
function M.add(session)
  sessions[session] = true
end

function M.drop(session)
  sessions[session] = nil
end

--- Whether a session runs on a device.
function M.is_used()
  return next(sessions) ~= nil
end

return M
