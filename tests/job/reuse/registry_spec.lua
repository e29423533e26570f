-- Registered datasets and datastores in pipeline files and on the command line; and what remains of
-- them after a kill.
local job = require "support.job"
local json = require "dkjson"
local programs = require "support.programs"

local KILLS = tonumber(os.getenv "TM_KILLS") or os.getenv "TM_LONG" and 400 or 20
local REGISTER = [[
local ws = tm.Workspace.from_config()
local digits = tm.Dataset.File.from_files("in/*"):register(ws, "digits", { description = "ten", tags = { n = 10 } })
]]

--- One step on `input` (Lua); `before`: Lua to run first; `output`: an expression.
local function pipeline(t, before, input, output)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
%s
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
  name = "score", inputs = { %s }, output = %s,
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", process_count_per_node = 1 } } } }
]]):format(before, input, output or "nil"))
end

local function case(...)
  local t = job.case()
  t:inputs(4)
  t:script "function run(m) return names_of(m) end"
  if ... then pipeline(t, ...) end
  return t
end

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text)) end

local function dataset(t, ...) return t:run { "dataset", ... } end

local function listed(t, ...)
  local r = dataset(t, "list", "--json", ...)
  t:expect(r, 0)
  local rows = {}
  for line in r.out:gmatch "[^\n]+" do rows[#rows + 1] = assert(json.decode(line)) end
  return rows
end

local function refused(t, status, ...)
  local r = t:run_job()
  t:expect(r, status)
  for _, part in ipairs { ... } do has(r.err, part) end
end

describe("a registered dataset", function()
  after_each(job.check_end)

  it("is in the workspace of the folder that a pipeline file names, or in the workspace that it names", function()
    local t = case()
    for i, path in ipairs { "proj", "proj/.tidemill" } do
      t:write("s.lua", ([[
        local tm = require "tidemill"
        local ws = tm.Workspace { path = %q }
        print(ws.path, tm.Dataset.File.from_files("in/*"):register(ws, "digits%d").version)]]):format(path, i))
      local r = t:run { "s.lua" }
      t:expect(r, 0)
      assert.equal(t:path "proj/.tidemill" .. "\t1\n", r.out)
    end
    assert.is_false(t:has "proj/workspace.db")
    local r = t:run({ "dataset", "list" }, { cwd = t:path "proj", env = { "TIDEMILL_WORKSPACE=" } })
    t:expect(r, 0)
    has(r.out, "digits1")
    has(r.out, "digits2")
  end)

  it("is registered once by a pipeline file, and fetched by name", function()
    local t = case(REGISTER .. "local got = tm.Dataset.get_by_name(ws, 'digits')\n"
      .. "assert(got.version == 1 and got.registered == 'digits' and got.description == 'ten' and got.tags.n == '10')\n"
      .. "assert(digits.version == 1)", "got:as_named_input 'digits'")
    t:expect_job(0)
    assert.same(job.names(4), t:rows())
    t:expect_job(0, { "--resume" })
    local rows = listed(t)
    assert.equal(1, #rows)
    assert.equal("digits", rows[1].name)
    assert.equal(4, rows[1].files)
    assert.same({ n = "10" }, rows[1].tags)
  end)

  it("is read as it is now, with a warning about changes", function()
    local t = case(REGISTER, "digits")
    t:expect_job(0)
    t:write("in/0001.txt", "12")
    t:write("in/0001.txt", "12345")
    t:inputs(5, "in2")
    t:write("in/0009.txt", "")
    local r = t:run { "run", "pipeline.lua", "--progress", "none" }
    t:expect(r, 0)
    has(r.err, "warning: step 'score': dataset 'digits' version 1 has changed since it was registered: ")
    has(r.err, "input 'in/0001.txt': size 2 -> 5")
    has(r.err, "input 'in/0009.txt' is new")
  end)

  it("is refused with an unknown name or version, or a name that is in use", function()
    local t = case(REGISTER .. "tm.Dataset.get_by_name(ws, 'digist')", "digits")
    refused(t, 2, "pipeline.lua:", "did you mean 'digits'?")
    pipeline(t, REGISTER .. "tm.Dataset.get_by_name(ws, 'digits', 4)", "digits")
    refused(t, 2, "dataset 'digits' has no version 4; it has version 1 alone")
    pipeline(t, REGISTER .. "tm.Dataset.get_by_name(ws, 'digits', 'newest')", "digits")
    refused(t, 2, "'newest' is not a version")
    pipeline(t, REGISTER .. "tm.Dataset.File.from_files('in'):register(ws, 'digits')", "digits")
    refused(t, 2, "pipeline.lua:", "cannot register dataset 'digits'", "as its next version: create_new_version, else")
    local again = t:run { "dataset", "register", "digits", "pipeline.lua" }
    t:expect(again, 2)
    assert.is_truthy(again.err:find("as its next version: --create-new-version, else", 1, true), again.err)
    pipeline(t, REGISTER .. "tm.Dataset.File.from_files('in'):register(ws, 'digits', { new_version = true })", "digits")
    refused(t, 2, "unknown key 'new_version'")
    pipeline(t, "tm.Dataset.get_by_name('ws', 'digits')", "tm.Dataset.File.from_files 'in'")
    refused(t, 2, "Dataset.get_by_name: the workspace is a string; accepted: what Workspace.from_config() returns")
    pipeline(t, REGISTER .. [[
      local two = tm.Dataset.File.from_files("in"):register(ws, "digits", { create_new_version = true })
      assert(two.version == 2 and tm.Dataset.get_by_name(ws, "digits").version == 2)
      assert(tm.Dataset.get_by_name(ws, "digits", 1).version == 1)
      two:unregister_all_versions()
      assert(not pcall(tm.Dataset.get_by_name, ws, "digits"))]], "digits")
    t:expect_job(0)
  end)

  it("may be a table", function()
    local t = case([[
      local ws = tm.Workspace.from_config()
      ws:get_default_datastore():upload("csv")
      local rows = tm.Dataset.Tabular.from_delimited_files(ws:get_default_datastore(), "*.csv", { separator = ";" })
      rows:filter("n", ">", 1):register(ws, "rows")
      local got = tm.Dataset.get_by_name(ws, "rows"):as_named_input "rows"
      assert(got.version == 1)]], "got")
    t:write("csv/a.csv", "n;s\n1;x\n2;y\n3;z\n")
    t:script [[function run(df) return df:column("s"):to_table() end]]
    t:expect_job(0)
    assert.same({ "y", "z" }, t:rows())
    t:expect_job(0, { "--resume" })
    assert.equal("TabularDataset", listed(t)[1].type)
  end)

  it("can be listed, shown, registered and unregistered on the command line", function()
    local t = case()
    has(dataset(t, "list").err, "there is no workspace")
    t:expect(dataset(t, "register", "digits", "in/*", "--tag", "n=10", "--description", "ten"), 0)
    t:expect(dataset(t, "register", "digits", "in"), 2)
    t:expect(dataset(t, "register", "digits", "in", "--create-new-version"), 0)
    t:expect(dataset(t, "register", "a/b", "in"), 2)
    t:expect(dataset(t, "register", "digits", "in", "--version", "1"), 2)
    t:expect(dataset(t, "lst"), 2)
    assert.equal(2, #listed(t, "digits"))
    local r = dataset(t, "show", "digits", "--version", "1", "--json")
    t:expect(r, 0)
    assert.equal("ten", r.result.description)
    assert.is_nil(r.result.changed)
    t:write("in/0002.txt", "a longer one")
    has(dataset(t, "show", "digits").out, "input 'in/0002.txt': size 2 -> 12")
    t:expect(dataset(t, "unregister", "digits", "--version", "1"), 0)
    assert.equal(1, #listed(t, "digits"))
    r = dataset(t, "list", "digist")
    t:expect(r, 2)
    has(r.err, "did you mean 'digits'?")
    t:expect(dataset(t, "unregister", "digits"), 0)
    assert.equal(0, #listed(t))
  end)
end)

describe("a workspace", function()
  after_each(job.check_end)

  it("may be without files when registered, with a warning", function()
    local t = case("tm.Dataset.File.from_files('none'):register(tm.Workspace.from_config(), 'later')",
      "tm.Dataset.File.from_files 'in'")
    local r = t:expect_job(0)
    has(r.err, "pipeline.lua:2: dataset:register: 'later': no file matches now")
    t:write("s.lua", "local tm = require 'tidemill'\n"
      .. "tm.Dataset.File.from_files('none'):register(tm.Workspace.from_config(), 'other')")
    r = t:run { "lua", "s.lua" }
    t:expect(r, 0)
    assert.equal("tidemill: note: s.lua:2: dataset:register: 'other': no file matches now\n", r.err)
    t:write("none/file", "")
    assert.is_nil(t:run({ "run", "pipeline.lua", "--dry-run" }).err:find("no file matches", 1, true))
  end)

  it("accepts names that it does not use, with a note", function()
    local t = case("tm.Workspace { name = 'w', subscription_id = 's', resource_group = 'r', "
      .. "auth = { service_principal_password = 'hidden' }, path = 'here' }", "tm.Dataset.File.from_files 'in'")
    local r = t:expect_job(0)
    has(r.err, "note: ")
    has(r.err, "'name', 'auth', 'subscription_id', 'resource_group': accepted, and not used")
    assert.is_nil(r.err:find("hidden", 1, true))
    assert.is_true(t:has "here")
    pipeline(t, "tm.Workspace { nam = 'w' }", "tm.Dataset.File.from_files 'in'")
    refused(t, 2, "did you mean 'name'?")
  end)

  it("has datastores: a default one, and named directories", function()
    local t = case([[
      local ws = tm.Workspace.from_config()
      local store = ws:get_default_datastore()
      assert(store.name == "workspaceblobstore")
      assert(store:upload("in", "first").copied == 4)
      assert(store:upload("in", "first").skipped == 4)
      assert(store:upload("in", "first", { overwrite = true }).copied == 4)
      assert(store:download("out", "first/0001").copied == 1)
      local images = tm.Datastore.register_directory(ws, "images", "in")
      assert(tm.Datastore(ws, "images").path == images.path)
      images:set_as_default()
      assert(tm.Datastore.get_default(ws).name == "images")
      assert(not pcall(tm.Datastore, ws, "image"))
      assert(not pcall(tm.Dataset.File.from_files, images, "../score.lua"))
      assert(not pcall(images.upload, images, "in", "/tmp"))
      assert(not pcall(function() return tm.Datastore.register_azure_blob_container end))]],
      "tm.Dataset.File.from_files(store, 'first/*'), tm.Dataset.File.from_files(images, '0001.txt')")
    t:expect_job(0)
    assert.equal(5, #t:rows())
    assert.equal("1\n", t:read "out/first/0001.txt")
  end)

  it("that is a file, damaged, or of a later version is refused with a reason", function()
    local t = case(REGISTER, "digits")
    t:write("workspace", "")
    refused(t, 2, "is not a folder")
    os.remove(t:path "workspace")
    t:write("workspace/workspace.db", ("no database "):rep(500))
    refused(t, 2, "is damaged", "move it away")
    t:expect(dataset(t, "list"), 3)
    os.remove(t:path "workspace/workspace.db")
    t:expect(dataset(t, "register", "digits", "in"), 0)
    local bytes = t:read "workspace/workspace.db"
    t:write("workspace/workspace.db", bytes:sub(1, 60) .. "\0\0\0\9" .. bytes:sub(65))
    refused(t, 2, "is of version 9, made by a later tidemill")
    t:expect(dataset(t, "list"), 2)
  end)
end)

describe("register_on_complete", function()
  after_each(job.check_end)

  local OUTPUT = "tm.OutputFileDatasetConfig { name = 'rows' }:register_on_complete('rows', { tags = { a = true } })"
  local INPUT = "tm.Dataset.File.from_files 'in'"

  it("makes a version for each Completed job, and its output can be an input", function()
    local t = case("", INPUT, OUTPUT)
    local r = t:run_job()
    t:expect(r, 0)
    has(r.err, "step 'score': its output is dataset 'rows', version 1")
    local report = t:run { "report", t.job_dir, "--json" }
    t:expect(report, 0)
    has(report.out, '"registered":"rows:1"')
    has(report.out, '"rows":4}')
    t:expect_job(0, { "--resume" })
    t:expect(t:run { "run", "pipeline.lua", "--progress", "none" }, 0)
    has(t:run({ "report", "latest", "--json" }).out, '"files":4,"bytes":')
    local rows = listed(t, "rows")
    assert.equal(2, #rows)
    assert.equal(t.job_dir, rows[2].job_dir)
    assert.equal("score", rows[2].step)
    assert.same({ a = "true" }, rows[2].tags)
    pipeline(t, "local rows = tm.Dataset.get_by_name(tm.Workspace.from_config(), 'rows', 1)", "rows")
    r = t:run { "run", "pipeline.lua", "--progress", "none", "--json" }
    t:expect(r, 0)
    assert.equal("parallel_run_step.txt\n", t:read(r.result.steps[1].output))
    assert.is_nil(r.err:find("has changed", 1, true))
  end)

  it("registers nothing for an unfinished step", function()
    local t = case("", INPUT, OUTPUT)
    t:script "function run(m) error 'no' end"
    t:expect_job(1)
    assert.equal(0, #listed(t))
  end)

  it("is refused before anything starts if it cannot work", function()
    local t = case("", INPUT, "tm.OutputFileDatasetConfig { name = 'rows' }:register_on_complete('a/b')")
    refused(t, 2, "pipeline.lua:", "'a/b' is not a name of a dataset")
    pipeline(t, "", INPUT, OUTPUT)
    t:write("workspace/workspace.db", ("no database "):rep(500))
    refused(t, 3, "dataset 'rows' could not be registered later", "is damaged")
    assert.is_false(t:has "job/job.json")
  end)

  it("makes one version however often the job is killed and resumed", function()
    local t = case("", INPUT, OUTPUT)
    local killed = 0
    for i = 1, KILLS do
      t.job_dir = t.dir .. "/job" .. i
      local name = "job" .. i .. "/score/"
      local p = t:start_job { "--no-reuse" }
      -- near its end: between the last row and the result
      t:wait_for(name .. (i % 2 == 0 and "output/parallel_run_step.txt" or "registered"))
      p:kill(programs.SIGKILL)
      if t:finish(p).signal then killed = killed + 1 end
      t:wait_for_none(60)
      t:expect_job(0, { "--resume" })
      local rows = listed(t, "rows")
      assert.equal(i, #rows)
      assert.equal(i, rows[1].version)
      assert.equal(t.job_dir, rows[1].job_dir)
    end
    assert.is_true(killed > 0, "none was killed")
  end)
end)

describe("the database", function()
  after_each(job.check_end)

  it("survives a kill of the registering process at any moment", function()
    local t = case()
    local kept, done = 0, 0
    for i = 1, KILLS do
      t:write("in/0001.txt", ("x"):rep(i))
      local p = t:start { "dataset", "register", "digits", "in", "--create-new-version" }
      for _ = 1, i * math.max(25, 1000 / KILLS) do -- up to the end of all
        if p:has_ended() then break end
      end
      p:kill(programs.SIGKILL)
      if t:finish(p).status == 0 then done = done + 1 end
      local r = dataset(t, "list", "digits", "--json")
      if kept > 0 or r.status == 0 then t:expect(r, 0) end
      local _, versions = r.out:gsub("\n", "\n")
      assert.is_true(versions >= kept and versions <= i)
      kept = versions
    end
    assert.is_true(kept >= done, ("%d were said, %d are there"):format(done, kept))
    t:expect(dataset(t, "register", "digits", "in", "--create-new-version"), 0)
  end)

  it("accepts registrations of several processes at once", function()
    local t = case()
    local started = {}
    for i = 1, 8 do
      local words = { "dataset", "register", i % 2 == 0 and "same" or "other" .. i, "in/000" .. (i % 4 + 1) .. ".txt",
                      "--create-new-version" }
      started[i] = t:start(words)
    end
    for i = 1, 8 do t:expect(t:finish(started[i], 60), 0) end
    assert.equal(5, #listed(t))
    local numbers = {}
    for i, row in ipairs(listed(t, "same")) do numbers[i] = row.version end
    for i = 1, #numbers do assert.equal(#numbers + 1 - i, numbers[i]) end
    assert.is_true(#numbers >= 2)
  end)
end)
