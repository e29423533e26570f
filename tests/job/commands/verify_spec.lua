-- `tidemill verify`: it finds good jobs good, and reports every kind of damage with file and place.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"

local RECORD = 64 -- bytes of a journal record
local CONFIG = "mini_batch_size = 1, run_max_try = 1, process_count_per_node = 1"

--- Numbers 3 and 5 fail, so that there are failure lines. Each takes a little time, so that results
--- are written one by one.
local SCRIPT = [[
function run(m)
  local until_s = os.clock() + 0.002
  while os.clock() < until_s do end
  if number_of(m[1]) == 3 or number_of(m[1]) == 5 then error "bad" end
  while number_of(m[1]) == 8 and os.getenv "STAY" do end
  return names_of(m)
end]]

local function new_case(config)
  local t = job.case()
  t:inputs(8)
  t:script(SCRIPT)
  t:pipeline(config or CONFIG)
  return t
end

local function expect_verify(t, status, words)
  local r = t:run { "verify", t.job_dir }
  t:expect(r, status)
  for _, word in ipairs(words) do
    assert.is_truthy((r.err .. r.out):find(word, 1, true), ("'%s' is missing in:\n%s"):format(word, r.err .. r.out))
  end
  return r
end

--- Changes the byte at `at` (from 0; negative: from the end) of a file of the step.
local function spoil(t, name, at)
  local text = t:read(t.step_dir .. "/" .. name)
  if at < 0 then at = #text + at end
  t:write(t.step_dir .. "/" .. name, text:sub(1, at) .. string.char((text:byte(at + 1) + 1) % 256) .. text:sub(at + 2))
end

local function cut(t, name, bytes)
  local text = t:read(t.step_dir .. "/" .. name)
  t:write(t.step_dir .. "/" .. name, text:sub(1, #text - bytes))
end

local function add(t, name, text)
  t:write(t.step_dir .. "/" .. name, t:read(t.step_dir .. "/" .. name) .. text)
end

--- A job that was killed in its last mini-batch.
local function killed_case()
  local t = new_case()
  local p = t:start_job(nil, { env = { "STAY=1" } })
  programs.wait_until("seven mini-batches", function()
    local r = t:run { "status", t.job_dir, "--json" }
    local counts = r.result and r.result.steps[1].mini_batches
    return counts and counts.succeeded + counts.failed == 7
  end, 20)
  local r = t:run { "verify", t.job_dir }
  t:expect(r, 3)
  assert.is_truthy(r.err:find("is running, by pid " .. p.pid, 1, true))
  p:kill(programs.SIGKILL)
  t:finish(p)
  t:wait_for_none()
  return t
end

local OUTPUT = "output/parallel_run_step.txt"

describe("verify", function()
  after_each(job.check_end)

  it("passes a finished job, and lists the checks", function()
    local t = new_case()
    t:expect_job(0)
    expect_verify(t, 0, { "step 'score': good", "6 mini-batches committed, 2 failed", "8 mini-batches", "54 bytes",
      OUTPUT, "everything matches the journal" })
    assert.equal("Completed", t:result().status)
  end)

  it("finds each kind of damage, with file and place", function()
    local cases = {
      { spoil, OUTPUT, 10, { OUTPUT .. "' is damaged at byte 9:", "mini-batch" } },
      { cut, OUTPUT, 1, { OUTPUT .. "' is damaged at byte 45:", "shorter", "files of the job cannot be repaired" } },
      { add, OUTPUT, "x", { OUTPUT .. "' is damaged at byte 54: 1 bytes" } },
      { spoil, "state/failures", 5, { "state/failures' is damaged at byte 0:", "mini-batch 2" } },
      { spoil, "state/journal", 2 * RECORD + 9, { "state/journal' is damaged at byte 128: a bad record" } },
      { cut, "state/journal", 1, { "state/journal' is damaged at byte " } },
      { cut, "state/journal", 3 * RECORD, { "job_result.json" } },
      { spoil, "state/manifest", 70, { "state/manifest' is damaged at byte 16:" } },
      { add, "state/manifest", "x", { "state/manifest' is damaged at byte ", "1 bytes that are not an entry" } },
    }
    local t = new_case()
    t:expect_job(0)
    for _, case in ipairs(cases) do
      local damage, name, how, words = unpack(case)
      local good = t:read(t.step_dir .. "/" .. name)
      damage(t, name, how)
      expect_verify(t, 3, words)
      t:write(t.step_dir .. "/" .. name, good)
    end
    expect_verify(t, 0, { "good" })
  end)

  -- What ext4 leaves if the power fails right after the end of a job: the last sync record is not
  -- fsynced.
  it("passes a job whose last sync record became zeros in a power cut", function()
    local t = new_case()
    t:expect_job(0)
    local name = t.step_dir .. "/state/journal"
    local good = t:read(name)
    t:write(name, good:sub(1, -RECORD - 1) .. ("\0"):rep(RECORD))
    expect_verify(t, 0, { "good", "everything matches the journal" })
    t:write(name, good:sub(1, -RECORD - 1))
    expect_verify(t, 0, { "good" })
    -- An outcome is not a sync record, and zeros elsewhere are damage.
    t:write(name, good:sub(1, -2 * RECORD - 1) .. ("\0"):rep(2 * RECORD))
    expect_verify(t, 3, { "job_result.json" })
    t:write(name, good:sub(1, -RECORD - 1) .. ("\0"):rep(RECORD - 1) .. "x")
    expect_verify(t, 3, { "state/journal' is damaged at byte " .. #good - RECORD .. ": a bad record" })
    t:write(name, good:sub(1, 2 * RECORD) .. ("\0"):rep(RECORD) .. good:sub(3 * RECORD + 1))
    expect_verify(t, 3, { "state/journal' is damaged at byte 128: a bad record" })
  end)

  it("reports a missing file", function()
    local t = new_case()
    t:expect_job(0)
    os.remove(t:path(t.step_dir .. "/" .. OUTPUT))
    expect_verify(t, 3, { OUTPUT, "it has been removed or emptied" })
    os.remove(t:path(t.step_dir .. "/state/journal"))
    expect_verify(t, 3, { "state/journal': it has been removed or emptied" })
  end)

  it("reports a count in the result that contradicts the journal", function()
    local t = new_case()
    t:expect_job(0)
    t:write("job/job_result.json", (t:read "job/job_result.json":gsub('"succeeded": 6', '"succeeded": 7')))
    expect_verify(t, 3, { "job_result.json': step 'score': 7 mini-batches succeeded, the journal has 6" })
  end)

  it("passes a killed job, with or without a torn end, and changes nothing", function()
    local t = killed_case()
    expect_verify(t, 0, { "step 'score': good", "5 mini-batches committed, 2 failed" })
    add(t, "state/journal", ("x"):rep(RECORD + 5))
    add(t, OUTPUT .. ".partial", "a row that no record cov")
    local journal, rows = t:read(t.step_dir .. "/state/journal"), t:read(t.step_dir .. "/" .. OUTPUT .. ".partial")
    expect_verify(t, 0, { "good", "2 records, 24 bytes of output" })
    assert.equal(journal, t:read(t.step_dir .. "/state/journal"))
    assert.equal(rows, t:read(t.step_dir .. "/" .. OUTPUT .. ".partial"))
    expect_verify(t, 0, { "good" })
    t:expect(t:run { "resume", t.job_dir }, 0)
    expect_verify(t, 0, { "good", "6 mini-batches committed, 2 failed" })
  end)

  it("checks a job with several sessions", function()
    local t = new_case(CONFIG .. ", error_threshold = 1")
    t:expect_job(1)
    expect_verify(t, 0, { "good" })
    t:script "function run(m) return names_of(m) end"
    t:expect(t:run { "resume", t.job_dir, "--accept-changes" }, 0)
    expect_verify(t, 0, { "8 mini-batches committed, 0 failed" })
  end)

  it("runs before a resume with --verify-output", function()
    local cases = {
      { spoil, OUTPUT .. ".partial", 10, { OUTPUT .. ".partial' from byte 9:", "mini-batch", "tidemill verify" } },
      { cut, OUTPUT .. ".partial", 1, { "LAST ROW", "shorter", "start a new job" } },
      { spoil, "state/failures", 5, { "state/failures' from byte 0:", "mini-batch 2" } },
    }
    local t = new_case(CONFIG .. ", error_threshold = 1")
    t:expect_job(1)
    for _, way in ipairs { { "resume", t.job_dir, "--verify-output" },
                           { "run", "pipeline.lua", "--job-dir", t.job_dir, "--resume", "--verify-output" } } do
      for _, case in ipairs(cases) do
        local damage, name, how, words = unpack(case)
        local good, result = t:read(t.step_dir .. "/" .. name), t:read "job/job_result.json"
        damage(t, name, how)
        local journal = t:read(t.step_dir .. "/state/journal")
        local r = t:run(way)
        t:expect(r, 3)
        for _, word in ipairs(words) do
          -- the number of mini-batches committed before the job fails can vary
          if word == "LAST ROW" then
            word = ("%s' from byte %d:"):format(name, #good:match "^(.-)[^\n]*\n$")
          end
          assert.is_truthy(r.err:find(word, 1, true), word .. " is missing in: " .. r.err)
        end
        assert.equal(journal, t:read(t.step_dir .. "/state/journal"))
        assert.equal(result, t:read "job/job_result.json")
        t:write(t.step_dir .. "/" .. name, good)
      end
    end
    t:script "function run(m) return names_of(m) end"
    local r = t:run { "resume", t.job_dir, "--accept-changes", "--verify-output" }
    t:expect(r, 0)
    assert.is_truthy(r.err:find("the rows are what was committed: ", 1, true), r.err)
    assert.same(job.names(8), t:rows())
    spoil(t, OUTPUT, 10) -- of a Completed job, which does not run
    t:expect(t:run { "resume", t.job_dir, "--verify-output" }, 3)
    t:expect(t:run { "resume", t.job_dir }, 0)
    t:expect(t:run { "run", "pipeline.lua", "--verify-output", "--job-dir", "other" }, 2)
  end)

  it("runs before a resume of a job whose files are newer than its journal", function()
    for _, case in ipairs { { OUTPUT .. ".partial", 10 }, { "state/failures", 5 } } do
      local t = new_case(CONFIG .. ", error_threshold = 1")
      t:expect_job(1)
      local name = t.step_dir .. "/" .. case[1]
      local good = t:read(name)
      local journal = lfs.attributes(t:path(t.step_dir .. "/state/journal"), "modification")
      local function resume_as_of(offset)
        assert(lfs.touch(t:path(name), journal + offset, journal + offset))
        return t:run { "resume", t.job_dir, "--accept-changes" }
      end
      t:script "function run(m) return names_of(m) end"
      spoil(t, case[1], case[2])
      local r = resume_as_of(60)
      t:expect(r, 3)
      assert.is_truthy(r.err:find("the output is not what was committed: '", 1, true), r.err)
      assert.is_truthy(r.err:find("restore the files, or start a new job", 1, true), r.err)
      -- A newer file, for example of a copied job, costs only the time to read it.
      t:write(name, good)
      r = resume_as_of(60)
      t:expect(r, 0)
      assert.is_truthy(r.err:find("the rows are what was committed: ", 1, true), r.err)
      assert.same(job.names(8), t:rows())
    end
  end)

  it("runs before a resume if reading the rows takes no time, whatever the times of the files", function()
    for _, case in ipairs { { OUTPUT .. ".partial", 10, "rows" }, { "state/failures", 5, "failure lines" } } do
      local t = new_case(CONFIG .. ", error_threshold = 1")
      t:expect_job(1)
      local name = t.step_dir .. "/" .. case[1]
      local good, changed = t:read(name), lfs.attributes(t:path(name), "modification")
      spoil(t, case[1], case[2])
      assert(lfs.touch(t:path(name), changed, changed))
      local r = t:run { "resume", t.job_dir }
      t:expect(r, 3)
      assert.is_truthy(r.err:find(case[3] .. " of mini%-batch %d have been changed"), r.err)
      assert.is_truthy(t:run({ "status", t.job_dir }).out:find("\nthe job cannot be resumed: ", 1, true))
      t:write(name, good)
      t:script "function run(m) return names_of(m) end"
      t:expect(t:run { "resume", t.job_dir, "--accept-changes" }, 0)
      assert.same(job.names(8), t:rows())
    end
  end)

  it("checks the journal and manifest of a job without rows", function()
    local t = new_case(CONFIG .. ', output_action = "summary_only"')
    t:expect_job(0)
    expect_verify(t, 0, { "good", "6 mini-batches committed" })
    spoil(t, "state/journal", RECORD + 1)
    expect_verify(t, 3, { "at byte 64" })
  end)
end)

describe("verify of the file of map --output", function()
  after_each(job.check_end)

  --- A job whose rows are in `there`. `more`: options of map.
  local function copied_case(more)
    local t = job.case()
    t:inputs(3)
    t:script "function run(m) return names_of(m) end"
    local words = { "map", "score.lua", "in", "--job-dir", "job", "--progress", "none", "--output", "there" }
    for _, word in ipairs(more or {}) do words[#words + 1] = word end
    t:expect(t:run(words), 0)
    expect_verify(t, 0, { "copy:     27 bytes, " .. t:path "there" .. "\n", "everything matches" })
    return t
  end

  --- Verifies, and runs the command in the message: all is good again.
  local function expect_fault(t, words)
    local r = expect_verify(t, 3, words)
    assert.truthy(r.out:find(": good", 1, true))
    assert.is_nil(r.err:find("damaged", 1, true))
    assert.is_nil(r.out:find("copy:", 1, true))
    assert.equal(0, os.execute(r.err:match "to put it there again: ([^\n]+)"))
    expect_verify(t, 0, { "everything matches the journal" })
  end

  it("compares it with the rows, and says that it was changed since", function()
    local t = copied_case()
    local there = t:path "there" .. "': "
    local since = there .. "it was changed or replaced after the job had put it there (it is of 20"
    t:write("there", t:read "there" .. "x")
    expect_fault(t, { since, "it has 28 bytes, and '", "' has 27" })
    t:write("there", "0001.txt\n0002.txT\n0003.txt\n")
    expect_fault(t, { since, "its byte 16 is not that of '" })
    os.remove(t:path "there")
    expect_fault(t, { there .. "this copy of the output was moved or removed after the job had put it there;" })
    os.remove(t:path "there")
    assert(lfs.mkdir(t:path "there"))
    expect_verify(t, 3, { since, "it is not a file" })
  end)

  it("compares it also without a mark, by the place in the record", function()
    local t = copied_case()
    local mark = assert(io.popen("ls '" .. t.dir .. "'/job/*/state/upload.copy")):read "*l"
    os.remove(mark)
    expect_verify(t, 0, { "copy:     27 bytes" })
    t:write("there", "x")
    expect_fault(t, { t:path "there" .. "': its byte 0 is not that of '" })
    os.remove(t:path "there")
    expect_fault(t, { "this copy of the output was moved or removed;" })
    for _, text in ipairs { "", "{", "{}", '{"destination":"there"}', '{"destination":"/"}', "[1]" } do
      t:write(mark:sub(#t.dir + 2), text)
      local r = t:run { "verify", t.job_dir }
      assert.truthy(r.status == 0 or r.status == 3, r.err)
    end
  end)

  it("finds it although the record has no definition", function()
    local t = copied_case { "--environment-variables", "A=b" }
    t:write("there", "")
    expect_fault(t, { "it has 0 bytes" })
  end)

  it("knows a later job that has replaced it", function()
    local t = copied_case()
    t:write("in/0004.txt", "more")
    assert(lfs.mkdir(t:path "ws"))
    local env = { env = { "TIDEMILL_WORKSPACE=" .. t:path "ws" } }
    t:expect(t:run({ "map", "score.lua", "in", "--job-dir", "later", "--progress", "none", "--output", "there",
      "--overwrite" }, env), 0)
    local r = t:run({ "verify", t.job_dir }, env)
    t:expect(r, 0)
    assert.truthy(r.out:find(("copy:     %s, which the job '%s' has replaced since\n"):format(t:path "there",
      t:path "later"), 1, true), r.out)
  end)
end)

describe("verify of an upload", function()
  after_each(job.check_end)

  local function uploaded_case(how)
    local t = job.case()
    t:inputs(3)
    t:script [[
      function run(m, context)
        for _, path in ipairs(m) do
          local f = assert(io.open(context:output_file("deep/" .. path:match "[^/]+$"), "w"))
          f:write "one"
          f:close()
        end
        return names_of(m)
      end]]
    t:pipeline("mini_batch_size = 1, overwrite = true", ([[
      allow_reuse = false, output = tm.OutputFileDatasetConfig { name = "there", destination = "pub" }%s]]):format(how))
    assert(lfs.mkdir(t:path "ws"))
    t.env = { env = { "TIDEMILL_WORKSPACE=" .. t:path "ws" } }
    t:expect_job(0, nil, t.env)
    return t
  end

  --- The message of verify about the destination; after running the command in it, all is good
  --- again.
  local function expect_fault(t, words)
    local r = expect_verify(t, 3, words)
    local command = r.err:match "to put it there again: ([^\n]+)"
    if command then
      assert.equal(0, os.execute(command))
      expect_verify(t, 0, { "everything matches the journal" })
    end
  end

  it("compares a folder with the step's own, and says how to repair it", function()
    local t = uploaded_case ":as_upload()"
    expect_verify(t, 0, { "uploaded: 36 bytes in 4 files, " .. t:path "pub" .. "\n" })
    t:write("pub/parallel_run_step.txt", "0001.txt\n")
    expect_fault(t, { t:path "pub/parallel_run_step.txt" .. "': it has 9 bytes", "has 27" })
    t:write("pub/deep/0002.txt", "onE")
    expect_fault(t, { t:path "pub/deep/0002.txt" .. "' is damaged at byte 2: this byte is not the one" })
    os.remove(t:path "pub/deep/0003.txt")
    expect_fault(t, { t:path "pub/deep/0003.txt" .. "': it was uploaded and is missing" })
    os.execute(("rm -r '%s'"):format(t:path "pub/deep"))
    expect_fault(t, { t:path "pub/deep" .. "': it was uploaded and is missing" })
    os.execute(("rm -r '%s'"):format(t:path "pub"))
    expect_fault(t, { t:path "pub" .. "': it was uploaded and is missing" })
    t:write("pub/README", "added\n")
    expect_verify(t, 0, { "uploaded: 36 bytes in 4 files" })
    -- Only for rows can verify tell which of two copies is damaged. Here it is the job's own, so
    -- there is nothing to upload again.
    spoil(t, "output/parallel_run_step.txt", 3)
    local r = expect_verify(t, 3, { t:path "pub/parallel_run_step.txt" .. "' is damaged at byte 3" })
    assert.is_nil(r.err:find("put it there again", 1, true))
  end)

  it("compares an archive with the packed files", function()
    local t = uploaded_case ":as_archive('zip')"
    local good = t:read "pub"
    expect_verify(t, 0, { (" bytes in 1 file, %s\n"):format(t:path "pub") })
    t:write("pub", good .. "x")
    expect_verify(t, 3, { t:path "pub" .. "': it has ", "were uploaded; the files that were packed are in '" })
    t:write("pub", good:sub(1, -2) .. "x")
    expect_verify(t, 3, { t:path "pub" .. "': its bytes are not those that were uploaded" })
    t:write("pub", good)
    expect_verify(t, 0, { "good" })
    os.remove(t:path "pub")
    expect_verify(t, 3, { t:path "pub" .. "': it was uploaded and is missing" })
  end)

  for _, how in ipairs { ":as_upload()", ":as_archive('zip')" } do
    it("reports that a later job has replaced it " .. how, function()
      local t = uploaded_case(how)
      t:write("in/0004.txt", "more")
      t:expect(t:run({ "run", "pipeline.lua", "--job-dir", "later", "--progress", "none" }, t.env), 0)
      local r = t:run({ "verify", t.job_dir }, t.env)
      t:expect(r, 0)
      assert.is_truthy(r.out:find(("uploaded: %s, which the job '%s' has replaced since"):format(t:path "pub",
        t:path "later"), 1, true), r.out)
      t:expect(t:run({ "verify", "later" }, t.env), 0)
      -- Nobody knows to whom this belongs.
      os.execute(("rm -r '%s'"):format(t:path "pub"))
      t:write(how == ":as_upload()" and "pub/parallel_run_step.txt" or "pub", "theirs\n")
      t:expect(t:run({ "verify", t.job_dir }, t.env), 3)
    end)
  end
end)
