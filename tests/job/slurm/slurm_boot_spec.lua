-- Nodes on machines that Slurm has to boot first, in a real Slurm cluster on this machine
-- (support/slurm.sh). Slurm grants such a machine at once, and the Slurm job is CONFIGURING.
local job = require "support.job"
local programs = require "support.programs"
local slurm = require "support.slurm"

local INPUTS = 3
local LIMIT = 120 -- seconds for a job: far more than it takes

-- Slurm turns a machine off if the case asks for it, and on if a job needs it; the case then starts
-- slurmd.
local POWER = {
  "SuspendProgram=/bin/true",
  "ResumeProgram=/bin/true",
  "SuspendTime=100000",
  "SuspendTimeout=1",
  "ResumeTimeout=600",
}

describe("a node of Slurm", function()
  local cluster, on_slurm = slurm.cases { nodes = 1, variables = { EXTRA = table.concat(POWER, "\n") } }

  local function turn_off()
    cluster:call("end-daemon", "slurmd-node1")
    cluster:run("scontrol", "update", "nodename=node1", "state=power_down")
    programs.wait_until("a machine that is off",
                        function() return cluster:run("sinfo", "-h", "-N", "-o", "%T") == "idle~\n" end, 60)
  end

  local function new_case(settings)
    local t = job.case()
    t:inputs(INPUTS)
    t:script "function run(m) return names_of(m) end"
    t:pipeline("node_start_timeout = 6, process_count_per_node = 1, " .. settings)
    t.options = { env = { cluster.variable }, limit = LIMIT }
    return t
  end

  --- Another job has a node that never starts: at its end node_start_timeout is over.
  local function wait_for_node_start_timeout()
    local t = new_case [[compute_target = "exec", node_command = "sleep 1000", node_wait = 7]]
    local r = t:run_job(nil, t.options)
    t:expect(r, 1)
    job.expect_words(r.err, { "it was not ready after 6 s (node_start_timeout)" })
  end

  local function state()
    local entry = cluster:queue()[1]
    return entry and entry.state
  end

  -- squeue is asked after 5 s, when 1 s is left.
  on_slurm("may boot for longer than node_start_timeout", function()
    if not os.getenv "TM_LONG" then return pending "takes half a minute: Slurm turns machines off every ten seconds" end
    turn_off()
    local t = new_case [[compute_target = "slurm", slurm_options = "--exclusive"]]
    t.program = t:start_job(nil, t.options)
    t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", "|node 1 waits in the queue of Slurm: CONFIGURING", LIMIT)
    assert.equal("CONFIGURING", state())
    wait_for_node_start_timeout()
    assert.equal("CONFIGURING", state())
    cluster:call("boot-node", 1)
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(INPUTS), t:rows())
    assert.is_nil(t:log("sys/master_role.txt"):find "cannot start")
    assert.is_false(t:has "job/nodes/2.txt")
  end)
end)
