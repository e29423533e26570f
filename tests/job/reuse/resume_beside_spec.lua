-- Resuming a step after something that it reads beside its inputs has changed: its output would mix
-- rows of two models.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
package.path = here .. "/../../../examples/?.lua;" .. package.path
local job = require "support.job"
local lfs = require "lfs"
local onnx_writer = require "onnx_writer"
local versions = require "support.onnxruntime.versions"

local PARTIAL = "job/score/output/parallel_run_step.txt.partial"

-- The rows have the text of a side input. Number 3 fails until there is the file GO.
local SCRIPT = [[
local words
function init()
  local dir = arg[2]
  words = assert(io.open(dir .. "/words.txt") or io.open(dir)):read "*l"
end
function run(m)
  if number_of(m[1]) == 3 and not io.open "GO" then error "not yet" end
  return { name_of(m[1]) .. " " .. words }
end]]

local CONFIG = "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1, error_threshold = 0"
local READS = 'side_inputs = { words }, arguments = { "--words", words }, '

-- A job that has failed at the last of three mini-batches, with the rows of two.
local function failed_case(o)
  o = o or {}
  local t = job.case()
  t:inputs(3)
  if o.has_workspace then assert(lfs.mkdir(t:path "workspace")) end
  t:write("aside/words.txt", "old\n")
  assert(lfs.touch(t:path "aside/words.txt", 1e9, 1e9))
  t:script((SCRIPT:gsub('"GO"', ("%q"):format(t:path "GO"))))
  t:pipeline(CONFIG, o.step or READS, 'local words = tm.Dataset.File.from_files "aside"' .. (o.mode or ""))
  t:expect_job(1)
  assert.equal(2, #t:rows "parallel_run_step.txt.partial")
  return t
end

local function refused(t, words, run)
  local record, rows = t:read "job/job.json", t:read(PARTIAL)
  local r = t:expect_job(2, { "--resume" }, run)
  job.expect_words(r, words)
  job.expect_words(r, { "step 'score' has changed since the job was started: ",
    "; put it back, start a new job, or resume with --accept-changes" })
  assert.equal(record, t:read "job/job.json")
  assert.equal(rows, t:read(PARTIAL))
end

local function go_on(t, rows, ...)
  t:write("GO", "")
  local r = t:expect_job(0, { "--resume", ... })
  assert.same(rows, t:rows())
  return r
end

-- A model that picks from a list of four, and fails with a number beyond it.
local function picking(initializers)
  return { inputs = { { "x", "int64", { "n", 2 } } }, outputs = { { "y", "float32", { "n", 2 } } },
    initializers = initializers, nodes = { { "Gather", { "w", "x" }, { "y" } } } }
end

local OLD = { "0001.txt old", "0002.txt old", "0003.txt old" }
local MIXED = { "0001.txt old", "0002.txt old", "0003.txt new" }

describe("--resume, of a step that reads files beside its inputs,", function()
  after_each(job.check_end)

  it("is refused if one of them has another size or time, or is new, or gone", function()
    local t = failed_case()
    local name = "file of side input 1 '" .. t:path "aside"
    t:write("aside/words.txt", "newer\n")
    refused(t, { name .. "/words.txt': size 4 -> 6" })
    t:write("aside/words.txt", "new\n")
    refused(t, { name .. "/words.txt': modified 2001-09-09T01:46:40.000000Z -> 2" })
    t:write("aside/words.txt", "old\n")
    assert(lfs.touch(t:path "aside/words.txt", 1e9, 1e9))
    t:write("aside/.more", "")
    refused(t, { name .. "/.more' is new" })
    assert(os.remove(t:path "aside/.more"))
    assert(os.rename(t:path "aside/words.txt", t:path "words.txt"))
    refused(t, { name .. "/words.txt' is gone" })
    assert(os.rename(t:path "words.txt", t:path "aside/words.txt"))
    go_on(t, OLD)
  end)

  it("continues with --accept-changes; later resumes are compared with what was accepted", function()
    local t = failed_case()
    t:write("aside/words.txt", "newer\n")
    job.expect_words(t:expect_job(1, { "--resume", "--accept-changes" }),
      { "step 'score': it reads something else than when it began: file of side input 1 '", "size 4 -> 6" })
    t:expect_job(1, { "--resume" })
    t:write("aside/words.txt", "new\n")
    refused(t, { "size 6 -> 4" })
    go_on(t, MIXED, "--accept-changes")
  end)

  it("compares contents with allow_reuse = \"content\", where the time alone differs", function()
    local t = failed_case { step = READS .. 'allow_reuse = "content", ', has_workspace = true }
    assert(lfs.touch(t:path "aside/words.txt", 1e9 + 1, 1e9 + 1))
    t:expect_job(1, { "--resume" })
    t:write("aside/words.txt", "new\n")
    refused(t, { "/words.txt': modified 2001-09-09T01:46:40.000000Z -> 2" })
    t:write("aside/words.txt", "old\n")
    go_on(t, OLD)
  end)

  it("compares files of datasets that are only among the arguments", function()
    local t = failed_case { step = 'arguments = { "--words", tm.Dataset.File.from_files "aside/words.txt" }, ' }
    t:write("aside/words.txt", "new\n")
    refused(t, { "file among the arguments '" .. t:path "aside/words.txt" .. "': modified " })
    go_on(t, MIXED, "--accept-changes")
  end)

  it("has a copy of its own with as_download, and continues to read that", function()
    local t = failed_case { mode = ":as_download()" }
    t:write("aside/words.txt", "new\n")
    go_on(t, OLD)
  end)

  it("is not refused before there are rows, or by the record of an older version", function()
    local t = job.case()
    t:inputs(3)
    t:write("aside/words.txt", "old\n")
    t:script((SCRIPT:gsub('== 3 and not io.open "GO"', ("> 0 and not io.open %q"):format(t:path "GO"))))
    t:pipeline(CONFIG, READS, 'local words = tm.Dataset.File.from_files "aside"')
    t:expect_job(1)
    t:write("aside/words.txt", "newer\n")
    t:expect_job(1, { "--resume" })
    go_on(t, { "0001.txt newer", "0002.txt newer", "0003.txt newer" })

    t = failed_case()
    assert(os.remove(t:path "job/score/state/side_input.1"))
    t:write("aside/words.txt", "newer\n")
    t:expect_job(1, { "--resume" })
    t:write("aside/words.txt", "new\n")
    refused(t, { "size 6 -> 4" })
    t:write("job/score/state/side_input.1", "damage")
    refused(t, { "file of side input 1: '" .. t:path "job/score/state/side_input.1" .. "' is damaged" })
    go_on(t, MIXED, "--accept-changes")
  end)

  it("is refused if another ONNX Runtime would be found", function()
    local function copy(t, name)
      assert(os.execute(("mkdir '%s' && cp '%s' '%s'"):format(t:path(name), os.getenv "TM_ORT_STUB",
        t:path(name .. "/libonnxruntime.so.1"))) == 0)
      return { env = { "TIDEMILL_ONNXRUNTIME=" .. t:path(name .. "/libonnxruntime.so.1"), "LD_LIBRARY_PATH=" } }
    end
    local t = job.case()
    local one, other = copy(t, "a"), copy(t, "b")
    t:inputs(3)
    t:script(([[assert(require("tidemill.onnx").InferenceSession(%q))
      function run(m) return number_of(m[1]) == 3 and not io.open %q and error "not yet" or names_of(m) end]]):format(
      here .. "/../../../tests/fuzz/corpus/onnx_file/scale.onnx", t:path "GO"))
    t:pipeline(CONFIG)
    t:expect_job(1, nil, one)
    t:expect_job(1, { "--resume" }, one)
    refused(t, { "ONNX Runtime 1.30.0 of '" .. t:path "a/libonnxruntime.so.1" .. "' was used, and '"
      .. t:path "b/libonnxruntime.so.1" .. "' would be now" }, other)
    job.expect_words(t:expect_job(1, { "--resume", "--accept-changes" }, other), { "ONNX Runtime 1.30.0 of '" })
    t:write("GO", "")
    t:expect_job(0, { "--resume" }, other)
  end)

  it("is refused if the labels of its model have changed, which a command names", function()
    local library = versions.library "1.17"
    if not library then return pending(versions.MISSING) end
    local t = job.case()
    onnx_writer.write(t:path "m.onnx", picking { { "w", "float32", { 4 }, ("\0\0\128\63"):rep(4) } })
    t:write("1.csv", "a,b\n1,2\n")
    t:write("2.csv", "a,b\n3,4\n") -- which fails
    t:write("l.txt", "cat\ndog\n")
    local words = { "map", "--model", "m.onnx", "1.csv", "2.csv", "--rows", "--job-dir", "job", "-j", "1",
      "--run-max-try", "1", "--error-threshold", "0", "--resume", "--", "--labels", "l.txt" }
    local function map(status, ...)
      local r = t:run(words, { env = { "TIDEMILL_ONNXRUNTIME=" .. library } })
      assert.equal(status, r.status, r.err)
      job.expect_words(r, { ... })
    end
    map(1)
    t:write("l.txt", "dog\nmouse\n")
    map(2, "file among the arguments '" .. t:path "l.txt" .. "': size 8 -> 10")
  end)

  it("is refused if its model has changed, or the weights beside that", function()
    local library = versions.library "1.17"
    if not library then return pending(versions.MISSING) end
    local t = job.case()
    local function write_model(weights)
      t:write("m.onnx.data", weights)
      onnx_writer.write(t:path "m.onnx",
        picking { { "w", "float32", { 4 }, { file = "m.onnx.data", offset = 0, length = 16 } } })
    end
    write_model(("\0\0\128\63"):rep(4))
    t:write("1.csv", "a,b\n1,2\n")
    t:write("2.csv", "a,b\n3,4\n") -- which fails
    t:write("pipeline.lua", ([[
      local tidemill = require "tidemill"
      return tidemill.Pipeline { name = "scores", steps = { tidemill.ParallelRunStep { name = "score",
        parallel_run_config = tidemill.ParallelRunConfig { model = "m.onnx", %s },
        inputs = tidemill.Dataset.Tabular.from_delimited_files "*.csv" } } }]]):format(CONFIG))
    local run = { env = { "TIDEMILL_ONNXRUNTIME=" .. library } }
    t:expect_job(1, nil, run)
    local before = lfs.attributes(t:path "m.onnx")
    write_model(("\0\0\128\64"):rep(4))
    assert(lfs.touch(t:path "m.onnx", before.access, before.modification))
    refused(t, { "file of the model '" .. t:path "m.onnx.data" .. "': modified " }, run)
  end)
end)
