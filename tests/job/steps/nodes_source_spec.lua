-- Scripts that a node gets from the job (ship_source): workers load nothing from the job's
-- directory, rows and messages are the same, nothing is left, and a node that cannot take the
-- script is refused.
local job = require "support.job"
local lfs = require "lfs"
local waiting = require "support.waiting"

local INPUTS = 6
local LIMIT = 120 -- seconds for a job: far more than it takes

local SCRIPT = [[
local names = require "lib.names"
local word = require "words"
local entry = require "tidemill.entry_script"()
local file = assert(io.open(entry.script_dir .. "/table.txt"))
local text = file:read "*l"
file:close()
function run(m)
  if names.number(m[1]) == 3 then names.fail() end
  local rows = {}
  for i, path in ipairs(m) do
    rows[i] = table.concat({ names.number(path), word, text, SHOWS and entry.script_dir or "" }, " ")
  end
  return rows
end]]

local NAMES = [[
local M = {}
function M.number(path) return tonumber(path:match "(%d+)[^/]*$") end
function M.fail() error "this one is bad" end
return M
]]

local function by_shell(script)
  return ([[{ "sh", "-c", [==[%s]==], "sh", "{program}", "{job_dir}", "{node_id}" }]]):format(script)
end

-- `target`: Lua text, the nodes; `more`: likewise, for the configuration.
local function new_case(target, more, shows)
  local t = job.case()
  t:inputs(INPUTS)
  t:script((shows and "SHOWS = true\n" or "") .. SCRIPT, "src/score.lua")
  t:write("src/lib/names.lua", NAMES)
  t:write("src/table.txt", "from a file\n")
  t:write("modules/words.lua", "return 'from a module'")
  t:pipeline(([[source_directory = "src", mini_batch_size = 1, error_threshold = -1, run_max_try = 1,
    allowed_failed_percent = 100, environment = { module_paths = { "modules" } }, process_count_per_node = 2, %s, %s]])
    :format(target, more or "ship_source = true"))
  t.options = { limit = LIMIT }
  return t
end

local function on_nodes(count, command)
  return ([[compute_target = "exec", node_count = %d, node_command = %s]]):format(count, command)
end

local NODE = [[{ "{program}", "node" }]]

-- Rows, and what the log of errors says of files.
local function results(t)
  t:expect_job(0, nil, t.options)
  assert.is_false(t:has "job/temp_dirs")
  return { rows = t:rows(), errors = t:log("user/error.txt"):match "1 time: ([^\n]*)":sub(#t.dir + 1) }
end

local expected
local function is_as_here(t)
  if not expected then expected = results(new_case([[compute_target = "local"]], "ship_source = true")) end
  assert.equal(INPUTS - 1, #expected.rows)
  assert.equal("/src/lib/names.lua:3: this one is bad", expected.errors)
  assert.same(expected, results(t))
end

local function succeeds(command) return os.execute(command .. " >&- 2>&-") == 0 end
local may_mount = succeeds "unshare -m mount -t tmpfs none /tmp"

-- The node does not see the job's copy of the script.
local BLIND = by_shell [[exec unshare -m sh -c 'mount -t tmpfs none "$2/script" && exec "$1" node' sh "$1" "$2"]]

-- Of a command with which node 1 is refused, and node 2 completes the job.
local function is_refused(command, more, patterns)
  local t = new_case(on_nodes(1, by_shell(command)), more)
  t:write("src/large", ("0123456789abcde\n"):rep(60000))
  is_as_here(t)
  job.expect_patterns(t:log "sys/master_role.txt", patterns)
end

describe("a script that is sent to nodes", function()
  after_each(job.check_end)

  it("gives the same rows and messages as on this machine", function()
    is_as_here(new_case(on_nodes(2, NODE)))
  end)

  it("is loaded from the node's own folder, which steps share", function()
    local t = new_case(on_nodes(1, NODE), nil, true)
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub("return tm.Pipeline.*", [[
local again = tm.ParallelRunStep { name = "again", parallel_run_config = config, inputs = {
  tm.Dataset.File.from_files("in/*"):as_named_input("in") } }
return tm.Pipeline { name = "case", steps = { step, again } }
]])))
    t:expect_job(0, nil, t.options)
    local dirs = {}
    for _, step in ipairs { "score", "again" } do
      for _, row in ipairs(t:sorted_lines("job/" .. step .. "/output/parallel_run_step.txt")) do
        local dir = assert(row:match "from a file (/.*)$", row)
        job.expect_patterns(dir, { "^" .. (t.dir:gsub("%p", "%%%0")) .. "/tmp/tidemill%-[^/]*/source%-%x+$" })
        dirs[dir] = true
      end
    end
    assert.is_nil(next(dirs, next(dirs)))
  end)

  -- The first step waits until some of its script has come to the second node, and then ends. The
  -- rest of the script comes after that. The second step waits for that node, so it is needed.
  it("is sent once, though the first of its steps is over by then", function()
    local t = new_case(on_nodes(2, by_shell [[
      test "$3" = 2 || exec "$1" node
      (dd bs=1 count=65536 status=none
        touch "$2/../here-some"
        until test -e "$2/score/output/parallel_run_step.txt"; do :; done
        exec cat) | "$1" node | cat]]))
    t:script(waiting.SCRIPT .. SCRIPT .. [[

local run_here = run
function run(m)
  if entry.output_dir:find("/again/", 1, true) then
    if entry.node_id ~= "1" then mark "second" end
    wait_for "second"
  else
    wait_for "some"
  end
  return run_here(m)
end]], "src/score.lua")
    t:write("src/large", ("0123456789abcde\n"):rep(60000))
    t:write("pipeline.lua", (t:read("pipeline.lua"):gsub("return tm.Pipeline.*", [[
local again = tm.ParallelRunStep { name = "again", parallel_run_config = config, inputs = {
  tm.Dataset.File.from_files("in/*"):as_named_input("in") } }
return tm.Pipeline { name = "case", steps = { step, again } }
]])))
    t.options.env = waiting.here(t).env
    t:expect_job(0, nil, t.options)
    job.expect_patterns(t:read "job/again/logs/sys/master_role.txt", { "node 2 %([^)]*%) is ready" })
  end)

  it("is not read by the node in the job's directory", function()
    if not may_mount then return pending "needs the right to mount" end
    is_as_here(new_case(on_nodes(2, BLIND)))
  end)

  it("must be readable on the node without ship_source", function()
    if not may_mount then return pending "needs the right to mount" end
    is_refused([[
      test "$3" = 1 || exec "$1" node
      exec unshare -m sh -c 'mount -t tmpfs none "$2/script" && exec "$1" node' sh "$1" "$2"]],
               "ship_source = false", { "cannot use node 1 %([^)]*%): cannot read '[^']*/job/script/score'" })
  end)

  it("is refused by a node without room for it", function()
    if not may_mount then return pending "needs the right to mount" end
    is_refused([[
      test "$3" = 1 || exec "$1" node
      exec unshare -m sh -c 'mount -t tmpfs -o size=64k none "$TMPDIR" && exec "$1" node' sh "$1"]], nil,
               { "cannot use node 1 %([^)]*%): the source cannot be sent to it: cannot write '[^']*/large'" ..
                 ": no space left on device; see 'nodes/1.txt'" })
  end)

  it("is not sent if the job's copy was changed", function()
    is_refused([[cd "$2/script/score"
      if test "$3" = 1; then cp table.txt "$2/kept"; echo >> table.txt; else cp "$2/kept" table.txt; fi
      exec "$1" node]], nil,
               { "the source cannot be sent to it: the job's copy in '", "has changed while the job runs" })
  end)

  -- The first node is killed, or hears nothing more, when at most 40 * 64 KiB of eight megabytes
  -- have come. The next one completes the job, and removes what the first one has left.
  it("may stop in the middle when its node ends", function()
    for _, ending in ipairs { [[kill -9 $(cat "$2/pid")]], ":" } do
      local t = new_case(on_nodes(1, by_shell(([[
        test "$3" = 1 || exec "$1" node
        (dd bs=64k count=40 status=none; %s) |
          sh -c 'echo $$ > "$2/pid"; exec "$1" node' sh "$1" "$2"]]):format(ending))))
      t:write("src/large", ("0123456789abcde\n"):rep(500000))
      is_as_here(t)
      job.expect_words(t:log "sys/master_role.txt", { "cannot start node 1", "node 2 (" })
      assert.is_nil(lfs.attributes(t:path "job/nodes/1.answered"))
    end
  end)

  it("is sent again when the job is resumed", function()
    local t = new_case(on_nodes(1, NODE))
    t:start_job(nil, t.options)
    t:wait_for("job/score/logs/sys/master_role.txt", "node 1 %([^)]*%) is ready", LIMIT)
    t.last:kill(9)
    t.last:wait(LIMIT)
    t:wait_for_none(LIMIT)
    t:expect_job(0, { "--resume" }, t.options)
    assert.equal(INPUTS - 1, #t:rows())
  end)
end)
