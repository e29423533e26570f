-- Other users of the machine: the program never runs files of theirs that it found by looking
-- upwards, and they cannot stop a job. The cases need two users, so run them as root.
local ffi = require "ffi"
local job = require "support.job"
local lfs = require "lfs"

ffi.cdef "unsigned geteuid(void);"

local THEIRS, OURS = "12345", "12346"

local function as(uid, more)
  local words = { "env", "-u", "TIDEMILL_WORKSPACE", "-u", "SUDO_UID" }
  for _, word in ipairs(more or {}) do words[#words + 1] = word end
  for _, word in ipairs { "setpriv", "--reuid=" .. uid, "--regid=" .. uid, "--clear-groups" } do
    words[#words + 1] = word
  end
  return words
end

local function shell(text) assert(os.execute(text) == 0, text) end

-- A workspace of another user, in which everybody may write. The pipeline file of its job leaves a
-- trace when it runs.
local function new_case()
  local t = job.case { for_others = true }
  t:inputs(2)
  t:script "function run(m) return names_of(m) end"
  t:pipeline("mini_batch_size = 1", nil, ("io.open(%q, 'a'):write 'run\\n'"):format(t:path "traces"))
  t:write("traces", "")
  lfs.mkdir(t:path "victim")
  shell(("chmod 755 %s && chown -R %s %s && chown %s %s && chmod 666 %s && chmod 1777 %s %s"):format(
    t.dir, THEIRS, t.dir, OURS, t:path "victim", t:path "traces", t.dir, t:path "tmp"))
  t:expect(t:run({ "run", "pipeline.lua", "--progress", "none" }, { before = as(THEIRS) }), 0)
  t.found = t:path ".tidemill"
  for name in lfs.dir(t.found .. "/jobs") do
    if name:find "^case" then t.name, t.theirs = name, t.found .. "/jobs/" .. name end
  end
  shell(("chmod -R a+rwX %s && rm %s/job_result.json"):format(t.found, t.theirs))
  t:write("traces", "")
  return t
end

local function ours(t, words, more) return t:run(words, { before = as(OURS, more), cwd = t:path "victim" }) end

local function expect_refused(t, r, ...)
  t:expect(r, 2)
  for _, words in ipairs { ... } do assert.is_truthy(r.err:find(words, 1, true), words .. " not in: " .. r.err) end
  assert.equal("", t:read "traces")
end

describe("a workspace or job of another user", function()
  after_each(job.check_end)
  if ffi.C.geteuid() ~= 0 then
    pending "needs two users: run it as root"
    return
  end

  it("is not used when it was found in a parent folder", function()
    local t = new_case()
    for _, words in ipairs {
      { "resume", "latest" }, { "resume", t.name }, { "replay", "latest", "--mini-batch", "0" },
      { "run", "--like", "latest" }, { "run", "--like", "latest", "--dry-run" }, { "clean", "--all", "--yes" },
      { "clean", t.name, "--yes" }, { "run", "../pipeline.lua", "--only-failed", "latest" },
      { "dataset", "list" }, { "cancel", "latest" }, { "cancel", t.name, "--now" },
    } do
      t:write("traces", "")
      local r = ours(t, words)
      if words[2] == "../pipeline.lua" then t:write("traces", "") end -- the user named it
      expect_refused(t, r, ("workspace '%s' is not used: it belongs to another user (uid %s)"):format(t.found, THEIRS),
        "set TIDEMILL_WORKSPACE=" .. t.found .. ";")
    end
    assert.is_truthy(t:has(t.theirs .. "/job.json"))
  end)

  it("gets no new job, and no other workspace is created instead", function()
    local t = new_case()
    t:write("victim/score.lua", "function run(m) return m end")
    for _, words in ipairs { { "map", "score.lua", "score.lua" },
                             { "map", "score.lua", "score.lua", "--job-dir", "own" } } do
      expect_refused(t, ours(t, words), t.found)
    end
    assert.is_falsy(t:has "victim/.tidemill")
    t:expect(ours(t, { "map", "score.lua", "score.lua" }, { "TIDEMILL_WORKSPACE=.tidemill" }), 0)
    assert.is_truthy(t:has "victim/.tidemill/workspace.db")
  end)

  it("can be read, without running anything from it", function()
    local t = new_case()
    for _, words in ipairs { { "status", "latest" }, { "jobs" }, { "logs", "latest" }, { "verify", t.name } } do
      t:expect(ours(t, words), 0)
    end
    assert.equal("", t:read "traces")
  end)

  it("is reported if only its owner can read it", function()
    local t = new_case()
    shell("chmod 700 " .. t.theirs)
    for _, command in ipairs { "status", "cancel", "resume" } do
      expect_refused(t, ours(t, { command, t.theirs }, { "TIDEMILL_WORKSPACE=own" }),
        ("cannot look into '%s': permission denied; it belongs to uid %s"):format(t.theirs, THEIRS))
    end
  end)

  it("is used when its path is given", function()
    local t = new_case()
    t:expect(ours(t, { "resume", "latest", "--progress", "none" }, { "TIDEMILL_WORKSPACE=" .. t.found }), 0)
    assert.is_truthy(t:read "traces":find "run")
    shell("rm " .. t.theirs .. "/job_result.json; chmod -R a+rwX " .. t.found)
    t:write("traces", "")
    -- the workspace above its pipeline file still belongs to another user
    expect_refused(t, ours(t, { "resume", "latest" }), t.found)
    t:expect(ours(t, { "resume", t.theirs, "--progress", "none" }, { "TIDEMILL_WORKSPACE=own" }), 0)
    assert.is_truthy(t:read "traces":find "run")
  end)

  it("is not run by root, except for its owner under sudo", function()
    local t = new_case()
    shell("chmod -R go-w " .. t.found)
    local words, o = { "resume", "latest", "--progress", "none" }, { cwd = t:path "victim" }
    o.before = { "env", "-u", "TIDEMILL_WORKSPACE", "SUDO_UID=" .. OURS }
    expect_refused(t, t:run(words, o), t.found)
    o.before = { "env", "-u", "TIDEMILL_WORKSPACE", "SUDO_UID=" .. THEIRS }
    t:expect(t:run(words, o), 0)
  end)

  it("is not reused in the place of an earlier job", function()
    local t = job.case()
    t:inputs(2)
    lfs.mkdir(t:path "workspace")
    t:script "function run(m) return names_of(m) end"
    t:pipeline "mini_batch_size = 1"
    t:expect(t:run { "run", "pipeline.lua", "--job-dir", "first", "--progress", "none" }, 0)
    local words = { "run", "pipeline.lua", "--job-dir", "second", "--progress", "none" }
    shell("chown -R " .. THEIRS .. " " .. t:path "first")
    local r = t:run(words, { before = { "env", "-u", "SUDO_UID" } })
    t:expect(r, 0)
    assert.is_truthy(r.err:find("step 'score' is run: its earlier result is not used: the job '" .. t:path "first"
      .. "' is another user's", 1, true), r.err)
    assert.equal(0, lfs.attributes(t:path "second/score/output/parallel_run_step.txt", "uid"))
  end)

  it("is not reached through another user's link", function()
    local t = new_case()
    lfs.mkdir(t:path "mine")
    lfs.mkdir(t:path "mine/.tidemill")
    shell(("mv %s %s && chown -R %s %s"):format(t.found, t:path "theirs", OURS, t:path "mine"))
    shell(("ln -s mine/.tidemill %s && chown -h %s %s"):format(t.found, THEIRS, t.found))
    expect_refused(t, ours(t, { "resume", "latest" }), "belongs to another user (uid " .. THEIRS .. ")")
  end)
end)

describe("another user's folders at the paths of worker folders", function()
  after_each(job.check_end)
  if ffi.C.geteuid() ~= 0 then
    pending "needs two users: run it as root"
    return
  end

  it("do not stop a job", function()
    local t = job.case { for_others = true }
    t:inputs(4)
    t:script(([[
      local ffi = require "ffi"
      ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
      local here = %q
      function run(m)
        io.open(here .. "begun", "w"):close()
        while not io.open(here .. "go") do ffi.C.poll(nil, 0, 5) end
        local mark = here .. name_of(m[1])
        if number_of(m[1]) %% 2 == 0 and not io.open(mark) then
          io.open(mark, "w"):close()
          os.exit(1) -- another worker replaces it
        end
        return names_of(m)
      end]]):format(t:path ""))
    t:pipeline "mini_batch_size = 1, process_count_per_node = 1, run_max_try = 3, retry_delay = 0"
    shell(("chown -R %s %s && chmod 755 %s"):format(OURS, t.dir, t.dir))
    shell(("chown 0 %s && chmod 1777 %s"):format(t:path "tmp", t:path "tmp"))
    local words = { "run", "pipeline.lua", "--job-dir", "job", "--progress", "none" }
    local p = t:start(words, { before = as(OURS) })
    t:wait_for "begun"
    local made = 0
    for _, dir in ipairs(t:temp_dirs()) do -- names that follow from visible facts
      for number = 1, 9 do
        local next_dir = dir:gsub("%d+$", ("%03d"):format(number))
        for _, path in ipairs { next_dir, ("%s/score-process%03d"):format(dir, number) } do
          if os.execute(("setpriv --reuid=%s --clear-groups mkdir %s 2>/dev/null"):format(THEIRS, path)) == 0 then
            made = made + 1
          end
        end
      end
    end
    t:write("go", "")
    t:expect(t:finish(p), 0)
    assert.same(job.names(4), t:rows())
    assert.equal(made, #t:temp_dirs())
    shell("rm -rf " .. t:path "tmp" .. "/tidemill*")
  end)
end)
