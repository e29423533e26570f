-- Jobs with nodes on one machine, side by side: neither opens a port, and neither ends processes of
-- the other. A node is a `tidemill node` process on this machine.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local waiting = require "support.waiting"

local INPUTS = 6
local LIMIT = 120 -- seconds for a job: far more than it takes

-- The first mini-batch of each worker is done, the others wait.
local SCRIPT = waiting.SCRIPT .. [[
ffi.cdef "int getpid(void);"
local has_run = false
function run(m)
  mark("at-" .. ffi.C.getpid())
  if has_run then wait_for "go" end
  has_run = true
  return names_of(m)
end]]

local function start()
  local t = job.case()
  t:inputs(INPUTS)
  t:script(SCRIPT)
  t:pipeline [[compute_target = "exec", node_command = "{program} node", node_count = 2, mini_batch_size = 1,
    process_count_per_node = 1, error_threshold = 0, run_max_try = 1]]
  t.options = waiting.here(t)
  t.options.limit = LIMIT
  t.program = t:start_job(nil, t.options)
  programs.wait_until("two workers", function()
    assert(not t.last:has_ended(), "the job has ended")
    local count = 0
    for name in lfs.dir(t.dir) do count = count + (name:find "^here%-at%-" and 1 or 0) end
    return count == 2
  end, LIMIT)
  return t
end

local function finish(t)
  waiting.let_go(t)
  t:expect(t:finish(t.program, LIMIT), 0)
  assert.same(job.names(INPUTS), t:rows())
  assert.same({ RUN_DONE = INPUTS }, t:statuses())
end

--- The inodes of all sockets on which somebody listens.
local function listening()
  local inodes = {}
  for _, name in ipairs { "tcp", "tcp6" } do
    local file = io.open("/proc/net/" .. name)
    for line in file and file:lines() or function() end do
      local state, inode = line:match "^%s*%d+: %S+ %S+ (%x%x) %S+ %S+ %S+%s+%d+%s+%d+ (%d+)"
      if state == "0A" then inodes[inode] = true end
    end
    if file then file:close() end
  end
  return inodes
end

local function sockets_of(pid)
  local inodes = {}
  for fd in lfs.dir("/proc/" .. pid .. "/fd") do
    local target = lfs.symlinkattributes("/proc/" .. pid .. "/fd/" .. fd, "target") or ""
    inodes[#inodes + 1] = target:match "^socket:%[(%d+)%]$"
  end
  return inodes
end

describe("a job with nodes", function()
  after_each(job.check_end)

  it("listens on no port, in none of its processes", function()
    local t = start()
    local found, sockets = listening(), 0
    for _, p in ipairs(t:processes()) do
      for _, inode in ipairs(sockets_of(p.pid)) do
        sockets = sockets + 1
        assert.is_nil(found[inode], table.concat(p.argv, " "))
      end
    end
    assert.is_true(sockets > 0)
    finish(t)
  end)

  it("is not touched when another one on its machine is killed and resumed", function()
    local a, b = start(), start()
    local before = a:processes()
    b.program:kill(programs.SIGKILL)
    b:finish(b.program, LIMIT)
    b:wait_for_none(LIMIT)
    waiting.let_go(b)
    b:expect_job(0, { "--resume" }, b.options)
    assert.same(job.names(INPUTS), b:rows())
    assert.equal(#before, #a:processes())
    finish(a)
    assert.is_nil(a:log("sys/master_role.txt"):find "lost node")
  end)
end)
