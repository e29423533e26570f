-- The lint's own test: what each rule must find, and what it must accept.
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. package.path
local folders, source, lint = require "folders", require "source", require "lint"
local modules, prose, subjects = require "modules", require "prose", require "subjects"

local head = "/* x.c - an example. */\n"
local function c_function(lines, line) return head .. "void f(void)\n{\n" .. (line .. "\n"):rep(lines - 2) .. "}\n" end

-- path, text, and the rule that must find something on the given line; without a rule, nothing is
-- found.
local cases = {
  { "core/step/x.c", head .. '#include "plan/config.h"\n#include "node/node_msg.h"\n#include "sched/tally.h"\n' },
  { "core/step/x.c", head .. '#include "node/keeper.h"\n', "layers", 2 },
  { "core/base/x.c", head .. '#include "sys/loop.h"\n', "layers", 2 },
  { "core/node/x.h", head .. '#include "sched/queue.h"\n', "layers", 2 },
  { "core/agent/x.c", head .. '#include "plan/config.h"\n', "layers", 2 },
  { "core/report/x.c", head .. '#include "record/events.h"\n#include "sys/fs.h"\n' },
  { "core/report/x.c", head .. '#include "job/job.h"\n', "layers", 2 },
  { "core/page/x.c", head .. '#include "insight/facts.h"\n#include "report/error_groups.h"\n' },
  { "core/page/x.c", head .. '#include "report/errors.h"\n', "layers", 2 },
  { "core/page/x.c", head .. "  tm_html_init(&h, out);\n  tm_buf_add_str(&text, name);\n  tm_html_text(h, text);\n" },
  { "core/page/x.c", head .. "  tm_buf_add_str(h->out, name);\n", "escaped", 2 },
  { "core/page/x.c", head .. "  tm_buf_printf(out, fmt, name);\n", "escaped", 2 },
  { "core/page/x.c", head .. "  tm_text_grouped(out, n);\n", "escaped", 2 },
  { "core/page/x.c", head .. "  tm_time_duration(out, n);\n", "escaped", 2 },
  { "core/page/x.c", head .. "  tm_html_open_tag(h, name);\n", "escaped", 2 },
  { "core/page/html.c", head .. "  tm_buf_add_str(h->out, name);\n" },
  { "core/other/x.c", head, "layers", 1 },
  { "core/sched/x.c", head .. '#include "commit/commit.h"\n', "layers", 2 },
  { "core/commit/x.c", head .. '#include "step/supervisor.h"\n', "layers", 2 },
  { "core/data/rows/x.c", head .. '#include "data/stream/stream.h"\n#include "data/frame/frame.h"\n' },
  { "core/data/rows/x.c", head .. '#include "data/files/glob.h"\n', "rooms", 2 },
  { "core/data/files/x.c", head .. '#include "data/rows/open.h"\n', "rooms", 2 },
  { "lua/bind/x.c", head .. '#include "entry/rows.h"\n', "rooms", 2 },
  { "lua/entry/x.c", head .. '#include "bind/state.h"\n' },
  { "core/step/x.c", head .. '#include "data/item.h"\n#include "data/table/schemas.h"\n' },
  { "core/step/x.c", head .. '#include "data/table/table_load.h"\n', "loop-reads", 2 },
  { "core/step/x.h", head .. '#include "data/rows/open.h"\n', "loop-reads", 2 },
  { "core/step/x.c", head .. '#include "data/sql/query.h"\n', "loop-reads", 2 },
  { "core/commit/lister.h", head .. '#include "data/splitter.h"\n' },
  { "core/agent/x.c", head .. '#include "data/table/table_load.h"\n' },
  { "lua/x.c", head .. '#include "job/job.h"\n#include <lua.h>\n#include <luajit.h>\n' },
  { "lua/cli/x.c", head .. '#include <tidemill.h>\n#include "base/text.h"\n#include "cli/x.h"\n' },
  { "lua/cli/x.c", head .. '#include "inspect/inspection.h"\n', "program", 2 },
  { "lua/cli/x.c", head .. '#include "cli/cmd_repl.h"\n' },
  { "lua/cli/x.c", head .. '#include "runtime.h"\n', "program", 2 },
  { "lua/cli/x.h", head .. '#include "sys/fs.h"\n', "program", 2 },
  { "lua/cli/cmd_script.c", head .. '#include "record/job_dir.h"\n' },
  { "lua/cli/cmd_script.c", head .. '#include "cli/cli.h"\n', "program", 1 },
  { "core/sys/x.c", head .. "#include <uv.h>\n" },
  { "core/step/x.c", head .. "#include <uv.h>\n", "libraries", 2 },
  { "core/agent/x.c", head .. "#include <lua.h>\n", "libraries", 2 },
  { "core/base/map.c", head .. "#include <xxhash.h>\n", "libraries", 2 },
  { "core/base/json_read.c", head .. "#include <yajl/yajl_parse.h>\n" },
  { "core/data/rows/x.c", head .. "#include <archive.h>\n", "libraries", 2 },
  { "core/step/x.c", head .. "  fs->rename(fs->self, a, b);\n  tm_pipe(1); /* kill(1) */\n" },
  { "core/step/x.c", head .. "  kill(pid, 9);\n", "effects", 2 },
  { "core/portal/feed.c", head .. "  unlink(path);\n", "effects", 2 },
  { "core/portal/portal.c", head .. "#include <microhttpd.h>\n", "libraries", 2 },
  { "core/portal/portal.c", head .. "#include \"store/jobs.h\"\n", "layers", 2 },
  { "core/sys/x.c", head .. "  kill(pid, 9);\n" },
  { "core/step/x.c", head .. ("int x;\n"):rep(600), "file-length", 601 },
  { "core/step/x.c", c_function(60, "  g();") },
  { "core/step/x.c", c_function(61, "  g();"), "function-length", 3 },
  { "core/step/x.c", c_function(90, "  case 1: return g();") },
  { "stdlib/x.lua", "local function f()\n" .. ("  g()\n"):rep(59) .. "end\n", "function-length", 1 },
  { "stdlib/x.lua", "local function f() return 1 end\n" .. ("g()\n"):rep(70) },
  { "core/step/x.c", head .. "int tm_queue_delete;\n", "words", 2 },
  { "core/step/x.c", head .. "int n_chunks;\n", "words", 2 },
  { "core/step/x.c", head .. "int batch_size;\n", "words", 2 },
  { "core/step/x.c", head .. 'int mini_batch_size, created; /* delete */ char *s = "task";\n' },
  { "core/step/fetch.c", head, "words", 1 },
  { "stdlib/x.lua", "local create_new_version = 1 -- a task\nlocal s = [[shard]]\n" },
  { "stdlib/x.lua", "local function create_frame() end\n", "words", 1 },
  { "core/step/x.c", "int x;\n", "head-comment", 1 },
  { "core/step/x.c", "/*\n" .. (" * x\n"):rep(40) .. " */\n", "head-comment", 1 },
  { "tests/unit/test_x.c", head .. "  us" .. "leep (10);\n", "no-sleep", 2 },
  { "tests/job/x.sh", "slee" .. "p 1\n", "no-sleep", 1 },
  { "tests/job/x.lua", "os.execute('slee" .. "p 1')\n", "no-sleep", 1 },
  { "tests/job/x.sh", "slee" .. "p 9 # lint: allow no-sleep, it is what is killed\n" },
  { "examples/x.lua", "os.execute('slee" .. "p 1')\n" },
  { "README.md", "a \n", "blanks", 1 },
  { "stdlib/x.lua", "a()\n\tb()\n", "blanks", 2 },
  { "README.md", "a", "blanks", 1 },
  { "README.md", "a\nTO" .. "DO: b\n", "unfinished", 2 },
  { "tests/x.sh", "cd /wor" .. "k/x\n", "places", 1 },
  { "tests/x.sh", 'cd "$dir/wor' .. 'k/x"\n' },
  { "core/step/x.c", "/* x.c -" .. (" a"):rep(46) .. "\n */\n" },
  { "core/step/x.c", "/* x.c -" .. (" a"):rep(47) .. "\n */\n", "comment-width", 1 },
  { "core/step/x.c", head .. "int x; /*" .. (" a"):rep(46) .. " */\n", "comment-width", 2 },
  { "core/step/x.c", head .. "int x; /*" .. (" \195\164"):rep(44) .. " */\n" },
  { "core/step/x.c", head .. 'char *s = "/*' .. (" a"):rep(46) .. ' */";\n' },
  { "stdlib/x.lua", "--[[ a\n" .. ("a"):rep(101) .. "\n]]\n", "comment-width", 2 },
  { "stdlib/x.lua", 'local s = "' .. ("a"):rep(100) .. '"\n' },
  { "tests/x.sh", "#" .. (" a"):rep(50) .. "\n", "comment-width", 1 },
  { "tests/x.sh", "f " .. ("a"):rep(60) .. " #" .. (" a"):rep(20) .. "\n", "comment-width", 1 },
  { "tests/x.sh", "f '" .. ("a"):rep(60) .. " #" .. (" a"):rep(20) .. "'\n" },
  { "tests/x.py", "#" .. (" a"):rep(50) .. "\n", "comment-width", 1 },
  { "tests/CMakeLists.txt", "#" .. (" a"):rep(50) .. "\n", "comment-width", 1 },
  { "examples/x.txt", "#" .. (" a"):rep(50) .. "\n" },
  { "core/step/x.c", head .. "int x; /* this is no error */\n", "turns", 2 },
  { "core/step/x.c", head .. "/* a\n * line that is\n *  no error */\n", "turns", 3 },
  { "core/step/x.c", head .. "int a; /* it is */\nint b; /* no error */\n" },
  { "core/step/x.c", head .. "/* There is no error; it is no longer one. `it is no error` */\n" },
  { "core/step/x.c", head .. '/* "it is no\n * error" */\nchar *s = "it is no error";\n' },
  { "core/step/x.c", head .. "/* At the end it is NONE. */\n" },
  { "core/step/x.c", head .. "/* There\n * is no error. */\n" },
  { "core/step/x.c", head .. "/* There. */\n/* It\n * is no error. */\n", "turns", 4 },
  { "stdlib/x.lua", "-- Goes on\n-- with the rest.\n", "turns", 1 },
  { "tests/x.sh", "f # what comes of it\n", "turns", 1 },
  { "README.md", "a\n\n```\nit is no error\n```\n" },
  { "README.md", "a\n\nIt is said by\nwhom?\n", "turns", 3 },
  { "README.md", "A worker is told to stop. The wall is said to be old.\n" },
  { "README.md", "A user who asks gets the size of what run() returned.\n" },
  { "README.md", "a\n\nThe list is for\nwho asks.\n", "turns", 4 },
}

local allowed = source.allowed(here .. "/../..")
local wrong = 0
for i, case in ipairs(cases) do
  local path, text, rule, line = unpack(case)
  local found = {}
  lint.check(source.file(path, text), allowed, function(_, at, name) found[#found + 1] = name .. " at " .. at end)
  local is, expected = table.concat(found, ", "), rule and rule .. " at " .. line or ""
  if is ~= expected then
    wrong = wrong + 1
    print(("case %d, %s: expected '%s', found '%s'"):format(i, path, expected, is))
  end
end

-- Paths of a tree, the text of its READMEs, and the folders that break the rule.
local trees = {
  { { "README.md", "a/README.md", "a/x.c", "a/b/README.md", "a/b/CMakeLists.txt", ".ci/run" }, "", "" },
  { { "README.md", "a/x.c" }, "`a/` is the code", "a/README.md" },
  { { "README.md", "a/README.md", "a/b/c/x.lua" }, "", "a/b/README.md a/b/c/README.md" },
  { { "README.md", "a/1.csv", "b/2.csv" }, "`a/`: what it is", "b/README.md" },
  { { "README.md", "a/1/x.csv", "a/2/x.csv" }, "`a/`: a folder for each day", "" },
  { { "README.md", "tests/README.md", "tests/unit/README.md", "tests/unit/a/test_x.c" }, "`a/` tests a", "" },
  { { "README.md", "tests/README.md", "tests/unit/README.md", "tests/unit/a/test_x.c" }, "", "tests/unit/a/README.md" },
  { { "x.c" }, "", "README.md" },
}
-- A folder with its README and n files.
local function add_tree(name, n, expected)
  local list = { "README.md", "a/README.md" }
  for i = 1, n do list[#list + 1] = "a/" .. name:format(i) end
  trees[#trees + 1] = { list, "", expected }
end
add_tree("x%d.c", 54, "")
add_tree("x%d.c", 55, "a")
add_tree("%d.png", 200, "")
for i, case in ipairs(trees) do
  local list, text, expected = unpack(case)
  local found = {}
  folders.check(list, function() return text end, function(path) found[#found + 1] = path end)
  local is = table.concat(found, " ")
  if is ~= expected then
    wrong = wrong + 1
    print(("tree %d: expected '%s', found '%s'"):format(i, expected, is))
  end
end

local strange = {}
folders.check_top_level({ ".ci/run", "README.md", "core/x.c", "crash-input", "build.log" }, function(name)
  strange[#strange + 1] = name
end)
if table.concat(strange, " ") ~= "crash-input build.log" then
  wrong = wrong + 1
  print("top level: found " .. table.concat(strange, " "))
end

-- Files of a tree, and what the rules of modules find.
local a_and_b = "core/a/x.c cycles: core/a/x, core/b/y"
local sets = {
  { { ["core/a/x.h"] = "", ["core/a/x.c"] = '#include "b/y.h"', ["core/b/y.h"] = "", ["core/b/y.c"] = "" }, "" },
  { { ["core/a/x.h"] = "", ["core/a/x.c"] = '#include "b/y.h"', ["core/b/y.h"] = "",
      ["core/b/y.c"] = '#include "a/x.h"' }, a_and_b },
  { { ["core/a/x_own.h"] = '#include "b/y.h"', ["core/a/x.h"] = "", ["core/a/x.c"] = '#include "x_own.h"',
      ["core/b/y.h"] = '#include "b/z.h"', ["core/b/z.h"] = '#include "a/x.h"', ["core/b/y.c"] = '#include "b/y.h"' },
    a_and_b },
  { { ["core/a/x.c"] = "", ["core/b/x.h"] = "" }, "core/b/x.h names" },
  { { ["core/a/x.c"] = "", ["core/include/tidemill/x.h"] = "" }, "" },
  { { ["core/a/y.c"] = "", ["core/include/y.h"] = "" }, "core/include/y.h names" },
  { { ["core/a/x.c"] = "", ["core/a/x.h"] = "", ["tests/x.c"] = "" }, "" },
}
for i, case in ipairs(sets) do
  local files, expected = unpack(case)
  local list, found = {}, {}
  for path in pairs(files) do list[#list + 1] = path end
  modules.check(list, function(path) return files[path] end, function(path, name, words)
    found[#found + 1] = path .. " " .. name .. (name == "cycles" and ": " .. words:match ": (.*)" or "")
  end)
  local is = table.concat(found, "; ")
  if is ~= expected then
    wrong = wrong + 1
    print(("set %d: expected '%s', found '%s'"):format(i, expected, is))
  end
end

-- Lines of .gitignore, a path, and whether they leave it out.
local ignored = {
  { "/build/", "build/x.c", true },
  { "/build/", "tests/build/x.c", false },
  { "/build/", "build", false }, -- a file
  { "/build-*/", "build-asan/tests/x.c", true },
  { "/build-*/", "build/x.c", false },
  { "*.swp", "core/step/.x.c.swp", true },
  { "*.swp", "core/step/x.swpx", false },
  { "x.json", "a/x.json", true },
  { "x.json", "a/xyjson", false },
  { "x.json", "a/b-x.json", false },
  { ".tidemill/", "examples/a/.tidemill/jobs/b/x.lua", true },
  { ".tidemill/", ".tidemill/x", true },
  { ".tidemill/", "examples/x.tidemill/x", false },
  { "a/*.c", "a/x.c", true },
  { "a/*.c", "b/a/x.c", false },
  { "a/*.c", "a/b/x.c", false },
  { "# x.c\n\n/y.c", "x.c", false },
  { "x.c\n/y.c", "y.c", true },
}
for i, case in ipairs(ignored) do
  local text, path, expected = unpack(case)
  if source.ignored(text)(path) ~= expected then
    wrong = wrong + 1
    print(("ignored %d: '%s' and %s: expected %s"):format(i, text, path, tostring(expected)))
  end
end
for _, text in ipairs { "!x", "a/**/b", "x?", "[ab]", "\\#" } do
  if pcall(source.ignored, text) then
    wrong = wrong + 1
    print(("'%s' in .gitignore: no error"):format(text))
  end
end

-- Each turn is found, and its message holds the better wording.
local turns = require "turns"
for _, turn in ipairs(turns) do
  for _, phrase in ipairs(turn[1]) do
    local is_found = false
    prose.find_turns("So it " .. phrase .. " rest", function(words)
      is_found = is_found or words:find(phrase, 1, true) ~= nil and words:find(turn[2], 1, true) ~= nil
    end)
    if not is_found then
      wrong = wrong + 1
      print(("turn '%s': not found"):format(phrase))
    end
  end
end

local function expect(what, is, expected)
  if is == expected then return end
  wrong = wrong + 1
  print(("%s: expected '%s', found '%s'"):format(what, expected, is))
end

-- not_done.list: an entry covers a file, or the files in a folder, and an unused entry is found.
local covers, rest = prose.not_done "# a\nturns a/x.c\nturns b\ncomment-width c\n"
local covered = {}
for _, path in ipairs { "a/x.c", "a/y.c", "b/x.c", "b/c/x.c", "x.c" } do
  covered[#covered + 1] = covers("turns", path) and "yes" or "no"
end
expect("not_done", table.concat(covered, " "), "yes no yes no no")
expect("the rest", table.concat(rest(), ", "), "comment-width c")
expect("without", prose.without("# a\nturns a\nturns b\n", { "turns a" }), "# a\nturns b\n")
expect("an unknown rule", (pcall(prose.not_done, "words a\n")), false)

-- Subjects of commits.
local lines = { "ab12 run: a late answer is no error", "cd34 run: a late answer is not an error",
                "ef56 run: a late answer is no answer" }
local function commits_found(exceptions)
  local commits = {}
  subjects.check(lines, exceptions, function(commit) commits[#commits + 1] = commit end)
  return table.concat(commits, " ")
end
expect("subjects", commits_found {}, "ab12 ef56")
expect("exceptions", commits_found { ef56 = true }, "ab12")
expect("an exception that is not needed", commits_found { ab12 = true, cd34 = true, ef56 = true }, "cd34")
expect("no history", subjects.obstacle("/", "HEAD"), "there is no git history here")

print(("%d cases, %d wrong"):format(#cases + #trees + #sets + #ignored + #turns + 8, wrong))
os.exit(wrong == 0 and 0 or 1)
