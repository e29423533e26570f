-- The report of a node before it gets work, and its probe: whether it sees the job's files and can
-- use the paths of the steps. A node is a `tidemill node` process on this machine; its
-- surroundings differ from those of the job.
local job = require "support.job"
local lfs = require "lfs"
local json = require "tidemill.json"

local INPUTS = 4
local LIMIT = 120 -- seconds for a job: far more than it takes
local SCRIPT = "function run(m) return names_of(m) end"

-- A script for sh; $1 is the program, $2 the job's directory. Five nodes that fail end the job.
local function by_shell(script)
  return ([[{ "sh", "-c", [==[%s]==], "sh", "{program}", "{job_dir}" }]]):format(script)
end

local function new_case(count, command, more)
  local t = job.case()
  t:inputs(INPUTS)
  t:script(SCRIPT)
  t:pipeline(([[compute_target = "exec", node_count = %d, node_command = %s, mini_batch_size = 1,
    error_threshold = 0, %s]]):format(count, command, more or ""))
  t.options = { limit = LIMIT }
  return t
end

local function read(path)
  local file = assert(io.open(path))
  local line = file:read "*l"
  file:close()
  return line
end

local function names_in(dir)
  local names = {}
  for name in lfs.dir(dir) do
    if not name:find "^%." then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function expect_no_probe_left(t)
  for _, name in ipairs(names_in(t:path "job/nodes")) do
    assert.is_truthy(name:find "^%d+%.txt$" or name:find "^%d+%.json$", name)
  end
end

local function completes(t)
  t:expect_job(0, nil, t.options)
  assert.same(job.names(INPUTS), t:rows())
  expect_no_probe_left(t)
  assert.is_false(t:has "job/temp_dirs")
  return t:log "sys/master_role.txt"
end

local function is_refused(t, words)
  local r = t:run_job(nil, t.options)
  assert.equal(1, r.status, r.err)
  job.expect_words(r.err, words)
  expect_no_probe_left(t)
  return r
end

local function succeeds(command) return os.execute(command .. " >&- 2>&-") == 0 end

describe("a node reports", function()
  after_each(job.check_end)

  it("its machine, and has a name by that", function()
    local host = read "/proc/sys/kernel/hostname"
    local log = completes(new_case(1, [[{ "taskset", "-c", "0", "{program}", "node" }]]))
    job.expect_words(log, { ("node 1 (%s) is ready: pid "):format(host), ", 1 CPU (", " GB of memory" })
  end)

  it("runs its workers with its own program, wherever that is", function()
    local t = new_case(1, by_shell [[cp "$1" "$2/copy" && exec "$2/copy" node]])
    t:script [[function run()
      local pipe = io.popen "readlink /proc/$PPID/exe"
      local path = pipe:read "*l"
      pipe:close()
      return { path }
    end]]
    t:expect_job(0, nil, t.options)
    for _, path in ipairs(t:rows()) do assert.equal(t:path "job/copy", path) end
    assert.equal(INPUTS, #t:rows())
  end)

  it("runs its workers also if its program was removed", function()
    local t = new_case(1, by_shell [[
      cp "$1" "$2/copy" && exec 9< "$2/copy" && rm "$2/copy" && exec /proc/self/fd/9 node]])
    completes(t)
    assert.is_false(t:has "job/copy")
  end)

  it("another name than the one in node_hosts, which stays its name", function()
    local t = new_case(1, [[{ "sh", "-c", "exec $0 node", "{program}", "{host}" }]], [[node_hosts = { "alpha" }]])
    local log = completes(t)
    job.expect_words(log, { "node 1 (alpha) is ready", "node 1 (alpha) says that its machine is '" })
    assert.is_truthy(t:log("sys/job_report/node_summary.csv"):find("alpha", 1, true))
  end)

  it("how many workers it has, one for each CPU", function()
    local t = new_case(2, [[{ "taskset", "-c", "0", "{program}", "node" }]])
    local log = completes(t)
    job.expect_words(log, { "as many workers as its nodes decide" })
    local record = json.decode(t:read "job/job.json")
    assert.same({ value = "node", origin = "default" }, record.steps[1].definition.settings.process_count_per_node)
    for id = 1, 2 do -- one of them may have done all, and the other may have none
      local dir = t:path("job/score/logs/user/stdout/" .. id)
      local count = lfs.attributes(dir, "mode") and #names_in(dir) or 0
      assert.is_true(count <= 1, count .. " workers on a node with one CPU")
    end
  end)

  it("that it has GPUs, and has one worker then", function()
    local t = new_case(1, [[{ "env", "CUDA_VISIBLE_DEVICES=0,1", "{program}", "node" }]])
    job.expect_words(completes(t), { ", 2 GPUs, " })
    assert.equal(1, #names_in(t:path "job/score/logs/user/stdout/1"))
  end)

  it("nothing of that if process_count_per_node is given", function()
    local t = new_case(1, [[{ "taskset", "-c", "0", "{program}", "node", }]], "process_count_per_node = 2")
    job.expect_words(completes(t), { "2 workers at most", ", 1 CPU (" })
    assert.is_true(#names_in(t:path "job/score/logs/user/stdout/1") <= 2)
  end)

  it("its folder for temporary files", function()
    local t = new_case(1, "", "process_count_per_node = 1")
    lfs.mkdir(t:path "there")
    t:script [[
local entry = require "tidemill.entry_script"()
function run(m)
  local rows = {}
  for i = 1, #m do rows[i] = entry.temp_dir end
  return rows
end]]
    t:pipeline(([[compute_target = "exec", node_command = { "env", "TMPDIR=%s/there", "{program}", "node" },
      mini_batch_size = 1, process_count_per_node = 1]]):format(t.dir))
    t:expect_job(0, nil, t.options)
    local begin = t.dir .. "/there/tidemill-"
    for _, row in ipairs(t:rows()) do assert.equal(begin, row:sub(1, #begin)) end
    assert.same({}, names_in(t:path "there"))
  end)
end)

describe("{processes} in node_command", function()
  after_each(job.check_end)

  it("needs process_count_per_node", function()
    local t = new_case(1, [["{program} node {processes}"]])
    local r = t:run_job()
    assert.equal(2, r.status, r.err)
    job.expect_words(r.err, { "pipeline.lua:", "{processes}", "'process_count_per_node'" })
    assert.is_false(t:has "job")
  end)
end)

describe("a node is refused", function()
  after_each(job.check_end)

  -- The path of the inputs leads elsewhere there, because the node has another working directory.
  it("if it cannot read the inputs", function()
    local t = new_case(5, by_shell [[cd / && exec "$1" node]])
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('"in/%*"', '"/proc/self/cwd/in/*"')))
    is_refused(t, { "cannot use node ", "cannot read '/proc/self/cwd/in': no such file or directory",
                    "under the same paths", "see 'nodes/" })
  end)

  local may_mount = succeeds "unshare -m mount -t tmpfs none /tmp"

  it("if it does not see the job's directory", function()
    if not may_mount then return pending "needs the right to mount" end
    local t = new_case(5, [[{ "unshare", "-m", "sh", "-c", "mount -t tmpfs none \"$2\" && exec \"$1\" node", "sh",
      "{program}", "]] .. "%s" .. [[" }]])
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub("%%s", t.dir)))
    is_refused(t, { "cannot use node ", ("cannot see the job directory '%s/job'"):format(t.dir),
                    "must be on a file system that all nodes share", "--job-dir or TIDEMILL_WORKSPACE" })
  end)

  it("if its job directory is another one", function()
    if not may_mount then return pending "needs the right to mount" end
    if not os.getenv "TM_LONG" then return pending "takes as long as a network file system may need" end
    local t = new_case(5, [[{ "unshare", "-m", "sh", "-c", "mount -t tmpfs none \"$2\" && exec \"$1\" node", "sh",
      "{program}", "{job_dir}" }]])
    is_refused(t, { "cannot use node ", "is another one here", "must be on a file system that all nodes share" })
  end)

  it("if its user cannot use the job's directory", function()
    -- as a child of that user's process, which has nothing left of root
    if not succeeds [[setpriv --reuid 65534 --clear-groups sh -c '"$TIDEMILL" version']] then
      return pending "needs two users: run it as root, with a program that others may run"
    end
    local t = new_case(5, [[{ "setpriv", "--reuid", "65534", "--clear-groups", "{program}", "node" }]])
    is_refused(t, { "cannot use node ", "ermission denied", "runs as another user: uid 65534, here it is 0",
                    "start it as this user" })
  end)

  -- As those of a node that runs as root, for a job that does not: the umask takes the right to
  -- read from the owner. Root may read everything.
  it("if its files cannot be read here", function()
    local t = new_case(5, by_shell [[umask 0400 && exec "$1" node]])
    if succeeds "test $(id -u) = 0" then
      if not succeeds [[setpriv --reuid 65534 --clear-groups sh -c '"$TIDEMILL" version']] then
        return pending "needs two users: run it as root, with a program that others may run"
      end
      assert.is_true(succeeds(("chown -R 65534 '%s'"):format(t.dir)))
      t.options.before = { "setpriv", "--reuid", "65534", "--clear-groups" }
    end
    is_refused(t, { "cannot use node ", "cannot read its file '", ".answered' here: permission denied" })
  end)
end)
