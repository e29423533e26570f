-- Small mini-batches of archives are files in memory: when they are, when not, and nothing is left.
--
-- The expected result depends on the machine: if no memory suits, all files must be on the disk.
-- TM_KILLS: how many jobs are killed at random moments (15).
local archives = require "support.archives"
local folder = require "support.folder"
local job = require "support.job"
local lfs = require "lfs"
local programs = require "support.programs"

local SHM = "/dev/shm"

-- Compares the content of each file, then returns its folder, for each path that run() gets.
local FOLDERS = [[function run(m)
  local rows = {}
  for i, path in ipairs(m) do
    local file = assert(io.open(path))
    local text = file:read "*a"
    file:close()
    assert(text:sub(1, 12) == "text of " .. name_of(path):sub(1, 4), text:sub(1, 20))
    rows[i] = assert(path:match "^(.*/tidemill[^/]*)/") .. " " .. path:match "/(tidemill.*)$"
  end
  return rows
end]]

local function pipeline(t, config)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
local config = tm.ParallelRunConfig { entry_script = "score.lua", %s }
local found = tm.Dataset.File.from_archives "a.zip"
local step = tm.ParallelRunStep { name = "score", parallel_run_config = config, inputs = { found } }
return tm.Pipeline { name = "case", steps = { step } }
]]):format(config or "mini_batch_size = 3"))
end

-- n entries; `sizes` has the sizes of the large ones, by number.
local function zip(n, sizes)
  local members = {}
  for i = 1, n do
    local text = ("text of %04d"):format(i)
    members[i] = { ("%04d.txt"):format(i), text .. ("x"):rep((sizes and sizes[i] or 12) - 12) }
  end
  return archives.zip(members)
end

local function case(n, sizes, config)
  local t = job.case()
  t:write("a.zip", zip(n, sizes))
  t:script(FOLDERS)
  pipeline(t, config)
  return t
end

local function output_of(command)
  local pipe = io.popen(command .. " 2>&1")
  local text = pipe:read "*a"
  pipe:close()
  return text
end

-- Whether the program extracts small files to memory in this folder: a tmpfs with room, which can
-- hold and run programs. /proc/mounts cannot answer this, because in a chroot some mounts are
-- missing.
local function suits(dir)
  local name = os.tmpname()
  os.remove(name)
  local probe = dir .. "/probe-" .. name:match "[^/]+$"
  local runs = os.execute(("install -m 755 /bin/true '%s' 2>/dev/null && '%s' 2>/dev/null"):format(probe, probe)) == 0
  os.remove(probe)
  local free = tonumber(output_of(("df -B1 --output=avail '%s'"):format(dir)):match "(%d+)%s*$")
  return runs and output_of(("stat -f -c %%T '%s'"):format(dir)) == "tmpfs\n" and free ~= nil and free >= 2 ^ 20
end

-- The worker's folder that each entry was in, by number. All these folders are gone.
local function places(t)
  local list = {}
  for _, row in ipairs(t:rows()) do
    local dir, name = row:match "^(%S+) .*/(%d+)%.txt$"
    list[tonumber(name)] = dir:match "^(.*)/"
    assert.is_nil(lfs.symlinkattributes(dir, "mode"), dir)
  end
  return list
end

local function all_in(dir, n)
  local list = {}
  for i = 1, n do list[i] = dir end
  return list
end

local WITHOUT_TMPDIR = { "env", "-u", "TMPDIR" }

-- A folder in memory for one test, for TIDEMILL_MEMORY_DIR: its path, and whether it suits.
local function with_memory(t)
  t.memory = SHM .. t.dir:match "/[^/]+$"
  assert(lfs.mkdir(t.memory))
  return t.memory, suits(t.memory)
end

describe("a small mini-batch of an archive", function()
  after_each(job.check_end)

  it("is extracted to memory by default", function()
    local t = case(8)
    t:expect_job(0, nil, { before = WITHOUT_TMPDIR })
    assert.same(all_in(suits(SHM) and SHM or "/tmp", 8), places(t))
  end)

  it("is extracted below TMPDIR if that is set or memory is turned off", function()
    local t = case(8)
    local cases = {
      { env = {}, t:path "tmp" },
      { env = { "TIDEMILL_MEMORY_DIR=" }, t:path "tmp" },
      { env = { "TIDEMILL_MEMORY_DIR=" }, before = WITHOUT_TMPDIR, "/tmp" },
      { env = { "TIDEMILL_MEMORY_DIR=dev/shm" }, before = WITHOUT_TMPDIR, "/tmp" },
      { env = { "TIDEMILL_MEMORY_DIR=" .. t:path "missing" }, t:path "tmp" },
      { env = { "TIDEMILL_MEMORY_DIR=/proc" }, t:path "tmp" },
      { env = { "TIDEMILL_MEMORY_DIR=" .. t:path "a.zip" }, t:path "tmp" },
    }
    for _, c in ipairs(cases) do
      folder.remove_tree(t.job_dir)
      t:expect_job(0, nil, c)
      assert.same(all_in(c[1], 8), places(t), c.env[1])
    end
  end)

  it("is extracted to the given folder; a large one goes to disk", function()
    local t = case(9, { [5] = 17 * 2 ^ 20, [7] = 9 * 2 ^ 20, [8] = 8 * 2 ^ 20 })
    local memory, is_memory = with_memory(t)
    t:expect_job(0)
    local wanted = all_in(t:path "tmp", 9)
    if is_memory then
      for i = 1, 3 do wanted[i] = memory end
    end
    assert.same(wanted, places(t))
  end)

  it("is extracted to disk if other users can write to the folder in memory", function()
    local t = case(8)
    local memory = with_memory(t)
    assert(os.execute(("chmod 777 '%s'"):format(memory)) == 0)
    t:expect_job(0)
    assert.same(all_in(t:path "tmp", 8), places(t))
  end)

  it("is extracted to disk if the file system in memory has unsuitable mount options", function()
    local probe = job.case().dir
    if os.execute(("unshare -m mount -t tmpfs tmpfs '%s' 2>/dev/null"):format(probe)) ~= 0 then
      return pending "needs the right to mount"
    end
    for _, options in ipairs { "noexec", "size=64k", "nr_inodes=20", "ro", "mode=777" } do
      local t = case(40, nil, "mini_batch_size = 20")
      local memory = t:path "memory"
      assert(lfs.mkdir(memory))
      t:write("mounted.sh", ("mount -t tmpfs -o mode=700,%s tmpfs '%s' && exec \"$@\"\n"):format(options, memory))
      t:expect_job(0, nil, { env = { "TIDEMILL_MEMORY_DIR=" .. memory },
                             before = { "unshare", "-m", "sh", t:path "mounted.sh" } })
      assert.same(all_in(t:path "tmp", 40), places(t), options)
    end
  end)

  it("is tried again when its files were removed, even if the script hides the error", function()
    for _, raises in ipairs { false, true } do
      local t = case(6, nil, "mini_batch_size = 3, process_count_per_node = 1")
      local memory, is_memory = with_memory(t)
      t:script(([[function run(m)
        if m[1]:find(%q, 1, true) == 1 and not io.open(%q) then
          io.open(%q, "w"):close()
          -- as a session manager does
          os.execute(("rm -rf '%%s'"):format(m[1]:match "^(.*/tidemill[^/]*)/"))
          if %s then error "one is missing" end
        end
        return names_of(m)
      end]]):format(memory, t:path "removed", t:path "removed", raises))
      t:expect_job(0)
      assert.equal(6, #t:rows())
      assert.equal(is_memory, t:has "removed")
      if is_memory then
        local log = t:log "user/error/0/process000.txt"
        assert.truthy(log:find("were removed meanwhile by somebody else", 1, true), log)
        assert.equal(raises, log:find("one is missing", 1, true) ~= nil)
      end
    end
  end)

  it("leaves nothing in memory after its killed job is resumed, restarted or removed", function()
    local t = case(12, nil, "mini_batch_size = 3, process_count_per_node = 2")
    local memory, is_memory = with_memory(t)
    t:script(([[local ffi = require "ffi"
    ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
    function run(m)
      assert(io.open(m[1])):close()
      io.open(%q, "w"):close()
      while not io.open(%q) do ffi.C.poll(nil, 0, 5) end
      return names_of(m)
    end]]):format(t:path "ready", t:path "go"))
    for _, how in ipairs { "resume", "anew", "clean" } do
      folder.remove_tree(t.job_dir)
      os.remove(t:path "ready")
      os.remove(t:path "go")
      local p = how == "clean" and t:start { "run", "pipeline.lua", "--progress", "none" } or t:start_job()
      t:wait_for "ready"
      local all = t:processes()
      -- so that none of them notices the end of another
      for _, signal in ipairs { programs.SIGSTOP, programs.SIGKILL } do
        for _, one in ipairs(all) do programs.kill(one.pid, signal) end
      end
      t:finish(p, 60)
      t:wait_for_none(30)
      local in_memory = 0
      for _, dir in ipairs(t:temp_dirs()) do
        if dir:sub(1, #memory) == memory then in_memory = in_memory + 1 end
      end
      assert.equal(is_memory, in_memory > 0)
      t:write("go", "")
      if how == "anew" then folder.remove_tree(t.job_dir) end
      if how == "clean" then
        local r = t:run { "clean", "--yes" }
        t:expect(r, 0)
        assert.truthy(r.out:find("Interrupted", 1, true), r.out)
      else
        t:expect_job(0, how == "resume" and { "--resume" } or nil)
        assert.same(12, #t:rows())
      end
      assert.same({}, t:temp_dirs(), how)
    end
  end)

  it("leaves nothing in memory after a kill at any moment and a resume", function()
    math.randomseed(tonumber(os.getenv "TM_SEED") or os.time())
    local t = case(60)
    with_memory(t)
    local begin_s = programs.now()
    t:expect_job(0)
    local usual_ms = math.ceil((programs.now() - begin_s) * 1000)
    for _ = 1, tonumber(os.getenv "TM_KILLS") or 15 do
      folder.remove_tree(t.job_dir)
      local p = t:start_job()
      programs.pass_ms(math.random(0, usual_ms))
      for _, one in ipairs(t:processes()) do programs.kill(one.pid, programs.SIGKILL) end
      t:finish(p, 30)
      t:wait_for_none(30)
      t:expect_job(0, { "--resume" })
      assert.equal(60, #t:rows())
      assert.same({}, t:temp_dirs())
      t:expect(t:run { "verify", t.job_dir }, 0)
    end
  end)
end)
