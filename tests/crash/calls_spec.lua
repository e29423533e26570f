-- A pipeline of three steps is killed at an exact system call of any of its processes, or such a
-- call fails. `disturb` (tests/programs) counts the calls on the job's files in the supervisor, the
-- keeper and the workers, also those of Lua, SQLite and libarchive. Then the job resumes: rows,
-- files and upload must be those of an undisturbed run. Every second killed job has a destination
-- for its output files.
--
-- TM_LONG: 500 kills and 800 errors, else a few. TM_SEED repeats a choice.
local chain = require "support.chain"
local folder = require "support.folder"
local job = require "support.job"
local programs = require "support.programs"
local sweep = require "support.sweep"

local DISTURB = assert(os.getenv "TM_DISTURB", "TM_DISTURB is not set: the path of disturb")
local LIMIT, NOT_HERE = 90, 125

-- Calls that change files, and calls that tell another process about it.
local KILLED_AT = { "openat", "write", "pwrite64", "fsync", "close", "rename", "ftruncate", "unlink",
                    "mkdir", "link", "sendmsg" }

local ERRORS = {
  openat = { "ENOSPC", "EACCES", "EMFILE", "ENOMEM", "EROFS", "EIO", "EDQUOT", "ENFILE" },
  read = { "EIO", "ESTALE" },
  write = { "ENOSPC", "EIO", "EDQUOT", "EFBIG" },
  pwrite64 = { "ENOSPC", "EIO", "EDQUOT", "EFBIG", "EINTR" },
  fsync = { "EIO", "ENOSPC", "EDQUOT" },
  ftruncate = { "EIO", "ENOSPC", "EROFS" },
  flock = { "ENOLCK", "EIO" },
  fcntl = { "ENOLCK", "EIO" },
  getdents64 = { "EIO", "ENOMEM" },
  stat = { "EIO", "EACCES", "ENOMEM", "ESTALE" },
  rename = { "ENOSPC", "EIO", "EACCES", "EROFS", "EDQUOT" },
  unlink = { "EACCES", "EIO", "EROFS", "EBUSY" },
  mkdir = { "ENOSPC", "EDQUOT", "EACCES", "EROFS", "EIO" },
  link = { "ENOSPC", "EDQUOT", "EROFS", "EIO" },
}

--- Options of run_job() that put `disturb` before the program.
local function disturbed(t, ...)
  local how = ...
  return { before = { DISTURB, how, t:path "report", t.dir, select(2, ...) }, limit = LIMIT }
end

--- How many calls of each class an undisturbed job makes; nil if tracing is not allowed.
local function count_calls()
  local t = chain.new { isolate = true }
  local r = t:run_job(nil, disturbed(t, "count"))
  if r.status == NOT_HERE then return nil, r.err end
  t:expect(r, 0)
  local counts = {}
  for name, n in t:read("report"):gmatch "count (%S+) (%d+)" do counts[name] = tonumber(n) end
  assert.is_true(counts.pwrite64 > 20 and counts.rename > 10 and counts.sendmsg > 10, t:read "report")
  return counts
end

--- Chooses a class that is called, and one of its calls.
local function any_call(counts, classes)
  local class
  repeat class = classes[math.random(#classes)] until counts[class]
  return class, tostring(math.random(counts[class]))
end

local function any_of(list) return list[math.random(#list)] end

--- Which process was hit: "first" (the supervisor) or "other"; nil if the call was not reached.
local function who_was_hit(t) return t:has "report" and t:read("report"):match "hit (%S+)" end

describe("a kill at an exact system call", function()
  after_each(job.check_end)

  it("costs no row, no file and no upload", function()
    local counts, why = count_calls()
    if not counts then return pending("needs the right to trace processes: " .. why) end
    job.check_end()
    local rounds, tried = sweep.LONG and 500 or 10, { first = 0, other = 0, again = 0 }
    for round = 1, rounds do
      local t, lost = chain.new { isolate = true, files = round % 2 == 0 and "elsewhere/files" or nil }, 0
      local function kill(how, more)
        local class, n = any_call(counts, KILLED_AT)
        local r = t:run_job(more, disturbed(t, how, class, n))
        local who = who_was_hit(t)
        t:wait_for_none()
        if who == "other" and not r.signal then lost = lost + 2 end -- parts that two workers held
        return r, who, ("%s %s %s"):format(how, class, n)
      end
      local r, who, what = kill(any_of { "kill", "kill-all" })
      assert.is_true(r.status == 0 or r.signal == programs.SIGKILL, ("%s: status %s\n%s"):format(what, r.status, r.err))
      if r.status == 0 then chain.expect_rows(t, what, { lost = lost }) end
      if who then tried[who] = tried[who] + 1 end
      if r.signal and round % 3 == 0 then
        local _, again, words = kill("kill", { "--resume" })
        tried.again, what = tried.again + (again and 1 or 0), what .. ", then " .. words
      end
      chain.expect_whole(t, what, { limit = LIMIT, lost = lost })
      chain.expect_tidy(t, what)
      job.check_end()
    end
    print(("# kills: %d runs; killed %d times at a call of the supervisor, %d of others, %d while resuming; TM_SEED=%d")
      :format(rounds, tried.first, tried.other, tried.again, sweep.SEED))
    assert.is_true(tried.first + tried.other > rounds / 2)
  end)

  it("of a keeper that removes the folders of workers leaves none of them", function()
    local counts, why = count_calls()
    if not counts then return pending("needs the right to trace processes: " .. why) end
    job.check_end()
    -- the last calls are the keeper's
    for n = counts.unlink - (sweep.LONG and 30 or 4), counts.unlink do
      local how = n % 2 == 0 and "kill" or "kill-all"
      local t, what = chain.new { isolate = true }, how .. " unlink " .. n
      t:run_job(nil, disturbed(t, how, "unlink", tostring(n)))
      t:wait_for_none()
      chain.expect_whole(t, what, { limit = LIMIT, lost = 2 })
      chain.expect_tidy(t, what)
      job.check_end()
    end
  end)
end)

describe("an error of a system call", function()
  after_each(job.check_end)

  it("is survived or ends the job with a reason; the resumed job is whole", function()
    local counts, why = count_calls()
    if not counts then return pending("needs the right to trace processes: " .. why) end
    job.check_end()
    local classes, rounds, tried = {}, sweep.LONG and 800 or 12, { hits = 0, [0] = 0, 0, 0, 0 }
    for class in pairs(ERRORS) do classes[#classes + 1] = class end
    table.sort(classes)
    for _ = 1, rounds do
      local how, class, n = any_of { "fail", "fail-on" }, any_call(counts, classes)
      local error_name = any_of(ERRORS[class])
      if error_name == "EINTR" then how = "fail" end -- the program repeats an interrupted call
      local t = chain.new { isolate = how == "fail" }
      local what = ("%s %s %s %s"):format(how, class, n, error_name)
      local r = t:run_job(nil, disturbed(t, how, class, n, error_name))
      if not tried[r.status] or (r.status ~= 0 and not r.err:find "%S") or r.err:find "fault:" then
        error(("%s: status %s, signal %s\n%s"):format(what, r.status, r.signal, r.err))
      end
      tried.hits = tried.hits + (who_was_hit(t) and 1 or 0)
      tried[r.status] = tried[r.status] + 1
      local o = { limit = LIMIT, lost = how == "fail" and 1 or 0 }
      if r.status == 0 then chain.expect_rows(t, what, o) end
      t:wait_for_none()
      chain.expect_whole(t, what, o)
      -- The failed call may be the one that removes a worker's folder.
      for _, path in ipairs(t:temp_dirs()) do folder.remove_tree(path) end
      job.check_end()
    end
    print(("# errors: %d runs, %d with an error; exit status 0: %d, 1: %d, 2: %d, 3: %d; TM_SEED=%d"):format(rounds,
      tried.hits, tried[0], tried[1], tried[2], tried[3], sweep.SEED))
    assert.is_true(tried.hits > rounds / 2)
  end)
end)
