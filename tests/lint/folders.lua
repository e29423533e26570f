-- The rules of folders. The top level has the names below, and names that begin with a dot. A
-- folder with code has at most MOST_FILES files. Each folder has a README.md. There are two
-- exceptions, which the README of a folder above must name: a folder that holds only data, because
-- a program would read the README as data, and one below tests/unit or tests/job, because its files
-- are of one kind with those beside it.
local code = { c = true, h = true, lua = true, sh = true, py = true, js = true, cmake = true }

local MOST_FILES = 55
local top_level = {}
for name in ("CMakeLists.txt LICENSE README.md core lua stdlib examples tests"):gmatch "%S+" do
  top_level[name] = true
end

local function is_code(path)
  return path:find "CMakeLists%.txt$" ~= nil or code[path:match "%.(%w+)$" or ""] == true
end

local function parent(path) return path:match "^(.*)/[^/]*$" or "" end

-- folder -> whether it holds code, for all folders in the list of paths except hidden ones.
local function folders_of(list)
  local folders = { [""] = true }
  for _, path in ipairs(list) do
    if not ("/" .. path):find "/%.[^/]*/" then
      local at = parent(path)
      folders[at] = folders[at] or is_code(path)
      while at ~= "" do
        at = parent(at)
        folders[at] = folders[at] or false
      end
    end
  end
  return folders
end

local function is_of_tests(folder) return folder:find "^tests/unit/" ~= nil or folder:find "^tests/job/" ~= nil end

local function readme(folder) return folder == "" and "README.md" or folder .. "/README.md" end

-- The nearest README above, as text.
local function readme_above(folder, has, read)
  while folder ~= "" do
    folder = parent(folder)
    if has[readme(folder)] then return read(readme(folder)) end
  end
  return ""
end

-- Calls found(name, words) for each name of the top level that is not one of ours.
local function check_top_level(list, found)
  local seen = {}
  for _, path in ipairs(list) do
    local name = path:match "^[^/]+"
    if not top_level[name] and not name:find "^%." and not seen[name] then
      found(name, "the top level has CMakeLists.txt, LICENSE, README.md, core, lua, stdlib, examples and tests only")
    end
    seen[name] = true
  end
end

local function check_sizes(list, folders, found)
  local counts = {}
  for _, path in ipairs(list) do counts[parent(path)] = (counts[parent(path)] or 0) + 1 end
  for folder, n in pairs(counts) do
    if n > MOST_FILES and folders[folder] then found(folder, ("%d files; at most %d"):format(n, MOST_FILES)) end
  end
end

-- Calls found(path, words) for each folder that breaks a rule. `read` gives the text of a path.
local function check(list, read, found)
  local has = {}
  for _, path in ipairs(list) do has[path] = true end
  local folders = folders_of(list)
  check_sizes(list, folders, found)
  local names = {}
  for folder in pairs(folders) do names[#names + 1] = folder end
  table.sort(names)
  for _, folder in ipairs(names) do
    local name = folder:match "[^/]*$"
    local is_named = readme_above(folder, has, read):find("%f[%w_]" .. name:gsub("%W", "%%%0") .. "/")
    local is_below_data = not folders[parent(folder)] and not has[readme(parent(folder))]
    if folders[folder] and not has[readme(folder)] and not is_of_tests(folder) then
      found(readme(folder), "there is none, and the folder holds code")
    elseif not has[readme(folder)] and not is_named and not is_below_data then
      found(readme(folder), "there is none, and no README above says what is in '" .. name .. "/'")
    end
  end
end

return { check = check, check_top_level = check_top_level }
