-- Scripts that fail, hang and die: what the job retries, what it counts, and when it ends.
local job = require "support.job"

local DIE = [[
local ffi = require "ffi"
ffi.cdef "int kill(int pid, int sig); int getpid(void); int poll(void *fds, unsigned long n, int ms);"
local function die() ffi.C.kill(ffi.C.getpid(), 9) while true do ffi.C.poll(nil, 0, 1000) end end
local function is_first(name)
  local path = os.getenv "MARKS" .. "/" .. name
  local file = io.open(path)
  if file then file:close() return false end
  io.open(path, "w"):close()
  return true
end
]]

local function marked(t)
  t:write("marks/x", "")
  return { env = { "MARKS=" .. t:path "marks" } }
end

describe("init()", function()
  after_each(job.check_end)

  it("that always fails ends the job after 3 * process_count_per_node calls", function()
    local t = job.case()
    t:inputs(4)
    t:script [[
      function init()
        io.open(os.getenv "MARKS" .. "/" .. require "tidemill.entry_script"().agent_name, "w"):close()
        error "the model is missing"
      end
      function run(m) return m end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
    local r = t:expect_job(1, nil, marked(t))
    assert.equal("Failed", r.result.status)
    local n = 0
    for i = 0, 20 do if t:has(("marks/process%03d"):format(i)) then n = n + 1 end end
    assert.is_true(n >= 6 and n <= 7, n .. " workers were started")
    assert.is_truthy(r.err:find "the model is missing", r.err)
    assert.is_truthy(t:log("user/error.txt"):find "the model is missing")
    assert.is_truthy(t:log("user/error/0/process000.txt"):find "score.lua:%d+")
  end)

  it("that fails now and then costs a worker, not a try", function()
    local t = job.case()
    t:inputs(4)
    t:script(DIE .. [[
      function init() if is_first "init" then error "not yet" end end
      function run(m) return names_of(m) end]])
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1"
    t:expect_job(0, nil, marked(t))
    assert.same(job.names(4), t:rows())
    assert.equal(4, t:statuses().RUN_DONE)
  end)

  it("that kills its worker counts as failed, and so does a script that cannot be loaded", function()
    local t = job.case()
    t:inputs(2)
    t:script(DIE .. "function init() die() end function run(m) return m end")
    t:pipeline "process_count_per_node = 1"
    t:expect_job(1)
    t:script "error 'while it is loaded' function run(m) return m end"
    local r = t:expect_job(1, { "--job-dir", t:path "second" })
    assert.is_truthy(r.err:find "while it is loaded", r.err)
  end)
end)

describe("a file beside the script that is not copied", function()
  after_each(job.check_end)

  local REASON = "; '%s' lies beside 'score.lua', but workers run a copy of 'score.lua' alone; to copy the folder: " ..
                 'source_directory = "."'

  it("is named by the error of the code that needs it", function()
    for code, missing in pairs {
      ["require 'helper'"] = "helper.lua",
      ["require 'json'"] = "json.lua", -- also a module of Python
      ["require 'sub.part'"] = "sub/part/init.lua",
      ["assert(io.open 'model.txt')"] = "model.txt",
      ["for line in io.lines 'model.txt' do end"] = "model.txt",
      ["assert(require 'tidemill.fs'.read 'a model.txt')"] = "a model.txt",
    } do
      local t = job.case()
      t:inputs(1)
      for _, name in ipairs { "helper.lua", "json.lua", "sub/part/init.lua", "model.txt", "a model.txt" } do
        t:write(name, "return {}\n")
      end
      t:script(code .. " function run(m) return names_of(m) end")
      t:pipeline()
      local r = t:expect_job(1)
      assert.truthy(r.err:find(REASON:format(missing), 1, true), r.err)
      t:write("pipeline.lua", (t:read("pipeline.lua"):gsub("entry_script", 'source_directory = ".", entry_script', 1)))
      t.job_dir = t:path "second"
      t:expect_job(0)
    end
  end)

  it("is not searched for elsewhere, and the paths of require are not listed", function()
    local t = job.case()
    t:inputs(1)
    t:script "require 'nowhere' function run(m) return names_of(m) end"
    t:pipeline()
    local r = t:expect_job(1)
    local words = "module 'nowhere' not found beside '" .. t:path "score.lua" .. "', nor by package.path"
    assert.truthy(r.err:find(words, 1, true), r.err)
    assert.is_nil(r.err:find "no field")
    t:script "require 'numpy' function run(m) return names_of(m) end"
    r = t:expect_job(1, { "--job-dir", t:path "second" })
    words = "module 'numpy' not found: Python's 'numpy' is in Lua: a loop over a column"
    assert.truthy(r.err:find(words, 1, true), r.err)
    assert.is_nil(r.err:find "package.path")
  end)

  it("is mentioned where relative paths refer to another folder", function()
    local t = job.case()
    t:inputs(1)
    t:write("src/score.lua", "assert(io.open 'model.txt') function run(m) return m end")
    t:write("src/model.txt", "x")
    local r = t:run { "map", "src/score.lua", "in", "--progress", "none" }
    t:expect(r, 1)
    local words = "; relative paths are against '" .. t.dir .. "', and 'model.txt' lies beside '"
    assert.truthy(r.err:find(words, 1, true), r.err)
  end)
end)

describe("a try", function()
  after_each(job.check_end)

  it("that fails is repeated up to run_max_try, then its items count as failed", function()
    local t = job.case()
    t:inputs(6)
    t:script [[
      function run(m, context)
        local n = number_of(m[1])
        if n == 1 then error("always, try " .. context.try) end
        if n == 3 and context.try < 3 then error { code = context.try } end
        if n == 5 and context.try == 1 then error(nil) end
        return names_of(m)
      end]]
    t:pipeline "mini_batch_size = 2, run_max_try = 3, process_count_per_node = 2"
    local r = t:expect_job(0)
    local step = r.result.steps[1]
    assert.same({ total = 3, succeeded = 2, failed = 1 }, step.mini_batches)
    assert.same({ total = 6, succeeded = 4, failed = 2 }, step.items)
    assert.same({ "0003.txt", "0004.txt", "0005.txt", "0006.txt" }, t:rows())
    assert.same({ RUN_EXCEPTION = 6, RUN_DONE = 2 }, t:statuses())
    local errors = t:log "user/error.txt"
    assert.is_truthy(errors:find("3 times: [^\n]*always, try 1\n  pattern: [^\n]*always, try <n>\n"), errors)
  end)

  it("aborts the job when more items have failed than error_threshold", function()
    local t = job.case()
    t:inputs(400)
    t:script [[
      function run(m)
        if number_of(m[1]) % 4 == 0 then error "every fourth" end
        return names_of(m)
      end]]
    t:pipeline "mini_batch_size = 1, error_threshold = 3, run_max_try = 1, process_count_per_node = 1"
    local r = t:expect_job(1)
    assert.equal("Failed", r.result.status)
    local step = r.result.steps[1]
    assert.is_true(step.items.failed >= 4 and step.items.failed < 100, step.items.failed .. " items failed")
    assert.is_truthy(r.err:find "error_threshold", r.err)
    assert.is_true(t:has "job/score/output/parallel_run_step.txt.partial")
    assert.is_false(t:has "job/score/output/parallel_run_step.txt")
  end)

  it("may fail up to error_threshold", function()
    local t = job.case()
    t:inputs(8)
    t:script "function run(m) if number_of(m[1]) > 5 then error 'late' end return names_of(m) end"
    t:pipeline "mini_batch_size = 1, error_threshold = 3, run_max_try = 1"
    t:expect_job(0)
    t:pipeline "mini_batch_size = 1, error_threshold = 2, run_max_try = 1"
    t:expect_job(1, { "--job-dir", t:path "strict" })
  end)

  it("must succeed for at least one item with append_row", function()
    local t = job.case()
    t:inputs(4)
    t:script "function run(m) error 'never' end"
    t:pipeline "mini_batch_size = 2, run_max_try = 1"
    local r = t:expect_job(1)
    assert.equal("Failed", r.result.status)
    t:script "function run(m) return {} end"
    t:expect_job(1, { "--job-dir", t:path "empty" })
    t:pipeline [[mini_batch_size = 2, output_action = "summary_only"]]
    t:expect_job(0, { "--job-dir", t:path "summary" })
    t:script "function run(m) error 'never' end"
    t:pipeline [[mini_batch_size = 2, run_max_try = 1, output_action = "summary_only"]]
    r = t:expect_job(1, { "--job-dir", t:path "nothing" })
    assert.equal("Failed", r.result.status)
    assert.is_truthy(r.err:find("not one of 2 mini-batches succeeded", 1, true), r.err)
  end)

  it("that loops forever is ended by run_invocation_timeout, and the job continues", function()
    local t = job.case()
    t:inputs(5)
    t:script "function run(m) if number_of(m[1]) == 2 then while true do end end return names_of(m) end"
    t:pipeline "mini_batch_size = 1, run_invocation_timeout = 0.3, run_max_try = 2, process_count_per_node = 2"
    t:expect_job(0, nil, { limit = 15 })
    assert.same({ "0001.txt", "0003.txt", "0004.txt", "0005.txt" }, t:rows())
    assert.same({ RUN_TIMEOUT = 2, RUN_DONE = 4 }, t:statuses())
  end)

  it("that waits for a hanging program is ended with it", function()
    local t = job.case()
    t:inputs(3)
    t:script [[function run(m)
      if number_of(m[1]) == 2 then os.execute "tail -f /dev/null" end
      return names_of(m)
    end]]
    t:pipeline "mini_batch_size = 1, run_invocation_timeout = 0.3, run_max_try = 1, process_count_per_node = 1"
    t:expect_job(0, nil, { limit = 15 })
    assert.same({ "0001.txt", "0003.txt" }, t:rows())
    assert.same({ RUN_TIMEOUT = 1, RUN_DONE = 2 }, t:statuses())
  end)
end)

describe("a worker", function()
  local seed = tonumber(os.getenv "TM_SEED") or os.time()
  math.randomseed(seed)
  print("TM_SEED=" .. seed)
  after_each(job.check_end)

  it("that calls os.exit fails only its try, and is replaced", function()
    local t = job.case()
    t:inputs(4)
    t:script(DIE .. [[function run(m)
      if number_of(m[1]) == 2 then os.exit(0) end
      if number_of(m[1]) == 3 and is_first "three" then os.exit(7) end
      return { name_of(m[1]) .. " " .. require "tidemill.entry_script"().agent_name }
    end]])
    t:pipeline "mini_batch_size = 1, run_max_try = 2, process_count_per_node = 1"
    local r = t:expect_job(0, nil, marked(t))
    assert.same({ total = 4, succeeded = 3, failed = 1 }, r.result.steps[1].mini_batches)
    assert.same({ PROCESS_DIED = 3, RUN_DONE = 3 }, t:statuses())
    -- the last death may leave no work
    assert.is_truthy(t:log("sys/node/0/_main.txt"):find "process002")
    assert.is_truthy(t:log("sys/node/0/_main.txt"):find "7")
    assert.is_truthy(t:log("user/error/0/process000.txt"):find "process000|exited with status %d in run%(%)")
    for item in t:read("job/score/failed_items.jsonl"):gmatch "[^\n]+" do
      assert.is_true(t:has(item:match '"log":"(.-)"'), item)
    end
  end)

  it("that kills itself fails only its try, however many mini-batches it holds", function()
    local t = job.case()
    local victims, list, spins = {}, {}, {}
    while #list < 10 do
      local n = math.random(400)
      if not victims[n] then
        victims[n] = true
        list[#list + 1] = n
        spins[#spins + 1] = ("[%d] = %d"):format(n, math.random(0, 200000))
      end
    end
    table.sort(list)
    t:inputs(400)
    t:script(DIE .. "local spins = { " .. table.concat(spins, ", ") .. " }" .. [[
      function run(m, context)
        local n = number_of(m[1])
        if spins[n] and is_first(tostring(n)) then
          for _ = 1, spins[n] do io.type(n) end
          die()
        end
        return { name_of(m[1]) .. " " .. context.try }
      end]])
    t:pipeline "mini_batch_size = 1, run_max_try = 2, process_count_per_node = 2"
    t:expect_job(0, nil, marked(t))
    local expected = job.names(400)
    for i, name in ipairs(expected) do expected[i] = name .. (victims[i] and " 2" or " 1") end
    assert.same(expected, t:rows())
    local died = {}
    for _, try in ipairs(t:tries()) do
      if try.Status ~= "RUN_DONE" then
        assert.equal("PROCESS_DIED", try.Status)
        died[#died + 1] = tonumber(try["Mini-batch Id"]) + 1
      end
    end
    table.sort(died)
    assert.same(list, died)
    assert.same({ PROCESS_DIED = 10, RUN_DONE = 400 }, t:statuses())
  end)

  -- A timer fires while the worker computes, in run() or between two calls: which call it ends is
  -- unknown.
  it("that dies at any moment fails at most the try that had begun", function()
    local t = job.case()
    t:inputs(1000)
    t:script(DIE .. "local least = " .. math.random(1000, 6000) .. [[

      ffi.cdef "struct times { long every_s, every_us, in_s, in_us; };"
      ffi.cdef "int setitimer(int, const struct times *, void *);"
      local begun = 0
      function run(m, context)
        if begun == 0 then ffi.C.setitimer(1, ffi.new("struct times", { in_us = least }), nil) end
        begun = begun + 1
        for _ = 1, 20000 do io.type(begun) end
        return { name_of(m[1]) .. " " .. context.try }
      end]])
    t:pipeline "mini_batch_size = 1, run_max_try = 200, retry_delay = 0, process_count_per_node = 2"
    t:expect_job(0, nil, marked(t))
    local rows, tries, died = t:rows(), 0, 0
    assert.equal(1000, #rows)
    for i, name in ipairs(job.names(1000)) do
      assert.equal(name, rows[i]:match "^%S+")
      tries = tries + tonumber(rows[i]:match "%d+$")
    end
    for _ in t:log("sys/node/0/_main.txt"):gmatch "ended: [^\n]*signal 26" do died = died + 1 end
    local counted = t:statuses()
    assert.is_true(died > 0, "no worker died")
    assert.is_true(counted.PROCESS_DIED <= died, counted.PROCESS_DIED .. " tries for " .. died .. " deaths")
    assert.equal(1000 + counted.PROCESS_DIED, tries)
    assert.equal(1000, counted.RUN_DONE)
  end)

  it("leaves nothing behind, and its processes delay nothing", function()
    local t = job.case()
    t:inputs(3)
    t:script [[function run(m)
      os.execute "tail -f /dev/null &"
      os.execute "setsid tail -f /dev/null &"
      return names_of(m)
    end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
    t:expect_job(0, nil, { limit = 10 })
    assert.same(job.names(3), t:rows())
    assert.equal(0, #t:processes())
  end)

  it("that can no longer answer fails only its try, and does not hang", function()
    local t = job.case()
    t:inputs(6)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int close(int fd);"
      function run(m)
        local until_s = os.clock() + 0.001 -- long enough for the rows before it to be written
        repeat until os.clock() > until_s
        if number_of(m[1]) == 3 then for fd = 3, 63 do ffi.C.close(fd) end end
        return names_of(m)
      end]]
    t:pipeline "mini_batch_size = 1, run_max_try = 2, process_count_per_node = 2"
    t:expect_job(0, nil, { limit = 15 })
    assert.same({ "0001.txt", "0002.txt", "0004.txt", "0005.txt", "0006.txt" }, t:rows())
    assert.same({ PROCESS_DIED = 2, RUN_DONE = 5 }, t:statuses())
  end)
end)
