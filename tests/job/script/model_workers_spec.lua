-- Workers that have a model, with each version of ONNX Runtime that tests have: what they hold and
-- leave behind, kills and interruptions while they load and run, and the same rows from one worker
-- and from four.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local lfs = require "lfs"
local root = (here:find "^/" and here or lfs.currentdir() .. "/" .. here) .. "/../../.."
package.path = root .. "/examples/?.lua;" .. package.path
local job = require "support.job"
local onnx_writer = require "onnx_writer"
local programs = require "support.programs"
local versions = require "support.onnxruntime.versions"
local waiting = require "support.waiting"

local ONE = "mini_batch_size = 1, process_count_per_node = 1"
local DIGITS = root .. "/examples/digits_onnx"
local MODEL = root .. "/tests/fuzz/corpus/onnx_file/scale.onnx"

-- ---- cases ----

-- count.onnx counts to its input; loading slow.onnx, so many operators in a row, takes long.
local function write_models(t, operators)
  onnx_writer.write(t:path "count.onnx", {
    inputs = { { "steps", "int64", {} } }, outputs = { { "sum", "float32", {} } },
    initializers = { { "go", "bool", {}, { 1 } }, { "zero", "float32", {}, { 0 } } },
    nodes = { { "Loop", { "steps", "go", "zero" }, { "sum" }, attributes = { body = { graph = {
      inputs = { { "i", "int64", {} }, { "again", "bool", {} }, { "x", "float32", {} } },
      outputs = { { "on", "bool", {} }, { "more", "float32", {} } },
      initializers = { { "one", "float32", {}, { 1 } } },
      nodes = { { "Identity", { "again" }, { "on" } }, { "Add", { "x", "one" }, { "more" } } },
    } } } } },
  })
  local nodes = {}
  for i = 1, operators do nodes[i] = { "Add", { "x" .. i - 1, "x" .. i - 1 }, { "x" .. i } } end
  onnx_writer.write(t:path "slow.onnx", {
    inputs = { { "x0", "float32", { 1 } } }, outputs = { { "x" .. operators, "float32", { 1 } } }, nodes = nodes,
  })
end

-- The beginning of a script. The first worker that asks is_first(NAME) writes its number into the
-- file NAME.
local SCRIPT = [[
local fs, onnx, tensor = require "tidemill.fs", require "tidemill.onnx", require "tidemill.tensor"
local function here(name) return os.getenv "HERE" .. name end
local function write(name, text)
  local file = io.open(here(name .. ".new"), "w")
  file:write(text)
  file:close()
  os.rename(here(name .. ".new"), here(name))
end
local function own_number() return fs.read "/proc/self/stat":match "%d+" end
local function is_first(name)
  if fs.exists(here(name)) then return false end
  write(name, own_number())
  return true
end
local function count(session, n) return tostring(session:run(tensor.from_table("int64", n)):at()) end
local session
]]

local function options_of(t, library)
  return { env = { "HERE=" .. t.dir .. "/", "HOME=" .. t.dir .. "/home", "TIDEMILL_ONNXRUNTIME=" .. library },
           limit = 60 }
end

-- A case for each of the versions that is here; `run(t, options)`.
local function for_versions(list, what, run)
  for _, version in ipairs(list) do
    it(what .. ", with ONNX Runtime " .. version, function()
      local library = versions.library(version)
      if not library then return pending(versions.MISSING) end
      local t = job.case()
      run(t, options_of(t, library))
    end)
  end
end

-- The next job of the case has a folder of its own.
local function name_job(t, name)
  t.job_dir, t.step_dir = t:path(name), t:path(name .. "/score")
end

-- ---- what a process has ----

local function text_of(path)
  local file = io.open(path, "rb")
  local text = file and file:read "*a" or ""
  if file then file:close() end
  return text
end

-- Sorted; without the numbers of pipes and sockets, and below the folder of its job.
local function open_things(t, pid)
  local list = {}
  for fd in lfs.dir("/proc/" .. pid .. "/fd") do
    local target = lfs.symlinkattributes("/proc/" .. pid .. "/fd/" .. fd, "target")
    if target then
      local from, to = target:find(t.job_dir, 1, true)
      list[#list + 1] = from == 1 and target:sub(to + 1) or target:gsub("%[%d+%]", "")
    end
  end
  table.sort(list)
  return table.concat(list, "\n")
end

local function threads_of(pid)
  return tonumber(text_of("/proc/" .. pid .. "/status"):match "Threads:%s+(%d+)")
end

-- Ticks of CPU time.
local function used_by(pid)
  return tonumber(text_of("/proc/" .. pid .. "/stat"):match("%) %S" .. (" %S+"):rep(10) .. " (%d+)") or 0)
end

-- Those whose name contains `words`.
local function files_in(dir, words)
  local list = {}
  for name in lfs.dir(dir) do
    if not name:find "^%.%.?$" and name:find(words or "", 1, true) then list[#list + 1] = name end
  end
  return list
end

-- Runs a job whose worker has one core. Returns what the worker has while run() waits for a line
-- from a FIFO.
local function look_at_worker(t, name, script, options)
  name_job(t, name)
  local go = waiting.fifo(t, name .. "-go")
  t:script(SCRIPT .. "local NAME = '" .. name .. "'" .. script .. [[
    function run(m)
      require "tidemill.entry_script"().logger:info "a line" -- opens the log
      local sum = score()
      is_first(NAME .. "-at")
      local file = io.open(here(NAME .. "-go"))
      file:read "*l"
      file:close()
      return { sum }
    end]])
  local p = t:start_job(nil, options)
  local pid = t:wait_for(name .. "-at")
  local has = { pid = pid, open = open_things(t, pid), threads = threads_of(pid) }
  t:write(go, "\n")
  t:expect(t:finish(p), 0)
  assert.same({ "4" }, t:rows())
  return has
end

-- Waits until a worker has written its number into the file and then worked for a while; kills it.
local function kill_at_work(t, name)
  local pid = tonumber(t:wait_for(name))
  local from = used_by(pid)
  programs.wait_until("the worker's work", function() return used_by(pid) > from + 2 end)
  assert.is_true(programs.kill(pid, programs.SIGKILL))
end

-- ---- the tests ----

describe("a worker with a model", function()
  after_each(job.check_end)

  for_versions(versions.VERSIONS, "has no thread, socket or file of the library, and leaves none", function(t, options)
    write_models(t, 1)
    t:inputs(1)
    t:pipeline(ONE)
    assert(lfs.mkdir(t:path "home"))
    options.before = { "taskset", "-c", text_of("/proc/self/status"):match "Cpus_allowed_list:%s+(%d+)" }
    local without = look_at_worker(t, "without", " local function score() return 4 end\n", options)
    local with = look_at_worker(t, "with", [[
      function init() session = onnx.InferenceSession(here "count.onnx") end
      local function score() return count(session, 4) end
      ]], options)
    assert.equal(without.open, with.open)
    assert.same({ 1, 1 }, { without.threads, with.threads })
    assert.same({}, files_in(t:path "home"))
    assert.same({}, files_in(t:path "tmp"))
    assert.same({}, files_in("/tmp", "-" .. with.pid .. ".")) -- as mat-debug-PID.log, of telemetry
  end)

  for_versions(versions.VERSIONS, "is killed while it loads, or runs: rows appear once, and the next one loads",
    function(t, options)
      write_models(t, 2000)
      t:inputs(4)
      t:script(SCRIPT .. [[
      function init()
        while is_first "loads" or fs.read(here "loads") == own_number() do
          onnx.InferenceSession(here "slow.onnx"):close()
        end
        onnx.InferenceSession(here "slow.onnx"):close()
        session = onnx.InferenceSession(here "count.onnx")
      end
      function run(m)
        take_a_millisecond() -- so that no result is kept while the next run() begins
        local n = number_of(m[1])
        return { count(session, n == 3 and is_first "runs" and 1000000000000 or n) }
      end]])
      t:pipeline(ONE)
      local p = t:start_job(nil, options)
      kill_at_work(t, "loads")
      kill_at_work(t, "runs")
      t:expect(t:finish(p), 0)
      assert.same({ "1", "2", "3", "4" }, t:rows())
      assert.same({ PROCESS_DIED = 2, RUN_DONE = 4 }, t:statuses())
    end)

  -- The older version cannot be stopped while it loads.
  for_versions({ "1.30" }, "is interrupted while it loads", function(t, options)
    write_models(t, 30000)
    t:inputs(2)
    t:script(SCRIPT .. [[
      function init()
        if is_first "loads" then onnx.InferenceSession(here "slow.onnx") end
      end
      function run(m)
        session = session or onnx.InferenceSession(here "count.onnx")
        return { count(session, number_of(m[1])) }
      end]])
    t:pipeline(ONE .. ", interruptible = true, init_timeout = 0.3, interrupt_grace = 20")
    t:expect_job(0, nil, options)
    assert.same({ "1", "2" }, t:rows())
    local text = t:log "user/error/0/process000.txt"
    job.expect_patterns(text, { "score.lua:%d+: init%(%) took longer than init_timeout %(0.3 s%) and was interrupted" })
  end)

  it("is killed while it loads with a version that cannot stop, and its log says that it loads", function()
    local t = job.case()
    t:inputs(1)
    t:script([[
      local onnx = require "tidemill.onnx"
      function init() onnx.InferenceSession ']] .. MODEL .. [[' end
      function run(m) return m end]])
    t:pipeline(ONE .. ", run_max_try = 1, interruptible = true, init_timeout = 0.2, interrupt_grace = 0.2")
    local stub = { "TIDEMILL_ONNXRUNTIME=" .. assert(os.getenv "TM_ORT_STUB"), "TM_STUB_VERSION=1.17.0",
      "TM_STUB_WAITS_TO_LOAD=1" }
    local r = t:expect_job(1, nil, { env = stub, limit = 60 })
    assert.is_truthy(r.err:find("killed because init() took longer than init_timeout, after ", 1, true), r.err)
    local last = "|loading '" .. MODEL .. "'\n"
    assert.equal(last, t:log("user/entry_script_log/0/process000.log.txt"):sub(-#last))
  end)

  for_versions(versions.VERSIONS, "gives the same rows as four", function(t, options)
    assert(lfs.link(DIGITS .. "/images", t:path "in", true))
    t:script(("local MODEL = '%s/model/digits.onnx'\n"):format(DIGITS) .. [[
      local image, onnx = require "tidemill.image", require "tidemill.onnx"
      local session
      function init() session = onnx.InferenceSession(MODEL) end
      function run(m)
        local images = image.batch(m, { width = 28, height = 28, channels = "gray" })
        local scores, rows = session:run(images):to_table(), {}
        for i, path in ipairs(m) do
          for k, score in ipairs(scores[i]) do scores[i][k] = ("%a"):format(score) end
          rows[i] = name_of(path) .. " " .. table.concat(scores[i], " ")
        end
        return rows
      end]])
    local function rows_of(workers)
      name_job(t, "job" .. workers)
      t:pipeline("mini_batch_size = 5, process_count_per_node = " .. workers)
      t:expect_job(0, nil, options)
      return t:rows()
    end
    local rows = rows_of(1)
    assert.equal(200, #rows)
    assert.same(rows, rows_of(4))
  end)
end)
