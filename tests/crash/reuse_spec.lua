-- Kills a job that reuses earlier results at its file calls in turn. After a resume it has the
-- whole result, and the earlier job is unchanged. The same for a job whose result is being stored.
local job = require "support.job"
local programs = require "support.programs"
local sweep = require "support.sweep"

local ITEMS, LIMIT = 6, sweep.LIMIT

local function new_case()
  local t = job.case()
  t:inputs(ITEMS)
  t:script [[function run(m, context)
    for _, name in ipairs(names_of(m)) do
      local file = assert(io.open(context:output_file("files/" .. name), "w"))
      file:write(name)
      file:close()
    end
    return names_of(m)
  end]]
  t:pipeline "mini_batch_size = 2, process_count_per_node = 1, sync_interval = 0.01"
  t:write("workspace/.keep", "")
  return t
end

local faults, some_of = sweep.faults, sweep.some_of

local function count_changes(prepare)
  local t = new_case()
  prepare(t)
  return select(2, sweep.count(t, { "--resume" }))
end

local function expect_whole(t, what)
  local r = t:run_job({ "--resume" }, { limit = LIMIT })
  if r.status ~= 0 then error(("%s, resumed: status %s\n%s"):format(what, r.status, r.err), 2) end
  assert.same(job.names(ITEMS), t:rows(), what)
  for _, name in ipairs(job.names(ITEMS)) do assert.equal(name, t:read("job/score/output/files/" .. name), what) end
  assert.is_false(t:has "job/score.reuse", what)
  t:expect(t:run { "verify", t.job_dir }, 0)
  t:wait_for_none()
  return r
end

describe("a job that reuses another's result", function()
  after_each(job.check_end)

  local function earlier(t) t:expect(t:run { "run", "pipeline.lua", "--job-dir", "old", "--progress", "none" }, 0) end

  it("may be killed at any call that changes a file", function()
    local changes = count_changes(earlier)
    assert.is_true(changes > 8, changes)
    local hits, reused, taken = 0, 0, some_of(changes, changes) -- all of them
    for _, n in ipairs(taken) do
      local t = new_case()
      earlier(t)
      local r = t:run_job(nil, faults("kill@" .. n))
      assert.is_true(r.signal == programs.SIGKILL or r.status == 0, "kill@" .. n .. ": " .. r.err)
      hits = hits + (r.signal and 1 or 0)
      r = expect_whole(t, "kill@" .. n)
      reused = reused + (r.result.steps[1] and r.result.steps[1].reused and 1 or 0)
      t:expect(t:run { "verify", t:path "old" }, 0)
      job.check_end()
    end
    assert.is_true(hits > #taken / 2, hits .. " of " .. #taken .. " were killed")
    assert.is_true(reused > #taken / 2, reused .. " of " .. #taken .. " were reused")
  end)

  it("runs if the earlier result cannot be read", function()
    local changes = count_changes(earlier)
    for _, n in ipairs(some_of(changes, changes / 4)) do
      local t = new_case()
      earlier(t)
      t:run_job(nil, faults(("fail@%d:EIO"):format(n)))
      expect_whole(t, ("fail@%d:EIO"):format(n))
      job.check_end()
    end
  end)
end)

describe("a job whose result is kept", function()
  after_each(job.check_end)

  it("may be killed meanwhile, and then is reused or not", function()
    local changes = count_changes(function() end)
    for _, n in ipairs(some_of(changes, changes / 8)) do
      local t = new_case()
      t:run_job(nil, faults("kill@" .. n))
      expect_whole(t, "kill@" .. n)
      local r = t:run { "run", "pipeline.lua", "--job-dir", "new", "--progress", "none", "--json" }
      t:expect(r, 0)
      assert.same(job.names(ITEMS), t:sorted_lines "new/score/output/parallel_run_step.txt")
      job.check_end()
    end
  end)
end)
