-- Each difference from the original that the manual's migrating.md lists is tried. A bullet of the
-- page that has no try here, and a try that no bullet belongs to, fail.
local job = require "support.job"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"

local ALL = "function run(m) return names_of(m) end"

-- Two mini-batches of two files, where `config` does not set another size.
local function new_case(script, config, step)
  local t = job.case()
  t:inputs(4)
  t:script(script)
  t:pipeline((config or ""):find "mini_batch_size" and config or "mini_batch_size = 2, " .. (config or ""), step)
  return t
end

local function has(text, words) assert.is_truthy(text:find(words, 1, true), words .. "\nis not in:\n" .. text) end

-- By words of the bullet.
local tries = {
  ["exactly once"] = function()
    local t = new_case [[
function run(m, context)
  if context.try == 1 then error "once" end
  return names_of(m)
end]]
    t:expect_job(0)
    assert.same(job.names(4), t:rows())
    assert.equal(4, #t:tries())
  end,

  ["more elements"] = function()
    local t = new_case "function run(m) return { 1, 2, 3 } end"
    local r = t:expect_job(0)
    local _, count = r.err:gsub("run%(%) returned 3 elements for the 2 items", "")
    assert.equal(1, count, r.err)
    assert.equal(6, #t:rows())
  end,

  ["A data frame"] = function()
    local frame = [[
local frame = require "tidemill.frame"
function run(m)
  return frame.from_table { a = { 1, 2 }, b = { "x", "y" } }
end]]
    for name, rows in pairs { ["a.csv"] = { "1,x", "2,y", "a,b" }, ["a.tsv"] = { "1\tx", "2\ty", "a\tb" },
                              ["a.txt"] = { "1 x", "2 y" } } do
      local t = new_case(frame, ("append_row_file_name = %q, mini_batch_size = 4"):format(name))
      t:expect_job(0)
      assert.same(rows, t:sorted_lines("job/score/output/" .. name))
    end
    local t = new_case(frame, [[append_row_separator = ";", append_row_header = true]])
    t:expect_job(0)
    assert.same({ "1;x", "1;x", "2;y", "2;y", "a;b" }, t:sorted_lines "job/score/output/parallel_run_step.txt")
    local r = t:run { "map", "score.lua", "in", "--output-format", "csv" }
    t:expect(r, 0)
    assert.equal("a,b\n1,x\n2,y\n", r.out)
  end,

  ["tidemill resume latest"] = function()
    local t = new_case "error 'not yet'"
    t:expect(t:run { "run", "pipeline.lua" }, 1)
    t:script(ALL)
    local r = t:run { "resume", "latest", "--accept-changes", "--json" }
    t:expect(r, 0)
    has(r.out, '"Completed"')
  end,

  ["exact names"] = function()
    local t = new_case([[
local arguments = require "tidemill.entry_script" ().arguments
function run(m)
  return { table.concat(arguments, " ") }
end]], nil, "arguments = { '--error_threshol', '3' }")
    local r = t:expect_job(0)
    has(r.err, "argument '--error_threshol' goes to the script; the runner takes '--error_threshold'")
    assert.equal("--error_threshol 3", t:rows()[1])
  end,

  ["a line break"] = function()
    local script = [[function run(m) return { "a\nb", "c" } end]]
    local t = new_case(script)
    has(t:expect_job(1).err, "has a line break in it")
    t = new_case(script, 'append_row_line_break = "escape"')
    t:expect_job(0)
    assert.same({ "a\\nb", "a\\nb", "c", "c" }, t:rows())
  end,

  ["same fixed destination"] = function()
    local step = "output = tm.OutputFileDatasetConfig { name = 'rows', destination = 'out' }, allow_reuse = false"
    local t = new_case(ALL, nil, step)
    t:expect(t:run { "run", "pipeline.lua" }, 0)
    has(t:run({ "run", "pipeline.lua" }).err, "set overwrite = true in ParallelRunConfig")
    t:pipeline("overwrite = true", step)
    t:expect(t:run { "run", "pipeline.lua" }, 0)
  end,

  ["not one item succeeded"] = function()
    local nothing, raises = "function run() return {} end", "function run() error 'bad' end"
    for _, threshold in ipairs { -1, 4 } do
      local config = "error_threshold = " .. threshold
      has(new_case(nothing, config):expect_job(1).err, "not one of 4 items succeeded")
      has(new_case(raises, config .. ", output_action = 'summary_only'"):expect_job(1).err,
        "not one of 2 mini-batches succeeded")
      new_case(nothing, config .. ", output_action = 'summary_only'"):expect_job(0)
    end
  end,

  ["{year:yyyy}"] = function()
    local script = [[
function run(m, context)
  local year = context.partition_key_value.year
  return { year .. " " .. os.date("!%Y", tonumber(year)) }
end]]
    for format, row in pairs { ["{year:yyyy}/{file}.txt"] = "1577836800 2020", ["{year}/{file}.txt"] = "2020 1970" } do
      local step = "inputs = tm.Dataset.File.from_files('by', { partition_format = '%s' })"
      local t = new_case(script, "partition_keys = { 'year' }, mini_batch_size = nil", step:format(format))
      t:write("by/2020/a.txt", "a")
      t:expect_job(0)
      assert.same({ row }, t:rows())
    end
  end,

  ["shutdown()"] = function()
    local t = new_case(ALL .. " function shutdown() error 'late' end")
    has(t:expect_job(0).err, "warning: shutdown() failed")
    has(t:run({ "logs", "job", "--errors" }).out, "late")
    has(t:log "user/error.txt", "late")
  end,

  ["a script has submitted"] = function()
    for script, status in pairs { [ALL] = 0, ["error 'bad'"] = 1 } do
      local t = new_case(script)
      t:write("submit.lua", (t:read("pipeline.lua"):gsub("return (tm.Pipeline.*)", "local p = %1\np:submit()")))
      local r = t:run { "submit.lua" }
      t:expect(r, status)
      has(r.err, "the script has ended; waiting for job 'case'")
      r = t:run { "run", "submit.lua" }
      t:expect(r, 2)
      has(r.err, "submit")
    end
  end,

  ["belongs to one job"] = function()
    local t = new_case(ALL, nil, "output = tm.OutputFileDatasetConfig { name = 'rows', destination = 'out/{run-id}' }")
    for _ = 1, 2 do
      local r = t:run { "run", "pipeline.lua", "--json" }
      t:expect(r, 0)
      has(r.out, '"reused":false')
    end
  end,
}

local function bullets()
  local file = assert(io.open(here .. "/../../../lua/manual/migrating.md"))
  local text = file:read "*a"
  file:close()
  local part = assert(text:match "\nWhere the behaviour differs:\n(.-)\n\n%u")
  local found = {}
  for bullet in (part .. "\n- "):gmatch "%- (.-)\n%f[%-]" do found[#found + 1] = bullet end
  return found
end

describe("a difference that the page about migrating lists", function()
  after_each(job.check_end)

  it("is tried here", function()
    local left = {}
    for words in pairs(tries) do left[words] = true end
    for _, bullet in ipairs(bullets()) do
      local tried
      for words in pairs(tries) do
        if bullet:find(words, 1, true) then tried, left[words] = words, nil end
      end
      assert(tried, "no try for: " .. bullet)
    end
    assert.is_nil(next(left))
  end)

  for words, try in pairs(tries) do
    it("holds: " .. words, try)
  end
end)
