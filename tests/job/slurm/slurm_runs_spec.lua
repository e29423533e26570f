-- Jobs on Slurm have the same results as on one machine: with munge and without it, as root and as
-- an ordinary user, in real Slurm clusters on this machine (support/slurm.sh).
local job = require "support.job"
local slurm = require "support.slurm"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local DIGITS = (here:sub(1, 1) == "/" and here or require("lfs").currentdir() .. "/" .. here) ..
               "/../../../examples/digits"
local LIMIT = 120 -- seconds for a job: far more than it takes
local USER = 65534
local NODES = [[compute_target = "slurm", slurm_options = "--exclusive", node_count = 2, process_count_per_node = 2,]]

-- Two steps, which share their nodes: groups of a table, and files that the script writes.
local PIPELINE = [[
local tm = require "tidemill"
local function step(name, inputs, config)
  config.entry_script, config.error_threshold = name .. ".lua", 0
  return tm.ParallelRunStep { name = name, inputs = inputs, parallel_run_config = tm.ParallelRunConfig(config) }
end
return tm.Pipeline { name = "case", steps = {
  step("groups", tm.Dataset.Tabular.from_delimited_files("in/a.csv"),
       { %s partition_keys = { "city" }, append_row_file_name = "out.csv" }),
  step("files", tm.Dataset.File.from_files("in/*.txt"), { %s output_action = "summary_only", mini_batch_size = 1 }),
} }
]]
local FILES = [[
function run(m, context)
  for _, path in ipairs(m) do
    local file = assert(io.open(context:output_file(name_of(path)), "w"))
    file:write(name_of(path):rep(3))
    assert(file:close())
  end
  return m
end]]

local function case(o)
  local t, lines = job.case(o), { "id,city" }
  for i = 1, 60 do lines[#lines + 1] = ("%d,city%d"):format(i, i % 7) end
  t:write("in/a.csv", table.concat(lines, "\n") .. "\n")
  t:inputs(20)
  t:script("function run(df) return df end", "groups.lua")
  t:script(FILES, "files.lua")
  return t
end

--- All that the two steps have written, by a pipeline whose steps have these settings.
local function outputs(t, settings, options)
  t:write("pipeline.lua", PIPELINE:format(settings, settings))
  if options.user then assert(os.execute(("chown -R %d '%s'"):format(USER, t.dir)) == 0) end
  t:expect_job(0, nil, options)
  local list = "for f in $(find job/*/output -type f | sort); do echo $f; sort $f; done; rm -r job"
  return t:expect(t:run({ "-c", list }, { program = "sh" }), 0).out
end

local function compare(cluster, o)
  local t = case(o)
  local before = cluster.user and slurm.as_user(cluster.user) or nil
  local expected = outputs(t, "", { limit = LIMIT, before = before, user = cluster.user })
  assert.equal(21, select(2, ("\n" .. expected):gsub("\njob/", ""))) -- files
  assert.equal(expected, outputs(t, NODES, { env = { cluster.variable }, limit = LIMIT, before = before,
                                             user = cluster.user }))
  cluster:wait_for_idle() -- the last Slurm job may be completing
end

local function digits(settings, options)
  local t = job.case()
  local file = assert(io.open(DIGITS .. "/pipeline.lua"))
  local text = file:read("*a"):gsub('"images/', '"' .. DIGITS .. "/images/"):gsub('"model"', '"' .. DIGITS .. '/model"')
  file:close()
  t:write("pipeline.lua", (text:gsub("mini_batch_size = 5,", "mini_batch_size = 5, " .. settings)))
  t:expect_job(0, nil, options)
  return t:sorted_lines "job/predict-digits/output/predictions.txt"
end

describe("jobs on Slurm have the same results as on one machine", function()
  local cluster
  after_each(function()
    job.check_end()
    if cluster then cluster:stop() end
    cluster = nil
  end)

  it("with munge: also the example of digits", function()
    cluster = slurm.start {}
    if not cluster then return pending(slurm.MISSING) end
    compare(cluster)
    local expected = digits("", { limit = LIMIT })
    assert.equal(200, #expected)
    assert.same(expected, digits(NODES, { env = { cluster.variable }, limit = LIMIT }))
  end)

  it("without munge", function()
    cluster = slurm.start { variables = { AUTH = "none" } }
    if not cluster then return pending(slurm.MISSING) end
    compare(cluster)
  end)

  it("for an ordinary user", function()
    if os.execute "setpriv --reuid=65534 --clear-groups true 2>&-" ~= 0 then return pending "needs root" end
    cluster = slurm.start { user = USER }
    if not cluster then return pending(slurm.MISSING) end
    compare(cluster, { for_others = true })
  end)
end)
