-- Outputs that become registered datasets, of steps that are reused.
local job = require "support.job"
local json = require "dkjson"

local function case(config, step)
  local t = job.case()
  t:inputs(4)
  t:script "function run(m) return names_of(m) end"
  t:pipeline(config, step)
  return t
end

local function run(t, is_reused, more)
  local r = t:run { "run", "pipeline.lua", "--progress", "none", "--json", unpack(more or {}) }
  t:expect(r, 0)
  assert.equal(is_reused, r.result.steps[1].reused)
end

local function expect_run(t, more) run(t, false, more) end
local function expect_reused(t, more) run(t, true, more) end

describe("a registered output", function()
  after_each(job.check_end)

  it("of a reused step keeps its version", function()
    local t = case("mini_batch_size = 2", [[
      output = tm.OutputFileDatasetConfig { name = "rows" }:register_on_complete "totals"]])
    expect_run(t)
    expect_reused(t)
    local r = t:run { "dataset", "list", "--json" }
    t:expect(r, 0)
    assert.equal(1, json.decode(r.out:match "[^\n]+").version)
    t:write("in/0001.txt", "changed")
    expect_run(t)
    r = t:run { "dataset", "list", "--json" }
    assert.equal(2, json.decode(r.out:match "[^\n]+").version)
  end)

  it("of a reused step gets a new version if another is the newest, or under another name", function()
    local t = case("mini_batch_size = 2", [[
      arguments = { tm.PipelineParameter { name = "day", default_value = "monday" } },
      output = tm.OutputFileDatasetConfig { name = "rows" }:register_on_complete "totals"]])
    local function version(name)
      local r = t:run { "dataset", "show", name or "totals", "--json" }
      t:expect(r, 0)
      return json.decode(r.out:match "[^\n]+").version
    end
    expect_run(t)
    expect_run(t, { "--param", "day=tuesday" })
    assert.equal(2, version())
    expect_reused(t)
    assert.equal(3, version())
    expect_reused(t)
    assert.equal(3, version())
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub('"totals"', '"sums"')))
    expect_reused(t)
    assert.equal(1, version "sums")
    assert.equal(3, version())
  end)
end)
