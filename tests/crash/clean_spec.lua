-- Kills tidemill clean at each of its calls that change a file; the next clean finishes the
-- removal.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local sweep = require "support.sweep"

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text)) end

local function names_in(folder)
  local names = {}
  for name in lfs.dir(folder) do
    if name ~= "." and name ~= ".." then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

--- A case with a job in its workspace, and one elsewhere that the workspace's history knows.
local function new_case()
  local t = job.case()
  t:inputs(1)
  t:script "function run(m) return names_of(m) end"
  t:pipeline "process_count_per_node = 1"
  for _, more in ipairs { {}, { "--job-dir", "elsewhere" } } do
    t:expect(t:run { "run", "pipeline.lua", "--progress", "none", unpack(more) }, 0)
  end
  return t
end

--- Kills `clean` with these arguments at each call in turn; after each kill, `finish(t, n)` checks.
local function kill_each(words, finish)
  local n = 0
  while true do
    n = n + 1
    local t = new_case()
    local r = t:run(words, sweep.faults("kill@" .. n))
    assert.is_true(r.signal == programs.SIGKILL or r.status == 0, "kill@" .. n .. ": " .. r.err)
    finish(t, "kill@" .. n)
    job.check_end()
    if not r.signal then return n end
  end
end

describe("clean", function()
  after_each(job.check_end)

  it("may be killed at any call, in the workspace", function()
    local n = kill_each({ "clean", "--all", "--yes" }, function(t, what)
      t:expect(t:run { "jobs" }, 0)
      t:expect(t:run { "clean", "--all", "--yes" }, 0)
      assert.same({}, names_in(t:path "workspace/jobs"), what)
      assert.is_true(t:has "elsewhere/job.json")
    end)
    assert.is_true(n > 10)
  end)

  it("may be killed at any call, for a job elsewhere that is given again", function()
    kill_each({ "clean", "--yes", "elsewhere" }, function(t, what)
      local was_gone = not t:has "elsewhere"
      local r = t:run { "clean", "--yes", "elsewhere" }
      if not (was_gone and r.status == 2) then t:expect(r, 0) end -- 2: nothing was left of it
      for _, name in ipairs(names_in(t:path ".")) do assert.is_nil(name:match "^elsewhere", what) end
    end)
  end)

  it("may be killed at any call, for a job elsewhere that is in the history", function()
    kill_each({ "clean", "--yes", "elsewhere" }, function(t, what)
      local names = names_in(t:path ".")
      local r = t:run { "clean", "--status", "Failed", "--yes" }
      t:expect(r, 0)
      for _, name in ipairs(names) do
        if name:match "^elsewhere%.removed%-%l%l%l%l$" then
          has(r.out, name .. "  left by a removal that was interrupted")
          assert.is_false(t:has(name), what)
        end
      end
    end)
  end)
end)
