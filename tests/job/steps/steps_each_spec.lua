-- Everything that a single step can do works for each of several steps: keys of paths, columns, bad
-- items, limits, registered outputs.
local job = require "support.job"
local json = require "dkjson"
local steps = require "support.steps"

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text)) end

local function lines_of(t, step, name)
  return t:sorted_lines("job/" .. step .. "/output/" .. (name or "parallel_run_step.txt"))
end

describe("an output with a partition_format", function()
  after_each(job.check_end)

  -- One folder for each of two shops, in its own output.
  local SPLIT = [[
    local to = ...
    function run(m)
      for _, path in ipairs(m) do
        local n = number_of(path)
        local dir = to .. "/shop=" .. (n % 2 == 0 and "even" or "odd")
        os.execute("mkdir -p '" .. dir .. "'")
        local f = assert(io.open(dir .. "/" .. n .. ".csv", "w"))
        f:write("n\n", n, "\n")
        f:close()
      end
      return m
    end]]
  local OUTPUT = "local shops = tm.OutputFileDatasetConfig { name = 'shops', partition_format = '%s' }"
  local WRITER = [[
    step("split", "score.lua", files "in/*", { output = { output.rows, shops }, arguments = { shops } }), ]]

  local function case(format, readers)
    local t = job.case()
    t:inputs(5)
    t:script(SPLIT)
    t:script([[
      function run(m, c)
        local rows = {}
        for i, name in ipairs(names_of(m)) do rows[i] = c.partition_key_value.shop .. " " .. name end
        return rows
      end]], "keys.lua")
    t:script([[
      function run(df, c)
        local keys, rows = c.partition_key_value, {}
        for row in df:rows() do rows[#rows + 1] = (keys.shop or keys.name) .. " " .. row.n end
        return rows
      end]], "table.lua")
    steps.pipeline(t, WRITER .. readers, OUTPUT:format(format))
    return t
  end

  it("gives its readers the keys, as files and as a table", function()
    local t = case("shop={shop}/*.csv", [[
      step("keys", "keys.lua", shops, { config = { partition_keys = { "shop" } } }),
      step("table", "table.lua", shops:read_delimited_files(),
        { config = { partition_keys = { "shop" } } }),
      step("other", "table.lua", shops:read_delimited_files { partition_format = "{folder}/{name}.csv" },
        { config = { partition_keys = { "name" } } }),
    ]])
    local r = t:expect_job(0)
    local by_name = steps.by_name(r.result)
    assert.equal(2, by_name.keys.mini_batches.total)
    assert.same({ "even 2.csv", "even 4.csv", "odd 1.csv", "odd 3.csv", "odd 5.csv" }, lines_of(t, "keys"))
    assert.same({ "even 2", "even 4", "odd 1", "odd 3", "odd 5" }, lines_of(t, "table"))
    assert.same({ "1 1", "2 2", "3 3", "4 4", "5 5" }, lines_of(t, "other"))
  end)

  it("is refused at its line if it is invalid", function()
    local t = case("{date:YYYY}", "")
    local r = t:run_job()
    t:expect(r, 2)
    has(r.err, "OutputFileDatasetConfig: 'partition_format' is \"{date:YYYY}\": 'YYYY' in '{date:...}' is not a field")
    assert.is_truthy(r.err:find "pipeline%.lua:%d+: OutputFileDatasetConfig")
  end)
end)

describe("a step that reads the output of another", function()
  after_each(job.check_end)

  local FRAMES = [[
    local frame = require "tidemill.frame"
    function run(m) return frame.from_table { { "name", { name_of(m[1]) } }, { "n", { number_of(m[1]) } } } end]]

  it("has columns of its own, and is replayed by its name", function()
    local t = job.case()
    t:inputs(3)
    t:script(FRAMES)
    t:script("function run(df) return df:filter(function(row) return row.n > 1 end) end", "filter.lua")
    steps.pipeline(t, [[
      step("first", "score.lua", files "in/*", { output = output.one, config = { append_row_file_name = "a.csv" } }),
      step("second", "filter.lua", output.one:read_delimited_files(),
        { output = output.two, config = { append_row_file_name = "b.csv", mini_batch_size = "1MB" } }),
      step("third", "filter.lua", output.two:read_delimited_files(),
        { config = { append_row_file_name = "c.csv", mini_batch_size = "1MB" } }),
    ]])
    t:expect_job(0)
    local expected = { "0002.txt,2", "0003.txt,3", "name,n" }
    assert.same(expected, lines_of(t, "second", "b.csv"))
    assert.same(expected, lines_of(t, "third", "c.csv"))
    local r = t:run { "replay", t.job_dir, "--step", "third", "--mini-batch", "0" }
    t:expect(r, 0)
    has(r.out .. r.err, "0003.txt")
    t:expect(t:run { "verify", t.job_dir }, 0)
    t:expect_job(0, { "--resume", "--verify-input" })
  end)

  -- Files of a second output: one for each input.
  local COPY = [[
    local to = ...
    function run(m)
      for _, path in ipairs(m) do
        local f = assert(io.open(to .. "/" .. name_of(path), "w"))
        f:write(number_of(path), "\n")
        f:close()
      end
      return m
    end]]
  local COPY_STEP = [[
    step("copy", "score.lua", files "in/*",
      { output = { output.rows, output.copies }, arguments = { output.copies } }), ]]

  it("isolates its bad items, which can be run as another job", function()
    local t = job.case()
    t:inputs(8)
    t:script(COPY)
    t:script([[
      local copies = ...
      function run(m)
        assert(io.open(copies .. "/0001.txt"))
        for _, path in ipairs(m) do
          if number_of(path) == 5 and not io.open(os.getenv "HERE" .. "/good") then error "bad" end
        end
        return names_of(m)
      end]], "bad.lua")
    steps.pipeline(t, COPY_STEP .. [[
      step("bad", "bad.lua", output.copies,
        { arguments = { output.copies },
          config = { mini_batch_size = 8, isolate_failures = true, run_max_try = 1, allowed_failed_count = 1 } }), ]])
    local o = { env = { "HERE=" .. t.dir } }
    local r = t:expect_job(0, nil, o)
    assert.same({ total = 8, succeeded = 7, failed = 1 }, (function(i)
      return { total = i.total, succeeded = i.succeeded, failed = i.failed }
    end)(steps.by_name(r.result).bad.items))
    assert.equal(7, #lines_of(t, "bad"))
    has(json.decode(t:read("job/bad/failed_items.jsonl"):match "[^\n]+").item, "job/copy/output.copies/0005.txt")
    t:expect(t:run { "verify", t.job_dir }, 0)
    t:write("good", "")
    r = t:run({ "run", "pipeline.lua", "--only-failed", t.job_dir, "--job-dir", t.dir .. "/again", "--json" }, o)
    t:expect(r, 0)
    assert.same({ "0005.txt" }, t:sorted_lines "again/bad/output/parallel_run_step.txt")
    t:expect(t:run({ "run", "pipeline.lua", "--job-dir", t.dir .. "/again", "--resume", "--json" }, o), 0)
  end)

  it("is interrupted if it takes too long", function()
    local t = job.case()
    t:inputs(3)
    t:script(COPY)
    t:script([[
      function run(m)
        while number_of(m[1]) == 2 do end
        return names_of(m)
      end]], "late.lua")
    steps.pipeline(t, COPY_STEP .. [[
      step("late", "late.lua", output.copies, { config = { interruptible = true, run_invocation_timeout = 0.2,
        interrupt_grace = 30, run_max_try = 1, error_threshold = 1 } }), ]])
    t:expect_job(0)
    assert.same({ "0001.txt", "0003.txt" }, lines_of(t, "late"))
    has(t:read "job/late/logs/user/error.txt", "was interrupted")
  end)

  it("continues in another job if its input existed before", function()
    local t = job.case()
    t:inputs(4)
    t:script([[
      function run(m)
        if number_of(m[1]) > 2 and not io.open(os.getenv "HERE" .. "/good") then error "not yet" end
        local f = io.open(os.getenv "HERE" .. "/ran", "a")
        f:write "x"
        f:close()
        return m
      end]])
    t:script("function run(m) return m end", "echo.lua")
    local function pipeline(arguments)
      steps.pipeline(t, ([[
        step("first", "score.lua", files "in/*",
          { output = output.one, config = { run_max_try = 1, error_threshold = 0 }, arguments = { %s } }),
        step("second", "echo.lua", output.one),
      ]]):format(arguments))
    end
    local o = { env = { "HERE=" .. t.dir } }
    pipeline ""
    t:expect_job(1, nil, o)
    t:write("good", "")
    pipeline('"--resume_from", "' .. t.job_dir .. '"')
    t.job_dir = t.dir .. "/job2"
    local r = t:expect_job(0, nil, o)
    assert.equal("xxxx", t:read "ran")
    assert.equal(4, steps.by_name(r.result).first.items.succeeded)
    assert.equal("Completed", steps.statuses(r.result).second)
    t:expect(t:run { "verify", t.job_dir }, 0)
  end)
end)

describe("register_on_complete of several outputs", function()
  after_each(job.check_end)

  local TWO = [[
    local rows = tm.OutputFileDatasetConfig { name = "rows" }:register_on_complete "rows"
    local there = tm.OutputFileDatasetConfig {
      name = "there", destination = "there/it", partition_format = "{name}.txt",
    }:register_on_complete("files", { description = "copies" }):as_upload()
    local last = tm.OutputFileDatasetConfig { name = "last" }:register_on_complete "last" ]]
  local STEPS = [[
    step("write", "score.lua", files "in/*", { output = { rows, there }, arguments = { there } }),
    step("read", "read.lua", there, { output = last, config = { run_max_try = 1 } }), ]]

  local function case()
    local t = job.case()
    t:inputs(2)
    t:script [[
      local to = ...
      function run(m)
        local f = assert(io.open(to .. "/" .. name_of(m[1]), "w"))
        f:write "copy\n"
        f:close()
        return names_of(m)
      end]]
    t:script([[
      function run(m)
        if not io.open(os.getenv "HERE" .. "/good") then error "not yet" end
        return names_of(m)
      end]], "read.lua")
    steps.pipeline(t, STEPS, TWO)
    return t, { env = { "HERE=" .. t.dir } }
  end

  local function registered(t)
    local r = t:run { "dataset", "list", "--json" }
    t:expect(r, 0)
    local found = {}
    for line in r.out:gmatch "[^\n]+" do
      local row = json.decode(line)
      found[row.name] = row.version
    end
    return found
  end

  it("makes one version of each output of the Completed steps", function()
    local t, o = case()
    t:expect_job(1, nil, o)
    assert.same({ rows = 1, files = 1 }, registered(t))
    t:write("good", "")
    t:expect_job(0, { "--resume" }, o)
    assert.same({ rows = 1, files = 1, last = 1 }, registered(t))
    t:script("function run(m, c) return { c.partition_key_value.name } end", "named.lua")
    steps.pipeline(t, [[ step("named", "named.lua", tm.Dataset.get_by_name(tm.Workspace.from_config(), "files"),
      { config = { partition_keys = { "name" } } }), ]])
    local r = t:run { "run", "pipeline.lua", "--progress", "none", "--json" }
    t:expect(r, 0)
    assert.same({ "0001", "0002" }, t:sorted_lines(r.result.steps[1].output))
  end)

  it("is refused for unknown keys", function()
    for _, given in ipairs { "", "'rows', { name = 'x' }", "'rows', { mode = 'upload' }", "'rows', 7" } do
      local t = job.case()
      steps.pipeline(t, "", "\nlocal _ = tm.OutputFileDatasetConfig { name = 'rows' }:register_on_complete("
        .. given .. ")")
      local r = t:run_job()
      t:expect(r, 2)
      has(r.err, "register_on_complete: accepted: a name, and a table { description, tags }")
      assert.is_truthy(r.err:find "pipeline%.lua:%d+: ")
    end
  end)
end)
