-- text.lua - data frames as text: on a terminal, in delimited files, as JSON lines.
local base = require "tidemill.frame.base"
local c = require "tidemill.frame_c"

local STRING, BOOL = base.STRING, base.BOOL
local refuse = base.refuse

---@class tidemill.DataFrame
local M = {}

-- ---- on a terminal ----

local ROWS_SHOWN, HEAD, TAIL, CELL, WIDTH = 20, 10, 5, 32, 100

local function width_of(text)
  return #text:gsub("[\128-\191]", "")
end

-- One line of at most CELL characters.
local function cell(column, i)
  if column:is_null(i) then
    return "null"
  end
  local text = c.text(column, i - 1):gsub("%c", function(control)
    return control == "\n" and "\\n" or control == "\t" and "\\t" or ("\\x%02x"):format(control:byte())
  end)
  if width_of(text) <= CELL then
    return text
  end
  local kept = {}
  for char in text:gmatch "[%z\1-\127\192-\255][\128-\191]*" do
    kept[#kept + 1] = char
    if #kept == CELL - 3 then
      break
    end
  end
  return table.concat(kept) .. "..."
end

local function rows_shown(len)
  local list = {}
  for i = 1, len <= ROWS_SHOWN and len or HEAD do
    list[i] = i
  end
  for i = len - TAIL + 1, len > ROWS_SHOWN and len or len - TAIL do
    list[#list + 1] = i
  end
  return list
end

local function shown_column(state, place, list)
  local column, cells = state.columns[place], {}
  local kind = base.handle(column).column.type
  cells[1], cells[2] = state.names[place], base.type_names[kind]
  for _, i in ipairs(list) do
    cells[#cells + 1] = cell(column, i)
  end
  local widest = 0
  for _, text in ipairs(cells) do
    widest = math.max(widest, width_of(text))
  end
  for i, text in ipairs(cells) do
    local blanks = (" "):rep(widest - width_of(text))
    cells[i] = (kind == STRING or kind == BOOL) and text .. blanks or blanks .. text
  end
  return cells, widest
end

local function lines_of(state)
  local list, width, lines, shown = rows_shown(state.len), 0, {}, 0
  for place = 1, #state.names do
    local cells, widest = shown_column(state, place, list)
    if place > 1 and width + widest + 2 > WIDTH then
      break
    end
    width, shown = width + widest + 2, place
    for i, text in ipairs(cells) do
      lines[i] = (lines[i] and lines[i] .. "  " or "") .. text
    end
  end
  return lines, shown
end

--- Renders the frame as a table: names, types and values; of many rows, only the first and the
--- last.
base.frame_meta.__tostring = function(df)
  local state = base.state(df, "tostring")
  local lines, shown = lines_of(state)
  local text = { ("data frame of %d rows, %d columns"):format(state.len, #state.names) }
  for i, line in ipairs(lines) do
    text[#text + 1] = (line:gsub("%s+$", ""))
    if state.len > ROWS_SHOWN and i == HEAD + 2 then
      text[#text + 1] = ("... %d more"):format(state.len - HEAD - TAIL)
    end
  end
  if shown < #state.names then
    text[#text + 1] = ("and %d more columns: %s"):format(#state.names - shown,
      table.concat(state.names, ", ", shown + 1))
  end
  return table.concat(text, "\n")
end

-- ---- delimited ----

local function delimited_options(what, options)
  options = base.options(what, options, { separator = "string", header = "boolean" })
  local separator = options.separator or ","
  if #separator ~= 1 or separator:find '["\r\n%z]' then
    refuse("%s: option 'separator' is %q; accepted: one character, none of '\"' and line breaks", what, separator)
  end
  return separator, options.header ~= false
end

--- Writes a delimited file; it appears complete or not at all. Fields are quoted where needed. Null
--- is an empty field, and "" is two quotes. (In a frame of one column a null is "" as well, because
--- an empty line would not be a row.) A double has a point or an exponent, as in 175.0, so that it
--- is read as a double again. A datetime is 2026-01-31T10:00:00Z; in a column that was read from
--- dates without times, midnight is 2026-01-31.
---
---     local df = frame.from_table { { "a", { 1, 2 } }, { "b", { "x", "y, z" } } }
---     assert(df:write_csv(path))
---     assert(fs.read(path) == 'a,b\n1,x\n2,"y, z"\n')
---@param path string
---@param options? {separator?: string, header?: boolean} ",", true
---@return true? ok
---@return string? message
---@return string? code
function M.write_csv(df, path, options)
  local state = base.state(df, "write_csv")
  base.check_path("write_csv", path)
  local separator, header = delimited_options("write_csv", options)
  return c.write(state.columns, state.names, separator, header, path)
end

--- Returns the text that write_csv() writes.
---
---     local df = frame.from_table { a = { 1, 2 } }
---     assert(df:to_csv() == "a\n1\n2\n")
---@param options? {separator?: string, header?: boolean}
---@return string
function M.to_csv(df, options)
  local state = base.state(df, "to_csv")
  if type(options) == "string" then
    refuse "to_csv: a string was given; accepted: options in a table; df:write_csv(path) writes a file"
  end
  local separator, header = delimited_options("to_csv", options)
  return c.delimited(state.columns, state.names, separator, header)
end

-- ---- JSON lines ----

--- Writes a JSON object on a line for each row; the file appears complete or not at all. Null is
--- null, and so are NaN and infinity; a datetime is a string, as in a delimited file.
---
---     local df = frame.from_table { a = { 1, nil }, b = { "x", "y" } }
---     assert(df:write_json_lines(path))
---     assert(fs.read(path) == '{"a":1,"b":"x"}\n{"a":null,"b":"y"}\n')
---@param path string
---@return true? ok
---@return string? message
---@return string? code
function M.write_json_lines(df, path)
  local state = base.state(df, "write_json_lines")
  base.check_path("write_json_lines", path)
  return c.write_lines(state.columns, state.names, path)
end

return M
