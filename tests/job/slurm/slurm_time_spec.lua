-- Time limits of nodes of Slurm, in a real Slurm cluster on this machine (support/slurm.sh). Often
-- a script called squeue answers how much time is left: Slurm has no limit below a minute.
local job = require "support.job"
local slurm = require "support.slurm"
local waiting = require "support.waiting"

local LIMIT = 120 -- seconds for a job: far more than it takes

describe("nodes of Slurm with a time limit", function()
  local cluster, on_slurm = slurm.cases { nodes = 2 }

  local function case(script, more)
    local t = job.case()
    t:inputs(4)
    t:script(script)
    t:pipeline([[compute_target = "slurm", mini_batch_size = 1, process_count_per_node = 1, error_threshold = 0,
      run_max_try = 1, ]] .. more)
    t.options = waiting.here(t)
    t.options.env[#t.options.env + 1] = cluster.variable
    t.options.limit = LIMIT
    return t
  end

  --- Another squeue, by which node 1 has `left`, and others have `other`.
  local function set_left(t, left, other)
    t:write("bin/squeue", ([[#!/bin/sh
for word; do
  case $word in --name=*) names=${word#--name=} ;; esac
done
IFS=,
for name in $names; do
  case $name in *-1) left=%s ;; *) left=%s ;; esac
  echo "1|$name|RUNNING|node1|$left|None"
done
]]):format(left, other))
    assert(os.execute(("chmod +x '%s'"):format(t:path "bin/squeue")))
    t.options.env[#t.options.env + 1] = "PATH=" .. t:path "bin" .. ":" .. os.getenv "PATH"
  end

  on_slurm("drain when the next mini-batch may not end in time, and are replaced", function()
    local t = case(waiting.SCRIPT .. [[
function run(m)
  mark("at-" .. number_of(m[1]))
  wait_for "go"
  return names_of(m)
end]], [[run_invocation_timeout = 20]])
    set_left(t, "0:52", "UNLIMITED") -- 20 s and 30 s, for 2 s
    t.program = t:start_job(nil, t.options)
    local log = t.step_dir .. "/logs/sys/master_role.txt"
    t:wait_for(log, "node 1 %(node%d%) has 00:00:4%d left, and the first run%(%) may take 20%.0 s: it drains", LIMIT)
    waiting.let_go(t)
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(4), t:rows())
    job.expect_patterns(t:read(log), {
      "node 1 %(node%d%) has ended: all of its work is over", "node 2 %(node%d%) is ready",
    })
  end)

  local TOO_SHORT = "13 nodes in a row have ended before a mini%-batch was committed: their time limit is too short" ..
                    "; choose a longer %-%-time in slurm_options; " ..
                    "the last one: node 13 %(node%d%) has 00:0%d:%d%d left"

  -- No run() ends, so that no mini-batch is committed before Slurm has answered.
  on_slurm("fail the job if no mini-batch fits into it", function()
    local t = case(waiting.SCRIPT .. [[function run(m) wait_for "never" end]],
                   [[run_invocation_timeout = 60, interruptible = false, slurm_options = "--time=1"]])
    local r = t:run_job(nil, t.options)
    t:expect(r, 1)
    job.expect_patterns(r, { TOO_SHORT })
    assert.is_false(t:has "job/nodes/14.txt")
  end)

  if os.getenv "TM_LONG" then -- the limit of a node is a minute
    on_slurm("that end at it cost no try", function()
      local t = case(waiting.SCRIPT .. [[
function run(m)
  mark("at-" .. number_of(m[1]))
  wait_for "go"
  return names_of(m)
end]], [[run_invocation_timeout = 200, slurm_options = "--time=10"]])
      t.program = t:start_job(nil, t.options)
      t:wait_for("here-at-1", nil, LIMIT)
      cluster:run("scontrol", "update", "JobId=" .. cluster:queue()[1].id, "TimeLimit=1")
      local log = t.step_dir .. "/logs/sys/master_role.txt"
      t:wait_for(log, "node 1 %(node%d%) has ended before all of its work was over: [^\n]*%(Slurm: TIMEOUT%)", 200)
      t:wait_for(log, "node 2 %(node%d%) is ready", LIMIT)
      waiting.let_go(t)
      t:expect(t:finish(t.program, LIMIT), 0)
      assert.same(job.names(4), t:rows())
    end)

    on_slurm("end before it, and others finish the job", function()
      local t = case(waiting.SCRIPT .. [[
function run(m)
  ffi.C.poll(nil, 0, 1000)
  return names_of(m)
end]], [[run_invocation_timeout = 5, slurm_options = "--time=1"]])
      t:inputs(60)
      t:expect_job(0, nil, { env = t.options.env, limit = 300 })
      assert.same(job.names(60), t:rows())
      local log = t:log "sys/master_role.txt"
      assert.is_truthy(log:find "and the longest run%(%) took 1%.%d+ s: it drains" or log:find "was asked to end")
      assert.is_nil(log:find "lost node")
    end)
  end
end)
