-- options.lua - the options of onnx.InferenceSession(): checked, with their defaults, as
-- lua/model/lib_onnx.c reads them.
local base = require "tidemill.frame.base"
local c = require "tidemill.onnx_c"
local device = require "tidemill.onnx.device"
local library = require "tidemill.onnx.library"

local M = {}

local function refuse(...)
  base.refuse("InferenceSession: " .. string.format(...))
end

local kinds = {
  allow_spinning = "boolean",
  config = "table",
  enable_cpu_mem_arena = "boolean",
  execution_mode = "|sequential|parallel|",
  graph_optimization_level = "|none|basic|extended|all|",
  inter_op_num_threads = "number",
  intra_op_num_threads = "number",
  max_batch = "number", -- lint: allow words, the name that users know
  providers = "any",
  share_weights = "any",
}

local levels = { none = 0, basic = 1, extended = 2, all = 99 }

local function check_number(options, name, most)
  local n = options[name]
  if n ~= nil and not (n >= 1 and n <= most and n % 1 == 0) then
    refuse("option '%s' is %s; accepted: an integer from 1 to %d", name, tostring(n), most)
  end
  return n
end

-- A size with its unit, "4GB", in bytes; other texts unchanged.
local function in_bytes(text)
  local bytes = text:find "^%d+ ?[kKmMgGtT][bB]$" and c.bytes(text)
  return bytes and ("%.0f"):format(bytes) or text
end

-- {name, value} of a table by name, sorted. Values become text, as the library takes them.
local function pairs_of(what, given)
  local list = {}
  for name, value in pairs(given) do
    local kind = type(value)
    if type(name) ~= "string" then
      refuse("%s has the key %s; accepted: names, such as { [\"session.some_entry\"] = \"1\" }", what, tostring(name))
    elseif kind == "boolean" then
      value = value and "1" or "0"
    elseif kind == "number" then
      value = ("%.14g"):format(value)
    elseif kind ~= "string" or value:find("\0", 1, true) then
      refuse("%s: '%s' is a %s; accepted: a string, a number or a boolean", what, name, kind)
    end
    list[#list + 1] = { name, value }
  end
  table.sort(list, function(a, b)
    return a[1] < b[1]
  end)
  return list
end

-- ---- providers ----

local SUFFIX = "ExecutionProvider"

-- "CPU" of "CPUExecutionProvider"
local function short_name(name)
  return name:sub(-#SUFFIX):lower() == SUFFIX:lower() and name:sub(1, -#SUFFIX - 1) or name
end

-- As the library takes them; it knows no other case.
local spelled = {}
for name in ("CPU CUDA WebGPU XNNPACK QNN SNPE OpenVINO AZURE VitisAI MIGraphX NvTensorRtRtx"):gmatch "%S+" do
  spelled[name:lower()] = name
end

-- "CUDA" of "cuda" or "CUDAExecutionProvider"; another name stays as it is.
local function spelling(name)
  return spelled[short_name(name):lower()] or name
end

local function provider_of(given, i)
  local item = type(given) == "table" and given or { given }
  local name, settings = item[1], {}
  if type(name) ~= "string" then
    refuse("providers[%d] is a %s; accepted: a name, such as \"CPU\", or { \"NAME\", setting = value }", i, type(name))
  end
  for key, value in pairs(item) do
    if key ~= 1 then
      settings[key] = value
    end
  end
  local list = pairs_of(("providers[%d]"):format(i), settings)
  for _, setting in ipairs(list) do
    setting[2] = in_bytes(setting[2])
  end
  return { name = spelling(name), settings = list }
end

-- The arena grows by what is asked for, not by doubling: other workers may share the GPU. The
-- library's own search for convolutions tries all of them for each new size of a batch.
local CUDA = { arena_extend_strategy = "kSameAsRequested", cudnn_conv_algo_search = "HEURISTIC", device_id = "0" }

local function with_defaults(provider)
  local given, settings = {}, provider.settings
  for _, setting in ipairs(settings) do
    given[setting[1]] = true
  end
  for name, value in pairs(CUDA) do
    if not given[name] then
      settings[#settings + 1] = { name, value }
    end
  end
  table.sort(settings, function(a, b)
    return a[1] < b[1]
  end)
  return { name = "CUDA", settings = settings }
end

-- Refuses a provider that the library was not built with. Its list and the names that it takes
-- differ in their case.
local function check_known(provider, known)
  local names, is_cuda = {}, provider.name == "CUDA"
  for i, name in ipairs(known) do
    names[i] = short_name(name)
    if names[i]:lower() == short_name(provider.name):lower() then
      return
    end
  end
  refuse("ONNX Runtime has no provider '%s'; this one has: %s%s", provider.name, table.concat(names, ", "),
    is_cuda and "; CUDA needs a build of the library with it" or base.hint(provider.name, names))
end

local function has_cuda(known)
  for _, name in ipairs(known) do
    if spelling(name) == "CUDA" then
      return true
    end
  end
  return false
end

-- What "auto" takes, as providers_of() returns it, and why the CPU.
local function choose(known)
  local gpu = device.given()
  if not gpu then
    return {}, true, "the worker was given no GPU"
  elseif not has_cuda(known()) then
    return {}, true, "ONNX Runtime has no CUDA"
  end
  return { with_defaults { settings = {} } }, true
end

-- The providers before the CPU, and whether the CPU takes the other nodes. `known` is called when
-- the library's own names are needed.
local function providers_of(given, known)
  if given == nil or given == "auto" then
    return choose(known)
  end
  if type(given) ~= "table" or #given == 0 then
    refuse("option 'providers' is %s; accepted: \"auto\", or a list of names, such as { \"CPU\" }",
      type(given) == "table" and "an empty list" or type(given) == "string" and ("'%s'"):format(given)
        or "a " .. type(given))
  end
  local list = {}
  for i, item in ipairs(given) do
    local provider = provider_of(item, i)
    if provider.name == "CPU" then
      if i < #given then
        refuse("the provider CPU takes every node, so that those behind it would have none; name it last")
      end
      if #provider.settings > 0 then
        refuse("the provider CPU has no setting '%s'", provider.settings[1][1])
      end
      return list, true
    end
    check_known(provider, known())
    list[i] = provider.name == "CUDA" and with_defaults(provider) or provider
  end
  return list, false
end

-- ---- all ----

local function check_share(given)
  if given ~= nil and given ~= "auto" and type(given) ~= "boolean" then
    refuse("option 'share_weights' is %s; accepted: \"auto\", true or false",
      type(given) == "string" and ("'%s'"):format(given) or tostring(given))
  end
  return given == nil and "auto" or given
end

-- The worker's part of the machine: it decides how many threads a session has on the CPU. And
-- whether the process is the worker's own, so that loading may change how it keeps memory.
local function share()
  local worker = library.worker()
  if worker then
    return worker.properties.cores, worker.is_only_worker, worker.owns_process
  end
  return c.cores(), true, false
end

--- Checks the options; `known` returns the providers of the library. In the result, `is_auto`: they
--- choose the providers; `why_cpu`: why that is the CPU.
function M.check(options, known)
  options = base.options("InferenceSession", options, kinds)
  local cores, is_only, owns_process = share()
  local providers, falls_back, why_cpu = providers_of(options.providers, known)
  local is_cuda = providers[1] and providers[1].name == "CUDA"
  local spins = options.allow_spinning
  if spins == nil then
    spins = is_only
  end
  return {
    intra_op_num_threads = check_number(options, "intra_op_num_threads", 1024) or is_cuda and 1 or cores,
    inter_op_num_threads = check_number(options, "inter_op_num_threads", 1024) or 1,
    owns_process = owns_process,
    rows_max = check_number(options, "max_batch", 2 ^ 31 - 1) or 0,
    is_parallel = options.execution_mode == "parallel",
    allow_spinning = spins,
    share_weights = check_share(options.share_weights),
    optimization = levels[options.graph_optimization_level or "all"],
    enable_cpu_mem_arena = options.enable_cpu_mem_arena,
    providers = providers,
    falls_back = falls_back,
    is_auto = options.providers == nil or options.providers == "auto",
    why_cpu = why_cpu,
    config = pairs_of("option 'config'", options.config or {}),
  }
end

--- Options that chose CUDA, which cannot be used for the reason `why`, choose the CPU.
function M.without_cuda(options, known, why)
  local given = {}
  for name, value in pairs(options or {}) do
    given[name] = value
  end
  given.providers = { "CPU" }
  local checked = M.check(given, known)
  checked.is_auto, checked.why_cpu, checked.lacks_cuda = true, "CUDA failed: " .. why, true
  return checked
end

return M
