-- entry_script.lua - the manual page tidemill-entry-script(7): what an entry script may define, and what it can reach.
-- That comes from the doc comments of stdlib/; the text between is here.
local roff = require "manual.roff"
local library = require "manual.library"

local M = {}

-- In the order of the page: { heading, text, classes = { name, what stands before a field }, modules = {...} }.
local sections = {
  { "DESCRIPTION", [[
An entry script is a Lua file that says what is done with a few items: files, entries of archives, or rows of
tables. tidemill cuts the input into mini-batches and calls the script's function run() for each, in worker
processes: what it returns goes to the output of the step, each row exactly once.

Each worker is a process of its own with a Lua state of its own, in which the file is loaded once. The script's
words are in `...` and in the global `arg`: the `arguments` of the step but for those that the runner takes.
`require` looks in the script's folder first. What is in the file and not in a function runs when the worker
starts.]] },
  { "HOOKS", [[
The file defines these functions as globals, or returns a table with them.]], classes = { { "tidemill.Hooks", "" } } },
  { "WHAT RUN() IS GIVEN", [[
Over a dataset of files: an array of absolute paths, as many as `mini_batch_size` says. Over a table: a data frame
of the rows of a piece of one file, which ends when run() returns; df:copy() is what to keep. With
`partition_keys`: all items with the same values of these columns. A script whose run() takes one argument does
not notice the context.]] },
  { "WHAT RUN() RETURNS", [[
An array or a data frame. Each element, or row, stands for one item that succeeded. Output order is not promised,
so enough has to be in it to find its item again.

With the output action append_row each element becomes a line of the output file. A string is written as it is; a
line break in it is an error, unless `append_row_line_break` is "escape". A number is written so that it reads
back as the same number, a boolean as true or false, a table as one line of JSON. JSON has no nan and no inf: such
a number in a table becomes null, and one warning a step says so. A data frame becomes delimited rows: with one
header line and the file's separator where the output file ends in .csv or .tsv, else between blanks and without a
header. Its dates and doubles are written as they were read: 2026-01-31, 175.0.

With summary_only what is in the elements does not count; their number does.

Fewer elements than items: the missing ones count as failed, which alone is no reason to try again. More: a
warning, once. Anything else that is returned (nil, a number, an array with holes) fails the try, and the message
says what it was.]] },
  { "CONTEXT", [[
The second argument of run().]],
    classes = { { "tidemill.Context", "context." }, { "tidemill.Part", "part." }, { "tidemill.Reader", "reader:" } } },
  { "ENTRYSCRIPT", [[
What a script may ask of its worker:

  local EntryScript = require "tidemill.entry_script"
  local entry = EntryScript()      -- the same object each time
  entry.logger:info("threshold %g", 0.5)

The folders are there when init() is called.]],
    classes = { { "tidemill.EntryScript", "entry." }, { "tidemill.Logger", "entry.logger:" } } },
  { "OUTPUT", [[
print() and io.write() go to the file logs/user/stdout/<node_id>/<process_name>.stdout.txt of the step, standard
error to the same below stderr; standard input is empty. A program that the script starts inherits them, and ends
with the try that started it when that is killed. What a script writes into output_dir by itself may be written
twice, when a mini-batch is tried again; what it writes to context:output_file(name), or in another
output to context:output_file(name, output), is there once.]] },
  { "MODULES", [[
Beside Lua's own and LuaJIT's, an entry script may require these. The reference of the Lua API (lua-api.md in the
folder of the documentation) says all of them in full, and so does help(x) at the prompt. What fails outside
returns nil, a message and a code ("ENOENT"), so that assert() raises the message; a wrong argument raises at the
caller's line.]],
    modules = { "tidemill.fs", "tidemill.path", "tidemill.process", "tidemill.json", "tidemill.argparse",
                "tidemill.frame" } },
  { "DATA FRAMES", [[
Rows in columns of one type each, in C memory: what run() is given over a table, and what it may return. A frame
does not change; every method returns a new one, which shares columns. Rows count from 1; a null is nil in Lua.]],
    summaries = { "tidemill.DataFrame", "tidemill.Row", "tidemill.Column", "tidemill.Groups" } },
}

local function add_fields(out, head, before)
  for _, tag in ipairs(head.tags) do
    if tag.tag == "field" then
      local kind, words = library.split_type(tag.text)
      local name = before .. tag.name
      if kind:find "^fun%(" then
        name, kind = name:gsub("%?$", "") .. kind:sub(4):gsub("self: [%w_%.]+,? ?", ""):gsub("self,? ?", ""), nil
      end
      local optional = tag.name:find "%?$" and kind == nil and "Optional: " or ""
      out[#out + 1] = roff.item(name .. (kind and "  " .. kind or ""), optional .. words)
    end
  end
end

-- What is said of the parameters and of what comes back.
local function tag_words(entry)
  local out = {}
  for _, tag in ipairs(entry.tags) do
    local kind, words = library.split_type(tag.text)
    if tag.tag == "param" and words ~= "" then
      out[#out + 1] = ("%s (%s): %s."):format(tag.name, kind, words:gsub("%.$", ""))
    end
  end
  return table.concat(out, "\n")
end

local function member_name(entry, before)
  return ("%s%s(%s)"):format(before, entry.name, entry.params or "")
end

local function add_class(out, found, name, before)
  local class = assert(found.classes[name], name)
  for _, head in ipairs(class.heads) do
    if head.text ~= "" then
      out[#out + 1] = roff.paragraphs(head.text)
    end
    add_fields(out, head, before)
  end
  for _, entry in ipairs(class.members) do
    local words = tag_words(entry)
    local text = entry.text .. (words ~= "" and "\n" .. words or "")
    out[#out + 1] = roff.item(member_name(entry, before:gsub("%.$", ":")), text)
  end
end

-- What stands before an example.
local function first_paragraph(entry)
  return (entry.text:gsub("\n%s*\n.*", ""))
end

local function add_module(out, found, module)
  out[#out + 1] = (".SS %s\n"):format(roff.escape(module))
  for _, head in ipairs(found.classes[module] and found.classes[module].heads or {}) do
    out[#out + 1] = head.text ~= "" and roff.paragraphs(head.text) or nil
  end
  for _, entry in ipairs(found.functions[module] or {}) do
    out[#out + 1] = roff.item(entry.kind == "function" and ("%s(%s)"):format(entry.path, entry.params) or entry.path,
      first_paragraph(entry))
  end
end

local function add_summary(out, found, name)
  local class = assert(found.classes[name], name)
  out[#out + 1] = (".SS %s\n"):format(roff.escape(name:match "[^%.]+$"))
  for _, head in ipairs(class.heads) do
    out[#out + 1] = head.text ~= "" and roff.paragraphs(head.text) or nil
    add_fields(out, head, "")
  end
  for _, entry in ipairs(class.members) do
    out[#out + 1] = roff.item(member_name(entry, ":"), first_paragraph(entry))
  end
end

local function add_section(out, found, section)
  out[#out + 1] = (".SH %s\n%s"):format(section[1], roff.paragraphs(section[2]))
  for _, class in ipairs(section.classes or {}) do
    add_class(out, found, class[1], class[2])
  end
  for _, module in ipairs(section.modules or {}) do
    add_module(out, found, module)
  end
  for _, name in ipairs(section.summaries or {}) do
    add_summary(out, found, name)
  end
end

--- The page.
---@param found table what library.open() returned
---@param version string
---@param example string an entry script
---@return string
function M.page(found, version, example)
  local out = { roff.head("tidemill-entry-script", 7, "what an entry script of tidemill may define and reach", version,
                          "Entry Scripts") }
  for _, section in ipairs(sections) do
    add_section(out, found, section)
  end
  out[#out + 1] = ".SH EXAMPLE\n" .. roff.code((example:gsub("%s+$", "")))
  out[#out + 1] = ".SH SEE ALSO\n\\fBtidemill\\fR(1), \\fBtidemill.h\\fR(3)\n"
  return table.concat(out)
end

return M
