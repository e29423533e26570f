-- Destinations that two jobs would write at the same time, although both pipelines were right when
-- they were submitted; and destinations that must not be replaced.
local folder = require "support.folder"
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"

-- `run()` signals that it has begun, and returns once `go` exists.
local WAITING = [[
function run(m)
  local here = os.getenv "HERE"
  io.open(here .. "/began." .. os.getenv "JOB", "w"):close()
  wait_for_file(here .. "/go")
  return names_of(m)
end
]]

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text)) end

local function case(how)
  local t = job.case()
  t:inputs(2)
  t:script(WAITING)
  t:pipeline("mini_batch_size = 2", ([[
    allow_reuse = false, output = tm.OutputFileDatasetConfig { name = "there", destination = "out" }%s]]):format(how))
  return t
end

local function start(t, name)
  return t:start({ "run", "pipeline.lua", "--job-dir", name, "--progress", "none", "--json" },
    { env = { "HERE=" .. t.dir, "JOB=" .. name } })
end

local function wait_for_script(t, name)
  programs.wait_until("the script of " .. name, function() return t:has("began." .. name) end, 120)
end

describe("two jobs at one destination", function()
  after_each(job.check_end)

  it("cannot both write to it: the second is refused during and after the first", function()
    local t = case ""
    local first = start(t, "first")
    wait_for_script(t, "first")
    local r = t:finish(start(t, "second"))
    t:expect(r, 2)
    has(r.err, "pipeline.lua:4: step 'score': destination '" .. t:path "out" .. "'")
    assert.is_false(t:has "second")
    t:write("go", "")
    t:expect(t:finish(first), 0)
    t:expect(t:finish(start(t, "second")), 2)
    assert.same({ "0001.txt", "0002.txt" }, t:sorted_lines "out/parallel_run_step.txt")
  end)

  for _, how in ipairs { ":as_upload()", ":as_archive()" } do
    it("upload it once: the first upload stays, and the other resumes after its removal " .. how, function()
      local t = case(how)
      local running = { first = start(t, "first"), second = start(t, "second") }
      wait_for_script(t, "first")
      wait_for_script(t, "second")
      t:write("go", "")
      local late, seen = nil, {}
      for name, p in pairs(running) do
        local r = t:finish(p)
        seen[#seen + 1] = json.decode(r.out:match "([^\n]*)\n?$").status
        if r.status ~= 0 then
          late = name
          has(r.err, "destination '" .. t:path "out" .. "' is not free any more")
        end
      end
      table.sort(seen)
      assert.same({ "Completed", "Failed" }, seen)
      for name in lfs.dir(t.dir) do assert.is_nil(name:find "^out%.tidemill") end
      assert(os.rename(t:path "out", t:path "away"))
      t:expect(t:run { "resume", late, "--progress", "none" }, 0)
      assert.equal(lfs.attributes(t:path "away", "mode"), lfs.attributes(t:path "out", "mode"))
    end)
  end
end)

-- A job whose number 3 fails until the file `heal` exists.
local function ailing_case(outputs, settings)
  local t = job.case()
  t:inputs(4)
  t:script(([[
    function run(m)
      if number_of(m[1]) == 3 and not io.open "%s" then error "not now" end
      return names_of(m)
    end]]):format(t:path "heal"))
  t:pipeline("mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1" .. (settings or ""),
    ("output = { %s }, allow_reuse = false"):format(outputs))
  return t
end

local function output(name, how)
  return ('tm.OutputFileDatasetConfig { name = "%s", destination = "%s" }%s'):format(name, name, how)
end

-- The rows in the upload, from a folder or an archive.
local function uploaded_rows(t, name, how)
  if how == ":as_upload()" then return t:sorted_lines(name .. "/parallel_run_step.txt") end
  local read = "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]).decode(), end='')"
  local p = assert(io.popen(('python3 -c "%s" %q parallel_run_step.txt | sort'):format(read, t:path(name))))
  local rows = {}
  for line in p:lines() do rows[#rows + 1] = line end
  p:close()
  return rows
end

local function check_nothing_beside(t)
  for name in lfs.dir(t.dir) do assert.is_nil(name:find "%.tidemill") end
end

describe("a resumed step that commits more rows", function()
  after_each(job.check_end)

  for _, how in ipairs { ":as_upload()", ":as_archive('zip')" } do
    -- The result is missing: somebody killed the job after its upload.
    it("renews its upload when it was killed just after it " .. how, function()
      local t = ailing_case(output("pub", how))
      t:expect_job(0)
      assert.equal(3, #uploaded_rows(t, "pub", how))
      os.remove(t:path "job/job_result.json")
      t:write("heal", "")
      t:expect(t:run { "resume", "job", "--progress", "none" }, 0)
      assert.same(job.names(4), uploaded_rows(t, "pub", how))
      check_nothing_beside(t)
    end)

    it("renews the first of two uploads when the second was refused " .. how, function()
      local t = ailing_case(output("pub", how) .. ", " .. output("other", ":as_upload()"))
      t:script((t:read("score.lua"):gsub("function run%(m%)", function(head)
        return head .. (" if not io.open '%s' then os.execute 'mkdir -p %s && touch %s' end"):format(t:path "heal",
          t:path "other", t:path "other/x")
      end)))
      local r = t:run_job()
      t:expect(r, 2)
      has(r.err, "is not free any more")
      assert.equal(3, #uploaded_rows(t, "pub", how))
      os.execute(("rm -r '%s'"):format(t:path "other"))
      t:write("heal", "")
      t:expect(t:run { "resume", "job", "--progress", "none" }, 0)
      assert.same(job.names(4), uploaded_rows(t, "pub", how))
      assert.is_true(t:has "other")
      check_nothing_beside(t)
    end)

    it("does not touch an upload that was changed afterwards " .. how, function()
      local t = ailing_case(output("pub", how))
      t:expect_job(0)
      os.remove(t:path "job/job_result.json")
      t:write("heal", "")
      t:write(how == ":as_upload()" and "pub/parallel_run_step.txt" or "pub", "mine\n")
      local r = t:run { "resume", "job", "--progress", "none" }
      t:expect(r, 2)
      has(r.err, "its contents are not this job's")
      assert.equal("mine\n", t:read(how == ":as_upload()" and "pub/parallel_run_step.txt" or "pub"))
    end)
  end

  for _, how in ipairs { "", ":as_upload()" } do
    it("registers one version, with all of its rows " .. how, function()
      local t = ailing_case(how == "" and 'tm.OutputFileDatasetConfig { name = "pub" }:register_on_complete "rows"'
        or output("pub", ':register_on_complete "rows"' .. how))
      local env = { env = { "TIDEMILL_WORKSPACE=" .. t:path "ws" } }
      assert(lfs.mkdir(t:path "ws"))
      local function expect_dataset(bytes)
        local r = t:run({ "dataset", "show", "rows", "--json" }, env)
        t:expect(r, 0)
        local shown = json.decode(r.out:match "[^\n]+")
        assert.same({ 1, 1, bytes }, { shown.version, shown.files, shown.bytes })
        assert.is_nil(shown.changes)
      end
      t:expect_job(0, nil, env)
      expect_dataset(3 * #"0001.txt\n")
      os.remove(t:path "job/job_result.json")
      t:write("heal", "")
      t:expect(t:run({ "resume", "job", "--progress", "none" }, env), 0)
      expect_dataset(4 * #"0001.txt\n")
    end)
  end

  it("does not copy files again that are up to date", function()
    local t = ailing_case(output("pub", ":as_upload()"))
    t:write("heal", "")
    t:expect_job(0)
    local before = lfs.attributes(t:path "pub", "ino")
    os.remove(t:path "job/job_result.json")
    t:expect(t:run { "resume", "job", "--progress", "none" }, 0)
    assert.equal(before, lfs.attributes(t:path "pub", "ino"))
  end)
end)

-- A job whose output goes to `destination`; `input` replaces the input of the test.
local function upload(how, destination, settings, input)
  local t = job.case()
  t:inputs(2)
  t:script "function run(m) return names_of(m) end"
  t:pipeline("mini_batch_size = 2" .. (settings or ""), ([[
    output = tm.OutputFileDatasetConfig { name = "there", destination = "%s" }%s%s]]):format(destination, how,
    input and (', inputs = { tm.Dataset.File.from_files "%s" }'):format(input) or ""))
  return t
end

describe("an upload with overwrite", function()
  after_each(job.check_end)

  for _, one in ipairs {
    { "the pipeline file", "." },
    { "the input", "in", "in/0*.txt" },
    { "the input", "in/deep", "in/deep/er/*" },
    { "the workspace", "ws" },
    { "the workspace", "all" },
    { "the job's directory", "jobs", nil, { "--job-dir", "jobs/one" } },
  } do
    it("does not replace a folder that holds " .. one[1] .. ": " .. one[2], function()
      local t = upload(":as_upload()", one[2], ", overwrite = true", one[3])
      for _, name in ipairs { "in/deep/er/1.txt", "all/mine", "ws/mine", "jobs/mine" } do t:write(name, "mine\n") end
      assert(lfs.link("all", t:path "link", true))
      local env = { "TIDEMILL_WORKSPACE=" .. t:path(one[2] == "all" and "link/ws" or "ws") }
      local args = { "run", "pipeline.lua", "--progress", "none" }
      for _, arg in ipairs(one[4] or {}) do args[#args + 1] = arg end
      local r = t:run(args, { env = env })
      t:expect(r, 2)
      has(r.err, "pipeline.lua:4: step 'score': destination '")
      has(r.err, "would be replaced as a whole, and " .. one[1] .. " '")
      for _, name in ipairs { "pipeline.lua", "score.lua", "in/deep/er/1.txt", "all/mine", "ws/mine", "jobs/mine" } do
        assert.is_true(t:has(name), name)
      end
    end)
  end
end)

describe("an upload in a folder whose name looks like a pattern", function()
  after_each(job.check_end)

  it("does not replace its inputs", function()
    local t = upload(":as_upload()", "in", ", overwrite = true", "in/0*.txt")
    for _, name in ipairs { "pipeline.lua", "score.lua" } do t:write("p[1]/" .. name, t:read(name)) end
    t:write("p[1]/in/0.txt", "mine\n")
    local env = { "TIDEMILL_WORKSPACE=" .. t:path "ws" }
    local r = t:run({ "run", "p[1]/pipeline.lua", "--progress", "none" }, { env = env })
    t:expect(r, 2)
    has(r.err, "would be replaced as a whole, and the input '" .. t:path "p[1]/in" .. "' is in it")
    assert.equal("mine\n", t:read "p[1]/in/0.txt")
  end)
end)

describe("a mount point at the destination", function()
  after_each(job.check_end)

  it("of an upload is refused before anything runs", function()
    if lfs.attributes("/dev/shm", "dev") == lfs.attributes("/dev", "dev") then
      return pending "needs a file system at /dev/shm"
    end
    local t = upload(":as_upload()", "/dev/shm", ", overwrite = true")
    local r = t:run { "run", "pipeline.lua", "--dry-run" }
    t:expect(r, 2)
    has(r.err, "step 'score': destination '/dev/shm' of output 'there' is a mount point")
  end)
end)

describe("a link at the destination", function()
  after_each(job.check_end)

  for _, leads_to in ipairs { "empty", "nowhere" } do
    it("of an upload is refused before anything runs, " .. leads_to, function()
      local t = upload(":as_upload()", "out")
      assert(lfs.mkdir(t:path "empty"))
      assert(lfs.link(leads_to, t:path "out", true))
      local r = t:run_job()
      t:expect(r, 2)
      has(r.err, "pipeline.lua:4: step 'score': destination '" .. t:path "out" .. "' of output 'there' is a link")
      assert.is_false(t:has "job")
    end)
  end

  it("of an archive counts as taken, wherever it leads", function()
    local t = upload(":as_archive()", "out")
    assert(lfs.link("nowhere", t:path "out", true))
    local r = t:run_job()
    t:expect(r, 2)
    has(r.err, "destination '" .. t:path "out" .. "' of output 'there' is taken")
    assert.equal("link", lfs.symlinkattributes(t:path "out", "mode"))
  end)

  it("made during the run stays, and the job can be resumed", function()
    local t = case ":as_upload()"
    local p = start(t, "first")
    wait_for_script(t, "first")
    assert(lfs.link("nowhere", t:path "out", true))
    t:write("go", "")
    local r = t:finish(p)
    t:expect(r, 2)
    has(r.err, "is not free any more")
    for name in lfs.dir(t.dir) do assert.is_nil(name:find "^out%.tidemill") end
    os.remove(t:path "out")
    t:expect(t:run { "resume", "first", "--progress", "none" }, 0)
    assert.is_true(t:has "out/parallel_run_step.txt")
  end)
end)

-- A folder to create on a different file system than the case; nil if there is none.
local function elsewhere(t)
  for _, place in ipairs { "/dev/shm", "/var/tmp", "/tmp" } do
    if lfs.attributes(place, "dev") ~= lfs.attributes(t.dir, "dev") then
      return place .. "/" .. t.dir:match "[^/]+$" .. ".elsewhere"
    end
  end
end

local function names_in(path)
  local names = {}
  for name in lfs.dir(path) do
    if name ~= "." and name ~= ".." then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- Item 3 waits for `go` after writing its file.
local WRITING = [[
function run(m, context)
  local here = os.getenv "HERE"
  for i = 1, 2 do
    local file = assert(io.open(context:output_file(name_of(m[1]), i == 2 and "files" or nil), "w"))
    assert(file:write(name_of(m[1])))
    assert(file:close())
  end
  if number_of(m[1]) == 3 then
    io.open(here .. "/began", "w"):close()
    wait_for_file(here .. "/go")
  elseif number_of(m[1]) == 2 then error "a bad item" end
  return names_of(m)
end
]]

local function killed_elsewhere(place)
  local t = job.case()
  t:inputs(4)
  t:script(WRITING)
  t:pipeline("mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1", ("output = { %s, %s }"):format(
    ("tm.OutputFileDatasetConfig { name = 'rows', destination = '%s/rows' }"):format(place),
    ("tm.OutputFileDatasetConfig { name = 'files', destination = '%s/files' }"):format(place)))
  local p = t:start_job(nil, { env = { "HERE=" .. t.dir } })
  t:wait_for "began"
  t:wait_for "job/score/output.files/0001.txt"
  p:kill(programs.SIGKILL)
  t:finish(p)
  t:wait_for_none()
  return t
end

describe("files for a destination on another file system", function()
  after_each(job.check_end)

  local function each_way(use)
    local t = job.case()
    local place = elsewhere(t)
    if not place then return pending "needs a second file system" end
    local ok, why = pcall(use, place)
    folder.remove_tree(place)
    if not ok then error(why, 0) end
  end

  it("arrive exactly once when the job is killed and resumed", function()
    each_way(function(place)
      local t = killed_elsewhere(place)
      t:write("go", "")
      t:expect_job(0, { "--resume" }, { env = { "HERE=" .. t.dir } })
      assert.same({ "0001.txt", "0003.txt", "0004.txt" }, names_in(place .. "/files"))
      assert.same({ "0001.txt", "0003.txt", "0004.txt", "parallel_run_step.txt" }, names_in(place .. "/rows"))
      for _, name in ipairs { "0001.txt", "0003.txt", "0004.txt" } do
        assert.equal(name, t:read("job/score/output.files/" .. name))
      end
      t:expect(t:run { "verify", t.job_dir }, 0)
    end)
  end)

  it("leave nothing there when the killed job is removed", function()
    each_way(function(place)
      local t = killed_elsewhere(place)
      assert.equal(2, #names_in(place .. "/files"))
      t:expect(t:run { "clean", t.job_dir, "--yes" }, 0)
      assert.same({ "0001.txt" }, names_in(place .. "/files"))
    end)
  end)
end)
