-- Where a step runs may change from session to session, and does not count when its result is
-- reused. A node is a `tidemill node` process on this machine.
local job = require "support.job"

local SCRIPT = [[
function run(m)
  if number_of(m[1]) == 3 and not os.getenv "GO" then error "not yet" end
  return names_of(m)
end]]
local HERE = "mini_batch_size = 1, run_max_try = 1, error_threshold = 0"
local NODES = HERE .. [[, node_count = 2, compute_target = "exec", node_hosts = { "one", "two", "three" },
  node_command = { "env", "NAME={host}", "{program}", "node" }, node_timeout = 20, node_start_timeout = 50,
  node_wait = 100, ship_source = true]]

local function case(config)
  local t = job.case()
  t:inputs(6)
  t:script(SCRIPT)
  t:pipeline(config)
  return t
end

local function is_reused(t, more)
  local words = { "run", "pipeline.lua", "--progress", "none", "--json" }
  for _, word in ipairs(more or {}) do words[#words + 1] = word end
  local r = t:run(words, { env = { "GO=1" } })
  t:expect(r, 0)
  return r.result.steps[1].reused
end

describe("a job", function()
  after_each(job.check_end)

  for _, one in ipairs { { "of this machine is resumed on nodes", HERE, NODES },
                         { "of nodes is resumed on this machine", NODES, HERE } } do
    it(one[1], function()
      local t = case(one[2])
      t:expect_job(1)
      t:pipeline(one[3])
      t:expect_job(0, { "--resume" }, { env = { "GO=1" } })
      assert.same(job.names(6), t:rows())
      assert.is_true(t:has "job/nodes/1.json")
    end)
  end

  it("of nodes is not run again on this machine, nor the reverse", function()
    local t = case(HERE)
    assert.is_false(is_reused(t))
    t:pipeline(NODES)
    assert.is_true(is_reused(t))
    assert.is_false(is_reused(t, { "--no-reuse" }))
    t:pipeline(HERE)
    assert.is_true(is_reused(t))
  end)
end)
