-- The rules of the tree. rules[name] = function(file, report): report(line number, words).
-- A line that has to break a rule says so in a comment: lint: allow NAME, why
local rules = {}

local MAX_FILE_LINES, MAX_FUNCTION_LINES, MAX_HEAD_LINES = 600, 60, 40

-- What each folder of core/ may include, besides itself and the folders below it: whole layers, and
-- single files of others.
local layers = {
  base = {},
  sys = { "base" },
  params = { "base" },
  data = { "base", "params", "sys" },
  store = { "base", "sys", "data" },
  plan = { "base", "params", "sys", "data", "store", "model" },
  snapshot = { "base", "params", "sys", "data", "store", "plan" },
  node = { "base", "sys", "data" },
  model = { "base", "sys", "data" },
  agent = { "base", "sys", "data", "node/worker_page.h", "node/msg_strings.h" },
  record = { "base", "sys", "data", "store", "plan", "snapshot", "agent/agent_msg.h", "node/node_msg.h",
    "node/temp_left.h" },
  commit = { "base", "sys", "data", "plan", "record", "agent/agent_msg.h" },
  outputs = { "base", "sys", "data", "store", "plan", "snapshot", "record", "commit" },
  sched = { "base", "record/counts.h", "record/part.h" },
  slurm = { "base", "sys", "plan" },
  fleet = { "base", "sys", "sched", "slurm/slurm_text.h", "node/node_msg.h", "node/node_report.h",
    "node/keeper_start.h" },
  relay = { "base", "sys", "node/node_msg.h", "node/node_report.h", "node/keeper_start.h", "node/temp_left.h",
    "node/temp_owner.h", "sched/silence.h" },
  step = { "base", "sys", "data", "store", "plan", "snapshot", "record", "commit", "outputs", "sched", "fleet",
    "agent/agent_msg.h", "node/node_msg.h" },
  inspect = { "base", "sys", "data", "store", "plan", "snapshot", "record", "commit", "outputs", "agent/agent_msg.h" },
  job = { "base", "sys", "data", "store", "plan", "snapshot", "record", "commit", "outputs", "sched", "slurm", "fleet",
    "step", "inspect", "agent/agent_msg.h", "node/node_msg.h", "node/node_report.h" },
  report = { "base", "sys", "record/activity.h", "record/error_key.h", "record/events.h" },
  export = { "base", "sys", "record", "insight", "report/life_rows.h", "report/log_file.h", "report/sample_rows.h",
    "report/tries.h", "report/try_rows.h" },
  insight = { "base", "report/try_rows.h", "report/life_rows.h", "report/sample_rows.h", "report/error_groups.h" },
  page = { "base", "insight", "report/error_groups.h" },
  portal = { "base", "page/assets.h", "page/html.h", "page/states.h", "page/svg.h" },
}

-- The same for the folders below core/data and lua: what each may not include.
local refused_below = {
  ["core/data/stream"] = { "data/frame/", "data/rows/", "data/table/", "data/archive/", "data/files/", "data/sql/" },
  ["core/data/frame"] = { "data/rows/", "data/table/", "data/archive/", "data/files/", "data/sql/", "data/splitter.h" },
  ["core/data/files"] = { "data/rows/", "data/table/", "data/archive/", "data/frame/", "data/sql/", "data/splitter.h" },
  ["core/data/rows"] = { "data/files/", "data/table/", "data/archive/", "data/sql/", "data/splitter.h" },
  ["core/data/archive"] = { "data/table/", "data/sql/", "data/frame/", "data/splitter.h" },
  ["core/data/sql"] = { "data/table/", "data/archive/", "data/files/", "data/splitter.h" },
  ["core/data/table"] = { "data/archive/" },
  ["core/data/tensor"] = { "data/files/", "data/frame/", "data/images/", "data/rows/", "data/table/", "data/stream/",
    "data/archive/", "data/sql/", "data/splitter.h" },
  ["core/data/text"] = { "data/archive/", "data/files/", "data/frame/", "data/images/", "data/rows/", "data/sql/",
    "data/splitter.h", "data/stream/", "data/table/", "data/tensor/" },
  ["lua/bind"] = { "entry/", "model/", "prompt/", "api/", "records/", "cli/" },
  ["lua/entry"] = { "model/", "prompt/", "api/", "records/", "cli/" },
  ["lua/model"] = { "prompt/", "api/", "records/", "cli/" },
  ["lua/prompt"] = { "cli/" },
  ["lua/api"] = { "cli/", "insights/" },
  ["lua/records"] = { "cli/", "insights/", "prompt/" },
  ["lua/insights"] = { "cli/" },
}

-- Headers of libraries, and the place for each.
local libraries = {
  { "^uv%.h$", "core/sys/" },
  { "^uv/", "core/sys/" },
  { "^lua%.h$", "lua/" },
  { "^lauxlib%.h$", "lua/" },
  { "^lualib%.h$", "lua/" },
  { "^luajit%.h$", "lua/" },
  { "^xxhash%.h$", "core/base/hash.c" },
  { "^yajl/", "core/base/json" },
  { "^archive%.h$", "core/data/stream/libarchive.h" },
  { "^archive_entry%.h$", "core/data/stream/libarchive.h" },
  { "^utf8proc%.h$", "core/data/text/unicode.h" },
  { "^zlib%.h$", "core/data/" },
  { "^jpeglib%.h$", "core/data/images/" },
  { "^jerror%.h$", "core/data/images/" },
  { "^png%.h$", "core/data/images/" },
  { "^webp/", "core/data/images/" },
  { "^sqlite3%.h$", "core/store/ or core/data/sql/sqlite.c" },
  { "^histedit%.h$", "lua/cli/" },
  { "^microhttpd%.h$", "core/portal/http.c" },
}

local effects = {}
for name in ([[fork vfork execv execve execvp execvpe posix_spawn kill tgkill waitpid waitid mmap munmap socket
  socketpair pipe pipe2 sendmsg recvmsg unlink rename mkdir rmdir fsync fdatasync ftruncate fopen opendir readdir
  signal sigaction prctl raise flock]]):gmatch "%S+" do
  effects[name] = true
end

local refused = {}
for word in ("task chunk shard destroy delete fetch create"):gmatch "%S+" do
  refused[word], refused[word .. "s"] = true, true
end

local function starts(text, prefix) return text:sub(1, #prefix) == prefix end

local function includes(file)
  local i = 0
  return function()
    while i < #file.lines do
      i = i + 1
      local mark, name = file.lines[i]:match '^%s*#%s*include%s+([<"])([^>"]+)'
      if name then return i, name, mark end
    end
  end
end

function rules.layers(file, report)
  local layer = file.path:match "^core/(%w+)/"
  if file.kind ~= "c" or not layer or layer == "include" then return end
  if not layers[layer] then return report(1, "core/" .. layer .. " is not a layer of the tree") end
  for line, name, mark in includes(file) do
    local target = name:match "^(%w+)/"
    local ok = mark == "<" or not target or target == layer
    for _, allowed in ipairs(layers[layer]) do ok = ok or allowed == target or allowed == name end
    if not ok then report(line, "core/" .. layer .. " may not include '" .. name .. "'") end
  end
end

rules["rooms"] = function(file, report)
  for line, name in includes(file) do
    for _, other in ipairs(refused_below[file.path:match "^(.*)/[^/]*$" or ""] or {}) do
      if starts(name, other) or starts(name, "lua/" .. other) then
        report(line, file.path:match "^(.*)/" .. " may not include '" .. name .. "'")
      end
    end
  end
end

-- Readers of user data, and the files of the supervisor that may include one: core/README.md,
-- invariant 17. Each of these files reads on a thread of its own, or before there is a job.
local readers = { "^data/splitter%.h$", "^data/table/table_load%.h$", "^data/table/table_splitter%.h$",
  "^data/table/table_groups%.h$", "^data/table/table_partition%.h$", "^data/archive/", "^data/files/", "^data/rows/",
  "^data/stream/", "^data/sql/" }
local supervisor = { record = true, commit = true, outputs = true, sched = true, fleet = true, step = true,
  inspect = true, job = true }
local reading = {
  ["commit/lister.h"] = "the thread that splits the inputs",
  ["record/input_record.c"] = "called by that thread, and by those of reusing.c",
  ["outputs/input_staging.c"] = "the thread that links and copies inputs",
  ["job/first_look.c"] = "a thread of its own, before there is a job",
  ["job/reuse.c"] = "called by the threads of reusing.c, and before there is a job",
  ["job/probe_paths.c"] = "the beginnings of patterns; it reads no file",
  ["outputs/upload.c"] = "the thread that packs outputs",
  ["job/failed_source.c"] = "a list that another job wrote, read before there is a job",
  ["inspect/verify_state.c"] = "files of a job that nobody runs, for the host that asks",
}

rules["loop-reads"] = function(file, report)
  local folder, name = file.path:match "^core/(%w+)/([%w_]+%.[ch])$"
  if not supervisor[folder] or reading[folder .. "/" .. name] then return end
  for line, included in includes(file) do
    for _, reader in ipairs(readers) do
      if included:find(reader) then
        report(line, "'" .. included .. "' reads user data, and " .. file.path .. " may run on the loop")
      end
    end
  end
end

-- The program's files that include internal headers of the library. All others use only tidemill.h,
-- as any host does. cli.c, program.c and main.c need more: keepers and workers are the same
-- program, and its tests put another table of file calls beneath it. cmd_script.c makes its own Lua
-- state, as luajit does; a host brings its own. cmd_version.c names the libraries. libedit.c loads
-- a library as data/stream does.
local inside = {}
for name in ([[cli.c cmd_script.c cmd_version.c commands.c main.c terminal/libedit.c]]):gmatch "%S+" do
  inside[name] = true
end

-- Words that the library and the program have in common; they use nothing but tidemill.h.
local common = { ["records/rerun.h"] = true, ["records/resume_line.h"] = true }

local function is_inside(name)
  local folder, below = name:match "^(%w+)/(.+)$"
  return folder and not common[name] and folder ~= "base" and (folder ~= "cli" or inside[below]) or name == "runtime.h"
end

rules["program"] = function(file, report)
  local name = file.path:match "^lua/cli/([%w_/]+%.[ch])$"
  if not name then return end
  local reaches = false
  for line, included, mark in includes(file) do
    if mark == '"' and included ~= "cli/" .. name:gsub("c$", "h") and is_inside(included) then
      reaches = true
      if not inside[name] then
        report(line, "'" .. included .. "' is inside of the library; its door is tidemill.h")
      end
    end
  end
  if inside[name] and not reaches and name:find "%.c$" and not inside[(name:gsub("c$", "h"))] then
    report(1, name .. " goes through tidemill.h: it has no place in the list of the others")
  end
end

local function is_in(path, places)
  for place in (places .. " or "):gmatch "(.-) or " do
    if starts(path, place) then return true end
  end
  return false
end

-- Text of users reaches a page only through the functions of core/page/html.h, which escape it. So
-- no other file of core/page or core/portal/pages touches `out`, but to pass it on, and tags are
-- literals. A buffer for text that is escaped later has another name.
function rules.escaped(file, report)
  if not file.path:find "^core/page/.*%.c$" and not file.path:find "^core/portal/pages/.*%.c$" then return end
  if file.name == "html.c" then return end
  for i, line in ipairs(file.code) do
    if line:find "[.>]out%f[^%w_]" or line:find "tm_buf_[%w_]+%s*%(%s*out%f[^%w_]"
      or line:find "tm_t[ei][xm][te]_[%w_]+%s*%(%s*out%f[^%w_]" then
      report(i, "only html.c adds to a page; write text with tm_html_text()")
    end
    local inner = line:match "tm_html_[%w]+_tag%s*%(" or line:match "tm_html_attr_text%s*%("
    if inner then report(i, "'" .. inner:gsub("%W", "") .. "' takes any string; its macro takes a literal") end
  end
end

function rules.libraries(file, report)
  if file.kind ~= "c" or not (starts(file.path, "core/") or starts(file.path, "lua/")) then return end
  for line, name in includes(file) do
    for _, library in ipairs(libraries) do
      if name:find(library[1]) and not is_in(file.path, library[2]) then
        report(line, "'" .. name .. "' is included in " .. library[2] .. " alone")
      end
    end
  end
end

-- The files of the portal that do what no host can do through tidemill.h: sockets, signals, its own
-- files. Everything else in it decides, or writes text.
local portal_calls = {}
for name in ([[browser.c child.c confine.c control.c http.c job_files.c job_reading.c listen.c
  own_files.c pipe_writers.c replays.c server.c]]):gmatch "%S+" do
  portal_calls["core/portal/" .. name] = true
end

-- Only core/sys makes system calls with an effect. A call of a struct's member is not a system
-- call.
function rules.effects(file, report)
  if file.kind ~= "c" or not starts(file.path, "core/") or starts(file.path, "core/sys/") then return end
  if portal_calls[file.path] then return end
  for i, line in ipairs(file.code) do
    for before, name in (" " .. line):gmatch "([^%w_])([%a_][%w_]*)%s*%(" do
      if effects[name] and before ~= "." and before ~= ">" and before ~= "*" then
        report(i, "'" .. name .. "' is called in core/sys alone")
      end
    end
  end
end

rules["file-length"] = function(file, report)
  if (file.kind == "c" or file.kind == "lua" or file.kind == "sh") and #file.lines > MAX_FILE_LINES then
    report(#file.lines, #file.lines .. " lines; at most " .. MAX_FILE_LINES)
  end
end

local function is_one_line_case(line) return line:find "^%s*case .*:.*;%s*$" or line:find "^%s*case .*:.*;%s*/%*" end

-- A function of C goes from a { to a } in the first column; one of Lua from function to end. A case
-- that takes one line does not count.
rules["function-length"] = function(file, report)
  local open, close
  if file.kind == "c" then
    open, close = "^{%s*$", "^}"
  elseif file.kind == "lua" then
    open, close = "^%f[%w_][%w_%. %[%]\"-]*%f[%w_]function%f[^%w_]", "^end%f[^%w_]"
  else
    return
  end
  local first, count
  for i, line in ipairs(file.lines) do
    if first then
      count = count + (is_one_line_case(line) and 0 or 1)
      if line:find(close) then
        if count > MAX_FUNCTION_LINES then
          report(first, "a function of " .. count .. " lines; at most " .. MAX_FUNCTION_LINES)
        end
        first = nil
      end
    elseif line:find(open) and not (file.kind == "lua" and line:find "%f[%w_]end[%s%),}]*$") then
      first, count = i, 1
    end
  end
end

local function refused_part(identifier)
  local before
  for part in identifier:lower():gmatch "[^_]+" do
    if refused[part] then return part end
    if (part == "batch" or part == "batches") and before ~= "mini" then return part end
    before = part
  end
end

function rules.words(file, report, allowed)
  local stem = file.name:gsub("%.%w+$", ""):gsub("%W", "_")
  local part = refused_part(stem)
  if part and not allowed(stem) then report(1, "'" .. part .. "' in the name of the file") end
  for i, line in ipairs(file.code or {}) do
    if not line:find "^%s*#%s*include" then
      for identifier in line:gmatch "[%a_][%w_]*" do
        part = refused_part(identifier)
        if part and not allowed(identifier) then
          report(i, "'" .. part .. "' in '" .. identifier .. "': another word is used here, see the list of words")
        end
      end
    end
  end
end

rules["head-comment"] = function(file, report)
  if file.kind ~= "c" then return end
  if not starts(file.text, "/*") then return report(1, "the file does not begin with a comment") end
  local _, count = file.text:sub(1, (file.text:find("*/", 1, true) or 1)):gsub("\n", "")
  if count + 1 > MAX_HEAD_LINES then report(1, "a head comment of " .. count + 1 .. " lines") end
end

rules["no-sleep"] = function(file, report)
  if not starts(file.path, "tests/") then return end
  local patterns = {
    c = { "%f[%w_]u?sleep%s*%(", "%f[%w_]nanosleep%s*%(", "%f[%w_]uv_sleep%s*%(" },
    sh = { "^%s*sleep%s+%S", "[;&|]%s*sleep%s+%S", "%f[%w]do%s+sleep%s" },
    lua = { "%f[%w_]sleep%s*%(", "execute%s*%(?%s*[\"']sleep%s", "popen%s*%(?%s*[\"']sleep%s" },
  }
  for i, line in ipairs(file.lines) do
    for _, pattern in ipairs(patterns[file.kind] or {}) do
      if line:find(pattern) then
        report(i, "a test waits for an event, with a limit; it does not sleep")
        break
      end
    end
  end
end

function rules.blanks(file, report)
  if not file.kind and not file.name:find "^%." then return end
  for i, line in ipairs(file.lines) do
    if line:find "[ \t\r]$" then report(i, "blanks at the end of the line") end
    if line:find "\t" and (file.kind == "c" or file.kind == "lua") then report(i, "a tab") end
  end
  if file.text ~= "" and file.text:sub(-1) ~= "\n" then report(#file.lines, "no line break at the end") end
end

local marks = { "TO" .. "DO", "FIX" .. "ME", "XX" .. "X" }

function rules.unfinished(file, report)
  for i, line in ipairs(file.lines) do
    for _, mark in ipairs(marks) do
      if line:find("%f[%w_]" .. mark .. "%f[^%w_]") then report(i, "'" .. mark .. "': what is here is finished") end
    end
  end
end

-- Paths that exist only on one machine.
local places = { "/wor" .. "k/", "/hom" .. "e/%l", "/roo" .. "t/", "/User" .. "s/" }

function rules.places(file, report)
  for i, line in ipairs(file.lines) do
    for _, place in ipairs(places) do
      if (" " .. line):find("[^%w_.}]" .. place) then report(i, "a path of one machine") end
    end
  end
end

return rules
