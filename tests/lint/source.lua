-- Reading source text: the files of the tree, and text without its comments and strings.
local M = {}

-- nil when it cannot be read.
local function read(path)
  local f = io.open(path, "rb")
  if not f then return nil end
  local text = f:read "*a"
  f:close()
  return text
end

M.read = read

local function lines_of(command)
  local pipe, list = assert(io.popen(command)), {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

-- A line of .gitignore as a function of a path and whether it is a folder; nil for a comment or an
-- empty line. It knows `*`, and slashes anywhere; git's other patterns raise an error.
local function ignore_rule(line)
  local text, end_slash = line:match "^%s*(.-)(/?)%s*$"
  if text == "" or text:find "^#" then return nil end
  if text:find "[!?%[\\]" or text:find("**", 1, true) then
    error(".gitignore: the lint does not know the pattern '" .. line .. "'")
  end
  local is_anchored = text:find("/", 1, true) ~= nil
  local pattern = text:gsub("^/", ""):gsub("[^%w/*]", "%%%0"):gsub("%*", "[^/]*") .. "$"
  pattern = (is_anchored and "^" or "/") .. pattern
  return function(path, is_folder)
    return (is_folder or end_slash == "") and (is_anchored and path or "/" .. path):find(pattern) ~= nil
  end
end

-- is_ignored(path): whether .gitignore, given as text, names this file or a folder above it.
function M.ignored(text)
  local rules, known = {}, {}
  for line in text:gmatch "[^\n]+" do rules[#rules + 1] = ignore_rule(line) end
  local function is_ignored(path, is_folder)
    for _, rule in ipairs(rules) do
      if rule(path, is_folder) then return true end
    end
    local folder = path:match "^(.*)/[^/]*$"
    if folder and known[folder] == nil then known[folder] = is_ignored(folder, true) end
    return folder ~= nil and known[folder]
  end
  return function(path) return is_ignored(path, false) end
end

-- Paths of the tree's files, relative to root, sorted: all that .gitignore does not name. It works
-- without git: the tree may be an unpacked archive, or lie in a repository of something else.
function M.list(root)
  local quoted, list = "'" .. root:gsub("'", "'\\''") .. "'", {}
  local is_ignored = M.ignored(assert(read(root .. "/.gitignore"), ".gitignore is missing"))
  for _, line in ipairs(lines_of("cd " .. quoted .. " && find . -name .git -prune -o -type f -print")) do
    local path = line:sub(3)
    if not is_ignored(path) then list[#list + 1] = path end
  end
  table.sort(list)
  return list
end

-- The end (exclusive) of the quoted text that begins at i. An escape never ends it.
local function quoted_end(text, i)
  local quote, at = text:sub(i, i), i + 1
  while at <= #text do
    local c = text:sub(at, at)
    if c == "\\" then
      at = at + 1
    elseif c == quote or c == "\n" then
      return at + 1
    end
    at = at + 1
  end
  return at
end

local function after(text, from, close)
  local _, last = text:find(close, from, true)
  return (last or #text) + 1
end

-- The end (exclusive) of the comment or string that begins at i, and whether it is a comment; nil
-- if none begins there.
local function c_span(text, i)
  local two = text:sub(i, i + 1)
  if two == "/*" then return after(text, i + 2, "*/"), true end
  if two == "//" then return after(text, i, "\n") - 1, true end
  local c = text:sub(i, i)
  if c == '"' or c == "'" then return quoted_end(text, i), false end
end

local function lua_span(text, i)
  local comment = text:sub(i, i + 1) == "--"
  local at = comment and i + 2 or i
  local level = text:match("^%[(=*)%[", at)
  if level then return after(text, at, "]" .. level .. "]"), comment end
  if comment then return after(text, i, "\n") - 1, true end
  local c = text:sub(i, i)
  if c == '"' or c == "'" then return quoted_end(text, i), false end
end

-- Calls each(first, stop, is_comment) for every comment and string of C or Lua; stop is exclusive.
local function each_span(text, kind, each)
  local span = kind == "lua" and lua_span or c_span
  local start = kind == "lua" and "[-%[\"']" or "[/\"']"
  local i = 1
  while true do
    i = text:find(start, i)
    if not i then return end
    local stop, is_comment = span(text, i)
    if stop then each(i, stop, is_comment) end
    i = stop or i + 1
  end
end

-- text with every comment and string blanked; lines stay where they are.
function M.code(text, kind)
  local out, from = {}, 1
  each_span(text, kind, function(first, stop)
    out[#out + 1] = text:sub(from, first - 1)
    out[#out + 1] = " " .. text:sub(first, stop - 1):gsub("[^\n]", "")
    from = stop
  end)
  out[#out + 1] = text:sub(from)
  return table.concat(out)
end

local function split(text)
  local list = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do list[#list + 1] = line end
  return list
end

local function span_comments(file)
  local at, line = 1, 1
  each_span(file.text, file.kind, function(first, stop, is_comment)
    if not is_comment then return end
    line = line + select(2, file.text:sub(at, first - 1):gsub("\n", ""))
    local parts = split(file.text:sub(first, stop - 1))
    for i, part in ipairs(parts) do
      local words = part:gsub("^%s*[-/*]+", ""):gsub("%*/$", "")
      file.comments[line + i - 1] = (file.comments[line + i - 1] or "") .. words
      file.is_continued[line + i - 1] = i < #parts
    end
    at, line = stop, line + #parts - 1
  end)
end

-- A # begins a comment at the start of a line, and after a blank where no quotation is open.
local function hash_comment(line)
  local before, words = line:match "^(%s*)#+(.*)$"
  if before then return words end
  local at = line:find "%s#%s"
  local quotes = at and select(2, line:sub(1, at):gsub("[\"']", ""))
  return at and quotes % 2 == 0 and line:sub(at + 2) or nil
end

-- file.comments: the words of the comment on each line that has one. file.is_continued: whether the
-- comment continues on the next line.
local function add_comments(file)
  local is_span = file.kind == "c" or file.kind == "lua"
  file.comments, file.is_continued = {}, {}
  if is_span then
    span_comments(file)
  elseif file.kind == "sh" or file.kind == "py" or file.kind == "cmake" then
    for i, line in ipairs(file.lines) do
      if not line:find "^#!" then file.comments[i] = hash_comment(line) end
    end
  end
  for i in pairs(file.comments) do
    local following = file.lines[i + 1] or ""
    if following:find "^%s*%-%-" or following:find "^%s*#" and not is_span then file.is_continued[i] = true end
  end
end

local kinds = { c = "c", h = "c", lua = "lua", sh = "sh", md = "md", cmake = "cmake", txt = "txt", py = "py" }

-- The file as the rules see it: path, kind, name, text, lines, code (only of C and Lua), comments.
function M.file(path, text)
  local name = path:match "[^/]+$"
  local kind = kinds[name:match "%.(%w+)$" or ""]
  if not kind and text:find "^#!.*sh\n" then kind = "sh" end
  if name == "CMakeLists.txt" then kind = "cmake" end
  local file = { path = path, name = name, kind = kind, text = text, lines = {} }
  for line in (text:gsub("\n$", "") .. "\n"):gmatch "(.-)\n" do file.lines[#file.lines + 1] = line end
  if kind == "c" or kind == "lua" then
    file.code = {}
    for line in (M.code(text, kind) .. "\n"):gmatch "(.-)\n" do file.code[#file.code + 1] = line end
  end
  add_comments(file)
  return file
end

-- nil for a file that is not text.
function M.open(root, path)
  local text = read(root .. "/" .. path)
  if not text or text:find "%z" or path:find "%.pgm$" then return nil end
  return M.file(path, text)
end

-- words.allow: identifier -> reason. An entry may end in *.
function M.allowed(root)
  local exact, prefixes = {}, {}
  local text = assert(read(root .. "/tests/lint/words.allow"), "tests/lint/words.allow is missing")
  for line in text:gmatch "[^\n]+" do
    local word, reason = line:match "^([%w_*]+)%s+(%S.*)$"
    if word and word:sub(-1) == "*" then
      prefixes[#prefixes + 1] = word:sub(1, -2)
    elseif word then
      exact[word] = reason
    elseif not line:find "^#" then
      error("words.allow: a word and its reason, not '" .. line .. "'")
    end
  end
  return function(word)
    if exact[word] then return true end
    for _, prefix in ipairs(prefixes) do
      if word:sub(1, #prefix) == prefix then return true end
    end
    return false
  end
end

return M
