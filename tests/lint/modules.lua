-- The rules of modules, over all C files of core/ and lua/. A module is x.c with x.h; x_own.h,
-- which only the files of x include, belongs to it.
--
--   cycles   x.c includes y.h, and y.c includes x.h, directly or through other headers
--   names    two folders hold files of the same name: in a stack or in a message, one cannot tell
--            which is meant; a public header is known by its path: tidemill/job.h
local function stem(path) return (path:gsub("%.[ch]$", "")) end

local function folder(path) return path:match "^(.*)/[^/]*$" end

local function module_of(path) return (stem(path):gsub("_own$", "")) end

-- The path that an #include of `from` names; nil: of another place.
local function resolve(has, from, name)
  for _, base in ipairs { folder(from) .. "/", "core/", "lua/", "core/include/", "" } do
    if has[base .. name] then return base .. name end
  end
end

local function includes_of(has, path, text)
  local found = {}
  for name in ("\n" .. text):gmatch '\n%s*#%s*include%s+"([^"]+)"' do
    found[#found + 1] = resolve(has, path, name)
  end
  return found
end

-- path -> the headers that it includes, directly or not, as a list.
local function closure(includes, path)
  local seen, list = { [path] = true }, { path }
  local at = 1
  while list[at] do
    for _, header in ipairs(includes[list[at]]) do
      if not seen[header] then
        seen[header] = true
        list[#list + 1] = header
      end
    end
    at = at + 1
  end
  return list
end

-- module -> set of the modules whose header its .c includes.
local function graph_of(paths, includes)
  local graph, has_c = {}, {}
  for _, path in ipairs(paths) do
    if path:find "%.c$" then has_c[module_of(path)] = true end
  end
  for _, path in ipairs(paths) do
    if path:find "%.c$" then
      local from = module_of(path)
      graph[from] = graph[from] or {}
      for _, header in ipairs(closure(includes, path)) do
        local to = module_of(header)
        if to ~= from and has_c[to] then graph[from][to] = true end
      end
    end
  end
  return graph
end

local function reachable(graph, from)
  local seen, list = {}, { from }
  local at = 1
  while list[at] do
    for to in pairs(graph[list[at]] or {}) do
      if not seen[to] then
        seen[to] = true
        list[#list + 1] = to
      end
    end
    at = at + 1
  end
  return seen
end

local function sorted(set)
  local list = {}
  for name in pairs(set) do list[#list + 1] = name end
  table.sort(list)
  return list
end

local function check_cycles(paths, includes, found)
  local graph, reach, is_told = graph_of(paths, includes), {}, {}
  for name in pairs(graph) do reach[name] = reachable(graph, name) end
  for _, name in ipairs(sorted(graph)) do
    if reach[name][name] and not is_told[name] then
      local cycle = {}
      for other in pairs(reach[name]) do
        if reach[other] and reach[other][name] then cycle[other] = true end
      end
      for other in pairs(cycle) do is_told[other] = true end
      found(name .. ".c", "cycles", "modules that include each other: " .. table.concat(sorted(cycle), ", "))
    end
  end
end

local function check_names(paths, found)
  local first = {}
  for _, path in ipairs(paths) do
    local name = stem(path):match(path:find "^core/include/" and "^core/include/(.*)$" or "[^/]*$")
    first[name] = first[name] or path
    if folder(first[name]) ~= folder(path) then
      found(path, "names", "'" .. first[name] .. "' has the same name in another folder")
    end
  end
end

-- Calls found(path, rule, words) for each fault. `list`: all paths; `read` gives the text of one.
local function check(list, read, found)
  local paths, has, includes = {}, {}, {}
  for _, path in ipairs(list) do
    if (path:find "^core/" or path:find "^lua/") and path:find "%.[ch]$" then
      paths[#paths + 1], has[path] = path, true
    end
  end
  table.sort(paths)
  for _, path in ipairs(paths) do includes[path] = includes_of(has, path, read(path)) end
  check_cycles(paths, includes, found)
  check_names(paths, found)
end

return { check = check }
