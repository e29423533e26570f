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

local function expect_words(text, words)
  for _, word in ipairs(words) do
    assert.is_truthy(text:find(word, 1, true), ("'%s' is missing in:\n%s"):format(word, text))
  end
end

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
    expect_words(status(t), { " -- '\xff'\n" })
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
