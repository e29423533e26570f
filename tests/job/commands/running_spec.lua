-- What runs now: which worker has been busy for long, with what, and since when.
local ffi = require "ffi"
local job = require "support.job"
local json = require "dkjson"
local programs = require "support.programs"

ffi.cdef "int mkfifo(const char *path, unsigned mode);"

--- A script that logs, and then waits at WAITS_AT for a line in the FIFO GO.
local SCRIPT = [[
local EntryScript = require "tidemill.entry_script"
local function wait(name)
  if name == os.getenv "WAITS_AT" then assert(io.open(os.getenv "GO")):read "*l" end
end
function init() wait "init" end
function run(m)
  EntryScript().logger:info("works on " .. number_of(m[1]))
  wait(name_of(m[1]))
  return names_of(m)
end]]

local function new_case(step)
  local t = job.case()
  t:inputs(3)
  t:script(SCRIPT)
  t:pipeline("mini_batch_size = 1, process_count_per_node = 1", step)
  return t
end

local function start(t, waits_at, variables)
  assert.equal(0, ffi.C.mkfifo(t:path "go", 384))
  t.gate = assert(io.open(t:path "go", "r+")) -- so that neither end waits for the other to open it
  t.options = { env = { "WAITS_AT=" .. waits_at, "GO=" .. t:path "go" } }
  for _, variable in ipairs(variables or {}) do table.insert(t.options.env, variable) end
  t:start_job(nil, t.options)
  t.running = t.last
end

--- Waits until the job's files show the worker in that phase.
local function wait_for_phase(t, phase)
  t:wait_for("job/score/logs/sys/running.json", '"phase":"' .. phase .. '"', 30)
end

--- Lets one wait() return, now or later.
local function open_gate(t)
  t.gate:write "go\n"
  t.gate:flush()
end

local function release(t)
  open_gate(t)
  local r = t:finish(t.running, 30)
  t:expect(r, 0)
  return r
end

local function ask(t, ...)
  local r = t:run { ... }
  t:expect(r, 0)
  return r.out, r.err
end

local function running_of(t) return json.decode((ask(t, "status", t.job_dir, "--json"))).steps[1].running end

describe("while a mini-batch takes a long time", function()
  after_each(job.check_end)

  it("status and report show worker, mini-batch, try, phase, first item and timeout", function()
    local t = new_case()
    start(t, "0002.txt")
    wait_for_phase(t, "run")
    local one = running_of(t)[1]
    assert.same({ "process000", "run", 1, 1, t:path "in/0002.txt", false },
                { one.worker, one.phase, one.mini_batch, one.try, one.first_item, one.stopped })
    assert.is_true(one.seconds >= 1, one.seconds)
    local text = ask(t, "status", t.job_dir)
    assert.is_truthy(text:find "\n  running:      process000: mini%-batch 1, try 1, for [^\n]+ in run%(%), " ..
                     "first item '[^\n]+/0002.txt'\n", text)
    local row = "<h2>Right now .->process000<.- of 60 s</td><td><time .-<td>run</td><td class='num'>1</td>" ..
                "<td class='num'>1</td><td class='path'><bdi>[^<]+/0002.txt<"
    local page = ask(t, "report", t.job_dir, "-o", "-")
    assert.is_truthy(page:find(row), page:match "<h2>Right now.*" or "no section")
    release(t)
    assert.same({}, running_of(t))
    assert.is_nil(ask(t, "report", t.job_dir, "-o", "-"):find("Right now", 1, true))
    assert.is_false(t:has_log "sys/running.json")
  end)

  it("logs --mini-batch shows it with the log of its worker", function()
    local t = new_case()
    start(t, "0002.txt")
    wait_for_phase(t, "run")
    local out = ask(t, "logs", t.job_dir, "--mini-batch", "1")
    assert.is_truthy(out:find "^mini%-batch 1 of step 'score'\nrunning: process000: mini%-batch 1, try 1, for ", out)
    assert.is_truthy(out:find("|INFO|%d+|process000|works on 2\n"), out)
    local _, err = ask(t, "logs", t.job_dir, "--mini-batch", "2")
    assert.is_truthy(err:find("mini-batch 2 of step 'score' has not been tried, or its first try began a moment ago",
                              1, true), err)
    release(t)
    out = ask(t, "logs", t.job_dir, "--mini-batch", "1")
    assert.is_falsy(out:find("running:", 1, true), out)
    assert.is_truthy(out:find("try 1: RUN_DONE", 1, true), out)
  end)

  it("logs --mini-batch shows no line of the try before, on the same worker", function()
    local t = new_case()
    -- other mini-batches may run between the tries
    local script = SCRIPT:gsub("  return names_of", "  next_moment()\n%0")
    t:script((script:gsub("function run%(m%)\n", [[%0
  local function now() return (io.open "/proc/uptime":read "*n") end -- in hundredths of a second
  local function next_moment() local since = now() repeat until now() > since end
  next_moment() -- tries and lines are compared by milliseconds
  if number_of(m[1]) == 2 and not io.open(os.getenv "TRIED") then
    io.open(os.getenv "TRIED", "w"):close()
    EntryScript().logger:info "the first try"
    next_moment()
    error "once more"
  end
]])))
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 2"
    start(t, "0002.txt", { "TRIED=" .. t:path "tried" })
    wait_for_phase(t, "run")
    local out = ask(t, "logs", t.job_dir, "--mini-batch", "1")
    local before, running = out:match "^(.-\n)(running: .*)$"
    assert.is_truthy(before and before:find("|the first try\n", 1, true), out)
    assert.is_nil(before:find("|works on 2\n", 1, true), out)
    local lines = "^running: process000: mini%-batch 1, try 2, for [^\n]*\n[^\n]+|works on 2\nagain: [^\n]+\n$"
    assert.is_truthy(running:find(lines), out)
    release(t)
  end)

  it("the worker's file reports its begin, and later its end", function()
    local t = new_case()
    start(t, "0002.txt")
    t:wait_for("job/score/logs/sys/node/0/process000.txt", "mini%-batch 1, try 1: begun ", 30)
    release(t)
    local text = t:log "sys/node/0/process000.txt"
    local begun = "|INFO|%d+|process000|mini%-batch 1, try 1: begun [%d-]+ [%d:,]+, in run%(%), " ..
                  "first item '[^\n]+/0002.txt'; node " .. job.NODE .. " at [^\n]+\n"
    local _, stop = text:find(begun)
    assert.is_truthy(stop, text)
    assert.is_falsy(text:find(begun, stop), text)
    assert.is_truthy(text:find("mini-batch 1, try 1: RUN_DONE; ", stop, true), text)
    assert.is_falsy(text:find "mini%-batch [02], try 1: begun", text)
  end)

  it("status ignores the leftovers of a killed job", function()
    local t = new_case()
    start(t, "0002.txt")
    wait_for_phase(t, "run")
    t.running:kill(programs.SIGKILL)
    t.running:wait()
    t:wait_for_none()
    assert.is_true(t:has_log "sys/running.json")
    assert.same({}, running_of(t))
    assert.is_falsy(ask(t, "status", t.job_dir):find "\n  running:")
    open_gate(t)
    t:expect_job(0, { "--resume" }, t.options)
    assert.is_false(t:has_log "sys/running.json")
  end)

  it("the error about missing progress names it", function()
    local t = new_case [[arguments = { "--progress_update_timeout", "2" }]]
    start(t, "0002.txt")
    local r = t:finish(t.running, 60)
    t:expect(r, 1)
    local words = "progress_update_timeout %(2 s%); process000: mini%-batch 1, try 1, for %d+ s in run%(%), " ..
                  "first item '[^\n]+/0002.txt'\n"
    assert.is_truthy(r.err:find(words), r.err)
    assert.is_truthy(t:log "job_result.txt":find(words), t:log "job_result.txt")
  end)
end)

describe("while init() takes a long time", function()
  after_each(job.check_end)

  it("status and the worker's file show it", function()
    local t = new_case()
    start(t, "init")
    wait_for_phase(t, "init")
    local one = running_of(t)[1]
    assert.same({ "process000", "init" }, { one.worker, one.phase })
    assert.is_nil(one.mini_batch)
    local text = ask(t, "status", t.job_dir)
    assert.is_truthy(text:find "\n  running:      process000: in init%(%) for %d+ s\n", text)
    t:wait_for("job/score/logs/sys/node/0/process000.txt",
               "|process000|in init%(%) since [%d-]+ [%d:,]+; node " .. job.NODE .. " at ")
    release(t)
  end)
end)
