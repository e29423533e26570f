-- A really full disk: a tmpfs and, if mounting files is allowed, an ext4 hold the job, its upload
-- or the destination of its output files, and have too little room. The job reports that there is
-- no space left; with more room it resumes.
--
-- Each run mounts its disks in its own mount namespace, which ends with it; the test compares a
-- copy of their contents. TM_LONG: 60 disks, else a few. TM_SEED repeats a choice.
local chain = require "support.chain"
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"
local sweep = require "support.sweep"

local LIMIT, PADDING = 90, 20000
local NEEDED_KB = { job = 900, upload = 260, files = 260 } -- approximately

-- $1: how to mount the disk, $2: where, $3: free KB, $4: the program, then the arguments of the
-- run.
local SCRIPT = [[
set -e
disk=$2 free=$3
mount_words=$1
shift 3
$mount_words "$disk"
mkdir "$disk/there"
available=$(df --output=avail -k "$disk" | tail -1)
fallocate -l $(((available - free) * 1024)) "$disk/ballast"
set +e
"$@"; echo "full $?" >statuses
rm "$disk/ballast"
"$@" --resume >resumed.out 2>resumed.err; echo "resumed $?" >>statuses
"$1" verify JOB >verify.out 2>verify.err; echo "verify $?" >>statuses
cp -a "$disk" copy
]]

local TMPFS = "mount -t tmpfs -o size=8m none"
local EXT4 = "mount -t ext4 -o loop image"
local IMAGE = "truncate -s 24M image && /sbin/mkfs.ext4 -q -m 0 image"

--- Arguments to put before a command so that it may mount; nil and the reason if that is not
--- permitted.
local function mounting(t, mount)
  local why
  for _, words in ipairs { { "unshare", "-m" }, { "unshare", "-r", "-m" } } do
    local argv = { "env", "-C", t.dir, unpack(words) }
    for _, word in ipairs { "sh", "-c", mount .. " " .. t:path "disk" } do argv[#argv + 1] = word end
    local p = programs.start(argv, { stdout = "/dev/null", stderr = t:path "probe" })
    if p:wait(LIMIT) == 0 then return words end
    why = t:read "probe"
  end
  return nil, why
end

--- A case with its job or its upload on the disk.
local function new_case(place)
  local t = chain.new { padding = PADDING, upload = place == "upload" and "disk/there/rows" or nil,
                        files = place == "files" and "disk/files" or nil }
  if place == "job" then t.job_dir = t:path "disk/job" end
  assert(lfs.mkdir(t:path "disk"))
  t:write("full.sh", (SCRIPT:gsub("JOB", t.job_dir)))
  return t
end

--- The expected result is in the copy of the disk.
local function look_at_copy(t)
  for _, field in ipairs { "job_dir", "upload", "files" } do
    t[field] = t[field] and t[field]:gsub("^(.*/)disk/", "%1copy/")
  end
end

--- Runs a job on a disk with `free` KB, makes room, and resumes it. True if the disk was too small.
local function fill(t, unshare, mount, free, what)
  local before = { unpack(unshare) }
  for _, word in ipairs { "sh", "full.sh", mount, t:path "disk", tostring(free) } do before[#before + 1] = word end
  local r = t:run_job(nil, { before = before, limit = LIMIT })
  t:expect(r, 0)
  local status = {}
  for name, number in t:read("statuses"):gmatch "(%S+) (%d+)" do status[name] = tonumber(number) end
  local is_full = status.full ~= 0
  local has_words = status.full == 3 or status.full == 1 -- 1: a script could not write its files
  if is_full and not (has_words and r.err:find "[Nn]o space left on device") then
    error(("%s: status %s\n%s"):format(what, status.full, r.err))
  end
  if status.resumed ~= 0 then error(("%s, resumed: %s\n%s"):format(what, status.resumed, t:read "resumed.err")) end
  if status.verify ~= 0 then error(("%s, verify: %s\n%s"):format(what, status.verify, t:read "verify.out")) end
  look_at_copy(t)
  chain.expect_rows(t, what)
  chain.expect_tidy(t, what)
  t:wait_for_none()
  return is_full, status.full
end

local function made_in(t, prepare)
  local p = programs.start({ "env", "-C", t.dir, "sh", "-c", prepare },
                           { stdout = "/dev/null", stderr = t:path "probe" })
  return p:wait(LIMIT) == 0
end

local function sweep_disk(kind, mount, prepare)
  local probe = new_case "job"
  local unshare, why = nil, "cannot make an ext4"
  if made_in(probe, prepare) then unshare, why = mounting(probe, mount) end
  job.check_end()
  if not unshare then return pending("needs the right to mount: " .. why) end
  local runs, full, statuses = 0, 0, { [0] = 0, 0, 0, 0 }
  for _ = 1, sweep.LONG and 15 or 1 do
    for place, needed in pairs(NEEDED_KB) do
      local t, free = new_case(place), math.random(math.floor(needed * 0.15), needed)
      assert.is_true(made_in(t, prepare))
      local is_full, status = fill(t, unshare, mount, free, ("%s, %s, %d KB free"):format(kind, place, free))
      runs, full, statuses[status] = runs + 1, full + (is_full and 1 or 0), statuses[status] + 1
      job.check_end()
    end
  end
  print(("# full disks: %s: %d runs, %d full; exit status 1: %d, 3: %d; TM_SEED=%d"):format(kind, runs, full,
    statuses[1], statuses[3], sweep.SEED))
  assert.is_true(full > 0)
end

describe("a full disk", function()
  after_each(job.check_end)

  it("in memory is reported, and the resumed job is whole", function() sweep_disk("tmpfs", TMPFS, "true") end)
  it("of type ext4 is reported, and the resumed job is whole", function() sweep_disk("ext4", EXT4, IMAGE) end)
end)
