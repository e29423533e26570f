-- Runs each case that FOLDER/cases.lua lists: ours.lua FOLDER. Writes each input that was made from
-- images to FOLDER/CASE.INPUT, and each output to FOLDER/CASE.OUTPUT.ours: a line with its type and
-- shape, and its elements.
local folder = ...
local ffi = require "ffi"
local image = require "tidemill.image"
local onnx = require "tidemill.onnx"
local tensor = require "tidemill.tensor"

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function write(path, ...)
  local file = assert(io.open(path, "wb"))
  file:write(...)
  assert(file:close())
end

local function texts_of(bytes)
  local list = {}
  for text in bytes:gmatch "(%Z*)%z" do list[#list + 1] = text end
  return list
end

local function elements(t)
  return t.type == "string" and table.concat(t:to_table(), "\0") .. "\0" or t:bytes()
end

local function input(case, i)
  local path = folder .. "/" .. case.name .. "." .. i.name
  if i.images then
    local t, read_ones = image.batch(i.images, i.options)
    assert(#read_ones == #i.images)
    write(path, t:bytes())
    return t
  end
  local bytes = read(path)
  if i.type == "string" then return tensor.from_table("string", texts_of(bytes)) end
  local t = tensor.new(i.type, i.shape)
  assert(#t:bytes() == #bytes)
  ffi.copy(t:data(), bytes, #bytes)
  return t
end

for _, case in ipairs(dofile(folder .. "/cases.lua")) do
  local session = onnx.InferenceSession(case.model, { intra_op_num_threads = 1 })
  local inputs = {}
  for _, i in ipairs(case.inputs) do inputs[i.name] = input(case, i) end
  local outputs = { session:run(inputs) }
  for k, o in ipairs(session.outputs) do
    local t = outputs[k]
    local head = t.type .. " " .. table.concat(t.shape, " ") .. "\n"
    write(("%s/%s.%s.ours"):format(folder, case.name, o.name), head, elements(t))
  end
end
