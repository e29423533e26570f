-- share_weights: the workers of a job have one copy of a model's weights, in the workspace.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
package.path = here .. "/../../../examples/?.lua;" .. package.path
local job = require "support.job"
local lfs = require "lfs"
local onnx_writer = require "onnx_writer"
local programs = require "support.programs"
local versions = require "support.onnxruntime.versions"

-- y = x * w, `layers` times
local function write_model(path, side, layers)
  local model = { inputs = { { "x", "float32", { "n", side } } }, outputs = { { "y", "float32", { "n", side } } } }
  local weights = ("\0\0\128\59"):rep(side * side) -- of 1/256
  model.initializers, model.nodes = {}, {}
  for i = 1, layers do
    model.initializers[i] = { "w" .. i, "float32", { side, side }, weights }
    model.nodes[i] = { "MatMul", { i == 1 and "x" or "x" .. i, "w" .. i }, { i == layers and "y" or "x" .. i + 1 } }
  end
  onnx_writer.write(path, model)
end

-- Each of two workers has a mini-batch, because each waits for the other's.
local SCRIPT = [[
local onnx, tensor = require "tidemill.onnx", require "tidemill.tensor"
local session, own
function init()
  %s
  local function anonymous()
    return tonumber(require("tidemill.fs").read("/proc/self/status"):match "RssAnon:%%s+(%%d+)") / 1024
  end
  assert(onnx.runtime())
  local before = anonymous()
  session = onnx.InferenceSession(DIR .. "/model.onnx", { share_weights = %s })
  own = anonymous() - before
end
function run(m)
  local n, side = number_of(m[1]), session.inputs[1].shape[2]
  local x = tensor.new("float32", { 1, side })
  x:set(n, 1, 1)
  if WORKERS == 2 then
    assert(io.open(DIR .. "/" .. JOB .. n, "w")):close()
    wait_for_file(DIR .. "/" .. JOB .. 3 - n)
  end
  return { ("%%d %%g %%.1f"):format(n, session:run(x):at(1, 1), own) }
end
]]

local jobs = 0

-- A case with two inputs, and what its first argument says in init().
local function new_case(side, layers)
  local t = job.case()
  t:inputs(2)
  write_model(t:path "model.onnx", side or 64, layers or 1)
  return t
end

-- Runs a job in the workspace; returns its rows, and the lines that its workers have logged, from
-- number `first` on. `meanwhile` is called while it runs.
local function run_job(t, library, share, o)
  o = o or {}
  jobs = jobs + 1
  local workers = o.workers or 2
  local names = ("local DIR, JOB, WORKERS = %q, 'job%d-', %d; "):format(t.dir, jobs, workers)
  t:script(SCRIPT:format(o.init or "", share))
  t:write("score.lua", names .. t:read "score.lua")
  t:pipeline(("mini_batch_size = 1, error_threshold = 0, process_count_per_node = %d, %s"):format(workers,
    o.config or ""))
  local program = t:start({ "run", "pipeline.lua", "--progress", "none", "--json", "--no-reuse" },
    { env = { "TIDEMILL_ONNXRUNTIME=" .. library, o.env } })
  if o.meanwhile then o.meanwhile() end
  local r = t:expect(t:finish(program), 0)
  t.step_dir = r.result.job_dir:sub(#t.dir + 2) .. "/score"
  local lines = {}
  for i = o.first or 0, (o.first or 0) + workers - 1 do
    for line in t:log(("user/entry_script_log/0/process%03d.log.txt"):format(i)):gmatch "[^\n]+" do
      lines[#lines + 1] = line
    end
  end
  return t:rows(), table.concat(lines, "\n")
end

local function count(text, words) return select(2, text:gsub(words:gsub("%p", "%%%0"), "")) end

local function scores(rows)
  local out = {}
  for i, row in ipairs(rows) do out[i] = row:match "^%d+ %S+" end
  return out
end

local SCORES = { "1 0.00390625", "2 0.0078125" }

-- The names in the folder of the copies, sorted, with KEY for their key.
local function copies(t)
  local names = {}
  for name in lfs.dir(t:path "workspace/models") do
    if not name:find "^%." then names[#names + 1] = (name:gsub("^%x+", "KEY")) end
  end
  table.sort(names)
  return names
end

local function is_unfinished(t) return t:has "workspace/models" and copies(t)[2] == "KEY.part" end

-- Kills the worker that makes a copy while that is unfinished. False: it was too fast.
local function kill_maker(t)
  programs.wait_until("an unfinished copy", function()
    return is_unfinished(t) or t:has "workspace/models" and copies(t)[1] == "KEY"
  end)
  local pid = t:processes_of("worker")[1]
  if not pid or not programs.kill(pid, programs.SIGSTOP) then return false end
  programs.wait_until("a stopped worker", function()
    local file = io.open("/proc/" .. pid .. "/stat")
    return not file or file:read("*a"):find "%) [TZ] "
  end)
  local is_caught = is_unfinished(t)
  programs.kill(pid, is_caught and programs.SIGKILL or programs.SIGCONT)
  return is_caught
end

local function needs(version)
  local library = versions.library(version)
  return library or pending(versions.MISSING)
end

-- A program that holds the lock of a copy, which is unfinished.
local function hold_copy(t, library)
  run_job(t, library, "true", { workers = 1 })
  local copy
  for name in lfs.dir(t:path "workspace/models") do copy = name:match "^%x+$" or copy end
  t:write("workspace/models/" .. copy .. "/made.json", "")
  local holder = t:start({ "--no-fork", t:path("workspace/models/" .. copy .. ".lock"), "sh", "-c",
    "echo > held; exec tail -f /dev/null" }, { program = "flock" })
  t:wait_for("held", "\n")
  return holder
end

describe("share_weights", function()
  after_each(job.check_end)

  it("makes one copy for all workers and later jobs, which clean removes", function()
    local library = needs "1.30"
    if not library then return end
    local t = new_case()
    local rows, log = run_job(t, library, "true")
    assert.same(SCORES, scores(rows))
    assert.equal(1, count(log, "prepared the weights of '"), log)
    assert.equal(2, count(log, ", shared weights, ONNX Runtime 1.30.0 of '"), log)
    assert.equal(0, count(log, "|WARNING|"), log) -- of the library's either
    rows, log = run_job(t, library, "true")
    assert.same(SCORES, scores(rows))
    assert.equal(0, count(log, "prepared"), log)
    assert.equal(2, count(log, "shared weights"), log)
    local r = t:expect(t:run { "clean", "--dry-run" }, 0)
    assert.is_truthy(r.out:find("/workspace/models  1 prepared model  ", 1, true), r.out)
    -- it is new, and has no status
    for _, option in ipairs { { "--older-than", "1h" }, { "--status", "Canceled" } } do
      r = t:expect(t:run { "clean", "--dry-run", unpack(option) }, 0)
      assert.is_truthy(r.err:find("there is nothing to remove", 1, true), r.out .. r.err)
    end
    r = t:expect(t:run { "clean", "--yes", "--json" }, 0)
    assert.is_truthy(r.out:find('{"models":1,"removed":true,"bytes":', 1, true), r.out)
    for name in lfs.dir(t:path "workspace/models") do assert.is_truthy(name:find "^%.", name) end
    r = t:expect(t:run { "clean", "--yes" }, 0)
    assert.is_truthy(r.err:find("there is nothing to remove", 1, true), r.err)
  end)

  it("makes a copy where \"auto\" takes the CPU because CUDA has failed", function()
    local library = needs "1.30"
    if not library then return end
    local t = new_case()
    -- a node that claims to have GPUs, and a library that has no file of its CUDA
    local rows, log = run_job(t, library, "true", { env = "AZ_BATCHAI_GPU_COUNT_FOUND=2" })
    assert.same(SCORES, scores(rows))
    assert.equal(2, count(log, "; the CPU, because CUDA failed: "), log)
    assert.equal(1, count(log, "prepared the weights of '"), log)
    assert.equal(2, count(log, ", shared weights, ONNX Runtime 1.30.0 of '"), log)
    assert.equal(0, count(log, "not shared"), log)
  end)

  it("shows that a worker waits", function()
    local library = needs "1.30"
    if not library then return end
    local t = new_case()
    local holder = hold_copy(t, library)
    local _, log = run_job(t, library, "true", { workers = 1, meanwhile = function()
      programs.wait_until("a worker that waits", function()
        local text = t:run({ "status", "latest" }).out
        return text:find "process000: in init%(%) for %d+ s, waiting for another worker"
      end)
      holder:kill(9)
      holder:wait()
    end })
    assert.equal(1, count(log, "prepared the weights of '"), log)
  end)

  it("takes the plain model if another worker prepares it for too long", function()
    local library = needs "1.30"
    if not library then return end
    local t = new_case()
    local holder = hold_copy(t, library)
    for init, waited in pairs {
      ["require('tidemill.onnx.sharing').wait_s = 0"] = "0",
      -- half the time until init_timeout
      ["local worker = require 'tidemill.entry_script_c'; " ..
        "assert(worker.init_left() > 60 and worker.init_left() <= 120 and #worker.session == 16); " ..
        "worker.init_left = function() return 0.02 end"] = "0.01",
    } do
      local rows, log = run_job(t, library, "true", { workers = 1, init = init, config = "init_timeout = 120" })
      assert.same(SCORES, scores(rows))
      assert.equal(1, count(log, "|waiting for another worker, which prepares the weights of '"), log)
      assert.equal(1, count(log, "not shared: another worker has prepared them for more than " .. waited .. " s"), log)
      assert.equal(0, count(log, "shared weights"), log)
    end
    holder:kill(9)
    holder:wait()
  end)

  it("takes the plain model after a worker whose time was limited was killed while it made a copy", function()
    local library = needs "1.30"
    if not library then return end
    for _ = 1, 10 do
      local t, o = new_case(1024), { workers = 1, config = "init_timeout = 120" }
      o.meanwhile = function() o.first = kill_maker(t) and 1 end -- process000 is killed
      local rows, log = run_job(t, library, "true", o)
      if o.first then
        assert.same(SCORES, scores(rows))
        assert.equal(1, count(log, "not shared: a worker of this job has died or was interrupted"), log)
        assert.same({ "KEY.lock" }, copies(t))
        log = select(2, run_job(t, library, "true", { workers = 1, config = "init_timeout = 120" }))
        assert.equal(1, count(log, "prepared the weights of '"), log) -- another job
        return
      end
    end
    error "each worker was faster than the test"
  end)

  it("is made by the next worker where one was killed while it made the copy", function()
    local library = needs "1.30"
    if not library then return end
    for _ = 1, 10 do
      local t, o = new_case(1024), { workers = 1 }
      o.meanwhile = function() o.first = kill_maker(t) and 1 end -- process000 is killed
      local rows, log = run_job(t, library, "true", o)
      if o.first then
        assert.same(SCORES, scores(rows))
        assert.equal(1, count(log, "prepared the weights of '"), log)
        assert.equal(1, count(log, ", shared weights, "), log)
        assert.same({ "KEY", "KEY.lock" }, copies(t))
        assert.is_truthy(t:log("sys/node/0/_main.txt"):find("process000 .*signal 9"), t:log "sys/node/0/_main.txt")
        return
      end
    end
    error "each worker was faster than the test"
  end)

  it("says why there is no copy, and the job runs", function()
    for _, case in ipairs { -- version, option, words, workers
      { "1.17", "true", "are not shared: ONNX Runtime 1.17.0 cannot do that; 1.21 or newer can" },
      { "1.30", "true, graph_optimization_level = 'basic'",
        "are not shared: that needs graph_optimization_level = \"all\"" },
      { "1.30", "'auto'", nil, 2 }, -- too small
    } do
      local library = needs(case[1])
      if not library then return end
      local t = new_case()
      local rows, log = run_job(t, library, case[2], { workers = case[4] or 1 })
      assert.same(SCORES, scores(rows))
      assert.equal(case[3] and 1 or 0, count(log, case[3] or "shared"), log)
      assert.is_false(t:has "workspace/models")
    end
  end)

  -- of 128 MB; about 15 s
  it("takes at most 16 MB of a worker's own", function()
    if not os.getenv "TM_LONG" or os.getenv "TM_SANITIZE" then return end
    local library = needs "1.30"
    if not library then return end
    local t = new_case(2048, 8)
    for _, share in ipairs { "'auto'", "'auto'", "false" } do
      for _, row in ipairs(run_job(t, library, share)) do
        local own = tonumber(row:match "%S+$")
        assert.is_true(own > 0 and own < 16 == (share ~= "false"), share .. ": " .. own .. " MB")
      end
    end
  end)
end)
