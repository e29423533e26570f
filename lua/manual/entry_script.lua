-- entry_script.lua - writes the manual page tidemill-entry-script(7) from the doc comments of
-- stdlib/ and the text here.
local roff = require "manual.roff"
local library = require "manual.library"

local M = {}

-- In the order of the page: { heading, text, classes = { name, prefix of each field }, modules =
-- {...} }.
local sections = {
  { "DESCRIPTION", [[
An entry script is a Lua file that processes a few items at a time: files, entries of archives, or rows of tables.
tidemill splits the input into mini-batches and calls the script's function run() for each, in worker processes.
What run() returns goes to the output of the step, each row exactly once.

Each worker is a process with a Lua state of its own, which loads the file once. The script's arguments are in `...`
and in the global `arg`: the `arguments` of the step except for those that the runner takes. `require` searches the
script's folder first. Code outside functions runs when the worker starts.]] },
  { "HOOKS", [[
The file defines these functions as globals, or returns a table with them.]], classes = { { "tidemill.Hooks", "" } } },
  { "WHAT RUN() IS GIVEN", [[
For a dataset of files, run() gets an array of absolute paths; `mini_batch_size` says how many. For a table, it gets
a data frame with the rows of a piece of one file. The frame is invalid after run() has returned; keep df:copy()
instead. With `partition_keys`, run() gets all items with the same values in these columns. The second argument is
the context; a run() with one parameter can ignore it.]] },
  { "WHAT RUN() RETURNS", [[
run() returns an array or a data frame. Each element, or row, stands for one item that succeeded. The output may be
in any order, so put enough into each row to identify its item.

With the output action append_row, each element becomes a line of the output file. A string is written as it is; a
line break in it is an error, unless `append_row_line_break` is "escape". A number is written so that it reads
back as the same number, a boolean as true or false, a table as one line of JSON. JSON has no nan and no inf: such
a number in a table becomes null, with one warning per step. A data frame becomes delimited rows: if the output file
ends in .csv or .tsv, with one header line and the separator of that format, otherwise with blanks and without a
header. Dates and doubles are written as they were read: 2026-01-31, 175.0.

With summary_only, only the number of elements counts.

If there are fewer elements than items, the missing ones count as failed; this alone does not repeat the try. If
there are more, tidemill warns once. Any other result (nil, a number, an array with holes) fails the try, and the
message says what it was.]] },
  { "CONTEXT", [[
The second argument of run().]],
    classes = { { "tidemill.Context", "context." }, { "tidemill.Part", "part." }, { "tidemill.Reader", "reader:" } } },
  { "ENTRYSCRIPT", [[
What a worker offers to its script:

  local EntryScript = require "tidemill.entry_script"
  local entry = EntryScript()      -- the same object each time
  entry.logger:info("threshold %g", 0.5)

The folders exist when init() is called.]],
    classes = { { "tidemill.EntryScript", "entry." }, { "tidemill.Logger", "entry.logger:" } } },
  { "OUTPUT", [[
print() and io.write() write to the file logs/user/stdout/<node_id>/<process_name>.stdout.txt of the step, and
standard error goes to a similar file below stderr. Standard input is empty. Programs that the script starts inherit
these, and are killed when the worker is killed. A file that a script writes to output_dir directly may be written
twice, if its mini-batch is tried again. A file at the path from context:output_file(name), or
context:output_file(name, output) for another output, appears exactly once.]] },
  { "MODULES", [[
An entry script may require Lua's and LuaJIT's own modules, and these. The reference of the Lua API (lua-api.md in
the folder of the documentation) and help(x) at the prompt describe them completely. A function that fails returns
nil, a message and a code ("ENOENT"), so that assert() raises the message; a wrong argument raises at the caller's
line.]],
    modules = { "tidemill.fs", "tidemill.path", "tidemill.process", "tidemill.json", "tidemill.argparse",
                "tidemill.frame", "tidemill.tensor", "tidemill.image", "tidemill.onnx", "tidemill.tokenizer" } },
  { "DATA FRAMES", [[
Rows in columns of one type each, in C memory. For a table, run() gets a frame and may return one. A frame never
changes; every method returns a new one, which shares columns. Rows are numbered from 1; a null is nil in Lua.]],
    summaries = { "tidemill.DataFrame", "tidemill.Row", "tidemill.Column", "tidemill.Groups" } },
  { "TENSORS", [[
Numbers of one type in C memory, of any rank, for models and pictures. Places are numbered from 1. A slice shares the
memory of its tensor.]],
    summaries = { "tidemill.Tensor" } },
  { "MODELS", [[
A model in ONNX format, run by ONNX Runtime, which is searched for when it is first needed: by TIDEMILL_ONNXRUNTIME, in
the script's folder and module_paths, in a node_modules there or above, in ~/.local/share/tidemill, and in the
system's libraries. Load models in init().]],
    summaries = { "tidemill.InferenceSession" } },
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

-- The descriptions of the parameters and results.
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

-- The text before an example.
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
