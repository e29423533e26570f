-- Changes single bytes of files that the job has written itself: a resumed job has exactly the
-- right rows, or it stops with a message. It never loses or changes rows silently.
local archives = require "support.archives"
local job = require "support.job"
local lfs = require "lfs"

local POSITIONS = 12 -- in each file, evenly spread, with the first and the last byte

local function shell(...)
  local command = (...):format(select(2, ...))
  assert(os.execute(command) == 0, command)
end

local function find(dir, pattern, found)
  found = found or {}
  for name in lfs.dir(dir) do
    local path = dir .. "/" .. name
    if name ~= "." and name ~= ".." and lfs.symlinkattributes(path, "mode") == "directory" then
      find(path, pattern, found)
    elseif name:find(pattern) then
      found[#found + 1] = path
    end
  end
  return found
end

local function change_byte(path, at)
  local file = assert(io.open(path, "r+b"))
  file:seek("set", at)
  local byte = file:read(1)
  file:seek("set", at)
  file:write(string.char((byte:byte() + 1) % 256))
  file:close()
end

local function positions(path)
  local size, list = assert(lfs.attributes(path, "size"), path), {}
  assert(size > 0, path .. " is empty")
  for i = 0, POSITIONS - 1 do list[#list + 1] = math.floor(i * (size - 1) / (POSITIONS - 1)) end
  return list
end

-- Runs half of the case's pipeline. Then, for each position, resumes a copy in which that byte of
-- `name` has changed. Returns how many of these jobs stopped.
local function resume_with_changes(t, name, words)
  local path, stopped = t:path(name), 0
  t:expect_job(1)
  shell("cp -a %s %s.kept", t.job_dir, t.job_dir)
  t:expect_job(0, { "--resume" }, { env = { "GOOD=1" } })
  local rows = t:rows()
  for _, at in ipairs(positions(t.job_dir .. ".kept" .. path:sub(#t.job_dir + 1))) do
    shell("rm -rf %s && cp -a %s.kept %s", t.job_dir, t.job_dir, t.job_dir)
    change_byte(path, at)
    local r = t:run_job({ "--resume" }, { env = { "GOOD=1" } })
    if r.status == 0 then
      assert.same(rows, t:rows(), "byte " .. at)
    else
      t:expect(r, 3)
      assert.truthy(r.err:find(words, 1, true), "byte " .. at .. ": " .. r.err)
      stopped = stopped + 1
    end
  end
  return stopped
end

local function table_case(config)
  local t = job.case()
  local lines = { "id,city,amount" }
  for i = 1, 60 do lines[#lines + 1] = ("%d,%s,%d"):format(i, "city" .. i % 6, i * 7) end
  t:write("in/a.csv", table.concat(lines, "\n") .. "\n")
  t:script [[function run(df, context)
    if context.minibatch_index > 1 and not os.getenv "GOOD" then error "not yet" end
    local rows = {}
    for i = 1, #df do rows[i] = ("%s %s %s"):format(df.c.id[i], df.c.city[i], df.c.amount[i]) end
    return rows
  end]]
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
  name = "score", inputs = tm.Dataset.Tabular.from_delimited_files("in/a.csv"),
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", run_max_try = 1, error_threshold = 0,
    process_count_per_node = 1, %s },
} } }
]]):format(config))
  return t
end

local function expect_fault(t, path, words)
  local r = t:run { "verify", t.job_dir }
  t:expect(r, 3)
  assert.is_truthy(r.err:find(path .. "'", 1, true), r.err)
  assert.is_truthy(r.err:find(words, 1, true), r.err)
end

describe("a changed byte", function()
  after_each(job.check_end)

  it("in state/schema.json stops the job", function()
    local t = table_case [[mini_batch_size = "10rows"]]
    local stopped = resume_with_changes(t, "job/score/state/schema.json", "restore the file, or start a new job")
    assert.is_true(stopped > 0) -- the bytes between the values may change
  end)

  it("in the file of grouped rows stops the job, unless these rows are committed", function()
    local t = table_case [[partition_keys = { "city" }]]
    local stopped = resume_with_changes(t, "job/score/state/groups-0", "restore the file, or start a new job")
    assert.is_true(stopped > 0)
  end)

  it("in the columns or the grouped rows of a table is found by verify, also in a Completed job", function()
    local t = table_case [[partition_keys = { "city" }]]
    t:expect_job(0, nil, { env = { "GOOD=1" } })
    t:expect(t:run { "verify", t.job_dir }, 0)
    for name, step in pairs { ["schema.json"] = 97, ["groups-0"] = 211 } do
      local path = "job/score/state/" .. name
      local good, found, tried = t:read(path), 0, 0
      for at = 1, #good, step do
        t:write(path, good:sub(1, at - 1) .. string.char((good:byte(at) + 1) % 256) .. good:sub(at + 1))
        local r = t:run { "verify", t.job_dir }
        tried = tried + 1
        if r.status ~= 0 then
          t:expect(r, 3)
          assert.is_truthy(r.err:find(path .. "'", 1, true), r.err)
          found = found + 1
        end
      end
      t:write(path, good)
      assert.is_true(found > 0)
      assert.is_true(name == "schema.json" or found == tried) -- blanks between values may change
    end
    t:expect(t:run { "verify", t.job_dir }, 0)
  end)

  it("in the names of the output's columns stops the job", function()
    local t = table_case [[mini_batch_size = "10rows", append_row_file_name = "out.csv"]]
    t:script [[local frame = require "tidemill.frame"
      function run(df, context)
        if context.minibatch_index > 1 and not os.getenv "GOOD" then error "not yet" end
        return df
      end]]
    function t:rows() return self:sorted_lines(self.step_dir .. "/output/out.csv") end
    local stopped = resume_with_changes(t, "job/score/state/columns", "is damaged")
    assert.is_true(stopped > 0)
  end)

  it("in the copy of the script is repaired, or stops the job", function()
    local t = table_case [[mini_batch_size = "10rows"]]
    t:expect_job(1)
    local copy = assert(find(t.job_dir, "^score%.lua$")[1])
    shell("rm -r %s", t.job_dir)
    resume_with_changes(t, copy, "score.lua")
  end)

  it("in the journal or the manifest is cut off, or stops the job", function()
    for _, name in ipairs { "journal", "manifest" } do
      resume_with_changes(table_case [[mini_batch_size = "10rows"]], "job/score/state/" .. name, "is damaged")
    end
  end)
end)

describe("a missing part of the state of a table", function()
  after_each(job.check_end)

  it("is found by verify: the end of the grouped rows, cut between two groups", function()
    local t = table_case [[partition_keys = { "city" }]]
    t:expect_job(0, nil, { env = { "GOOD=1" } })
    local path = "job/score/state/groups-0"
    local good, from, cuts = t:read(path), 1, 0
    while true do
      local name = good:find("\4\0\0\0city", from, true) -- the group begins 4 bytes before it
      if not name then break end
      t:write(path, good:sub(1, name - 5))
      expect_fault(t, path, ("byte %d: it has become shorter, groups of rows are missing"):format(name - 5))
      from, cuts = name + 1, cuts + 1
    end
    assert.equal(6, cuts)
    t:write(path, good)
    t:expect(t:run { "verify", t.job_dir }, 0)
  end)

  it("is found by verify: state/schema.json", function()
    local path = "job/score/state/schema.json"
    for _, config in ipairs { [[partition_keys = { "city" }]], [[mini_batch_size = "10rows"]] } do
      for _, env in ipairs { { "GOOD=1" }, {} } do
        local t = table_case(config)
        t:expect_job(env[1] and 0 or 1, nil, { env = env })
        t:expect(t:run { "verify", t.job_dir }, 0)
        assert(os.remove(t:path(path)))
        expect_fault(t, path, "it has been removed or emptied")
      end
    end
  end)

  it("is not reported where there never was one: JSON lines without columns have no state/schema.json", function()
    local t = table_case ""
    t:write("in/a.jsonl", "{}\n{}\n")
    local text = t:read "pipeline.lua":gsub('from_delimited_files%("in/a.csv"', 'from_json_lines_files("in/a.jsonl"')
    t:write("pipeline.lua", text)
    t:expect_job(1) -- run() cannot get these rows
    assert.is_nil(lfs.attributes(t:path "job/score/state/schema.json"))
    t:expect(t:run { "verify", t.job_dir }, 0)
  end)
end)

-- Files in the workspace that only save time.
local function run_in_workspace(t)
  local r = t:run { "run", "pipeline.lua", "--progress", "none", "--json", "--no-reuse" }
  t:expect(r, 0)
  return t:sorted_lines(r.result.steps[1].output)
end

local function run_with_changes(t, pattern)
  local rows = run_in_workspace(t)
  local path = assert(find(t.dir .. "/workspace", pattern)[1], "there is no " .. pattern)
  shell("cp -a %s %s/kept", path, t.dir)
  for _, at in ipairs(positions(path)) do
    shell("cp -a %s/kept %s", t.dir, path)
    change_byte(path, at)
    assert.same(rows, run_in_workspace(t), path .. ", byte " .. at)
  end
end

describe("a changed byte in a cache", function()
  after_each(job.check_end)

  it("only costs time: the index of a gzip file", function()
    local t = table_case [[mini_batch_size = "1MB"]]
    local lines = { "id,city,amount" }
    for i = 1, 150000 do lines[#lines + 1] = ("%d,%s,%d"):format(i, "city" .. i % 6, i * 7919 % 100003) end
    t:write("in/a.csv", table.concat(lines, "\n") .. "\n")
    shell("gzip %s && mv %s.gz %s", t:path "in/a.csv", t:path "in/a.csv", t:path "in/a.csv")
    t:script [[function run(df)
      local sum = 0
      for i = 1, #df do sum = sum + df.c.id[i] * df.c.amount[i] % 1000003 end
      return { ("%d %d"):format(#df, sum) }
    end]]
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub("error_threshold = 0", "error_threshold = -1")))
    run_with_changes(t, "%.gzi$")
  end)

  it("only costs time: the entries of an archive", function()
    local t = job.case()
    local entries = {}
    for i = 1, 20 do entries[i] = { ("%04d.txt"):format(i), ("text %d\n"):format(i * 31) } end
    t:write("a.zip", archives.zip(entries))
    t:script [[function run(m)
      local rows = {}
      for i, path in ipairs(m) do rows[i] = name_of(path) .. ": " .. io.open(path):read "*a":gsub("\n", "") end
      return rows
    end]]
    t:write("pipeline.lua", [[
local tm = require "tidemill"
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
  name = "score", inputs = tm.Dataset.File.from_archives("a.zip", { entries = "**" }),
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 5, run_max_try = 1 },
} } }
]])
    run_with_changes(t, "%.entries$")
  end)
end)
