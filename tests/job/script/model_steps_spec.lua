-- Steps that have a model in place of an entry script: tables, images, their records, and what is
-- refused before anything runs.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
package.path = here .. "/../../../examples/?.lua;" .. package.path
local folder = require "support.folder"
local job = require "support.job"
local onnx_writer = require "onnx_writer"
local versions = require "support.onnxruntime.versions"

local function pooled(name, shape)
  return {
    inputs = { { "image", "float32", shape } }, outputs = { { name, "float32", { "n", 3, 1, 1 } } },
    nodes = { { "GlobalAveragePool", { "image" }, { name } } },
  }
end

local models = {
  scores = {
    inputs = { { "x", "float32", { "n", 3 } } }, outputs = { { "y", "float32", { "n", 2 } } },
    initializers = { { "w", "float32", { 3, 2 }, { 1, 2, 3, 4, 5, 6 } } }, nodes = { { "MatMul", { "x", "w" },
      { "y" } } },
  },
  two = {
    inputs = { { "a", "float32", { "n" } }, { "b", "int64", { "n", 1 } } },
    outputs = { { "twice", "float32", { "n" } }, { "b", "int64", { "n", 1 } } },
    nodes = { { "Add", { "a", "a" }, { "twice" } }, { "Identity", { "b" }, { "b" } } },
  },
  mean = pooled("mean", { "n", 3, 4, 5 }),
  other = pooled("another", { "n", 3, 4, 5 }),
  free = pooled("mean", { "n", 3, "h", "w" }),
  one = {
    inputs = { { "x", "float32", { "n", 3, 4 } } }, outputs = { { "y", "float32", { "n", 3, 4 } } },
    nodes = { { "Identity", { "x" }, { "y" } } },
  },
}
models.two.outputs[2][1], models.two.nodes[2][3][1] = "same", "same"

local RED, BLUE = "P6 2 1 255\n\255\0\0\255\0\0", "P6 1 2 255\n\0\51\255\0\51\255"

local function new_case()
  local t = job.case()
  for name, model in pairs(models) do onnx_writer.write(t:path(name .. ".onnx"), model) end
  t:write("rows.csv", "id,p,q,r\na,1,2,3\nb,4,5,6\n")
  t:write("named.csv", "a,b,c\n1,2,x\n4,5,y\n")
  t:write("red.ppm", RED)
  t:write("blue.ppm", BLUE)
  t:write("labels.txt", "red\r\ngreen\nblue\n\n")
  return t
end

local function with_version(version, what, run)
  it(what .. ", with ONNX Runtime " .. version, function()
    local library = versions.library(version)
    if not library then return pending(versions.MISSING) end
    run(new_case(), { "TIDEMILL_ONNXRUNTIME=" .. library })
  end)
end

local function for_versions(what, run)
  for _, version in ipairs(versions.VERSIONS) do with_version(version, what, run) end
end

-- Runs a command in the foreground, and removes the folders with its log.
local function in_foreground(t, environment, words)
  local r = t:run(words, { env = environment })
  for _, dir in ipairs(t:temp_dirs()) do folder.remove_tree(dir) end
  return r
end

-- The rows of a `map`.
local function map(t, environment, words)
  return t:expect(t:run({ "map", unpack(words) }, { env = environment, limit = 60 }), 0).out
end

describe("a model in place of an entry script", function()
  after_each(job.check_end)

  for_versions("appends its outputs to the columns of a table", function(t, environment)
    assert.equal("id,p,q,r,y_1,y_2\na,1,2,3,22.0,28.0\nb,4,5,6,49.0,64.0\n",
      map(t, environment, { "--model", "scores.onnx", "rows.csv", "--rows", "--output-format", "csv", "--", "--columns",
        "p", "q", "r" }))
    assert.equal("a,b,c,twice,same\n1,2,x,2.0,2\n4,5,y,8.0,5\n",
      map(t, environment, { "--model", "two.onnx", "named.csv", "--rows", "--output-format", "csv" }))
    assert.equal("a,b,c,new_same\n1,2,x,2\n4,5,y,5\n",
      map(t, environment, { "--model", "two.onnx", "named.csv", "--rows", "--output-format", "csv", "--", "--outputs",
        "same", "--prefix", "new_", "--max_batch", "1" }))
  end)

  with_version("1.17", "makes a column for each label of a class, and for each key of a map", function(t, environment)
    t:write("scores.csv", "s1,s2\n0.25,0.75\n1,0\n")
    t:write("animals.txt", "cat\ndog")
    local labels = "/../../fuzz/corpus/onnx_file/labels.onnx"
    assert.equal("s1,s2,labels,probabilities_cat,probabilities_dog\n0.25,0.75,dog,0.25,0.75\n1.0,0.0,cat,1.0,0.0\n",
      map(t, environment, { "--model", here .. labels, "scores.csv", "--rows", "--output-format", "csv" }))
    local out = map(t, environment, { "--model", "scores.onnx", "rows.csv", "--rows", "--output-format", "csv", "--",
      "--columns", "p", "q", "r", "--labels", "animals.txt", "--softmax" })
    local names, cat, dog = out:match "^([^\n]*)\na,1,2,3,([^,]*),([^\n]*)\n"
    assert.equal("id,p,q,r,y_cat,y_dog", names, out)
    assert.is_true(math.abs(cat - 1 / (1 + math.exp(6))) < 1e-7 and math.abs(cat + dog - 1) < 1e-6, out)
  end)

  for_versions("finds the best label of each image, and marks a broken one", function(t, environment)
    t:write("bad.ppm", "P6 9 9 255\n")
    local out = map(t, environment, { "--model", "mean.onnx", "red.ppm", "bad.ppm", "blue.ppm", "--", "--labels",
      "labels.txt" })
    assert.equal(('{"label":"red","name":"%s/red.ppm","score":1}\n{"label":"blue","name":"%s/blue.ppm","score":1}\n')
      :format(t.dir, t.dir), out)
    out = map(t, environment, { "--model", "free.onnx", "blue.ppm", "--", "--width", "2", "--height", "3", "--softmax",
      "--max_batch", "1" })
    local label, score = out:match '^{"label":(%d),"name":"[^"]*","score":([%d.]+)}\n$'
    assert.equal("2", label, out)
    assert.is_true(math.abs(tonumber(score) - math.exp(1) / (math.exp(1) + math.exp(0.2) + 1)) < 1e-6, out)
    local r = in_foreground(t, environment, { "try", "--model", "mean.onnx", "red.ppm" })
    assert.equal('{"label":0,"name":"' .. t.dir .. '/red.ppm","score":1}\n', t:expect(r, 0).out)
  end)

  with_version("1.17", "is a step like any other: recorded, replayed, and reused unless the model has changed",
    function(t, environment)
    t:write("pipeline.lua", ([[
      local tidemill = require "tidemill"
      return tidemill.Pipeline { name = "scores", steps = { tidemill.ParallelRunStep {
        name = "score",
        parallel_run_config = tidemill.ParallelRunConfig { model = "mean.onnx", mini_batch_size = 1,
          error_threshold = 0 },
        inputs = tidemill.Dataset.File.from_files "*.ppm",
        arguments = { "--labels", LABELS },
      } } }]]):gsub("LABELS", ("%q"):format(t:path "labels.txt")), nil)
    local function run()
      local r = t:run({ "run", "pipeline.lua", "--progress", "none", "--json" }, { env = environment })
      return t:expect(r, 0).result.job_dir:sub(#t.dir + 2), r.err
    end
    local lines = { '{"label":"blue","name":"' .. t.dir .. '/blue.ppm","score":1}',
      '{"label":"red","name":"' .. t.dir .. '/red.ppm","score":1}' }
    local dir = run()
    assert.same(lines, t:sorted_lines(dir .. "/score/output/parallel_run_step.txt"))
    local record = t:read(dir .. "/job.json")
    for _, words in ipairs { '"' .. t.dir .. '/mean.onnx"', '"--model"', '"script/score/mean.onnx.lua"' } do
      assert.is_truthy(record:find(words, 1, true), words)
    end
    local own = assert(io.open(here .. "/../../../stdlib/tidemill/model_script.lua"))
    assert.equal(own:read "*a", t:read(dir .. "/script/score/mean.onnx.lua"))
    own:close()
    local again = in_foreground(t, environment, { "replay", dir, "--mini-batch", "1" })
    assert.equal(lines[2] .. "\n", t:expect(again, 0).out)
    local _, said = run()
    assert.is_truthy(said:find("step 'score' is reused", 1, true), said)
    onnx_writer.write(t:path "mean.onnx", models.other)
    _, said = run()
    assert.is_truthy(said:find("step 'score' is run: .*mean.onnx'"), said)
    run()
    t:write("labels.txt", "a\nb\nc\n")
    _, said = run()
    assert.is_truthy(said:find("step 'score' is run: .*labels.txt'"), said)
  end)

  it("is refused before anything runs, where it cannot score what the step reads", function()
    local t = new_case()
    local function refused(words, ...)
      local r = t:run({ ... })
      assert.equal(2, r.status, r.err)
      assert.is_truthy(r.err:find(words, 1, true), r.err)
    end
    refused("cannot load '" .. t.dir .. "/none.onnx': no such file or directory", "map", "--model", "none.onnx",
      "red.ppm")
    refused("/red.ppm': the file is not an ONNX model", "map", "--model", "red.ppm", "red.ppm")
    refused("it is an ONNX model, which takes the place of a script: map --model FILE", "map", "mean.onnx", "red.ppm")
    t:write("share.lua", "function run(m) return m end")
    refused("share.lua', a Lua script; give it as the entry script, without a model", "map",
      "--model", "share.lua", "red.ppm")
    refused("an input is missing", "map", "--model", "scores.onnx")
    refused("'--labels'; with --model write it after '--': tidemill map --model FILE INPUT... -- --labels FILE", "map",
      "--model", "mean.onnx", "--labels", "labels.txt", "red.ppm")
    refused("'x.lua' is an entry script, and '--model' takes its place", "map", "x.lua", "--model", "mean.onnx",
      "red.ppm")
    refused("/scores.onnx', whose input 'x' is [n, 3]; accepted for files: one input of four axes, images. Rows of "
      .. "tables are read by Dataset.Tabular, or with --rows", "map", "--model", "scores.onnx", "red.ppm")
    refused("/mean.onnx', whose input 'image' is [n, 3, 4, 5]; accepted for rows of tables: inputs of one or two axes",
      "map", "--model", "mean.onnx", "rows.csv", "--rows")
    refused("/one.onnx', whose input 'x' is [n, 3, 4]", "map", "--model", "one.onnx", "red.ppm")
    refused("'--model' is among 'arguments', and the step has it already", "map", "--model", "mean.onnx", "red.ppm",
      "--", "--model=free.onnx")
    for _, word in ipairs { "--dry-run", "--rows" } do
      refused("the rows have no column 'a', which is an input of the model '" .. t.dir .. "/two.onnx'; columns: id, "
        .. "p, q, r", "map", word, "--model", "two.onnx", "rows.csv", "--rows")
    end
    refused("the rows have 4 columns (id, p, q, r), and the input 'x' of the model '" .. t.dir .. "/scores.onnx' "
      .. "takes 3; name them in 'arguments': --columns NAME...", "map", "--dry-run", "--model", "scores.onnx",
        "rows.csv", "--rows")
    t:expect(t:run { "map", "--dry-run", "--model", "scores.onnx", "rows.csv", "--rows", "--", "--columns", "p", "q",
      "r" }, 0)
    refused("the rows have no column 's', which '--columns' names; columns: id, p, q, r", "map", "--model",
      "scores.onnx", "rows.csv", "--rows", "--", "--columns", "p", "q", "s")
    refused("the column 'id' of the rows is of type string, and the input 'x' of the model '" .. t.dir
      .. "/scores.onnx' takes float32; accepted: numbers and bools", "map", "--model", "scores.onnx", "rows.csv",
      "--rows", "--", "--columns", "id", "p", "q")
    t:write("text.csv", "a,b\nx,1\n")
    refused("the column 'a' of the rows is of type string, and the input 'a' of the model '", "map", "--model",
      "two.onnx", "text.csv", "--rows")
    for _, command in ipairs { "map", "try" } do
      refused("unknown argument '--label'; did you mean '--labels'?", command, "--model", "mean.onnx", "red.ppm", "--",
        "--error_threshold", "1", "--label", "x")
      local help = t:expect(t:run { command, "--model", "mean.onnx", "red.ppm", "--", "--help" }, 0)
      assert.is_truthy(help.out:find("--labels FILE  ", 1, true), help.out)
      assert.equal("", help.err)
    end
    assert.is_false(t:has "workspace")
    t:write("empty.lua", "function run(m) return m end")
    local function config(words, fields)
      t:write("pipeline.lua",
        "local tidemill = require 'tidemill'\nreturn tidemill.ParallelRunConfig { " .. fields .. " }")
      local r = t:run { "run", "pipeline.lua" }
      assert.is_truthy(r.err:find("pipeline.lua:2: ParallelRunConfig: " .. words, 1, true), r.err)
    end
    config("'entry_script' and 'model' are both given; accepted: one of them",
      "model = 'm.onnx', entry_script = 'a.lua'")
    config("'entry_script' is missing; it is required: a path, or 'model' in place of it: an ONNX file", "")
    config("'source_directory' goes with 'entry_script', not with 'model'", "model = 'm.onnx', source_directory = '.'")
  end)

  it("fails at once where the columns are known only later, as those of another step", function()
    local t = new_case()
    t:write("make.lua", [[local fs = require "tidemill.fs"
      function run(m, context) fs.write(context:output_file("made.csv"), "a,c\n1,2\n") return m end]])
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      local made = tm.OutputFileDatasetConfig { name = "made" }
      local function config(o)
        o.process_count_per_node = 1
        return tm.ParallelRunConfig(o)
      end
      return tm.Pipeline { name = "scores", steps = {
        tm.ParallelRunStep { name = "make", inputs = tm.Dataset.File.from_files "rows.csv", output = made,
          parallel_run_config = config { entry_script = "make.lua", output_action = "summary_only" } },
        tm.ParallelRunStep { name = "score", inputs = made:read_delimited_files(),
          parallel_run_config = config { model = "two.onnx" } },
      } }]])
    local r = t:run { "run", "pipeline.lua", "--progress", "none", "--json", "--job-dir", "job" }
    assert.equal(2, r.status, r.err)
    local step = r.result.steps[2]
    assert.equal("Failed", step.status)
    assert.is_truthy(step.cause:find("the rows have no column 'b', which is an input of the model '", 1, true), r.err)
    assert.is_false(t:has "job/score/logs/user/error.txt")
  end)

  with_version("1.17", "fails in init() where its options do not fit", function(t, environment)
    local function says(words, ...)
      local r = in_foreground(t, environment, { "try", "--model", ... })
      assert.equal(1, r.status, r.err)
      assert.is_truthy(r.err:find("init() failed", 1, true), r.err)
      assert.is_truthy(r.err:find(words, 1, true), r.err)
    end
    t:write("few.txt", "red\ngreen\n")
    says("the model's input 'image' is [n, 3, h, w], and its height or width is free; give --width and --height, or "
      .. "--resize and --crop", "free.onnx", "red.ppm")
    says("images are made 9 wide and 4 high, and the model's input 'image' is [n, 3, 4, 5]; leave the size to "
      .. "the model, or give --width 5 --height 4", "mean.onnx", "red.ppm", "--", "--width", "9", "--height", "4")
    says("option 'mean' has 4 numbers", "mean.onnx", "red.ppm", "--", "--mean", "1", "2", "3", "4")
    says("cannot read the labels 'none.txt': No such file or directory", "mean.onnx", "red.ppm", "--", "--labels",
      "none.txt")
    says("the model has no output 'men'; accepted: mean", "mean.onnx", "red.ppm", "--", "--outputs", "men")
    local r = in_foreground(t, environment, { "try", "--model", "mean.onnx", "red.ppm", "--", "--labels", "few.txt" })
    assert.equal(1, r.status)
    assert.is_truthy(r.err:find("the file of labels 'few.txt' has 2 lines, and output 'mean' has 3 classes", 1,
      true), r.err)
  end)

  with_version("1.17", "writes no row that means nothing", function(t, environment)
    local function model(name, inputs, outputs, nodes, initializers)
      onnx_writer.write(t:path(name .. ".onnx"), { inputs = inputs, outputs = outputs, nodes = nodes,
        initializers = initializers })
    end
    local image, x = { { "image", "float32", { "n", 3, 4, 5 } } }, { { "x", "float32", { "n", 2 } } }
    model("same", x, { { "y", "float32", { "n", 2 } }, { "y_1", "float32", { "n" } } },
      { { "Identity", { "x" }, { "y" } }, { "MatMul", { "x", "ones" }, { "y_1" } } },
      { { "ones", "float32", { 2 }, { 1, 1 } } })
    model("mask", image, { { "mask", "float32", { "n", 3, 4, 5 } } }, { { "Identity", { "image" }, { "mask" } } })
    model("class", image, { { "class", "int64", { "n", 1, 1, 1 } } },
      { { "GlobalAveragePool", { "image" }, { "mean" } },
        { "ArgMax", { "mean" }, { "class" }, attributes = { axis = 1 } } })
    model("log", image, { { "log", "float32", { "n", 3, 1, 1 } } },
      { { "GlobalAveragePool", { "image" }, { "mean" } }, { "Div", { "mean", "zero" }, { "log" } } },
      { { "zero", "float32", {}, { 0 } } })
    t:write("nulls.csv", "p,q\n1,2\n,4\n5,6\n")
    local function says(status, words, ...)
      local r = in_foreground(t, environment, { "try", "--model", ... })
      assert.equal(status, r.status, r.err)
      assert.is_truthy(r.err:find(words, 1, true), r.err)
      return r.out
    end
    says(1, "output 'mask' is [1, 3, 4, 5] for 1 images; accepted: a number for each image", "mask.onnx", "red.ppm")
    says(1, "fails: output 'log' is inf; accepted: a finite number", "log.onnx", "red.ppm")
    assert.equal('{"label":"blue","name":"' .. t.dir .. '/blue.ppm"}\n',
      says(0, "1 element returned", "class.onnx", "blue.ppm", "--", "--labels", "labels.txt"))
    t:write("a\255\195\169.ppm", RED)
    assert.is_truthy(says(0, "1 element returned", "mean.onnx", "a\255\195\169.ppm"):find("/a\\\\xFF\195\169.ppm", 1,
      true))
    says(1, "item 2 fails: column 'p', of type long, is null, and the model's input 'x' takes float32; --null X",
      "same.onnx", "nulls.csv", "--rows", "--", "--outputs", "y_1")
    local out = says(0, "3 elements returned", "same.onnx", "nulls.csv", "--rows", "--output-format", "csv", "--",
      "--outputs", "y_1", "--null", "0.5")
    assert.equal("p,q,y_1\n1,2,3.0\n,4,4.5\n5,6,11.0\n", out)
    t:write("row.csv", "p,q\n1,2\n")
    says(1, "the outputs 'y' and 'y_1' would both become column 'y_1'", "same.onnx", "row.csv", "--rows")
    t:write("twice.txt", "\239\187\191a\nb\na\n")
    says(1, "the labels 'twice.txt': lines 1 and 3 are both 'a'", "mean.onnx", "red.ppm", "--", "--labels", "twice.txt")
    t:write("bytes.txt", "a\n\255\n")
    says(1, "the labels 'bytes.txt', line 2: the text is not UTF-8", "mean.onnx", "red.ppm", "--", "--labels",
      "bytes.txt")
    says(1, "cannot read the labels '.': Is a directory", "mean.onnx", "red.ppm", "--", "--labels", ".")
    says(1, "the file of labels 'labels.txt' has 3 lines, and output 'y' has 2 classes", "same.onnx", "row.csv",
      "--rows", "--", "--labels", "labels.txt")
    says(1, "--columns goes with tables, and the model takes images", "mean.onnx", "red.ppm", "--", "--columns", "a")
    says(1, "--channels gray has 1, and the model's input 'image' is [n, 3, 4, 5], with 3", "mean.onnx", "red.ppm",
      "--", "--channels", "gray")
  end)

  it("runs no code that lies beside the model, in the current folder or above the job", function()
    local t = new_case()
    local environment = { "HOME=" .. t.dir .. "/home", "LD_LIBRARY_PATH=", "XDG_DATA_HOME=" }
    local npm = "node_modules/onnxruntime-node/bin/napi-v6/linux/"
    for _, place in ipairs { "", npm .. "x64/", npm .. "arm64/" } do
      t:write(place .. "libonnxruntime.so.1", "not a library")
    end
    for _, name in ipairs { "tensor", "tidemill/onnx", "tidemill/onnx/library", "tidemill/tensor", "tidemill/frame" } do
      t:write(name .. ".lua", ("io.open(%q, 'w'):close()"):format(t:path "was_run"))
    end
    local r = in_foreground(t, environment, { "try", "--model", "mean.onnx", "red.ppm" })
    assert.equal(1, r.status)
    assert.is_truthy(r.err:find("cannot find ONNX Runtime: no libonnxruntime.so.1; install it: npm install "
      .. "--ignore-scripts --prefix " .. t.dir .. "/home/.local/share/tidemill onnxruntime-node; or set "
      .. "TIDEMILL_ONNXRUNTIME to its file; searched: ", 1, true), r.err)
    assert.is_nil(r.err:find(t.dir .. "'", 1, true), r.err)
    r = t:run({ "map", "--model", "mean.onnx", "red.ppm", "--job-dir", "job" }, { env = environment })
    assert.equal(1, r.status)
    assert.is_truthy(r.err:find("cannot find ONNX Runtime", 1, true), r.err)
    assert.is_false(t:has "was_run")
    -- a pipeline file is code that the user runs, and so is what is beside it
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      return tm.Pipeline { name = "scores", steps = { tm.ParallelRunStep { name = "score",
        parallel_run_config = tm.ParallelRunConfig { model = "mean.onnx", process_count_per_node = 1 },
        inputs = tm.Dataset.File.from_files "red.ppm" } } }]])
    r = t:run({ "run", "pipeline.lua" }, { env = environment })
    assert.equal(1, r.status)
    assert.is_truthy(r.err:find("cannot load ONNX Runtime: '" .. t.dir .. "/libonnxruntime.so.1' is not a shared "
      .. "library", 1, true), r.err)
  end)
end)
