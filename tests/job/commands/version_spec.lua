-- `tidemill version`: its libraries, and those that scripts would load.
local job = require "support.job"
local onnxruntime = require "support.onnxruntime.versions"
local small_tokenizer = require "tokenizer.small_tokenizer"

local function prints(t, status, words, said, environment)
  job.says(t:run(words, { env = environment }), status, said)
end

describe("version", function()
  after_each(job.check_end)

  it("lists the libraries in use", function()
    local t = job.case()
    for _, said in ipairs { "LuaJIT 2.", "libuv 1.", "yajl 2.", "xxhash 0." } do prints(t, 0, { "version" }, said) end
    prints(t, 2, { "version", "more" }, "'more' is one word too many")
  end)

  it("says with --libraries whether texts can become tokens, and so does the tokenizer", function()
    local t = job.case()
    prints(t, 0, { "version", "--libraries" }, "\nlibutf8proc 2.")
    t:write("libraries/libutf8proc.so.2", "not a library")
    local environment = { "LD_LIBRARY_PATH=" .. t:path "libraries" }
    local words = "cannot load libutf8proc.so.2: "
    prints(t, 0, { "version", "--libraries" }, "no libutf8proc: " .. words, environment)
    local file = small_tokenizer.write(t:path "tokenizer.json")
    t:write("load.lua", ('require("tidemill.tokenizer").from_file(%q)'):format(file))
    prints(t, 1, { "lua", "load.lua" }, "cannot load '" .. file .. "': " .. words, environment)
    prints(t, 1, { "lua", "load.lua" }, "if it is missing, install Debian's package libutf8proc2", environment)
    prints(t, 0, { "lua", "load.lua" }, "")
  end)

  it("says with --libraries which libraries scripts would load, and where they are", function()
    local t = job.case()
    prints(t, 0, { "version", "--libraries" }, "no ONNX Runtime: the variable TIDEMILL_ONNXRUNTIME is '/nowhere': ",
      { "TIDEMILL_ONNXRUNTIME=/nowhere" })
    for _, version in ipairs(onnxruntime.VERSIONS) do
      local library = onnxruntime.library(version)
      if library then
        prints(t, 0, { "version", "--libraries" }, "ONNX Runtime " .. version .. ".0 of '" .. library .. "'",
          { "TIDEMILL_ONNXRUNTIME=" .. library })
      end
    end
  end)
end)
