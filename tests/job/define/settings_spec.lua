-- Settings of a job: thresholds, timeouts, the workers' environment, the runner's arguments, other
-- names.
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"

local FAIL_SOME = [[function run(m)
  if number_of(m[1]) <= 3 then error "no good" end
  return names_of(m)
end]]

local function setting(t, name)
  return json.decode(t:read "job/job.json").steps[1].definition.settings[name]
end

local function new_case(config, step, script)
  local t = job.case()
  t:inputs(10)
  t:script(script or FAIL_SOME)
  t:pipeline("mini_batch_size = 1, run_max_try = 1, " .. (config or ""), step)
  return t
end

describe("failed mini-batches", function()
  after_each(job.check_end)

  it("end the job when more than allowed_failed_count have failed", function()
    new_case("allowed_failed_count = 3"):expect_job(0)
    new_case("allowed_failed_count = -1, allowed_failed_percent = -1"):expect_job(0)
    local r = new_case("allowed_failed_count = '2'"):expect_job(1)
    assert.is_truthy(r.err:find("3 mini-batches have failed, and allowed_failed_count tolerates 2", 1, true), r.err)
  end)

  it("end the job when more than allowed_failed_percent have failed", function()
    new_case("allowed_failed_percent = 30"):expect_job(0)
    local r = new_case("allowed_failed_percent = 29.5"):expect_job(1)
    assert.is_truthy(r.err:find("of 10 mini-batches have failed, and allowed_failed_percent tolerates 29.5 %", 1, true),
      r.err)
  end)
end)

describe("arguments of the runner's own", function()
  after_each(job.check_end)

  it("are removed, checked, and reported", function()
    local t = new_case("error_threshold = 0", [[arguments = { "--threshold", 0.5, "--error_threshold", 5, "last",
      "--logging_level=debug", "--run_invocation_timeout", tm.PipelineParameter { name = "timeout", default_value = 7 },
      "--error_thres", "x", "--", "--error_threshold", "1" }]], [[
      local entry = require "tidemill.entry_script" ()
      function run(m)
        if number_of(m[1]) > 1 then return names_of(m) end
        return { { script = entry.arguments, runner = entry.runner_arguments } }
      end]])
    t:expect_job(0)
    local said
    for _, row in ipairs(t:rows()) do said = row:find "^{" and json.decode(row) or said end
    assert.same({ "--threshold", "0.5", "last", "--error_thres", "x", "--", "--error_threshold", "1" }, said.script)
    assert.same({ "--error_threshold", "5", "--logging_level=debug", "--run_invocation_timeout", "7" }, said.runner)
    assert.same({ value = 5, origin = "argument" }, setting(t, "error_threshold"))
    assert.same({ value = "DEBUG", origin = "argument" }, setting(t, "logging_level"))
    assert.same({ value = 7, origin = "argument" }, setting(t, "run_invocation_timeout"))
    assert.is_truthy(t:log("sys/master_role.txt"):find("'--error_thres' goes to the script", 1, true))
  end)

  it("are refused by name", function()
    for arguments, words in pairs {
      ["'--error_threshold', -7"] = "'error_threshold' is \"-7\"; accepted: an integer from -1",
      ["'--error_threshold'"] = "'--error_threshold' in 'arguments' has no value; accepted: an integer",
      ["'--error_threshold', '--x'"] = "has no value",
      ["'--logging_level', 'loud'"] = "'logging_level' is \"loud\"",
      ["'--error_threshold 5'"] = "'--error_threshold 5' in 'arguments' is one word; accepted: two, "
        .. '"--error_threshold", "5"',
      ["'--model', '${{ inputs.model }}'"] = "'arguments[2]' is \"${{ inputs.model }}\"; it is an expression of YAML",
      ["'--progress_update_timeout=soon'"] = "'progress_update_timeout' is \"soon\"",
    } do
      local t = new_case("", "arguments = { " .. arguments .. " }")
      local r = t:expect_job(2)
      assert.is_truthy(r.err:find(words, 1, true), r.err)
      assert.is_truthy(r.err:find "pipeline.lua:%d+: ParallelRunStep", r.err)
      assert.is_false(t:has "job/job.json")
    end
  end)
end)

describe("a step without progress", function()
  after_each(job.check_end)

  it("fails after progress_update_timeout, whose default follows from the other timeouts", function()
    local t = new_case("process_count_per_node = 1", "arguments = { '--progress_update_timeout', 0.5 }",
      "function run(m) while true do end end")
    local r = t:expect_job(1)
    assert.is_truthy(r.err:find("within progress_update_timeout (0.5 s)", 1, true), r.err)
    t = new_case("run_invocation_timeout = 10", "arguments = { '--task_overhead_timeout', 20 }",
      "function run(m) return names_of(m) end")
    t:expect_job(0)
    assert.same({ value = 90, origin = "default" }, setting(t, "progress_update_timeout"))
    assert.is_truthy(t:log("sys/master_role.txt"):find("progress_update_timeout is 90 s", 1, true))
  end)
end)

describe("the workers' environment", function()
  after_each(job.check_end)

  it("has the given variables, and folders for require", function()
    local t = new_case([[
      environment = { variables = { A = "from environment", B = 2 }, module_paths = { "modules" } },
      environment_variables = { A = "secret-value" }]], nil, [[
      local helper = require "helper"
      function run(m) return { os.getenv "A" .. " " .. os.getenv "B" .. " " .. helper } end]])
    t:write("modules/helper.lua", "return 'helped'")
    t:expect_job(0)
    assert.equal("secret-value 2 helped", t:rows()[1])
    assert.is_nil(t:read("job/job.json"):find("secret-value", 1, true))
    assert.is_nil(t:read("job/job.json"):find("from environment", 1, true))
  end)

  it("is refused if a folder does not exist", function()
    local r = new_case("environment = { module_paths = 'nowhere' }"):expect_job(2)
    assert.is_truthy(r.err:find("'environment.module_paths[1]' is \"nowhere\"; there is no folder", 1, true), r.err)
  end)
end)

describe("names of the successor", function()
  after_each(job.check_end)

  it("are accepted, and the messages use ours", function()
    local t = job.case()
    t:inputs(3)
    t:script "function run(m, context) if context.try < 3 then error 'again' end return names_of(m) end"
    t:pipeline [[max_concurrency_per_instance = 1, append_row_to = "rows.txt", mini_batch_error_threshold = -1,
      retry_settings = { max_retries = 2, timeout = 5 }]]
    t:expect_job(0)
    assert.same(job.names(3), t:rows "rows.txt")
    assert.equal(3, setting(t, "run_max_try").value)
    assert.equal(5, setting(t, "run_invocation_timeout").value)
    assert.equal(1, setting(t, "process_count_per_node").value)
    assert.is_nil(setting(t, "allowed_failed_count"))
    local log = t:log "sys/master_role.txt"
    local names = { ["retry_settings.max_retries"] = "run_max_try", append_row_to = "append_row_file_name" }
    for name, ours in pairs(names) do
      assert.is_truthy(log:find(("'%s' is called '%s' here"):format(name, ours), 1, true), log)
    end
  end)

  it("are refused beside ours, under their own names", function()
    for config, words in pairs {
      ["process_count_per_node = 1, max_concurrency_per_instance = 1"] =
        "'process_count_per_node' and 'max_concurrency_per_instance' are the same setting",
      ["max_concurrency_per_instance = 0"] = "'max_concurrency_per_instance' is 0; accepted: an integer from 1 on",
      ["retry_settings = { max_retries = -1 }"] = "'max_retries' is -1; accepted: an integer from 0 to 2147483646",
      ["retry_settings = { tries = 1 }"] = "retry_settings: unknown key 'tries'",
      ['append_row_to = "${{outputs.o}}"'] =
        "'append_row_to' is \"${{outputs.o}}\"; accepted: a file name, without a folder",
      ["allowed_failed_percent = -2"] = "'allowed_failed_percent' is -2; accepted: a number from -1 to 100",
      ["retry_settings = 3"] = "retry_settings: the argument is 3",
      ["mini_batch_error_threshold = -2"] = "'mini_batch_error_threshold' is -2; accepted: an integer from -1",
    } do
      local t = job.case()
      t:inputs(1)
      t:script "function run(m) return m end"
      t:pipeline(config)
      local r = t:expect_job(2)
      assert.is_truthy(r.err:find(words, 1, true), r.err)
      assert.is_truthy(r.err:find("pipeline.lua:3: ParallelRunConfig: ", 1, true), r.err)
    end
  end)
end)

describe("an output file of another origin", function()
  after_each(job.check_end)

  it("is replaced only with overwrite", function()
    for _, overwrite in ipairs { false, true } do
      local t = job.case()
      t:inputs(2)
      t:script "function run(m) return names_of(m) end"
      t:pipeline("overwrite = " .. tostring(overwrite))
      t:expect_job(0)
      -- Without its state nothing says that the rows are the job's.
      for name in lfs.dir(t.step_dir .. "/state") do os.remove(t.step_dir .. "/state/" .. name) end
      os.remove(t.dir .. "/job/job_result.json")
      local r = t:expect_job(overwrite and 0 or 3, { "--resume" })
      if not overwrite then assert.is_truthy(r.err:find("state/journal' has been removed", 1, true), r.err) end
      assert.same(job.names(2), t:rows())
    end
  end)
end)
