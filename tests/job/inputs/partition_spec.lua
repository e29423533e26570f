-- Files grouped by values in their paths: each combination of values is one mini-batch of any size.
local job = require "support.job"

local KEYS = [[
function run(m, context)
  local keys, rows = context.partition_key_value, {}
  for i, path in ipairs(m) do
    rows[i] = ("%d/%d %s %s %s"):format(i, #m, keys.store, keys.date, path:match "[^/]+$")
  end
  return rows
end
]]

local function files(t)
  for _, path in ipairs { "north/2026/01/31/a.csv", "south/2026/01/31/a.csv", "north/2026/02/01/a.csv",
                          "north/2026/01/31/b.csv", "south/2026/02/01/c.csv" } do
    t:write("in/" .. path, path)
  end
end

local function pipeline(t, config, input)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
local config = tm.ParallelRunConfig { entry_script = "score.lua", process_count_per_node = 2, %s }
local step = tm.ParallelRunStep {
  name = "score", parallel_run_config = config,
  inputs = tm.Dataset.File.from_files("in", { %s }),
}
return tm.Pipeline { name = "case", steps = { step } }
]]):format(config, input or [[partition_format = "{store}/{date:yyyy/MM/dd}/*.csv"]]))
end

describe("partition keys", function()
  after_each(job.check_end)

  it("put files with the same values into one mini-batch", function()
    local t = job.case()
    files(t)
    t:script(KEYS)
    pipeline(t, [[partition_keys = { "store", "date" }]])
    local r = t:expect_job(0)
    assert.same({ total = 4, succeeded = 4, failed = 0 }, r.result.steps[1].mini_batches)
    assert.same({
      "1/1 north 1769904000 a.csv", "1/1 south 1769817600 a.csv", "1/1 south 1769904000 c.csv",
      "1/2 north 1769817600 a.csv", "2/2 north 1769817600 b.csv",
    }, t:rows())
  end)

  it("may be some of the keys in the paths", function()
    local t = job.case()
    files(t)
    t:script [[
      function run(m, context)
        local names = {}
        for name in pairs(context.partition_key_value) do names[#names + 1] = name end
        local rows = {}
        for i in ipairs(m) do rows[i] = context.partition_key_value.store .. " " .. #m .. " " .. #names end
        return rows
      end]]
    pipeline(t, [[partition_keys = "store"]])
    t:expect_job(0)
    assert.same({ "north 3 1", "north 3 1", "north 3 1", "south 2 1", "south 2 1" }, t:rows())
  end)

  it("leave context.partition_key_value nil if they are not set", function()
    local t = job.case()
    files(t)
    t:script [[function run(m, c)
      local k = {}
      for i in ipairs(m) do k[i] = tostring(c.partition_key_value) end
      return k
    end]]
    pipeline(t, "mini_batch_size = 2")
    t:expect_job(0)
    assert.same({ "nil", "nil", "nil", "nil", "nil" }, t:rows())
  end)

  it("are shown by --dry-run", function()
    local t = job.case()
    files(t)
    t:script(KEYS)
    pipeline(t, [[partition_keys = { "date" }]])
    local r = t:run { "run", "pipeline.lua", "--dry-run" }
    t:expect(r, 0)
    assert.truthy(r.out:find("first: mini-batch 0, 3 items: date=2026-01-31: ", 1, true), r.out)
    assert.truthy(r.out:find("last:  mini-batch 1, 2 items: date=2026-02-01: ", 1, true), r.out)
    assert.falsy(t:has "workspace")
  end)

  it("are compared when a job is resumed", function()
    local t = job.case()
    files(t)
    t:script [[
      function run(m, context)
        if context.partition_key_value.store == "south" and not os.getenv "GOOD" then error "south" end
        return m
      end]]
    pipeline(t, [[partition_keys = { "store" }, run_max_try = 1, error_threshold = 0]])
    t:expect_job(1)
    pipeline(t, [[partition_keys = { "date" }, run_max_try = 1, error_threshold = 0]])
    local r = t:run_job { "--resume" }
    t:expect(r, 2)
    assert.truthy(r.err:find([['partition_keys' was ["store"] and is ["date"] ]], 1, true) or
      r.err:find([['partition_keys' was ["store"] and is ["date"];]], 1, true), r.err)
    pipeline(t, [[partition_keys = { "store" }, run_max_try = 1, error_threshold = 0]])
    t:write("in/east/2026/01/01/a.csv", "new")
    r = t:run_job({ "--resume", "--verify-input" }, { env = { "GOOD=1" } })
    t:expect(r, 2)
    assert.truthy(r.err:find("mini-batch 0 was that of store=north and is now that of store=east", 1, true), r.err)
    os.remove(t.dir .. "/in/east/2026/01/01/a.csv")
    t:expect_job(0, { "--resume" }, { env = { "GOOD=1" } })
    assert.equal(5, #t:rows())
  end)

  it("end a job whose paths do not fit, and name the path", function()
    local t = job.case()
    files(t)
    t:write("in/readme.txt", "no data")
    t:script(KEYS)
    for _, config in ipairs { [[partition_keys = { "store" }]], "mini_batch_size = 1" } do
      pipeline(t, config)
      local r = t:run { "run", "pipeline.lua", "--progress", "none" }
      t:expect(r, 1)
      assert.truthy(r.err:find("pipeline.lua:5: FileDataset: '" .. t.dir .. "/in/readme.txt' does not fit", 1, true),
        r.err)
    end
  end)

  it("are refused if an input lacks a key, with file and line", function()
    local t = job.case()
    files(t)
    t:script(KEYS)
    for config, words in pairs {
      ['partition_keys = { "stroe" }'] = { "pipeline.lua:2: ParallelRunConfig", "'stroe'", "did you mean 'store'?",
                                             "input 1", "pipeline.lua:5" },
      ['partition_keys = { "store" }, mini_batch_size = 3'] = { "pipeline.lua:2", "exclude each other" },
      ['partition_keys = {}'] = { "pipeline.lua:2", "'partition_keys' is an empty table; accepted: a list" },
      ['partition_keys = { "store", "store" }'] = { "pipeline.lua:2", "one or more different names" },
      ['mini_batch_size = "10MB"'] = { "pipeline.lua:2", "'mini_batch_size' is \"10MB\"; of files it is a number" },
    } do
      pipeline(t, config)
      local r = t:run { "run", "pipeline.lua", "--dry-run" }
      t:expect(r, 2)
      for _, word in ipairs(words) do assert.truthy(r.err:find(word, 1, true), r.err) end
    end
    pipeline(t, [[partition_keys = { "store" }]], "")
    local r = t:run { "run", "pipeline.lua", "--dry-run" }
    t:expect(r, 2)
    assert.truthy(r.err:find("has no partition_format", 1, true), r.err)
    pipeline(t, "", [[partition_format = "{store}/{date:YYYY}/*"]])
    r = t:run { "run", "pipeline.lua", "--dry-run" }
    t:expect(r, 2)
    assert.truthy(r.err:find("pipeline.lua:5: FileDataset: 'partition_format' is", 1, true), r.err)
    assert.truthy(r.err:find("did you mean 'yyyy'?", 1, true), r.err)
  end)

  it("work for map and try, from the command line", function()
    local t = job.case()
    files(t)
    t:script(KEYS)
    local words = { "score.lua", "in", "--partition-format", "{store}/{date:yyyy/MM/dd}/*.csv", "--partition-keys",
                    "store,date" }
    local r = t:run { "map", unpack(words) }
    t:expect(r, 0)
    local _, lines = r.out:gsub("\n", "")
    assert.equal(5, lines)
    r = t:run { "try", unpack(words) }
    t:expect(r, 0)
    assert.equal("1/2 north 1769817600 a.csv\n2/2 north 1769817600 b.csv\n", r.out)
  end)
end)
