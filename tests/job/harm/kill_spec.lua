-- Kills from outside, of any process at any time: no row is lost or doubled, and nothing is left
-- behind.
--
-- TM_KILLS: how many supervisors, keepers and workers are killed at random moments (40; with
-- TM_LONG 1000).
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"

local KILLS = tonumber(os.getenv "TM_KILLS") or os.getenv "TM_LONG" and 1000 or 40
local WAIT_FOR_GO = [[
local ffi = require "ffi"
ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
function run(m)
  io.open(os.getenv "GO" .. ".begun", "w"):close()
  while not io.open(os.getenv "GO") do ffi.C.poll(nil, 0, 5) end
  return names_of(m)
end]]

local function waiting_case(before)
  local t = job.case()
  t:inputs(60)
  t:script(WAIT_FOR_GO)
  t:pipeline "mini_batch_size = 1, process_count_per_node = 2, run_max_try = 1"
  t.options = { env = { "GO=" .. t:path "go" }, before = before }
  t.program = t:start_job(nil, t.options)
  t:wait_for "go.begun"
  return t
end

local function expect_canceled(t)
  local r = t:finish(t.program, 15)
  t:expect(r, 130)
  assert.equal("Canceled", r.result.status)
  assert.equal("Canceled", t:result().status)
  assert.is_true(t:has "job/score/output/parallel_run_step.txt.partial")
  assert.equal(0, #t:processes())
  return r
end

local function expect_resume(t)
  t:write("go", "")
  t:expect_job(0, { "--resume" }, { env = t.options.env })
  assert.same(job.names(60), t:rows())
end

describe("a signal", function()
  after_each(job.check_end)

  for name, number in pairs { SIGINT = programs.SIGINT, SIGTERM = programs.SIGTERM, SIGHUP = 1 } do
    it(name .. " lets running mini-batches end, and begins no other", function()
      local t = waiting_case()
      t.program:kill(number)
      t:wait_for("run1.err", "cancel")
      t:write("go", "")
      local r = expect_canceled(t)
      local done = r.result.steps[1].mini_batches.succeeded
      assert.is_true(done >= 1 and done <= 4, done .. " mini-batches were committed")
      assert.equal(0, r.result.steps[1].mini_batches.failed)
      assert.equal(done, #t:sorted_lines "job/score/output/parallel_run_step.txt.partial")
      expect_resume(t)
    end)
  end

  it("from a terminal reaches only the supervisor", function()
    local t = waiting_case { "setsid" }
    programs.kill(-t.program.pid, programs.SIGINT)
    t:wait_for("run1.err", "cancel")
    t:write("go", "")
    local r = expect_canceled(t)
    assert.is_true(r.result.steps[1].mini_batches.succeeded >= 1)
    expect_resume(t)
  end)

  it("sent twice at once counts once; sent again later, it kills", function()
    local t = waiting_case()
    t.program:kill(programs.SIGINT)
    t:wait_for("run1.err", "cancel")
    t.program:kill(programs.SIGINT)
    programs.pass_ms(300)
    assert.is_false(t.program:has_ended())
    programs.pass_ms(300)
    t.program:kill(programs.SIGINT)
    local r = expect_canceled(t)
    assert.equal(0, r.result.steps[1].mini_batches.succeeded)
    assert.equal(0, r.result.steps[1].mini_batches.failed)
    expect_resume(t)
  end)
end)

describe("a signal while workers are in init()", function()
  after_each(job.check_end)

  it("ends them at once, as they have no work to lose", function()
    local t = job.case()
    t:inputs(4)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      function init()
        io.open(os.getenv "GO" .. ".begun", "w"):close()
        while not io.open(os.getenv "GO") do ffi.C.poll(nil, 0, 5) end
      end
      function run(m) return names_of(m) end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
    local o = { env = { "GO=" .. t:path "go" } }
    t.program = t:start_job(nil, o)
    t:wait_for "go.begun"
    t.program:kill(programs.SIGINT)
    expect_canceled(t)
    t:write("go", "")
    t:expect_job(0, { "--resume" }, o)
    assert.same(job.names(4), t:rows())
  end)
end)

describe("kill -9 at any moment", function()
  math.randomseed(tonumber(os.getenv "TM_SEED") or os.time())
  after_each(job.check_end)

  local ITEMS = 60
  local BUSY = [[
function run(m)
  local until_s = os.clock() + BUSY_S
  repeat until os.clock() > until_s
  local rows = names_of(m)
  for i, name in ipairs(rows) do rows[i] = name .. (" "):rep(number_of(m[i]) * WIDTH) .. "end" end
  return rows
end]]

  local function busy_case(config, width, busy_s)
    local t = job.case()
    t.width = width or 1
    t:inputs(ITEMS)
    t:script((BUSY:gsub("WIDTH", t.width):gsub("BUSY_S", busy_s or 0.0006)))
    t:pipeline("mini_batch_size = 1, process_count_per_node = 2, " .. (config or ""))
    return t
  end

  local function expect_rows(t, r)
    local items = r.result.steps[1].items
    assert.same({ total = ITEMS, succeeded = ITEMS, failed = 0 }, items)
    local rows = t:rows()
    assert.equal(ITEMS, #rows)
    for i, name in ipairs(job.names(ITEMS)) do
      assert.is_true(rows[i] == name .. (" "):rep(i * t.width) .. "end", "the row of " .. name)
    end
    for name in lfs.dir(t.step_dir .. "/state/spill") do assert.is_truthy(name:find "^%.%.?$", "left: " .. name) end
  end

  --- How long an undisturbed job takes, in ms.
  local usual_ms
  setup(function()
    local t = busy_case()
    local begin_s = programs.now()
    expect_rows(t, t:expect_job(0))
    usual_ms = math.ceil((programs.now() - begin_s) * 1000)
    job.check_end()
  end)

  --- Kills the supervisor after random times until the job has ended or `kills` have been made;
  --- returns how many hit.
  local function kill_supervisors(t, kills)
    local hits = 0
    for _ = 1, kills do
      local p = t:start_job { "--resume" }
      programs.pass_ms(math.random(1, usual_ms))
      p:kill(programs.SIGKILL)
      p:wait()
      if p.status then
        t:expect({ status = p.status, err = t:read(p.err_file), out = "" }, 0)
        break
      end
      hits = hits + 1
    end
    return hits
  end

  it("of the supervisor costs nothing and leaves nothing", function()
    local hits = 0
    while hits < KILLS * 0.6 do
      local t = busy_case("", hits % 50 < 12 and 20000) -- some rows are larger than 1 MB
      hits = hits + kill_supervisors(t, 12)
      expect_rows(t, t:expect_job(0, { "--resume" }))
      t:wait_for_none()
      job.check_end()
    end
  end)

  --- Runs jobs, and kills one process of `kind` after random times, until `wanted` were hit. On a
  --- machine that finds the processes too late, jobs take longer and longer.
  local function kill_others(kind, config, wanted, in_one)
    local hits, busy_s, span_ms = 0, 0.0006, usual_ms
    while hits < wanted do
      local t = busy_case(config, hits % 20 < 5 and 20000, busy_s) -- some rows are larger than 1 MB
      local p = t:start_job()
      local before = hits
      for _ = 1, in_one do
        programs.pass_ms(math.random(0, math.ceil(span_ms / in_one)))
        local pids = t:processes_of(kind)
        if #pids > 0 and programs.kill(pids[math.random(#pids)], programs.SIGKILL) then hits = hits + 1 end
      end
      if hits == before then busy_s, span_ms = math.min(busy_s * 2, 0.02), math.min(span_ms * 2, 1000) end
      local r = t:finish(p)
      t:expect(r, 0)
      expect_rows(t, r)
      t:wait_for_none()
      job.check_end()
    end
  end

  it("of the keeper costs nothing and leaves nothing", function()
    kill_others("keeper", "", KILLS * 0.2, 3)
  end)

  it("of the keeper while the last result is sent ends the job, or runs that mini-batch again", function()
    for _ = 1, 4 do
      local t = job.case()
      t:inputs(2)
      t:script [[
        local ffi = require "ffi"
        ffi.cdef "int getppid(void); int kill(int pid, int signal); int prctl(int option, unsigned long value);"
        function run(m)
          local mark = io.open(os.getenv "MARK")
          if number_of(m[1]) == 2 and not mark then
            io.open(os.getenv "MARK", "w"):close()
            local keeper = ffi.C.getppid()
            ffi.C.prctl(1, 0) -- it does not end with the keeper
            ffi.C.kill(keeper, 9)
            while ffi.C.getppid() == keeper do end
          end
          return names_of(m)
        end]]
      t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
      t:expect_job(0, nil, { env = { "MARK=" .. t:path "mark" } })
      assert.same(job.names(2), t:rows())
      t:wait_for_none() -- a killed process may take a moment to disappear
      job.check_end()
    end
  end)

  it("of workers costs tries, no rows", function()
    kill_others("worker", "run_max_try = 30, retry_delay = 0", KILLS * 0.2, 3)
  end)
end)

describe("temporary folders that a leftover process of a worker writes to", function()
  after_each(job.check_end)

  -- It has left the worker's session, so only a kill ends it.
  local WRITER = [[setsid sh -c 'while :; do mkdir -p "$TMPDIR/below" && : > "$TMPDIR/below/file"; done' \
    >/dev/null 2>&1 &]]

  local function writing_case()
    local t = job.case()
    t:inputs(8)
    t:script(([[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      function init()
        local temp = os.getenv "TMPDIR"
        os.execute(%q)
        os.execute("mkdir -p '" .. temp .. "/closed/below' && chmod 500 '" .. temp .. "/closed'")
      end
      function run(m)
        local begun = os.getenv "TMPDIR" .. "/below/file"
        while not io.open(begun) do ffi.C.poll(nil, 0, 5) end -- until the writer writes
        io.open(os.getenv "GO" .. ".begun", "w"):close()
        while not io.open(os.getenv "GO") do ffi.C.poll(nil, 0, 5) end
        return names_of(m)
      end]]):format(WRITER))
    t:pipeline "mini_batch_size = 1, process_count_per_node = 4, run_max_try = 30, retry_delay = 0"
    t.env = { "GO=" .. t:path "go" }
    return t
  end

  local function kill(t, kinds)
    for _, kind in ipairs(kinds) do
      for _, pid in ipairs(t:processes_of(kind)) do programs.kill(pid, programs.SIGKILL) end
    end
  end

  local function expect_none(t, r, status)
    t:expect(r, status)
    assert.same({}, t:temp_dirs())
    t:wait_for_none()
  end

  it("are gone at the end of a job whose keeper or workers were killed", function()
    for _, kind in ipairs { "keeper", "worker" } do
      local t = writing_case()
      local p = t:start_job(nil, { env = t.env })
      t:wait_for "go.begun"
      kill(t, { kind })
      t:write("go", "")
      expect_none(t, t:finish(p), 0)
      assert.same(job.names(8), t:rows())
    end
  end)

  for _, how in ipairs { "started again", "removed" } do
    it("are gone when a job that was killed with its keeper is " .. how, function()
      for _, kinds in ipairs { { "run" }, { "run", "keeper" }, { "run", "keeper", "worker" } } do
        local t = writing_case()
        local p = t:start_job(nil, { env = t.env })
        t:wait_for "go.begun"
        for _, one in ipairs(t:processes()) do -- so that none of them notices the end of another
          if #kinds > 1 then programs.kill(one.pid, programs.SIGSTOP) end
        end
        kill(t, kinds)
        for _, one in ipairs(t:processes()) do programs.kill(one.pid, programs.SIGCONT) end
        p:wait()
        t:write("go", "")
        if how == "removed" then
          expect_none(t, t:run { "clean", t.job_dir, "--yes" }, 0)
          assert.is_false(t:has(t.job_dir))
        else
          expect_none(t, t:run_job({ "--resume" }, { env = t.env }), 0)
          assert.same(job.names(8), t:rows())
        end
      end
    end)
  end
end)
