-- sharing.lua - the option `share_weights`: one copy of a model's weights for all workers, in the
-- workspace (core/model/prepared.h). Whatever prevents that costs memory only: the plain model is
-- used, and the log says why.
local c = require "tidemill.onnx_c"
local library = require "tidemill.onnx.library"

local M = {
  wait_s = 60, -- for another worker, which makes the copy
  weights_min = 64 * 1024 * 1024, -- bytes, for "auto"
}

local INFO, WARNING = 1, 2
local ALL = 99

local function log_plain(level, path, why)
  library.log(level, ("the weights of '%s' are not shared: %s"):format(path, why))
end

-- Why no session with these options shares its weights; nil: it may.
local function reason_against(checked, worker)
  if #checked.providers > 0 then
    return "only sessions on the CPU alone share them"
  elseif checked.optimization ~= ALL then
    return "that needs graph_optimization_level = \"all\""
  elseif not worker or not worker.models_dir then
    return "there is no job with workers that could share them"
  end
end

-- Whether "auto" shares: with other workers, and if nothing speaks against it.
local function is_wanted(checked, worker)
  local is_asked = checked.share_weights == true
  if not is_asked and (checked.share_weights == false or not worker or worker.is_only_worker) then
    return false
  end
  return reason_against(checked, worker) == nil
end

-- The worker, as C needs it, and how long it may wait for another one: wait_s, but no longer than
-- half the time until init_timeout, so that the plain model can still be loaded.
local function place_of(checked, worker)
  local left = worker.init_left()
  return {
    models_dir = worker.models_dir,
    session = worker.session,
    weights_min = checked.share_weights == true and 0 or M.weights_min,
    is_limited = left ~= nil,
  }, math.min(M.wait_s, (left or math.huge) / 2)
end

-- Waits for another worker, and says so.
local function prepare(path, checked, folders, worker)
  local place, wait_s = place_of(checked, worker)
  local state, text = c.prepare(path, checked, folders, place, 0)
  if state == "busy" then
    library.log(INFO, ("waiting for another worker, which prepares the weights of '%s' for all"):format(path))
    worker.show_wait(true)
    state, text = c.prepare(path, checked, folders, place, wait_s)
    worker.show_wait(false)
    if state == "busy" then
      text = ("another worker has prepared them for more than %.3g s"):format(wait_s)
    end
  end
  return state, text
end

local LEVELS = { busy = INFO, plain = INFO, unchecked = INFO, refused = WARNING }

-- The path of the copy, or nil.
local function copy_of(path, checked, folders, worker)
  local state, text = prepare(path, checked, folders, worker)
  if state == "made" then
    library.log(INFO, ("prepared the weights of '%s' for all workers: '%s'"):format(path, text))
  elseif LEVELS[state] then
    log_plain(LEVELS[state], path, text)
  end
  return (state == "ready" or state == "made") and text or nil
end

--- Opens a session over shared weights, as c.open() does; nil: there is no copy of the model that
--- can be used.
function M.open(path, checked, folders)
  local worker = library.worker()
  if not is_wanted(checked, worker) then
    return nil
  end
  local copy = copy_of(path, checked, folders, worker)
  if not copy then
    return nil
  end
  local handle, model, seconds = c.open(copy, checked, folders, path)
  if not handle then -- `tidemill clean` may have removed it
    log_plain(INFO, path, model)
  end
  return handle, model, seconds
end

--- Says why a loaded session has weights of its own, if the script has asked for others.
function M.explain(path, checked)
  local why = checked.share_weights == true and reason_against(checked, library.worker())
  if why then
    log_plain(INFO, path, why)
  end
end

return M
