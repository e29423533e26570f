-- Mistakes in the surroundings of a node: each message names the node, the cause and what to do.
-- A node is a `tidemill node` process on this machine; the first one is wrong, and the others
-- are right, so that the job completes.
local job = require "support.job"

local INPUTS = 3
local LIMIT = 60 -- seconds for a job: far more than it takes

-- A script for sh; $1 is the program, $2 the node's id, $3 the case's folder.
local FIRST = [=[{ "sh", "-c", [==[[ "$2" -gt 1 ] && exec "$1" node; %s]==], "sh", "{program}", "{node_id}", "%s" }]=]

local function new_case(script, more)
  local t = job.case()
  t:inputs(INPUTS)
  t:script "function run(m) return names_of(m) end"
  t:pipeline(([[compute_target = "exec", node_count = 1, node_command = %s, mini_batch_size = 1,
    process_count_per_node = 1, error_threshold = 0, run_max_try = 1, %s]]):format(FIRST:format(script, t.dir),
                                                                                  more or ""))
  return t
end

local function completes(t, words)
  local r = t:expect_job(0, nil, { limit = LIMIT })
  assert.same(job.names(INPUTS), t:rows())
  job.expect_words(r, words)
  return r
end

local function succeeds(command) return os.execute(command .. " >&- 2>&-") == 0 end
local may_mount = succeeds "unshare -m mount -t tmpfs none /tmp"

describe("a node with", function()
  after_each(job.check_end)

  -- The build is changed within the program, where it has the same length.
  it("another build is refused: the message names both builds", function()
    local t = new_case [[exec "$3/other" node]]
    local file = assert(io.open(job.program, "rb"))
    local program = file:read "*a"
    file:close()
    local hello, build = program:match "(tidemill %d[%d.]* protocol %d+ build )(%x+)%z"
    local other = (build:sub(1, 1) == "0" and "1" or "0") .. build:sub(2)
    local from, to = hello .. build .. "\0", hello .. other .. "\0"
    local at = assert(program:find(from, 1, true))
    t:write("other", program:sub(1, at - 1) .. to .. program:sub(at + #from))
    t:expect(t:run({ "-c", "chmod +x other" }, { program = "sh" }), 0)
    local both = ("it runs '%s%s', but this is '%s%s'"):format(hello, other, hello, build)
    job.expect_words(job.case():run { "version" }.out, { "build " .. build })
    completes(t, { "cannot use node 1: " .. both, "install the same build on both machines", "see 'nodes/1.txt'" })
  end)

  it("no program cannot be started: the message has the path and what to do", function()
    local t = new_case [[exec "$3/nowhere/tidemill" node]]
    completes(t, { "cannot start node 1: its command exited with status 127 before the node was ready; ",
                   "install tidemill on the node under that path, or write another path into node_command" })
  end)

  it("a command that asks for a password cannot be started: the message says how to avoid that", function()
    local t = new_case([[printf 'Password: '; exec sleep 1000]], "node_start_timeout = 1")
    completes(t, { "cannot start node 1: it was not ready after 1 s (node_start_timeout); it printed 'Password: '",
                   "must not ask for anything", "-o BatchMode=yes" })
  end)

  it("a command that sends back what it gets cannot be started", function()
    local t = new_case([[exec cat]], "node_start_timeout = 1")
    completes(t, { "cannot start node 1: ", "it printed 'tidemill-stream 1 ", "does not run 'tidemill node'" })
  end)

  it("a command that prints without an end cannot be started", function()
    local t = new_case [[exec yes "no such module"]]
    completes(t, { "cannot start node 1: ", "'no such module\\n" })
  end)

  it("a TMPDIR that is missing there uses /tmp, and writes that down", function()
    local t = new_case [[TMPDIR=/nowhere exec "$1" node]]
    completes(t, {})
    job.expect_words(t:read "job/nodes/1.txt", { "TMPDIR is '/nowhere', which is not a folder here" })
  end)

  it("a job directory that it may only read is refused", function()
    if not may_mount then return pending "needs the right to mount" end
    local t = new_case [[exec unshare -m sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" &&
      exec "$0" node' "$1" "$3"]]
    local problem = ("cannot make '%s/job/nodes/1.answered': read-only file system"):format(t.dir)
    completes(t, { "cannot use node 1 (", problem, "that all nodes share and may write to", "--job-dir or " })
  end)

  it("a full folder for temporary files starts no worker: the message has the folder and what to do", function()
    if not may_mount then return pending "needs the right to mount" end
    local t = job.case()
    t:inputs(INPUTS)
    t:script "function run(m) return names_of(m) end"
    t:pipeline [[compute_target = "exec", process_count_per_node = 1, mini_batch_size = 1,
      node_command = { "unshare", "-m", "sh", "-c",
        "mount -t tmpfs -o nr_inodes=1 none /mnt && TMPDIR=/mnt exec \"$0\" node", "{program}" }]]
    local r = t:run_job(nil, { limit = LIMIT })
    t:expect(r, 1)
    job.expect_patterns(r, { "node 1 %(%S+%) cannot make the folder '/mnt/tidemill%-[^']*': no space left on device",
                             "; make room there, or set TMPDIR" })
  end)
end)

-- Slurm's own commands are tried in job/slurm; this one says what they say elsewhere.
describe("an srun that says", function()
  after_each(job.check_end)

  local OPTIONS = "correct slurm_options or process_count_per_node"
  for said, expected in pairs {
    ["allocation failure: Unable to contact slurm controller (connect failure)"] =
      { "'Unable to contact slurm controller (connect failure)'", "scontrol ping" },
    ["allocation failure: Invalid account or account/partition combination specified"] =
      { "'Invalid account or account/partition combination specified'", OPTIONS },
    ["srun: error: Unable to allocate resources: User's group not permitted to use this partition"] =
      { "'User's group not permitted to use this partition'", OPTIONS },
    ["srun: unrecognized option '--nosuch'\nTry \"srun --help\" for more information"] =
      { "'srun: unrecognized option '--nosuch''", OPTIONS },
  } do
    it(("'%s' refuses the job, and advises"):format(said:match "[^\n]*"), function()
      local t = job.case()
      t:inputs(1)
      t:script "function run(m) return names_of(m) end"
      t:pipeline [[compute_target = "slurm", slurm_options = "--account=nobody"]]
      t:write("said", said .. "\n")
      t:write("bin/srun", ("#!/bin/sh\ncat '%s' >&2\nexit 1\n"):format(t:path "said"))
      t:expect(t:run({ "-c", "chmod +x bin/srun" }, { program = "sh" }), 0)
      local r = t:run_job(nil, { env = { "PATH=" .. t:path "bin" .. ":" .. os.getenv "PATH" } })
      t:expect(r, 2)
      job.expect_words(r, { "pipeline.lua:", "cannot get a node from Slurm: ", "asked with: srun --test-only ",
                            "--account=nobody" })
      job.expect_words(r, expected)
      assert.is_false(t:has "job")
    end)
  end
end)

-- srun runs the node here, and squeue knows nothing.
describe("a job with more than 64 nodes of Slurm", function()
  after_each(job.check_end)

  local WORDS = "65 nodes of Slurm need 130 processes (srun) on this machine"

  local function run(settings, allocation)
    local t = job.case()
    t:inputs(1)
    t:script "function run(m) return names_of(m) end"
    t:pipeline([[compute_target = "slurm", process_count_per_node = 1, ]] .. settings)
    t:write("bin/srun", [[#!/bin/sh
for word; do test "$word" = --test-only && exit; done
until test "$1" = node; do program=$1; shift; done
exec "$program" node
]])
    t:write("bin/squeue", "#!/bin/sh\n")
    t:write("bin/scancel", "#!/bin/sh\n")
    t:expect(t:run({ "-c", "chmod +x bin/*" }, { program = "sh" }), 0)
    local env = { "PATH=" .. t:path "bin" .. ":" .. os.getenv "PATH", "SLURM_JOB_ID=" .. (allocation or ""),
                  "SLURM_JOBID=" }
    local r = t:expect_job(0, nil, { limit = LIMIT, env = env })
    assert.same(job.names(1), t:rows())
    return t, r
  end

  it("warns how many processes they need on this machine", function()
    local t, r = run "node_count = 65"
    job.expect_words(r.err, { "warning: " .. WORDS, "not start such a job on a login node" })
    assert.is_truthy(t:log "70_driver_log.txt":find("|WARNING|%d+|supervisor|65 nodes of Slurm need 130 processes"))
  end)

  it("does not warn in an allocation, nor with 64 nodes", function()
    local _, in_allocation = run('node_count = 65, slurm_allocation = "new"', "7")
    assert.is_nil(in_allocation.err:find("nodes of Slurm", 1, true))
    local _, fewer = run "node_count = 64"
    assert.is_nil(fewer.err:find("nodes of Slurm", 1, true))
  end)
end)

-- Slurm's controller may have been killed before it had written down that there is a Slurm job. Its
-- srun waits for ever. squeue lists it once here.
describe("an srun whose Slurm job Slurm has forgotten", function()
  after_each(job.check_end)

  it("is ended, and another node is requested", function()
    if not os.getenv "TM_LONG" then return pending "runs with --long: squeue is asked each 30 s" end
    local t = job.case()
    t:inputs(3)
    t:script "function run(m) return names_of(m) end"
    t:pipeline [[compute_target = "slurm", node_start_timeout = 10, process_count_per_node = 1]]
    t:write("bin/srun", [[#!/bin/sh
for word; do case $word in
  --test-only) exit ;;
  --job-name=*-1) echo "srun: job 7 queued and waiting for resources" >&2; exec sleep 1000 ;;
esac; done
until test "$1" = node; do program=$1; shift; done
exec "$program" node
]])
    t:write("bin/squeue", ([[#!/bin/sh
mkdir '%s' 2>&- || exit 0
for word; do case $word in --name=*) echo "7|${word#--name=}|PENDING||0:00|Resources" ;; esac; done
]]):format(t:path "listed"))
    t:write("bin/scancel", "#!/bin/sh\n")
    t:expect(t:run({ "-c", "chmod +x bin/*" }, { program = "sh" }), 0)
    local r = t:expect_job(0, nil, { limit = 300, env = { "PATH=" .. t:path "bin" .. ":" .. os.getenv "PATH" } })
    assert.same(job.names(3), t:rows())
    job.expect_words(r.err, { "cannot start node 1: ", "Slurm does not know its Slurm job any more" })
  end)
end)
