-- header.lua - writes the manual page tidemill.h(3) from the comments of tidemill.h and of the
-- headers that it includes. A comment describes the declaration after it. A comment with an empty
-- line after it is a text of its own. A comment that begins with "----" begins a section, and so
-- does the head of an included header.
--
--   text -> parts: { kind = "section"|"text"|"declaration"|"codes", ... } -> roff
local library = require "manual.library"
local roff = require "manual.roff"

local M = {}

-- Returns the text of a comment, given as lines, without its stars.
local function comment_text(lines)
  local text = table.concat(lines, "\n"):gsub("^/%*", ""):gsub("%*/%s*$", "")
  local out = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do
    out[#out + 1] = line:gsub("^ ?%* ?", ""):gsub("^ (%S)", "%1"):gsub("%s+$", "")
  end
  return (table.concat(out, "\n"):gsub("^\n+", ""):gsub("%s+$", ""))
end

-- Whether a line is only for the compiler.
local function is_machinery(line)
  return line:find "^#include" or line:find "^#if" or line:find "^#endif" or line:find "^#undef"
    or line:find '^extern "C"' or line:find "^}$" or line:find "^#define TIDEMILL_[%u_]*H$"
    or line:find "^#define TIDEMILL_API " or line:find "^#define TIDEMILL_XX"
end

local function without_comments(text)
  return (text:gsub("/%*.-%*/", ""))
end

-- Whether a declaration is complete: all brackets are closed, and it ends in a semicolon.
local function is_whole(text)
  local code = without_comments(text)
  local _, opened = code:gsub("[{(]", "")
  local _, closed = code:gsub("[})]", "")
  return opened == closed and code:find ";%s*$" ~= nil
end

local function codes_of(text)
  local rows = {}
  for name, code, words in text:gmatch 'XX%((%w+), (%-?%d+), "(.-)"%)' do
    rows[#rows + 1] = { name = "TIDEMILL_" .. name, code = code, words = words }
  end
  return rows
end

-- Reads the declaration at lines[i]. Returns the part, and the number of the next line.
local function read_declaration(lines, i, text)
  local found = { lines[i] }
  local is_macro = lines[i]:find "^#define"
  local function goes_on()
    if is_macro then
      return found[#found]:find "\\$" ~= nil
    end
    return not is_whole(table.concat(found, "\n"))
  end
  while lines[i + 1] and goes_on() do
    i = i + 1
    found[#found + 1] = lines[i]
  end
  local code = table.concat(found, "\n")
  if code:find "^#define TIDEMILL_ERROR_MAP" then
    return { kind = "codes", text = text:gsub("\n.*", ""), codes = codes_of(code) }, i + 1
  elseif is_macro then
    code = code:match "^#define ([%w_]+)"
  end
  if code:find "^TIDEMILL_API " then -- continued lines are indented after it
    code = code:sub(#"TIDEMILL_API " + 1):gsub("\n" .. (" "):rep(#"TIDEMILL_API ") .. "( +)", "\n%1")
  end
  return { kind = "declaration", text = text, code = code }, i + 1
end

local function read_comment(lines, i)
  local found = { lines[i] }
  while not lines[i]:find "%*/%s*$" do
    i = i + 1
    found[#found + 1] = lines[i]
  end
  return comment_text(found), i + 1
end

-- Adds a comment without a declaration.
local function add_free(parts, text)
  local title, rest = text:match "^%-%-%-%- (.-) %-%-%-%-%s*(.*)$"
  local name, about, below = text:match "^(tidemill/%w+%.h) %- (.-)%.%s*(.*)$"
  if title or name then
    parts[#parts + 1] = { kind = "section", title = title or about }
    text = rest or ("  #include <%s>\n\n%s"):format(name, below)
  end
  if text ~= "" then
    parts[#parts + 1] = { kind = "text", text = text }
  end
end

--- Splits a header into its parts, in order.
---@param source string
---@return table[]
function M.read(source)
  local lines, parts, i, pending = {}, {}, 1, ""
  for line in (source .. "\n"):gmatch "(.-)\n" do
    lines[#lines + 1] = line
  end
  while lines[i] do
    local line = lines[i]
    if line:find "^/%*" then
      add_free(parts, pending)
      pending, i = read_comment(lines, i)
    elseif line == "" or is_machinery(line) then
      add_free(parts, pending)
      pending, i = "", i + 1
    else
      parts[#parts + 1], i = read_declaration(lines, i, pending)
      pending = ""
    end
  end
  add_free(parts, pending)
  return parts
end

local writers = {}

function writers.section(part)
  return (".SH %s\n"):format(roff.escape(part.title:upper()))
end

function writers.text(part)
  return roff.paragraphs(part.text)
end

function writers.codes(part)
  local out = { roff.paragraphs(part.text) }
  for _, code in ipairs(part.codes) do
    out[#out + 1] = roff.item(("%s (%s)"):format(code.name, code.code), code.words)
  end
  return table.concat(out)
end

function writers.declaration(part)
  local code = ('.PP\n.nf\n.ft B\n%s\n.ft R\n.fi\n'):format(roff.escape(part.code))
  return part.text == "" and code or code .. ".RS 4\n" .. roff.escape(part.text) .. "\n.RE\n"
end

--- Reads tidemill.h and then each header that it includes, as one text.
---@param folder string that contains tidemill.h
---@return string
function M.source(folder)
  local texts = { library.read_file(folder .. "/tidemill.h") }
  for name in texts[1]:gmatch "#include <(tidemill/%w+%.h)>" do
    texts[#texts + 1] = library.read_file(folder .. "/" .. name)
  end
  return table.concat(texts, "\n")
end

--- Returns the page.
---@param source string as M.source() returns it
---@param version string
---@return string
function M.page(source, version)
  local parts = M.read(source)
  local about, text = parts[1].text:match "^tidemill%.h %- (.-)%.\n(.*)$"
  parts[1].text = text
  local out = {
    roff.head("tidemill.h", 3, about:gsub("%s+", " "), version, "Library Functions"),
    ".SH SYNOPSIS\n.nf\n.ft B\n#include <tidemill.h>\n.ft R\n.PP\n",
    roff.escape "cc host.c $(pkg-config --cflags --libs tidemill)" .. "\n.fi\n",
    ".SH DESCRIPTION\n",
  }
  for _, part in ipairs(parts) do
    out[#out + 1] = writers[part.kind](part)
  end
  out[#out + 1] = ".SH SEE ALSO\n\\fBtidemill\\fR(1), \\fBtidemill\\-entry\\-script\\fR(7)\n"
  return table.concat(out)
end

return M
