-- Why nodes of Slurm have ended, and what follows from that, in a real Slurm cluster on this
-- machine (support/slurm.sh).
local job = require "support.job"
local programs = require "support.programs"
local slurm = require "support.slurm"
local waiting = require "support.waiting"

local LIMIT = 120 -- seconds for a job: far more than it takes

-- A job in `high` takes its machine from a job in `low`, which gets a signal first.
local PARTITIONS = [[
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=1
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10
]]

describe("nodes of Slurm that end", function()
  local cluster, on_slurm = slurm.cases { nodes = 3, variables = { EXTRA = PARTITIONS } }

  --- Two nodes of one worker; mini-batches wait for "go-" and the name of their machine.
  local function start(change)
    local t = job.case()
    t:inputs(4)
    t:script(waiting.SCRIPT .. [[
function run(m)
  mark("at-" .. os.getenv "SLURMD_NODENAME")
  wait_for("go-" .. os.getenv "SLURMD_NODENAME")
  return names_of(m)
end]])
    t:pipeline [[compute_target = "slurm", node_count = 2, mini_batch_size = 1, process_count_per_node = 1,
      error_threshold = 0, run_max_try = 1, slurm_options = "--exclusive --partition=low"]]
    t.options = waiting.here(t)
    t.options.env[#t.options.env + 1] = cluster.variable
    t.options.limit = LIMIT
    if change then change(t) end
    t.program = t:start_job(nil, t.options)
    programs.wait_until("two workers", function()
      assert(not t.last:has_ended(), "the job has ended")
      local count = 0
      for i = 1, 3 do count = count + (t:has("here-at-node" .. i) and 1 or 0) end
      return count == 2
    end, LIMIT)
    return t
  end

  local function wait_for_log(t, pattern)
    return t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", pattern, LIMIT)
  end

  local function let_go(t, machine) t:write("here-go-" .. machine, "") end

  local function finish(t)
    for i = 1, 3 do let_go(t, "node" .. i) end
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(4), t:rows())
    t:expect(t:run { "verify", t.job_dir }, 0)
    return t:log "sys/master_role.txt"
  end

  local function kill_relay(t) programs.kill(t:processes_of("node")[1], programs.SIGKILL) end

  local CANCELED = "%(Slurm: CANCELLED%)"
  local ALL_CANCELED = "every node was canceled, and such nodes are not replaced"
  local WORK = "; 1 mini%-batch goes back to the queue, and may have been running"

  local function expect_failed_machine(t, machine)
    cluster:run("scontrol", "update", "nodename=" .. machine, "state=down", "reason=test")
    wait_for_log(t, "node 3 %(node%d%) is ready")
    -- it may have come back by itself
    cluster:run("sh", "-c", ("scontrol update nodename=%s state=resume 2>/dev/null || :"):format(machine))
    local log = finish(t)
    t:wait_for_none(60) -- the node ends when Slurm ends it on the machine that is back
    local loss = "lost node %%d %%(%s%%) after 00:%%d%%d:%%d%%d: .*%%(Slurm: NODE_FAIL%%).*" ..
                 "%s; '%s' is excluded for 10 minutes; see 'nodes/%%d.txt'"
    job.expect_patterns(log, { loss:format(machine, WORK, machine) })
  end

  on_slurm("with their machine are reported with Slurm's reason, and replaced", function()
    local t = start()
    expect_failed_machine(t, cluster:queue()[1].host)
  end)

  on_slurm("with their machine are lost, also if they were asked to end first", function()
    local t = start()
    local relay = t:processes_of("node")[1]
    local file = assert(io.open(("/proc/%d/environ"):format(relay), "rb"))
    local machine = file:read("*a"):match "SLURMD_NODENAME=(%w+)"
    file:close()
    programs.kill(relay, programs.SIGTERM)
    wait_for_log(t, "was asked to end")
    expect_failed_machine(t, machine)
  end)

  on_slurm("because their relay was killed are reported with Slurm's word for that", function()
    local t = start()
    kill_relay(t)
    wait_for_log(t, "node 3 %(node%d%) is ready")
    job.expect_patterns(finish(t), { "lost node %d %(node%d%) after [%d:]+: .*%(Slurm: FAILED%).*" .. WORK })
  end)

  -- Some seconds later, Slurm kills the processes that still run.
  local function preempt(is_in_time, pattern)
    local t = start()
    local machine = cluster:queue()[1].host
    local holder = programs.start({ "env", cluster.variable, "salloc", "--no-shell", "--quiet", "--exclusive",
                                    "--partition=high", "--nodelist=" .. machine, "--job-name=held" },
                                  { stdout = "/dev/null", stderr = t:path "salloc.txt" })
    wait_for_log(t, "was asked to end")
    if is_in_time then let_go(t, machine) end
    wait_for_log(t, "node 3 %(node%d%) is ready")
    assert.equal(0, holder:wait(LIMIT))
    cluster:run("scancel", "--name=held")
    local log = finish(t)
    job.expect_patterns(log, { ("node %%d %%(%s%%) has ended"):format(machine) .. pattern })
    assert.is_nil(log:find "lost node")
    assert.is_nil(log:find "is excluded")
  end

  on_slurm("because of a preemption are replaced when they have finished what they began", function()
    preempt(true, ": all of its work is over %(Slurm: ")
  end)

  if os.getenv "TM_LONG" then -- takes 10 s
    on_slurm("because of a preemption are replaced, and no loss is counted", function()
      preempt(false, " before all of its work was over: .* %(Slurm: PREEMPTED%)" .. WORK)
    end)
  end

  on_slurm("because somebody has canceled them are not replaced", function()
    local t = start()
    local canceled = cluster:queue()[1]
    cluster:run("scancel", canceled.id)
    wait_for_log(t, "was asked to end")
    let_go(t, canceled.host)
    wait_for_log(t, CANCELED)
    local log = finish(t)
    local drained = "node %d %(node%d%) has ended[^\n]*" .. CANCELED
    job.expect_patterns(log, { drained .. "; it was canceled, so it is not replaced" })
    assert.is_nil(log:find "node 3")
    assert.is_false(t:has "job/nodes/3.txt")
  end)

  on_slurm("fail the job if all were canceled", function()
    local t = start()
    local queue = cluster:queue()
    for _, entry in ipairs(queue) do cluster:run("scancel", entry.id) end
    wait_for_log(t, "was asked to end.*was asked to end")
    for _, entry in ipairs(queue) do let_go(t, entry.host) end
    local r = t:expect(t:finish(t.program, LIMIT), 1)
    job.expect_patterns(r.err, { ALL_CANCELED .. "; the last one: node %d %(node%d%)[^\n]*" .. CANCELED })
    assert.is_false(t:has "job/nodes/3.txt")
  end)

  on_slurm("fail the job if they were canceled while they waited", function()
    cluster:run("salloc", "--no-shell", "--quiet", "--exclusive", "--nodes=3", "--job-name=held")
    local t = job.case()
    t:inputs(1)
    t:script "function run(m) return names_of(m) end"
    t:pipeline [[compute_target = "slurm", mini_batch_size = 1, process_count_per_node = 1]]
    t.options = { env = { cluster.variable }, limit = LIMIT }
    t.program = t:start_job(nil, t.options)
    programs.wait_until("a Slurm job that waits", function() return #cluster:queue() == 2 end)
    for _, entry in ipairs(cluster:queue()) do
      if entry.state == "PENDING" then cluster:run("scancel", entry.id) end
    end
    local r = t:expect(t:finish(t.program, LIMIT), 1)
    cluster:run("scancel", "--name=held")
    job.expect_patterns(r.err, { ALL_CANCELED .. "[^\n]*cannot start node 1: [^\n]*" .. CANCELED })
  end)

  --- One of Slurm's commands breaks when the test says so; `when`: for calls with this option only.
  --- Each call of squeue is noted.
  local function with_broken(command, text, when)
    return function(t)
      for _, name in ipairs { "squeue", command } do
        t:write("bin/" .. name, ([[#!/bin/sh
echo "$*" >>"${HERE}%s"
case "%s $*" in
  "%s "*%s*) [ ! -e "${HERE}broken" ] || { %s; } ;;
esac
PATH=${PATH#*:} exec %s "$@"
]]):format(name, name, command, when or "", text, name))
        assert(os.execute(("chmod +x '%s'"):format(t:path("bin/" .. name))))
      end
      t.options.env[#t.options.env + 1] = "PATH=" .. t:path "bin" .. ":" .. os.getenv "PATH"
    end
  end

  --- Nothing was left for the keeper to cancel when the job had ended: only the job has asked Slurm
  --- about all of its nodes, unless there is one alone.
  local function expect_quick_end(t, asked)
    assert.equal(asked, select(2, t:read("here-squeue"):gsub("%-%-me ", "")))
  end

  local HANGS = "exec tail -f /dev/null"

  for what, text in pairs { fails = "echo 'no answer' >&2; exit 1", hangs = HANGS } do
    on_slurm("are replaced without a reason if squeue " .. what, function()
      local t = start(with_broken("squeue", text))
      t:write("here-broken", "")
      kill_relay(t)
      wait_for_log(t, "node 3 %(node%d%) is ready")
      assert(os.remove(t:path "here-broken"))
      local log = finish(t)
      job.expect_patterns(log, { "lost node %d %(node%d%) after [%d:]+: .*%(Slurm: not known%).*" .. WORK })
      assert.equal(what == "fails", log:find("cannot ask Slurm about the nodes: no answer", 1, true) ~= nil)
      expect_quick_end(t, 1)
    end)
  end

  on_slurm("and need no replacement do not make the job wait for Slurm's answer", function()
    local t = start(with_broken("srun", HANGS, "--test-only"))
    t:write("here-broken", "")
    kill_relay(t)
    programs.wait_until("a question", function()
      return select(2, t:read("here-srun"):gsub("%-%-test%-only", "")) == 2
    end, LIMIT)
    finish(t)
    expect_quick_end(t, 0)
    assert.is_false(t:has "job/nodes/3.txt")
  end)
end)
