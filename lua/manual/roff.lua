-- roff.lua - writes text in roff, with the man macros, like lua/cli/help/cmd_man.c.
local M = {}

-- The code point of a character of UTF-8.
local function code_point(character)
  local first = character:byte()
  local value = first >= 0xf0 and first - 0xf0 or first >= 0xe0 and first - 0xe0 or first - 0xc0
  for i = 2, #character do
    value = value * 64 + character:byte(i) - 0x80
  end
  return ("\\[u%04X]"):format(value)
end

--- Escapes what roff would interpret: a backslash, a dash, a line that looks like a request.
---@param text string
---@return string
function M.escape(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("[\194-\244][\128-\191]+", code_point)
    :gsub("%f[^\n%z]([.'])", "\\&%1"))
end

--- Returns a list item: a term in bold, and its text.
---@param term string
---@param text string
---@return string
function M.item(term, text)
  return (".TP\n\\fB%s\\fR\n%s\n"):format(M.escape(term), M.escape(text ~= "" and text or "\160"):gsub("\160", "\\&"))
end

--- Returns lines unchanged, as code.
---@param text string
---@return string
function M.code(text)
  return (".PP\n.RS 4\n.nf\n%s\n.fi\n.RE\n"):format(M.escape(text))
end

--- Returns paragraphs, which empty lines separate; indented lines stay as they are.
---@param text string
---@return string
function M.paragraphs(text)
  local out, lines, is_code = {}, {}, false
  local function flush()
    if #lines > 0 then
      local block = table.concat(lines, "\n")
      out[#out + 1] = is_code and M.code(block) or ".PP\n" .. M.escape(block) .. "\n"
      lines = {}
    end
  end
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local indented = line:find "^%s%s+%S" ~= nil
    if line == "" or #lines > 0 and indented ~= is_code then
      flush()
    end
    if line ~= "" then
      is_code = indented
      lines[#lines + 1] = line
    end
  end
  flush()
  return table.concat(out)
end

--- Returns the title line and the section NAME.
---@param title string
---@param section integer
---@param about string the text after the name
---@param version string
---@param part string of the manual
---@return string
function M.head(title, section, about, version, part)
  return ('.TH %s %d "" "tidemill %s" "%s"\n.SH NAME\n%s \\- %s\n'):format(
    M.escape(title:upper()), section, version, part, M.escape(title), M.escape(about))
end

return M
