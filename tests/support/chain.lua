--- A job of three steps that uses most features that write files: `write` has output files and, for
--- `isolate`, a bad item; `read` reads these files and uploads its rows; `count` counts the rows of
--- both. Tests disturb it, resume it, and check that it is whole: each item has its row, its file
--- and its uploaded row once, or it is listed as failed.
---
---   local t = chain.new()
---   t:run_job(nil, …)                 -- disturbed
---   chain.expect_whole(t, "kill@7")   -- resumed, then compared
local assert = require "luassert"
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local steps = require "support.steps"

local chain = { ITEMS = 12, BAD = 5 }

local WRITE = [[
local PADDING = ("x"):rep(%d)
function run(m, context)
  local rows = {}
  for i, path in ipairs(m) do
    if number_of(path) == %d then error "a bad item" end
    local file = assert(io.open(context:output_file(name_of(path), "files"), "w"))
    assert(file:write(name_of(path) .. PADDING))
    assert(file:close())
    rows[i] = name_of(path) .. PADDING
  end
  return rows
end]]

local READ = [[
function run(m)
  local rows = {}
  for i, path in ipairs(m) do
    local file = assert(io.open(path))
    rows[i] = assert(file:read "*a")
    file:close()
  end
  return rows
end]]

local COUNT = [[
function run(m)
  local file = assert(io.open(m[1]))
  local text = assert(file:read "*a")
  file:close()
  return { select(2, text:gsub("\n", "")) }
end]]

local STEPS = [[
  step("write", "score.lua", files "in/*", { output = { output.rows, output.files }, config = {
    mini_batch_size = 3, process_count_per_node = 2, run_max_try = 2, retry_delay = 0, %s, sync_interval = 0.01 } }),
  step("read", "read.lua", output.files, { output = there, config = { mini_batch_size = 4, error_threshold = 0 } }),
  step("count", "count.lua", { output.rows, there }, { config = { error_threshold = 0 } }),
]]

local ISOLATED = "isolate_failures = true, error_threshold = 7"

local UPLOAD =
  [[local there = tm.OutputFileDatasetConfig { name = "there", destination = %q }:as_upload()]]

local FILES = [[
output.files = tm.OutputFileDatasetConfig { name = "files", destination = %q }
]]

--- A new case. `o.isolate`: with a bad item; `o.padding`: bytes in each row and file besides its
--- name; `o.upload`: where the rows of `read` go; `o.files`: the destination of the output files.
---@param o? table
function chain.new(o)
  o = o or {}
  local t = job.case()
  t.upload = t:path(o.upload or "out/there")
  t.files = o.files and t:path(o.files)
  t.padding, t.bad = o.padding or 0, o.isolate and chain.BAD
  t:inputs(chain.ITEMS)
  t:script(WRITE:format(t.padding, t.bad or 0))
  t:script(READ, "read.lua")
  t:script(COUNT, "count.lua")
  steps.pipeline(t, STEPS:format(o.isolate and ISOLATED or "error_threshold = 0"),
    (t.files and FILES:format(t.files) or "") .. UPLOAD:format(t.upload))
  return t
end

local function names_in(path)
  local names = {}
  for name in lfs.dir(path) do
    if name ~= "." and name ~= ".." then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

--- The names of the items that are not listed as failed. The bad one must be listed, and at most
--- `lost` others may be.
local function good_names(t, what, lost)
  local names, failed = job.names(chain.ITEMS), {}
  local list = t.job_dir .. "/write/failed_items.jsonl"
  if t:has(list) then
    for line in t:read(list):gmatch "[^\n]+" do
      local number = tonumber(json.decode(line).item:match "(%d+)%.txt$")
      assert.is_nil(failed[number], what .. ": an item failed twice")
      failed[number], lost = true, number == t.bad and lost or lost - 1
    end
  end
  assert.is_true(lost >= 0, what .. ": good items have failed")
  assert.is_true(not t.bad or failed[t.bad], what .. ": the bad item has not failed")
  for i = #names, 1, -1 do
    if failed[i] then table.remove(names, i) end
  end
  return names
end

--- A Completed job has the rows, files and upload of an undisturbed one, each once, and nothing
--- else is there. `o.lost`: how many good items may have failed: isolation tries a part once, and
--- its worker may have been killed.
---@param o? table
function chain.expect_rows(t, what, o)
  local names, rows = good_names(t, what, o and o.lost or 0), {}
  for i, name in ipairs(names) do rows[i] = name .. ("x"):rep(t.padding) end
  for _, folder in ipairs { t.job_dir .. "/write/output", t.job_dir .. "/read/output", t.upload } do
    assert.same(rows, t:sorted_lines(folder .. "/parallel_run_step.txt"), what .. ": " .. folder)
  end
  local counts = t:sorted_lines(t.job_dir .. "/count/output/parallel_run_step.txt")
  assert.same({ tostring(#names), tostring(#names) }, counts, what)
  local files = t.files or t.job_dir .. "/write/output.files"
  assert.same(names, names_in(files), what)
  for i, name in ipairs(names) do assert.equal(rows[i], t:read(files .. "/" .. name), what) end
  assert.same({ t.upload:match "[^/]+$" }, names_in(t.upload:match "^(.*)/"), what .. ": beside the upload")
  assert.same({ "parallel_run_step.txt" }, names_in(t.upload), what .. ": in the upload")
end

--- No temporary file or folder is left, neither of workers nor of the job.
function chain.expect_tidy(t, what)
  assert.same({}, t:temp_dirs(), what)
  for _, step in ipairs { "write", "read", "count" } do
    assert.same({}, names_in(("%s/%s/state/spill"):format(t.job_dir, step)), what)
    assert.is_false(t:has(("%s/%s/state/staging"):format(t.job_dir, step)), what .. ": staging")
  end
end

--- Resumes the job: it becomes Completed and is whole; `verify` agrees; no process is left. `o`: of
--- run(), and `lost`.
---@param o? table
function chain.expect_whole(t, what, o)
  local r = t:run_job({ "--resume" }, o)
  if r.status ~= 0 then error(("%s, resumed: status %s\n%s"):format(what, r.status, r.err), 2) end
  chain.expect_rows(t, what, o)
  local v = t:run({ "verify", t.job_dir }, o)
  if v.status ~= 0 then error(("%s, verify: status %s\n%s%s"):format(what, v.status, v.out, v.err), 2) end
  t:wait_for_none()
end

return chain
