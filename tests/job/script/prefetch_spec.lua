-- prefetch(): called once before each run(), early when the next mini-batch is there; and where the
-- work that it starts ends. unit/agent/test_agent_prefetch.c has the exact order.
local fs = require "tidemill.fs"
local image = require "tidemill.image"
local job = require "support.job"
local tensor = require "tidemill.tensor"

local ONE = "mini_batch_size = 1, process_count_per_node = 1, "

-- Writes a line for each call to a file of the worker. A child process lets the next mini-batches
-- arrive.
local NOTES = [[
  local name = require "tidemill.entry_script"().agent_name
  local function note(call, m, context)
    local file = assert(io.open(NOTES_DIR .. "/" .. name, "a"))
    file:write(("%s %d %d %s\n"):format(call, number_of(m[1]), context.try, tostring(m)))
    file:close()
  end
]]

local function notes_of(t)
  return ("local NOTES_DIR = %q\n"):format(t:path "notes") .. NOTES
end

-- The calls that the workers have noted: {call, number, try, id of the table}, in their order.
local function read_notes(t)
  local all = {}
  for _, worker in ipairs(fs.list(t:path "notes")) do
    for line in t:read("notes/" .. worker):gmatch "[^\n]+" do
      local call, number, try, id = line:match "^(%S+) (%d+) (%d+) (.*)$"
      all[#all + 1] = { worker = worker, call = call, number = tonumber(number), try = tonumber(try), id = id }
    end
  end
  return all
end

-- Each run() had one prefetch() before it, in its worker, with the same table. Returns how many
-- came before the run() of another mini-batch.
local function check_pairs(notes)
  local early, open = 0, {}
  for i, at in ipairs(notes) do
    local key = ("%s %d %d"):format(at.worker, at.number, at.try)
    if at.call == "prefetch" then
      open[key] = at
      if notes[i + 1] and notes[i + 1].call ~= "prefetch" and notes[i + 1].number ~= at.number then
        early = early + 1
      end
    elseif at.call == "run" then
      assert.is_truthy(open[key], "no prefetch() before run() of " .. key)
      assert.equal(open[key].id, at.id)
      open[key] = nil
    end
  end
  return early
end

describe("prefetch()", function()
  after_each(job.check_end)

  it("is called once before each run(), early where it can be", function()
    local t = job.case()
    t:inputs(12)
    assert(fs.mkdir(t:path "notes"))
    t:script(notes_of(t) .. [[
      function prefetch(m, context)
        assert(context.prefetched == nil and context.minibatch_index == number_of(m[1]) - 1)
        assert(not pcall(context.fail, context, 1))
        note("prefetch", m, context)
        return { number = number_of(m[1]) }
      end
      function run(m, context)
        note("run", m, context)
        assert(context.prefetched.number == number_of(m[1]))
        assert(os.execute "true" == 0)
        note("end", m, context)
        return names_of(m)
      end]])
    t:pipeline(ONE .. "run_max_try = 1")
    t:expect_job(0)
    assert.equal(12, #t:rows())
    local notes = read_notes(t)
    assert.equal(36, #notes)
    assert.is_true(check_pairs(notes) > 0, "none was early")
  end)

  it("is called for each try, with two workers", function()
    local t = job.case()
    t:inputs(20)
    assert(fs.mkdir(t:path "notes"))
    t:script(notes_of(t) .. [[
      function prefetch(m, context) note("prefetch", m, context) return context.try end
      function run(m, context)
        note("run", m, context)
        assert(context.prefetched == context.try)
        if number_of(m[1]) % 4 == 0 and context.try < 3 then error "again" end
        return names_of(m)
      end]])
    t:pipeline "mini_batch_size = 1, process_count_per_node = 2, run_max_try = 3, retry_delay = 0"
    t:expect_job(0)
    assert.equal(20, #t:rows())
    assert.same({ RUN_DONE = 20, RUN_EXCEPTION = 10 }, t:statuses())
    check_pairs(read_notes(t))
  end)

  it("that fails takes its own try with it, and says so", function()
    local t = job.case()
    t:inputs(6)
    t:script [[
      function prefetch(m) if number_of(m[1]) == 3 then error "no such thing" end end
      function run(m, context)
        assert(number_of(m[1]) ~= 3 and context.prefetched == nil)
        return names_of(m)
      end]]
    -- the timeout is much longer than a run() takes, also on a busy machine
    t:pipeline(ONE .. "run_max_try = 2, retry_delay = 0, error_threshold = 1")
    t:expect_job(0)
    assert.equal(5, #t:rows())
    assert.same({ RUN_DONE = 5, RUN_EXCEPTION = 2 }, t:statuses())
    local text = t:log "user/error/0/process000.txt"
    assert.is_truthy(text:find("RUN_EXCEPTION: %S*score.lua:2: prefetch%(%) failed: no such thing"), text)
  end)

  it("that hangs is interrupted; the mini-batch in front runs", function()
    local t = job.case()
    t:inputs(4)
    t:script [[
      function recover(reason) print("recovered: " .. reason) end
      function prefetch(m) while number_of(m[1]) == 3 do end end
      function run(m) return names_of(m) end]]
    t:pipeline(ONE .. "run_max_try = 1, interruptible = true, interrupt_grace = 30, error_threshold = 1",
      'arguments = { "--task_overhead_timeout", "1" }')
    t:expect_job(0)
    assert.same({ "0001.txt", "0002.txt", "0004.txt" }, t:rows())
    assert.same({ RUN_DONE = 3, LOAD_TIMEOUT = 1 }, t:statuses())
    local text = t:log "user/error/0/process000.txt"
    local words = "prefetch() took longer than task_overhead_timeout (1 s) and was interrupted"
    assert.is_truthy(text:find(words, 1, true), text)
    assert.is_truthy(t:log("user/stdout/0/process000.stdout.txt"):find("recovered: prefetch() took", 1, true))
  end)

  it("must be a function", function()
    local t = job.case()
    t:inputs(1)
    t:script "prefetch = 3 function run(m) return m end"
    t:pipeline(ONE)
    local r = t:expect_job(1)
    assert.is_truthy(r.err:find("'prefetch' is a number; expected a function", 1, true), r.err)
  end)

  it("is called before run() for rows, and by try, and by replay", function()
    local t = job.case()
    t:inputs(3)
    t:write("in.csv", "n\n1\n2\n3\n")
    t:script [[
      function prefetch(m, context) return m end
      function run(m, context)
        assert(m == context.prefetched)
        if type(m) ~= "table" then return m end
        return { "started " .. name_of(m[1]) }
      end]]
    t:pipeline(ONE)
    t:expect_job(0)
    assert.same({ "started 0001.txt", "started 0002.txt", "started 0003.txt" }, t:rows())
    for _, words in ipairs { { "try", "score.lua", "in", "-N", "1" }, { "replay", "job", "--mini-batch", "0" } } do
      local r = t:run(words)
      assert.equal(0, r.status, r.err)
      assert.is_truthy(r.out:find("started 0001.txt", 1, true), r.out)
    end
    local r = t:run { "map", "score.lua", "in.csv", "--output", t:path "rows.csv" }
    assert.equal(0, r.status, r.err)
  end)

  it("names itself where it fails in try", function()
    local t = job.case()
    t:inputs(1)
    t:script "function prefetch() error 'nothing to start' end function run(m) return m end"
    local r = t:run { "try", "score.lua", "in" }
    assert.equal(1, r.status)
    assert.is_truthy((r.out .. r.err):find("prefetch() failed at ", 1, true), r.out .. r.err)
  end)
end)

-- Writes pictures that take a while, and one that cannot be read.
local function add_images(t, n, broken)
  assert(fs.mkdir(t:path "in"))
  local picture = tensor.new("uint8", { 900, 900 })
  for i = 1, n do
    picture:set(i, 1, 1)
    assert(image.write(t:path(("in/%04d.png"):format(i)), picture))
  end
  if broken then t:write(("in/%04d.png"):format(broken), "not an image") end
end

local IMAGES = [[
  local image = require "tidemill.image"
  function prefetch(m, context)
    return image.start(m, { width = 2, height = 2, threads = 1, context = context })
  end
]]

describe("images that prefetch() has started", function()
  after_each(job.check_end)

  it("are those of the mini-batch, and a broken one is one failed item", function()
    local t = job.case()
    add_images(t, 24, 11)
    t:script(IMAGES .. [[
      function run(m, context)
        local rows, t, numbers = {}, context.prefetched:wait()
        assert(#t == #numbers)
        for _, i in ipairs(numbers) do rows[#rows + 1] = name_of(m[i]) end
        return rows
      end]])
    t:pipeline "mini_batch_size = 3, process_count_per_node = 2, error_threshold = 10"
    local r = t:expect_job(0)
    assert.same({ total = 24, succeeded = 23, failed = 1 }, r.result.steps[1].items)
    assert.equal(23, #t:rows())
    assert.is_truthy(t:read("job/score/failed_items.jsonl"):find("0011.png", 1, true))
  end)

  it("end with an interrupted run() or a killed worker, and with no other", function()
    local t = job.case()
    add_images(t, 12)
    t:script(IMAGES .. [[
      local ffi = require "ffi"
      ffi.cdef "int raise(int);"
      function recover() end
      function run(m, context)
        local n = tonumber(m[1]:match "(%d+).png$")
        if n == 2 and context.try == 1 then ffi.C.raise(9) end
        while n == 5 and context.try == 1 do end
        local kept = context.prefetched
        assert(#kept:wait() == 1 and kept:wait() == kept:wait())
        return names_of(m)
      end]])
    t:pipeline(ONE .. "run_max_try = 2, retry_delay = 0, interruptible = true, "
      .. "run_invocation_timeout = 3, interrupt_grace = 30")
    t:expect_job(0)
    assert.equal(12, #t:rows())
    assert.same({ RUN_DONE = 12, RUN_TIMEOUT = 1, PROCESS_DIED = 1 }, t:statuses())
  end)

  it("belong to the run() of their mini-batch", function()
    local t = job.case()
    add_images(t, 4)
    t:script(IMAGES .. [[
      local first
      function run(m, context)
        first = first or context.prefetched
        first:wait()
        return names_of(m)
      end]])
    t:pipeline(ONE .. "run_max_try = 1, error_threshold = -1")
    t:expect_job(0)
    assert.same({ "0001.png" }, t:rows())
    local text = t:log "user/error/0/process000.txt"
    assert.is_truthy(text:find("were started for mini-batch 0, try 1, and this is mini-batch 1, try 1", 1, true), text)
  end)
end)
