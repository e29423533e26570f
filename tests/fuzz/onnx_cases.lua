-- Compares what onnx.inspect() reads with the output of onnx_cases.py: onnx_cases.lua FOLDER
local json = require "tidemill.json"
local onnx = require "tidemill.onnx.inspect"

local count, faults = 0, 0
for line in assert(io.open(arg[1] .. "/expected.jsonl")):lines() do
  local expected = assert(json.decode(line))
  local info = assert(onnx.inspect(arg[1] .. "/" .. expected.file))
  count = count + 1
  for _, key in ipairs { "inputs", "outputs", "nodes", "opsets" } do
    local found, wanted = json.encode(info[key]), json.encode(expected[key])
    if found ~= wanted then
      print(("%s: %s is %s, not %s"):format(expected.file, key, found, wanted))
      faults = faults + 1
    end
  end
end
print(("%d models, %d faults"):format(count, faults))
os.exit(count > 900 and faults == 0 and 0 or 1)
