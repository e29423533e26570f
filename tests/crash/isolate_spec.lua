-- While a job isolates bad items, and holds large results, its supervisor ends or fails at each of
-- its file calls in turn. After a resume, the rows of good items are there once, in the order of
-- each mini-batch, with the files of good parts and the list of bad items. TM_LONG: every call, not
-- some.
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"
local sweep = require "support.sweep"

local ITEMS, SIZE, LIMIT = 16, 8, 60
local BAD = { [3] = true, [12] = true, [16] = true }

local SCRIPT = [[
local bad = { [3] = true, [12] = true, [16] = true }
function run(m, context)
  local rows = {}
  for i, path in ipairs(m) do
    local n = number_of(path)
    if bad[n] then error("bad " .. n) end
    local file = assert(io.open(context:output_file("files/" .. name_of(path)), "w"))
    file:write(n)
    file:close()
    rows[i] = name_of(path) .. (" "):rep(n == 5 and 2^21 or 80000) .. "end"
  end
  return rows
end]]

local expected = {}
for i = 1, ITEMS do
  if not BAD[i] then expected[#expected + 1] = ("%04d.txt"):format(i) end
end

local function new_case()
  local t = job.case()
  t:inputs(ITEMS)
  t:script(SCRIPT)
  t:pipeline(("mini_batch_size = %d, process_count_per_node = 2, sync_interval = 0.01, run_max_try = 1, "
    .. "isolate_failures = true"):format(SIZE))
  return t
end

local some_of = sweep.some_of
local function faults(plan) return sweep.faults(plan, LIMIT) end

local function count_calls()
  local t = new_case()
  local calls, changes = sweep.count(t)
  local text = t:read "calls"
  assert.is_truthy(text:find "isolated%-%d+%.joined", text) -- a file held rows, which were joined
  return calls, changes
end

local function check_rows(t, what)
  local names, last = {}, {}
  for line in t:read(t.step_dir .. "/output/parallel_run_step.txt"):gmatch "[^\n]+" do
    local name = line:match "^(%S+) +end$"
    local number = tonumber(name:match "%d+")
    local mini_batch = math.ceil(number / SIZE)
    assert.is_true(number > (last[mini_batch] or 0), what .. ": " .. name .. " is behind a later one")
    last[mini_batch] = number
    names[#names + 1] = name
  end
  table.sort(names)
  assert.same(expected, names, what)
end

local function expect_whole(t, what)
  local r = t:run_job({ "--resume" }, { limit = LIMIT })
  if r.status ~= 0 then error(("%s, resumed: status %s\n%s"):format(what, r.status, r.err), 2) end
  assert.same({ total = ITEMS, succeeded = #expected, failed = 3 }, r.result.steps[1].items, what)
  check_rows(t, what)
  local files, bad = {}, {}
  for name in lfs.dir(t.step_dir .. "/output/files") do
    if name ~= "." and name ~= ".." then files[#files + 1] = name end
  end
  table.sort(files)
  assert.same(expected, files, what)
  for line in t:read(t.step_dir .. "/failed_items.jsonl"):gmatch "[^\n]+" do
    local number = tonumber(json.decode(line).item:match "(%d+)%.txt$")
    assert.is_nil(bad[number], what)
    bad[number] = true
  end
  assert.same(BAD, bad, what)
  t:wait_for_none()
end

describe("while bad items are isolated, the supervisor", function()
  after_each(job.check_end)

  it("may be killed at any call that changes a file", function()
    local _, changes = count_calls()
    local hits, wanted = 0, some_of(changes, 16)
    for _, n in ipairs(wanted) do
      local t = new_case()
      local r = t:run_job(nil, faults("kill@" .. n))
      assert.is_true(r.signal == programs.SIGKILL or r.status == 0, "kill@" .. n .. ": " .. r.err)
      hits = hits + (r.signal and 1 or 0)
      expect_whole(t, "kill@" .. n)
      job.check_end()
    end
    assert.is_true(hits > #wanted * 3 / 4, hits .. " of " .. #wanted .. " were killed")
  end)

  it("reports a failed call, and can be resumed", function()
    local calls = count_calls()
    for _, way in ipairs { "fail@%d:EIO", "fail@%d:ENOSPC", "short@%d" } do
      for _, n in ipairs(some_of(calls, 6)) do
        local t, plan = new_case(), way:format(n)
        if sweep.run_with_failure(t, plan, LIMIT) then check_rows(t, plan) end
        expect_whole(t, plan)
        job.check_end()
      end
    end
  end)

  it("may be killed at any moment", function()
    for i = 1, sweep.LONG and 200 or 12 do
      local t = new_case()
      local p = t:start_job()
      programs.pass_ms(math.random(5, 120))
      programs.kill(p.pid, programs.SIGKILL)
      t:finish(p)
      t:wait_for_none()
      expect_whole(t, "kill " .. i)
      job.check_end()
    end
  end)
end)
