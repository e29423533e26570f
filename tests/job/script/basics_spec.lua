-- A job that nothing disturbs: what it reads and what it leaves behind.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"

local ECHO = "function run(m) return names_of(m) end"
local LOG_LINE = "^%d%d%d%d%-%d%d%-%d%d %d%d:%d%d:%d%d,%d%d%d|(%u+)|(%d+)|(%w+)|(.*)$"

-- `run()` returns once `wanted` workers are in it, and otherwise fails.
local RENDEZVOUS = [[
local ffi, lfs = require "ffi", require "lfs"
ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
local here = assert(os.getenv "MEET")
function run(m)
  local me = require "tidemill.entry_script"().agent_name
  io.open(here .. "/" .. me, "w"):close()
  for _ = 1, 4000 do
    local n = 0
    for name in lfs.dir(here) do if name:find "^process" then n = n + 1 end end
    if n >= %d then return names_of(m) end
    ffi.C.poll(nil, 0, 5)
  end
  error "the other workers did not come"
end
]]

local function meet(t, wanted)
  lfs.mkdir(t:path "meet")
  t:script(RENDEZVOUS:format(wanted))
  return { env = { "MEET=" .. t:path "meet" } }
end

local function workers_met(t)
  local n = 0
  for name in lfs.dir(t:path "meet") do if name:find "^process" then n = n + 1 end end
  return n
end

describe("a job", function()
  after_each(job.check_end)

  it("runs the pipeline of the manual", function()
    local t = job.case()
    t:inputs(12, "digits")
    t:script [[
      local seen
      function init() seen = table.concat(arg, " ") end
      function run(m)
        local rows = {}
        for i, path in ipairs(m) do rows[i] = name_of(path) .. " " .. seen end
        return rows
      end]]
    t:write("pipeline.lua", [[
local tidemill = require "tidemill"
local Dataset, ParallelRunConfig = tidemill.Dataset, tidemill.ParallelRunConfig
local ParallelRunStep = tidemill.ParallelRunStep

local images = Dataset.File.from_files("digits/*.txt")
local config = ParallelRunConfig {
  entry_script = "score.lua", mini_batch_size = 5, error_threshold = 10, output_action = "append_row",
  append_row_file_name = "predictions.txt",
  process_count_per_node = tidemill.PipelineParameter { name = "workers", default_value = 2 },
}
local score = ParallelRunStep {
  name = "predict-digits", parallel_run_config = config, inputs = { images:as_named_input("images") },
  output = tidemill.OutputFileDatasetConfig { name = "scores" }, arguments = { "--threshold", "0.5" },
  allow_reuse = true,
}
return tidemill.Pipeline { name = "digits", steps = { score } }
]])
    local r = t:expect_job(0)
    local rows = job.names(12)
    for i, name in ipairs(rows) do rows[i] = name .. " --threshold 0.5" end
    assert.same(rows, t:sorted_lines "job/predict-digits/output/predictions.txt")
    assert.same(t:result(), r.result)
    local step = r.result.steps[1]
    assert.equal("Completed", r.result.status)
    assert.equal(t.job_dir, r.result.job_dir)
    assert.equal("predict-digits", step.name)
    assert.equal("Completed", step.status)
    assert.same({ total = 3, succeeded = 3, failed = 0 }, step.mini_batches)
    assert.same({ total = 12, succeeded = 12, failed = 0 }, step.items)
    assert.equal(false, step.reused)
    assert.equal(0, step.output:find(t.job_dir .. "/predict-digits/output", 1, true) and 0)
  end)

  it("reads files, folders, patterns and lists, in concurrent steps", function()
    local t = job.case()
    for _, name in ipairs { "a1.txt", "b.txt", "b.dat", ".hidden.txt", "sub/c.txt", "sub/deep/d.txt",
                            "sub/.no/e.txt" } do
      t:write("in/" .. name, name)
    end
    t:write("list.txt", t.dir .. "/in/b.txt\n" .. t.dir .. "/in/sub/c.txt\n" .. t.dir .. "/in/b.txt\n")
    t:write("list0.txt", t.dir .. "/in/b.txt\0" .. t.dir .. "/in/a1.txt\0")
    t:script [[function run(m)
      local rows = {}
      for i, path in ipairs(m) do rows[i] = path:match "/in/(.*)" end
      return rows
    end]]
    t:write("pipeline.lua", [[
local tm = require "tidemill"
local File = tm.Dataset.File
local config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 2, process_count_per_node = 1 }
local inputs = {
  files = File.from_files { "in/b.txt", "in/a1.txt" }, folder = File.from_files "in", star = File.from_files "in/*.txt",
  question = File.from_files "in/?.txt", deep = File.from_files "in/**/*.txt", dots = File.from_files "in/.*.txt",
  braces = File.from_files "in/{a1,b}.txt", list = File.from_manifest "list.txt",
  nulls = File.from_manifest("list0.txt", { null_separated = true }),
}
local steps = {}
for name, data in pairs(inputs) do
  steps[#steps + 1] = tm.ParallelRunStep { name = name, parallel_run_config = config, inputs = { data } }
end
return tm.Pipeline { name = "inputs", steps = steps }
]])
    t:expect_job(0)
    local function rows(name)
      return table.concat(t:sorted_lines("job/" .. name .. "/output/parallel_run_step.txt"), " ")
    end
    assert.equal("a1.txt b.txt", rows "files")
    assert.equal("a1.txt b.dat b.txt sub/c.txt sub/deep/d.txt", rows "folder")
    assert.equal("a1.txt b.txt", rows "star")
    assert.equal("b.txt", rows "question")
    assert.equal("a1.txt b.txt sub/c.txt sub/deep/d.txt", rows "deep")
    assert.equal(".hidden.txt", rows "dots")
    assert.equal("a1.txt b.txt", rows "braces")
    assert.equal("b.txt b.txt sub/c.txt", rows "list")
    assert.equal("a1.txt b.txt", rows "nulls")
  end)

  it("splits two inputs one after the other, and gives the name of each", function()
    local t = job.case()
    t:inputs(3, "one")
    t:inputs(2, "two")
    t:script [[function run(m, context)
      local rows = {}
      for i, path in ipairs(m) do
        rows[i] = ("%d %s %s %d"):format(context.minibatch_index, context.dataset_name, path:match "/(%w+/[^/]+)$",
                                         context.try)
      end
      return rows
    end]]
    t:write("pipeline.lua", [[
local tm = require "tidemill"
local step = tm.ParallelRunStep {
  name = "score", parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = "2" },
  inputs = { tm.Dataset.File.from_files("one"):as_named_input("first"),
             tm.Dataset.File.from_files("two"):as_named_input("second") },
}
return tm.Pipeline { name = "two-inputs", steps = { step } }
]])
    t:expect_job(0)
    assert.same({ "0 first one/0001.txt 1", "0 first one/0002.txt 1", "1 first one/0003.txt 1",
                  "2 second two/0001.txt 1", "2 second two/0002.txt 1" }, t:rows())
  end)

  it("takes the first files of an input with take(), and is reused while these are unchanged", function()
    local t = job.case()
    t:inputs(4)
    t:inputs(3, "more")
    t:script(ECHO)
    local function define(more)
      t:write("pipeline.lua", ([[
local tm = require "tidemill"
local files = tm.Dataset.File.from_files
local step = tm.ParallelRunStep {
  name = "score", parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 1 },
  inputs = { files("in/*"):take(3):take(2), files("more"):take(9) }, %s
}
return tm.Pipeline { name = "case", steps = { step } }]]):format(more))
    end
    define ""
    local words = { "run", "pipeline.lua", "--progress", "none", "--json" }
    local r = t:run(words)
    t:expect(r, 0)
    t.step_dir = r.result.job_dir .. "/score"
    assert.same({ "0001.txt", "0001.txt", "0002.txt", "0002.txt", "0003.txt" }, t:rows())
    t:write("in/0003.txt", "beyond what is taken")
    r = t:run(words)
    t:expect(r, 0)
    assert.is_true(r.result.steps[1].reused, r.err)
    define 'side_inputs = { files("more"):take(0) }'
    r = t:run(words)
    t:expect(r, 2)
    assert.is_truthy(r.err:find("pipeline.lua:5: FileDataset: take(count): accepted: an integer from 1 on", 1, true),
      r.err)
  end)

  it("keeps the rows of a mini-batch together and in order", function()
    local t = job.case()
    t:inputs(300)
    t:script [[function run(m, context)
      local rows = {}
      for i = 1, #m do rows[i] = context.minibatch_index .. " " .. i end
      return rows
    end]]
    t:pipeline "mini_batch_size = 7, process_count_per_node = 3"
    t:expect_job(0)
    local expected, last, seen = 1, nil, {}
    for index, i in t:read("job/score/output/parallel_run_step.txt"):gmatch "(%d+) (%d+)\n" do
      if index ~= last then
        assert.is_nil(seen[index])
        seen[index], last, expected = true, index, 1
      end
      assert.equal(expected, tonumber(i))
      expected = expected + 1
    end
    assert.equal(300, #t:rows())
  end)

  it("counts rows with summary_only, and writes no file", function()
    local t = job.case()
    t:inputs(10)
    t:script "function run(m) local all = {} for i = 1, #m do all[i] = print end return all end"
    t:pipeline [[mini_batch_size = 4, output_action = "summary_only"]]
    local r = t:expect_job(0)
    assert.same({ total = 10, succeeded = 10, failed = 0 }, r.result.steps[1].items)
    for name in lfs.dir(t.step_dir .. "/output") do assert.is_truthy(name:find "^%.%.?$", name) end
  end)

  it("starts process_count_per_node workers", function()
    local t = job.case()
    t:inputs(3)
    local o = meet(t, 3)
    t:pipeline "mini_batch_size = 1, process_count_per_node = 3"
    t:expect_job(0, nil, o)
    assert.equal(3, workers_met(t))
    assert.same(job.names(3), t:rows())
  end)

  it("takes the values of its parameters from the command line", function()
    local t = job.case()
    t:inputs(6)
    local o = meet(t, 3)
    t:pipeline([[mini_batch_size = tm.PipelineParameter { name = "size", default_value = 1 },
      process_count_per_node = tm.PipelineParameter { name = "workers", default_value = 1 }]])
    local r = t:expect_job(0, { "--param", "size=2", "--param", "workers=3" }, o)
    assert.equal(3, workers_met(t))
    assert.equal(3, r.result.steps[1].mini_batches.total)
  end)

  it("runs from any directory, and makes its own accessible only to its owner", function()
    local t = job.case()
    t:inputs(2)
    t:script(ECHO)
    t:pipeline "mini_batch_size = 1"
    local r = t:run({ "run", t:path "pipeline.lua", "--job-dir", t.job_dir, "--json" }, { cwd = "/" })
    t:expect(r, 0)
    assert.same(job.names(2), t:rows())
    assert.equal("rwx------", lfs.attributes(t.job_dir, "permissions"))
  end)

  it("resolves --job-dir against the current directory", function()
    local t = job.case()
    t:inputs(2)
    t:script(ECHO)
    t:pipeline()
    lfs.mkdir(t:path "elsewhere")
    local r = t:run({ "run", "../pipeline.lua", "--job-dir", "mine", "--json" }, { cwd = t:path "elsewhere" })
    t:expect(r, 0)
    assert.equal(t:path "elsewhere/mine", r.result.job_dir)
    assert.is_true(t:has "elsewhere/mine/job_result.json")
  end)

  it("picks the name of its directory in the workspace", function()
    local t = job.case()
    t:inputs(2)
    t:script(ECHO)
    t:pipeline()
    local r = t:run { "run", "pipeline.lua", "--json" }
    t:expect(r, 0)
    local jobs = t.dir:gsub("%p", "%%%0") .. "/workspace/jobs/"
    assert.is_truthy(r.result.job_dir:find("^" .. jobs .. "case%-%d+%-%d+%-%w%w%w%w$"), r.result.job_dir)
  end)

  it("has a .partial output only until it is Completed", function()
    local t = job.case()
    t:inputs(4)
    t:script [[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      function run(m)
        if number_of(m[1]) == 4 then
          for _ = 1, 4000 do
            local go = io.open(os.getenv "GO")
            if go then go:close() return names_of(m) end
            ffi.C.poll(nil, 0, 5)
          end
          error "never told to go on"
        end
        return names_of(m)
      end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1"
    local p = t:start_job(nil, { env = { "GO=" .. t:path "go" } })
    t:wait_for "job/score/output/parallel_run_step.txt.partial"
    assert.is_false(t:has "job/score/output/parallel_run_step.txt")
    assert.is_false(t:has "job/job_result.json")
    t:write("go", "")
    t:expect(t:finish(p), 0)
    assert.is_false(t:has "job/score/output/parallel_run_step.txt.partial")
    assert.same(job.names(4), t:rows())
  end)

  it("prints its result as JSON only with --json", function()
    local t = job.case()
    t:inputs(2)
    t:script(ECHO)
    t:pipeline()
    local r = t:run { "run", "pipeline.lua", "--job-dir", "job" }
    t:expect(r, 0)
    assert.is_nil(r.result)
    assert.is_truthy(r.err:find "Completed", r.err)
    assert.is_truthy(t:read("job/score/logs/job_result.txt"):find "Completed")
  end)
end)

describe("the cores of a worker", function()
  after_each(job.check_end)

  -- What workers see, if a node may have so many of them at once.
  local function cores_of(count)
    local t = job.case()
    t:inputs(1)
    t:script [[
      local entry = require "tidemill.entry_script"()
      local worker = require "tidemill.entry_script_c"
      assert(worker.owns_process)
      function run() return { entry.cores .. " " .. tostring(worker.is_only_worker) } end]]
    t:pipeline("process_count_per_node = " .. count)
    t:expect_job(0)
    local cores, is_only = t:rows()[1]:match "^(%d+) (%l+)$"
    assert.equal(tostring(count == 1), is_only)
    return tonumber(cores)
  end

  it("are those of its node, divided by the workers that may be there", function()
    local all = cores_of(1)
    assert.is_true(all >= 1)
    assert.equal(math.max(1, math.floor(all / 2)), cores_of(2))
    assert.equal(1, cores_of(all + 1))
  end)
end)

describe("the log folder", function()
  after_each(job.check_end)

  local function logging_case(level)
    local t = job.case()
    t:inputs(6)
    t:script [[
      local EntryScript = require "tidemill.entry_script"
      local entry = EntryScript()
      function init()
        assert(EntryScript() == entry)
        entry.logger:info("made ready %d%%", 100)
        io.open(entry.log_dir .. "/own." .. entry.agent_name, "w"):close()
        io.open(entry.output_dir .. "/more." .. entry.agent_name, "w"):close()
        io.open(entry.temp_dir .. "/scrap", "w"):close()
        assert(os.getenv "TMPDIR" == entry.temp_dir)
        io.open(os.getenv "TEMP_DIRS", "a"):write(entry.temp_dir .. "\n")
      end
      function run(m)
        print("printed " .. name_of(m[1]))
        io.write "unended"
        io.stderr:write("grumbled " .. name_of(m[1]) .. "\n")
        entry.logger:debug("a detail")
        entry.logger:warning("100% of " .. name_of(m[1]))
        if number_of(m[1]) == 5 then error "no fives" end
        return names_of(m)
      end
      function shutdown() print "shut down" end]]
    t:pipeline(("mini_batch_size = 1, process_count_per_node = 1, run_max_try = 2, logging_level = %q"):format(level))
    t:expect_job(0, nil, { env = { "TEMP_DIRS=" .. t:path "temp_dirs" } })
    return t
  end

  it("holds everything that the script printed and logged", function()
    local t = logging_case "INFO"
    local out = t:log "user/stdout/0/process000.stdout.txt"
    assert.is_truthy(out:find("printed 0001.txt\n", 1, true))
    assert.is_truthy(out:find("unendedshut down\n", 1, true))
    local err = t:log "user/stderr/0/process000.stderr.txt"
    assert.is_truthy(err:find("grumbled 0001.txt\n", 1, true))
    assert.equal(out, t:log "sys/node/0/process000.stdout.txt")
    assert.equal(err, t:log "sys/node/0/process000.stderr.txt")
    local levels = {}
    for line in t:log("user/entry_script_log/0/process000.log.txt"):gmatch "[^\n]+" do
      local level, _, name, message = line:match(LOG_LINE)
      assert.equal("process000", name, line)
      levels[#levels + 1] = level .. " " .. message
    end
    assert.equal("INFO made ready 100%", levels[1])
    assert.equal("WARNING 100% of 0001.txt", levels[2])
    assert.equal(8, #levels)
    assert.is_true(t:has_log "user/entry_script_log/0/own.process000")
    assert.is_true(t:has "job/score/output/more.process000")
  end)

  it("holds debug lines on request, and the temporary folder is gone", function()
    local t = logging_case "DEBUG"
    assert.is_truthy(t:log("user/entry_script_log/0/process000.log.txt"):find "|DEBUG|%d+|process000|a detail\n")
    local dirs = t:sorted_lines "temp_dirs"
    assert.equal(1, #dirs)
    assert.is_nil(lfs.attributes(dirs[1], "mode"))
  end)

  it("holds a row for each try, and the places of errors", function()
    local t = logging_case "INFO"
    local tries, columns = t:tries()
    for i, column in ipairs(columns) do columns[i] = column:match "^%s*(.-)%s*$" end
    assert.same({ "Mini-batch Id", "Picked Count", "Process", "Process Start Time", "Total", "Succeeded", "Failed",
                  "Elapsed Seconds", "Process Seconds", "Run Method Seconds", "Status", "Error Category",
                  "Error Message", "Mini-batch Detail", "Node", "Result Bytes", "Signal", "Script Line",
                  "Error Item" }, columns)
    assert.equal(7, #tries)
    assert.same({ RUN_DONE = 5, RUN_EXCEPTION = 2 }, t:statuses())
    for _, try in ipairs(tries) do
      if try.Status == "RUN_EXCEPTION" then
        assert.equal("4", try["Mini-batch Id"])
        assert.is_truthy(try["Error Message"]:find "no fives")
        assert.is_truthy(try["Mini-batch Detail"]:find "0005.txt")
      end
      assert.equal("process000", try.Process)
      local _, named = try["Mini-batch Detail"]:gsub("%.txt", "")
      assert.equal(1, named, try["Mini-batch Detail"])
    end
    local stack = t:log "user/error/0/process000.txt"
    assert.is_truthy(stack:find "no fives")
    assert.is_truthy(stack:find "score.lua:%d+")
    local summary = t:log "user/error.txt"
    assert.is_truthy(summary:find "no fives")
    assert.is_truthy(t:has "job/score/failed_items.jsonl")
    assert.is_truthy(t:read("job/score/failed_items.jsonl"):find "0005.txt")
  end)

  it("says how the workers and the job ended", function()
    local t = logging_case "INFO"
    assert.is_truthy(t:log("sys/node/0/_main.txt"):find "process000")
    assert.is_truthy(t:log("sys/master_role.txt"):find "Completed")
    local result = t:log "job_result.txt"
    assert.is_truthy(result:find "Completed")
  end)
end)

describe("the terminal", function()
  after_each(job.check_end)

  local function failing_case()
    local t = job.case()
    t:inputs(6)
    t:script [[
      function run(m)
        if number_of(m[1]) % 2 == 0 then error("bad " .. (number_of(m[1]) % 4 == 0 and "four" or "two")) end
        return names_of(m)
      end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1"
    return t
  end

  it("shows no progress with --progress none", function()
    local t = job.case()
    t:inputs(3)
    t:script(ECHO)
    t:pipeline()
    local r = t:expect_job(0)
    assert.is_nil(r.err:find "\r")
    local lines = select(2, r.err:gsub("\n", ""))
    local plain = t:run { "run", "pipeline.lua", "--job-dir", "other", "--progress", "plain", "--json" }
    t:expect(plain, 0)
    assert.is_nil(plain.err:find "\r")
    assert.is_true(select(2, plain.err:gsub("\n", "")) > lines, plain.err)
  end)

  it("shows lines in a pipe, and a bar on a terminal", function()
    local t = job.case()
    t:inputs(3)
    t:script(ECHO)
    t:pipeline()
    local r = t:run { "run", "pipeline.lua", "--job-dir", "job" }
    t:expect(r, 0)
    assert.is_nil(r.err:find "\r")
    assert.is_truthy(r.err:find "\n")
    t:script [[function run(m)
      local until_s = os.clock() + 0.15 -- longer than it takes until a bar is drawn
      repeat until os.clock() > until_s
      return names_of(m)
    end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1"
    t:write("bar.sh", 'exec "$TIDEMILL" run pipeline.lua --job-dir bar\n')
    local shown = programs.start({ "env", t.variable, "TERM=xterm", "script", "-qec", "sh bar.sh", "/dev/null" },
                                 { cwd = t.dir, stdout = t:path "bar.out", stderr = t:path "bar.err" })
    assert.equal(0, shown:wait(20))
    assert.is_truthy(t:read("bar.out"):find "\r[^\n]", t:read "bar.out")
  end)

  it("ends with the counts, and each distinct error once with its place", function()
    local t = failing_case()
    local r = t:run { "run", "pipeline.lua", "--job-dir", "job" }
    t:expect(r, 0)
    for _, words in ipairs { "bad four", "bad two", "score.lua:%d+", "0002%.txt", "0004%.txt", "user/error" } do
      assert.is_truthy(r.err:find(words), words .. " is missing in:\n" .. r.err)
    end
    -- A job that takes a while has shown new errors before its last lines.
    local _, n = r.err:match("\nCompleted: .*"):gsub("bad two", "")
    assert.equal(1, n, r.err)
  end)
end)
