-- A job on the rows of a table, also grouped by a key, is killed at calls that change a file, or
-- such a call fails. After a resume, it has the rows of an undisturbed job. The files of a table:
-- schema.json and the groups.
local job = require "support.job"
local sweep = require "support.sweep"

--- keys: nil, "grouped" by partition_keys, or also "written" before by partition_by.
local function new_case(keys)
  local t = job.case()
  for file = 1, 3 do
    local lines = { "id,city" }
    for i = 1, 40 do lines[#lines + 1] = ("%d,city%d"):format(file * 100 + i, i % 5) end
    t:write(("in/%d.csv"):format(file), table.concat(lines, "\n") .. "\n")
  end
  t:script [[function run(df, context)
    local rows = {}
    local size = context.partition_key_value and #df or 0
    for i = 1, #df do rows[i] = ("%d %s %d"):format(df.c.id[i], df.c.city[i], size) end
    return rows
  end]]
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
local config = tm.ParallelRunConfig { entry_script = "score.lua", process_count_per_node = 2, sync_interval = 0.01, %s }
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep { name = "score", parallel_run_config = config,
  inputs = tm.Dataset.Tabular.from_delimited_files("in/*.csv")%s } } }
]]):format(keys and [[partition_keys = "city"]] or [[mini_batch_size = "15rows"]],
    keys == "written" and [[:partition_by("city", "parts")]] or ""))
  return t
end

local function expected(keys)
  local rows = {}
  for file = 1, 3 do
    for i = 1, 40 do rows[#rows + 1] = ("%d city%d %d"):format(file * 100 + i, i % 5, keys and 24 or 0) end
  end
  table.sort(rows)
  return rows
end

local function disturb(keys, plan, wanted)
  local _, changes = sweep.count(new_case(keys))
  assert.is_true(changes > 30)
  for _, n in ipairs(sweep.some_of(changes, wanted)) do
    local t, what = new_case(keys), plan:format(n)
    t:run_job(nil, sweep.faults(what))
    local r = t:run_job({ "--resume" }, { limit = sweep.LIMIT })
    if r.status ~= 0 then error(("%s, resumed: status %s\n%s"):format(what, r.status, r.err), 2) end
    assert.same(expected(keys), t:rows(), what)
    t:wait_for_none()
    job.check_end()
  end
end

describe("the lister of tables", function()
  after_each(job.check_end)

  it("may be killed while it splits rows", function() disturb(nil, "kill@%d", 25) end)
  it("may be killed while it groups rows", function() disturb("grouped", "kill@%d", 40) end)
  it("may fail while it groups rows", function() disturb("grouped", "fail@%d:EIO", 15) end)
  it("may be killed while partition_by writes rows", function() disturb("written", "kill@%d", 40) end)
  it("may fail while partition_by writes rows", function() disturb("written", "fail@%d:EIO", 15) end)
end)
