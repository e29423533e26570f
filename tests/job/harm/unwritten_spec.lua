-- Results that cannot be delivered: standard output on a full disk, or without a reader.
local job = require "support.job"

local FULL = { before = { "bash", "-c", [["$0" "$@" >/dev/full]] } }

local function new_case()
  local t = job.case()
  t:inputs(4)
  t:script "function run(m) return names_of(m) end"
  t:pipeline "mini_batch_size = 1"
  t:write("print.lua", "print 'x'")
  t:write("exit.lua", "print 'x' os.exit(0)")
  t:write("table.csv", "a,b\n1,2\n3,4\n")
  t:expect_job(0)
  t:expect(t:run { "dataset", "register", "numbers", "in/*" }, 0)
  return t
end

-- Commands with a result on standard output.
local commands = {
  { "version" }, { "help" }, { "help", "run" }, { "help", "run_max_try" }, { "help", "--man" },
  { "help", "--completion", "bash" },
  { "run", "--help" }, { "run", "pipeline.lua", "--dry-run" },
  { "run", "pipeline.lua", "--json", "--job-dir", "new" },
  { "map", "score.lua", "in", "--job-dir", "new" },
  { "try", "score.lua", "in" }, { "head", "table.csv" }, { "replay", "job", "--mini-batch", "0" },
  { "status", "job" }, { "status", "job", "--json" }, { "jobs" }, { "jobs", "--json" }, { "logs", "job" },
  { "verify", "job" }, { "graph", "pipeline.lua" }, { "clean", "--dry-run", "job" },
  { "dataset", "list" }, { "dataset", "list", "--json" }, { "dataset", "show", "numbers" },
  { "-e", "print 'x'" }, { "-e", "io.write(('x'):rep(100000))" }, { "print.lua" }, { "lua", "print.lua" },
  { "exit.lua" },
  { "-e", "io.stdout:setvbuf 'no' print 'x'" },
}

-- The command with a new directory for this run.
local function run_anew(t, words, o)
  local own = {}
  for i, word in ipairs(words) do own[i] = word == "new" and "new" .. t.runs or word end
  return t:run(own, o)
end

describe("a result that cannot be written", function()
  after_each(job.check_end)

  it("is an error in every command, reported once", function()
    local t = new_case()
    for _, words in ipairs(commands) do
      local name = table.concat(words, " ")
      local plain = run_anew(t, words)
      if plain.out ~= "" then
        local r = run_anew(t, words, FULL)
        assert.equal(3, r.status, name .. "\n" .. r.err)
        local _, said = r.err:gsub("tidemill: cannot write [a-z ]*to standard output: [Nn]o space left on device", "")
        assert.equal(1, said, name .. "\n" .. r.err)
      else
        error(name .. " has no result\n" .. plain.err)
      end
    end
  end)

  it("is an error for the prompt and for Lua on standard input", function()
    local t = new_case()
    t:write("lines", "1 + 1\n")
    for _, words in ipairs { { "repl" }, { "-i" }, { "repl", "print.lua" } } do
      assert.equal(3, t:run(words, { before = FULL.before, stdin = t:path "lines" }).status)
    end
    t:write("lines", "print(1)\n")
    assert.equal(3, t:run({}, { before = FULL.before, stdin = t:path "lines" }).status)
  end)

  it("is not an error after the reader left, whatever its size", function()
    local t = new_case()
    local r = t:run({ "-e", "io.write(('x'):rep(1e6)) os.exit(0)" },
      { before = { "bash", "-c", [[trap '' PIPE; { "$0" "$@"; echo "status $?" >&2; } | :]] } })
    assert.truthy(r.err:find("status 141", 1, true), r.err)
    assert.falsy(r.err:find("cannot write", 1, true), r.err)
  end)

  it("does not replace the status of another failure", function()
    local t = new_case()
    assert.equal(1, t:run({ "-e", "print(1) error 'no'" }, FULL).status)
    assert.equal(2, t:run({ "status", "--no-such" }, FULL).status)
  end)

  it("is not an error of a program that writes nothing there", function()
    local t = new_case()
    assert.equal(0, t:run({ "-e", "x = 1" }, FULL).status)
    assert.equal(0, t:run({ "run", "pipeline.lua", "--job-dir", "other" }, FULL).status)
  end)
end)
