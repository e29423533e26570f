-- A node that sees other times of the same files than the job: its workers compare sizes alone.
-- Here the job's files get another time after the node has seen them, before the job hears that.
local job = require "support.job"
local waiting = require "support.waiting"

local LIMIT = 120 -- seconds for a job: far more than it takes

-- Once the inputs are listed, they get another time. So does the node's answer to its probe, before
-- each message of the node is passed on.
local NODE = [==[{ "sh", "-c", [[
  read line <"$2/../gate"
  touch -d 2020-01-01 "$2"/../in/*
  "$1" node | while dd bs=64k count=1 of="$2/piece" status=none && test -s "$2/piece"; do
    test ! -e "$2/nodes/1.answered" || %s "$2/nodes/1.answered"
    cat "$2/piece"
  done]], "sh", "{program}", "{job_dir}" }]==]

local SCRIPTS = {
  table = [[function run(t)
    local rows = {}
    for i = 1, #t do rows[i] = t.c.a[i] end
    return rows
  end]],
  entries = [[function run(m)
    local rows = {}
    for i, path in ipairs(m) do
      local file = assert(io.open(path))
      rows[i] = file:read "*l"
      file:close()
    end
    return rows
  end]],
}

-- `touch`: what is done to the node's answer.
local function new_case(kind, touch)
  local t = job.case()
  t:write("in/a.csv", "a\n1\n2\n3\n")
  local input = [[tm.Dataset.Tabular.from_delimited_files "in/*"]]
  if kind == "packed" then assert(os.execute("gzip " .. t:path "in/a.csv") == 0) end
  if kind == "entries" then
    assert(os.execute(("cd %s && printf '1\\n' > x && printf '2\\n' > y && printf '3\\n' > z && "):format(t.dir) ..
      "rm in/a.csv && tar cf in/a.tar x y z") == 0)
    input = [[tm.Dataset.File.from_archives "in/*"]]
  end
  t:script(SCRIPTS[kind] or SCRIPTS.table)
  local command = NODE:format(touch or "touch")
  t:pipeline(([[compute_target = "exec", node_command = %s, mini_batch_size = %s, error_threshold = -1,
    run_max_try = 1, process_count_per_node = 1]]):format(command, kind == "entries" and 1 or '"1KB"'))
  t:write("pipeline.lua", (t:read("pipeline.lua"):gsub('tm.Dataset.File.from_files%("in/%*"%)', input)))
  return t
end

--- Runs the job; its node goes on when the inputs are listed.
local function expect_job(t, status)
  local open_gate = waiting.gate(t, "gate")
  t.program = t:start_job()
  t:wait_for(t.step_dir .. "/logs/sys/master_role.txt", "all mini%-batches have been created", LIMIT)
  open_gate()
  t:expect(t:finish(t.program, LIMIT), status)
end

describe("a node that sees other times", function()
  after_each(job.check_end)

  for _, kind in ipairs { "table", "packed", "entries" } do
    it("compares the sizes of inputs: " .. kind, function()
      local t = new_case(kind)
      expect_job(t, 0)
      assert.same({ "1", "2", "3" }, t:rows())
      job.expect_patterns(t:log "sys/master_role.txt", {
        "node 1 %([^)]*%) sees other times of the same files than this machine: its workers compare only the sizes of",
      })
    end)
  end

  it("is recognized by its probe: without a difference, changed inputs are noticed", function()
    local t = new_case("table", "test -e")
    expect_job(t, 1)
    assert.is_nil(t:log("sys/master_role.txt"):find("sees other times", 1, true))
    job.expect_words(t:log "user/error.txt", { "changed since it was listed: modified " })
  end)
end)
