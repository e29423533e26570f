-- Settings of nodes that cannot be used together: refused at the line of their configuration.
local job = require "support.job"

local function refused(settings, message)
  local t = job.case()
  t:inputs(1)
  t:script "function run(m) return names_of(m) end"
  t:pipeline(settings)
  local r = t:run { "run", "pipeline.lua" }
  t:expect(r, 2)
  assert.is_truthy(r.err:find("pipeline%.lua:%d+: ParallelRunConfig: "), r.err)
  assert.is_truthy(r.err:find(message, 1, true), r.err)
end

describe("settings of nodes", function()
  after_each(job.check_end)

  for settings, message in pairs {
    ['node_count = 2'] = [['node_count' is 2 with compute_target = "local"]],
    ['instance_count = 2'] = [['node_count' is 2 with compute_target = "local"]],
    ['compute_target = "exec"'] = "'node_command' is missing",
    ['node_command = "x"'] = [['node_command' is given with compute_target = "local"]],
    ['compute_target = "exec", node_command = "{hst}"'] = "'{hst}' is not known",
    ['compute_target = "exec", node_command = "ssh {host}"'] = "there are no 'node_hosts'",
    ['compute_target = "exec", node_command = "ssh {host}", node_count = 2, node_hosts = { "a", "a" }'] =
      "'node_hosts' has 1 different name, but 'node_count' is 2",
    ['compute_target = "exec", node_command = "x", node_hosts = "none.txt"'] = "which cannot be read: cannot open",
    ['compute_target = { name = "cpus" }'] = "'compute_target' is a table",
    ['compute_target = "pbs"'] = [[accepted: "local", "exec" or "slurm"]],
    ['slurm_options = "-p long"'] = [['slurm_options' is given with compute_target = "local"]],
    ['slurm_allocation = "new"'] = [['slurm_allocation' is given with compute_target = "local"]],
    ['compute_target = "slurm", slurm_allocation = "old"'] = [[accepted: "auto" or "new"]],
    ['compute_target = "slurm", node_command = "x"'] = [['node_command' is given with compute_target = "slurm"]],
    ['compute_target = "slurm", slurm_options = "-n 4"'] = "'slurm_options': leave out '-n' (--ntasks): each node is",
    ['compute_target = "slurm", slurm_options = "long"'] = "'long' is not an option",
  } do
    it("are refused: " .. settings, function() refused(settings, message) end)
  end
end)
