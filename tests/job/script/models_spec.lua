-- Models in scripts, with each version of ONNX Runtime that tests have: calls and their messages,
-- stopping, threads, log, and what is left behind.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local root = here .. "/../../.."
package.path = root .. "/examples/?.lua;" .. package.path
local job = require "support.job"
local onnx_writer = require "onnx_writer"
local versions = require "support.onnxruntime.versions"

local weights = { "w", "float32", { 3, 2 }, { 1, 2, 3, 4, 5, 6 } }
local multiply = { { "MatMul", { "x", "w" }, { "y" } } }

local models = {
  scores = {
    inputs = { { "x", "float32", { "n", 3 } } }, outputs = { { "y", "float32", { "n", 2 } } },
    initializers = { weights }, nodes = multiply, metadata = { labels = "cat,dog" },
  },
  -- always four rows
  four = {
    inputs = { { "x", "float32", { 4, 3 } } }, outputs = { { "y", "float32", { 4, 2 } } },
    initializers = { weights }, nodes = multiply,
  },
  two = {
    inputs = { { "a", "float32", { "n" } }, { "b", "float32", { "n", 1 } } },
    outputs = { { "sum", "float32", { "n", "n" } }, { "b2", "float32", { "n", 1 } } },
    nodes = { { "Add", { "a", "b" }, { "sum" } }, { "Add", { "b", "b" }, { "b2" } } },
  },
  pair = {
    inputs = { { "a", "float32", { "n" } }, { "b", "float32", { "n" } } }, outputs = { { "sum", "float32", { "n" } } },
    nodes = { { "Add", { "a", "b" }, { "sum" }, name = "plus" } },
  },
  outer = {
    inputs = { { "a", "float32", { "n", 1 } }, { "b", "float32", { 1, "m" } } },
    outputs = { { "product", "float32", { "n", "m" } } }, nodes = { { "MatMul", { "a", "b" }, { "product" } } },
  },
  texts = {
    inputs = { { "x", "string", { "n" } } }, outputs = { { "y", "string", { "n" } } },
    nodes = { { "Identity", { "x" }, { "y" } } },
  },
  image = {
    inputs = { { "image", "float32", { "n", 3, 8, 9 } } }, outputs = { { "mean", "float32", { "n", 3, 1, 1 } } },
    nodes = { { "GlobalAveragePool", { "image" }, { "mean" } } },
  },
  -- as large as its input says
  large = {
    inputs = { { "shape", "int64", { 1 } } }, outputs = { { "zeros", "float32", { "n" } } },
    nodes = { { "ConstantOfShape", { "shape" }, { "zeros" } } },
  },
  new_format = { ir_version = 99 },
  -- counts in small steps
  count = {
    inputs = { { "steps", "int64", {} } }, outputs = { { "sum", "float32", {} } },
    initializers = { { "go", "bool", {}, { 1 } }, { "zero", "float32", {}, { 0 } } },
    nodes = {
      { "Loop", { "steps", "go", "zero" }, { "sum" }, attributes = { body = { graph = {
        inputs = { { "i", "int64", {} }, { "again", "bool", {} }, { "x", "float32", {} } },
        outputs = { { "on", "bool", {} }, { "more", "float32", {} } },
        initializers = { { "one", "float32", {}, { 1 } } },
        nodes = { { "Identity", { "again" }, { "on" } }, { "Add", { "x", "one" }, { "more" } } },
      } } } },
    },
  },
}

-- a map of classes with these numbers
local function labelled(labels)
  return {
    opsets = { ["ai.onnx.ml"] = 1 }, inputs = { { "x", "float32", { "n", 2 } } },
    outputs = { { "same", "float32", { "n", 2 } }, { "maps", sequence = { map = { "int64", "float32" } } } },
    nodes = { { "Identity", { "x" }, { "same" } },
      { "ZipMap", { "x" }, { "maps" }, domain = "ai.onnx.ml", attributes = { classlabels_int64s = labels } } },
  }
end
models.ids, models.large_ids = labelled { -7, 2 ^ 53 }, labelled { 1, -2 ^ 53 - 2 }
models.new_format.inputs, models.new_format.outputs = models.scores.inputs, models.scores.outputs
models.new_format.initializers, models.new_format.nodes = { weights }, multiply

local function new_case(names)
  local t = job.case()
  for _, name in ipairs(names) do onnx_writer.write(t:path(name .. ".onnx"), models[name]) end
  return t
end

-- A case for each version that is here; `run(t, environment, library)`.
local function for_versions(what, names, run)
  for _, version in ipairs(versions.VERSIONS) do
    it(what .. ", with ONNX Runtime " .. version, function()
      local library = versions.library(version)
      if not library then return pending(versions.MISSING) end
      local t = new_case(names)
      -- where a library may leave something
      local environment = { "TIDEMILL_ONNXRUNTIME=" .. library, "HOME=" .. t.dir .. "/home" }
      run(t, environment, library)
      assert.is_false(t:has "home")
    end)
  end
end

local CALLS = [[
local frame = require "tidemill.frame"
local onnx = require "tidemill.onnx"
local tensor = require "tidemill.tensor"

local function same(expected, t, ...)
  assert(select("#", ...) == 0, "another value")
  local function text(v)
    if type(v) ~= "table" then return tostring(v) end
    local words = {}
    for i, x in ipairs(v) do words[i] = text(x) end
    return "{" .. table.concat(words, " ") .. "}"
  end
  local given = text(type(t) == "userdata" and t:to_table() or t)
  if given ~= expected then error(given .. ", not " .. expected, 2) end
end
local function refused(words, f, ...)
  local ok, message = pcall(f, ...)
  if ok or not message:find(words, 1, true) then error(tostring(message) .. ", not " .. words, 2) end
  assert(message:find "^calls.lua:%d+: ", message)
end
local function floats(values) return tensor.from_table("float32", values) end
local rows = floats { { 1, 2, 3 }, { 4, 5, 6 }, { 1, 1, 1 }, { 0, 0, 0 }, { 1, 0, 0 } }
local products = "{{22 28} {49 64} {9 12} {0 0} {1 2}}"

local scores = onnx.InferenceSession "scores.onnx"
assert(scores.inputs[1].name == "x" and scores.inputs[1].type == "float32")
assert(scores.inputs[1].shape[1] == "n" and scores.inputs[1].shape[2] == 3 and #scores.outputs == 1)
assert(scores.providers[1].name == "CPUExecutionProvider" and scores.providers[1].nodes == 1)
assert(scores.metadata.custom.labels == "cat,dog" and scores.metadata.producer == "tidemill")

-- inputs: by name, a tensor, a slice, a frame
same(products, scores:run { x = rows })
same(products, scores:run(rows, { "y" }))
same(products, scores:run(rows, "y"))
same("{{49 64} {9 12}}", scores:run(rows:slice(2, 3)))
same("{}", scores:run(tensor.new("float32", { 0, 3 })))
same("{{22 28} {49 64}}",
  scores:run(frame.from_table { { "p", { 1, 4 } }, { "q", { 2, 5 } }, { "r", { 3, 6 } } }))
local two = onnx.InferenceSession "two.onnx"
local sum, b2 = two:run(frame.from_table { { "b", { 10, 20 } }, { "other", { "x", "y" } }, { "a", { 1, 2 } } })
same("{{11 12} {21 22}}", sum)
same("{{20} {40}}", b2)
local only, more = two:run({ a = floats { 1 }, b = floats { { 2 } } }, { "b2" })
assert(more == nil)
same("{{4}}", only)

-- outputs outlive their session
local kept = onnx.InferenceSession("scores.onnx"):run(rows)
collectgarbage() collectgarbage()
same(products, kept)

-- pieces
for n = 1, 6 do
  same(products, onnx.InferenceSession("scores.onnx", { max_batch = n }):run(rows))
end
local four = onnx.InferenceSession "four.onnx"
same(products, four:run(rows))
same("{{22 28}}", four:run(rows:slice(1, 1)))
same("{}", four:run(tensor.new("float32", { 0, 3 })))

-- texts, also with a NUL, and in pieces
local texts = tensor.from_table("string", { "a\0b", "", "ccc" })
same("{a\0b  ccc}", onnx.InferenceSession("texts.onnx"):run(texts))
same("{a\0b  ccc}", onnx.InferenceSession("texts.onnx", { max_batch = 2 }):run(texts))

-- a sequence of maps, as ZipMap makes it
for _, most in ipairs { 10, 2 } do
  local labels, maps = onnx.InferenceSession(LABELS, { max_batch = most })
    :run(floats { { 0.25, 0.75 }, { 1, 0 }, { 0.5, 0.5 } })
  same("{dog cat cat}", labels)
  assert(#maps == 3 and maps[1].dog == 0.75 and maps[3].cat == 0.5)
end

-- keys beyond 2^53
local ids = onnx.InferenceSession("ids.onnx")
local id_maps = ids:run(floats { { 0.25, 0.75 } }, "maps")
assert(id_maps[1][-7] == 0.25 and id_maps[1][2 ^ 53] == 0.75)
local large_ids = onnx.InferenceSession("large_ids.onnx")
refused("cannot run 'large_ids.onnx': output 2 has the int64 -9007199254740994 in a map, which a number of Lua does "
  .. "not hold (beyond 2^53); ask for the other outputs by name", large_ids.run, large_ids, floats { { 0.25, 0.75 } })
same("{{0.25 0.75}}", large_ids:run(floats { { 0.25, 0.75 } }, { "same" }))

-- refusals of a call
refused("'scores.onnx': input 'x' is a tensor of float64; the model takes float32; convert it with tensor:cast",
  scores.run, scores, rows:cast "float64")
refused("input 'x' has the shape [5, 2]; the model takes [n, 3]", scores.run, scores, tensor.new("float32", { 5, 2 }))
refused("the model has no input 'xs'; it has 'x'; did you mean 'x'?", scores.run, scores, { xs = rows })
refused("the model has no output 'yy'; it has 'y'; did you mean 'y'?", scores.run, scores, rows, { "yy" })
refused("input 'x' is missing; the model takes float32 [n, 3]", scores.run, scores, {})
refused("input 'x' is a table; accepted: a tensor", scores.run, scores, { x = {} })
refused("the inputs are a number; accepted: tensors by name", scores.run, scores, 7)
refused("the outputs are a list without names; accepted: a list of names", scores.run, scores, rows, {})
refused("run: output 'y' is named twice", scores.run, scores, rows, { "y", "y" })
refused("one tensor was given, and the model has 2 inputs; accepted: a table by name, { a = tensor, ... }",
  two.run, two, rows)
refused("the inputs have the key 1, and the model has 1 input; accepted: a table by name, { x = tensor }",
  scores.run, scores, { rows })
refused("the inputs have the key 1, and the model has 2 inputs; accepted: a table by name, { a = tensor, ... }",
  two.run, two, { floats { 1 }, floats { { 2 } } })
refused("the inputs have a boolean as a key, and the model has 1 input", scores.run, scores, { [true] = rows })
refused("the data frame has 2 columns (p, q), and the model's input 'x' takes 3; choose them with df:select(...)",
  scores.run, scores, frame.from_table { { "p", { 1 } }, { "q", { 2 } } })
refused("column 'r' is of type string", scores.run, scores,
  frame.from_table { { "p", { 1 } }, { "q", { 2 } }, { "r", { "text" } } })
refused("column 'q', row 1: null; accepted: numbers", scores.run, scores,
  frame.from_table({ { "p", { 1 } }, { "q", { frame.null } }, { "r", { 1 } } }, { q = "double" }))
refused("the data frame has no column 'b', which is an input of the model; columns: a, bb", two.run, two,
  frame.from_table { { "a", { 1 } }, { "bb", { 2 } } })
local image = onnx.InferenceSession "image.onnx"
refused("[2, 8, 9, 3]; the model takes [n, 3, 8, 9]; the channels are its last axis: make the images with "
  .. "layout = \"NCHW\"", image.run, image, tensor.new("float32", { 2, 8, 9, 3 }))
refused("the model takes [n, 3, 8, 9]; for a batch of one: tensor:reshape { 1, 3, 8, 9 }", image.run, image,
  tensor.new("float32", { 3, 8, 9 }))
local large = onnx.InferenceSession("large.onnx")
-- nothing of the library's sources
local function refused_plainly(words, ...)
  local _, message = pcall(...)
  refused(words, ...)
  assert(not (message:find "%.cc" or message:find "%.h:" or message:find "onnxruntime" or message:find "was false"),
    message)
end
refused_plainly("cannot run 'large.onnx': not enough memory for a result of 36.4 TB; set or lower 'max_batch'",
  large.run, large, tensor.from_table("int64", { 10000000000000 }))
refused_plainly("cannot run 'large.onnx': ", large.run, large, tensor.from_table("int64", { -5 }))
local outer = onnx.InferenceSession("outer.onnx")
refused("cannot run 'outer.onnx': output 'product' would be float32 [32768, 16384], 2.0 GB; a tensor has less",
  outer.run, outer, { a = tensor.new("float32", { 32768, 1 }), b = tensor.new("float32", { 1, 16384 }) })
local pair = onnx.InferenceSession("pair.onnx")
refused_plainly("cannot run 'pair.onnx': the model's axis 'n' is 2 in input 'a' [2] and 3 in input 'b' [3]; give it "
  .. "one size; node 'plus' (Add): Attempting to broadcast an axis", pair.run, pair,
  { a = floats { 1, 2 }, b = floats { 1, 2, 3 } })
same("{2 3 4}", pair:run { a = floats { 1 }, b = floats { 1, 2, 3 } }) -- the library may repeat
local pieces = onnx.InferenceSession("pair.onnx", { max_batch = 2 })
refused("axis 'n' is 4 in input 'a' [4] and 2 in input 'b' [2]; give it one size", pieces.run, pieces,
  { a = floats { 1, 2, 3, 4 }, b = floats { 1, 2 } })
same("{0 0}", large:run(tensor.from_table("int64", { 2 })))
scores:close()
scores:close()
refused("cannot run 'scores.onnx': the session is closed", scores.run, scores, rows)
refused("InferenceSession has no 'input'; did you mean 'inputs'?", function() return four.input end)

-- refusals of a session
local function session(words, ...) refused(words, onnx.InferenceSession, ...) end
session("cannot load 'none.onnx': no such file or directory", "none.onnx")
session("it is a folder; name the .onnx file", ".")
session("cannot load 'new_format.onnx': the model has version 99 of the ONNX format (IR), and ONNX Runtime "
  .. onnx.runtime().version .. " reads up to " .. (onnx.runtime().version:find "^1.17" and 9 or 13)
  .. "; use one newer than 1.30, or save the model with ir_version = ", "new_format.onnx")
session("a number was given; accepted: the path of a model", 7)
session("unknown option 'provider'; accepted: allow_spinning, ", "four.onnx", { provider = "CPU" })
session("option 'intra_op_num_threads' is -1; accepted: an integer from 1", "four.onnx", { intra_op_num_threads = -1 })
session("option 'max_batch' is 1.5; accepted: an integer", "four.onnx", { max_batch = 1.5 })
session("option 'graph_optimization_level' is 'ful'; accepted: none, basic, extended, all", "four.onnx",
  { graph_optimization_level = "ful" })
session("option 'providers' is 'CPU'; accepted: \"auto\", or a list of names", "four.onnx", { providers = "CPU" })
session("ONNX Runtime has no provider 'CUP'; this one has: ", "four.onnx", { providers = { "CUP" } })
session("the provider CPU takes every node", "four.onnx", { providers = { "CPU", "CPU" } })
session("option 'share_weights' is 'yes'; accepted: \"auto\", true or false", "four.onnx", { share_weights = "yes" })
for _, name in ipairs { "CPU", "cpu", "CPUExecutionProvider", "cpuexecutionprovider" } do
  same(products, onnx.InferenceSession("scores.onnx", { providers = { name } }):run(rows))
end
session("option 'config' has the key 1", "four.onnx", { config = { "x" } })
]]

local ASK = [[print(select(2, require("tidemill.onnx").runtime()))]]
local ONE = "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, "

describe("a model", function()
  after_each(job.check_end)

  for_versions("is called with tensors and frames, and refuses what does not fit", { "scores", "four", "two", "texts",
    "image", "large", "new_format", "outer", "pair", "ids", "large_ids" }, function(t, environment)
    t:write("calls.lua", "local LABELS = '" .. root .. "/tests/fuzz/corpus/onnx_file/labels.onnx'\n" .. CALLS)
    local r = t:expect(t:run({ "lua", "calls.lua" }, { env = environment }), 0)
    -- The sanitized build says what it cannot allocate.
    local words = (r.out .. r.err):gsub("[^\n]*AddressSanitizer failed to allocate[^\n]*\n", "")
    assert.equal("", words) -- nothing of the library's either
  end)

  it("does not let WebGPU write to the terminal that Vulkan is missing", function()
    local library = versions.library "1.30" -- 1.17 has no WebGPU
    if not library then return pending(versions.MISSING) end
    local t = new_case { "scores" }
    t:write("libvulkan.so.1", "not a library")
    t:write("load.lua", [[print(select(2, pcall(require("tidemill.onnx").InferenceSession, "scores.onnx",
      { providers = { "WebGPU" } })))]])
    local r = t:expect(t:run({ "lua", "load.lua" },
      { env = { "TIDEMILL_ONNXRUNTIME=" .. library, "LD_LIBRARY_PATH=" .. t.dir } }), 0)
    assert.equal("", r.err)
    assert.is_truthy(r.out:find("cannot load 'scores.onnx': provider 'WebGPU' cannot be used: it needs Vulkan (Debian: "
      .. "libvulkan1, and the driver of the GPU): " .. t.dir .. "/libvulkan.so.1: ", 1, true), r.out)
  end)

  it("leaves a worker without the memory that loading it has freed", function()
    local library = versions.library "1.30" -- 1.17 needs the weights twice
    if not library then return pending(versions.MISSING) end
    if os.getenv "TM_SANITIZE" then return end -- its memory is another
    local t, side = job.case(), 1024
    local wide = { inputs = { { "x", "float32", { "n", side } } }, outputs = { { "y", "float32", { "n", side } } } }
    wide.initializers, wide.nodes = {}, {}
    for i = 1, 4 do
      wide.initializers[i] = { "w" .. i, "float32", { side, side }, ("\0\0\128?"):rep(side * side) }
      wide.nodes[i] = { "MatMul", { i == 1 and "x" or "x" .. i, "w" .. i }, { i == 4 and "y" or "x" .. i + 1 } }
    end
    onnx_writer.write(t:path "wide.onnx", wide)
    t:inputs(1)
    t:write("load.lua", [[
      local fs, onnx = require "tidemill.fs", require "tidemill.onnx"
      local function own() return fs.read("/proc/self/status"):match "RssAnon:%s+(%d+)" / 1024 end
      function run()
        assert(onnx.runtime())
        local before = own()
        local session = onnx.InferenceSession "wide.onnx"
        local more = own() - before
        assert(more > 5 and more < 17, more .. " MB for 16 MB of weights")
        session:close()
        return { "enough" }
      end]])
    local r = t:expect(t:run({ "map", "load.lua", "in/*" }, { env = { "TIDEMILL_ONNXRUNTIME=" .. library } }), 0)
    assert.equal("enough\n", r.out)
  end)

  for_versions("that runs too long is stopped, and runs again in the same worker", { "count" },
    function(t, environment)
      t:inputs(5)
      t:script([[
      local onnx, tensor = require "tidemill.onnx", require "tidemill.tensor"
      local session
      function init() session = onnx.InferenceSession(DIR .. "/count.onnx") end
      function recover() print "recovered" end
      function run(m)
        local n = number_of(m[1])
        local steps = tensor.from_table("int64", n % 2 == 1 and 1000000000000 or n)
        local sum = session:run(steps) -- line 8
        return { tostring(sum:at()) }
      end]] .. "\n")
      t:write("score.lua", "local DIR = '" .. t.dir .. "' " .. t:read "score.lua")
      t:pipeline(ONE .. "interruptible = true, run_invocation_timeout = 0.2, interrupt_grace = 30")
      t:expect_job(0, nil, { env = environment, limit = 60 })
      assert.same({ RUN_TIMEOUT = 3, RUN_DONE = 2 }, t:statuses())
      assert.same({ "2", "4" }, t:rows())
      local text = t:log "user/error/0/process000.txt"
      assert.equal(3, select(2, text:gsub("score.lua:9: run%(%) took longer", "")), text)
      assert.equal(3, select(2, t:log("user/stdout/0/process000.stdout.txt"):gsub("recovered", "")))
    end)

  for_versions("has the threads of its worker, with signals blocked, and a line in the log", { "scores" },
    function(t, environment, library)
      t:inputs(2)
      t:script [[
      local EntryScript = require "tidemill.entry_script"
      local fs, onnx, tensor = require "tidemill.fs", require "tidemill.onnx", require "tidemill.tensor"
      local path = EntryScript().arguments[1] .. "/scores.onnx"
      local function threads()
        local own = fs.read("/proc/self/stat"):match "%d+"
        local n, unblocked = 0, 0
        for _, name in ipairs(fs.list "/proc/self/task") do
          local blocked = fs.read("/proc/self/task/" .. name .. "/status"):match "SigBlk:%s+(%x+)"
          n = n + 1
          -- SIGALRM and SIGTERM: bits 13 and 14
          if name ~= own and tonumber(blocked:sub(-4, -4), 16) % 8 < 6 then unblocked = unblocked + 1 end
        end
        return n, unblocked
      end
      function run(m)
        local before = threads()
        local session = onnx.InferenceSession(path, { intra_op_num_threads = 3 })
        assert(session:run(tensor.new("float32", { 2, 3 }))[1][1] == 0)
        local n, unblocked = threads()
        session:close()
        session = onnx.InferenceSession(path)
        local by_default = threads()
        session:close()
        return { ("%d %d %d"):format(n - before, unblocked, by_default - before - EntryScript().cores) }
      end]]
      t:pipeline(ONE, "arguments = { '" .. t.dir .. "' }")
      t:expect_job(0, nil, { env = environment })
      -- two helpers; a worker with one core has none
      assert.same({ "2 0 -1", "2 0 -1" }, t:rows())
      local log = t:log "user/entry_script_log/0/process000.log.txt"
      assert.is_truthy(log:find("|INFO|%d+|process000|loaded '[^']*/scores.onnx' in %d+%.%d+ s: "
        .. "CPUExecutionProvider %(1 node%), 3 threads, ONNX Runtime 1%.%d+%.%d+ of '"), log)
      assert.is_truthy(log:find(library, 1, true), log)
    end)

  it("needs a library, which is found in a node_modules of the script's folder", function()
    local library = versions.library "1.30"
    if not library then return pending(versions.MISSING) end
    local t = new_case { "scores" }
    local home = { "HOME=" .. t.dir .. "/home", "LD_LIBRARY_PATH=", "XDG_DATA_HOME=" }
    t:inputs(1)
    t:script [[function run(m) return { require "tidemill.onnx".runtime().path } end]]
    t:pipeline(ONE)
    t:write("ask.lua", ASK)
    local r = t:expect(t:run({ "lua", "ask.lua" }, { env = home }), 0)
    for _, words in ipairs { "cannot find ONNX Runtime: no libonnxruntime.so.1; install it: npm install "
      .. "--ignore-scripts --prefix " .. t.dir .. "/home/.local/share/tidemill onnxruntime-node; or set "
      .. "TIDEMILL_ONNXRUNTIME to its file; searched: '"
      .. t.dir .. "', node_modules/onnxruntime-node in '" .. t.dir .. "' and the folders above it, '",
      "/home/.local/share/tidemill' and a node_modules there, and the system's libraries" } do
      assert.is_truthy(r.out:find(words, 1, true), r.out)
    end
    -- a script from standard input has no folder, and the current one is not searched
    r = t:expect(t:run({ "lua", "-" }, { env = home, stdin = t:path "ask.lua" }), 0)
    assert.is_truthy(r.out:find("searched: '", 1, true), r.out)
    assert.is_nil(r.out:find(t.dir .. "',", 1, true), r.out)
    local modules = library:match "^(.*/node_modules)/"
    assert(os.execute(("ln -s '%s' '%s/node_modules'"):format(modules, t.dir)) == 0)
    t.job_dir, t.step_dir = t.dir .. "/again", t.dir .. "/again/score"
    t:expect_job(0, nil, { env = home })
    assert.same({ t.dir .. "/node_modules" .. library:sub(#modules + 1) }, t:rows())
  end)

  it("needs a library that is one, of a version that is known", function()
    local t = new_case { "scores" }
    t:write("ask.lua", ASK)
    local function says(value, words)
      local r = t:expect(t:run({ "lua", "ask.lua" }, { env = { "TIDEMILL_ONNXRUNTIME=" .. value } }), 0)
      assert.is_truthy(r.out:find(words, 1, true), r.out)
    end
    says(t.dir .. "/none.so", "the variable TIDEMILL_ONNXRUNTIME is '" .. t.dir .. "/none.so': no such file")
    says(t.dir .. "/scores.onnx", "'" .. t.dir .. "/scores.onnx' is not a shared library")
    says("scores.onnx", "it is not an absolute path")
    says(t.dir, "the folder contains no libonnxruntime.so.1")
  end)
end)
