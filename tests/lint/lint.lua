-- The lint of the tree: luajit lint.lua [ROOT [--shorten]]. Prints each fault as PATH:LINE: [rule]
-- words; status 1 if there are any. --shorten removes the lines of not_done.list that are done.
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. package.path
local folders, modules, prose = require "folders", require "modules", require "prose"
local source, rules = require "source", require "rules"

for name, rule in pairs(prose.rules) do rules[name] = rule end
local names = {}
for name in pairs(rules) do names[#names + 1] = name end
table.sort(names)

local function is_excused(line, name) return line and line:find("lint: allow " .. name .. ",", 1, true) end

-- Calls found(path, line, rule, words) for each rule that a line of the file breaks.
local function check(file, allowed, found)
  for _, name in ipairs(names) do
    rules[name](file, function(line, words)
      if not is_excused(file.lines[line], name) then found(file.path, line, name, words) end
    end, allowed)
  end
end

local function shorten(list, entries)
  local text = prose.without(source.read(list), entries)
  local f = assert(io.open(list, "w"))
  f:write(text)
  f:close()
end

local function main(root, option)
  local list = here .. "/not_done.list"
  local allowed, files, faults = source.allowed(root), 0, 0
  local is_not_done, rest = prose.not_done(source.read(list))
  for _, path in ipairs(source.list(root)) do
    local file = source.open(root, path)
    if file then
      files = files + 1
      check(file, allowed, function(where, line, name, words)
        if is_not_done(name, where) then return end
        faults = faults + 1
        print(("%s:%d: [%s] %s"):format(where, line, name, words))
      end)
    end
  end
  local function report_folder(where, words)
    faults = faults + 1
    print(("%s:1: [folders] %s"):format(where, words))
  end
  folders.check_top_level(source.list(root), report_folder)
  folders.check(source.list(root), function(path) return source.open(root, path).text end, report_folder)
  modules.check(source.list(root), function(path) return source.open(root, path).text end, function(where, name, words)
    faults = faults + 1
    print(("%s:1: [%s] %s"):format(where, name, words))
  end)
  if option == "--shorten" then shorten(list, rest()) end
  for _, entry in ipairs(option == "--shorten" and {} or rest()) do
    faults = faults + 1
    print(("tests/lint/not_done.list:1: '%s' is done: lint.lua . --shorten takes it out"):format(entry))
  end
  print(("%d files, %d faults"):format(files, faults))
  os.exit(files > 0 and faults == 0 and 0 or 1)
end

if ... == "lint" then return { check = check } end
main(arg[1] or here .. "/../..", arg[2])
