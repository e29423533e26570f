-- A file system without locks, as some network file systems are: the file `owner` guards the job's
-- directory.
local job = require "support.job"
local programs = require "support.programs"
local waiting = require "support.waiting"

local FAULTS = assert(os.getenv "TIDEMILL_FAULTS", "TIDEMILL_FAULTS is not set: the program over files that fail")
local NOTE = "cannot lock files"

local function count_of(text, words) return select(2, text:gsub(words, "")) end

local function waiting_case() return waiting.case(FAULTS, "TM_FAULTS=locks:ENOLCK") end

--- As if the supervisor ran on another machine.
local function move_owner(t)
  local text, count = t:read("job/owner"):gsub('("host": ?)"[^"]*"', '%1"elsewhere"')
  assert.equal(1, count)
  t:write("job/owner", text)
end

describe("without locks, a job", function()
  after_each(job.check_end)

  for _, code in ipairs { "ENOLCK", "ENOSYS", "EOPNOTSUPP" } do
    it("runs, and reports it once: " .. code, function()
      local t = job.case()
      t:inputs(20)
      t:script "function run(m) return names_of(m) end"
      t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
      local r = t:expect_job(0, nil, { program = FAULTS, env = { "TM_FAULTS=locks:" .. code } })
      assert.same(job.names(20), t:rows())
      assert.equal(1, count_of(r.err, NOTE), r.err)
      assert.is_nil(r.err:find "node.lock", r.err)
      local again = t:expect_job(0, { "--resume" }, { program = FAULTS, env = { "TM_FAULTS=locks:" .. code } })
      assert.is_truthy(again.err:find("is Completed: nothing is run", 1, true), again.err)
    end)
  end

  it("is not resumed on this machine while it runs", function()
    local t = waiting_case()
    local first = t.program
    local r = t:expect_job(3, { "--resume" }, t.options)
    job.expect_words(r, { "is in use by pid " .. first.pid .. " on host " })
    r = t:run({ "status", t.job_dir }, t.options)
    assert.is_truthy(r.out:find "^Running", r.out)
    r = t:run({ "clean", t.job_dir }, t.options)
    assert.is_not.equal(0, r.status)
    waiting.let_go(t)
    t:expect(t:finish(first, 60), 0)
    assert.same(job.names(12), t:rows())
  end)

  it("that was killed is resumed at once", function()
    local t = waiting_case()
    t.program:kill(programs.SIGKILL)
    t.program:wait()
    t:wait_for_none()
    waiting.let_go(t)
    t:expect_job(0, { "--resume" }, t.options)
    assert.same(job.names(12), t:rows())
  end)

  it("that is resumed on another machine stops, and no row appears twice", function()
    local t = waiting_case()
    local first = t.program
    move_owner(t)
    local before = t:read "job/owner"
    local second = t:start_job({ "--resume" }, t.options)
    programs.wait_until("the other session", function() return t:read "job/owner" ~= before end)
    programs.wait_until("its workers", function()
      assert(not second:has_ended(), "it has ended")
      return t:read(second.err_file:match "[^/]+$"):find(NOTE, 1, true) ~= nil
    end)
    waiting.let_go(t)
    local stopped = t:finish(first, 60)
    t:expect(stopped, 3)
    job.expect_words(stopped, { "names another owner: the job has been taken over, and this one stops" })
    t:expect(t:finish(second, 60), 0)
    assert.same(job.names(12), t:rows())
    t:expect(t:run({ "verify", t.job_dir }, t.options), 0)
  end)
end)
