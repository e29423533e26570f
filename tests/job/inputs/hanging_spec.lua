-- Inputs that are too large for a worker, that never end, or that hang: the supervisor stays small,
-- and Ctrl-C works.
local ffi = require "ffi"
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"
local sqlite = require "support.sqlite"

ffi.cdef [[
int open(const char *path, int flags, ...);
int close(int fd);
int mount(const char *source, const char *target, const char *type, unsigned long flags, const void *data);
int umount2(const char *target, int flags);
int mkfifo(const char *path, unsigned mode);
]]

local ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
local READS_IDS = [[function run(df)
  local rows = {}
  for i = 1, #df do rows[i] = df.c[df.columns[1] ][i] end
  return rows
end]]
-- More memory than any worker below may use, and far less than the size of the input.
local SMALL = not os.getenv "TM_SANITIZE" and { "prlimit", "--as=2500000000" } or nil

local function new_case(inputs, config)
  local t = job.case()
  t:script(READS_IDS)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
  name = "score", inputs = %s,
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", process_count_per_node = 1, %s },
} } }
]]):format(inputs, config or ""))
  return t
end

-- `parts`: strings, and numbers of zero bytes, which take no room on the disk.
local function write_sparse(t, name, parts)
  local file = assert(io.open(t:path(name), "wb"))
  for _, part in ipairs(parts) do
    if type(part) == "number" then file:seek("cur", part) else file:write(part) end
  end
  file:close()
end

local function count_status(t, status) return t:statuses()[status] or 0 end

-- Sends Ctrl-C, and again after the time in which a second one does not count.
local function interrupt_twice(t)
  t.last:kill(programs.SIGINT)
  programs.pass_ms(600)
  t.last:kill(programs.SIGINT)
end

local function expect_canceled(t, limit)
  local r = t:finish(t.last, limit or 20)
  t:expect(r, 130)
  assert.equal("Canceled", t:result().status)
  return r
end

describe("endless rows", function()
  after_each(job.check_end)

  local function endless(columns, config)
    local t = new_case([[tm.Dataset.Tabular.from_sql_query("endless.db", "SELECT * FROM t")]], config)
    sqlite.make(t.dir .. "/endless.db", "CREATE VIEW t AS " .. ENDLESS .. "SELECT " .. columns .. " FROM n")
    return t
  end

  it("kill workers, and count as one item in the result", function()
    local t = endless("i, hex(zeroblob(500)) AS x", [[run_max_try = 1, worker_memory_limit = "200MB"]])
    local r = t:run_job(nil, { before = SMALL, limit = 90 })
    t:expect(r, 1)
    local step = r.result.steps[1]
    assert.same({ total = 1, succeeded = 0, failed = 1, uncounted = 1 }, step.mini_batches)
    assert.same({ total = 1, succeeded = 0, failed = 1 }, step.items)
    assert.truthy(r.err:find("worker_memory_limit is 200 MB", 1, true), r.err)
    assert.truthy(r.err:find("1 failed, or more: the rows of 1 failed mini-batch could not be counted", 1, true), r.err)
    local line = json.decode(t:read "job/score/failed_items.jsonl", 1, json.null)
    assert.equal(json.null, line.rows)
    assert.equal("", t:tries()[1].Total)
    assert.equal("1", t:tries()[1].Failed)
    local status = t:run { "status", "job" }
    assert.truthy(status.out:find("1 failed, or more: the rows of 1", 1, true), status.out)
  end)

  it("can be interrupted by Ctrl-C", function()
    local t = endless("i", [[worker_memory_limit = "2GB"]])
    t:start_job()
    t:wait_for("run1.err", "job: ")
    programs.wait_until("a worker", function() return #t:processes_of "worker" > 0 end)
    interrupt_twice(t)
    expect_canceled(t)
  end)

  it("are not grouped in the supervisor's memory", function()
    local t = endless("i, 'a' AS city", [[partition_keys = { "city" }]])
    t:start_job()
    t:wait_for "job/score/state/schema.json"
    interrupt_twice(t)
    expect_canceled(t)
  end)
end)

describe("an endless line", function()
  after_each(job.check_end)

  it("is not read into the supervisor's memory", function()
    local t = new_case([[tm.Dataset.Tabular.from_delimited_files("long.csv")]],
      [[run_max_try = 1, worker_memory_limit = "300MB", mini_batch_size = "1MB"]])
    write_sparse(t, "long.csv", { "a,b\n1,2\n", 3 * 2 ^ 30, ",1\n5,6\n" })
    local r = t:run_job(nil, { before = SMALL, limit = 300 })
    assert.is_nil(r.signal)
    assert.is_true(r.status < 4, "exit status " .. r.status) -- an abort would be 134
    assert.truthy(r.err:find("worker_memory_limit", 1, true) or r.err:find("max_record_size", 1, true), r.err)
    assert.is_false(r.err:find("fault:", 1, true) ~= nil, r.err)
  end)

  it("is counted on the second try by a worker that does not load it", function()
    local t = new_case([[tm.Dataset.Tabular.from_delimited_files("long.csv")]],
      [[run_max_try = 2, worker_memory_limit = "100MB", mini_batch_size = "1GB", error_threshold = -1]])
    write_sparse(t, "long.csv", { "a,b\n1,2\n", 700 * 2 ^ 20, ",1\n5,6\n" })
    local r = t:run_job(nil, { limit = 300 })
    if count_status(t, "PROCESS_DIED") + count_status(t, "LOAD_EXCEPTION") == 0 then return end
    local step = r.result.steps[1]
    assert.same({ total = 3, succeeded = 0, failed = 3 }, step.items)
    assert.is_nil(step.mini_batches.uncounted)
  end)
end)

describe("a pipe without a writer", function()
  after_each(job.check_end)

  it("is refused as a table, an archive or a database", function()
    for inputs, words in pairs {
      [ [[tm.Dataset.Tabular.from_delimited_files("pipe")]] ] = "pipe' is not a regular file; it is skipped",
      [ [[tm.Dataset.File.from_archives("pipe", { entries = "**" })]] ] = "pipe' is not a regular file; it is skipped",
      [ [[tm.Dataset.Tabular.from_sql_query("pipe", "SELECT 1")]] ] = "pipe' is not a file, but a pipe or a device",
    } do
      local t = new_case(inputs)
      assert.equal(0, ffi.C.mkfifo(t:path "pipe", 384))
      local r = t:run_job(nil, { limit = 20 })
      assert.truthy(r.status == 1 or r.status == 2, r.status)
      assert.truthy(r.err:find(words, 1, true), r.err)
    end
  end)

  it("may be opened by a script, and Ctrl-C ends the waiting worker", function()
    local t = job.case()
    t:script [[function run(m) assert(io.open(os.getenv "BEGUN", "w")):close() return { io.open(m[1]):read "*a" } end]]
    assert.equal(0, ffi.C.mkfifo(t:path "pipe", 384))
    t:write("list", t:path "pipe" .. "\n")
    t:start({ "map", "score.lua", "-", "--job-dir", "job" },
      { stdin = t:path "list", env = { "BEGUN=" .. t:path "begun" } })
    t:wait_for "begun"
    interrupt_twice(t)
    expect_canceled(t)
  end)
end)

-- A file system whose server never answers: every call on it waits until a signal ends the process.
local hung = {}

local function hang(t, name)
  local dir = t:path(name)
  assert(lfs.mkdir(dir))
  local fd = ffi.C.open("/dev/fuse", 0x80002) -- O_RDWR | O_CLOEXEC
  local options = ("fd=%d,rootmode=40000,user_id=0,group_id=0"):format(fd)
  if fd >= 0 and ffi.C.mount("hung", dir, "fuse", 6, options) == 0 then
    hung[#hung + 1] = { dir = dir, fd = fd }
    return true
  end
  if fd >= 0 then ffi.C.close(fd) end
  return false
end

local function release_all()
  for _, h in ipairs(hung) do
    ffi.C.umount2(h.dir, 2) -- MNT_DETACH
    ffi.C.close(h.fd)
  end
  hung = {}
end

describe("a file system that hangs", function()
  after_each(function()
    release_all()
    job.check_end()
  end)

  local CAN_MOUNT = "only root can mount a file system here"

  -- Waits until a thread of the program, or this many, wait for the server.
  local function wait_for_hang(p, threads)
    programs.wait_until("the wait", function()
      local waiting = 0
      for thread in lfs.dir("/proc/" .. p.pid .. "/task") do
        local file = io.open(("/proc/%d/task/%s/wchan"):format(p.pid, thread))
        local where = file and file:read "*a" or ""
        if file then file:close() end
        -- the second lookup of a name waits for the first one
        if where:find "fuse" or where:find "d_alloc" then waiting = waiting + 1 end
      end
      return waiting >= (threads or 1)
    end)
  end

  it("does not keep Ctrl-C from ending the job", function()
    for inputs, has_rows in pairs {
      [ [[{ tm.Dataset.File.from_files { "in/*", "hung/*" } }]] ] = true,
      [ [[tm.Dataset.File.from_files("hung/x")]] ] = false,
      [ [[tm.Dataset.Tabular.from_delimited_files("hung/x.csv")]] ] = false,
      [ [[tm.Dataset.File.from_archives("hung/x.zip", { entries = "**" })]] ] = false,
    } do
      local t = new_case(inputs, "mini_batch_size = 1")
      t:script "function run(m) return names_of(m) end"
      t:inputs(2)
      if not hang(t, "hung") then return pending(CAN_MOUNT) end
      -- at the end a leak checker would stop a thread that cannot be stopped
      t:start_job(nil, { env = { "ASAN_OPTIONS=detect_leaks=0" } })
      -- a relay must see all inputs before it gets work
      if has_rows and job.NODE == "0" then
        t:wait_for("job/score/output/parallel_run_step.txt.partial", "0001.txt")
      else
        t:wait_for("run1.err", "job: ")
      end
      -- If no path names a file, the check before the job has been given up and still waits too.
      wait_for_hang(t.last, has_rows and 1 or 2)
      interrupt_twice(t)
      local r = expect_canceled(t)
      assert.truthy(r.err:find("a read of its inputs does not return, as on a file system that hangs", 1, true), r.err)
      release_all()
    end
  end)

  it("does not keep Ctrl-C from ending a database query before there is a job", function()
    local t = new_case [[tm.Dataset.Tabular.from_sql_query("hung/x.db", "SELECT 1")]]
    if not hang(t, "hung") then return pending(CAN_MOUNT) end
    local p = t:start_job()
    wait_for_hang(p)
    interrupt_twice(t)
    t:expect(t:finish(p, 20), 130)
    assert.is_false(t:has "job")
  end)

  it("blocks the copying of inputs, and the third Ctrl-C ends the program", function()
    local t = new_case [[tm.Dataset.File.from_files("hung/x"):as_named_input("x"):as_download()]]
    if not hang(t, "hung") then return pending(CAN_MOUNT) end
    t:start_job()
    t:wait_for("run1.err", "job: ")
    wait_for_hang(t.last, 2)
    interrupt_twice(t)
    t:wait_for("run1.err", "once more ends the program at once")
    programs.pass_ms(600)
    t.last:kill(programs.SIGINT)
    job.says(t:finish(t.last, 20), 130,
             "ended before the job could be closed; to go on: tidemill resume " .. t.job_dir .. "\n")
    assert.is_false(t:has "job/job_result.json")
    t:wait_for_none() -- the keeper notices the end of the program, and ends
  end)
end)
