-- `tidemill report --trace`: what a trace has of a job that failed and was resumed, and how its
-- file is written.
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"

-- 3.txt fails twice, 5.txt kills its worker once, 7.txt always fails: after these two have
-- succeeded, because the job ends then
local SCRIPT = [[
local function first(name)
  local file = io.open(name)
  if file then file:close() return false end
  io.open(name, "w"):close()
  return true
end
local place = os.getenv "PLACE"
local function wait_for(name)
  local limit = os.time() + 20
  while os.time() < limit do
    local file = io.open(place .. "/" .. name)
    if file then return file:close() end
  end
end
function init() end
function run(m)
  local name = m[1]:match "[^/]+$"
  if name:find "^0*3%." and (first(place .. "/a") or first(place .. "/b")) then error("bad '" .. name .. "'") end
  if name:find "^0*5%." and first(place .. "/c") then os.exit(9) end
  if name:find "^0*7%." then wait_for "done3" wait_for "done5" error "always </script>" end
  if name:find "^0*[35]%." then first(place .. "/done" .. name:match "[35]") end
  return { name }
end
]]

local function decoded(text)
  local trace, _, message = json.decode(text)
  return assert(trace, message)
end

--- The events of a trace by phase.
local function by_phase(trace)
  local found = setmetatable({}, { __index = function(t, phase) t[phase] = {} return t[phase] end })
  for _, e in ipairs(trace.traceEvents) do table.insert(found[e.ph], e) end
  return found
end

local function check_threads(slices)
  local threads = {}
  for _, s in ipairs(slices) do
    assert.is_true(s.ts >= 0 and s.dur >= 0)
    threads[s.tid] = threads[s.tid] or {}
    table.insert(threads[s.tid], s)
  end
  for _, thread in pairs(threads) do
    table.sort(thread, function(a, b)
      if a.ts ~= b.ts then return a.ts < b.ts end
      return a.dur < b.dur
    end)
    for i = 2, #thread do
      assert.is_true(thread[i].ts >= thread[i - 1].ts + thread[i - 1].dur, "slices overlap")
    end
  end
end

--- Each try of the table that began is one slice, with what the table says of it. A mini-batch of a
--- resumed job has its first try again.
local function check_tries(t, slices)
  local of, count = {}, 0
  local function key(mini_batch, try, status) return table.concat({ mini_batch, try, status }, " ") end
  for _, s in ipairs(slices) do
    if s.args.mini_batch then
      local k = key(s.args.mini_batch, s.args.try, s.args.status)
      of[k] = of[k] or {}
      table.insert(of[k], s)
    end
  end
  for _, row in ipairs(t:tries()) do
    local k = key(row["Mini-batch Id"], row["Picked Count"], row.Status)
    count = count + 1
    if row["Process Start Time"] ~= "" then
      local slice = table.remove(of[k], 1)
      assert.equal(row["Mini-batch Detail"]:match "first=(.*)", slice.args.item)
      if row["Error Message"] ~= "" then assert.equal(row["Error Message"], slice.args.error) end
      assert.is_true(math.abs(slice.dur - tonumber(row["Elapsed Seconds"]) * 1e6) <= 2)
    end
  end
  for k, left in pairs(of) do assert.equal(0, #left, k) end
  return count
end

--- Both ends of each arrow lie in slices of the same mini-batch, one try after the other.
local function check_arrows(found, resumed_us)
  local function slice_at(e, is_begin)
    for _, s in ipairs(found.X) do
      local is_there = s.ts == e.ts or not is_begin and s.ts < e.ts and e.ts < s.ts + s.dur
      if s.tid == e.tid and is_there and s.args.mini_batch then return s end
    end
  end
  assert.equal(#found.s, #found.f)
  for i, from in ipairs(found.s) do
    local to = found.f[i]
    local a, b = slice_at(from, false), slice_at(to, true)
    assert.equal(from.id, to.id)
    assert.equal(a.args.mini_batch, b.args.mini_batch)
    assert.is_true(b.args.try > a.args.try or b.ts >= resumed_us)
    assert.is_true(a.name ~= "done" and from.ts <= to.ts)
  end
end

local function names(dir)
  local found = {}
  for name in lfs.dir(dir) do
    if name:find "%.tmp$" or name:find "^trace" then found[#found + 1] = name end
  end
  table.sort(found)
  return found
end

describe("a trace of a job", function()
  after_each(job.check_end)

  it("has each try once, arrows, deaths, sessions, and is written whole or not at all", function()
    local t = job.case()
    local env = { env = { "PLACE=" .. t.dir } }
    t:inputs(8)
    t:script(SCRIPT)
    t:pipeline("mini_batch_size = 1, process_count_per_node = 2, error_threshold = 0")
    t:expect_job(1, nil, env)
    t:expect(t:run({ "resume", t.job_dir }, env), 1)

    t:expect(t:run { "report", t.job_dir, "--trace", "trace.json" }, 0)
    local text = t:read "trace.json"
    local trace = decoded(text)
    local found = by_phase(trace)
    check_threads(found.X)
    assert.equal(trace.metadata.tries, check_tries(t, found.X))
    assert.is_true(#found.s >= 3)
    assert.equal("worker died", found.i[1].name)
    assert.is_true(trace.metadata.is_exact)
    assert.equal("job", trace.metadata.job)
    local sessions = {}
    for _, s in ipairs(found.X) do
      if s.name == "score" then sessions[s.args.session] = s end
    end
    assert.equal(2, #sessions)
    check_arrows(found, sessions[2].ts)
    assert.equal("Failed", sessions[2].args.state)

    local rules = {}
    for _, finding in ipairs(decoded(t:expect(t:run { "report", t.job_dir, "--json" }, 0).out).findings) do
      rules[finding.rule] = finding.text
    end
    assert.truthy(rules.retried:find("2 items succeeded after a try of the same mini-batch had failed.", 1, true))

    t:expect(t:run { "report", t.job_dir, "--trace", "trace.json.gz" }, 0)
    assert.equal(0, os.execute(("cd '%s' && gunzip -c trace.json.gz | cmp - trace.json"):format(t.dir)))
    t:expect(t:run { "report", t.job_dir, "--trace", "trace.json.gz" }, 0) -- it may replace a trace
    local refused = t:run { "report", t.job_dir, "--trace", "score.lua" }
    t:expect(refused, 2)
    job.expect_words(refused.err, { "'score.lua' is there already, and is not a trace", "--overwrite" })

    local full = t:run({ "-c", "trap '' XFSZ; ulimit -f 4; exec \"$TIDEMILL\" report job --trace trace.json" },
                       { program = "/bin/sh", env = { "TIDEMILL=" .. os.getenv "TIDEMILL" } })
    t:expect(full, 3)
    assert.equal(text, t:read "trace.json")
    assert.same({ "trace.json", "trace.json.gz" }, names(t.dir))
  end)
end)
