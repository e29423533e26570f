-- GPUs: which device each worker finds in CUDA_VISIBLE_DEVICES. Variables set the devices that the
-- node claims to have.
local job = require "support.job"

-- A row for each mini-batch: the worker and its device. Number 3 ends its worker at the first try.
local SCRIPT = [[
local seen
local function wait_for(n)
  local fs, clock = require "tidemill.fs", os.time() + 60
  while #fs.list(os.getenv "MARKS") < n do assert(os.time() < clock, "the others do not come") end
end
function init()
  seen = os.getenv "CUDA_VISIBLE_DEVICES" or "none"
  local name = require "tidemill.entry_script"().agent_name
  local new = os.getenv "MARKS" .. "-" .. name -- renamed when complete, to count then
  local file = assert(io.open(new, "w"))
  file:write(seen)
  file:close()
  assert(os.rename(new, os.getenv "MARKS" .. "/" .. name))
  wait_for(tonumber(os.getenv "TOGETHER")) -- all workers have started before the first one is done
end
function run(m, context)
  if number_of(m[1]) == 3 and context.try == 1 and os.getenv "KILL" then
    require "tidemill.process".run { "sh", "-c", "kill -9 $PPID" }
  end
  if number_of(m[1]) > 3 and os.getenv "KILL" then wait_for(3) end -- the replacement has started
  return { seen }
end]]

local function new_case(workers, config)
  local t = job.case()
  t:inputs(8)
  t:script(SCRIPT)
  t:write("marks/.keep", "")
  os.remove(t.dir .. "/marks/.keep")
  t:pipeline(("mini_batch_size = 1, process_count_per_node = %d, %s"):format(workers, config or ""))
  return t
end

--- Runs the job; returns what each worker found, by its name. Variables: "NAME=value".
local function found(t, together, variables)
  local env = { "MARKS=" .. t.dir .. "/marks", "TOGETHER=" .. together }
  for _, variable in ipairs(variables) do env[#env + 1] = variable end
  t:expect_job(0, nil, { env = env })
  local by_name = {}
  for name in require "lfs".dir(t.dir .. "/marks") do
    if name:find "^process" then by_name[name] = t:read("marks/" .. name) end
  end
  return by_name
end

describe("a worker on a node with GPUs", function()
  after_each(job.check_end)

  it("gets one device; surplus workers get none", function()
    local t = new_case(4)
    assert.same({ process000 = "0", process001 = "1", process002 = "none", process003 = "none" },
                found(t, 4, { "AZ_BATCHAI_GPU_COUNT_FOUND=2" }))
    assert.is_truthy(t:log "sys/node/0/_main.txt":find "process001 started: pid %d+, GPU 1\n")
  end)

  it("gets the device of the killed worker it replaces", function()
    local t = new_case(2, "run_max_try = 2")
    local seen = found(t, 2, { "AZ_BATCHAI_GPU_COUNT_FOUND=2", "KILL=1" })
    assert.equal("0", seen.process000)
    assert.equal("1", seen.process001)
    local died
    for _, try in ipairs(t:tries()) do
      if try.Status ~= "RUN_DONE" then died = try.Process end
    end
    assert.equal(seen[died], seen.process002)
    assert.equal(8, #t:rows())
  end)

  it("gets the entries of the node's own variable, in order", function()
    local t = new_case(3, 'gpu_surplus = "none"')
    assert.same({ process000 = "7", process001 = "GPU-abc", process002 = "-1" },
                found(t, 3, { "CUDA_VISIBLE_DEVICES=7,GPU-abc", "AZ_BATCHAI_GPU_COUNT_FOUND=8" }))
  end)

  it("gets the variable unchanged if all devices are hidden", function()
    for _, value in ipairs { "", "-1" } do
      local t = new_case(2)
      assert.same({ process000 = value, process001 = value },
                  found(t, 2, { "CUDA_VISIBLE_DEVICES=" .. value, "AZ_BATCHAI_GPU_COUNT_FOUND=2" }))
    end
  end)

  it("gets the entries from its step's environment_variables", function()
    local t = new_case(2, 'environment_variables = { CUDA_VISIBLE_DEVICES = "4,5" }')
    assert.same({ process000 = "4", process001 = "5" }, found(t, 2, { "CUDA_VISIBLE_DEVICES=0" }))
  end)

  it("is the only one on its node unless a number is given", function()
    local t = job.case()
    t:inputs(4)
    t:script "function run(m) return names_of(m) end"
    t:pipeline("mini_batch_size = 1")
    t:expect_job(0, nil, { env = { "AZ_BATCHAI_GPU_COUNT_FOUND=2" } })
    local count = job.NODE == "0" and "1" or '"node"' -- which a relay decides when it starts
    local setting = ("setting process_count_per_node = %s (default)"):format(count)
    assert.is_truthy(t:log "70_driver_log.txt":find(setting, 1, true))
  end)
end)

describe("gpu_surplus", function()
  after_each(job.check_end)

  it("is refused with any other word", function()
    local t = new_case(1, 'gpu_surplus = "hidden"')
    local r = t:run_job()
    t:expect(r, 2)
    assert.is_truthy(r.err:find("'gpu_surplus' is \"hidden\"", 1, true), r.err)
  end)
end)
