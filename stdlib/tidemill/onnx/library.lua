-- library.lua - where ONNX Runtime is searched for, and where what it logs goes.
local c = require "tidemill.onnx_c"
local path = require "tidemill.path"

local M = {}

--- Returns the C side of EntryScript(); nil outside a worker.
function M.worker()
  local ok, worker = pcall(require, "tidemill.entry_script_c")
  return ok and worker or nil
end

local function add_folder(list, dir)
  for _, known in ipairs(list) do
    if known == dir then
      return
    end
  end
  list[#list + 1] = dir
end

--- Returns the folders to look in first: the script's, and those of `module_paths`, which are in
--- LUA_CPATH. In a worker, the script's are that of its copy and the one that it was copied from. A
--- model in place of a script has only that of the pipeline file.
function M.folders()
  local list, worker = {}, M.worker()
  if worker then
    for _, dir in ipairs(worker.library_dirs) do
      add_folder(list, dir)
    end
  elseif type(arg) == "table" and type(arg[0]) == "string" and arg[0] ~= "-" then
    add_folder(list, path.absolute(path.dirname(arg[0])))
  end
  for entry in (os.getenv "LUA_CPATH" or ""):gmatch "[^;]+" do
    local dir = entry:match "^(/.*)/%?%.so$"
    if dir then
      add_folder(list, dir)
    end
  end
  return list
end

--- Writes a line to the worker's log; elsewhere nowhere.
function M.log(level, text)
  local worker = M.worker()
  if worker and level >= worker.level then
    worker.write(level, text)
  end
end

local ERROR = 3

--- Moves the library's lines into the worker's log, and returns those that are errors.
function M.drain()
  local lines, lost = c.take_log()
  local errors = {}
  for level, text in (lines or ""):gmatch "(%d)([^\n]*)\n" do
    M.log(tonumber(level), "ONNX Runtime: " .. text)
    if tonumber(level) == ERROR then
      errors[#errors + 1] = text
    end
  end
  if lost and lost > 0 then
    M.log(2, ("ONNX Runtime: %d more lines, which were not kept"):format(lost))
  end
  return errors
end

--- Returns a message with the errors that the library has logged, except those that it has already.
function M.with_errors(message)
  for _, text in ipairs(M.drain()) do
    if not c.repeats(text, message) then
      message = message .. "; " .. text
    end
  end
  return message
end

local is_kept = false

-- Keeps with the step which library runs it. True; or nil, message, code.
local function keep(worker)
  local ok, message, code = worker.keep_library("onnxruntime", c.record())
  if not ok then
    return nil, "cannot keep which ONNX Runtime runs the step: " .. message, code
  end
  is_kept = true
  return true
end

--- Returns {path, version, providers}; or nil, message, code. From then on the step's result
--- depends on the library.
function M.runtime()
  local file, version, names = c.runtime(M.folders())
  if not file then
    return nil, M.with_errors(version), names
  end
  local worker = M.worker()
  if worker and not is_kept then
    local ok, message, code = keep(worker)
    if not ok then
      return nil, message, code
    end
  end
  local providers = {}
  for name in names:gmatch "[^\n]+" do
    providers[#providers + 1] = name
  end
  return { path = file, version = version, providers = providers }
end

return M
