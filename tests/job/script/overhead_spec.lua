-- What task_overhead_timeout limits: loading a mini-batch and writing its result. The worker's disk
-- hangs (tests/programs/tidemill_clocks.c).
local job = require "support.job"

local CLOCKS = assert(os.getenv "TIDEMILL_CLOCKS", "TIDEMILL_CLOCKS is not set: the program with a disk that hangs")
local ARGUMENTS = 'arguments = { "--task_overhead_timeout", "1" }'

local function statuses(t)
  local seen = {}
  for _, row in ipairs(t:tries()) do
    seen[#seen + 1] = row["Mini-batch Id"] .. " " .. row["Status"] .. " " .. row["Error Category"]
  end
  table.sort(seen)
  return seen
end

describe("task_overhead_timeout", function()
  after_each(job.check_end)

  it("ends a worker that cannot read its inputs", function()
    local t = job.case()
    t:inputs(3)
    t:script [[
      function run(m)
        if number_of(m[1]) == 2 and not io.open(os.getenv "MARK") then error "not yet" end
        return names_of(m)
      end]]
    t:pipeline("mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, error_threshold = 0", ARGUMENTS)
    t:expect_job(1, nil, { env = { "MARK=" .. t:path "mark" } })
    t:write("mark", "")
    local r = t:expect_job(1, { "--resume" },
      { env = { "MARK=" .. t:path "mark", "TM_HANGS=stat:0002.txt" }, program = CLOCKS })
    assert.is_truthy(r.err:find("to load it took longer than task_overhead_timeout (1 s); its worker was killed", 1,
                                true), r.err)
    assert.is_truthy(table.concat(statuses(t), "\n"):find("1 LOAD_TIMEOUT timeout", 1, true))
    assert.is_truthy(t:log("sys/node/0/_main.txt"):find("took longer than task_overhead_timeout", 1, true))
  end)

  it("ends a worker that cannot write its result", function()
    local t = job.case()
    t:inputs(1)
    t:script [[
      function run(m, context)
        io.open(context:output_file "x", "w"):close()
        return names_of(m)
      end]]
    t:pipeline("process_count_per_node = 1, run_max_try = 2, retry_delay = 0", ARGUMENTS)
    local r = t:expect_job(1, nil, { env = { "TM_HANGS=fsync" }, program = CLOCKS })
    assert.is_truthy(r.err:find("to write its result took longer than task_overhead_timeout (1 s)", 1, true), r.err)
    assert.same({ "0 LOAD_TIMEOUT timeout", "0 LOAD_TIMEOUT timeout" }, statuses(t))
  end)
end)
