-- `tidemill replay` runs a mini-batch of a job once more, as before, and does not change the job.
local job = require "support.job"
local programs = require "support.programs"
local json = require "tidemill.json"
local lfs = require "lfs"

local SCRIPT = [[
local EntryScript = require "tidemill.entry_script"
local helper = require "helper"
function run(m, context)
  local e = EntryScript()
  print("printed", context.minibatch_index)
  e.logger:info("looked at %d", #m)
  require "tidemill.fs".write("here.txt", "of mini-batch " .. context.minibatch_index)
  require "tidemill.fs".write(e.output_dir .. "/more.txt", "in output_dir")
  for _, path in ipairs(m) do
    if number_of(path) == 5 and not os.getenv "GO" then helper.fail() end
  end
  local rows = names_of(m)
  rows[1] = rows[1] .. " " .. table.concat(e.arguments, " ") .. " " .. tostring(context.dataset_name) .. " " ..
    tostring(os.getenv "COLOUR")
  return rows
end]]
local HELPER = 'local M = {}\nfunction M.fail() error "number five" end\nreturn M\n'

local function new_case(config, step)
  local t = job.case()
  t:inputs(8)
  t:script(SCRIPT, "src/score.lua")
  t:write("src/helper.lua", HELPER)
  t:pipeline('source_directory = "src", mini_batch_size = 2, run_max_try = 1, process_count_per_node = 1, ' ..
    (config or ""), step or 'arguments = { "--depth", "3" }')
  return t
end

--- Every path of a folder, with its kind, mode, modification time and content.
local function tree(folder, found)
  found = found or {}
  for name in lfs.dir(folder) do
    local path = folder .. "/" .. name
    if name ~= "." and name ~= ".." then
      local a = lfs.symlinkattributes(path)
      local text = a.mode == "link" and a.target or ""
      if a.mode == "file" then
        local file = assert(io.open(path, "rb"))
        text = file:read "*a"
        file:close()
      end
      found[path] = table.concat({ a.mode, a.permissions, a.modification, a.ino, text }, "|")
      if a.mode == "directory" then tree(path, found) end
    end
  end
  return found
end

--- Runs replay; checks that it ends with `status` and the message, and does not change the job.
local function replay(t, index, status, words, more, o)
  local before = tree(t.job_dir)
  local argv = { "replay", t.job_dir, "--mini-batch", tostring(index) }
  for _, word in ipairs(more or {}) do argv[#argv + 1] = word end
  local r = t:run(argv, o)
  t:expect(r, status)
  for _, word in ipairs(words or {}) do
    assert.is_truthy(r.err:find(word, 1, true), ("'%s' is missing in:\n%s"):format(word, r.err))
  end
  assert.same(before, tree(t.job_dir))
  -- It leaves its folders at the place that the user chose; remove them here.
  for name in lfs.dir(t.dir .. "/tmp") do
    if name:find "^tidemill%-replay" then assert.equal(0, os.execute("rm -r '" .. t.dir .. "/tmp/" .. name .. "'")) end
  end
  return r
end

describe("replay", function()
  after_each(job.check_end)

  it("runs a mini-batch as before, with its rows on standard output", function()
    local t = new_case()
    t:expect_job(0)
    local r = replay(t, 1, 0, { "step 'score' of job '" .. t.job_dir, "printed\t1",
      "output_dir, log_dir and temp_dir are",
      "mini-batch 1: 2 items, 2 elements returned", "/output, log_dir: ", "changed files in its folder",
      "copy of its script, '" .. t.job_dir .. "/script/score', is not as it was when" })
    assert.equal("0003.txt --depth 3 in nil\n0004.txt\n", r.out)
  end)

  it("shows an error with its stack, and the user's lines", function()
    local t = new_case()
    t:expect_job(0)
    t:write("src/helper.lua", "-- changed since\n") -- replay runs the job's copy
    local r = replay(t, 2, 1, { "run() failed at " .. t.dir .. "/src/helper.lua:2: ", "number five", "stack traceback:",
      "src/score.lua:11" })
    assert.equal("", r.out)
    t:write("src/helper.lua", HELPER)
    r = replay(t, 2, 0, nil, nil, { env = { "GO=1" } })
    assert.is_truthy(r.out:find "^0005.txt ")
  end)

  it("survives a record with values of wrong types", function()
    local t = new_case()
    t:expect_job(0)
    local path = t.job_dir .. "/job.json"
    local file = assert(io.open(path, "rb"))
    local record = file:read "*a"
    file:close()
    for _, key in ipairs { "arguments", "inputs", "outputs", "places" } do
      for _, value in ipairs { '"a text"', "1e300", "true", "{\"a\": 1}", "[1, [], {}]" } do
        local definition = json.decode(record)
        definition.steps[1].definition[key] = json.decode(value)
        local changed = assert(io.open(path, "wb"))
        changed:write(json.encode(definition))
        changed:close()
        local r = t:run { "replay", t.job_dir, "--mini-batch", "1" }
        assert.is_true(r.status == 0 or r.status == 3 and r.err:find("cannot make link ''", 1, true) ~= nil, r.err)
      end
    end
    os.execute("rm -rf '" .. t.dir .. "/tmp/'tidemill-replay-*")
  end)

  --- A job whose first mini-batch fails when it is replayed, in the way that `how` names.
  local function turning_case(config, how)
    local t = job.case()
    t:inputs(1)
    t:script([[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      function run(m)
        if os.getenv "TURNED" then
          ]] .. how .. [[
        end
        return names_of(m)
      end]])
    t:pipeline("process_count_per_node = 1, " .. config)
    t:expect_job(0)
    return t
  end
  local TURNED = { env = { "TURNED=1" } }

  it("reports where it hangs after the job's run_invocation_timeout", function()
    local t = turning_case("run_invocation_timeout = 0.3", "while true do end")
    replay(t, 0, 1, { "run() took longer than run_invocation_timeout (0.3 s) and was interrupted", "score.lua:6: in" },
           nil, TURNED)
  end)

  it("does not stop uninterruptible code, and says so", function()
    local t = turning_case("run_invocation_timeout = 0.1, interrupt_grace = 0.1", [[
          os.execute("until grep -q 'cannot be interrupted' " .. os.getenv "SAID" .. "; do :; done")]])
    replay(t, 0, 1, { "has passed run_invocation_timeout (0.1 s) and cannot be interrupted: it is in a C function" },
           nil, { env = { "TURNED=1", "SAID=" .. t:path("run" .. t.runs + 1 .. ".err") } })
  end)

  it("ends with 1 if an item failed", function()
    local t = turning_case("", "return {}")
    replay(t, 0, 1, { "1 item has failed: an item without an element counts as failed" }, nil, TURNED)
    replay(t, 0, 0, { "1 item, 1 element returned" })
  end)

  it("waits without a limit with --no-timeout", function()
    local t = turning_case("run_invocation_timeout = 0.1", "ffi.C.poll(nil, 0, 400)")
    local r = replay(t, 0, 0, { "1 element returned" }, { "--no-timeout" }, TURNED)
    assert.is_nil(r.err:find("run_invocation_timeout", 1, true))
  end)

  it("uses the job's worker_memory_limit", function()
    local t = turning_case('worker_memory_limit = "64MB"', 'local s = ("x"):rep(200 * 2^20) print(#s)')
    replay(t, 0, 1, { "not enough memory", "worker_memory_limit" }, nil, TURNED)
  end)

  it("is suggested at the end of a job and in user/error.txt", function()
    local t = new_case()
    local r = t:expect_job(0)
    local line = "again: tidemill replay " .. t.job_dir .. " --mini-batch 2\n"
    assert.is_truthy(r.err:find(line, 1, true), r.err)
    assert.is_truthy(t:log "user/error.txt":find(line, 1, true))
    replay(t, 2, 1, { "number five" })
  end)

  it("takes variables from an unchanged pipeline file, or else from its own environment", function()
    local t = new_case 'environment_variables = { COLOUR = "red" }'
    t:expect_job(0)
    assert.equal("0001.txt --depth 3 in red\n0002.txt\n", replay(t, 0, 0).out)
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub("red", "blue")))
    assert.equal("0001.txt --depth 3 in nil\n0002.txt\n", replay(t, 0, 0, { "not set: COLOUR" }).out)
    local r = replay(t, 0, 0, { "taken from here: COLOUR" }, nil, { env = { "COLOUR=green" } })
    assert.equal("0001.txt --depth 3 in green\n0002.txt\n", r.out)
    assert.is_nil((r.err .. r.out):find "blue")
    os.remove(t:path "pipeline.lua")
    replay(t, 0, 0, { "not set: COLOUR" })
  end)

  it("works on a job that was moved", function()
    local t = new_case()
    t:expect_job(0)
    assert.is_true(os.rename(t.job_dir, t.dir .. "/elsewhere"))
    t.job_dir = t.dir .. "/elsewhere"
    assert.is_truthy(replay(t, 3, 0).out:find "^0007.txt ")
  end)

  it("works on a map job, in the directory of its workers", function()
    local t = job.case()
    t:inputs(3)
    t:script [[function run(m) return { m[1]:match "[^/]+$" .. " " .. require "tidemill.fs".read "note" } end]]
    t:write("note", "found")
    t:expect(t:run { "map", "score.lua", "in", "-N", "1", "--job-dir", t.job_dir }, 0)
    assert.equal("0002.txt found\n", replay(t, 1, 0).out)
  end)

  it("gives a script another folder for an output among its arguments", function()
    local t = job.case()
    t:inputs(2)
    t:script [[
      local rows, pictures, side = ...
      function run(m)
        local f = assert(io.open(pictures .. "/" .. name_of(m[1]), "w"))
        f:write "picture\n"
        f:close()
        return { os.getenv "SHOW" and rows .. " " .. pictures .. " " .. side or "row" }
      end]]
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      local rows = tm.OutputFileDatasetConfig { name = "rows" }
      local pictures = tm.OutputFileDatasetConfig { name = "pictures", destination = "there" }
      return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
        name = "score", inputs = tm.Dataset.File.from_files "in/*",
        parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 1 },
        output = { rows, pictures }, arguments = { rows, pictures, tm.Dataset.File.from_files "in" },
      } } }
    ]])
    t:expect_job(0)
    local there = tree(t:path "there")
    local r = replay(t, 0, 0, { "the folder of output 'pictures' is '" .. t.dir .. "/tmp/tidemill-replay-" }, nil,
      { env = { "SHOW=1" } })
    local own, pictures, side = r.out:match "^(%S+) (%S+) (%S+)\n"
    assert.equal(own:match "^.*/" .. "output.pictures", pictures)
    assert.equal("output", own:match "[^/]*$")
    assert.equal(t:path "in", side)
    assert.same(there, tree(t:path "there"))
    assert.is_truthy(r.err:find(pictures, 1, true), r.err)
  end)

  it("requires a step if there are several", function()
    local t = new_case()
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      local function step(name, size)
        return tm.ParallelRunStep { name = name, inputs = { tm.Dataset.File.from_files "in/*" },
          parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", source_directory = "src",
            mini_batch_size = size, run_max_try = 1, process_count_per_node = 1 } }
      end
      return tm.Pipeline { name = "case", steps = { step("one", 1), step("two", 2) } }]])
    local r = t:run_job()
    t:expect(r, 0)
    assert.is_truthy(r.err:find("--step two --mini-batch 2", 1, true), r.err)
    replay(t, 0, 2, { "'--step' says which: 'one', 'two'" })
    replay(t, 0, 2, { "no step 'three'; accepted: 'one', 'two'" }, { "--step", "three" })
    assert.is_truthy(replay(t, 7, 0, nil, { "--step", "one" }).out:find "^0008.txt ")
    replay(t, 7, 2, { "there is no mini-batch 7; accepted: 0 to 3" }, { "--step", "two" })
  end)
end)

describe("replay refuses", function()
  after_each(job.check_end)

  it("an invalid number, and a mini-batch that does not exist", function()
    local t = new_case()
    t:expect_job(0)
    for _, given in ipairs { "two", "-1", "1.5", "99999999999999999999" } do
      replay(t, given, 2, { ("'--mini-batch' is \"%s\"; accepted: a number from 0 on"):format(given) })
    end
    replay(t, 4, 2, { "step 'score' of job ", "there is no mini-batch 4; accepted: 0 to 3" })
    local r = t:run { "replay", t.job_dir }
    t:expect(r, 2)
    assert.is_truthy(r.err:find("'--mini-batch' is missing", 1, true))
    r = t:run { "replay", "--mini-batch", "1" }
    t:expect(r, 2)
    -- this job is outside the workspace
    assert.is_truthy(r.err:find("there is no job yet", 1, true), r.err)
    t:expect(t:run { "replay", t.dir .. "/nothing", "--mini-batch", "1" }, 2)
  end)

  it("a job that is running", function()
    local t = job.case()
    t:inputs(2)
    t:script 'function run(m) while not require "tidemill.fs".exists(os.getenv "GO") do end return m end'
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1"
    local p = t:start_job(nil, { env = { "GO=" .. t.dir .. "/go" } })
    t:wait_for("job/score/logs/sys/master_role.txt", "is ready")
    local r = t:run { "replay", t.job_dir, "--mini-batch", "0" }
    t:expect(r, 3)
    assert.is_truthy(r.err:find("is running, by pid " .. p.pid, 1, true), r.err)
    t:write("go", "")
    t:expect(t:finish(p), 0)
  end)

  it("missing inputs, and warns of changed ones", function()
    local t = new_case()
    t:expect_job(0)
    t:write("in/0007.txt", "longer than it was")
    replay(t, 3, 0, { "1 of the 2 inputs has changed since the list was made" })
    os.remove(t:path "in/0007.txt")
    replay(t, 3, 2, { "1 of its 2 inputs is gone, the first is '" .. t.dir .. "/in/0007.txt'" })
  end)

  it("a damaged job, and one of another version", function()
    local t = new_case()
    t:expect_job(0)
    local manifest = t:read "job/score/state/manifest"
    local other = string.char((manifest:byte(71) + 1) % 256) -- a time, which may be any byte
    t:write("job/score/state/manifest", manifest:sub(1, 70) .. other .. manifest:sub(72))
    replay(t, 2, 3, { "mini-batch 2 cannot be read", "state/manifest' is torn or damaged at byte 16" })
    t:write("job/score/state/manifest", manifest:sub(1, 8) .. "\9" .. manifest:sub(10))
    replay(t, 2, 3, { "state/manifest" })
    os.remove(t:path "job/score/state/manifest")
    replay(t, 2, 3, { "state/manifest" })
    t:write("job/score/state/manifest", manifest)

    assert.is_true(os.rename(t.job_dir .. "/script/score", t.job_dir .. "/script/away"))
    replay(t, 2, 3, { "copy of its script is gone", t.job_dir .. "/script/score" })
    assert.is_true(os.rename(t.job_dir .. "/script/away", t.job_dir .. "/script/score"))
    os.remove(t.job_dir .. "/script/score/score.lua")
    replay(t, 2, 3, { t.job_dir .. "/script/score/score.lua" })
    t:write("job/script/score/score.lua", t:read "src/score.lua")
    replay(t, 2, 1)

    local record = t:read "job/job.json"
    t:write("job/job.json", (record:gsub('"version": 1', '"version": 2')))
    replay(t, 2, 2, { "job.json' is of version 2; this tidemill reads version 1" })
    t:write("job/job.json", record:sub(1, 200))
    replay(t, 2, 3, { "job.json' is damaged" })
    t:write("job/job.json", '{"version": 1, "steps": [{}]}')
    replay(t, 2, 3, { "job.json' is damaged: a step has no name or settings" })
    t:write("job/job.json", '{"version": 1}')
    replay(t, 2, 3, { "job.json' is damaged: it has no list of steps" })
  end)

  it("a mini-batch that a killed job had not listed yet", function()
    local t = job.case()
    t:script "function run(m) while true do end end"
    t:pipeline("mini_batch_size = 1, process_count_per_node = 1")
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub('from_files%("in/%*"%)', 'from_manifest "list"')))
    t:write("in/0001.txt", "")
    t:write("list", t.dir .. "/in/0001.txt\n" .. t.dir .. "/in/none.txt\n")
    local p = t:start_job()
    t:wait_for("job/score/logs/sys/master_role.txt", "is ready")
    p:kill(programs.SIGKILL)
    t:finish(p)
    t:wait_for_none()
    programs.wait_until("the end of temporary folders", function() return #t:temp_dirs() == 0 end, 10)
    replay(t, 5, 2, { "there is no mini-batch 5" })
    t:script("function run(m) return names_of(m) end")
  end)

  it("no input that the job never checked: the script reports its own error", function()
    local t = job.case()
    t:script 'function run(m) local f = assert(io.open(m[1])) f:close() return names_of(m) end'
    t:pipeline("mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1")
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub('from_files%("in/%*"%)', 'from_manifest "list"')))
    t:inputs(1)
    t:write("list", t.dir .. "/in/0001.txt\n" .. t.dir .. "/in/none.txt\n")
    t:expect_job(0)
    replay(t, 1, 1, { "input '" .. t.dir .. "/in/none.txt' does not exist", "No such file or directory" })
  end)
end)

describe("a script that ends the program", function()
  after_each(job.check_end)

  local function expect_said(t, words, call)
    local r = t:run(words, { env = { "TMPDIR=" .. t:path "tmp" } })
    t:expect(r, 1)
    assert.is_truthy(r.err:find(call .. " ended the program", 1, true), r.err)
    for name in lfs.dir(t:path "tmp") do
      assert.is_nil(name:match "^tidemill%-try", name)
    end
  end

  it("fails, with try and with replay", function()
    local t = job.case()
    t:inputs(2)
    lfs.mkdir(t:path "tmp")
    for call, code in pairs { ["run()"] = "function run() os.exit(0) end",
      ["init()"] = "function init() os.exit(0, true) end function run() end" } do
      t:script(code)
      expect_said(t, { "try", "score.lua", "in" }, call)
    end
    t:script "function run() os.exit(0) end"
    t:pipeline "mini_batch_size = 2, run_max_try = 1, process_count_per_node = 1"
    t:expect_job(1)
    expect_said(t, { "replay", t.job_dir, "--mini-batch", "0" }, "run()")
  end)
end)
