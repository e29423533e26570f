-- pipeline:submit() in a script that the program runs: `tidemill lua`.
local job = require "support.job"
local programs = require "support.programs"

local function new_case(script)
  local t = job.case()
  t:inputs(4)
  t:script "function run(m) return names_of(m) end"
  t:pipeline "mini_batch_size = 2, process_count_per_node = 1"
  t:write("s.lua", "local tidemill = require 'tidemill'\nlocal p = tidemill.load 'pipeline.lua'\n" .. script)
  return t
end

local function run(script, o)
  local t = new_case(script)
  local r = t:run({ "lua", "s.lua" }, o)
  return r, t
end

describe("a script that submits a job", function()
  after_each(job.check_end)

  it("shows the notes about the pipeline file, also about one that this file loads", function()
    local t = new_case "print(p:submit { job_dir = 'job' }:wait())"
    t:pipeline("mini_batch_size = 2", "allow_reuse = Flase")
    local noted = "^tidemill: note: [^\n]*pipeline%.lua:%d+: the variable 'Flase' is not defined: it is nil; "
      .. "if it may be nil, write _G%.Flase\n"
    local r = t:run { "lua", "s.lua" }
    t:expect(r, 0)
    assert.matches(noted, r.err)
    t:write("outer.lua", "return require('tidemill').load 'pipeline.lua'")
    assert.matches(noted, t:run({ "run", "outer.lua", "--dry-run" }).err)
  end)

  it("gets the events and the result of its job", function()
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

  it("gets events that name the worker and its node", function()
    local r, t = run([[
      local seen = {}
      local job = p:submit { job_dir = "job", on_event = function(e)
        if e.kind == "worker" or e.kind == "mini_batch" then
          assert(e.worker:match "^process%d+$" and e.node_id == "]] .. job.NODE .. [[" and #e.node_address > 0)
          seen[e.kind] = true
        else
          local has_node = "]] .. job.NODE .. [[" ~= "0" and (e.kind == "node" or e.kind == "log")
          assert(not e.worker and (has_node or not (e.node_id or e.node_address)))
        end
      end }
      print(job:wait(), seen.worker, seen.mini_batch)
    ]])
    t:expect(r, 0)
    assert.equal("Completed\ttrue\ttrue\n", r.out)
  end)

  it("can run two jobs at once, and wait with a timeout", function()
    local r, t = run [[
      local one, two = p:submit { no_reuse = true }, p:submit { no_reuse = true }
      print(one:wait(0))
      print(two:wait(), one:wait(), one.dir ~= two.dir)
    ]]
    t:expect(r, 0)
    assert.match("^nil\t.*ETIMEDOUT\nCompleted\tCompleted\ttrue\n$", r.out)
  end)

  it("waits at its end for the jobs that still run, and shows what became of them", function()
    local r, t = run "local job = p:submit { job_dir = 'job' }\nprint(job:status())"
    t:expect(r, 0)
    assert.equal("Running\n", r.out)
    assert.match("the script has ended; waiting for job 'case' (Ctrl-C cancels it): " .. t:path "job", r.err, 1, true)
    assert.match("Completed", r.err, 1, true)
    assert.is_nil(r.err:find("was still running", 1, true))
    assert.equal("Completed", t:result().status)
    assert.equal(4, #t:rows())
  end)

  it("waits for several, and ends with the status of one that is not Completed", function()
    local t = new_case [[
      local n = 0
      p:submit { job_dir = "job", no_reuse = true, on_event = function() n = n + 1 collectgarbage() end }
      tidemill.load "bad.lua":submit { job_dir = "bad" }
      _ = newproxy(true)
      getmetatable(_).__gc = function() print(n > 1) end
    ]]
    t:write("bad.lua", (t:read "pipeline.lua":gsub("score.lua", "bad_score.lua")))
    t:script("function run() error 'no' end", "bad_score.lua")
    local r = t:run { "s.lua" }
    t:expect(r, 1)
    assert.equal("true\n", r.out)
    assert.match("tidemill resume " .. t:path "bad", r.err, 1, true)
    assert.equal("Completed", t:result().status)
    assert.match('"Failed"', t:read "bad/job_result.json", 1, true)
  end)

  it("waits for its job after an error, too, and has the status of the error", function()
    local r, t = run "p:submit { job_dir = 'job' }\nerror 'after'"
    t:expect(r, 1)
    assert.match("s.lua:4: after", r.err, 1, true)
    assert.equal("Completed", t:result().status)
  end)

  it("is not called a pipeline that nothing has run if it returns the pipeline, too", function()
    local r, t = run "p:submit { job_dir = 'job' }\nreturn p"
    t:expect(r, 0)
    assert.is_nil(r.err:find("nothing has run it", 1, true))
    assert.equal("Completed", t:result().status)
  end)

  it("cancels the jobs that it waits for after a Ctrl-C, and kills them after another", function()
    local t = new_case "p:submit { job_dir = 'job' }"
    t:script [[
      function run(m)
        assert(io.open(os.getenv "BEGUN", "w")):close()
        os.execute "exec sleep 1000"
      end]]
    local p = t:start({ "s.lua" }, { env = { "BEGUN=" .. t:path "begun" } })
    t:wait_for "begun"
    p:kill(programs.SIGINT)
    t:wait_for(p.err_file, "canceling: no more")
    programs.pass_ms(30) -- within 20 ms, it counts as the same Ctrl-C
    p:kill(programs.SIGINT)
    local r = t:finish(p, 20)
    t:expect(r, 130)
    assert.match("canceling: what still runs is killed", r.err, 1, true)
    assert.match("tidemill resume " .. t:path "job", r.err, 1, true)
    assert.equal("Canceled", t:result().status)
  end)

  it("ends its job with itself if it calls os.exit(), and the job can be resumed", function()
    local nothing_is_freed = { env = { "ASAN_OPTIONS=detect_leaks=0" } }
    local r, t = run("p:submit { job_dir = 'job' }\nos.exit(7)", nothing_is_freed)
    t:expect(r, 7)
    assert.is_false(t:has "job/job_result.json")
    local resumed = t:run { "resume", "job", "--progress", "none" } -- its record has the pipeline
    t:expect(resumed, 0)
    assert.is_nil(resumed.err:find("does not print", 1, true), resumed.err) -- as nothing ever did
  end)

  it("is refused as a pipeline file, which each command would load and submit again", function()
    local t = new_case ""
    t:write("s.lua", t:read "s.lua" .. "p:submit { job_dir = 'own' }\nreturn p")
    local words = "s.lua:3: pipeline:submit(): '" .. t:path "s.lua" .. "' is being loaded as a pipeline file, and "
      .. "'tidemill run' submits the pipeline that it returns; leave submit() out, or run the file as a script: "
      .. "tidemill " .. t:path "s.lua"
    for _, argv in ipairs { { "run", "s.lua", "--job-dir", "job" }, { "run", "s.lua", "--dry-run" } } do
      local r = t:run(argv)
      t:expect(r, 2)
      assert.match(words, r.err, 1, true)
    end
    assert.is_false(t:has "own")
    assert.is_false(t:has "job")
    t:write("load.lua", "require 'tidemill'.load 's.lua'")
    assert.match("s.lua:3: pipeline:submit(): 's.lua' is being loaded", t:run { "load.lua" }.err, 1, true)
  end)

  it("gets no warning for a job that it closes or waits for", function()
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

  it("finds the running program, however the shell found it", function()
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

  it("gets errors with their lines", function()
    local r, t = run "p:submit { job_dirs = 'job' }"
    t:expect(r, 1)
    assert.match("s.lua:3: pipeline:submit: unknown key 'job_dirs'; did you mean 'job_dir'?", r.err, 1, true)
  end)
end)
