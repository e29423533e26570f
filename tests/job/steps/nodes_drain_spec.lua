-- Nodes that are asked to end, as Slurm asks before it takes their machine away: SIGTERM or SIGUSR1
-- to all of their processes. A node is a `tidemill node` process on this machine.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local waiting = require "support.waiting"

local INPUTS = 20
local LIMIT = 120 -- seconds for a job: far more than it takes
local SIGUSR1 = 10

local MARKED = [[{ "env", "TM_NODE=%s/{node_id}", "{program}", "node" }]]

-- run() leaves a mark with the number of the node, and waits until that node may go on.
local SCRIPT = waiting.SCRIPT .. [[
local node = os.getenv("TM_NODE"):match "[^/]*$"
function run(m)
  mark("at-" .. node .. "-" .. number_of(m[1]))
  wait_for("go-" .. node)
  return names_of(m)
end]]

local function count_marks(t, id)
  local count = 0
  for name in lfs.dir(t.dir) do
    if name:find("^here%-at%-" .. id .. "%-") then count = count + 1 end
  end
  return count
end

local function wait_for_marks(t, id, count)
  programs.wait_until(("%d marks of node %d"):format(count, id), function()
    if t.last:has_ended() then error("the job has ended: " .. t:read "run1.err" .. t:log "sys/master_role.txt") end
    return count_marks(t, id) >= count
  end, LIMIT)
end

--- A job whose nodes, of one worker each, all wait in run(). A try that fails is the last one.
local function stopped_case(count, more)
  local t = job.case()
  t:inputs(INPUTS)
  t:script(SCRIPT)
  t:pipeline(([[compute_target = "exec", node_count = %d, node_command = %s, mini_batch_size = 1,
    process_count_per_node = 1, run_max_try = 1, error_threshold = 0, %s]]):format(count, MARKED:format(t.dir),
                                                                                  more or ""))
  t.options = waiting.here(t)
  t.options.limit = LIMIT
  t.program = t:start_job(nil, t.options)
  for id = 1, count do wait_for_marks(t, id, 1) end
  return t
end

local function let_go(t, ...)
  for _, id in ipairs { ... } do t:write("here-go-" .. id, "") end
end

local function log_has(t, words)
  t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", words, LIMIT)
end

--- All processes of a node, as Slurm signals them.
local function signal(t, id, number)
  for _, p in ipairs(programs.find("TM_NODE=" .. t.dir .. "/" .. id)) do programs.kill(p.pid, number) end
end

local function finish(t)
  t:expect(t:finish(t.program, LIMIT), 0)
  assert.same(job.names(INPUTS), t:rows())
  assert.same({ RUN_DONE = INPUTS }, t:statuses())
  assert.equal(0, #t:processes())
end

describe("a node that is asked to end", function()
  after_each(job.check_end)

  for name, number in pairs { SIGTERM = programs.SIGTERM, SIGUSR1 = SIGUSR1 } do
    it("ends what it has begun, and is replaced: " .. name, function()
      local t = stopped_case(2)
      signal(t, 1, number)
      log_has(t, "node 1 %b() was asked to end")
      signal(t, 1, number) -- Slurm repeats it
      let_go(t, 1)
      log_has(t, "node 1 %b() has ended: all of its work is over")
      wait_for_marks(t, 3, 1)
      let_go(t, 2, 3)
      finish(t)
      assert.is_nil(t:log("sys/master_role.txt"):find "lost node")
    end)
  end

  it("may die before that: what it has begun runs again, uncounted", function()
    local t = stopped_case(2)
    signal(t, 1, programs.SIGTERM)
    log_has(t, "node 1 %b() was asked to end")
    signal(t, 1, programs.SIGKILL)
    log_has(t, "node 1 %b() has ended before all of its work was over: ")
    let_go(t, 2, 3)
    finish(t)
  end)

  it("may be the last of a job that is canceled", function()
    local t = stopped_case(1)
    signal(t, 1, programs.SIGTERM)
    log_has(t, "node 1 %b() was asked to end")
    t.program:kill(programs.SIGINT)
    t:wait_for("run1.err", "cancel")
    let_go(t, 1, 2)
    t:expect(t:finish(t.program, LIMIT), 130)
    assert.equal(0, #t:processes())
  end)
end)

describe("nodes that are all asked to end before they have done anything", function()
  after_each(job.check_end)

  it("end the job after as many starts as may be in vain", function()
    local t = job.case()
    t:inputs(1)
    t:script(waiting.SCRIPT .. [[
ffi.cdef "int getppid(void); int kill(int pid, int signal);"
local node = os.getenv("TM_NODE"):match "[^/]*$"
local function parent(pid)
  return tonumber(io.open("/proc/" .. pid .. "/stat"):read("*a"):match "%) %a (%d+)")
end
function run(m)
  local relay = parent(ffi.C.getppid())
  ffi.C.kill(relay, 15)
  repeat
    ffi.C.poll(nil, 0, 5)
    local log = io.open(os.getenv "MASTER"):read "*a"
  until log:find("node " .. node .. " [^\n]*was asked to end")
  ffi.C.kill(relay, 9)
  wait_for "never"
end]])
    t:pipeline(([[compute_target = "exec", node_count = 1, node_command = %s, mini_batch_size = 1,
      process_count_per_node = 1]]):format(MARKED:format(t.dir)))
    t.options = waiting.here(t)
    t.options.limit = LIMIT
    t.options.env[#t.options.env + 1] = "MASTER=" .. t:path(t.step_dir .. "/logs/sys/master_role.txt")
    local r = t:run_job(nil, t.options)
    t:expect(r, 1)
    assert.is_truthy(r.err:find "was asked to end", r.err)
  end)
end)
