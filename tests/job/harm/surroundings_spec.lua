-- Odd names, odd sizes, and programs that start tidemill in odd ways.
local job = require "support.job"
local lfs = require "lfs"

local ECHO = "function run(m) return names_of(m) end"

local function new_case(config)
  local t = job.case()
  t:inputs(4)
  t:script(ECHO)
  t:pipeline("mini_batch_size = 1, process_count_per_node = 2, " .. (config or ""))
  return t
end

--- Runs the job in a shell with `redirections`; the file `status` holds the exit status.
local function run_redirected(t, redirections)
  return t:run({ "run", "pipeline.lua", "--job-dir", t.job_dir, "--json" },
               { before = { "sh", "-c", '"$@" ' .. redirections, "sh" }, limit = 15 })
end

describe("a job", function()
  after_each(job.check_end)

  it("handles any names: blanks, line breaks, bytes that are not UTF-8", function()
    local t = new_case()
    local names = { "a b.txt", "new\nline.txt", "bad\255.txt", "ü€.txt", "-x", "it's \"so\", or not.txt" }
    for _, name in ipairs(names) do t:write("odd/" .. name, "x") end
    t:script [[function run(m)
      local rows = {}
      for i, path in ipairs(m) do
        assert(io.open(path)):close()
        rows[i] = name_of(path):gsub("\n", "|")
      end
      return rows
    end]]
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub("in/%*", "odd")))
    local r = t:run { "run", "pipeline.lua", "--job-dir", "job of\nübel", "--json" }
    t:expect(r, 0)
    assert.equal(t:path "job of\nübel", r.result.job_dir)
    for i, name in ipairs(names) do names[i] = name:gsub("\n", "|") end
    table.sort(names)
    assert.same(names, t:sorted_lines "job of\nübel/score/output/parallel_run_step.txt")
  end)

  it("may have a huge mini-batch, and a huge number of mini-batches", function()
    local t = new_case()
    local paths = {}
    for i = 1, 60000 do paths[i] = ("/nowhere/at/all/file%06d.txt"):format(i) end
    local text = table.concat(paths, "\n") .. "\n"
    t:write("list.txt", text)
    t:script "function run(m) return m end"
    for _, size in ipairs { 60000, 1 } do
      t:pipeline("process_count_per_node = 4, mini_batch_size = " .. size)
      t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('from_files%("in/%*"%)', 'from_manifest("list.txt")')))
      t.step_dir = t.dir .. "/job" .. size .. "/score"
      local r = t:expect_job(0, { "--job-dir", t.dir .. "/job" .. size })
      assert.equal(60000 / size, r.result.steps[1].mini_batches.total)
      assert.is_true(text == table.concat(t:rows(), "\n") .. "\n")
    end
  end)

  it("runs with its standard streams closed", function()
    local t = new_case()
    t:expect(run_redirected(t, "<&- >&- 2>&-"), 0)
    assert.same(job.names(4), t:rows())
  end)

  it("is refused before it begins if TMPDIR is not a folder", function()
    local t = new_case()
    local r = t:run({ "run", "pipeline.lua", "--job-dir", t.job_dir }, { env = { "TMPDIR=" .. t:path "gone" } })
    t:expect(r, 2)
    assert.truthy(r.err:find("TMPDIR is '" .. t:path "gone" .. "': no such file or directory", 1, true), r.err)
    assert.is_false(t:has "job")
  end)

  it("names TMPDIR if it vanishes while workers run, and runs as long as one of them lives", function()
    for workers, status in ipairs { 1, 0 } do
      local t = new_case()
      lfs.mkdir(t:path "other")
      t:script(([[
        local folder, last, ffi = %q, "process00%d", require "ffi"
        ffi.cdef "int raise(int); int poll(void *fds, unsigned long n, int ms);"
        function init() assert(io.open(folder .. require "tidemill.entry_script"().agent_name, "w")):close() end
        function run(m)
          while not io.open(folder .. last) do ffi.C.poll(nil, 0, 5) end -- no worker is being started
          if os.rename(folder, folder .. ".gone") then ffi.C.raise(9) end
          while not io.open(folder .. ".go") do ffi.C.poll(nil, 0, 5) end -- the other worker could not be replaced
          return names_of(m)
        end]]):format(t:path "other", workers - 1))
      t:pipeline("mini_batch_size = 1, process_count_per_node = " .. workers)
      local p = t:start_job(nil, { env = { "TMPDIR=" .. t:path "other" } })
      t:wait_for("run1.err", "cannot make the folder '%S+/other/tidemill%-")
      t:write("other.go", "")
      t:expect(t:finish(p, 60), status)
      if status == 0 then assert.same(job.names(4), t:sorted_lines "job/score/output/parallel_run_step.txt") end
    end
  end)

  it("runs to its end if nobody reads its messages", function()
    local t = new_case()
    local r = run_redirected(t, "2>&1 | exec true; :")
    t:expect(r, 0)
    t:wait_for "job/job_result.json"
    t:wait_for_none()
    assert.same(job.names(4), t:rows())
  end)

  it("may be in a directory behind a link", function()
    local t = new_case()
    lfs.mkdir(t:path "real")
    lfs.link("real", t:path "job", true)
    t:expect_job(0)
    assert.same(job.names(4), t:sorted_lines "real/score/output/parallel_run_step.txt")
    t:expect_job(0, { "--resume" })
  end)

  it("ends a stopped worker when run() exceeds its timeout", function()
    local t = new_case "run_invocation_timeout = 0.3, run_max_try = 1"
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int kill(int pid, int sig); int getpid(void);"
      function run(m)
        if number_of(m[1]) == 2 then ffi.C.kill(ffi.C.getpid(), 19) end
        return names_of(m)
      end]]
    t:expect_job(0, nil, { limit = 15 })
    assert.same({ RUN_TIMEOUT = 1, RUN_DONE = 3 }, t:statuses())
  end)
end)

describe("a keeper that no job has started", function()
  after_each(job.check_end)

  it("says so", function()
    local t = job.case()
    local r = t:run { "keeper" }
    t:expect(r, 3)
    assert.is_truthy(r.err:find("only a job starts this command", 1, true), r.err)
  end)
end)
