-- Damages the files in which a job keeps its state, between two sessions: flips bits, changes
-- lengths, blocks and numbers, or replaces a file by a FIFO, an endless link or a folder. Every
-- command that reads them ends with a message, and a resumed job has each row once or is Failed.
--
-- Under the sanitizers, a memory error fails the test too. TM_MUTATIONS: how many (8; with TM_LONG
-- 250). TM_SEED repeats a choice.
local ffi = require "ffi"
local folder = require "support.folder"
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local sweep = require "support.sweep"

ffi.cdef [[
int mkfifo(const char *path, unsigned mode);
int symlink(const char *target, const char *path);
]]

local MUTATIONS = tonumber(os.getenv "TM_MUTATIONS") or sweep.LONG and 250 or 8
local LIMIT, ROWS = 60, 48
local any = math.random

-- Groups the rows of a table, with an output file for each group; one group is bad.
local GROUPED = [[
function run(df, context)
  if context.partition_key_value.city == "city3" then error "a bad group" end
  local rows = {}
  local file = assert(io.open(context:output_file(context.partition_key_value.city), "w"))
  for i = 1, #df do
    rows[i] = df.c.id[i]
    file:write(df.c.id[i], "\n")
  end
  file:close()
  return rows
end]]

-- Returns its rows as frames; the rows of later mini-batches wait.
local FRAMES = [[
local ffi = require "ffi"
ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
function run(df)
  local until_s = os.clock() + 0.002 -- answers of shorter calls are sent together, after the next call
  while os.clock() < until_s do end
  while df.c.id[1] > 20 and not io.open(os.getenv "GO") do ffi.C.poll(nil, 0, 5) end
  return df
end]]

local PIPELINE = [[
local tm = require "tidemill"
local table = tm.Dataset.Tabular.from_delimited_files "in/*.csv.gz"
local rows = tm.OutputFileDatasetConfig { name = "rows" }
return tm.Pipeline { name = "case", steps = {
  tm.ParallelRunStep { name = "grouped", inputs = { table },
    output = { rows, tm.OutputFileDatasetConfig { name = "files" } },
    parallel_run_config = tm.ParallelRunConfig { entry_script = "grouped.lua", process_count_per_node = 1,
      partition_keys = "city", run_max_try = 1 } },
  tm.ParallelRunStep { name = "frames", inputs = { table }, side_inputs = { rows },
    parallel_run_config = tm.ParallelRunConfig { entry_script = "frames.lua", process_count_per_node = 1,
      mini_batch_size = "8rows", append_row_file_name = "rows.csv", error_threshold = 0, run_max_try = 1,
      sync_interval = 0.01 } },
} }]]

local expected = { grouped = {}, frames = {} }
for i = 1, ROWS do
  local city = "city" .. i % 5
  if city ~= "city3" then table.insert(expected.grouped, tostring(i)) end
  table.insert(expected.frames, i .. "," .. city)
end
for _, rows in pairs(expected) do table.sort(rows) end

--- A case with two jobs, `saved/interrupted` and `saved/finished`, each with its workspace.
local function make_jobs()
  local t = job.case()
  t:write("workspace/.keep", "")
  local lines = { "id,city" }
  for i = 1, ROWS do lines[#lines + 1] = i .. ",city" .. i % 5 end
  t:write("in/a.csv", table.concat(lines, "\n") .. "\n")
  os.execute(("gzip '%s'"):format(t:path "in/a.csv"))
  t:write("grouped.lua", GROUPED)
  t:write("frames.lua", FRAMES)
  t:write("pipeline.lua", PIPELINE)
  t.options = { env = { "GO=" .. t:path "go" }, limit = LIMIT }
  local function save(name)
    os.execute(("cd '%s' && mkdir -p saved/%s && cp -a job workspace saved/%s/"):format(t.dir, name, name))
  end
  local p = t:start_job(nil, t.options)
  t:wait_for("job/frames/output/rows.csv.partial", "16,city1\n", LIMIT)
  p:kill(programs.SIGKILL)
  p:wait()
  t:wait_for_none()
  save "interrupted"
  t:write("go", "")
  t:expect_job(0, { "--resume" }, t.options)
  save "finished"
  return t
end
--- The files that hold the program's state: no logs, outputs or copies of scripts.
local function state_files(t)
  local found = {}
  local function walk(path)
    for name in lfs.dir(t:path(path)) do
      local below = path .. "/" .. name
      local mode = lfs.symlinkattributes(t:path(below), "mode")
      if mode == "directory" and not name:find "^%.%.?$" and name ~= "logs" and name ~= "script" then
        if not name:find "^output" then walk(below) end
      elseif mode == "file" and name ~= ".keep" then
        found[#found + 1] = below
      end
    end
  end
  walk "job"
  walk "workspace"
  table.sort(found)
  return found
end

local HUGE = { "9223372036854775807", "-1", "18446744073709551616", "1e999", "4294967296", "0" }

local function cut(text, at, length) return text:sub(1, at) .. text:sub(at + length + 1) end

--- Ways to damage the bytes of a file.
local changes = {
  bits = function(text)
    for _ = 1, any(4) do
      local at = any(#text)
      local byte = text:byte(at)
      local bit = 2 ^ any(0, 7)
      byte = byte + (math.floor(byte / bit) % 2 == 0 and bit or -bit)
      text = text:sub(1, at - 1) .. string.char(byte) .. text:sub(at + 1)
    end
    return text
  end,
  shorter = function(text) return text:sub(1, any(0, #text - 1)) end,
  longer = function(text) return text .. (any(2) == 1 and "\0" or text:sub(1, 1)):rep(any(200)) end,
  hole = function(text)
    local at, length = any(0, #text - 1), any(64)
    return (text:sub(1, at) .. ("\0"):rep(length) .. text:sub(at + length + 1)):sub(1, #text)
  end,
  swapped = function(text)
    local a, b = any(0, math.floor(#text / 128)) * 64, any(0, math.floor(#text / 64)) * 64
    local first = text:sub(a + 1, a + 64)
    return cut(text, a, 64):sub(1, b) .. first .. cut(text, a, 64):sub(b + 1)
  end,
  number = function(text)
    local numbers = select(2, text:gsub("%d+", ""))
    local which, n = numbers > 0 and any(numbers) or 0, 0
    return (text:gsub("%d+", function()
      n = n + 1
      return n == which and HUGE[any(#HUGE)] or nil
    end))
  end,
}

--- What can replace a file.
local places = {
  fifo = function(path) assert(ffi.C.mkfifo(path, 384) == 0) end,
  endless = function(path) assert(ffi.C.symlink("/dev/zero", path) == 0) end,
  dangling = function(path) assert(ffi.C.symlink("nowhere", path) == 0) end,
  folder = function(path) assert(lfs.mkdir(path)) end,
  nothing = function() end,
}

local ways = {}
for _, list in ipairs { changes, places } do
  for name in pairs(list) do ways[#ways + 1] = name end
end
table.sort(ways)

--- Damages one file and says how.
local function mutate(t)
  local files, way = state_files(t), ways[any(#ways)]
  local file = files[any(#files)]
  local path, text = t:path(file), t:read(file)
  if places[way] or #text == 0 then
    assert(os.remove(path))
    if places[way] then places[way](path) else places.folder(path) end
  else
    t:write(file, changes[way](text))
  end
  return file .. ": " .. way
end

local COMMANDS = {
  { "status", "job" }, { "status", "job", "--json" }, { "logs", "job" }, { "verify", "job" }, { "jobs", "--all" },
  { "report", "job", "--trace", "-" },
  { "replay", "job", "--step", "frames", "--mini-batch", "0" }, { "clean", "--dry-run", "job" }, { "resume", "job" },
  { "verify", "job" }, { "run", "pipeline.lua", "--job-dir", "job", "--resume" },
}

local function expect_no_report(text, what)
  local at = text:find "Sanitizer" or text:find "runtime error:" or text:find "fault:"
  if at then error(what .. "\n" .. text:sub(math.max(1, at - 200), at + 3000), 2) end
end

--- Runs the command; checks that it ends with a documented status, and with a message unless that
--- is 0.
local function run(t, words, what)
  what = what .. ", then " .. table.concat(words, " ")
  local r = t:run(words, t.options)
  expect_no_report(r.err, what)
  if not (r.status and r.status <= 3 and (r.status == 0 or r.err:find "%S")) then
    error(("%s: status %s, signal %s\n%s"):format(what, r.status, r.signal, r.err), 2)
  end
  return r, what
end

--- If a step says that it is Completed, it has each row once.
local function expect_rows(t, what)
  for step, file in pairs { grouped = "parallel_run_step.txt", frames = "rows.csv" } do
    local rows = {}
    for line in t:read(("job/%s/output/%s"):format(step, file)):gmatch "[^\n]+" do
      if line ~= "id,city" then rows[#rows + 1] = line end
    end
    table.sort(rows)
    assert.same(expected[step], rows, what)
  end
end

local function disturb(t, from)
  folder.remove_tree(t:path "job")
  folder.remove_tree(t:path "workspace")
  assert(os.execute(("cp -a '%s'/saved/%s/. '%s'"):format(t.dir, from, t.dir)) == 0)
  local what, completed = from .. ": " .. mutate(t), false
  for _, words in ipairs(COMMANDS) do
    local r, all = run(t, words, what)
    if r.status == 0 and (words[1] == "resume" or words[1] == "run") then
      completed = true
      expect_rows(t, all)
    end
  end
  t:wait_for_none()
  assert.same({}, t:temp_dirs(), what)
  for _, step in ipairs { "grouped", "frames" } do
    local p = io.popen(("grep -rhs -A40 -e Sanitizer -e 'runtime error:' '%s/job/%s/logs'"):format(t.dir, step))
    expect_no_report(p:read "*a", what)
    p:close()
  end
  return completed
end

describe("a damaged file of a job", function()
  after_each(job.check_end)

  it("is survived or refused with a message by every command", function()
    local t, completed = make_jobs(), 0
    for i = 1, MUTATIONS do
      if disturb(t, i % 3 == 0 and "finished" or "interrupted") then completed = completed + 1 end
    end
    print(("# mutations: %d, after %d of them the job became Completed; TM_SEED=%d"):format(MUTATIONS, completed,
      sweep.SEED))
  end)
end)
