-- `tidemill report`, and --report of a command that runs a job: what the page says, where it goes,
-- and what is never replaced.
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"

-- 3.txt always fails, with a message that looks like markup; run() prints such text, too.
local SCRIPT = [[
function run(m)
  local name = m[1]:match "[^/]+$"
  print "<script>canary</script>"
  if name:find "^0*3%." then error("bad <img src=x onerror=canary()> \27[31m\226\128\174red") end
  return { name }
end
]]

local function expect_page(page, words)
  for _, word in ipairs(words) do
    assert.is_truthy(page:find(word, 1, true), "missing in the page: " .. word)
  end
  assert.is_nil(page:find("<img", 1, true))
  assert.is_nil(page:find("\226\128\174", 1, true))
  assert.is_nil(page:find("\27", 1, true))
end

local function check_refusals(t)
  local function refused(words, options)
    local r = t:run(options)
    t:expect(r, 2)
    job.expect_words(r.err, words)
  end
  local rows = t:read "job/score/failed_items.jsonl"
  refused({ "'score.lua' is there already, and is not a report", "--overwrite" },
    { "report", "job", "-o", "score.lua" })
  refused({ "'in' is a folder; name a file in it" }, { "report", "job", "-o", "in" })
  refused({ "'/dev/null' is not a regular file", "-o -" }, { "report", "job", "-o", "/dev/null" })
  refused({ "'job/score/failed_items.jsonl' is a file of the job itself" },
    { "report", "job", "-o", "job/score/failed_items.jsonl", "--overwrite" })
  refused({ "'--joblog' does not go with '-o'" }, { "report", "job", "-o", "x.html", "--joblog", "x.tsv" })
  refused({ "'--open' needs a file" }, { "report", "job", "-o", "-", "--open" })
  refused({ "there is no step 'other'; there are: score" }, { "report", "job", "--step", "other" })
  refused({ "no job" }, { "report", "nothing" })
  -- before anything is read: the job does not even exist
  refused({ "'score.lua' is there already" }, { "report", "nothing", "-o", "score.lua" })
  assert.equal(rows, t:read "job/score/failed_items.jsonl")
  t:write("any.txt", "mine")
  t:expect(t:run { "report", "job", "-o", "any.txt", "--overwrite" }, 0)
  assert.is_truthy(t:read("any.txt"):find("tidemill report", 1, true))
end

-- One row of the tries is damaged: each output has the others, and says where that is.
local function check_damaged_table(t)
  assert.equal(0, os.execute(("cp -r '%s' '%s'"):format(t.job_dir, t:path "other")))
  local file = "score/logs/sys/job_report/processed_mini-batches.csv"
  local text = t:read("other/" .. file)
  local at = text:find("\n") -- the place of the first row, counted from 0
  local _, rows = text:gsub("\n", "")
  t:write("other/" .. file, text:sub(1, at) .. "\0\0" .. text:sub((text:find("\n", at + 1, true))) .. "1,1,pro")
  local words = ("has 1 row that cannot be read, at byte %d, and ends within the row at byte "):format(at)
  t:expect(t:run { "report", "other" }, 0)
  expect_page(t:read "other/report.html", { "<code>" .. file .. "</code> " .. words })
  local step = json.decode(t:run({ "report", "other", "--json" }).out).steps[1]
  assert.equal(file, step.faulty_tables[1].file)
  assert.equal(at, step.faulty_tables[1].at_byte)
  assert.is_truthy(step.faulty_tables[1].fault:find(words, 1, true))
  assert.equal(rows - 2, step.tries.ok + step.tries.error)
  for _, format in ipairs { "--trace", "--joblog" } do
    local r = t:run { "report", "other", format, "-" }
    t:expect(r, 0)
    job.expect_words(r.err, { "step 'score': logs/sys/job_report/processed_mini-batches.csv " .. words })
  end
end

describe("the page of a job", function()
  after_each(job.check_end)

  it("is written however the job ended, replaces a report and nothing else", function()
    local t = job.case()
    t:inputs(8)
    t:script(SCRIPT)
    t:pipeline("mini_batch_size = 1, process_count_per_node = 2, error_threshold = 0, logging_level = 'DEBUG'")

    -- a file that is not a report is refused before the job begins
    t:write("notes.html", "mine")
    local early = t:run_job { "--report=notes.html" }
    t:expect(early, 2)
    job.expect_words(early.err, {
      "'notes.html' is there already, and is not a report",
      "name another file, or replace it with 'tidemill report --overwrite'",
    })
    assert.is_false(t:has "job")

    local r = t:run_job { "--report" }
    t:expect(r, 1)
    job.expect_words(r.err, { "report: " .. t.job_dir .. "/report.html" })
    local page = t:read "job/report.html"
    expect_page(page, {
      "<!doctype html>", "Content-Security-Policy", "Failed", "and error_threshold tolerates 0.",
      "bad &lt;img src=x onerror=canary()&gt; [U+202E]red", "RUN_EXCEPTION", "score.lua:",
      "<code>tidemill replay ", "0003.txt", "mini_batch_size", "href=\"score/failed_items.jsonl\"",
      "\nstack traceback:\n",
      "What stands out", "<section id=\"timeline\"", "<section id=\"workers\"", "logs/readme.txt",
    })
    assert.equal("rw-------", lfs.attributes(t.job_dir .. "/report.html", "permissions"))

    -- standard output; elsewhere, where links name the job's directory
    local shell = { program = "/bin/sh", env = { "TIDEMILL=" .. os.getenv "TIDEMILL" } }
    t:expect(t:run({ "-c", 'exec "$TIDEMILL" report job -o - >printed' }, shell), 0)
    expect_page(t:read "printed", { "Failed", "href=\"file://" })
    t:expect(t:run { "report", "job", "-o", "there.html" }, 0)
    expect_page(t:read "there.html", { "href=\"file://" })
    t:expect(t:run { "report", "job", "-o", "there.html" }, 0) -- it may replace a report
    check_refusals(t)

    -- a copy whose files are damaged: what is before the damage, and where that is
    assert.equal(0, os.execute(("cp -r '%s' '%s'"):format(t.job_dir, t:path "copy")))
    local journal = t:read "copy/score/state/journal"
    local at = math.floor(#journal / 2)
    t:write("copy/score/state/journal", journal:sub(1, at) .. "\0\255\0" .. journal:sub(at + 4))
    t:write("copy/score/logs/sys/job_report/processed_mini-batches.csv", "Mini-batch Id,Picked Count\n1,")
    t:expect(t:run { "report", "copy" }, 0)
    expect_page(t:read "copy/report.html", {
      "The journal of step <bdi>score</bdi>, <code>score/state/journal</code>, is damaged at byte ",
      "The table score/logs/sys/job_report/processed_mini-batches.csv has 0 of the ", "0003.txt",
    })

    check_damaged_table(t)

    -- a browser gets the file; without one, the page is there all the same
    t:write("browser.sh", "#!/bin/sh\necho \"$1\" >opened.tmp && exec mv opened.tmp opened\n")
    assert.equal(0, os.execute("chmod +x '" .. t:path "browser.sh" .. "'"))
    local opened = t:run({ "report", "job", "--open" }, { env = { "BROWSER=" .. t:path "browser.sh" } })
    t:expect(opened, 0)
    programs.wait_until("the browser", function() return t:has "opened" end)
    assert.equal(t.job_dir .. "/report.html\n", t:read "opened")
    local none = t:run({ "report", "job", "--open" }, { env = { "BROWSER=./missing" } })
    t:expect(none, 0)
    job.expect_words(none.err, { "report: ", "no browser was started: './missing'" })
    page = t:read "job/report.html"

    -- the status of a job stays if its report cannot be written; an older report stays whole
    local full = t:run({ "-c", "trap '' XFSZ; ulimit -f 4; exec \"$TIDEMILL\" report job" }, shell)
    t:expect(full, 3)
    job.expect_words(full.err, { "report.html'", "write the report elsewhere: -o FILE" })
    assert.equal(page, t:read "job/report.html")
    local late = t:run { "resume", "job", "--report=missing/report.html" }
    t:expect(late, 1)
    job.expect_words(late.err, { "the report was not written: cannot write 'missing/report.html'" })

    -- --report never takes the word behind it
    t:expect(t:run { "run", "--report", "pipeline.lua", "--job-dir", "second" }, 1)
    assert.is_true(t:has "second/report.html")
  end)

  it("says what went in and came out, and what the last completed job had", function()
    local t = job.case()
    t:inputs(5)
    assert(lfs.mkdir(t:path "workspace")) -- that remembers the first job, too
    t:script "function run(m) return names_of(m) end"
    local output = [[output = tm.OutputFileDatasetConfig { name = "rows" }:register_on_complete "totals"]]
    t:pipeline([[mini_batch_size = tm.PipelineParameter { name = "pace", default_value = 2 }]], output)
    t:expect(t:run { "run", "pipeline.lua", "--job-dir", "first", "--report" }, 0)
    t:expect(t:run { "run", "pipeline.lua", "--job-dir", "second", "--no-reuse", "--report", "--param", "pace=1" }, 0)
    local page, bytes = t:read "second/report.html", 0
    for name in lfs.dir(t:path "in") do
      if name:sub(1, 1) ~= "." then bytes = bytes + lfs.attributes(t:path("in/" .. name), "size") end
    end
    assert.is_truthy(page:find "<caption>Inputs</caption>.-<td class='num'>5</td>")
    assert.is_truthy(page:find(("<td class='num'>%d bytes</td>"):format(bytes), 1, true))
    assert.is_truthy(page:find "<caption>Outputs</caption>.-<td class='num'>5</td>")
    expect_page(page, {
      "<td>totals:2</td>", "The last completed job of this pipeline, <bdi>first</bdi>, took ", ". This one took ",
      " for 5.", "<th scope='col'>In the last completed job</th>", "<bdi>" .. t.dir .. "/in/*</bdi>",
      "<bdi>pace</bdi></th><td class='path'><code>1</code></td><td class='dim'>--param</td>"
        .. "<td class='path'><code>2</code></td>",
      "<td class='dim'>parameter pace</td>",
    })
    -- a parameter has its default, and an input without a record of its files has their sum, too
    assert.is_truthy(t:read("first/report.html"):find("<bdi>pace</bdi>", 1, true))
    t:expect(t:run { "map", "score.lua", "in", "--job-dir", "mapped", "--report" }, 0)
    page = t:read "mapped/report.html"
    assert.is_truthy(page:find(("<td class='num'>5</td><td class='num'>%d bytes</td>"):format(bytes), 1, true))

    -- each step is compared by the tables of the two jobs
    local function took(dir, seconds)
      local rows = "Succeeded,Elapsed Seconds\n200," .. seconds .. "\n"
      t:write(dir .. "/score/logs/sys/job_report/node_summary.csv", rows)
    end
    took("first", "10.5")
    took("second", "21")
    local found = json.decode(t:run({ "report", "second", "--json" }).out).findings[1]
    assert.equal("slower", found.rule)
    assert.equal("score was slower than last time:", found.head)
    assert.is_truthy(found.text:find("2.0 times as long for an item as in first, ", 1, true))
    assert.equal(10.5e9, found.lost_ns)
  end)

  it("begins with the step that has failures", function()
    local t = job.case()
    t:inputs(2)
    t:write("bad.lua", "function run(m) if m[1]:find '1%.' then error 'no' end return m end")
    t:write("good.lua", "function run(m) return m end")
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      local function step(name)
        local config = { entry_script = name .. ".lua", mini_batch_size = 1, process_count_per_node = 1,
          run_max_try = 1 }
        return tm.ParallelRunStep { name = name, inputs = tm.Dataset.File.from_files "in",
          parallel_run_config = tm.ParallelRunConfig(config) }
      end
      return tm.Pipeline { name = "two", steps = { step "bad", step "good" } }]])
    t:expect(t:run_job { "--report" }, 0)
    local page = t:read "job/report.html"
    -- the only error is the last text in its log, and its stack ends where the log does
    assert.is_truthy(page:find "\nstack traceback:\n[%g \t\n]-bad%.lua:%d+&gt;</pre>")
    expect_page(page, { "<h2>Failures <small>step <bdi>bad</bdi>", "<summary>Step <bdi>good</bdi>" })
  end)
end)
