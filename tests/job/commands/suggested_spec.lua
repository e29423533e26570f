-- Commands that messages suggest: a path with a blank is quoted for the shell.
local job = require "support.job"

local function new_case()
  local t = job.case()
  t:inputs(2)
  t:script "function run(m) return names_of(m) end"
  t.job_dir = t:path "a job"
  t.quoted = "'" .. t.job_dir .. "'"
  return t
end

local says = job.says

describe("a suggested command", function()
  after_each(job.check_end)

  it("that accepts changes already is not said twice", function()
    local t = new_case()
    t:script "function run() error 'not today' end"
    local words = { "map", "score.lua", "in", "--job-dir", "job", "--progress", "none" }
    local r = t:run(words)
    t:expect(r, 1)
    assert.matches("\nto go on: [^\n]* %-%-resume\nafter a change [^\n]* %-%-resume %-%-accept%-changes\n$", r.err)
    words[#words + 1], words[#words + 2] = "--resume", "--accept-changes"
    r = t:run(words)
    t:expect(r, 1)
    assert.matches("\nto go on: [^\n]* %-%-accept%-changes[^\n]*\n$", r.err)
    assert.is_nil(r.err:find("after a change", 1, true))
  end)
end)

describe("a suggested command quotes", function()
  after_each(job.check_end)

  it("an entry script that was run as a pipeline, and a pipeline as an entry script", function()
    local t = new_case()
    t:write("my score.lua", "function run(m) return m end")
    says(t:run { "run", "my score.lua" }, 2, "an entry script runs by: tidemill map 'my score.lua' INPUT...")
    t:pipeline()
    t:write("my pipeline.lua", t:read("pipeline.lua"):gsub("return (tm.Pipeline %b{})", "local p = %1 return p"))
    says(t:run { "try", "my pipeline.lua", "in" }, 1, "to run it: tidemill run '" .. t:path "my pipeline.lua" .. "'")
  end)

  it("the folder of a module that was not copied", function()
    local t = new_case()
    t:write("a folder/helper.lua", "")
    t:write("a folder/score.lua", "require 'helper' function run(m) return m end")
    says(t:run { "map", "a folder/score.lua", "in", "--progress", "none" }, 1,
         "or map --source-directory '" .. t:path "a folder" .. "'; ")
  end)

  it("a job that was interrupted", function()
    local t = new_case()
    t:pipeline()
    t:expect(t:run { "run", "pipeline.lua", "--progress", "none" }, 0)
    t.job_dir = t:path "workspace/jobs/a job"
    t:expect_job(0)
    assert(os.remove(t.job_dir .. "/job_result.json"))
    says(t:run { "jobs" }, 0, "1 job was interrupted; to resume it: tidemill resume 'a job'\n")
  end)

  it("a job whose definition is not recorded", function()
    local t = new_case()
    t:expect(t:run { "map", "score.lua", "in", "--environment-variables", "A=1", "--job-dir", t.job_dir, "--progress",
                     "none" }, 0)
    assert(os.remove(t.job_dir .. "/job_result.json"))
    says(t:run { "resume", t.job_dir }, 2, "that started it again, with --resume --job-dir " .. t.quoted .. "\n")
  end)

  it("a job whose output is registered", function()
    local t = new_case()
    t:pipeline(nil, "output = tm.OutputFileDatasetConfig { name = 'rows' }:register_on_complete 'my rows'",
               "tm.Workspace.from_config()")
    t:expect_job(0)
    says(t:run { "clean", t.job_dir }, 2, "to let it go: tidemill dataset unregister 'my rows'")
  end)

  it("a job that a step cannot take over", function()
    local t = new_case()
    t:pipeline(nil, ([[arguments = { "--resume_from", %q }]]):format(t.job_dir))
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub(':as_named_input%("in"%)', ':as_mount "there"')))
    says(t:run { "run", "pipeline.lua" }, 2, "to resume that job itself: tidemill resume " .. t.quoted .. "\n")
  end)
end)
