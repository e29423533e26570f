-- SIGSTOP stops a process of a job at any point: the job still ends, and no worker is blamed for
-- the time in which the supervisor was stopped.
local ffi = require "ffi"
local job = require "support.job"
local programs = require "support.programs"
local waiting = require "support.waiting"

ffi.cdef "int mkfifo(const char *path, unsigned mode);"

local PARTIAL, WAIT_FOR_GO, here = waiting.PARTIAL, waiting.SCRIPT, waiting.here

describe("a worker that is stopped", function()
  after_each(job.check_end)

  it("between two mini-batches is killed, and its mini-batch goes to another worker, uncounted", function()
    local t = job.case()
    t:inputs(3)
    t:script "function run(m) return names_of(m) end"
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, run_invocation_timeout = 1"
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub('from_files%("in/%*"%)', 'from_manifest("list")')))
    assert.equal(0, ffi.C.mkfifo(t:path "list", 384))
    local p = t:start_job()
    local list = assert(io.open(t:path "list", "w"))
    list:write "in/0001.txt\n"
    list:flush()
    t:wait_for(PARTIAL, "0001.txt")
    programs.kill(t:processes_of "worker"[1], programs.SIGSTOP)
    t:wait_for("job/score/logs/sys/node/0/_main.txt", "process000 was stopped")
    list:write "in/0002.txt\nin/0003.txt\n"
    list:close()
    t:expect(t:finish(p, 60), 0)
    assert.same(job.names(3), t:rows())
    assert.same({ RUN_DONE = 3 }, t:statuses())
    assert.is_truthy(t:log("sys/node/0/_main.txt"):find(
      "process000 ended: pid %d+, killed because somebody had stopped it %(SIGSTOP%) and did not wake it, "
      .. "[bw]")) -- between two mini-batches, or while it returned a result
  end)

  it("in init() is killed and replaced", function()
    local t = job.case()
    t:inputs(3)
    t:script(WAIT_FOR_GO .. [[
      function init()
        if not io.open(os.getenv "HERE" .. "init") then mark "init" wait_for "never" end
      end
      function run(m) return names_of(m) end]])
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_invocation_timeout = 1"
    local p = t:start_job(nil, here(t))
    t:wait_for "here-init"
    programs.kill(t:processes_of "worker"[1], programs.SIGSTOP)
    t:expect(t:finish(p, 60), 0)
    assert.same(job.names(3), t:rows())
  end)

  it("and woken in time continues", function()
    local t = job.case()
    t:inputs(3)
    t:script(WAIT_FOR_GO .. [[function run(m)
      if number_of(m[1]) == 1 then mark "begun" wait_for "go" end
      return names_of(m)
    end]])
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, run_invocation_timeout = 60"
    local p = t:start_job(nil, here(t))
    t:wait_for "here-begun"
    local worker = t:processes_of "worker"[1]
    programs.kill(worker, programs.SIGSTOP)
    t:wait_for("job/score/logs/sys/node/0/_main.txt", "was stopped")
    programs.kill(worker, programs.SIGCONT)
    t:wait_for("job/score/logs/sys/node/0/_main.txt", "process000 was woken") -- before it may end
    t:write("here-go", "")
    t:expect(t:finish(p, 60), 0)
    assert.same({ RUN_DONE = 3 }, t:statuses())
  end)
end)

describe("a keeper that is stopped", function()
  after_each(job.check_end)

  local function case_with_stopped_keeper()
    local t = job.case()
    t:inputs(4)
    t:script(WAIT_FOR_GO .. [[function run(m)
      mark("begun-" .. name_of(m[1]))
      if number_of(m[1]) == 1 then wait_for "go" end
      return names_of(m)
    end]])
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, run_invocation_timeout = 5"
    local p = t:start_job(nil, here(t))
    t:wait_for "here-begun-0001.txt"
    local keeper = t:processes_of "keeper"[1]
    programs.kill(keeper, programs.SIGSTOP)
    return t, p, keeper
  end

  it("and continues is waited for", function()
    local t, p, keeper = case_with_stopped_keeper()
    programs.kill(t:processes_of "worker"[1], programs.SIGKILL) -- which only a keeper can notice
    t:write("here-go", "")
    programs.pass_ms(300)
    programs.kill(keeper, programs.SIGCONT)
    local r = t:finish(p, 60)
    t:expect(r, 0)
    assert.equal(1, r.result.steps[1].mini_batches.failed)
    assert.is_nil(r.err:find "has not answered")
  end)

  it("and does not continue is replaced with its workers; no try is counted", function()
    local silent = job.NODE == "0" and "the keeper of the workers has not answered for 10 s"
      or "its keeper has not answered for 15 s"
    local t, p = case_with_stopped_keeper() -- nobody ends a run() that passes its timeout
    t:wait_for("run1.err", silent, 60)
    t:write("here-go", "")
    local r = t:finish(p, 90)
    t:expect(r, 0)
    assert.same(job.names(4), t:rows())
    assert.same({ RUN_DONE = 4 }, t:statuses())
    assert.is_truthy(r.err:find(silent), r.err)
  end)
end)

describe("a supervisor that is stopped", function()
  after_each(job.check_end)

  it("and woken causes no timeout", function()
    local t = job.case()
    t:inputs(6)
    t:script(WAIT_FOR_GO .. [[function run(m)
      if number_of(m[1]) == 2 then mark "begun" wait_for "go" end
      return names_of(m)
    end]])
    t:pipeline("mini_batch_size = 1, process_count_per_node = 2, run_max_try = 1, run_invocation_timeout = 20",
               'arguments = { "--progress_update_timeout", "5" }')
    local p = t:start_job(nil, here(t))
    t:wait_for "here-begun"
    p:kill(programs.SIGSTOP)
    programs.pass_ms(7000)
    t:write("here-go", "")
    p:kill(programs.SIGCONT)
    t:expect(t:finish(p, 60), 0)
    assert.same({ RUN_DONE = 6 }, t:statuses())
    assert.same(job.names(6), t:rows())
  end)
end)
