-- A model in place of an entry script, whose workers run on other nodes: each node finds ONNX
-- Runtime itself, because this machine has no variable for it.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
package.path = here .. "/../../../examples/?.lua;" .. package.path
local job = require "support.job"
local onnx_writer = require "onnx_writer"
local versions = require "support.onnxruntime.versions"

local LIMIT = 120 -- seconds for a job: far more than it takes

-- On nodes that are set up by `before`, words for env. Returns the case, the result, and the
-- options of the job. With a third file there is one node, so that this file comes last.
local function run_job(before, more, third)
  local t = job.case()
  t:write("weights", ("\0\0\128\63"):rep(8)) -- all 1; it fails with a number beyond 7
  onnx_writer.write(t:path "pick.onnx", {
    inputs = { { "x", "int64", { "n", 2 } } }, outputs = { { "y", "float32", { "n", 2 } } },
    initializers = { { "w", "float32", { 8 }, { file = "weights", offset = 0, length = 32 } } },
    nodes = { { "Gather", { "w", "x" }, { "y" } } },
  })
  t:write("rows/1.csv", "a,b\n1,2\n3,4\n")
  t:write("rows/2.csv", "a,b\n5,6\n")
  if third then t:write("rows/3.csv", third) end
  t:write("pipeline.lua", ([[
    local tm = require "tidemill"
    return tm.Pipeline { name = "picks", steps = { tm.ParallelRunStep { name = "score",
      inputs = tm.Dataset.Tabular.from_delimited_files "rows/*",
      parallel_run_config = tm.ParallelRunConfig { model = "pick.onnx", run_max_try = 1, error_threshold = 0,
        process_count_per_node = 1, compute_target = "exec", node_count = %d,
        node_command = { "env", %s, "{program}", "node" }, %s },
    } } }]]):format(third and 1 or 2, before, more))
  local options = { limit = LIMIT, env = { "HOME=" .. t.dir, "XDG_DATA_HOME=", "LD_LIBRARY_PATH=" } }
  return t, t:run_job(nil, options), options
end

describe("a model on other nodes", function()
  after_each(job.check_end)

  for name, more in pairs { ["a shared disk"] = "", ["the job"] = "ship_source = true" } do
    it("scores rows, with its script from " .. name, function()
      local library = versions.library "1.17"
      if not library then return pending(versions.MISSING) end
      local t, r = run_job(("%q"):format("TIDEMILL_ONNXRUNTIME=" .. library), more)
      t:expect(r, 0)
      assert.same({ "1 2 1.0 1.0", "3 4 1.0 1.0", "5 6 1.0 1.0" }, t:rows())
      for row in t:log("sys/job_report/process_summary.csv"):gmatch "\n(process[^\n]*)" do
        assert.is_truthy(row:find "^process%d+,[12],", row)
      end
    end)
  end

  it("is resumed, though this machine would not find their ONNX Runtime", function()
    local library = versions.library "1.17"
    if not library then return pending(versions.MISSING) end
    local t, r, options = run_job(("%q"):format("TIDEMILL_ONNXRUNTIME=" .. library), "", "a,b\n7,8\n")
    for _ = 1, 2 do
      assert.equal(1, r.status, r.err)
      assert.is_truthy(r.err:find("cannot run '" .. t.dir .. "/pick.onnx': ", 1, true), r.err)
      assert.equal(3, #t:rows "parallel_run_step.txt.partial")
      r = t:run_job({ "--resume" }, options)
    end
  end)

  it("needs ONNX Runtime there, and names the folders", function()
    local t, r = run_job('"TIDEMILL_ONNXRUNTIME="', "")
    assert.equal(1, r.status, r.err)
    assert.is_truthy(r.result.steps[1].cause:find("cannot load '" .. t.dir .. "/pick.onnx': cannot find ONNX Runtime",
      1, true), r.err)
  end)
end)
