-- argparse.lua - a script's arguments as named values, like Python's argparse.
--
--   local argparse = require "tidemill.argparse"
--   local parser = argparse.ArgumentParser { description = "scores images" }
--   parser:add_argument("--threshold", "-t", { type = "number", default = 0.5, help = "minimum" })
--   parser:add_argument("--verbose", { action = "store_true" })
--   local args = parser:parse_args()              -- reads `arg`: args.threshold, args.verbose
--   local known, rest = parser:parse_known_args() -- returns unknown arguments in `rest`, in order
--
-- Names must be exact: an abbreviation is another name. Accepted: `--name value`, `--name=value`,
-- `-n value`, `-nvalue`; a negative number is a value. An invalid argument raises, with the
-- argument and what is accepted. In a worker this fails init() or the loading of the script; the
-- process does not exit.
local lookup = require "tidemill.names"
local plan = require "tidemill.plan"

--- Reads a script's arguments as named values, like Python's argparse. Names must be exact: an
--- abbreviation is another name.
---@class tidemill.argparse
local M = {}

---@class tidemill.ArgumentOptions
---@field type? "string"|"number"|"integer"|"boolean"|fun(text: string): any how the value is read;
--- "str", "float", "int" and "bool" are the same; for a value that it does not accept, a function
--- returns nil and a message, or raises
---@field default? any the value if the argument is not given; it is used as it is
---@field required? boolean whether an option must be given
---@field choices? any[] the only accepted values
---@field action? "store"|"store_true"|"store_false"|"append"|"count" what an option does; by
--- default "store"
---@field nargs? integer|"?"|"*"|"+" the number of values, which become a list; "?": one or none
---@field dest? string the name of the field; by default the first long name, with '_' for '-'
---@field metavar? string the name of the value in the help
---@field help? string one line

---@class tidemill.ArgumentParser
---@field private options table[] in order
---@field private by_name table<string, table>
---@field private positionals table[]
---@field private prog string
---@field private description? string
local Parser = {}
Parser.__index = lookup.guarded("the parser", Parser)

local function refuse(format, ...)
  plan.raise("argparse: " .. format:format(...))
end

local function check_self(self, method)
  if getmetatable(self) ~= Parser then
    refuse("%s was called with a dot; accepted: a colon, parser:%s(...)", method, method)
  end
end

-- ---- defining arguments ----

local function number_of(text)
  return tonumber(text) or nil, "a number"
end

local readers = {
  string = function(text) return text end,
  number = number_of,
  integer = function(text)
    local value = text:match "^%s*[+-]?%d+%s*$" and tonumber(text)
    return value or nil, "an integer"
  end,
  boolean = function(text)
    if text == "true" or text == "false" then
      return text == "true"
    end
    return nil, "true or false"
  end,
}

-- Python's names of types.
readers.str, readers.int, readers.float, readers.bool = readers.string, readers.integer, readers.number, readers.boolean

local ACTIONS = { store = true, store_true = true, store_false = true, append = true, count = true }
local KEYS = { type = true, default = true, required = true, choices = true, action = true, nargs = true, dest = true,
               metavar = true, help = true }

local function is_flag(argument)
  return argument.action == "store_true" or argument.action == "store_false" or argument.action == "count"
end

-- The smallest and the largest number of values.
local function bounds(nargs)
  if nargs == "?" then return 0, 1 end
  if nargs == "*" then return 0, math.huge end
  if nargs == "+" then return 1, math.huge end
  return nargs or 1, nargs or 1
end

-- Names and options that were given in one table: { "--name", "-n", type = "integer" }.
local function split_table(given)
  local names, options = {}, {}
  for key, value in pairs(given) do
    local to = type(key) == "number" and names or options
    to[key] = value
  end
  return names, options
end

local function split_names(...)
  local names, options = { ... }, {}
  if type(names[#names]) == "table" then
    options = table.remove(names)
  end
  if #names == 0 then
    names, options = split_table(options)
  end
  if #names == 0 then
    refuse "add_argument: a name is missing; accepted: \"--name\", \"-n\", \"name\""
  end
  for _, name in ipairs(names) do
    if type(name) ~= "string" or not name:find "^%-?%-?[%w][%w_.-]*$" then
      refuse("add_argument: '%s' is not a name; accepted: \"--name\", \"-n\", \"name\"", tostring(name))
    end
    if #names > 1 and name:sub(1, 1) ~= "-" then
      refuse("add_argument: '%s' is a positional argument, which has one name", name)
    end
  end
  return names, options
end

local function dest_of(names)
  local chosen = names[1]
  for i = #names, 1, -1 do
    chosen = names[i]:sub(1, 2) == "--" and names[i] or chosen
  end
  return (chosen:gsub("^%-+", ""):gsub("%-", "_"))
end

local function check_options(name, o)
  for key in pairs(o) do
    if not KEYS[key] then
      refuse("add_argument '%s': unknown key '%s'; known: action, choices, default, dest, help, metavar, nargs, "
        .. "required, type", name, tostring(key))
    end
  end
  if o.action ~= nil and not ACTIONS[o.action] then
    refuse("add_argument '%s': 'action' is '%s'; accepted: store, store_true, store_false, append or count", name,
      tostring(o.action))
  end
  if o.type ~= nil and type(o.type) ~= "function" and not readers[o.type] then
    refuse("add_argument '%s': 'type' is '%s'; accepted: string, number, integer, boolean, or a function", name,
      tostring(o.type))
  end
  local is_count = type(o.nargs) == "number" and o.nargs >= 1 and o.nargs % 1 == 0
  if o.nargs ~= nil and not is_count and o.nargs ~= "?" and o.nargs ~= "*" and o.nargs ~= "+" then
    refuse("add_argument '%s': 'nargs' is '%s'; accepted: an integer from 1 on, \"?\", \"*\" or \"+\"", name,
      tostring(o.nargs))
  end
  if o.nargs ~= nil and (is_flag(o) or o.action == "append") then
    refuse("add_argument '%s': 'nargs' does not go with the action '%s'", name, o.action)
  end
end

--- Adds an argument: a positional one (`"model"`), or an option with its names (`"--threshold",
--- "-t"`). Names and options may also be in one table: `{ "--threshold", type = "number" }`.
---@param ... string|tidemill.ArgumentOptions names, then the options
function Parser:add_argument(...)
  check_self(self, "add_argument")
  local names, o = split_names(...)
  check_options(names[1], o)
  local argument = { names = names, action = o.action or "store", nargs = o.nargs, default = o.default, help = o.help,
                     read = type(o.type) == "function" and o.type or readers[o.type or "string"],
                     choices = o.choices, dest = o.dest or dest_of(names), required = o.required, metavar = o.metavar }
  argument.is_option = names[1]:sub(1, 1) == "-"
  if not argument.is_option then
    if is_flag(argument) or argument.action == "append" then
      refuse("add_argument '%s': a positional argument has no action '%s'", names[1], argument.action)
    end
    argument.required = bounds(o.nargs) > 0
    self.positionals[#self.positionals + 1] = argument
    return
  end
  for _, name in ipairs(names) do
    if self.by_name[name] then
      refuse("add_argument: '%s' is there already", name)
    end
    self.by_name[name] = argument
  end
  self.options[#self.options + 1] = argument
end

---@class tidemill.ArgumentParserFields
---@field prog? string the script's name in the help
---@field description? string

---@param fields? tidemill.ArgumentParserFields
---@return tidemill.ArgumentParser
function M.ArgumentParser(fields)
  fields = fields == nil and {} or fields
  if type(fields) ~= "table" or getmetatable(fields) then
    refuse("ArgumentParser: the argument is a %s; accepted: a table { prog, description }", type(fields))
  end
  return setmetatable({ options = {}, by_name = {}, positionals = {}, description = fields.description or false,
                        prog = fields.prog or (type(arg) == "table" and type(arg[0]) == "string"
                          and arg[0]:match "[^/]*$") or "script" }, Parser)
end

-- ---- reading ----

local function shown(argument)
  return argument.is_option and table.concat(argument.names, "/") or "'" .. argument.names[1] .. "'"
end

local function read_value(argument, text)
  local ok, value, accepted = pcall(argument.read, text)
  if not ok or value == nil then
    refuse("argument %s is '%s'; %s", shown(argument), text,
      ok and "accepted: " .. tostring(accepted or "something else") or tostring(value))
  end
  for _, choice in ipairs(argument.choices or { value }) do
    if choice == value then
      return value
    end
  end
  local words = {}
  for i, choice in ipairs(argument.choices) do
    words[i] = "'" .. tostring(choice) .. "'"
  end
  return refuse("argument %s is '%s'; accepted: %s", shown(argument), text, table.concat(words, ", "))
end

local function is_option_word(word)
  return #word > 1 and word:sub(1, 1) == "-" and not tonumber(word)
end

-- The values of an option from word `at` on: as many as it takes, up to the next option.
local function take_values(argument, words, at)
  local least, most = bounds(argument.nargs)
  local values = {}
  while #values < most and words[at] and not is_option_word(words[at]) do
    values[#values + 1] = read_value(argument, words[at])
    at = at + 1
  end
  if #values < least then
    refuse("argument %s: %s", shown(argument),
      least == 1 and "its value is missing" or ("%d of %d values are missing"):format(least - #values, least))
  end
  if argument.nargs == nil or argument.nargs == "?" then
    return values[1], at
  end
  return values, at
end

-- `attached`: the value in the same word, or nil. Returns the next place to read.
local function take_option(argument, found, words, at, attached)
  local field = argument.dest
  if is_flag(argument) then
    if attached then
      refuse("argument %s takes no value; '%s' was given", shown(argument), attached)
    end
    if argument.action == "count" then
      found[field] = (found[field] or 0) + 1
    else
      found[field] = argument.action == "store_true"
    end
    return at
  end
  local value
  if attached then
    value = read_value(argument, attached)
    if type(argument.nargs) == "number" and argument.nargs > 1 then
      refuse("argument %s: %d values are missing", shown(argument), argument.nargs - 1)
    end
    if argument.nargs and argument.nargs ~= "?" then
      value = { value }
    end
  else
    value, at = take_values(argument, words, at)
  end
  if argument.action == "append" then
    found[field] = found[field] or {}
    table.insert(found[field], value)
  else
    found[field] = value
  end
  return at
end

-- Reads "--name=value", "-nvalue" or "-vv". Returns the next place to read, or nil if the name is
-- not known.
local function take_word(self, found, words, at)
  local word = words[at]
  if self.by_name[word] then
    return take_option(self.by_name[word], found, words, at + 1)
  end
  local name, value = word:match "^(%-%-[^=]+)=(.*)$"
  if name and self.by_name[name] then
    return take_option(self.by_name[name], found, words, at + 1, value)
  end
  local short = word:match "^%-[^-]" and self.by_name[word:sub(1, 2)]
  if not short then
    return nil
  end
  if not is_flag(short) then
    return take_option(short, found, words, at + 1, word:sub(3))
  end
  for i = 2, #word do
    local flag = self.by_name["-" .. word:sub(i, i)]
    if not flag or not is_flag(flag) then
      return nil
    end
  end
  for i = 2, #word do
    take_option(self.by_name["-" .. word:sub(i, i)], found, words, at + 1)
  end
  return at + 1
end

-- Gives each positional argument as many words as it takes, but leaves enough for those after it.
-- Returns how many words are used.
local function take_positionals(self, found, words)
  local needed, at = 0, 1
  for _, argument in ipairs(self.positionals) do
    needed = needed + bounds(argument.nargs)
  end
  for _, argument in ipairs(self.positionals) do
    local least, most = bounds(argument.nargs)
    needed = needed - least
    local values = {}
    while #values < most and words[at] and (#values < least or #words - at >= needed) do
      values[#values + 1] = read_value(argument, words[at].word)
      at = at + 1
    end
    if #values < least then
      refuse("argument %s is missing", shown(argument))
    end
    if argument.nargs == nil or argument.nargs == "?" then
      found[argument.dest] = values[1]
    elseif #values > 0 then
      found[argument.dest] = values
    end
  end
  return at - 1
end

local function settle(self, found)
  for _, argument in ipairs(self.options) do
    if found[argument.dest] == nil and argument.required then
      refuse("argument %s is missing", shown(argument))
    end
  end
  for _, list in ipairs { self.options, self.positionals } do
    for _, argument in ipairs(list) do
      if found[argument.dest] == nil then
        local otherwise = argument.default
        if otherwise == nil and (argument.action == "store_true" or argument.action == "store_false") then
          otherwise = argument.action == "store_false"
        end
        found[argument.dest] = otherwise
      end
    end
  end
end

-- Prints the help and exits. In a worker, which must not exit, raises with the help instead.
local function show_help(self)
  if pcall(require, "tidemill.entry_script_c") then
    refuse("help was asked for\n%s", self:format_help())
  end
  io.stdout:write(self:format_help())
  os.exit(0, true)
end

local function check_words(words)
  words = words == nil and (type(arg) == "table" and arg or {}) or words
  if type(words) ~= "table" then
    refuse("a %s was given; accepted: a list of arguments", type(words))
  end
  local texts = {}
  for i, word in ipairs(words) do
    texts[i] = tostring(word)
  end
  return texts
end

-- Values whose other names raise: a misspelt argument is not one that was not given.
local function values_of(self)
  local dests = {}
  for _, list in ipairs { self.options, self.positionals } do
    for _, argument in ipairs(list) do
      dests[#dests + 1] = argument.dest
    end
  end
  return #dests == 0 and {} or setmetatable({}, { __index = lookup.guard("parse_args()", nil, dests) })
end

--- Reads the arguments that it knows. Returns unknown ones in a list, in order. The values raise
--- for a name that no argument has.
---@param words? any[] by default the global `arg`
---@return table<string, any> values
---@return string[] rest
function Parser:parse_known_args(words)
  check_self(self, "parse_known_args")
  words = check_words(words)
  local found, loose, unknown, at, has_ended = values_of(self), {}, {}, 1, false
  while words[at] do
    local word, behind = words[at], nil
    if has_ended or not is_option_word(word) then
      loose[#loose + 1] = { word = word, at = at }
    elseif word == "--" then
      has_ended = true
    elseif (word == "--help" or word == "-h") and not self.by_name[word] then
      show_help(self)
    else
      behind = take_word(self, found, words, at)
      if not behind then
        unknown[#unknown + 1] = { word = word, at = at }
      end
    end
    at = behind or at + 1
  end
  for i = take_positionals(self, found, loose) + 1, #loose do
    unknown[#unknown + 1] = loose[i]
  end
  settle(self, found)
  table.sort(unknown, function(a, b) return a.at < b.at end)
  local rest = {}
  for i, item in ipairs(unknown) do
    rest[i] = item.word
  end
  return found, rest
end

--- Reads the arguments. An unknown argument is an error.
---@param words? any[] by default the global `arg`
---@return table<string, any> values
function Parser:parse_args(words)
  check_self(self, "parse_args")
  local found, rest = self:parse_known_args(words)
  if #rest > 0 then
    local names, all = {}, {}
    for _, argument in ipairs(self.options) do
      names[#names + 1] = shown(argument)
      for _, name in ipairs(argument.names) do all[#all + 1] = name end
    end
    local nearest = is_option_word(rest[1]) and plan.nearest(rest[1]:match "^[^=]*", all)
    refuse("unknown argument '%s'; %s", rest[1], nearest and ("did you mean '%s'?"):format(nearest)
      or "known: " .. (#names > 0 and table.concat(names, ", ")
      or "no options, and " .. #self.positionals .. " positional arguments"))
  end
  return found
end

-- ---- help ----

local function value_word(argument)
  local word = argument.metavar or (argument.is_option and argument.dest:upper() or argument.names[1])
  if is_flag(argument) then return "" end
  if argument.nargs == "?" then return "[" .. word .. "]" end
  if argument.nargs == "*" then return "[" .. word .. " ...]" end
  if argument.nargs == "+" then return word .. " [" .. word .. " ...]" end
  return word .. (" " .. word):rep((argument.nargs or 1) - 1)
end

local function usage_of(argument)
  local text = argument.is_option and argument.names[1] or ""
  local value = value_word(argument)
  text = text .. (text ~= "" and value ~= "" and " " or "") .. value
  return argument.is_option and not argument.required and "[" .. text .. "]" or text
end

local function add_lines(lines, title, list)
  if #list > 0 then
    lines[#lines + 1] = "\n" .. title .. ":"
  end
  for _, argument in ipairs(list) do
    local left = argument.is_option and table.concat(argument.names, ", ") .. " " .. value_word(argument)
      or value_word(argument)
    local otherwise = argument.default ~= nil and (" (%s)"):format(tostring(argument.default)) or ""
    lines[#lines + 1] = (("  %-24s %s%s"):format(left, argument.help or "", otherwise):gsub("%s+$", ""))
  end
end

--- Returns the help text: usage and arguments.
---@return string
function Parser:format_help()
  check_self(self, "format_help")
  local usage = { "usage: " .. self.prog }
  for _, list in ipairs { self.options, self.positionals } do
    for _, argument in ipairs(list) do
      usage[#usage + 1] = usage_of(argument)
    end
  end
  local lines = { table.concat(usage, " ") }
  if self.description then
    lines[#lines + 1] = "\n" .. self.description
  end
  add_lines(lines, "arguments", self.positionals)
  add_lines(lines, "options", self.options)
  return table.concat(lines, "\n") .. "\n"
end

return M
