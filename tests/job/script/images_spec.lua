-- Images in run(): a broken one is one failed item with its reason; a decode can be interrupted;
-- entries of archives; the same rows with any number of workers. TM_LONG: 10,000 of them.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local archives = require "support.archives"
local fs = require "tidemill.fs"
local image = require "tidemill.image"
local job = require "support.job"
local json = require "tidemill.json"
local tensor = require "tidemill.tensor"
local versions = require "support.onnxruntime.versions"

local COUNT = os.getenv "TM_LONG" and 10000 or 200

local function add_images(t, n)
  assert(fs.mkdir(t:path "in"))
  local pixels = tensor.new("uint8", { 4, 4 })
  for i = 1, n do
    pixels:set(i % 251, 1, 1)
    assert(image.write(t:path(("in/%05d.%s"):format(i, i % 2 == 0 and "png" or "jpg")), pixels))
  end
end

-- By the name of the item.
local function reasons_of(t)
  local reasons = {}
  for line in t:read("job/score/failed_items.jsonl"):gmatch "[^\n]+" do
    local item = json.decode(line)
    reasons[item.item:match "[^/]+$"] = item.error
  end
  return reasons
end

-- A zip and a tar of pictures 01.png to 12.png, whose upper left pixel has their number. 04.png
-- ends early, and the archive notices that 05.png has changed.
local function pictures_in_archives(t)
  local members = { {}, {} }
  for i = 1, 12 do
    local pixels = tensor.new("uint8", { 4, 5 })
    pixels:set(i, 1, 1)
    assert(image.write(t:path "one.png", pixels))
    local list = members[i <= 6 and 1 or 2]
    list[#list + 1] = { ("%02d.png"):format(i), t:read "one.png" }
  end
  members[1][4][2] = members[1][4][2]:sub(1, -31)
  members[1][5].crc = 1
  t:write("a.zip", archives.zip(members[1]))
  t:write("b.tar", archives.tar(members[2]))
end

describe("images in run()", function()
  after_each(job.check_end)

  it("are read from entries of archives", function()
    local t = job.case()
    pictures_in_archives(t)
    t:script [[
      local image = require "tidemill.image"
      function run(m, context)
        local readers, rows = {}, {}
        for i, item in ipairs(m) do readers[i] = assert(context:open(item)) end
        local options = { width = 5, height = 4, channels = "gray", scale = 1, batch = 2, threads = 1 }
        options.context = context
        for t, numbers in image.batches(readers, options) do
          for k, i in ipairs(numbers) do
            assert(image.load(context:open(m[i])):at(1, 1, 3) == t:at(k, 1, 1, 1))
            rows[#rows + 1] = name_of(m[i]) .. "=" .. t:at(k, 1, 1, 1)
          end
        end
        return rows
      end]]
    t:write("pipeline.lua", [[
      local tm = require "tidemill"
      local config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 5, error_threshold = 2 }
      local found = tm.Dataset.File.from_archives({ "a.zip", "b.tar" }, { extract = false })
      local step = tm.ParallelRunStep { name = "score", parallel_run_config = config, inputs = { found } }
      return tm.Pipeline { name = "case", steps = { step } }]])
    local r = t:expect_job(0)
    local expected = {}
    for i = 1, 12 do
      if i ~= 4 and i ~= 5 then expected[#expected + 1] = ("%02d.png=%d"):format(i, i) end
    end
    assert.same(expected, t:rows())
    assert.same({ total = 12, succeeded = 10, failed = 2 }, r.result.steps[1].items)
    local reasons = reasons_of(t)
    assert.truthy(reasons["04.png"]:find("the file is cut", 1, true), reasons["04.png"])
    assert.truthy(reasons["05.png"]:find("cannot read", 1, true), reasons["05.png"])
  end)

  it("have the same scores with 1 and with 4 workers", function()
    local library = versions.library "1.30"
    if not library then return pending(versions.MISSING) end
    local t, before = job.case(), nil
    local example = here .. "/../../../examples/digits_onnx"
    assert(os.execute(("cp -r '%s/images' '%s'"):format(example, t:path "in")) == 0)
    -- ONNX Runtime does not promise the same bits with another number of threads
    t:script(([[
      local image, onnx = require "tidemill.image", require "tidemill.onnx"
      local session
      function init() session = onnx.InferenceSession("%s/model/digits.onnx", { intra_op_num_threads = 1 }) end
      function run(m)
        local rows = {}
        for t, numbers in image.batches(m, { width = 28, height = 28, channels = "gray", batch = 4 }) do
          local digits, scores = session:run(t):argmax()
          for k, i in ipairs(numbers) do
            rows[#rows + 1] = ("%%s: %%d (%%.9g)"):format(name_of(m[i]), digits[k] - 1, scores[k])
          end
        end
        return rows
      end]]):format(example))
    for _, workers in ipairs { 1, 4, 4 } do
      t:pipeline("mini_batch_size = 7, error_threshold = 0, process_count_per_node = " .. workers)
      t:expect_job(0, { "--no-reuse", "--job-dir", t:path("job" .. t.runs) },
        { env = { "TIDEMILL_ONNXRUNTIME=" .. library } })
      t.step_dir = t:path("job" .. t.runs - 1) .. "/score"
      local rows = t:rows()
      assert.equal(200, #rows)
      assert.same(before or rows, rows)
      before = rows
    end
  end)

  it("fail alone if they are broken, with their reasons", function()
    local t = job.case()
    add_images(t, COUNT)
    local whole = t:read "in/00010.png"
    t:write("in/00003.jpg", "")
    t:write("in/00010.png", whole:sub(1, #whole - 30))
    t:write("in/00100.png", "GIF89a and so on")
    t:script [[
      local image = require "tidemill.image"
      function run(m, context)
        local rows = {}
        for t, numbers in image.batches(m, { width = 2, height = 2, batch = 7, context = context }) do
          assert(#t == #numbers)
          for _, i in ipairs(numbers) do rows[#rows + 1] = name_of(m[i]) end
        end
        return rows
      end]]
    t:pipeline "mini_batch_size = 40, process_count_per_node = 2, error_threshold = 10"
    local r = t:expect_job(0)
    assert.same({ total = COUNT, succeeded = COUNT - 3, failed = 3 }, r.result.steps[1].items)
    assert.equal(COUNT - 3, #t:rows())
    assert.is_nil(t:statuses().RUN_EXCEPTION)
    local reasons = reasons_of(t)
    for name, words in pairs { ["00003.jpg"] = "empty", ["00010.png"] = "cut", ["00100.png"] = "GIF" } do
      local reason = reasons[name]
      assert.is_truthy(reason and reason:find("cannot read '.*" .. name .. "'") and reason:find(words, 1, true), reason)
    end
  end)

  it("can be interrupted while they are decoded", function()
    local t = job.case()
    t:inputs(2)
    assert(image.write(t:path "big.png", tensor.new("uint8", { 2000, 2000 })))
    t:script(([[
      local image = require "tidemill.image"
      local big = {}
      for i = 1, 3000 do big[i] = %q end
      function recover(reason) print("recovered: " .. reason) end
      function run(m)
        if number_of(m[1]) == 1 then
          for _ = 1, 3000 do
            image.batch(big, { width = 2, height = 2, threads = 1 })
          end
        end
        assert(image.load(big[1], { width = 2, height = 2 }))
        return names_of(m)
      end]]):format(t:path "big.png"))
    t:pipeline("mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, interruptible = true, " ..
      "run_invocation_timeout = 0.5, interrupt_grace = 30, error_threshold = -1")
    t:expect_job(0)
    assert.same({ RUN_TIMEOUT = 1, RUN_DONE = 1 }, t:statuses())
    assert.same({ "0002.txt" }, t:rows())
    local tries = t:tries()
    local timed_out = tries[1].Status == "RUN_TIMEOUT" and tries[1] or tries[2]
    assert.is_truthy(timed_out["Error Message"]:find("and was interrupted", 1, true), timed_out["Error Message"])
    assert.equal(tries[1].Process, tries[2].Process)
  end)

  it("leave no thread behind a run() that has left its loop, or failed in it", function()
    local t = job.case()
    t:inputs(4)
    t:script [[
      local image = require "tidemill.image"
      local function threads()
        for line in io.lines "/proc/self/status" do
          local n = line:match "^Threads:%s*(%d+)"
          if n then return tonumber(n) end
        end
      end
      local before, kept
      local sources = {}
      for i = 1, 50 do sources[i] = image.bytes("P5 1 1 255\n" .. string.char(i)) end
      local options = { width = 2, height = 2, batch = 2, threads = 2 }
      collectgarbage "stop"
      function run(m)
        before = before or threads()
        assert(threads() == before, threads() .. " threads")
        if kept then
          local ok, message = pcall(kept)
          assert(not ok and message:find("ends with the run() of its mini-batch", 1, true), message)
        end
        kept = image.batches(sources, options)
        kept()
        assert(threads() == before + 2)
        if number_of(m[1]) == 2 then error "in the loop" end
        return names_of(m)
      end]]
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, error_threshold = -1"
    t:expect_job(0)
    assert.same({ "0001.txt", "0003.txt", "0004.txt" }, t:rows())
  end)
end)
