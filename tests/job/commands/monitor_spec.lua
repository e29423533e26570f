-- The resource monitor of a node: files in logs/perf, at the interval that the script's arguments
-- ask for.
local job = require "support.job"
local lfs = require "lfs"

local IS_RELAYED = job.NODE ~= "0"

--- Works until the monitor has taken GO samples.
local SCRIPT = [[
function run(m)
  local fs, path = require "tidemill.fs", os.getenv "PERF" .. "/node_resource_usage.csv"
  local until_s = os.time() + 60
  local child = require "tidemill.process".spawn { "sleep", "100" }
  while os.getenv "PERF" ~= "" do
    local lines = fs.exists(path) and select(2, fs.read(path):gsub("\n", "")) or 0
    if lines > tonumber(os.getenv "GO") then break end
    assert(os.time() < until_s, "nobody looks")
  end
  child:kill()
  child:wait()
  return names_of(m)
end]]

local function new_case(interval)
  local t = job.case()
  t:inputs(2)
  t:script(SCRIPT)
  t:pipeline("mini_batch_size = 1, process_count_per_node = 2",
             interval and ('arguments = { "--resource_monitor_interval", "%s" }'):format(interval))
  return t
end

local function run(t, looks)
  local perf = looks and t.step_dir .. "/logs/perf/" .. job.NODE or ""
  return t:expect_job(0, nil, { env = { "PERF=" .. perf, "GO=" .. (looks or 0) } })
end

local function rows_of(t, name, folder)
  local rows, columns = {}, nil
  for line in t:log("perf/" .. (folder or "0") .. "/" .. name):gmatch "[^\n]+" do
    local row, i = {}, 0
    for field in (line .. ","):gmatch "([^,]*)," do
      i = i + 1
      if columns then row[columns[i]] = field else row[i] = field end
    end
    if columns then rows[#rows + 1] = row else columns = row end
  end
  return rows
end

describe("the resource monitor", function()
  after_each(job.check_end)

  it("measures the machine and the job's processes", function()
    local t = new_case "0.2"
    run(t, 3)
    local nodes = rows_of(t, "node_resource_usage.csv")
    assert.is_true(#nodes >= 3)
    for _, row in ipairs(nodes) do
      assert.is_truthy(row["Utc Time"]:find "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d+Z$")
      local cpu, total = tonumber(row["Cpu Percent"]), tonumber(row["Memory Total (MB)"])
      assert.is_true(cpu >= 0 and cpu <= 100 and total > 0)
      assert.is_true(tonumber(row["Memory Available (MB)"]) <= total)
      assert.is_truthy(tonumber(row["# of TCP Connections"]))
    end
    local processes, names = rows_of(t, "processes_resource_usage.csv"), { "keeper", "process000", "process001" }
    names[#names + 1] = IS_RELAYED and "relay" or "supervisor"
    local seen, resident, children = {}, {}, 0
    for _, row in ipairs(processes) do
      if row.Name == "sleep" then
        assert.is_truthy(row.Process:find "^process00[01]$")
        children = children + 1
      else
        seen[row.Process] = row
      end
      local rss = tonumber(row["Memory Rss (MB)"])
      assert.is_true(rss >= 0) -- 0: a process that is ending
      if row.Name ~= "sleep" then resident[row.Process] = math.max(resident[row.Process] or 0, rss) end
    end
    for _, name in ipairs(names) do
      assert.is_truthy(seen[name], name)
      assert.is_true(resident[name] > 0, name)
    end
    assert.is_true(children > 0)
    if IS_RELAYED then
      local here = {}
      for _, row in ipairs(rows_of(t, "processes_resource_usage.csv", "supervisor")) do here[row.Process] = row.Pid end
      assert.is_truthy(here.supervisor)
      assert.equal(here.keeper, seen.relay["Parent Pid"])
    end
    assert.equal(seen.keeper.Pid, seen.process000["Parent Pid"])
    assert.is_true(t:has_log "perf/0/node_disk_usage.csv")
    assert.equal("../perf", lfs.symlinkattributes(t.step_dir .. "/logs/sys/perf", "target"))
  end)

  it("measures each second by default, and lists processes once", function()
    local t = new_case()
    run(t, 2)
    assert.is_true(#rows_of(t, "node_resource_usage.csv") >= 2)
    local lists = 0
    local os_dir = ("%s/logs/perf/%s/os/"):format(t.step_dir, job.NODE)
    for hour in lfs.dir(os_dir) do
      if not hour:find "^%." then
        for name in lfs.dir(os_dir .. hour) do
          lists = lists + (name:find "^processes_%d%d$" and 1 or 0)
        end
      end
    end
    assert.equal(1, lists)
  end)

  it("lists all processes as ps does", function()
    local t = new_case "0.2"
    run(t, 2)
    local text
    local os_dir = ("%s/logs/perf/%s/os/"):format(t.step_dir, job.NODE)
    for hour in lfs.dir(os_dir) do
      for name in lfs.dir(os_dir .. hour) do
        if name:find "^processes_%d%d$" then
          assert.is_truthy(hour:find "^%d%d%d%d%d%d%d%d%d%d$")
          text = t:log("perf/0/os/" .. hour .. "/" .. name)
        end
      end
    end
    assert.is_truthy(text:find "^UID          PID    PPID  C STIME TTY          TIME CMD\n")
    assert.is_truthy(text:find(job.program .. " worker\n", 1, true), text)
    for line in text:gmatch "[^\n]+" do
      assert.is_truthy(line:find "^UID" or line:find "^%S+ +%d+ +%d+ +%d+ [%w: ]+ %S+ +%d+:%d%d:%d%d .", line)
    end
  end)

  it("writes nothing when it is off, or if the job ends first", function()
    for _, interval in ipairs { "0", "600" } do
      local t = new_case(interval)
      run(t)
      assert.is_false(t:has_log "perf")
      assert.is_false(t:has_log "sys/perf")
    end
  end)

  it("reports once that it cannot write, and the job continues", function()
    local t = new_case "2" -- the script begins before the monitor has made its folder
    t:script [[
      function run(m)
        local fs, root = require "tidemill.fs", os.getenv "JOB" .. "/score/logs/"
        if number_of(m[1]) == 1 then
          assert(fs.write(root .. "perf", "in the way"))
          local until_s = os.time() + 60
          repeat
            assert(os.time() < until_s, "nobody looks")
          until fs.read(root .. "sys/master_role.txt"):find "perf"
        end
        return names_of(m)
      end]]
    t:expect_job(0, nil, { env = { "JOB=" .. t.job_dir } })
    local _, said = t:log "sys/master_role.txt":gsub("logs/perf", "")
    assert.is_true(said == 1 or IS_RELAYED and said == 2, said) -- this machine has a monitor, too
    assert.same(job.names(2), t:rows())
  end)

  it("refuses an invalid interval", function()
    local t = new_case "often"
    local r = t:run_job()
    t:expect(r, 2)
    local accepted = "'resource_monitor_interval' is \"often\"; accepted: \"auto\", a number from 0 seconds on"
    assert.is_truthy(r.err:find(accepted, 1, true), r.err)
    local negative = new_case "-1"
    negative:expect(negative:run_job(), 2)
  end)
end)
