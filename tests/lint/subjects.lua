-- Looks for the turns of turns.lua in commit subjects: luajit subjects.lua ROOT. Status 1 if there
-- are any; 77 (skipped) with the reason if the history cannot be read.
local here = arg[0]:match "^(.*)/" or "."
package.path = here .. "/?.lua;" .. package.path
local prose = require "prose"

-- The rule is younger than this commit and all before it.
local BASE = "a49b8ee12f56"
-- Younger commits that broke the rule before anyone looked, and can no longer be changed.
local EXCEPTIONS = { ["2c93834"] = true, ["2facd89"] = true, ["8f55e30"] = true, ["b1e8227"] = true }

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- The lines that a git command prints, and whether it succeeded.
local function git(root, arguments)
  local pipe = assert(io.popen("git -C " .. quoted(root) .. " " .. arguments .. " 2>/dev/null; echo $?"))
  local lines = {}
  for line in pipe:lines() do lines[#lines + 1] = line end
  pipe:close()
  return lines, table.remove(lines) == "0"
end

-- Why the history of the tree cannot be read; nil: it can.
local function obstacle(root, base)
  local below, ok = git(root, "rev-parse --show-prefix")
  if not ok then return "there is no git history here" end
  if below[1] and below[1] ~= "" then return "the tree lies in a repository of something else" end
  local _, has_base = git(root, "cat-file -e " .. base .. "^{commit}")
  if not has_base then return "the history does not reach back to " .. base end
end

-- Calls found(commit, words) for each fault in lines "COMMIT SUBJECT", and for each exception that
-- is not a fault (any more).
local function check(lines, exceptions, found)
  local unused = {}
  for commit in pairs(exceptions) do unused[commit] = true end
  for _, line in ipairs(lines) do
    local commit, subject = line:match "^(%x+) (.*)$"
    local known = commit:sub(1, 7)
    prose.find_turns(subject, function(words)
      unused[known] = nil
      if not exceptions[known] then found(commit, words) end
    end)
  end
  for commit in pairs(unused) do found(commit, "is an exception, but breaks no rule") end
end

local function main(root)
  local reason, faults = obstacle(root, BASE), 0
  if reason then
    print("skipped: " .. reason)
    os.exit(77)
  end
  local lines = git(root, "log --no-merges --format='%h %s' " .. BASE .. "..HEAD")
  check(lines, EXCEPTIONS, function(commit, words)
    faults = faults + 1
    print(("%s: [turns] %s"):format(commit, words))
  end)
  print(("%d subjects, %d faults"):format(#lines, faults))
  os.exit(faults == 0 and 0 or 1)
end

if ... == "subjects" then return { check = check, obstacle = obstacle } end
main(arg[1] or here .. "/../..")
