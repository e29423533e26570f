-- A case: a fresh directory with a pipeline, its script and its inputs, and runs of the program on
-- them.
--
--   local t = job.case()
--   t:inputs(6)
--   t:script [[function run(m) return m end]]
--   t:pipeline("mini_batch_size = 2")
--   local r = t:run_job()         -- r.status, r.out, r.err, r.result
--
-- job.check_end, after each case, fails if a process is left, and removes the directory. A process
-- belongs to a case if it has the case's variable in its environment, which children inherit.
local folder = require "support.folder"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"
local relayed = require "support.relayed"

local job = {}
local Case = {}
Case.__index = Case

local program = assert(os.getenv "TIDEMILL", "TIDEMILL is not set: the path of the program")
-- folders of jobs that run outside the case's directory
if program:sub(1, 1) ~= "/" then program = lfs.currentdir() .. "/" .. program end
local count, open_cases = 0, {}

local function read_file(path)
  local file, message = io.open(path, "rb")
  if not file then return nil, message end
  local text = file:read "*a"
  file:close()
  return text
end

--- The text of a file; of a log of the workers' node, the text of all nodes, one after another.
local function read_each(path)
  local texts = {}
  for i, one in ipairs(relayed.paths(path)) do
    local text, message = read_file(one)
    if not text then return nil, message end
    texts[i] = text
  end
  return table.concat(texts)
end

local function make_dirs(path)
  if lfs.attributes(path, "mode") == "directory" then return end
  make_dirs(path:match "^(.+)/[^/]+$" or "/")
  assert(lfs.mkdir(path))
end

--- Whether every user may enter this folder and those above it.
local function is_open(path)
  local permissions = lfs.attributes(path == "" and "/" or path, "permissions")
  if not permissions or not permissions:find "[xt]$" then return false end
  return path == "" or is_open(path:match "^(.*)/[^/]*$")
end

--- A copy of the program for users who may not enter the build folder.
local function copy_program(path)
  local copy = programs.start({ "install", "-m", "755", program, path },
                              { stdout = "/dev/null", stderr = "/dev/null" })
  assert(copy:wait() == 0, "cannot copy the program to " .. path)
  return path
end

--- A fresh directory. `o.base`: the folder for it. `o.for_others`: other users run the program
--- there, so a folder for temporary files that they may not enter is not used.
function job.case(o)
  count = count + 1
  local base = o and o.base or os.getenv "TMPDIR" or "/tmp"
  if o and o.for_others and not is_open(base) then base = "/tmp" end
  local self = setmetatable({}, Case)
  self.dir = os.tmpname()
  os.remove(self.dir)
  self.dir = base .. "/tidemill-job-" .. self.dir:match "[^/]+$" .. "-" .. count
  make_dirs(self.dir .. "/tmp")
  self.program_file = o and o.for_others and copy_program(self.dir .. "/tidemill") or program
  if os.getenv "TM_MEMORY_DIR" then -- for entries of archives, if the folder suits
    self.memory = os.getenv "TM_MEMORY_DIR" .. self.dir:match "/[^/]+$"
    make_dirs(self.memory)
  end
  self.variable = "TIDEMILL_CASE=" .. self.dir
  self.job_dir = self.dir .. "/job"
  self.step_dir = self.job_dir .. "/score"
  self.runs = 0
  open_cases[#open_cases + 1] = self
  return self
end

--- Checks after each case that nothing is still running.
function job.check_end()
  local left = {}
  for _, case in ipairs(open_cases) do
    for _, p in ipairs(case:processes()) do
      left[#left + 1] = p.pid .. ": " .. table.concat(p.argv, " ")
      programs.kill(p.pid, programs.SIGKILL)
    end
    for _, name in ipairs(case:temp_dirs()) do left[#left + 1] = "temporary folder " .. name end
    relayed.note(case.dir)
    if not os.getenv "TM_KEEP_CASES" then folder.remove_tree(case.dir) end
    if case.memory then folder.remove_tree(case.memory) end
  end
  open_cases = {}
  if #left > 0 then error("left behind:\n" .. table.concat(left, "\n"), 0) end
end

--- Paths of the existing worker folders: in the folder for temporary files, and in memory.
function Case:temp_dirs()
  local found = {}
  for _, dir in ipairs { self.dir .. "/tmp", self.memory } do
    for name in lfs.dir(dir) do
      if name:find "^tidemill" then found[#found + 1] = dir .. "/" .. name end
    end
  end
  return found
end

function Case:path(name)
  return name:find "^/" and name or self.dir .. "/" .. name
end

function Case:write(name, text)
  local path = self:path(name)
  make_dirs(path:match "^(.+)/[^/]+$")
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

function Case:read(name) return assert(read_each(self:path(name))) end

function Case:has(name) return lfs.symlinkattributes(relayed.paths(self:path(name))[1], "mode") ~= nil end

--- The lines of a file, sorted: its rows, as a multiset.
function Case:sorted_lines(name)
  local lines = {}
  for line in self:read(name):gmatch "[^\n]+" do lines[#lines + 1] = line end
  table.sort(lines)
  return lines
end

--- Input files in/0001.txt, … with their number as the content.
function Case:inputs(n, below)
  for i = 1, n do self:write(("%s/%04d.txt"):format(below or "in", i), i .. "\n") end
end

--- The rows of an undisturbed run over n inputs whose script returns names.
function job.names(n)
  local names = {}
  for i = 1, n do names[i] = ("%04d.txt"):format(i) end
  return names
end

--- The script can use these functions, and has its own lines as if they were not there. A worker
--- may keep the result of a run() of less than 0.2 ms during the next one: a script in which one
--- run() waits for what another has done calls take_a_millisecond() in that.
local PRELUDE = [[
local function name_of(path) return path:match "[^/]+$" end
local function number_of(path) return tonumber(path:match "(%d+)%.%w+$") end
local function names_of(paths)
  local names = {}
  for i, path in ipairs(paths) do names[i] = name_of(path) end
  return names
end
local function wait_for_file(path)
  local ffi = require "ffi"
  pcall(ffi.cdef, "int poll(void *fds, unsigned long n, int ms)")
  for _ = 1, 12000 do
    local file = io.open(path)
    if file then return file:close() end
    ffi.C.poll(nil, 0, 5)
  end
  error("nobody has made " .. path)
end
local function take_a_millisecond()
  local until_s = os.clock() + 0.001
  while os.clock() < until_s do end
end
local _ = { name_of, number_of, names_of, wait_for_file, take_a_millisecond }
]]

function Case:script(text, name)
  self:write(name or "score.lua", (PRELUDE:gsub("\n", " ")) .. "\n" .. text)
end

--- One step `score` over in/*; `config` and `step` are Lua text within the braces of each.
function Case:pipeline(config, step, before)
  self:write("pipeline.lua", ([[
local tm = require "tidemill"
%s
local config = tm.ParallelRunConfig { entry_script = "score.lua", %s }
local step = tm.ParallelRunStep {
  name = "score", parallel_run_config = config,
  inputs = { tm.Dataset.File.from_files("in/*"):as_named_input("in") }, %s
}
return tm.Pipeline { name = "case", steps = { step } }
]]):format(before or "", config or "", step or ""))
end

-- In linear time: a pattern would try each byte of a long line.
local function last_line(text)
  local back = text:reverse()
  local from = back:find "^\n" and 2 or 1
  return back:sub(from, (back:find("\n", from, true) or #back + 1) - 1):reverse()
end

--- Starts the program, or another one: the arguments, and { program, cwd, limit, stdin, env = {
-- "NAME=value" }, before = { "words", "before" } }.
function Case:start(words, o)
  o = o or {}
  self.runs = self.runs + 1
  local argv = { "env", self.variable, "TIDEMILL_WORKSPACE=" .. self.dir .. "/workspace",
                 "TMPDIR=" .. self.dir .. "/tmp" }
  if self.memory then argv[#argv + 1] = "TIDEMILL_MEMORY_DIR=" .. self.memory end
  if not o.program then words = relayed.words(words) end
  for _, list in ipairs { relayed.environment(), o.env or {}, o.before or {}, { o.program or self.program_file },
                          words } do
    for _, word in ipairs(list) do argv[#argv + 1] = word end
  end
  local out, err = self.dir .. "/run" .. self.runs .. ".out", self.dir .. "/run" .. self.runs .. ".err"
  local p = programs.start(argv, { cwd = o.cwd or self.dir, stdin = o.stdin, stdout = out, stderr = err })
  p.out_file, p.err_file = out, err
  self.last = p
  return p
end

--- Waits until a started program has ended: { status, signal, out, err, result }.
function Case.finish(_, p, limit)
  local status, signal = p:wait(limit)
  local r = { status = status, signal = signal, out = relayed.text(read_file(p.out_file)),
              err = relayed.text(read_file(p.err_file)) }
  local line = last_line(r.out)
  if line:find "^{" then r.result = json.decode(line) end
  return r
end

function Case:run(words, o) return self:finish(self:start(words, o), o and o.limit) end

local function job_words(self, more)
  local words = { "run", "pipeline.lua", "--job-dir", self.job_dir, "--progress", "none", "--json" }
  for _, word in ipairs(more or {}) do words[#words + 1] = word end
  return words
end

function Case:start_job(more, o) return self:start(job_words(self, more), o) end
function Case:run_job(more, o) return self:run(job_words(self, more), o) end

--- run_job(), which must end with `status` (0).
function Case:expect_job(status, more, o)
  local r = self:run_job(more, o)
  self:expect(r, status)
  return r
end

--- Checks that the run ended with `status`, and returns it; the error shows its messages.
function Case.expect(_, r, status)
  if r.status ~= status then
    error(("exit status %s (signal %s), not %s\n%s%s"):format(r.status, r.signal, status, r.err, r.out), 2)
  end
  return r
end

local function check_each(said, words, is_literal)
  local text = type(said) == "table" and said.err or said
  for _, word in ipairs(words) do
    assert(text:find(word, 1, is_literal), ("'%s' is missing in:\n%s"):format(word, text))
  end
end

--- Checks that a text, or what a run wrote to standard error, has all these words or patterns.
function job.expect_words(said, words) check_each(said, words, true) end
function job.expect_patterns(said, patterns) check_each(said, patterns, false) end

--- Checks that the run ended with `status`, and that its output has the words.
function job.says(r, status, words)
  Case:expect(r, status)
  job.expect_words(r.out .. r.err, { words })
end

function Case:rows(name) return self:sorted_lines(self.step_dir .. "/output/" .. (name or "parallel_run_step.txt")) end
function Case:result() return json.decode(self:read "job/job_result.json") end
function Case:log(name) return self:read(self.step_dir .. "/logs/" .. name) end
function Case:has_log(name) return self:has(self.step_dir .. "/logs/" .. name) end

local function split_record(text, at)
  local record = {}
  while true do
    local field
    if text:sub(at, at) == '"' then
      local stop = at + 1
      while text:sub(stop, stop) ~= '"' or text:sub(stop + 1, stop + 1) == '"' do
        stop = stop + (text:sub(stop, stop) == '"' and 2 or 1)
        assert(stop <= #text, "a quoted field does not end")
      end
      field, at = text:sub(at + 1, stop - 1):gsub('""', '"'), stop + 1
    else
      local stop = text:find("[,\n]", at) or #text + 1
      field, at = text:sub(at, stop - 1), stop
    end
    record[#record + 1] = (field:gsub("\r$", ""))
    local mark = text:sub(at, at)
    at = at + 1
    if mark ~= "," then return record, at end
  end
end

--- The tries of the step: rows of processed_mini-batches.csv as tables by column; and the columns.
function Case:tries()
  local text = self:log "sys/job_report/processed_mini-batches.csv"
  local columns, at = split_record(text, 1)
  local record
  local tries = {}
  while at <= #text do
    local row = {}
    record, at = split_record(text, at)
    for i, column in ipairs(columns) do row[column] = record[i] end
    tries[#tries + 1] = row
  end
  return tries, columns
end

--- How many tries ended with each status.
function Case:statuses()
  local counts = {}
  for _, try in ipairs(self:tries()) do counts[try.Status] = (counts[try.Status] or 0) + 1 end
  return counts
end

function Case:processes() return programs.find(self.variable) end

--- The processes of the case that the program runs as `kind`: keeper, worker. Keepers that have
--- workers come first: behind a relay the job has a keeper of its own, too. A child of another
--- process of the same kind is left out: a leak checker forks such a child to stop the ending
--- program, and if the child is killed instead, the program waits forever.
function Case:processes_of(kind)
  local all, relays, found = {}, {}, {}
  for _, p in ipairs(self:processes()) do
    if p.argv[2] == kind then all[p.pid] = p end
    if p.argv[2] == "node" then relays[p.pid] = p end
  end
  for pid in pairs(all) do
    local parent = programs.parent(pid)
    if not all[parent] then table.insert(found, relays[parent] and 1 or #found + 1, pid) end
  end
  return found
end

--- Waits until every process of the case has ended: those of a killed supervisor end a moment after
--- it.
function Case:wait_for_none(limit)
  programs.wait_until("the end of all processes", function() return #self:processes() == 0 end, limit or 10)
end

--- Waits until the file exists, or until a line of it matches; an error if the program that was
--- started last ends first.
function Case:wait_for(name, pattern, limit)
  return programs.wait_until(name .. (pattern and " with " .. pattern or ""), function()
    local has_ended = self.last:has_ended()
    local text = read_each(self:path(name))
    if text and (not pattern or text:find(pattern)) then return text end
    if has_ended then error("it has ended: " .. read_file(self.last.err_file), 0) end
  end, limit)
end

job.program = program
job.NODE = relayed.NODE
return job
