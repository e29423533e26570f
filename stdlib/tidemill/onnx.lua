-- onnx.lua - models in ONNX format, run by ONNX Runtime.
--
--   local onnx = require "tidemill.onnx"
--   local session = onnx.InferenceSession(path)                    -- in init()
--   local scores = session:run { image = tensor }                  -- in run()
--
-- The library is loaded when a function here first needs it. A session takes inputs without copying
-- them; its outputs have memory of their own. Its threads are those of the worker's share of the
-- cores. What fails, raises at the script's line: a model that cannot be loaded or run leaves
-- nothing to continue with.
--
-- Its parts: onnx/options.lua, sharing, library, inputs, inspect, device.
local base = require "tidemill.frame.base"
local c = require "tidemill.onnx_c"
local device = require "tidemill.onnx.device"
local inputs_of = require("tidemill.onnx.inputs").of_frame
local library = require "tidemill.onnx.library"
local names = require "tidemill.names"
local options_of = require "tidemill.onnx.options"
local plan = require "tidemill.plan"
local sharing = require "tidemill.onnx.sharing"

--- Models in ONNX format, run by ONNX Runtime, which npm has: `onnxruntime-node`.
---@class tidemill.onnx
local M = {}

M.inspect = require("tidemill.onnx.inspect").inspect

--- What a model says about itself.
---@class tidemill.OnnxMetadata
---@field producer string
---@field graph_name string
---@field domain string
---@field description string
---@field version integer
---@field custom table<string, string>

--- A loaded model.
---@class tidemill.InferenceSession
---@field inputs tidemill.OnnxValue[] in the model's order
---@field outputs tidemill.OnnxValue[]
---@field providers {name: string, nodes: integer}[] what runs the model, with the nodes on each
---@field metadata tidemill.OnnxMetadata
local Session = {}

-- What lua/model/lib_onnx.c knows of each session.
local handles = setmetatable({}, { __mode = "k" })

-- A failure of CUDA stays with the process, so the worker ends after its answer.
local function fail(message, is_of_gpu, advice)
  local worker = library.worker()
  if is_of_gpu and worker then
    worker.retire("a GPU failed in it, and would fail again: " .. message)
  end
  plan.raise(library.with_errors(message) .. (advice or ""))
end

local function handle_of(session, what)
  local handle = handles[session]
  if not handle then
    base.refuse("%s: a %s was given; accepted: a session (methods are called with ':')", what, type(session))
  end
  return handle
end

-- Passes the outputs on, after what the library has logged.
local function outputs(...)
  if (...) == nil then
    local _, message, _, is_of_gpu = ...
    fail(message, is_of_gpu)
  end
  library.drain()
  return ...
end

local function check_names(list)
  list = type(list) == "string" and { list } or list
  if type(list) ~= "table" or #list == 0 then
    base.refuse("run: the outputs are a %s; accepted: a list of names", type(list) == "table" and "list without names"
      or type(list))
  end
  local seen = {}
  for i, name in ipairs(list) do
    if type(name) ~= "string" then
      base.refuse("run: the name of output %d is a %s; accepted: a string", i, type(name))
    elseif seen[name] then
      base.refuse("run: output '%s' is named twice", name)
    end
    seen[name] = true
  end
  return list
end

--- Runs the model and returns its outputs as values, in the model's order, or in that of
--- `output_names`. `inputs` are tensors by name, or the tensor of a model with one input. A data
--- frame gives each input the column of its name; a model with one input of rows and columns gets
--- all columns, in their order.
---
--- Outputs are tensors. A sequence is a list, and a map a table, as classifiers of scikit-learn
--- return them; a map with an integer beyond 2^53 raises. A call that does not fit the model, and
--- one that fails in the library, raise at the caller's line.
---
---     local session = onnx.InferenceSession(model)
---     local scores = tensor.from_table("float32", { { 0.25, 0.75 }, { 1, 0 } })
---     local labels, probabilities = session:run { scores = scores }
---     assert(labels[1] == "dog" and labels[2] == "cat")
---     assert(probabilities[1].dog == 0.75)
---     assert(session:run(scores, { "labels" })[2] == "cat")
---@param inputs table<string, tidemill.Tensor>|tidemill.Tensor|tidemill.DataFrame
---@param output_names? string[]
---@return any ...
function Session:run(inputs, output_names)
  local handle = handle_of(self, "run")
  if output_names ~= nil then
    output_names = check_names(output_names)
  end
  if base.is_frame(inputs) then
    inputs = inputs_of(inputs, self.inputs)
  elseif type(inputs) ~= "table" and type(inputs) ~= "userdata" then
    base.refuse("run: the inputs are a %s; accepted: tensors by name { name = tensor }, a tensor, or a data frame",
      type(inputs))
  end
  return outputs(c.run(handle, inputs, output_names))
end

--- Frees the model's memory. A later call of run() raises.
---
---     local session = onnx.InferenceSession(model)
---     session:close()
---     assert(not pcall(session.run, session, {}))
function Session:close()
  c.close(handle_of(self, "close"))
  device.drop(self)
end

-- A misspelt name raises.
setmetatable(Session, {
  __index = names.guard("InferenceSession", Session, { "inputs", "outputs", "providers", "metadata" }),
})
local session_meta = { __index = Session, __name = "InferenceSession" }

-- "1 node", "3 nodes"
local function counted(n, word)
  return ("%d %s%s"):format(n, word, n == 1 and "" or "s")
end

local function placement(model)
  local words = {}
  for i, provider in ipairs(model.providers) do
    words[i] = ("%s (%s)"):format(provider.name, counted(provider.nodes, "node"))
  end
  return table.concat(words, ", ")
end

-- Why it runs there, if the script has not said where.
local function choice(checked)
  if not checked.is_auto then
    return ""
  elseif checked.why_cpu then
    return "; the CPU, because " .. checked.why_cpu
  end
  return ("; CUDA, because the worker was given the GPU '%s'"):format(device.given())
end

-- How many nodes the CPU has beside a GPU.
local function log_left(path, model)
  local left, all = 0, 0
  for _, provider in ipairs(model.providers) do
    all = all + provider.nodes
    left = left + (provider.name == "CPUExecutionProvider" and provider.nodes or 0)
  end
  if left > 0 then
    library.log(1, ("'%s': the CPU runs %d of %d nodes, which the GPU cannot run"):format(path, left, all))
  end
end

local function log_loaded(path, model, checked, seconds, is_shared)
  local runtime = library.runtime()
  library.drain()
  library.log(checked.lacks_cuda and 2 or 1,
    ("loaded '%s' in %.2f s: %s, %s, %sONNX Runtime %s of '%s'%s"):format(path, seconds, placement(model),
      counted(checked.intra_op_num_threads, "thread"), is_shared and "shared weights, " or "", runtime.version,
      runtime.path, choice(checked)))
  if checked.is_on_device then
    log_left(path, model)
  end
end

-- Opens a session, over shared weights if it may.
local function load(path, checked, folders)
  local handle, model, seconds, is_of_gpu, lacks_provider = sharing.open(path, checked, folders)
  checked.is_shared = handle ~= nil
  if not handle then
    handle, model, seconds, is_of_gpu, lacks_provider = c.open(path, checked, folders, path)
  end
  return handle, model, seconds, is_of_gpu, lacks_provider
end

-- "auto" does without CUDA if it cannot be used.
local function open(path, options)
  local function known()
    local runtime, message = library.runtime()
    return runtime and runtime.providers or plan.raise(("cannot load '%s': %s"):format(path, message))
  end
  local checked, folders = options_of.check(options, known), library.folders()
  known() -- the step's result depends on it
  library.log(1, ("loading '%s'"):format(path)) -- the last line if the worker is killed meanwhile
  local handle, model, seconds, is_of_gpu, lacks_provider = load(path, checked, folders)
  if not handle and lacks_provider and checked.is_auto then
    checked = options_of.without_cuda(options, known, library.with_errors(model))
    handle, model, seconds, is_of_gpu = load(path, checked, folders)
  end
  if not handle then
    local first = checked.providers[1]
    local lacks_cuda = lacks_provider and first and first.name == "CUDA"
    fail(model, is_of_gpu, lacks_cuda and "; 'tidemill help models' says which files CUDA needs, and where")
  end
  sharing.explain(path, checked)
  checked.is_on_device, model.is_on_device = model.is_on_device, nil
  return handle, model, seconds, checked
end

--- Loads a model. Options: `providers` ("auto", below); `intra_op_num_threads`, by default the
--- worker's share of the cores, or 1 with CUDA; `inter_op_num_threads` (1) and `execution_mode`
--- ("sequential"); `allow_spinning`, by default only where the node has one worker;
--- `graph_optimization_level` ("all"); `enable_cpu_mem_arena`, by default where only the first axis
--- of the inputs varies; `max_batch`: run() cuts inputs along the first axis into pieces of at most
--- this size, and joins the outputs; `share_weights` (below); `config`: entries of a session by
--- their own names. A model whose first axis has a fixed size always gets pieces of that size.
---
--- `share_weights`: "auto", true or false. Workers share one copy of the weights, which the first
--- worker writes into the workspace, optimised and as kernels want it; it takes up to twice the
--- room of the weights. "auto": with weights of 64 MB or more, and with several workers on the
--- node; true: with any. It needs the CPU alone, the level "all", and ONNX Runtime 1.21 or newer.
--- Before the copy is used, it must return what the model returns. Where there cannot be one, the
--- session has weights of its own, and the log says why. `tidemill clean` removes the copies.
---
--- `providers` is a list of names in order of preference: "CPU", "CUDA", or another that the
--- library has, in any case and also as "CUDAExecutionProvider", each optionally with settings:
--- { "CUDA", gpu_mem_limit = "4GB" }. The CPU takes nodes that the others cannot run only if it is
--- in the list. If one of them cannot be used, InferenceSession() raises with the reason. "auto"
--- takes CUDA if the worker was given a GPU and CUDA can be loaded, else the CPU; the worker's log
--- says which and why. The worker's GPU is device 0. A GPU that lacks memory fails the try. After
--- another failure of a GPU, a fresh process takes the worker's place.
---
--- A model that cannot be loaded raises, with the reason. So does a missing library: onnx.runtime()
--- looks for it without raising.
---
---     local session = onnx.InferenceSession(model, { intra_op_num_threads = 1, max_batch = 64 })
---     assert(session.inputs[1].name == "scores" and session.inputs[1].shape[1] == "n")
---     assert(session.providers[1].name == "CPUExecutionProvider")
---@param path string
---@param options? table
---@return tidemill.InferenceSession
function M.InferenceSession(path, options)
  if type(path) ~= "string" or path == "" or path:find("\0", 1, true) then
    base.refuse("InferenceSession: %s was given; accepted: the path of a model",
      type(path) == "string" and "'" .. path:gsub("%z", "\\0") .. "'" or "a " .. type(path))
  end
  local handle, model, seconds, checked = open(path, options)
  local session = setmetatable(model, session_meta)
  handles[session] = handle
  if checked.is_on_device then
    device.add(session)
  end
  log_loaded(path, model, checked, seconds, checked.is_shared)
  return session
end

--- Finds ONNX Runtime, and loads it: its file, its version, and the providers that it was built
--- with, which need not be loadable on this machine.
---
---     local runtime, message = onnx.runtime()
---     assert(runtime, message)
---     assert(runtime.version:match "^1%." and #runtime.providers > 0)
---@return {path: string, version: string, providers: string[]}? runtime nil if there is none
---@return string? message
---@return string? code
function M.runtime()
  return library.runtime()
end

return M
