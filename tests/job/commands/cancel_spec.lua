-- tidemill cancel JOB: the process that runs the job ends it as after Ctrl-C, whichever process
-- that is.
local ffi = require "ffi"
local job = require "support.job"
local json = require "dkjson"
local programs = require "support.programs"
local waiting = require "support.waiting"

ffi.cdef "int mkfifo(const char *path, unsigned mode); unsigned geteuid(void);"

local WAIT_FOR_GO, here = waiting.SCRIPT, waiting.here

--- A job whose second mini-batch waits for the file here-go.
local function new_case(o)
  local t = job.case(o)
  t:inputs(4)
  t:script(WAIT_FOR_GO .. [[function run(m)
    if number_of(m[1]) == 2 then mark "begun" wait_for "go" end
    return names_of(m)
  end]])
  t:pipeline "mini_batch_size = 1, process_count_per_node = 1"
  return t
end

local function start_case(more)
  local t = new_case()
  if more then t:pipeline("mini_batch_size = 1, process_count_per_node = 1, " .. more) end
  local p = t:start_job(nil, here(t))
  t:wait_for "here-begun"
  return t, p
end

local function expect_words(text, ...) job.expect_words(text, { ... }) end

local function expect_cancel(t, status, words, ...)
  local r = t:run({ "cancel", unpack(words) })
  t:expect(r, status)
  expect_words(r.out .. r.err, ...)
  return r
end

local function owner_of(t) return json.decode(t:read "job/owner") end

local function request(epoch)
  return json.encode { epoch = epoch, now = false, user = "ada", host = "mill", pid = 4711 }
end

--- Expects that nothing was handed out after the line that says "canceling". A worker may have got
--- some mini-batches ahead of time, and may begin them before they are taken back.
local function expect_none_handed_later(t, succeeded)
  local canceled = t:log("70_driver_log.txt"):match "([^\n|]+)|[^\n]*canceling, as user "
  local count = 0
  for at in t:log("sys/master_role.txt"):gmatch "([^\n|]+)|[^\n]*: handed to process000" do
    count = count + 1
    assert.is_true(at <= canceled, at .. " is after " .. canceled)
  end
  assert.is_true(succeeded >= 2 and succeeded <= count, succeeded .. " of " .. count)
end

describe("tidemill cancel", function()
  after_each(job.check_end)

  it("lets running mini-batches end, waits for the end of the job, and names the command that resumes it", function()
    local t, p = start_case "logging_level = 'DEBUG'"
    local c = t:start { "cancel", t.job_dir }
    t:wait_for("job/score/logs/70_driver_log.txt", "canceling, as user %S+ on host %S+ %(pid %d+%) asked: "
      .. "no more mini%-batches are handed out, running ones may end")
    t:write("here-go", "")
    local r = t:finish(p, 60)
    t:expect(r, 130)
    assert.equal("Canceled", r.result.status)
    local asked = r.result.canceled_by
    assert.equal(c.pid, asked.pid)
    assert.is_false(asked.now)
    expect_none_handed_later(t, r.result.steps[1].mini_batches.succeeded)
    expect_words(r.err, "canceling, as user ", "to go on: tidemill resume " .. t.job_dir)
    r = t:finish(c, 60)
    t:expect(r, 0)
    assert.equal(("Canceled: %s\nto go on: tidemill resume %s\n"):format(t.job_dir, t.job_dir), r.out)
    expect_words(r.err, "is asked to cancel job '" .. t.job_dir .. "'; waiting for its end")
    assert.is_false(t:has "job/cancel" or t:has "job/cancel.taken")
    -- afterwards, too
    local by = ("user %s on host %s (pid %d)"):format(asked.user, asked.host, asked.pid)
    expect_words(t:run({ "status", t.job_dir }).out, "cancel:  requested by " .. by .. "\n")
    assert.equal(by, json.decode(t:run({ "report", t.job_dir, "--json" }).out).job.cancel_asked_by)
    t:expect(t:run({ "resume", t.job_dir, "--progress", "none" }, here(t)), 0)
    assert.same(job.names(4), t:rows())
  end)

  it("kills running mini-batches with --now, even after a first request", function()
    local t, p = start_case()
    expect_cancel(t, 0, { t.job_dir, "--no-wait" }, "is asked to cancel", "tidemill status")
    programs.wait_until("the request to be taken", function() return t:has "job/cancel.taken" end)
    assert.match("\ncancel:  requested by user %S+ on host %S+ %(pid %d+%); the job is ending\n",
      t:run({ "status", t.job_dir }).out)
    assert.is_true(json.decode(t:run({ "status", t.job_dir, "--json" }).out).cancel.taken)
    expect_cancel(t, 0, { t.job_dir, "--now" }, "Canceled: " .. t.job_dir)
    local r = t:finish(p, 60)
    t:expect(r, 130)
    assert.equal(1, r.result.steps[1].mini_batches.succeeded)
    expect_words(t:log "70_driver_log.txt", "asked: running mini-batches are killed")
    assert.match("\n1,1,process000,[^,]+,1,0,0,[%d.]+,[%d.]+,[%d.]+,CANCELED,canceled,"
      .. "killed by the supervisor in run%(%)", t:log "sys/job_report/processed_mini-batches.csv")
    expect_words(t:run({ "report", t.job_dir, "--joblog", "-" }).out, "Seq\t", "\n1\t")
    assert.is_nil(t:run({ "report", t.job_dir, "--joblog", "-" }).out:find "\n2\t")
  end)

  it("says that a stopped process must be continued, as status and jobs do", function()
    local t, p = start_case()
    local function expect_stopped()
      local r = t:run { "status", t.job_dir }
      expect_words(r.out, "Running: ", "\nstopped: by Ctrl-Z or SIGSTOP; to continue it: fg in its terminal, or "
        .. "kill -CONT " .. p.pid .. "\n")
      assert.is_true(json.decode(t:run({ "status", t.job_dir, "--json" }).out).stopped)
    end
    programs.kill(p.pid, programs.SIGSTOP)
    programs.wait_until("the supervisor to be stopped", function()
      return t:run({ "status", t.job_dir }).out:find "\nstopped: "
    end)
    expect_stopped()
    local words = ("pid %d on host"):format(p.pid)
    expect_cancel(t, 0, { t.job_dir, "--no-wait" }, words, "is stopped (Ctrl-Z or SIGSTOP)", "kill -CONT " .. p.pid)
    programs.kill(p.pid, programs.SIGCONT)
    programs.wait_until("the request to be taken", function() return t:has "job/cancel.taken" end)
    t:write("here-go", "")
    t:expect(t:finish(p, 60), 130)
    assert.is_falsy(t:run({ "status", t.job_dir }).out:find "stopped: ")
  end)

  it("suggests a command for a job that is not running", function()
    local t, p = start_case()
    programs.kill(p.pid, programs.SIGKILL)
    t:finish(p, 60)
    t:wait_for_none()
    local resume = "\nto go on: tidemill resume " .. t.job_dir
    expect_cancel(t, 1, { t.job_dir }, "nobody runs job '" .. t.job_dir .. "', there is nothing to cancel: pid "
      .. owner_of(t).pid .. " died, or was killed" .. resume)
    assert.is_false(t:has "job/cancel")
    local owner = owner_of(t)
    owner.host = "elsewhere"
    t:write("job/owner", json.encode(owner))
    expect_cancel(t, 1, { t.job_dir }, "ran it last, and no process on this host does",
      "run this command on that host")
    t:write("here-go", "")
    t:expect(t:run({ "resume", t.job_dir, "--progress", "none" }, here(t)), 0)
    expect_cancel(t, 1, { t.job_dir }, "is Completed, there is nothing to cancel", "tidemill clean " .. t.job_dir)
  end)

  it("says that a job is already Canceled or Failed", function()
    local t, p = start_case()
    expect_cancel(t, 0, { t.job_dir, "--now" }, "Canceled: ")
    t:expect(t:finish(p, 60), 130)
    expect_cancel(t, 1, { t.job_dir }, "is Canceled already, there is nothing to cancel\nto go on: ")
    t = job.case()
    t:inputs(1)
    t:script "function run() error 'bad' end"
    t:pipeline "mini_batch_size = 1, error_threshold = 0, run_max_try = 1"
    t:expect_job(1)
    expect_cancel(t, 1, { t.job_dir }, "is Failed already, there is nothing to cancel\nto go on: ")
  end)

  it("requires the name of a job, and refuses other folders", function()
    local t = job.case()
    expect_cancel(t, 2, {}, "which job?", "usage: tidemill cancel JOB")
    expect_cancel(t, 2, { "none" }, "none")
    expect_cancel(t, 2, { "none", "more" }, "'more' is one too many")
    expect_cancel(t, 2, { t.dir }, t.dir)
  end)

  it("finds a job by its name, and the newest as latest", function()
    local t = new_case()
    local p = t:start({ "run", "pipeline.lua", "--progress", "none" }, here(t))
    t:wait_for "here-begun"
    expect_cancel(t, 0, { "latest", "--now" }, "Canceled: " .. t:path "workspace/jobs/case-")
    t:expect(t:finish(p, 60), 130)
  end)

  it("does not affect a later session of the job", function()
    local t, p = start_case()
    local epoch = owner_of(t).epoch
    programs.kill(p.pid, programs.SIGKILL)
    t:finish(p, 60)
    t:wait_for_none()
    t:write("job/cancel", request(epoch))
    os.remove(t:path "here-begun")
    p = t:start({ "resume", t.job_dir, "--progress", "none" }, here(t))
    t:wait_for "here-begun"
    assert.is_false(t:has "job/cancel")
    t:write("job/cancel", request(epoch)) -- a request that came too late
    programs.wait_until("the request to be looked at", function() return not t:has "job/cancel" end)
    t:write("here-go", "")
    local r = t:finish(p, 60)
    t:expect(r, 0)
    assert.is_falsy(r.err:find "cancel")
    assert.same(job.names(4), t:rows())
  end)

  it("reports and ignores requests of other users and malformed ones", function()
    local t, p = start_case()
    local function expect_ignored(words)
      t:wait_for("job/score/logs/70_driver_log.txt", "WARNING|%d+|supervisor|a request to cancel the job is ignored "
        .. "[^\n]*" .. words)
    end
    assert.equal(0, ffi.C.mkfifo(t:path "job/cancel", 384))
    expect_ignored "it is not a regular file"
    t:write("job/cancel.new", (request(owner_of(t).epoch):gsub("mill", "\\u001b[2J")))
    assert(os.rename(t:path "job/cancel.new", t:path "job/cancel"))
    expect_ignored "its text is not a request"
    if ffi.C.geteuid() == 0 then
      t:write("job/cancel.new", request(owner_of(t).epoch))
      assert(os.execute("chown 12345 " .. t:path "job/cancel.new") == 0)
      assert(os.rename(t:path "job/cancel.new", t:path "job/cancel"))
      expect_ignored "it belongs to uid 12345"
    end
    t:write("here-go", "")
    t:expect(t:finish(p, 60), 0)
  end)

  it("refuses a user who can write to the directory but does not own the job", function()
    if ffi.C.geteuid() ~= 0 then return end -- the case needs two users
    local t = new_case { for_others = true }
    local p = t:start_job(nil, here(t))
    t:wait_for "here-begun"
    assert(os.execute(("chmod -R a+rwX %s"):format(t.dir)) == 0)
    local r = t:run({ "cancel", t.job_dir },
      { before = { "setpriv", "--reuid=12345", "--regid=12345", "--clear-groups" } })
    t:expect(r, 2)
    expect_words(r.err, "refuses the request: only the user who runs the job, or root, can cancel it")
    t:write("here-go", "")
    t:expect(t:finish(p, 60), 0)
  end)

  it("reaches a map job, and a job that a Lua script waits for", function()
    local t = new_case()
    local p = t:start({ "map", "score.lua", "in", "-N", "1", "-j", "1", "--job-dir", t.job_dir }, here(t))
    t:wait_for "here-begun"
    expect_cancel(t, 0, { t.job_dir, "--now" }, "Canceled: " .. t.job_dir)
    t:expect(t:finish(p, 60), 130)

    t = new_case()
    t:write("s.lua", [[
      local job = require "tidemill".load "pipeline.lua":submit { job_dir = "job" }
      print(job:wait())
      io.stdout:flush()
      local mark = io.open(os.getenv "HERE" .. "over", "w")
      mark:close()
      while not io.open(os.getenv "HERE" .. "seen") do os.execute "true" end]])
    p = t:start({ "s.lua" }, here(t))
    t:wait_for "here-begun"
    expect_cancel(t, 0, { t.job_dir, "--now" }, "Canceled: " .. t.job_dir)
    t:wait_for "here-over" -- the script still holds the job, which has ended
    expect_cancel(t, 1, { t.job_dir }, "is Canceled already")
    t:write("here-seen", "")
    local r = t:finish(p, 60)
    t:expect(r, 0)
    assert.equal("Canceled\n", r.out)
  end)

  it("stops the input check of a Completed job, which stays Completed", function()
    local t = job.case()
    t:write("list", t:path "in/0001.txt" .. "\n")
    t:inputs(1)
    t:script "function run(m) return names_of(m) end"
    t:pipeline "mini_batch_size = 1"
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub('from_files%("in/%*"%)', 'from_manifest("list")')))
    t:expect_job(0)
    os.remove(t:path "list")
    assert.equal(0, ffi.C.mkfifo(t:path "list", 384)) -- nobody writes to it
    local p = t:start_job { "--resume", "--verify-input" }
    -- Before the supervisor holds the job, the answer is "is Completed already".
    programs.wait_until("the supervisor", function()
      local r = t:run { "cancel", t.job_dir }
      return r.status == 1 and (r.out .. r.err):find("Completed: " .. t.job_dir, 1, true)
    end)
    t:expect(t:finish(p, 60), 130)
    assert.equal("Completed", t:result().status)
  end)
end)
