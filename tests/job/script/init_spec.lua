-- When a job gives up because its workers do not get through init(): the second and the third rule,
-- with a monotonic clock that runs ten times as fast (tests/programs/tidemill_clocks.c). The first
-- rule: failing_spec.lua.
local job = require "support.job"

local CLOCKS = assert(os.getenv "TIDEMILL_CLOCKS", "TIDEMILL_CLOCKS is not set: the program with clocks of its own")
local FAST = { env = { "TM_CLOCK_SPEED=10" }, program = CLOCKS, limit = 120 }

local expect_patterns = job.expect_patterns

--- For a worker that waits in init() without using a core, 20 ms at a time.
local WAIT = [[
local ffi = require "ffi"
ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
]]

describe("init()", function()
  after_each(job.check_end)

  it("that failed twice for each worker in two minutes and never succeeded ends the job", function()
    local t = job.case()
    t:inputs(8)
    t:script(WAIT .. [[
      function init()
        -- 45 s: the first rule, with three rounds, applies after the second
        for _ = 1, 225 do ffi.C.poll(nil, 0, 20) end
        error "the model server does not answer"
      end
      function run(m) return names_of(m) end]])
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
    local r = t:expect_job(1, nil, FAST)
    expect_patterns(r, { "init%(%) has failed %d+ times in [%d.]+ s, and has not ended well once",
                      "the model server does not answer" })
  end)

  it("in which every living worker has been for too long ends the job", function()
    local t = job.case()
    t:inputs(4)
    t:script(WAIT .. [[
      function init() while true do ffi.C.poll(nil, 0, 20) end end
      function run(m) return names_of(m) end]])
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2, run_invocation_timeout = 1"
    local r = t:expect_job(1, nil, FAST)
    expect_patterns(r, { "every living worker %(there are 2%) has been in init%(%) for more than 33 s" })
  end)

  it("that every worker is stuck in reports the place of each interruptible worker", function()
    local t = job.case()
    t:inputs(4)
    t:script(WAIT .. [[
      function init()
        while true do for _ = 1, 10000 do end ffi.C.poll(nil, 0, 20) end
      end
      function run(m) return names_of(m) end]])
    t:pipeline [[mini_batch_size = 1, process_count_per_node = 2, run_invocation_timeout = 1, interruptible = true,
                 interrupt_grace = 100]]
    local r = t:expect_job(1, nil, FAST)
    expect_patterns(r, { "every living worker %(there are 2%) has been in init%(%)",
                      "process00%d was at %S*score.lua:5, process00%d was at %S*score.lua:5",
                      "the stacks are in '%S+/user/error/'" })
    for _, name in ipairs { "process000", "process001" } do
      assert.is_truthy(t:log("user/error/0/" .. name .. ".txt"):find("score.lua:5: in function <%S+score.lua:4>"))
    end
    local rows = t:tries()
    assert.equal(2, #rows)
    for _, row in ipairs(rows) do
      assert.same({ "", "0", "INIT_TIMEOUT", "timeout", "" },
        { row["Mini-batch Id"], row["Total"], row["Status"], row["Error Category"], row["Mini-batch Detail"] })
    end
  end)

  it("reports the place even without interruptible if the code is not compiled", function()
    local t = job.case()
    t:inputs(4)
    t:script(WAIT .. [[
      jit.off()
      function init()
        while true do for _ = 1, 10000 do end ffi.C.poll(nil, 0, 20) end
      end
      function run(m) return names_of(m) end]])
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_invocation_timeout = 1, interrupt_grace = 100"
    -- on a busy machine a keeper may be silent for a second, ten of this clock, and is replaced
    expect_patterns(t:expect_job(1, nil, FAST), { "process00%d was at %S*score.lua:6" })
  end)

  it("of one worker may take any time while another works", function()
    local t = job.case()
    t:inputs(450) -- 9 s, of the 6 s that all init() calls may take
    t:script(WAIT .. [[
      function init()
        local first = io.open(os.getenv "MARK") == nil
        io.open(os.getenv "MARK", "w"):close()
        while not first do ffi.C.poll(nil, 0, 20) end
      end
      function run(m) ffi.C.poll(nil, 0, 20) return names_of(m) end]])
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2, run_invocation_timeout = 10, run_max_try = 50"
    t:expect_job(0, nil, { env = { "TM_CLOCK_SPEED=10", "MARK=" .. t:path "mark" }, program = CLOCKS, limit = 120 })
    assert.same(job.names(450), t:rows())
  end)
end)
