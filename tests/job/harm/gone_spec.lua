-- Files of a job that somebody has removed or emptied: each command names the file and says what it
-- was for, and the command at the end of the message works.
local job = require "support.job"

local TABLE = [[
local tm = require "tidemill"
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
  name = "score", inputs = tm.Dataset.Tabular.from_delimited_files("in/a.csv"),
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", run_max_try = 1, error_threshold = 0,
    process_count_per_node = 1, partition_keys = { "city" }, append_row_file_name = "out.csv" } } } }
]]

local SCRIPT = [[
  function run(df, context)
    if context.minibatch_index > 1 and not os.getenv "GOOD" then
      for i = 0, 1 do wait_for_file("%s/output/" .. i .. ".txt") end
      error "not yet"
    end
    take_a_millisecond()
    local file = io.open(context:output_file(context.minibatch_index .. ".txt"), "w")
    file:write "x"
    file:close()
    return df
  end]]

local GOOD = { env = { "GOOD=1" } }

--- A job over the groups of a table that has failed after two of them.
local function failed_case()
  local t = job.case()
  local lines = { "id,city" }
  for i = 1, 30 do lines[#lines + 1] = ("%d,city%d"):format(i, i % 6) end
  t:write("in/a.csv", table.concat(lines, "\n") .. "\n")
  t:script(SCRIPT:format(t.step_dir))
  t:write("pipeline.lua", TABLE)
  t:expect_job(1)
  return t
end

local function expect_text(text, ...)
  for _, words in ipairs { ... } do assert.is_truthy(text:find(words, 1, true), words .. " is missing in: " .. text) end
end

--- Runs the command at the end of `text`, in a new directory. It must work.
local function expect_last_command(t, text)
  local words = {}
  t.commands = (t.commands or 0) + 1
  for word in text:match("to start a new job: tidemill ([^\n]*)\n$"):gmatch "%S+" do words[#words + 1] = word end
  words[#words + 1] = "--job-dir"
  words[#words + 1] = t:path("new" .. t.commands)
  t:expect(t:run(words, GOOD), 0)
end

local FILES = {
  ["state/journal"] = "it says which mini-batches are committed",
  ["state/manifest"] = "it is the list of mini-batches",
  ["state/failures"] = "it has the failed items",
  ["state/files"] = "it says which mini-batch made which output file",
  ["state/groups-0"] = "it has the rows of the tables, by their keys",
  ["output/out.csv.partial"] = "it has the rows of committed mini-batches",
}

local changes = {
  removed = function(t, name) assert(os.remove(t:path(name))) end,
  emptied = function(t, name) t:write(name, "") end,
}

describe("a file of a step", function()
  after_each(job.check_end)

  for name, purpose in pairs(FILES) do
    for how, change in pairs(changes) do
      it("that is " .. how .. " is named by status and resume: " .. name, function()
        local t = failed_case()
        local path = "job/score/" .. name
        local kept = t:read(path)
        change(t, path)
        local words = { path .. "' has been removed or emptied", purpose }
        local said = t:run { "status", t.job_dir }
        t:expect(said, 0)
        expect_text(said.out, "the job cannot be resumed", unpack(words))
        expect_last_command(t, said.out)
        local r = t:run({ "resume", t.job_dir, "--progress", "none" }, GOOD)
        t:expect(r, 3)
        -- an output that is newer than the journal is read: the message is that of verify
        if r.err:find("the output is not what was committed", 1, true) then expect_text(r.err, path)
        else expect_text(r.err, unpack(words)) end
        assert.is_truthy(r.err:find "; to start a new job: tidemill run [^\n]*pipeline%.lua\n$", r.err)
        expect_last_command(t, t:expect_job(3, { "--resume" }, GOOD).err)
        local v = t:run { "verify", t.job_dir }
        t:expect(v, 3)
        expect_text(v.err, path .. "'")
        t:write(path, kept)
        t:expect_job(0, { "--resume" }, GOOD)
        assert.equal(31, #t:sorted_lines "job/score/output/out.csv")
      end)
    end
  end

  it("is named if all of state/ is removed", function()
    local t = failed_case()
    assert(os.execute(("rm -r '%s'"):format(t:path "job/score/state")) == 0)
    local words = "job/score/state/journal' has been removed"
    expect_text(t:run({ "status", t.job_dir }).out, "the job cannot be resumed", words)
    expect_text(t:expect_job(3, { "--resume" }, GOOD).err, words)
  end)

  it("is named by run --resume and map --resume, and their last commands have the same options", function()
    local t = failed_case()
    local with = [[run_max_try = tm.PipelineParameter { name = "tries", default_value = 3 }]]
    t:write("pipeline.lua", (TABLE:gsub("run_max_try = 1", with)))
    local again = { "run", "pipeline.lua", "--param", "tries=1", "--progress", "none", "--job-dir", "again" }
    t:expect(t:run(again), 1)
    t:write("again/score/state/manifest", "")
    again[#again + 1] = "--resume"
    local r = t:expect(t:run(again, GOOD), 3)
    expect_text(r.err, "pipeline.lua --param tries=1\n")
    expect_last_command(t, r.err)
    local map = { "map", "score.lua", "in/a.csv", "--run-max-try", "1", "--rows", "--mini-batch-size", "4rows",
                  "--job-dir", "mapped", "--error-threshold", "0", "--progress", "none" }
    t:expect(t:run(map), 1)
    t:write("mapped/score/state/manifest", "")
    map[#map + 1] = "--resume"
    r = t:expect(t:run(map, GOOD), 3)
    expect_text(r.err, "--run-max-try 1 --rows --mini-batch-size 4rows --error-threshold 0 --progress none\n")
    expect_last_command(t, r.err)
  end)

  it("with rows by their keys is missing at its old place if the job was moved", function()
    local t = failed_case()
    assert(os.rename(t.job_dir, t:path "moved"))
    local said = t:run({ "status", t:path "moved" }).out
    expect_text(said, "the job cannot be resumed", "has been moved", "move the job back")
    local r = t:run({ "resume", t:path "moved", "--progress", "none" }, GOOD)
    t:expect(r, 3)
    expect_text(r.err, "has been moved", "move the job back")
    assert(os.rename(t:path "moved", t.job_dir))
    t:expect_job(0, { "--resume" }, GOOD)
  end)
end)

describe("a record of a job", function()
  after_each(job.check_end)

  it("that is missing is named by every command", function()
    local t = failed_case()
    assert(os.remove(t:path "job/job.json"))
    for _, command in ipairs { "status", "verify", "logs", "resume" } do
      local r = t:run { command, t.job_dir }
      t:expect(r, 2)
      expect_text(r.err, "job/job.json' is missing", "restore it, or start a new job", "rm -r " .. t.job_dir)
    end
  end)

  it("of its result may be removed if it is damaged", function()
    local t = failed_case()
    t:write("job/job_result.json", "")
    local r = t:run { "status", t.job_dir }
    t:expect(r, 3)
    expect_text(r.err, "job_result.json' is damaged")
    local command = assert(r.err:match "to remove it: (rm [^\n]*)\n$", r.err)
    assert(os.execute(command) == 0)
    t:expect_job(0, { "--resume" }, GOOD)
    assert.equal(31, #t:sorted_lines "job/score/output/out.csv")
  end)
end)
