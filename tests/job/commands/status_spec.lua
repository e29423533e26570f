-- What `tidemill status` shows of a job that has ended: its command, and why items failed.
local job = require "support.job"
local json = require "dkjson"

local PLAIN = "function run(m) return names_of(m) end"

local function case(n, script)
  local t = job.case()
  t:inputs(n)
  t:script(script or PLAIN)
  return t
end

local expect_words = job.expect_words

local function status(t, name)
  local r = t:run { "status", name or t.job_dir }
  t:expect(r, 0)
  return r.out
end

describe("the command of a job", function()
  after_each(job.check_end)

  it("is shown as it was typed, by status and jobs", function()
    local t = case(2)
    t:expect(t:run { "map", "score.lua", "in/*", "-N", "1", "--progress", "none", "--", "--limit", "one two" }, 0)
    expect_words(status(t, "latest"), {
      "\ncommand: tidemill map score.lua 'in/*' -N 1 --progress none -- --limit 'one two'\n",
      "\n         in " .. t.dir .. "\n" })
    local command = t:run({ "status", "--json" }).result.command
    assert.equal(t.dir, command.directory)
    assert.same({ "tidemill", "map", "score.lua", "in/*" }, { unpack(command.words, 1, 4) })
    assert.equal("one two", command.words[#command.words])
    assert.same(command, t:run({ "jobs", "--json" }).result.command)
  end)

  it("has no values of environment variables, in any file of the workspace", function()
    local t = case(1)
    t:expect(t:run { "map", "score.lua", "in", "--environment-variables", "A=secret-1", "--job-dir", t.job_dir,
      "--environment_variables=B=secret-2=secret-3", "--progress", "none",
      "--", "--environment-variables", "C=open" }, 0)
    expect_words(status(t), { "--environment-variables A=... ", "--environment_variables=B=... ",
      "-- --environment-variables C=open\n" })
    assert.is_nil(t:read("job/job.json"):find("secret", 1, true))
  end)

  it("may have bytes that are not UTF-8", function()
    local t = case(1)
    t:expect(t:run { "map", "score.lua", "in", "--job-dir", t.job_dir, "--progress", "none", "--", "\xff" }, 0)
    expect_words(status(t), { " -- $'\\377'\n" })
  end)

  it("stays that which started the job", function()
    local t = case(2, "function run(m) if not os.getenv 'GO' then error 'no' end return names_of(m) end")
    t:expect(t:run { "map", "score.lua", "in", "--error-threshold", "0", "--progress", "none",
      "--job-dir", t.job_dir }, 1)
    local first = status(t):match "command: [^\n]*"
    t:expect(t:run({ "resume", t.job_dir }, { env = { "GO=1" } }), 0)
    assert.equal(first, status(t):match "command: [^\n]*")
  end)

  it("is not shown if the record has none, or a damaged one", function()
    local t = case(1)
    t:pipeline "mini_batch_size = 1"
    t:expect_job(0)
    local good = json.decode(t:read "job/job.json")
    expect_words(status(t), { "\ncommand: tidemill run pipeline.lua " })
    for _, command in ipairs { false, 1, "text", { words = 1 }, { words = { 1 }, directory = "/" },
      { words = { "a" } }, { words = {}, directory = "/" }, { words = { ["$"] = "bytes" }, directory = "/" } } do
      good.command = command or nil
      t:write("job/job.json", json.encode(good) .. "\n")
      assert.is_nil(status(t):find("command:", 1, true))
    end
  end)
end)

--- The lines about errors, without the blanks at their beginning.
local function errors_of(text)
  local found, is_error = {}, false
  for line in text:gmatch "[^\n]+" do
    is_error = is_error and line:find "^    " ~= nil and not line:find "^    %l+:  "
    if is_error then found[#found + 1] = line:match "%S.*" end
    is_error = is_error or line:find "^ +errors: " ~= nil
  end
  return table.concat(found, "\n")
end

describe("the errors of a failed job", function()
  after_each(job.check_end)

  local function failed(script, words)
    local t = case(6, script)
    local all = { "map", "score.lua", "in", "--job-dir", t.job_dir, "--progress", "plain", "-j", "1", unpack(words) }
    local r = t:run(all)
    t:expect(r, 1)
    return t, r.err
  end

  it("are the same in the report and in status", function()
    local t, report = failed("function run(m)\n  local x = m[1] + nil\nend",
      { "-N", "6", "--run-max-try", "1", "--error-threshold", "0" })
    local shown = errors_of(status(t))
    expect_words(shown, { "6 items: " .. t:path "score.lua" .. ":3: attempt to perform arithmetic on a string value",
      "first: mini-batch 0 (RUN_EXCEPTION) at process000, " .. t:path "in/0001.txt" .. " and 5 more\n",
      "log: " .. t.job_dir, "again: tidemill replay " .. t.job_dir .. " --mini-batch 0" })
    assert.equal((errors_of(report):gsub("^1 time: ", "")), (shown:gsub("^6 items: ", "")))
    local first = t:run({ "status", t.job_dir, "--json" }).result.steps[1].errors[1]
    assert.equal(t:path "score.lua" .. ":3", first.where)
  end)

  it("are the same for items that run() has left out", function()
    local t, report = failed("function run(m) return { 1 } end", { "-N", "6", "--error-threshold", "0" })
    local shown = errors_of(status(t))
    expect_words(shown, { "5 items: run() returned fewer elements than items",
      "list: " .. t.job_dir .. "/score/failed_items.jsonl" })
    assert.equal(errors_of(report):match "%(1 element for 6 items%)", shown:match "%(1 element for 6 items%)")
  end)

  it("are followed by the number of the others", function()
    local t, report = failed("function run(m) error('e' .. string.rep('x', number_of(m[1]))) end",
      { "-N", "1", "--run-max-try", "1", "--error-threshold", "-1" })
    expect_words(report, { "and 1 other error\n" })
    expect_words(status(t), { "    and 1 other error\n" })
    assert.equal(1, t:run({ "status", t.job_dir, "--json" }).result.steps[1].errors_more)
  end)

  it("agree with the cause in their numbers", function()
    local t, report = failed([[
      function run(m)
        while number_of(m[1]) == 1 and not io.open(os.getenv "HERE" .. "/second") do end
        if number_of(m[1]) == 4 then io.open(os.getenv "HERE" .. "/second", "w"):close() end
        error "no"
      end]], { "-N", "3", "-j", "2", "--run-max-try", "1", "--error-threshold", "2",
        "--environment-variables", "HERE=." })
    local n = report:match "cause: +(%d+) items have failed"
    assert.equal(n, report:match "items: .- (%d+) failed")
    expect_words(status(t), { ("cause:   %s items have failed, and --error-threshold tolerates 2\n"):format(n) })
  end)
end)

describe("the last line about a Completed job of map with failed items", function()
  after_each(job.check_end)

  it("is its own command, with --only-failed, in status and in a resume that runs nothing", function()
    local t = case(4, "function run(m) if number_of(m[1]) == 2 then error 'no' end return names_of(m) end")
    local words = { "map", "score.lua", "in", "-N", "1", "--run-max-try", "1", "--progress", "none" }
    t:expect(t:run(words), 0)
    local dir = t:run({ "status", "--json" }).result.job_dir
    local command = "tidemill " .. table.concat(words, " ") .. " --only-failed " .. dir .. "\n"
    expect_words(status(t, "latest"), { "\nto run the failed items again: " .. command })
    local resumed = t:run { "resume", "latest" }
    t:expect(resumed, 0)
    expect_words(resumed.err, { "is Completed: nothing is run\n", "\nto run the failed items again: " .. command })
    local elsewhere = t:run({ "status", dir }, { cwd = t:path "in" })
    expect_words(elsewhere.out, { "again: cd " .. t.dir .. " && " .. command })
  end)

  it("is not made up where the command cannot be typed again as it is", function()
    local t = case(2, "function run(m) if number_of(m[1]) == 2 then error 'no' end return names_of(m) end")
    for _, more in ipairs { { "--output", "rows.txt" }, { "--", "x" } } do
      local words = { "map", "score.lua", "in", "-N", "1", "--run-max-try", "1", "--progress", "none", unpack(more) }
      t:expect(t:run(words), 0)
      expect_words(status(t, "latest"), { "again: the command that started the job, with --only-failed " })
    end
  end)
end)

describe("the last line about a job that failed by items which run() has left out", function()
  after_each(job.check_end)

  it("names a command that works, and no resume, which would fail again", function()
    local t = case(4, "function run(m) if os.getenv 'GO' then return names_of(m) end return { 1 } end")
    local words = { "map", "score.lua", "in", "-N", "2", "--error-threshold", "1", "--progress", "none" }
    local r = t:run(words)
    t:expect(r, 1)
    local said = "a resume would end in the same way: it keeps mini-batches for which run() returned"
    expect_words(r.err, { said, "to run all again: tidemill map score.lua in -N 2 --error-threshold 1" })
    assert.is_nil(r.err:find("to go on", 1, true))
    local shown = status(t, "latest")
    expect_words(shown, { said, "to run all again: tidemill map score.lua in -N 2 --error-threshold 1 ",
      "command: tidemill map score.lua" })
    assert.is_nil(shown:find("to go on", 1, true))
    -- That is so.
    t:expect(t:run({ "resume", "latest" }, { env = { "GO=1" } }), 1)
    t:expect(t:run(words, { env = { "GO=1" } }), 0)
  end)

  it("runs the failed items alone if they are known", function()
    local t = case(4, [[
      local agent = require "tidemill.entry_script" ()
      function run(m, context)
        if not os.getenv "GO" then context:fail(1, "dark") return { 1 } end
        return names_of(m)
      end]])
    t:pipeline "mini_batch_size = 2, error_threshold = 0"
    t:run_job()
    local shown = status(t)
    expect_words(shown, { "a resume would end in the same way", "to run the failed items again: tidemill run " })
    assert.is_nil(shown:find("to go on", 1, true))
  end)

  it("is that of a resume if other mini-batches have failed", function()
    local t = case(4, "function run(m) if number_of(m[1]) == 3 then error 'no' end return { 1 } end")
    t:expect(t:run { "map", "score.lua", "in", "-N", "2", "--error-threshold", "2", "--run-max-try", "1",
      "--job-dir", t.job_dir, "--progress", "none" }, 1)
    expect_words(status(t), { "to go on: tidemill resume " })
  end)
end)

describe("the cause of a failed job", function()
  after_each(job.check_end)

  it("sends no control characters to the terminal", function()
    local t = case(1, [[function init() error "\27]0;title\7" end function run(m) return m end]])
    t:pipeline "process_count_per_node = 1"
    assert.not_equal(0, t:run_job().status)
    local shown = status(t)
    expect_words(shown, { "\ncause:   ", "\\x1B]0;title\\x07" })
    assert.is_nil(shown:find "[\1-\9\11-\31]")
  end)
end)
