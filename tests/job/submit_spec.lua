-- pipeline:submit() in a script that the program runs: `tidemill lua`.
local job = require "support.job"

local function new_case(script)
  local t = job.case()
  t:inputs(4)
  t:script "function run(m) return names_of(m) end"
  t:pipeline "mini_batch_size = 2, process_count_per_node = 1"
  t:write("s.lua", "local tidemill = require 'tidemill'\nlocal p = tidemill.load 'pipeline.lua'\n" .. script)
  return t
end

local function run(script)
  local t = new_case(script)
  local r = t:run { "lua", "s.lua" }
  return r, t
end

describe("a script that submits", function()
  after_each(job.check_end)

  it("has its job's events, and what came of it", function()
    local r, t = run [[
      local seen = {}
      local job = p:submit { job_dir = "job", on_event = function(e) seen[#seen + 1] = e.kind .. (e.state or "") end }
      assert(#seen == 0)
      print(job:wait(), job:result().status, job:progress().items, #job:failures())
      print(seen[1], seen[#seen])
    ]]
    t:expect(r, 0)
    assert.equal("Completed\tCompleted\t4\t0\nstateRunning\tstateCompleted\n", r.out)
    assert.equal(4, #t:rows())
  end)

  it("has two jobs at once, and waits for a time", function()
    local r, t = run [[
      local one, two = p:submit { no_reuse = true }, p:submit { no_reuse = true }
      print(one:wait(0))
      print(two:wait(), one:wait(), one.dir ~= two.dir)
    ]]
    t:expect(r, 0)
    assert.match("^nil\t.*ETIMEDOUT\nCompleted\tCompleted\ttrue\n$", r.out)
  end)

  it("ends a job that nobody waits for with itself", function()
    local r, t = run "local job = p:submit { job_dir = 'job' }\nprint(job:status())"
    t:expect(r, 0)
    assert.equal("Running\n", r.out)
    assert.match("tidemill: job 'case' was still running when the script ended, and ends with it; write job:wait() "
      .. "before the end of the script, or resume the job: tidemill resume " .. t:path "job", r.err, 1, true)
    assert.is_false(t:has "job/job_result.json")
    t:expect(t:run { "resume", "job", "--progress", "none" }, 0) -- its record has the pipeline
  end)

  it("says that a pipeline file has submitted a job that ends with the file", function()
    local t = new_case ""
    t:write("s.lua", t:read "s.lua" .. "p:submit { job_dir = 'own' }\nreturn p")
    local r = t:run { "run", "s.lua", "--job-dir", "job", "--progress", "none" }
    t:expect(r, 0)
    assert.match("job 'case' was still running when the script ended", r.err, 1, true)
    assert.is_false(t:has "own/job_result.json")
  end)

  it("says nothing of a job that it closes or waits for", function()
    local r, t = run "p:submit { job_dir = 'a' }:close()\np:submit { job_dir = 'b', no_reuse = true }:wait()"
    t:expect(r, 0)
    assert.equal("", r.err)
  end)

  it("registers its outputs", function()
    local t = new_case [[
      local job = p:submit { job_dir = "job" }
      print(job:wait())
      local tm = tidemill
      print(tm.Dataset.get_by_name(tm.Workspace.from_config(), "rows").version)
    ]]
    t:pipeline("", "output = require 'tidemill'.OutputFileDatasetConfig { name = 'rows' }:register_on_complete 'rows'")
    local r = t:run { "lua", "s.lua" }
    t:expect(r, 0)
    assert.equal("Completed\n1\n", r.out)
  end)

  it("finds the program that it runs in, wherever a shell has found that", function()
    local t = job.case()
    t:inputs(2)
    t:script "function run(m) return names_of(m) end"
    t:pipeline "mini_batch_size = 1"
    t:write("s.lua", 'require "tidemill".load "pipeline.lua":submit { job_dir = "job" }:wait()')
    local r = t:run({}, { before = { "bash", "-c", [[
      mkdir bin; ln -s "$0" bin/tidemill; unset TIDEMILL_PROGRAM; PATH=$PWD/bin:$PATH; tidemill s.lua]] } })
    t:expect(r, 0)
    assert.equal("Completed", t:result().status)
  end)

  it("is told what is wrong, with its line", function()
    local r, t = run "p:submit { job_dirs = 'job' }"
    t:expect(r, 1)
    assert.match("s.lua:3: pipeline:submit: unknown key 'job_dirs'; did you mean 'job_dir'?", r.err, 1, true)
  end)
end)
