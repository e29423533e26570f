local tidemill = require "tidemill"
local Dataset, Config, Step = tidemill.Dataset, tidemill.ParallelRunConfig, tidemill.ParallelRunStep
local Parameter, Pipeline, Output = tidemill.PipelineParameter, tidemill.Pipeline, tidemill.OutputFileDatasetConfig

-- The line of the call itself, whatever file it is in.
local function refused(f)
  local ok, message = pcall(f)
  assert.is_false(ok)
  assert.is_string(message)
  local line, words = message:match "definitions_spec%.lua:(%d+): (.*)$"
  assert.is_truthy(line, "no file and line in: " .. message)
  return words, tonumber(line)
end

local function config(fields)
  fields.entry_script = fields.entry_script or "score.lua"
  local c = Config(fields)
  return c
end

describe("ParallelRunConfig", function()
  it("keeps its values", function()
    local c = config { mini_batch_size = 5, output_action = "summary_only" }
    assert.equal(5, c.mini_batch_size)
    assert.equal("summary_only", c.output_action)
    assert.is_nil(c.run_max_try)
  end)

  it("accepts digits in a string for numbers", function()
    assert.equal("5", config({ mini_batch_size = "5", run_invocation_timeout = "0.5" }).mini_batch_size)
  end)

  it("refuses an unknown key and names the nearest, with the line", function()
    local here = debug.getinfo(1, "l").currentline
    local words, line = refused(function()
      local _ = Config { entry_script = "score.lua", mini_batchsize = 5 }
    end)
    assert.equal("ParallelRunConfig: unknown key 'mini_batchsize'; did you mean 'mini_batch_size'?", words)
    local many = refused(function() return Config { entry_script = "a.lua", zzzzzz = 1 } end)
    assert.equal("ParallelRunConfig: unknown key 'zzzzzz'; 'tidemill help ParallelRunConfig' lists the keys", many)
    assert.equal(here + 2, line)
  end)

  it("accepts a number of nodes, and a target that exists", function()
    local c = config { node_count = 3, compute_target = "exec", node_command = { "{program}", "node" } }
    assert.equal(3, c.node_count)
    assert.same({ "{program}", "node" }, c.node_command)
    local words = refused(function()
      local _ = Config { entry_script = "score.lua", compute_target = "pbs" }
    end)
    assert.equal([[ParallelRunConfig: 'compute_target' is "pbs"; accepted: "local", "exec" or "slurm"]], words)
  end)

  for _, case in ipairs {
    { "run_max_try", 0, "'run_max_try' is 0; accepted: an integer from 1 on" },
    { "run_max_try", 1.5, "'run_max_try' is 1.5; accepted: an integer from 1 on" },
    { "error_threshold", -2, "'error_threshold' is -2; accepted: an integer from -1 to 2147483647" },
    { "run_invocation_timeout", 0, "'run_invocation_timeout' is 0; accepted: a number from 0.001 to 259200 seconds, "
      .. "a duration such as \"5m\", or \"none\" for the most" },
    { "run_invocation_timeout", 0 / 0,
      "'run_invocation_timeout' is nan; accepted: a number from 0.001 to 259200 seconds, "
      .. "a duration such as \"5m\", or \"none\" for the most" },
    { "run_invocation_timeout", "5 weeks", "'run_invocation_timeout' is \"5 weeks\"; accepted: a number from 0.001 to "
      .. "259200 seconds, a duration such as \"5m\", or \"none\" for the most" },
    { "output_action", "append", "'output_action' is \"append\"; accepted: \"append_row\" or \"summary_only\"" },
    { "logging_level", "loud", "'logging_level' is \"loud\"; accepted: \"WARNING\", \"INFO\" or \"DEBUG\", "
      .. "in any case" },
    { "append_row_file_name", "a/b", "'append_row_file_name' is \"a/b\"; accepted: a file name, without a folder" },
    { "max_result_size", "2 potatoes",
      "'max_result_size' is \"2 potatoes\"; accepted: a number of bytes from 1 on, or a size such as \"10MB\"" },
    { "mini_batch_size", {}, "'mini_batch_size' is an empty table; accepted: an integer from 1 on; "
      .. "for tables a size such as \"10MB\" or \"500rows\"" },
    { "entry_script", print, "'entry_script' is a function" },
    { "environment_variables", { ["A=B"] = "secret" }, "'environment_variables' is a table with other names or values; "
      .. "accepted: a table of names (without '=') and strings, numbers or booleans" },
  } do
    it("refuses " .. case[3], function()
      local words = refused(function()
        local _ = config { [case[1]] = case[2] }
      end)
      assert.equal("ParallelRunConfig: " .. case[3], words)
    end)
  end

  it("requires an entry_script", function()
    local words = refused(function()
      local _ = Config { mini_batch_size = 1 }
    end)
    assert.equal("ParallelRunConfig: 'entry_script' is missing; it is required: a path, or 'model' in place of it: an "
      .. "ONNX file", words)
  end)

  it("refuses what is not a table", function()
    assert.equal("ParallelRunConfig: the argument is 3; "
      .. "accepted: a table, ParallelRunConfig { name = value, ... }", (refused(function()
      local _ = Config(3)
    end)))
    assert.equal(
      "ParallelRunConfig: the argument is nothing; accepted: a table, "
      .. "ParallelRunConfig { name = value, ... }", (refused(function()
      local _ = Config()
    end)))
  end)

  it("cannot be changed", function()
    local c = config { mini_batch_size = 5, environment_variables = { A = "1" } }
    assert.is_truthy(refused(function()
      c.mini_batch_size = 6
    end):find("cannot be changed: 'mini_batch_size'", 1, true))
    assert.equal(5, c.mini_batch_size)
  end)

  it("does not follow changes of the table it was made from", function()
    local fields = { entry_script = "score.lua", environment_variables = { A = "1" } }
    local c = Config(fields)
    fields.entry_script, fields.environment_variables.A = "other.lua", "2"
    assert.equal("score.lua", c.entry_script)
    assert.equal("1", c.environment_variables.A)
  end)

  it("is printed with its type and its line", function()
    assert.is_truthy(tostring(config {}):find "^ParallelRunConfig %(.*definitions_spec%.lua:%d+%)$")
  end)
end)

describe("PipelineParameter", function()
  it("may replace some parameters, and is checked by its default", function()
    local size = Parameter { name = "size", default_value = 4 }
    assert.equal(size, config({ mini_batch_size = size }).mini_batch_size)
    local words = refused(function()
      local _ = config { mini_batch_size = Parameter { name = "size", default_value = 0 } }
    end)
    assert.equal("ParallelRunConfig: default_value of PipelineParameter 'size': 'mini_batch_size' is 0; "
      .. "accepted: an integer from 1 on; for tables a size such as \"10MB\" or \"500rows\"", words)
  end)

  it("may not replace others", function()
    local words = refused(function()
      local _ = Config { entry_script = Parameter { name = "script", default_value = "score.lua" } }
    end)
    assert.equal("ParallelRunConfig: 'entry_script' is a PipelineParameter, which it cannot be; accepted: a path",
      words)
  end)
end)

describe("Dataset.File", function()
  it("takes a path or a list of them", function()
    assert.same({ "digits/*.pgm" }, Dataset.File.from_files("digits/*.pgm").paths)
    assert.same({ "a", "b" }, Dataset.File.from_files({ "a", "b" }).paths)
    assert.equal("manifest", Dataset.File.from_manifest("list.txt", { null_separated = true }).kind)
  end)

  it("gets a name without changing the original dataset", function()
    local images = Dataset.File.from_files("digits", { on_unreadable = "skip" })
    local named = images:as_named_input "images"
    assert.equal("images", named.name)
    assert.equal("skip", named.on_unreadable)
    assert.is_nil(images.name)
    assert.equal(named, named:as_direct())
  end)

  it("refuses unknown options, wrong paths and names", function()
    for words, f in pairs {
      ["Dataset.File.from_files: unknown key 'on_unreadeable'; did you mean 'on_unreadable'?"] = function()
        local _ = Dataset.File.from_files("a", { on_unreadeable = "skip" })
      end,
      ["Dataset.File.from_files: 'on_unreadable' is \"no\"; accepted: \"error\" or \"skip\""] = function()
        local _ = Dataset.File.from_files("a", { on_unreadable = "no" })
      end,
      ["FileDataset: the path is missing; accepted: a path or pattern, or a list of them"] = function()
        local _ = Dataset.File.from_files()
      end,
      ["FileDataset: path 2 is not text, or is empty; accepted: a path or pattern, or a list of them"] = function()
        local _ = Dataset.File.from_files { "a", 2 }
      end,
      ["FileDataset: a manifest is one file; accepted: its path"] = function()
        local _ = Dataset.File.from_manifest { "a", "b" }
      end,
      ["FileDataset: 'name' is \"\"; accepted: a string, not empty"] = function()
        local _ = Dataset.File.from_files("a"):as_named_input ""
      end,
    } do
      assert.equal(words, (refused(f)))
    end
  end)
end)

describe("ParallelRunStep and Pipeline", function()
  local images = Dataset.File.from_files "digits"

  local function step(fields)
    fields.name = fields.name or "predict"
    fields.parallel_run_config = fields.parallel_run_config or config {}
    fields.inputs = fields.inputs or images
    local s = Step(fields)
    return s
  end

  it("accept one input or a list", function()
    assert.equal(images, step({ inputs = { images } }).inputs[1])
    assert.equal(images, step({}).inputs)
  end)

  it("refuse invalid names", function()
    for _, name in ipairs { "", "Abc", "abc-", "1bc", "_ab", "a.b", ("a"):rep(33) } do
      assert.is_truthy(refused(function()
        local _ = step { name = name }
      end):find("'name' is \"" .. name .. "\"; accepted: 1 to 32 characters", 1, true))
    end
    assert.equal(("a"):rep(32), step({ name = ("a"):rep(32) }).name)
    for _, name in ipairs { "a", "wc", "a-1", "etl_1", "a_" } do assert.equal(name, step({ name = name }).name) end
  end)

  it("refuse a step as an input, and suggest its output", function()
    local first = step {}
    local words = refused(function()
      local _ = step { name = "second", inputs = { first } }
    end)
    assert.equal("ParallelRunStep: 'inputs[1]' is a ParallelRunStep "
      .. "(its rows and files are in its output, an OutputFileDatasetConfig); "
      .. "accepted: a FileDataset or TabularDataset or "
      .. "OutputFileDatasetConfig, "
      .. "or a list of one or more", words)
  end)

  it("refuse a path as an input, and suggest a dataset of it", function()
    for _, inputs in ipairs { "in/*.txt", { "in/*.txt" } } do
      local words = refused(function() local _ = step { inputs = inputs } end)
      assert.matches("is \"in/*.txt\" (write a path as Dataset.File.from_files(path)); accepted:",
        words, 1, true)
    end
  end)

  it("refuse a table of names where a list is accepted, and an output that is none", function()
    assert.matches("ParallelRunStep: 'inputs' is a table of names and values; accepted: a FileDataset or",
      (refused(function() local _ = step { inputs = { a = images } } end)), 1, true)
    assert.equal("ParallelRunStep: 'arguments' is a table of names and values; accepted: a list",
      (refused(function() local _ = step { arguments = { model = "x" } } end)))
    assert.equal("ParallelRunStep: 'output' is \"x\"; accepted: an OutputFileDatasetConfig, or a list of one or more",
      (refused(function() local _ = step { output = "x" } end)))
  end)

  it("refuse an object, and a value without a name", function()
    local first = step {}
    assert.equal("ParallelRunStep: the argument is a ParallelRunStep; accepted: a table, "
      .. "ParallelRunStep { name = value, ... }", (refused(function()
      local _ = tidemill.ParallelRunStep(first)
    end)))
    assert.equal('Pipeline: "b" has no name; accepted: Pipeline { name = value, ... }', (refused(function()
      local _ = Pipeline { name = "digits", "b" }
    end)))
  end)

  it("refuse arguments of as_upload() and as_mount(), which would have no effect", function()
    local out = Output { name = "scores", destination = "d" }
    assert.equal("output:as_upload: unknown key 'overwrite'; write overwrite = true into ParallelRunConfig "
      .. "{ ... }: it replaces an output that is not this job's", (refused(function()
      local _ = out:as_upload { overwrite = true }
    end)))
    assert.equal("output:as_mount: unknown key 'foo'; accepted: no arguments", (refused(function()
      local _ = out:as_mount { foo = 1 }
    end)))
    assert.equal("upload", out:as_upload().mode)
    assert.equal("upload", out:as_upload({}).mode)
  end)

  it("name the constructor for a key of the original", function()
    assert.is_truthy(refused(function()
      local _ = step { retry_settings = { max_retries = 2 } }
    end):find("unknown key 'retry_settings'; write it into ParallelRunConfig { ... }", 1, true))
    assert.is_truthy(refused(function()
      local _ = Config { entry_script = "a.lua", program_arguments = "x" }
    end):find("unknown key 'program_arguments'; write arguments into ParallelRunStep { ... }", 1, true))
    assert.is_truthy(refused(function()
      local _ = Config { entry_script = "a.lua", append_row_to = "${{outputs.rows}}" }
    end):find("accepted: a file name, without a folder", 1, true))
    assert.equal(-1, Config({ entry_script = "a.lua", allowed_failed_count = -1 }).allowed_failed_count)
  end)

  it("refuse a list that holds itself, and one with holes", function()
    local loop = {}
    loop[1] = loop
    assert.equal("ParallelRunStep: 'arguments[1]' holds itself", (refused(function()
      local _ = step { arguments = loop }
    end)))
    assert.is_truthy(refused(function()
      local _ = step { arguments = { "a", nil, "c", [5] = "e" } }
    end):find("'arguments' is a table with holes", 1, true))
  end)

  it("accept only steps in a pipeline", function()
    local p = Pipeline { name = "digits", steps = { step { output = Output { name = "scores" } } } }
    assert.equal("scores", p.steps[1].output.name)
    local accepted = "; accepted: a list of one or more ParallelRunStep"
    local none = refused(function()
      local _ = Pipeline { name = "digits", steps = {} }
    end)
    assert.equal("Pipeline: 'steps' is an empty table" .. accepted, none)
    local other = refused(function()
      local _ = Pipeline { name = "digits", steps = { images } }
    end)
    assert.equal("Pipeline: 'steps[1]' is a FileDataset" .. accepted, other)
  end)
end)
