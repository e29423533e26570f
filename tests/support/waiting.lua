--- Jobs that stop at a known point, until the test lets them continue.
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"

local waiting = { PARTIAL = "job/score/output/parallel_run_step.txt.partial" }

--- The beginning of an entry script that waits: wait_for(NAME) until the file here-NAME is there,
--- mark(NAME) makes it. Needs here(t) as the options of the job.
waiting.SCRIPT = [[
local ffi = require "ffi"
ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
local function wait_for(name) while not io.open(os.getenv "HERE" .. name) do ffi.C.poll(nil, 0, 5) end end
local function mark(name) io.open(os.getenv "HERE" .. name, "w"):close() end
]]

--- An entry script: from its sixth mini-batch on, run() leaves a mark with the worker's pid, and
--- waits until let_go().
waiting.WORKERS = waiting.SCRIPT .. [[
ffi.cdef "int getpid(void);"
function run(m)
  if number_of(m[1]) > 5 then
    mark("at-" .. ffi.C.getpid())
    wait_for "go"
  end
  return names_of(m)
end]]

--- Makes a FIFO in the folder of the case.
---@return string path
function waiting.fifo(t, name)
  assert(os.execute(("mkfifo '%s'"):format(t:path(name))) == 0)
  return t:path(name)
end

--- A FIFO for programs that wait in `read line <GATE`.
---@return function lets them go, also those that follow
function waiting.gate(t, name)
  local gate = assert(io.open(waiting.fifo(t, name), "r+"))
  return function()
    gate:write(("\n"):rep(100))
    gate:flush() -- it stays open, so that lines wait for readers
  end
end

---@param t table a case of support.job
---@return table options of run_job() and start_job()
function waiting.here(t)
  return { env = { "HERE=" .. t:path "here-" } }
end

--- A job of 12 mini-batches that has written its first five rows and now waits.
---@param program string|nil another program that runs it
---@param variable string|nil "NAME=value" in its environment
---@return table case with `program` and the `options` of the job
function waiting.case(program, variable)
  local t = job.case()
  t:inputs(12)
  t:script(waiting.SCRIPT .. [[function run(m)
    local until_s = os.clock() + 0.001 -- long enough for the rows before it to be written
    repeat until os.clock() > until_s
    if number_of(m[1]) > 5 then wait_for "go" end
    return names_of(m)
  end]])
  t:pipeline "mini_batch_size = 1, process_count_per_node = 2"
  t.options = waiting.here(t)
  t.options.program = program
  table.insert(t.options.env, variable)
  t.program = t:start_job(nil, t.options)
  t:wait_for(waiting.PARTIAL, "0005.txt")
  return t
end

local function count_workers(t)
  local count = 0
  for name in lfs.dir(t.dir) do
    if name:find "^here%-at%-" then count = count + 1 end
  end
  return count
end

--- Waits until so many different workers have left a mark "at-" and their pid.
---@param limit number seconds
function waiting.wait_for_workers(t, count, limit)
  programs.wait_until(count .. " workers", function()
    assert(not t.last:has_ended(), "the job has ended")
    return count_workers(t) >= count
  end, limit)
end

function waiting.let_go(t)
  t:write("here-go", "")
end

--- Lets it continue, and waits for its end.
---@return table result as of run_job()
function waiting.go_on(t)
  waiting.let_go(t)
  return t:finish(t.program, 15)
end

return waiting
