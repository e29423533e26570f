-- What the workspace knows about its jobs, also about jobs elsewhere and removed ones.
local folder = require "support.folder"
local job = require "support.job"
local json = require "dkjson"

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text)) end

local function case()
  local t = job.case()
  t:inputs(3)
  t:script [[function run(m)
    if os.getenv "TIDEMILL_TEST_FAILS" then error "bad" end
    return names_of(m)
  end]]
  t:pipeline "mini_batch_size = 1, run_max_try = 1, error_threshold = 0"
  return t
end

local function run(t, status, more, o)
  local words = { "run", "pipeline.lua", "--progress", "none", "--json" }
  for _, word in ipairs(more or {}) do words[#words + 1] = word end
  local r = t:run(words, o)
  t:expect(r, status)
  return r.result.job_dir
end

local function listed(t, ...)
  local r = t:run { "jobs", "--json", ... }
  t:expect(r, 0)
  local found = {}
  for line in r.out:gmatch "[^\n]+" do found[#found + 1] = json.decode(line) end
  return found
end

describe("tidemill jobs", function()
  after_each(job.check_end)

  it("lists every job of the workspace, newest first, with its result", function()
    local t = case()
    local dirs = {
      run(t, 1, nil, { env = { "TIDEMILL_TEST_FAILS=1" } }),
      run(t, 0),
      run(t, 0, { "--job-dir", t:path "elsewhere" }),
      run(t, 0),
    }
    local jobs = listed(t)
    assert.equal(4, #jobs)
    for i, status in ipairs { "Completed", "Completed", "Completed", "Failed" } do
      assert.equal(dirs[5 - i], jobs[i].job_dir)
      assert.equal(status, jobs[i].status)
    end
    assert.is_string(jobs[1].steps[1].reused_from)
    local text = t:run({ "jobs" }).out
    has(text, t:path "elsewhere")
    has(text, "3 of 3 mini-batches, 1 of 1 step reused")
  end)

  it("lists removed jobs on request", function()
    local t = case()
    local first = run(t, 0)
    local second = run(t, 0, { "--no-reuse" })
    local failed = run(t, 1, { "--no-reuse" }, { env = { "TIDEMILL_TEST_FAILS=1" } })
    folder.remove_tree(first)
    folder.remove_tree(failed)
    assert.equal(1, #listed(t))
    local jobs = listed(t, "--all")
    assert.equal(failed, table.remove(jobs, 1).job_dir)
    assert.equal(2, #jobs)
    assert.equal(second, jobs[1].job_dir)
    assert.equal(first, jobs[2].job_dir)
    assert.is_true(jobs[2].removed)
    assert.equal("Completed", jobs[2].status)
    assert.same({ total = 3, succeeded = 3, failed = 0 }, jobs[2].mini_batches)
    assert.is_string(jobs[2].ended)
    has(t:run({ "jobs", "--all" }).out, "3 of 3 mini-batches, removed")
    assert.same({ total = 3, succeeded = 3, failed = 0 }, jobs[2].items)
    -- its report counts what was done, which is not what has not failed
    local r = t:run { "report", failed, "--json" }
    t:expect(r, 0)
    local counts = json.decode(r.out).job.counts
    assert.equal(0, counts.items_succeeded)
    assert.is_true(counts.items_failed > 0 and counts.items_total == 3)
    has(t:run({ "report", failed, "-o", "-" }).out, "No item was done.")
  end)

  it("lists map jobs, wherever their directories are, and reuses none of them", function()
    local t = case()
    local first
    for _, more in ipairs { {}, { "--job-dir", "elsewhere" } } do
      local r = t:run { "map", "score.lua", "in", "--progress", "none", "--json", "--output", "out", "--overwrite",
                        unpack(more) }
      t:expect(r, 0)
      assert.is_nil(r.result.steps[1].reused_from)
      first = first or r.result.job_dir
    end
    local jobs = listed(t)
    assert.equal(2, #jobs)
    assert.equal(t:path "elsewhere", jobs[1].job_dir)
    assert.equal("Completed", jobs[1].status)
    folder.remove_tree(first)
    jobs = listed(t, "--all")
    assert.equal(2, #jobs)
    assert.equal(first, jobs[2].job_dir)
    assert.is_true(jobs[2].removed)
    assert.same({ total = 1, succeeded = 1, failed = 0 }, jobs[2].mini_batches)
  end)

  it("lists the jobs in the folder when the database is damaged", function()
    local t = case()
    local dir = run(t, 0)
    t:write("workspace/workspace.db", ("no database "):rep(1000))
    local r = t:run { "jobs", "--json" }
    t:expect(r, 0)
    assert.equal(dir, json.decode(r.out).job_dir)
    has(r.err, "jobs elsewhere and those removed are not listed: the database '")
    r = t:run { "run", "pipeline.lua", "--progress", "none" }
    t:expect(r, 0)
    has(r.err, "the job is not in the history of its workspace: the database '")
  end)
end)
