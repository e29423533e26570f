-- Messages about a job of `map` name the options that its user typed, in every command.
local job = require "support.job"

local function case(script)
  local t = job.case()
  t:inputs(4)
  t:script(script)
  return t
end

local says = job.says

describe("options are named", function()
  after_each(job.check_end)

  it("for what run() returns, by map, status and resume", function()
    local t = case "function run() return {} end"
    local words = "context:fail(i, why) says which, --returns any allows any number"
    local r = t:run { "map", "score.lua", "in", "--error-threshold", "1", "--job-dir", t.job_dir, "--",
                      "set run_max_try" }
    says(r, 1, words)
    says(r, 1, "4 items have failed, and --error-threshold tolerates 1")
    says(r, 1, "-- 'set run_max_try'")
    says(t:run { "status", t.job_dir }, 0, words)
    says(t:run { "status", t.job_dir }, 0, "-- 'set run_max_try'")
    says(t:run { "resume", t.job_dir }, 1, "and --error-threshold tolerates 1")
  end)

  it("for more elements than items, and for a row with a line break", function()
    local t = case "function run() return { 1, 2, 3, 4, 5, 6, 7 } end"
    says(t:run { "map", "score.lua", "in" }, 0, "; --returns any allows any number")
    t:script [[function run() return { "a\nb" } end]]
    says(t:run { "try", "score.lua", "in" }, 1, "use --append-row-line-break escape")
    says(t:run { "map", "score.lua", "in" }, 1, "use --append-row-line-break escape")
  end)

  it("and leaves the words of a script alone unless they are a choice of a parameter", function()
    local t = case "function run() error 'environment = test, description = none, returns = nothing' end"
    says(t:run { "map", "score.lua", "in", "--run-max-try", "1" }, 1,
      "environment = test, description = none, returns = nothing")
  end)

  it("for parameters that exclude each other, or are of another kind", function()
    local t = case "function run() return {} end"
    for _, command in ipairs { "map", "try" } do
      says(t:run { command, "score.lua", "in", "-N", "2", "--partition-keys", "a" }, 2,
        "'-N' (--mini-batch-size) and '--partition-keys' exclude each other")
      says(t:run { command, "score.lua", "in", "-N", "2rows" }, 2, "'-N' (--mini-batch-size) is \"2rows\"")
    end
  end)

  it("by the help", function()
    local help = job.case():run { "help", "map" }
    says(help, 0, "with --invalid-lines drop")
    says(help, 0, "excludes --mini-batch-size")
  end)

  -- A worker fails this mini-batch, and the job ends with status 1.
  it("for a line that is not JSON, by try, replay and head, which end as a job does", function()
    local t = case "function run(m) return {} end"
    t:write("lines.jsonl", '{"a":1}\nbad\n')
    local words = "--invalid-lines drop leaves such lines out"
    says(t:run { "map", "score.lua", "lines.jsonl", "--rows", "--job-dir", t.job_dir }, 1, words)
    says(t:run { "status", t.job_dir }, 0, words)
    says(t:run { "replay", t.job_dir, "--mini-batch", "0" }, 1, words)
    says(t:run { "try", "score.lua", "lines.jsonl", "--rows" }, 1, words)
    says(t:run { "head", "lines.jsonl" }, 1, words)
    t:write("pipeline.lua", [[local tm = require "tidemill"
      return tm.Pipeline { name = "lines", steps = { tm.ParallelRunStep { name = "lines",
        inputs = tm.Dataset.Tabular.from_json_lines_files("lines.jsonl"),
        parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua" } } } }]])
    local dir = t:path "of a pipeline"
    t:run { "run", "pipeline.lua", "--job-dir", dir }
    says(t:run { "replay", dir, "--mini-batch", "0" }, 1, 'invalid_lines = "drop" leaves such lines out')
    says(t:run { "status", dir }, 0, 'invalid_lines = "drop" leaves such lines out')
  end)

  it("for words of GNU parallel", function()
    local t = case "function run(m) return names_of(m) end"
    local words = {
      ["wc -l {}"] = "cannot read the entry script 'wc -l {}': no such file or directory; it is a file in Lua, not a "
        .. "command: its run(mini_batch) may run programs by require(\"tidemill.process\").run",
      [":::"] = "leave out ':::': the inputs are all words after the script\n",
      ["::::"] = "leave out '::::': the inputs are all words after the script, and '-' is a list of them",
      [":::+"] = "leave out ':::+'", ["{}"] = "leave out '{}': run(mini_batch) gets the paths",
    }
    for word, answer in pairs(words) do
      for _, command in ipairs { "map", "try" } do
        local script = word:find "^wc" and word or "score.lua"
        says(t:run { command, script, word, "in" }, 2, answer)
      end
    end
    for option, answer in pairs { ["-k"] = "the order of rows is not fixed", ["--null"] = "write -0",
                                  ["--wd"] = "leave it out", ["-P"] = "write -j N",
                                  ["--quiet"] = "write --progress none",
                                  ["--colsep"] = "write --rows --separator CHARACTER" } do
      says(t:run { "map", "score.lua", "in", option, "2" }, 2, "unknown option '" .. option .. "'; " .. answer)
    end
    says(t:run { "map", "--", "score.lua", "in" }, 2, "an entry script is missing; '--' comes after all inputs")
    assert(os.execute(("mkfifo '%s'"):format(t:path "pipe")) == 0)
    says(t:run { "map", "score.lua", "pipe" }, 2, "'pipe' is a pipe, and an input is a file; if it is a list of paths")
    t:write("{}", "")
    t:write(":::", "")
    says(t:run { "map", "score.lua", "{}", ":::" }, 0, ":::\n")
  end)

  it("with the path of a file whose name begins with a dash", function()
    local t = case "function run(m) return names_of(m) end"
    t:write("-dash.csv", "a\n1\n")
    t:write("--long.csv", "a\n1\n")
    says(t:run { "map", "score.lua", "-dash.csv" }, 2,
      "unknown option '-dash.csv'; the file of that name is given as ./-dash.csv")
    says(t:run { "head", "--long.csv" }, 2,
      "unknown option '--long.csv'; the file of that name is given as ./--long.csv")
    says(t:run { "map", "score.lua", "./-dash.csv" }, 0, "-dash.csv")
    local unknown = t:run { "map", "score.lua", "in", "--xyzzy" }
    says(unknown, 2, "unknown option '--xyzzy'; tidemill help map lists the options\n")
  end)
end)
