-- A pipeline of several steps: its supervisor is killed at random moments and the job resumed,
-- again and again.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local steps = require "support.steps"

local KILLS = tonumber(os.getenv "TM_KILLS") or (os.getenv "TM_LONG" and 300 or 60)
local ITEMS = 20

local function case()
  local t = job.case()
  t:inputs(ITEMS)
  t:script [[
    local to = ...
    function run(m)
      local f = assert(io.open(to .. "/" .. name_of(m[1]), "w"))
      f:write(name_of(m[1]))
      f:close()
      return { name_of(m[1]) }
    end]]
  t:script("function run(m) return { io.open(m[1]):read '*a' } end", "read.lua")
  t:script("function run(m) local n = 0 for _ in io.lines(m[1]) do n = n + 1 end return { n } end", "count.lua")
  steps.pipeline(t, [[
    step("write", "score.lua", files "in/*", { output = { output.rows, output.files }, arguments = { output.files },
      config = { process_count_per_node = 2 } }),
    step("read", "read.lua", output.files, { output = there, config = { process_count_per_node = 2 } }),
    step("count", "count.lua", { output.rows, there }),
  ]], "local there = tm.OutputFileDatasetConfig { name = 'there', destination = 'out/there' }:as_upload()")
  return t
end

local function expect_all(t, r)
  assert.same({ write = "Completed", read = "Completed", count = "Completed" }, steps.statuses(r.result))
  assert.same(job.names(ITEMS), t:sorted_lines "job/write/output/parallel_run_step.txt")
  assert.same(job.names(ITEMS), t:sorted_lines "job/read/output/parallel_run_step.txt")
  assert.same(job.names(ITEMS), t:sorted_lines "out/there/parallel_run_step.txt")
  assert.same({ tostring(ITEMS), tostring(ITEMS) }, t:sorted_lines "job/count/output/parallel_run_step.txt")
  local there = {}
  for name in lfs.dir(t:path "out") do
    if not name:find "^%.%.?$" then there[#there + 1] = name end
  end
  assert.same({ "there" }, there)
  t:expect(t:run { "verify", t.job_dir }, 0)
end

describe("kill -9 of a pipeline's supervisor", function()
  math.randomseed(tonumber(os.getenv "TM_SEED") or os.time())
  after_each(job.check_end)

  local usual_ms
  setup(function()
    local t = case()
    local begin_s = programs.now()
    expect_all(t, t:expect_job(0))
    usual_ms = math.ceil((programs.now() - begin_s) * 1000)
    job.check_end()
  end)

  it("at any moment costs nothing, and no output is read before it is whole", function()
    local hits = 0
    while hits < KILLS do
      local t = case()
      for _ = 1, 8 do
        local p = t:start_job { "--resume" }
        programs.pass_ms(math.random(1, usual_ms))
        p:kill(programs.SIGKILL)
        p:wait()
        if p.status then
          t:expect({ status = p.status, err = t:read(p.err_file), out = "" }, 0)
          break
        end
        hits = hits + 1
        -- The first output is complete or missing; the second is missing until the first step is
        -- Completed.
        if t:has "out/there" then assert.equal(ITEMS, #t:sorted_lines "out/there/parallel_run_step.txt") end
        if t:has "job/read/state/manifest" then assert.is_true(t:has "job/write/step_result.json") end
        if t:has "job/count/state/manifest" then assert.is_true(t:has "job/read/step_result.json") end
      end
      expect_all(t, t:expect_job(0, { "--resume" }))
      t:wait_for_none()
      job.check_end()
    end
  end)
end)

describe("kill -9 of the keeper while a step ends", function()
  after_each(job.check_end)

  it("does not delay the next step", function()
    local t = job.case()
    t:inputs(3)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int getppid(void); int kill(int pid, int signal);"
      function run(m) return names_of(m) end
      function shutdown() ffi.C.kill(ffi.C.getppid(), 9) end]]
    t:script("function run(m) local n = 0 for _ in io.lines(m[1]) do n = n + 1 end return { n } end", "count.lua")
    steps.pipeline(t, [[
      step("first", "score.lua", files "in/*", { output = output.rows }),
      step("second", "count.lua", output.rows),
    ]])
    t:expect_job(0, nil, { limit = 30 })
    assert.same({ "3" }, t:sorted_lines "job/second/output/parallel_run_step.txt")
    t:wait_for_none()
  end)
end)
