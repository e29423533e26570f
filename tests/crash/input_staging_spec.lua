-- A job with places for its inputs, copies and links, is killed at calls that change a file, or a
-- call fails. After a resume it has the rows of an undisturbed job and all copies, and leaves no
-- link behind.
local job = require "support.job"
local lfs = require "lfs"
local sweep = require "support.sweep"

local function new_case()
  local t = job.case()
  t:inputs(6)
  for i = 1, 5 do t:write(("models/%d/part.bin"):format(i), ("model %d"):format(i)) end
  t:script [[
local entry = require "tidemill.entry_script" ()
local fs = require "tidemill.fs"
function run(m)
  local rows = {}
  for i, path in ipairs(m) do
    rows[i] = name_of(path) .. " " .. fs.read(path):gsub("\n", "")
    for _, place in ipairs(entry.arguments) do
      for k = 1, 5 do rows[i] = rows[i] .. " " .. fs.read(place .. "/" .. k .. "/part.bin") end
    end
  end
  return rows
end]]
  t:pipeline("mini_batch_size = 2, process_count_per_node = 2, sync_interval = 0.01",
    "side_inputs = { copies, links }, arguments = { copies, links }", [[
local copies = tm.Dataset.File.from_files("models"):as_named_input "copies":as_download "copies"
local links = tm.Dataset.File.from_files("models/*/part.bin"):as_named_input "links":as_mount "links"]])
  t:write("pipeline.lua", (t:read "pipeline.lua":gsub('as_named_input%("in"%)', '%0:as_download()')))
  return t
end

local expected = {}
for i = 1, 6 do
  expected[i] = ("%04d.txt %d"):format(i, i) .. (" model 1 model 2 model 3 model 4 model 5"):rep(2)
end

local function disturb(plan, wanted)
  local _, changes = sweep.count(new_case())
  assert.is_true(changes > 60)
  for _, n in ipairs(sweep.some_of(changes, wanted)) do
    local t, what = new_case(), plan:format(n)
    t:run_job(nil, sweep.faults(what))
    local r = t:run_job({ "--resume" }, { limit = sweep.LIMIT })
    if r.status ~= 0 then error(("%s, resumed: status %s\n%s"):format(what, r.status, r.err), 2) end
    assert.same(expected, t:rows(), what)
    for _, name in ipairs { "copies", "links" } do
      assert.is_nil(lfs.symlinkattributes(t:path(name), "mode"), what .. ": " .. name)
    end
    t:wait_for_none()
    job.check_end()
  end
end

describe("inputs that are mounted or downloaded", function()
  after_each(job.check_end)

  it("survive a kill while they are set up", function() disturb("kill@%d", 40) end)
  it("survive an error while they are set up", function() disturb("fail@%d:EIO", 20) end)
end)
