-- tidemill clean: what it removes, and what it always keeps.
local job = require "support.job"
local lfs = require "lfs"

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text)) end

--- A case with jobs in its workspace: one Completed, one Failed.
local function case()
  local t = job.case()
  t:inputs(2)
  t:script [[function run(m) if os.getenv "BAD" then error "no" end return names_of(m) end]]
  t:pipeline("process_count_per_node = 1, error_threshold = 0")
  local words = { "run", "pipeline.lua", "--progress", "none", "--json" }
  words[#words + 1] = "--no-reuse"
  local completed, failed = t:run(words), t:run(words, { env = { "BAD=1" } })
  t:expect(completed, 0)
  t:expect(failed, 1)
  return t, completed.result.job_dir, failed.result.job_dir
end

local function clean(t, ...) return t:run { "clean", ... } end

local function jobs_of(t)
  local names = {}
  for name in lfs.dir(t:path "workspace/jobs") do
    if name ~= "." and name ~= ".." then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

describe("clean", function()
  after_each(job.check_end)

  it("removes script copies that no job uses", function()
    local t, completed, failed = case()
    local function kept()
      local n = 0
      for name in lfs.dir(t:path "workspace/snapshots") do n = n + (name:find "%.tar%.zst$" and 1 or 0) end
      return n
    end
    t:script [[function run(m) return names_of(m) end -- another one]]
    local other = t:run { "run", "pipeline.lua", "--progress", "none", "--json", "--job-dir", "elsewhere" }
    t:expect(other, 0)
    assert.equal(2, kept())
    -- each copy belongs to a job, one of them outside the workspace
    has(clean(t, "--status", "Canceled").err, "nothing to remove")
    local r = clean(t, "--all", "--dry-run")
    has(r.out, "/snapshots  1 copy of a script that no job runs any more")
    assert.equal(2, kept())
    t:expect(clean(t, "--all", "--yes"), 0)
    assert.equal(1, kept())
    assert.is_false(lfs.attributes(completed) ~= nil or lfs.attributes(failed) ~= nil)
    assert.is_true(t:has "elsewhere/job.json")
    t:write("elsewhere/job.json", "{")
    r = clean(t, "--all", "--yes")
    has(r.err, "copies of scripts are left as they are")
    assert.equal(1, kept())
  end)

  it("removes jobs that are not Completed, after confirmation", function()
    local t, completed, failed = case()
    local r = clean(t)
    t:expect(r, 2)
    has(r.err, failed)
    has(r.err, "--yes")
    r = clean(t, "--dry-run")
    t:expect(r, 0)
    has(r.out, failed)
    assert.is_nil(r.out:find(completed, 1, true))
    assert.equal(2, #jobs_of(t))
    r = clean(t, "--yes", "--json")
    t:expect(r, 0)
    assert.equal(failed, r.result.job_dir)
    assert.is_true(r.result.removed)
    assert.same({ completed:match "[^/]+$" }, jobs_of(t))
    has(clean(t, "--yes").err, "there is nothing to remove")
  end)

  it("removes jobs by status, by age, by name, and all", function()
    local t, completed, failed = case()
    t:expect(clean(t, "--yes", "--older-than", "1h"), 0)
    t:expect(clean(t, "--yes", "--status", "Canceled"), 0)
    assert.equal(2, #jobs_of(t))
    t:expect(clean(t, "--yes", "--status", "Completed", "--older-than", "0s"), 0)
    assert.same({ failed:match "[^/]+$" }, jobs_of(t))
    t:expect(clean(t, "--yes", failed:match "[^/]+$"), 0)
    assert.same({}, jobs_of(t))
    assert.is_false(t:has(completed))
    local r = t:run_job()
    t:expect(r, 0)
    t:expect(clean(t, "--yes", t.job_dir), 0)
    assert.is_false(t:has "job")
  end)

  it("removes a link to a job, and nothing behind the link", function()
    local t, completed = case()
    assert(os.rename(completed, t:path "elsewhere"))
    assert(lfs.link(t:path "elsewhere", completed, true))
    assert(lfs.link(t:path "in", t:path "elsewhere/score/to-inputs", true))
    t:expect(clean(t, "--all", "--yes"), 0)
    assert.same({}, jobs_of(t))
    assert.truthy(lfs.attributes(t:path "elsewhere/job.json"))
    assert.truthy(lfs.attributes(t:path "elsewhere/job_result.json"))
    t:expect(clean(t, "--yes", t:path "elsewhere"), 0)
    assert.is_nil(lfs.attributes(t:path "elsewhere"))
    assert.truthy(lfs.attributes(t:path "in"))
  end)

  it("refuses wrong arguments with a reason", function()
    local t = case()
    for words, part in pairs {
      ["--older-than soon"] = "is not an age",
      ["--status Complete"] = "did you mean 'Completed'?",
      ["--all --status Failed"] = "exclude each other",
      ["--all latest"] = "names a job",
      ["no-such-job"] = "there is no job 'no-such-job'",
    } do
      local list = { "clean", "--yes" }
      for word in words:gmatch "%S+" do list[#list + 1] = word end
      local r = t:run(list)
      t:expect(r, 2)
      has(r.err, part)
    end
    assert.equal(2, #jobs_of(t))
  end)

  it("keeps a running job", function()
    local t = job.case()
    t:inputs(1)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      function run(m)
        io.open(os.getenv "GO" .. ".begun", "w"):close()
        while not io.open(os.getenv "GO") do ffi.C.poll(nil, 0, 5) end
        return names_of(m)
      end]]
    t:pipeline "process_count_per_node = 1"
    local p = t:start({ "run", "pipeline.lua", "--progress", "none", "--json" }, { env = { "GO=" .. t:path "go" } })
    t:wait_for "go.begun"
    local name = jobs_of(t)[1]
    local r = clean(t, "--all", "--yes")
    t:expect(r, 0)
    has(r.err, name .. "' stays: it is running")
    t:expect(clean(t, name, "--yes"), 2)
    t:write("go", "")
    t:expect(t:finish(p, 60), 0)
    assert.equal(1, #jobs_of(t))
  end)

  it("keeps a job whose output is a registered dataset", function()
    local t, completed = case()
    local name = completed:match "[^/]+$"
    t:expect(t:run { "dataset", "register", "rows", completed .. "/score/output" }, 0)
    local r = clean(t, "--all", "--yes")
    t:expect(r, 0)
    has(r.err, "stays: its output is the registered dataset 'rows'")
    assert.same({ name }, jobs_of(t))
    t:expect(clean(t, name, "--yes"), 2)
    t:expect(t:run { "dataset", "unregister", "rows" }, 0)
    t:expect(clean(t, name, "--yes"), 0)
    assert.same({}, jobs_of(t))
  end)

  it("finishes the removal that a killed clean began", function()
    local t, completed, failed = case()
    for _, dir in ipairs { completed, failed } do
      local leftover = dir .. ".removed-abcd"
      assert(os.rename(dir, leftover))
      if dir == failed then assert(os.remove(leftover .. "/job.json")) end
    end
    assert.is_nil(t:run({ "jobs" }).out:find("removed-", 1, true))
    local r = clean(t, "--status", "Canceled", "--dry-run")
    has(r.out, completed .. ".removed-abcd  left by a removal that was interrupted")
    has(r.out, failed .. ".removed-abcd")
    assert.equal(2, #jobs_of(t))
    t:expect(clean(t, "--status", "Canceled", "--yes"), 0)
    assert.same({}, jobs_of(t))
  end)

  it("removes a job that was killed before it had a record", function()
    local t = case()
    for _, dir in ipairs { "workspace/jobs/begun-20260101-000000-aaaa", "elsewhere" } do
      assert(lfs.mkdir(t:path(dir)))
      t:write(dir .. "/lock", "")
      t:write(dir .. "/owner", "{}")
    end
    assert.equal(3, #jobs_of(t))
    t:expect(clean(t, "--all", "--yes"), 0)
    assert.same({}, jobs_of(t))
    t:expect(clean(t, "--yes", "elsewhere"), 0)
    assert.is_false(t:has "elsewhere")
  end)

  it("keeps a folder that holds files from elsewhere", function()
    local t, completed = case()
    lfs.mkdir(t:path "photos")
    t:write("photos/one.jpg", "x")
    t:write("photos/job.json", '{"version":1,"steps":[]}')
    local r = clean(t, "--yes", "photos")
    t:expect(r, 2)
    has(r.err, "photos' stays: its job.json is not the record of a job")
    local file = assert(io.open(completed .. "/notes.txt", "w"))
    file:close()
    r = clean(t, "--yes", "--all")
    t:expect(r, 0)
    has(r.err, "stays: it holds 'notes.txt', which no job has made")
    assert.same({ completed:match "[^/]+$" }, jobs_of(t))
    assert(os.remove(completed .. "/notes.txt"))
    t:expect(clean(t, "--yes", "--all"), 0)
    assert.same({}, jobs_of(t))
    assert.is_true(t:has "photos/one.jpg")
  end)
end)
