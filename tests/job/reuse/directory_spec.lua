-- Who may use a job directory, and what happens with a damaged one.
local folder = require "support.folder"
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"

local RECORD = 64 -- bytes of a journal record

local function new_case(config)
  local t = job.case()
  t:inputs(40)
  t:script "function run(m) return names_of(m) end"
  t:pipeline("mini_batch_size = 1, process_count_per_node = 1, " .. (config or ""))
  return t
end

local expect_patterns = job.expect_patterns

local function change_byte(t, name, at)
  local text = t:read(name)
  assert(at < #text, name .. " has only " .. #text .. " bytes")
  t:write(name, text:sub(1, at) .. string.char((text:byte(at + 1) + 1) % 256) .. text:sub(at + 2))
end

--- A job that failed at its threshold, with most of its mini-batches committed and synced.
local function failed_case()
  local t = new_case "run_max_try = 1, error_threshold = 0"
  t:script [[function run(m)
    if number_of(m[1]) == 38 and not os.getenv "GO" then error "not now" end
    return names_of(m)
  end]]
  t:expect_job(1)
  return t
end

--- A job whose supervisor was killed when all but the last mini-batch had been written and nothing
--- had been synced.
local function killed_case()
  local t = new_case "sync_interval = 3600"
  t:script [[
    local ffi = require "ffi"
    ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
    function run(m)
      local until_s = os.clock() + 0.001 -- long enough for the rows before it to be written
      repeat until os.clock() > until_s
      while number_of(m[1]) == 40 and not os.getenv "GO" do ffi.C.poll(nil, 0, 100) end
      return names_of(m)
    end]]
  local p = t:start_job()
  t:wait_for("job/score/output/parallel_run_step.txt.partial", "0039.txt\n")
  programs.wait_until("39 records", function() return #t:read "job/score/state/journal" >= 39 * RECORD end)
  p:kill(programs.SIGKILL)
  p:wait()
  t:wait_for_none()
  return t
end

local GO = { env = { "GO=1" } }

--- The contents of all files in the job's directory, by their names.
local function files_of(t, name, found)
  found = found or {}
  for entry in lfs.dir(t:path(name)) do
    local path = name .. "/" .. entry
    local mode = lfs.symlinkattributes(t:path(path), "mode")
    if mode == "directory" and entry ~= "." and entry ~= ".." then
      files_of(t, path, found)
    elseif mode == "file" then
      found[path] = t:read(path)
    end
  end
  return found
end

--- Resumes a failed job with damaged files: it is refused with these words, and stays as it is.
local function expect_refused(t, words)
  local before = files_of(t, "job")
  assert.is_truthy(before["job/job_result.json"])
  expect_patterns(t:expect_job(3, { "--resume", "--accept-changes" }, GO), words)
  assert.same(before, files_of(t, "job"))
  local r = t:run { "status", t.job_dir }
  assert.is_truthy(r.out:find("^Failed: .*\ncause: .+\nthe job cannot be resumed: "), r.out)
end

describe("a job directory", function()
  after_each(job.check_end)

  it("of another job is refused, with two commands that work", function()
    local t = new_case()
    t:expect_job(0)
    local before = t:read "job/job_result.json"
    expect_patterns(t:expect_job(2), { "%-%-resume", "%-%-job%-dir" })
    assert.equal(before, t:read "job/job_result.json")
  end)

  it("with other contents is refused, and left unchanged", function()
    local t = new_case()
    t:write("job/letter.txt", "keep me")
    expect_patterns(t:expect_job(2), { "not empty" })
    expect_patterns(t:expect_job(2, { "--resume" }), { "not empty" })
    assert.equal("keep me", t:read "job/letter.txt")
    assert.is_false(t:has "job/lock")
  end)

  it("that is a file is refused", function()
    local t = new_case()
    t:write("job", "a file")
    expect_patterns(t:expect_job(2), { "job' is not a directory, nor can it become one" })
    expect_patterns(t:expect_job(2, { "--resume" }), { "is not a directory" })
    assert.equal("a file", t:read "job")
  end)

  it("without a name is refused", function()
    local t = new_case()
    expect_patterns(t:run_job { "--job-dir", "" }, { "%-%-job%-dir' is empty; accepted: %-%-job%-dir DIR" })
  end)

  it("in use is refused, with the pid and host of its owner", function()
    local t = new_case()
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      function run(m)
        while not io.open(os.getenv "GO_FILE") do ffi.C.poll(nil, 0, 5) end
        return names_of(m)
      end]]
    local o = { env = { "GO_FILE=" .. t:path "go" } }
    local p = t:start_job(nil, o)
    t:wait_for "job/score/logs/user/stdout/0/process000.stdout.txt"
    local r = t:expect_job(3, { "--resume" }, o)
    local host = io.open("/proc/sys/kernel/hostname"):read "*l"
    expect_patterns(r, { "in use", "pid " .. p.pid, (host:gsub("%p", "%%%0")) })
    t:write("go", "")
    t:expect(t:finish(p), 0)
    assert.same(job.names(40), t:rows())
  end)

  it("of another version is refused", function()
    local t = failed_case()
    local text, n = t:read("job/job.json"):gsub('("version": ?)1', "%199")
    assert.equal(1, n)
    t:write("job/job.json", text)
    local r = t:expect_job(2, { "--resume" }, GO)
    expect_patterns(r, { "version", "99" })
  end)

  it("with a damaged definition is refused", function()
    local t = failed_case()
    t:write("job/job.json", t:read("job/job.json"):sub(1, -20))
    expect_patterns(t:expect_job(3, { "--resume" }, GO), { "job.json" })
  end)
end)

describe("damage before the last sync", function()
  after_each(job.check_end)

  it("in the journal stops the job, with its place", function()
    local t = failed_case()
    change_byte(t, "job/score/state/journal", 5 * RECORD + 20)
    expect_refused(t, { "journal", tostring(5 * RECORD) })
  end)

  it("in the manifest stops the job, with its place", function()
    local t = failed_case()
    local at = math.floor(#t:read "job/score/state/manifest" / 2)
    change_byte(t, "job/score/state/manifest", at)
    expect_refused(t, { "manifest", "%d+" })
  end)

  it("that shortens the output stops the job", function()
    local t = failed_case()
    local name = "job/score/output/parallel_run_step.txt.partial"
    t:write(name, t:read(name):sub(1, -4))
    expect_refused(t, { "parallel_run_step.txt" })
  end)
end)

describe("a torn end after the last sync", function()
  after_each(job.check_end)

  local function expect_recovery(t)
    local r = t:expect_job(0, { "--resume" }, GO)
    assert.same(job.names(40), t:rows())
    return r
  end

  it("of the journal is cut off", function()
    local t = killed_case()
    local text = t:read "job/score/state/journal"
    t:write("job/score/state/journal", text:sub(1, #text - RECORD - 10))
    expect_recovery(t)
  end)

  it("of the journal, with other bytes, is cut off", function()
    local t = killed_case()
    t:write("job/score/state/journal", t:read "job/score/state/journal" .. ("x"):rep(RECORD + 7))
    expect_recovery(t)
  end)

  it("of the output is cut off", function()
    local t = killed_case()
    local name = "job/score/output/parallel_run_step.txt.partial"
    t:write(name, t:read(name):sub(1, -30))
    expect_patterns(expect_recovery(t), { "torn" })
  end)

  it("of the output, with uncommitted rows, is cut off", function()
    local t = killed_case()
    local name = "job/score/output/parallel_run_step.txt.partial"
    t:write(name, t:read(name) .. "0040.txt\n004")
    expect_recovery(t)
  end)

  it("of the output, with other bytes in its middle, makes its mini-batches run again", function()
    local t = killed_case()
    change_byte(t, "job/score/output/parallel_run_step.txt.partial", 100)
    expect_recovery(t)
  end)
end)

describe("a job directory in the workspace", function()
  after_each(job.check_end)

  it("is found by --resume without --job-dir: the newest unfinished one", function()
    local t = new_case()
    t:script [[function run(m)
      if number_of(m[1]) == 40 and not os.getenv "GO" then error "no" end
      return names_of(m)
    end]]
    t:pipeline "mini_batch_size = 1, run_max_try = 1, error_threshold = 0, process_count_per_node = 1"
    local first = t:run { "run", "pipeline.lua", "--json" }
    t:expect(first, 1)
    local again = t:run({ "run", "pipeline.lua", "--resume", "--json" }, GO)
    t:expect(again, 0)
    assert.equal(first.result.job_dir, again.result.job_dir)
    assert.same(job.names(40), t:sorted_lines(again.result.job_dir .. "/score/output/parallel_run_step.txt"))
  end)

  it("is not resumed by another pipeline file of the same name", function()
    local t = failed_case()
    t:write("workspace/.keep", "")
    local o = { env = { "GO=1" } }
    t:write("other.lua", t:read "pipeline.lua")
    t:expect(t:run { "run", "pipeline.lua", "--progress", "none" }, 1)
    local r = t:run({ "run", "other.lua", "--resume", "--progress", "none" }, o)
    t:expect(r, 0)
    expect_patterns(r, { "no job of 'case' is left to resume in the workspace '[^']+': a new one is started",
      "has that name, but another pipeline file" })
    local own = assert(r.err:match "to resume it: tidemill resume (%S+)\n", r.err)
    t:expect(t:run({ "resume", own, "--progress", "none" }, o), 0)
  end)
end)

describe("a full disk", function()
  after_each(job.check_end)

  it("ends the job, which can be resumed with more room", function()
    local t = job.case()
    lfs.mkdir(t.job_dir)
    if os.execute(("mount -t tmpfs -o size=600k tmpfs %s 2>%s/mount"):format(t.job_dir, t.dir)) ~= 0 then
      return pending "no right to mount"
    end
    finally(function() os.execute("umount -l " .. t.job_dir) end)
    t:inputs(400)
    t:script "function run(m) return { name_of(m[1]) .. (' '):rep(4000) .. 'end' } end"
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
    local r = t:expect_job(3)
    expect_patterns(r, { "[Nn]o space" })
    assert.equal(0, os.execute("mount -o remount,size=20m " .. t.job_dir))
    t:expect_job(0, { "--resume" })
    local expected = job.names(400)
    for i, name in ipairs(expected) do expected[i] = name .. (" "):rep(4000) .. "end" end
    assert.same(expected, t:rows())
  end)
end)

local UMASK = { "sh", "-c", 'umask 0; exec "$@"', "sh" }

-- Paths relative to `dir` that other users could read. Outputs of the step do not count.
local function open_to_others(dir, below, found)
  found = found or {}
  for name in lfs.dir(dir .. (below or "")) do
    local path = (below or "") .. "/" .. name
    local st = lfs.symlinkattributes(dir .. path)
    if name ~= "." and name ~= ".." and st.mode ~= "link" and not path:find "/output/" then
      if not st.permissions:find "%-%-%-%-%-%-$" then found[#found + 1] = path .. " " .. st.permissions end
      if st.mode == "directory" then open_to_others(dir, path, found) end
    end
  end
  return found
end

-- What is removed below the job's directory while mini-batch 1 runs.
local REMOVED = { ["the job's directory"] = "", ["the folder of the step"] = "/score",
                  ["the folder of the output"] = "/score/output",
                  ["the output"] = "/score/output/parallel_run_step.txt.partial" }

describe("a running job that loses", function()
  after_each(job.check_end)

  for name, path in pairs(REMOVED) do
    it(name .. ", says so, and suggests no command that would be refused", function()
      local t = new_case "sync_interval = 0.001"
      t:script [[
        function run(m)
          if number_of(m[1]) == 2 then
            io.open(os.getenv "HERE" .. "/begun", "w"):close()
            wait_for_file(os.getenv "HERE" .. "/go")
          end
          return names_of(m)
        end]]
      local p = t:start_job(nil, { env = { "HERE=" .. t.dir } })
      t:wait_for "begun"
      folder.remove_at_once(t.job_dir .. path)
      t:write("go", "")
      local r = t:finish(p, 60)
      t:expect(r, 3)
      local words = ("'%s' was removed or renamed while the job ran"):format(t.job_dir .. path)
      assert.is_truthy(r.err:find("\n    cause:        " .. words .. "\n", 1, true), r.err)
      assert.is_nil(r.err:find "no such file or directory")
      if path == "" then assert.is_nil(lfs.attributes(t.job_dir), "parts of the job came back") end
      if not r.err:find "\nthe job cannot be resumed" then
        t:expect(t:run({ "resume", t.job_dir, "--progress", "none" }, { env = { "HERE=" .. t.dir } }), 0)
      end
    end)
  end
end)

describe("files of a job and of the workspace", function()
  after_each(job.check_end)

  it("are accessible only to their owner, whatever the umask", function()
    local t = job.case()
    t:inputs(4)
    t:write("in.csv", "a,b\n1,2\n3,4\n")
    t:script [[
      function init() require "tidemill.entry_script"().logger:info "from init()" end
      function run(m)
        print "to standard output"
        if #m == 2 then error "each try" end
        return { tostring(#m) }
      end]]
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      local function step(name, input)
        local config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 1, error_threshold = -1,
          run_max_try = 1, process_count_per_node = 1 }
        return tm.ParallelRunStep { name = name, parallel_run_config = config, inputs = { input },
          arguments = { "--profiling_module", "jit" } }
      end
      return tm.Pipeline { name = "case", steps = { step("files", tm.Dataset.File.from_files "in/*"),
        step("rows", tm.Dataset.Tabular.from_delimited_files "in.csv") } }]])
    t:expect(t:run({ "run", "pipeline.lua", "--progress", "none" }, { before = UMASK }), 0)
    assert.is_truthy(t:has "workspace/workspace.db")
    assert.same({}, open_to_others(t:path "workspace"))
  end)
end)
