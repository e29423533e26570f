-- Odd inputs and places: the program names the problem, ends with the right status, and never
-- hangs.
local ffi = require "ffi"
local job = require "support.job"
local lfs = require "lfs"

ffi.cdef "int mkfifo(const char *path, unsigned mode); unsigned geteuid(void);"

local ECHO = "function run(m) return names_of(m) end"
local READ = [[function run(m)
  local rows = {}
  for i, path in ipairs(m) do
    local file = assert(io.open(path))
    rows[i] = name_of(path) .. " " .. #file:read "*a"
    file:close()
  end
  return rows
end]]
local NOBODY = "65534"

local function new_case(script, config)
  local t = job.case { for_others = true }
  t:inputs(4)
  t:script(script or ECHO)
  t:pipeline("mini_batch_size = 1, process_count_per_node = 2, run_max_try = 1, " .. (config or ""))
  return t
end

local expect_words = job.expect_words

--- Arguments to put before the program's to run it as a user other than root, in a folder of that
--- user. Root may do anything.
local function as_user(t)
  if ffi.C.geteuid() ~= 0 then return {} end
  assert(os.execute(("chown -R %s %s"):format(NOBODY, t.dir)) == 0)
  return { "setpriv", "--reuid=" .. NOBODY, "--regid=" .. NOBODY, "--clear-groups" }
end

--- Mounts for the duration of a case, or reports that mounting is not allowed.
local function in_own_mounts(t, text)
  local probe = ("unshare -m sh -c 'mount -t tmpfs tmpfs %s' 2>%s/mount"):format(t:path "tmp", t.dir)
  if os.execute(probe) ~= 0 then return nil end
  return { "unshare", "-m", "sh", "-c", text .. ' && exec "$@"', "sh" }
end

describe("an input", function()
  after_each(job.check_end)

  it("that cannot be read fails its mini-batch, and is named", function()
    local t = new_case(READ)
    os.execute("chmod 000 " .. t:path "in/0002.txt")
    local r = t:expect_job(0, nil, { before = as_user(t) })
    assert.same({ total = 4, succeeded = 3, failed = 1 }, r.result.steps[1].items)
    assert.is_truthy(t:log("user/error.txt"):find("0002.txt: Permission denied", 1, true))
  end)

  it("in an unreadable folder ends the job, or is left out on request", function()
    local t = new_case(READ)
    t:inputs(2, "in/closed")
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('"in/%*"', '"in"')))
    os.execute("chmod 000 " .. t:path "in/closed")
    local before = as_user(t)
    finally(function() os.execute("chmod 700 " .. t:path "in/closed") end)
    expect_words(t:expect_job(3, nil, { before = before }), { t:path "in/closed", "permission denied" })
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('"in"%)', '"in", { on_unreadable = "skip" })')))
    t.job_dir, t.step_dir = t:path "second", t:path "second/score"
    expect_words(t:expect_job(0, nil, { before = before }), { t:path "in/closed" })
    assert.equal(4, #t:rows())
  end)

  it("that vanishes between listing and run() fails its mini-batch", function()
    local t = new_case [[function run(m)
      if number_of(m[1]) == 1 then os.remove((m[1]:gsub("0001", "0003"))) end
      if number_of(m[1]) == 3 and io.open(m[1]) then error "it was read before it could vanish" end
      if number_of(m[1]) == 3 then assert(io.open(m[1])) end
      return names_of(m)
    end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1"
    local r = t:expect_job(0)
    assert.same({ total = 4, succeeded = 3, failed = 1 }, r.result.steps[1].items)
    assert.is_truthy(t:log("user/error.txt"):find("0003.txt: No such file", 1, true), t:log "user/error.txt")
  end)

  it("that is not a regular file is skipped in a folder or a pattern, and does not delay the listing", function()
    local t = new_case(READ, "run_invocation_timeout = 5, ")
    assert.equal(0, ffi.C.mkfifo(t:path "in/0000.fifo", 384))
    lfs.link("/dev/zero", t:path "in/0000.zero", true)
    for i, paths in ipairs { '"in"', '"in/*"', '{ "in/0000.fifo", "in/0000.zero", "in/*.txt" }' } do
      t:write("pipeline.lua", (t:read("pipeline.lua"):gsub("from_files%b()", "from_files(" .. paths .. ")")))
      t.job_dir = t:path("job" .. i)
      t.step_dir = t.job_dir .. "/score"
      local r = t:expect_job(0, nil, { limit = 30 })
      assert.same({ "0001.txt 2", "0002.txt 2", "0003.txt 2", "0004.txt 2" }, t:rows(), paths)
      if i == 3 then expect_words(r, { "0000.fifo' is not a regular file", "0000.zero' is not a regular file" }) end
      assert.equal(4, r.result.steps[1].items.total)
    end
  end)

  it("may have a name of 255 bytes, and a path of 4,000", function()
    local t = new_case(READ)
    local name = ("n"):rep(251) .. ".txt"
    t:write("in/" .. name, "12345")
    local deep = "in"
    while #t:path(deep) + 201 < 4000 do deep = deep .. "/" .. ("d"):rep(200) end
    deep = deep .. "/" .. ("e"):rep(4000 - #t:path(deep) - 1)
    t:write(deep, "123")
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('"in/%*"', '"in"')))
    assert.equal(4000, #t:path(deep))
    t:expect_job(0)
    local rows = t:rows()
    assert.equal(6, #rows)
    assert.equal(("e"):rep(#deep:match "[^/]+$") .. " 3", rows[5])
    assert.equal(name .. " 5", rows[6])
  end)
end)

describe("a job directory", function()
  after_each(job.check_end)

  it("that cannot be created or written is refused with a reason", function()
    local t = new_case()
    lfs.mkdir(t:path "closed")
    local before = as_user(t)
    os.execute("chmod 500 " .. t:path "closed")
    finally(function() os.execute("chmod 700 " .. t:path "closed") end)
    for _, dir in ipairs { t:path "closed/job", t:path "closed" } do
      t.job_dir = dir
      expect_words(t:expect_job(3, nil, { before = before }), { t:path "closed", "permission denied" })
    end
    t.job_dir = "/proc/tidemill"
    expect_words(t:expect_job(3), { "/proc/tidemill" })
  end)

  it("that is removed while the job runs ends the job", function()
    local t = new_case [[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      function run(m)
        io.open(os.getenv "HERE", "w"):close()
        while not io.open(os.getenv "GO") do ffi.C.poll(nil, 0, 5) end
        return names_of(m)
      end]]
    t:pipeline [[mini_batch_size = 1, process_count_per_node = 2,
                 run_max_try = tm.PipelineParameter { name = "tries", default_value = 2 }]]
    local p = t:start_job({ "--param", "tries=1" }, { env = { "GO=" .. t:path "go", "HERE=" .. t:path "here" } })
    t:wait_for "here"
    require "support.folder".remove_at_once(t.job_dir)
    t:write("go", "")
    local r = t:finish(p, 30)
    t:expect(r, 3)
    local cause = "\n    cause:        '" .. t.job_dir .. "' was removed or renamed while the job ran\n"
    assert.is_truthy(r.err:find(cause, 1, true), r.err)
    local advice = "'" .. t.job_dir .. "' has been removed or renamed; if you renamed it, resume it under its new name"
    assert.is_truthy(r.err:find(advice, 1, true), r.err)
    local anew = "; else start a new job: tidemill run " .. t:path "pipeline.lua" .. " --param tries=1\n"
    assert.is_truthy(r.err:find(anew, 1, true), r.err)
    assert.is_false(t:has "job") -- its logs do not bring it back
  end)
end)

describe("a machine", function()
  after_each(job.check_end)

  it("with too few descriptors is refused before a job exists", function()
    local t = new_case()
    for n = 8, 64 do
      t.job_dir = t:path("job" .. n)
      t.step_dir = t.job_dir .. "/score"
      local r = t:run_job(nil, { before = { "prlimit", "--nofile=" .. n .. ":" .. n }, limit = 30 })
      if r.status == 0 then
        assert.same(job.names(4), t:rows())
        return assert.is_true(n > 16)
      end
      t:expect(r, 3)
      expect_words(r, { "this process may open " .. n .. " files (ulimit -n)", "raise the limit" })
      assert.is_false(t:has(t.job_dir))
    end
    error "64 descriptors are too few"
  end)

  it("that lets the program start no thread is named with its limits, before there is a job", function()
    local t = new_case() -- no address space holds a stack of 200 TB
    local r = t:run_job(nil, { before = { "prlimit", "--stack=200000000000000", "--nproc=4000:4000" }, limit = 30 })
    t:expect(r, 3)
    expect_words(r, { "cannot start a thread: ", "; this user may have 4000 processes and threads (ulimit -u)" })
    assert.is_false(t:has(t.job_dir))
  end)

  it("with a small file size limit is refused before a job exists", function()
    local t = new_case()
    local r = t:run_job(nil, { before = { "prlimit", "--fsize=4096:4096" }, limit = 30 })
    t:expect(r, 3)
    expect_words(r, { "a file may have 4096 bytes at most here (ulimit -f)", "raise the limit" })
    assert.is_false(t:has(t.job_dir))
  end)

  it("without /proc is refused", function()
    local t = new_case()
    local before = in_own_mounts(t, "mount -t tmpfs tmpfs /proc")
    if not before then return pending "no right to mount" end
    local r = t:run_job(nil, { before = before })
    if not r.err:find "LeakSanitizer" then t:expect(r, 3) end -- which needs /proc itself, and fails
    expect_words(r, { "/proc is not mounted; mount it" })
    assert.is_false(t:has "job")
  end)

  it("without HOME and TERM still runs a job", function()
    local t = new_case()
    t:expect_job(0, { "--progress", "auto" }, { before = { "env", "-u", "HOME", "-u", "TERM", "-u", "PATH" } })
    assert.same(job.names(4), t:rows())
  end)

  it("with a read-only current directory gets advice", function()
    local t = new_case()
    lfs.mkdir(t:path "closed")
    local before = as_user(t)
    os.execute("chmod 500 " .. t:path "closed")
    local function map(env)
      return t:run({ "map", t:path "score.lua", t:path "in", "--progress", "none" },
                   { before = before, cwd = t:path "closed", env = env })
    end
    local r = map { "TIDEMILL_WORKSPACE=" }
    t:expect(r, 3)
    expect_words(r, { t:path "closed", "permission denied", "TIDEMILL_WORKSPACE" })
    r = map()
    t:expect(r, 0)
    assert.equal("0001.txt\n", r.out:match "0001.txt\n")
  end)
end)
