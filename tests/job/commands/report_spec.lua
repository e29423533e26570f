-- `tidemill report --joblog`, `run --joblog` and `status --metrics`: one job with failures,
-- retries, killed workers and a resume, compared with its table of tries.
local job = require "support.job"
local lfs = require "lfs"

local HEADER = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"

-- Number 1 fails once. Number 2 fails, and 4 kills its worker, until GO is set.
local SCRIPT = [[
function run(m, context)
  local n, go = number_of(m[1]), os.getenv "GO"
  if n == 1 and context.try == 1 then error "once" end
  if n == 2 and not go then error "two" end
  if n == 4 and not go then
    local ffi = require "ffi"
    ffi.cdef "int raise(int signal);"
    ffi.C.raise(9)
  end
  return names_of(m)
end]]

--- Seconds since 1970 of "2026-01-31T23:59:58.123456Z", with three digits.
local function seconds(moment)
  local y, m, d, h, min, s, micro = moment:match "^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)%.(%d+)Z$"
  local p = io.popen(("date -u -d '%s-%s-%s %s:%s:%s' +%%s"):format(y, m, d, h, min, s))
  local whole = tonumber(p:read "*l")
  p:close()
  local milli = math.floor((tonumber(micro) + 500) / 1000)
  return ("%d.%03d"):format(whole + math.floor(milli / 1000), milli % 1000)
end

--- What the tables say: the last try of each mini-batch that ended it, in the order of their ends.
local function expected_rows(t)
  local address, last, rows = {}, {}, {}
  for row in t:log("sys/job_report/workers.csv"):gmatch "[^\n]+" do
    local node, name = row:match "^[^,]*,[^,]*,([^,]*),([^,]*),"
    address[node] = name
  end
  local tries = t:tries()
  for i, try in ipairs(tries) do
    if try.Status == "RUN_DONE" or try.Failed ~= "0" then last[try["Mini-batch Id"]] = i end
  end
  for i, try in ipairs(tries) do
    local id, done = try["Mini-batch Id"], try.Status == "RUN_DONE"
    if last[id] == i then
      rows[#rows + 1] = table.concat({ id + 1, address[try.Node], seconds(try["Process Start Time"]),
        ("%10.3f"):format(math.floor(try["Elapsed Seconds"] * 1000 + 1e-6) / 1000), 0, try["Result Bytes"],
        done and 0 or 1, done and 0 or try.Signal == "" and 0 or try.Signal,
        ("tidemill replay %s --mini-batch %s"):format(t.job_dir, id) }, "\t")
    end
  end
  return rows
end

local function rows_of(text)
  assert.equal(HEADER, text:sub(1, #HEADER))
  local rows = {}
  for row in text:sub(#HEADER + 1):gmatch "([^\n]*)\n" do rows[#rows + 1] = row end
  return rows
end

--- The rows that no later one of the same mini-batch follows.
local function last_rows(rows)
  local last, left = {}, {}
  for i, row in ipairs(rows) do last[row:match "^%d+"] = i end
  for i, row in ipairs(rows) do
    if last[row:match "^%d+"] == i then left[#left + 1] = row end
  end
  return left
end

local function report(t, ...) return t:expect(t:run { "report", t.job_dir, "--joblog", ... }, 0).out end

local function fields(row)
  local list = {}
  for field in row:gmatch "[^\t]+" do list[#list + 1] = field end
  return list
end

--- The samples of `status --metrics` by name; with labels.
local function metrics(t)
  local text = t:expect(t:run { "status", t.job_dir, "--metrics" }, 0).out
  assert.is_truthy(text:find "\n# EOF\n$")
  local found = {}
  for name, labels, value in text:gmatch "\n([%w_]+)(%b{}) ([%d.]+)" do found[name] = { tonumber(value), labels } end
  return found
end

local function expect_metrics(t, values)
  local found = metrics(t)
  for name, value in pairs(values) do
    assert.equal(value, (found["tidemill_" .. name] or {})[1], name)
  end
  assert.equal('{pipeline="case",job="job",step="score"}', found.tidemill_tries_total[2])
end

--- What cannot be written, and what it must leave as it was.
local function expect_refusals(t)
  t:write("notes.txt", "buy milk\n")
  t:write("old.tsv", HEADER .. "an older row\n")
  local function refused(status, words, ...)
    job.says(t:run { "report", t.job_dir, ... }, status, words)
  end
  refused(2, "is there already, and is not a joblog", "--joblog", "notes.txt")
  refused(2, "is a folder", "--joblog", "in")
  refused(2, "there is no step 'nope'; there are: score", "--joblog", "x.tsv", "--step", "nope")
  refused(3, "no space left on device", "--joblog", "/dev/full")
  refused(3, "no/x.tsv", "--joblog", "no/x.tsv")
  job.says(t:run { "report", "nojob", "--joblog", "-" }, 2, "there is no job 'nojob'")
  job.says(t:run { "status", t.job_dir, "--json", "--metrics" }, 2, "'--json' does not go with '--metrics'")
  local function in_shell(line, status, words)
    local before = { "sh", "-c", line .. ' exec "$@"', "sh" }
    job.says(t:run({ "report", t.job_dir, "--joblog", "old.tsv" }, { before = before }), status, words)
  end
  in_shell("trap '' XFSZ; ulimit -f 1;", 3, "old.tsv")
  local closed = t:run({ "report", t.job_dir, "--joblog", "-" }, { before = { "sh", "-c", 'exec "$@" >&-', "sh" } })
  job.says(closed, 2, "standard output is closed; name a file: --joblog FILE")
  assert.equal("buy milk\n", t:read "notes.txt")
  assert.equal(HEADER .. "an older row\n", t:read "old.tsv")
  for name in lfs.dir(t.dir) do assert.is_nil(name:find "%.tmp$", name) end
end

--- Files of a job that are damaged, or of another version.
local function expect_damage_shown(t, whole)
  local tries = t.step_dir .. "/logs/sys/job_report/processed_mini-batches.csv"
  local text = t:read(tries)
  t:write(tries, (text:gsub("\n5,%d+,[^\n]*", "\n5,1,process0"))) -- a row that was cut
  local r = t:expect(t:run { "report", t.job_dir, "--joblog", "-" }, 0)
  assert.equal(#whole - 1, #rows_of(r.out))
  job.expect_words(r, { "step 'score': 1 of its 6 mini-batches that have ended is not in " })
  os.remove(tries)
  r = t:expect(t:run { "report", t.job_dir, "--joblog", "-" }, 0)
  assert.equal(HEADER, r.out)
  job.expect_words(r, { "step 'score': 6 of its 6 mini-batches that have ended are not in " })
  t:write(tries, text)
  local journal = t.step_dir .. "/state/journal"
  assert.is_true(t:has(journal))
  t:write(journal, "rubbish")
  assert.same(whole, rows_of(report(t, "-")))
  t:write("job/job.json", (t:read("job/job.json"):gsub('"version": *%d+', '"version": 99')))
  job.says(t:run { "report", t.job_dir, "--joblog", "-" }, 2, "99")
end

describe("report", function()
  after_each(job.check_end)

  it("has the rows of GNU parallel, also as they end, and numbers for a scraper", function()
    local t = job.case()
    t:inputs(6)
    t:script(SCRIPT)
    t:pipeline "mini_batch_size = 1, run_max_try = 2, process_count_per_node = 1, error_threshold = 1"
    t:expect_job(1, { "--joblog", "live.tsv" })
    local first = rows_of(report(t, "-"))
    assert.same(expected_rows(t), first)
    assert.same(first, rows_of(t:read "live.tsv"))
    local exits = {}
    for _, row in ipairs(first) do
      local f = fields(row)
      exits[f[1]] = f[7] .. "/" .. f[8]
    end
    assert.equal("0/0", exits["1"])
    assert.equal("1/0", exits["2"])
    assert.equal("1/9", exits["4"])
    expect_metrics(t, { job_running = 0, job_completed = 0, mini_batches_failed = 2, items_failed = 2, workers = 0,
                        worker_deaths_total = 2, tries_lost_total = 2, tries_failed_total = 3 })

    t:expect(t:run({ "resume", t.job_dir, "--joblog", "live.tsv", "--progress", "none" }, { env = { "GO=1" } }), 0)
    assert.equal("", report(t, "all.tsv"))
    local all = rows_of(t:read "all.tsv")
    assert.equal(6, #all)
    assert.same(expected_rows(t), all)
    assert.same(all, last_rows(rows_of(t:read "live.tsv")))
    for _, row in ipairs(all) do assert.equal("0/0", fields(row)[7] .. "/" .. fields(row)[8]) end
    expect_metrics(t, { job_completed = 1, mini_batches_created = 6, mini_batches_succeeded = 6,
                        mini_batches_failed = 0, mini_batches_remaining = 0,
                        result_bytes_total = 6 * #"0001.txt\n", worker_deaths_total = 2 })

    local words = {}
    for word in fields(t:read("all.tsv"):match "\n(2\t[^\n]*)")[9]:gmatch "%S+" do words[#words + 1] = word end
    assert.equal("tidemill", table.remove(words, 1))
    t:expect(t:run(words, { env = { "GO=1" } }), 0)
    expect_refusals(t)
    report(t, "notes.txt", "--overwrite")
    assert.same(all, rows_of(t:read "notes.txt"))
    expect_damage_shown(t, all)
  end)

  it("is not the reason for a job to fail, and refuses a file before the job begins", function()
    local t = job.case()
    t:inputs(2)
    t:script "function run(m) return names_of(m) end"
    t:pipeline "mini_batch_size = 1"
    t:write("notes.txt", "buy milk\n")
    for _, case in ipairs {
      { "notes.txt", "--joblog: '.*' is there already, and is not a joblog" },
      { "in", "--joblog: cannot open 'in'" },
      { "no/x.tsv", "--joblog: cannot open 'no/x.tsv'" },
      { "-", "tidemill report JOB %-%-joblog %-" },
    } do
      local r = t:expect(t:run_job { "--joblog", case[1] }, 2)
      job.expect_patterns(r, { case[2] })
    end
    assert.is_false(t:has "job")
    assert.equal("buy milk\n", t:read "notes.txt")
    local r = t:run_job { "--joblog", "/dev/full" }
    t:expect(r, 0)
    local _, warnings = r.err:gsub("no space left on device; the job continues without it", "")
    assert.equal(1, warnings)
  end)
end)
