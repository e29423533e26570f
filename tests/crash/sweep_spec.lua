-- The supervisor ends, or fails, at each of its file calls in turn. After a resume, the job has the
-- rows of an undisturbed one, each once, and no process is left. The sweep kills at every call that
-- changes a file; without TM_LONG it tests only some, randomly chosen, of the kills during a resume
-- and of the failing calls.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local sweep = require "support.sweep"

local ITEMS, LIMIT = 12, sweep.LIMIT

local SCRIPT = [[
function run(m, context)
  local rows = names_of(m)
  local output = number_of(m[1]) % 4 == 1 and "more" or nil -- every second mini-batch
  local file = assert(io.open(context:output_file("files/" .. rows[1], output), "w"))
  file:write(table.concat(rows, " "))
  file:close()
  for i, name in ipairs(rows) do rows[i] = name .. (" "):rep(number_of(m[i])) .. "end" end
  return rows
end]]

local expected = job.names(ITEMS)
for i, name in ipairs(expected) do expected[i] = name .. (" "):rep(i) .. "end" end

local expected_files = { output = {}, ["output.more"] = {} } -- one for each mini-batch of two
for i = 1, ITEMS, 2 do
  table.insert(expected_files[i % 4 == 1 and "output.more" or "output"], ("%04d.txt"):format(i))
end

-- What the job returns: an array of lines, or data frames, whose file has a header and recorded
-- columns. Every second frame has its columns in a different order.
local arrays = { script = SCRIPT, file = "parallel_run_step.txt", rows = expected }
local frames = {
  script = SCRIPT:gsub("return rows\nend$", [[
  local columns = { { "name", names_of(m) }, { "row", rows } }
  if number_of(m[1]) %% 4 == 1 then columns = { columns[2], columns[1] } end
  return require("tidemill.frame").from_table(columns)
end]]),
  file = "rows.csv",
  header = { ["name,row"] = true, ["row,name"] = true },
  rows = {},
}
for i, name in ipairs(job.names(ITEMS)) do frames.rows[i] = name .. "," .. expected[i] end
local kind = arrays

local OUTPUTS = [[output = {
  tm.OutputFileDatasetConfig { name = "rows" }, tm.OutputFileDatasetConfig { name = "more" } }]]

local function new_case()
  local t = job.case()
  t:inputs(ITEMS)
  t:script(kind.script)
  t:pipeline('mini_batch_size = 2, process_count_per_node = 2, sync_interval = 0.01, append_row_file_name = "' ..
    kind.file .. '"', OUTPUTS)
  return t
end

-- The expected rows, below one header if there is one, with the columns in the order of
-- `kind.rows`.
local function expect_rows(t, what)
  local lines = {}
  for line in t:read(t.step_dir .. "/output/" .. kind.file):gmatch "[^\n]+" do lines[#lines + 1] = line end
  if kind.header then
    local header = table.remove(lines, 1)
    assert.is_true(kind.header[header], what .. ": " .. tostring(header))
    for i, line in ipairs(lines) do
      lines[i] = header == "name,row" and line or line:gsub("^(.*),(.*)$", "%2,%1")
    end
  end
  table.sort(lines)
  assert.same(kind.rows, lines, what)
end

local faults, some_of = sweep.faults, sweep.some_of

--- How many file calls a whole job makes, and how many of them change something.
local function count_calls(prepare)
  local t = new_case()
  if prepare then prepare(t) end
  local calls, changes = sweep.count(t, { "--resume" })
  assert.is_true(changes > 30 and calls > changes)
  return calls, changes
end

local function expect_whole(t, what)
  local r = t:run_job({ "--resume" }, { limit = LIMIT })
  if r.status ~= 0 then error(("%s, resumed: status %s\n%s"):format(what, r.status, r.err), 2) end
  expect_rows(t, what)
  assert.is_false(t:has(t.step_dir .. "/output/" .. kind.file .. ".partial"), what)
  for output, names in pairs(expected_files) do
    local folder, files = t.step_dir .. "/" .. output .. "/files", {}
    for name in lfs.dir(folder) do
      if name ~= "." and name ~= ".." then files[#files + 1] = name end
    end
    table.sort(files)
    assert.same(names, files, what)
    for _, name in ipairs(files) do
      local text = ("%s %04d.txt"):format(name, tonumber(name:sub(1, 4)) + 1)
      assert.equal(text, t:read(folder .. "/" .. name), what)
    end
  end
  t:wait_for_none()
end

describe("the supervisor of data frames", function()
  setup(function() kind = frames end)
  teardown(function() kind = arrays end)
  after_each(job.check_end)

  it("may be killed at any call that changes a file", function()
    local _, changes = count_calls()
    for _, n in ipairs(some_of(changes, 12)) do
      local t = new_case()
      t:run_job(nil, faults("kill@" .. n))
      expect_whole(t, "kill@" .. n)
      job.check_end()
    end
  end)

  it("reports a failed call, and can be resumed", function()
    local calls = count_calls()
    for _, way in ipairs { "fail@%d:EIO", "short@%d" } do
      for _, n in ipairs(some_of(calls, 6)) do
        local t, plan = new_case(), way:format(n)
        local r = t:run_job(nil, faults(plan))
        assert.is_true(r.status == 0 or (r.err:find "%S" ~= nil), plan .. ": no words")
        expect_whole(t, plan)
        job.check_end()
      end
    end
  end)
end)

describe("the supervisor", function()
  after_each(job.check_end)

  it("may be killed at any call that changes a file", function()
    local _, changes = count_calls()
    local hits = 0
    for n = 1, changes do
      local t = new_case()
      local r = t:run_job(nil, faults("kill@" .. n))
      assert.is_true(r.signal == programs.SIGKILL or r.status == 0, "kill@" .. n .. ": " .. r.err)
      hits = hits + (r.signal and 1 or 0)
      expect_whole(t, "kill@" .. n)
      job.check_end()
    end
    assert.is_true(hits > changes * 3 / 4, hits .. " of " .. changes .. " were killed")
  end)

  it("may be killed while it resumes", function()
    local function kill_halfway(t) t:run_job(nil, faults "kill@70") end
    local _, changes = count_calls(kill_halfway)
    for _, n in ipairs(some_of(changes, 8)) do
      local t = new_case()
      kill_halfway(t)
      t:run_job({ "--resume" }, faults("kill@" .. n))
      t:run_job({ "--resume" }, faults("kill@" .. math.random(changes)))
      expect_whole(t, "killed, resumed, kill@" .. n)
      job.check_end()
    end
  end)

  it("may be killed while it takes over another job", function()
    local function begin(t) -- a job that was killed, and one that is to take it over
      t:run_job({ "--job-dir", t:path "old" }, faults "kill@70")
      t:pipeline("mini_batch_size = 2, process_count_per_node = 2, sync_interval = 0.01",
                 OUTPUTS .. [[, arguments = { "--resume_from", "old" }]])
    end
    local _, changes = count_calls(begin)
    for _, n in ipairs(some_of(changes, 8)) do
      local t = new_case()
      begin(t)
      t:run_job(nil, faults("kill@" .. n))
      t:run_job({ "--resume" }, faults("kill@" .. math.random(changes)))
      expect_whole(t, "taking over, kill@" .. n)
      assert.is_false(t:has "job/resume_from")
      job.check_end()
    end
  end)

  it("reports a failed call, and can be resumed", function()
    local calls = count_calls()
    for _, way in ipairs { "fail@%d:EIO", "fail@%d:ENOSPC", "fail@%d:EINTR", "short@%d" } do
      for _, n in ipairs(some_of(calls, 6)) do
        local t, plan = new_case(), way:format(n)
        if sweep.run_with_failure(t, plan, LIMIT) then expect_rows(t, plan) end
        expect_whole(t, plan)
        job.check_end()
      end
    end
  end)
end)
