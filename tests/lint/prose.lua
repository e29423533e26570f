-- The rules of prose: comment-width for comment lines, and turns for comments, Markdown and commit
-- subjects. not_done.list names files that do not follow them yet.
local turns = require "turns"
local rules = {}
local M = { rules = rules }

local MAX_COLUMNS = 100

local has_comments = { c = true, lua = true, sh = true, py = true, cmake = true }

local function columns(line) return select(2, line:gsub("[^\128-\191]", "")) end

rules["comment-width"] = function(file, report)
  if not has_comments[file.kind] then return end
  for i, line in ipairs(file.lines) do
    local n = file.comments[i] and columns(line) or 0
    if n > MAX_COLUMNS then report(i, "a comment that ends at column " .. n .. "; at most " .. MAX_COLUMNS) end
  end
end

local function as_set(words)
  local set = {}
  for _, word in ipairs(words or {}) do set[word] = true end
  return set
end

local phrases = {}
for _, turn in ipairs(turns) do
  local before, after = as_set(turn.before), as_set(turn.after)
  for _, phrase in ipairs(turn[1]) do
    phrases[#phrases + 1] = { text = phrase, instead = turn[2], before = before, after = after }
  end
end

local function is_border(c) return not c:find "[%w_'-]" end

-- Where the phrase begins in `text`, at `from` or later; nil: nowhere. `text` has one blank between
-- words.
local function find(text, phrase, from)
  while true do
    local first, last = text:find(phrase.text, from, true)
    if not first then return nil end
    local is_begin = first == 1 or is_border(text:sub(first - 1, first - 1))
    local is_whole = is_begin and is_border(text:sub(last + 1, last + 1))
    local before = text:sub(1, first - 1):match "([%w']+) $"
    local after = text:sub(last + 1):match "^ ([%w']+)"
    if is_whole and not phrase.before[before or ""] and not phrase.after[after or ""] then return first end
    from = first + 1
  end
end

local LINE_BEGIN, LINE_END = "\1", "\2"

-- The text without quotations and words in capitals: those are code, messages and names.
local function own_words(text)
  text = text:gsub("``?[^`]*``?", "`"):gsub('"[^"]*"', '"'):gsub("%f[%w]%u%u+%f[%W]", "X")
  return (text:lower():gsub("%s+", " "))
end

-- Calls found(words) for each turn that begins in the line `text`. The next line may end it, and
-- the line before may make it plain English; either may be missing.
function M.find_turns(text, found, text_before, next_text)
  local own = (text_before or "") .. " " .. LINE_BEGIN .. text .. " " .. LINE_END .. (next_text or "")
  own = own_words(own):gsub(LINE_BEGIN .. " ?", LINE_BEGIN):gsub(LINE_END .. " ?", LINE_END)
  local min = own:find(LINE_BEGIN, 1, true) or 1
  own = own:gsub(LINE_BEGIN, "")
  local max = (own:find(LINE_END, 1, true) or #own + 1) - 1
  own = own:gsub(LINE_END, "")
  for _, phrase in ipairs(phrases) do
    if (find(own, phrase, min) or math.huge) <= max then
      found(("'%s': in plain English that is %s"):format(phrase.text, phrase.instead))
    end
  end
end

-- Lines of Markdown outside of fenced code.
local function markdown(lines)
  local text, fence = {}, nil
  for i, line in ipairs(lines) do
    local mark = line:match "^%s*(```+)" or line:match "^%s*(~~~+)"
    if fence then
      if mark and mark:sub(1, #fence) == fence then fence = nil end
    elseif mark then
      fence = mark
    else
      text[i] = line
    end
  end
  return text
end

function rules.turns(file, report)
  local text = file.kind == "md" and markdown(file.lines) or file.comments
  local function continued(i) return file.kind == "md" or file.is_continued[i] end
  for i = 1, text and #file.lines or 0 do
    if text[i] then
      local before, following = continued(i - 1) and text[i - 1], continued(i) and text[i + 1]
      M.find_turns(text[i], function(words) report(i, words) end, before, following)
    end
  end
end

-- not_done.list: a rule and a file, or a folder for the files in it, a line. Returns covers(rule,
-- path), and rest(): the entries that covered nothing, as "rule path".
function M.not_done(text)
  local entries = {}
  for line in text:gmatch "[^\n]+" do
    local rule, path = line:match "^([%w-]+) (%S+)$"
    if rule and rules[rule] then
      entries[line] = false
    elseif not line:find "^#" then
      error("not_done.list: a rule of prose.lua and a path, not '" .. line .. "'")
    end
    if path and path:sub(-1) == "/" then error("not_done.list: '" .. path .. "' ends in /") end
  end
  local function covers(rule, path)
    for _, at in ipairs { path, path:match "^(.*)/[^/]*$" or "." } do
      local entry = rule .. " " .. at
      if entries[entry] ~= nil then
        entries[entry] = true
        return true
      end
    end
    return false
  end
  local function rest()
    local list = {}
    for entry, is_used in pairs(entries) do
      if not is_used then list[#list + 1] = entry end
    end
    table.sort(list)
    return list
  end
  return covers, rest
end

-- The list without the given entries.
function M.without(text, entries)
  local gone = as_set(entries)
  return (text:gsub("[^\n]+\n", function(line) return gone[line:sub(1, -2)] and "" or nil end))
end

return M
