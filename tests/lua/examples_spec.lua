-- The examples in the comments of tidemill.frame, .image, .tensor, .onnx and .tokenizer: each
-- public function has one, and each runs. An example knows these modules, `fs`, `path`, which is a
-- file that is not there yet, `model`, a classifier, and a `tokenizer` with the file `vocabulary`.
local ffi = require "ffi"
local folder = require "support.folder"
local frame = require "tidemill.frame"
local fs = require "tidemill.fs"
local image = require "tidemill.image"
local onnx = require "tidemill.onnx"
local onnxruntime = require "support.onnxruntime.versions"
local small_tokenizer = require "tokenizer.small_tokenizer"
local tensor = require "tidemill.tensor"
local Tokenizer = require "tidemill.tokenizer"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local stdlib = here .. "/../../stdlib/tidemill/"

-- {name, text of its example or nil} for each function with a doc comment in a file.
local function documented(file)
  local found, example, is_doc = {}, nil, false
  for line in io.lines(stdlib .. file) do
    local code = line:match "^%-%-%-     (.*)$"
    local name = line:match "^function ([%w_.:]+)%("
    if code then
      example = (example and example .. "\n" or "") .. code
    elseif name and is_doc then
      found[#found + 1] = { name = name, example = example }
    end
    is_doc = line:find "^%-%-%-" ~= nil
    if not is_doc then example = nil end
  end
  return found
end

local files = {
  ["frame.lua"] = {},
  ["frame/column.lua"] = {},
  -- for other files of ours
  ["frame/shape.lua"] = { "M.from_rows", "M.cast_column", "M.parse_column" },
  ["frame/group.lua"] = {},
  ["frame/join.lua"] = { "M.concat" },
  ["frame/text.lua"] = {},
  ["image.lua"] = {},
  ["onnx.lua"] = {},
  ["tensor.lua"] = {},
  ["tensor/elements.lua"] = {},
  ["tensor/frames.lua"] = {},
  ["tensor/numbers.lua"] = {},
  ["tensor/shapes.lua"] = {},
  ["tokenizer.lua"] = {},
}

local function is_in(list, name)
  for _, known in ipairs(list) do
    if known == name then return true end
  end
  return false
end

-- Models need a library, and an example is a script without a folder of its own.
local library = onnxruntime.library "1.30"
if library then
  ffi.cdef "int setenv(const char *name, const char *value, int overwrite);"
  ffi.C.setenv("TIDEMILL_ONNXRUNTIME", library, 1)
end

describe("the documentation of frames, images, tensors, models and tokenizers", function()
  local dir
  before_each(function() dir = folder.new() end)
  after_each(function() dir:remove() end)

  local count = 0
  for file, inner in pairs(files) do
    for _, entry in ipairs(documented(file)) do
      if not is_in(inner, entry.name) then
        count = count + 1
        it("has an example of " .. entry.name .. " in " .. file .. " that is right", function()
          if file == "onnx.lua" and not library then return pending(onnxruntime.MISSING) end
          assert.is_truthy(entry.example, entry.name .. " has no example")
          assert.is_truthy(entry.example:find("assert", 1, true), entry.name .. ": its example asserts nothing")
          local run = assert(loadstring(entry.example, "=" .. entry.name))
          local vocabulary = small_tokenizer.write(dir:at "tokenizer.json")
          local known = { frame = frame, image = image, tensor = tensor, onnx = onnx, fs = fs, path = dir:at "file",
                          Tokenizer = Tokenizer, vocabulary = vocabulary,
                          tokenizer = Tokenizer.from_file(vocabulary),
                          model = here .. "/../fuzz/corpus/onnx_file/labels.onnx" }
          setfenv(run, setmetatable(known, { __index = _G }))
          run()
        end)
      end
    end
  end

  it("covers all functions", function()
    assert.is_true(count >= 74, count .. " examples")
  end)
end)
