-- The versions of ONNX Runtime that versions.sh has found, for specs:
--
--   local library = onnxruntime.library "1.30"
--   if not library then return pending(onnxruntime.MISSING) end
--
-- tests/run.sh lists a spec that lacks one, with the reason.
local onnxruntime = {}

onnxruntime.VERSIONS = { "1.17", "1.30" }
onnxruntime.MISSING = os.getenv "TM_TEST_ONNXRUNTIME_MISSING"
  or "run it by ctest, or set TM_TEST_ONNXRUNTIME_1_17 and _1_30"

local function spec_name()
  for level = 2, 50 do
    local info = debug.getinfo(level, "S")
    local name = info and info.source:match "([%w_]+_spec)%.lua$"
    if name or not info then return name end
  end
end

local function note()
  local list, spec = os.getenv "TM_SKIPPED_CASES", spec_name() or "?"
  local out = list and io.open(list, "a")
  if out then
    out:write(spec, ": ", onnxruntime.MISSING, "\n")
    out:close()
  end
end

local function variable(prefix, version)
  local value = os.getenv(prefix .. version:gsub("%.", "_"))
  if not value then note() end
  return value
end

--- The library of a version, or nil.
function onnxruntime.library(version) return variable("TM_TEST_ONNXRUNTIME_", version) end

--- NODE_PATH for the onnxruntime-node of a version, or nil.
function onnxruntime.node_path(version) return variable("TM_TEST_ONNXRUNTIME_NODE_", version) end

return onnxruntime
