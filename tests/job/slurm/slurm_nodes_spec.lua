-- Which nodes of Slurm there are, in a real Slurm cluster on this machine (support/slurm.sh).
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local slurm = require "support.slurm"
local waiting = require "support.waiting"

local LIMIT = 120 -- seconds for a job: far more than it takes

describe("nodes of Slurm", function()
  local cluster, on_slurm = slurm.cases { nodes = 4 }

  --- Each mini-batch waits for "go-<number>".
  local function start(count, more, with_path, init)
    local t = job.case()
    t:inputs(count)
    t:script(waiting.SCRIPT .. (init or "") .. [[
function run(m)
  mark("at-" .. number_of(m[1]))
  wait_for("go-" .. number_of(m[1]))
  return names_of(m)
end]])
    t:pipeline(([[compute_target = "slurm", node_count = %d, mini_batch_size = 1, process_count_per_node = 1,
      error_threshold = 0, run_max_try = 1, slurm_options = "--exclusive",
      logging_level = "DEBUG", %s]]):format(count, more or ""))
    t.options = waiting.here(t)
    t.options.env[#t.options.env + 1] = cluster.variable
    t.options.env[#t.options.env + 1] = with_path and with_path(t)
    t.options.limit = LIMIT
    t.program = t:start_job(nil, t.options)
    return t
  end

  local function wait_for_log(t, pattern)
    return t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", pattern, LIMIT)
  end

  local function finish(t, count)
    t:expect(t:finish(t.program, LIMIT), 0)
    assert.same(job.names(count), t:rows())
    assert.equal(0, slurm.count_that_may_run(t))
  end

  on_slurm("are given back when nothing is left for them to do", function()
    local t = start(3)
    for i = 1, 3 do t:wait_for("here-at-" .. i, nil, LIMIT) end
    assert.equal(3, #cluster:queue())
    t:write("here-go-1", "")
    t:write("here-go-2", "")
    programs.wait_until("a queue of one", function() return #cluster:queue() == 1 end, LIMIT)
    t:write("here-go-3", "")
    finish(t, 3)
    assert.is_nil(t:log("sys/master_role.txt"):find "lost node")
  end)

  -- Four machines for five nodes: the fifth leaves the queue without ever having run.
  on_slurm("leave the queue when nobody needs them any more", function()
    local t = start(5)
    for i = 1, 4 do t:wait_for("here-at-" .. i, nil, LIMIT) end
    programs.wait_until("a Slurm job that waits", function() return #cluster:queue() == 5 end, LIMIT)
    t:write("here-go-1", "")
    t:wait_for("here-at-5", nil, LIMIT) -- nothing waits for a worker any more
    programs.wait_until("a queue of four", function() return #cluster:queue() == 4 end, LIMIT)
    for i = 2, 5 do t:write("here-go-" .. i, "") end
    finish(t, 5)
    job.expect_words(t:log "sys/master_role.txt", { "node 5 is given back" })
  end)

  -- Slurm is asked why they wait 5 s after the first request: by then all would be in the queue.
  on_slurm("are requested while fewer than eight are on their way", function()
    local t = start(20)
    programs.wait_until("four that run and eight that wait", function() return #cluster:queue() == 4 + 8 end, LIMIT)
    wait_for_log(t, "8 waiting: ")
    assert.equal(4 + 8, #cluster:queue())
    for i = 1, 20 do t:write("here-go-" .. i, "") end
    finish(t, 20)
  end)

  --- Kills the relay of a node. Returns its machine, which the job names.
  local function lose_one(t)
    programs.kill(t:processes_of("node")[1], programs.SIGKILL)
    return wait_for_log(t, "is excluded for 10 minutes"):match "'(%w+)' is excluded for 10 minutes"
  end

  on_slurm("are not started on a machine on which a node was lost", function()
    local t = start(2)
    for i = 1, 2 do t:wait_for("here-at-" .. i, nil, LIMIT) end
    local machine = lose_one(t)
    local command = wait_for_log(t, "node 3 is started with: [^\n]*\n"):match "node 3 is started with: ([^\n]*)\n"
    assert.is_truthy((command .. " "):find("--exclude=" .. machine .. " ", 1, true), command)
    for i = 1, 2 do t:write("here-go-" .. i, "") end
    finish(t, 2)
  end)

  -- init() fails on one of two machines, and nothing tells Slurm that.
  on_slurm("are not started on a machine that is sick", function()
    local t = start(8, "node_count = 2", nil,
      [[ function init() if os.getenv "SLURMD_NODENAME" == "node2" then error "no GPU" end end ]])
    wait_for_log(t, "node %d %(node2%) is sick: init%(%) has failed")
    local command = wait_for_log(t, "node 3 is started with: [^\n]*\n"):match "node 3 is started with: ([^\n]*)\n"
    assert.is_truthy((command .. " "):find("--exclude=node2 ", 1, true), command)
    for i = 1, 8 do t:write("here-go-" .. i, "") end
    finish(t, 8)
  end)

  on_slurm("are started there again if no other machine can be had", function()
    local t = start(1, [[slurm_options = "--exclusive --nodelist=node4"]])
    t:wait_for("here-at-1", nil, LIMIT)
    assert.equal("node4", lose_one(t))
    wait_for_log(t, "no node can be had without 'node4': it is not excluded any more")
    wait_for_log(t, "node 2 %(node4%) is ready")
    t:write("here-go-1", "")
    finish(t, 1)
  end)

  --- Commands of Slurm that write down how they are called.
  local function recorded_commands(t)
    t:write("bin/srun", ('#!/bin/sh\necho "${0##*/} $*" >>%s\nPATH=${PATH#*:} exec "${0##*/}" "$@"\n')
      :format(t:path "calls"))
    for _, name in ipairs { "squeue", "sacct", "sinfo", "scontrol", "scancel", "sbatch", "salloc" } do
      assert(lfs.link("srun", t:path("bin/" .. name), true))
    end
    t:expect(t:run({ "-c", "chmod +x bin/srun" }, { program = "sh" }), 0)
    return "PATH=" .. t:path "bin" .. ":" .. os.getenv "PATH"
  end

  -- Each call slows Slurm's controller down, and sites may forbid flags that users did not choose.
  on_slurm("cost few calls of Slurm's commands, which have no limits of our own", function()
    local t = start(3, nil, recorded_commands)
    for i = 1, 3 do t:wait_for("here-at-" .. i, nil, LIMIT) end
    for i = 1, 3 do t:write("here-go-" .. i, "") end
    finish(t, 3)
    local counts = {}
    for line in t:read("calls"):gmatch "[^\n]+" do
      local name = line:match "^%S+"
      counts[name] = (counts[name] or 0) + 1
      for _, flag in ipairs { "--mem", "--time", "--partition", "--account", "--qos" } do
        assert.is_nil(line:find(flag, 1, true), line)
      end
    end
    assert.equal(4, counts.srun) -- with --test-only
    -- once for a node that has started, and once at the end
    assert.is_true((counts.squeue or 0) <= 4, counts.squeue)
    for _, name in ipairs { "sacct", "sinfo", "scontrol", "sbatch", "salloc" } do assert.is_nil(counts[name], name) end
  end)
end)
