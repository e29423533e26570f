-- Destinations that two jobs would write at the same time, whose pipelines were both right when they were submitted.
local job = require "support.job"
local json = require "dkjson"
local lfs = require "lfs"
local programs = require "support.programs"

-- `run()` says that it is there, and returns once `go` is.
local WAITING = [[
local ffi = require "ffi"
ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
local here = os.getenv "HERE"
local function is_there(name)
  local file = io.open(here .. "/" .. name)
  return file and file:close()
end
function run(m)
  io.open(here .. "/began." .. os.getenv "JOB", "w"):close()
  for _ = 1, 12000 do
    if is_there "go" then return names_of(m) end
    ffi.C.poll(nil, 0, 5)
  end
  error "nobody said go"
end
]]

local function has(text, part) assert.is_truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text)) end

local function case(how)
  local t = job.case()
  t:inputs(2)
  t:script(WAITING)
  t:pipeline("mini_batch_size = 2", ([[
    allow_reuse = false, output = tm.OutputFileDatasetConfig { name = "there", destination = "out" }%s]]):format(how))
  return t
end

local function start(t, name)
  return t:start({ "run", "pipeline.lua", "--job-dir", name, "--progress", "none", "--json" },
    { env = { "HERE=" .. t.dir, "JOB=" .. name } })
end

local function wait_for_script(t, name)
  programs.wait_until("the script of " .. name, function() return t:has("began." .. name) end, 120)
end

describe("two jobs at one destination", function()
  after_each(job.check_end)

  it("do not both write to it: the second is refused while the first runs, and afterwards", function()
    local t = case ""
    local first = start(t, "first")
    wait_for_script(t, "first")
    local r = t:finish(start(t, "second"))
    t:expect(r, 2)
    has(r.err, "pipeline.lua:4: step 'score': destination '" .. t:path "out" .. "'")
    assert.is_false(t:has "second")
    t:write("go", "")
    t:expect(t:finish(first), 0)
    t:expect(t:finish(start(t, "second")), 2)
    assert.same({ "0001.txt", "0002.txt" }, t:sorted_lines "out/parallel_run_step.txt")
  end)

  for _, how in ipairs { ":as_upload()", ":as_archive()" } do
    it("upload it once: what came first stays, and the other goes on when it is away " .. how, function()
      local t = case(how)
      local running = { first = start(t, "first"), second = start(t, "second") }
      wait_for_script(t, "first")
      wait_for_script(t, "second")
      t:write("go", "")
      local late, seen = nil, {}
      for name, p in pairs(running) do
        local r = t:finish(p)
        seen[#seen + 1] = json.decode(r.out:match "([^\n]*)\n?$").status
        if r.status ~= 0 then
          late = name
          has(r.err, "destination '" .. t:path "out" .. "' is not free any more")
        end
      end
      table.sort(seen)
      assert.same({ "Completed", "Failed" }, seen)
      for name in lfs.dir(t.dir) do assert.is_nil(name:find "^out%.tidemill") end
      assert(os.rename(t:path "out", t:path "away"))
      t:expect(t:run { "resume", late, "--progress", "none" }, 0)
      assert.equal(lfs.attributes(t:path "away", "mode"), lfs.attributes(t:path "out", "mode"))
    end)
  end
end)
