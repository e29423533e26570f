-- repl.lua - the Lua part of the prompt: compiles a piece, shows its values, completes a line. C
-- calls the functions that this file returns (session.c). C itself calls the user's code, so that
-- its stack has no frame of ours.
--
-- An expression needs no `return`. An incomplete piece, "for i = 1, 3 do", asks for more lines.
local M = {}

local match, sub = string.match, string.sub -- the user may have changed the methods of strings

local function ends_early(message)
  return sub(message, -7) == "'<eof>'"
end

-- A piece that ends in a call, such as an expression, loses its place on the stack. Keeps the line
-- of the call.
local function with_tail(piece)
  return piece, (require "tidemill.tail"(piece))
end

-- A piece is a chunk, and so the end of its local variables. Says so once, about a line that
-- defines one.
local function note_local(text)
  local name, value = match(text, "^%s*local%s+([%a_][%w_]*)%s*=%s*([^\n]-)%s*$")
  if name and M.say and not M.has_noted_local then
    M.has_noted_local = true
    M.say(("'local %s' ends with this line; to keep it, write: %s = %s"):format(name, name, value))
  end
end

local commands = " run map try head replay resume status cancel logs clean verify graph dataset "

local function is_of_shell(text)
  local command = match(text, "^%s*(%a+)%s+[%w_./~-]")
  return command == "tidemill" or command and commands:find(" " .. command .. " ", 1, true)
end

--- Returns the compiled piece, and the line of the call that it ends in; or nil and "more"; or nil
--- and the compiler's error.
function M.compile(text, name)
  local expression = match(text, "^%s*=(.*)$") or text
  local piece, as_expression = load("return " .. expression, name, "t")
  if piece then
    return with_tail(piece)
  end
  local as_statement
  piece, as_statement = load(text, name, "t")
  if piece then
    note_local(text)
    return with_tail(piece)
  elseif ends_early(as_statement) or ends_early(as_expression) then
    return nil, "more"
  end
  if is_of_shell(text) then
    as_statement = as_statement .. "; this is a command of the shell: Ctrl-D leaves the prompt"
  else
    local words = require("tidemill.plan").explain_syntax(text, as_statement)
    as_statement = words and as_statement .. "; " .. words or as_statement
  end
  return nil, as_statement
end

--- Returns the text for the values of a piece, or nothing. Keeps the first value as `_`.
function M.shown(width, has_color, ...)
  local n, lines = select("#", ...), {}
  if n > 0 then
    rawset(_G, "_", (...))
  end
  for i = 1, n do
    lines[i] = require "tidemill.repl.show"((select(i, ...)), { width = width, has_color = has_color })
  end
  return table.concat(lines, "\n")
end

--- Adds the globals that only a prompt has.
function M.open(source_of, help_of, say, set_status, width_of)
  local help = require "tidemill.repl.help"
  help.open(source_of, help_of, width_of)
  M.jobs = require "tidemill.repl.jobs"
  M.jobs.open(say, set_status)
  M.say = say
  rawset(_G, "help", help.help)
  local leave = setmetatable({}, {
    __call = function(_, status) os.exit(status or 0) end,
    __tostring = function() return "Ctrl-D leaves the prompt, and so does exit()" end,
  })
  rawset(_G, "exit", leave)
  rawset(_G, "quit", leave)
  rawset(_G, "tidemill", require "tidemill")
end

-- While a module is loaded, require() keeps a mark in its place. Loading this module shows which
-- mark.
local function mark_of_require()
  local mark
  package.preload["tidemill.repl.mark"] = function(name)
    mark = package.loaded[name]
  end
  require "tidemill.repl.mark"
  package.preload["tidemill.repl.mark"], package.loaded["tidemill.repl.mark"] = nil, nil
  return mark
end

--- Makes the next require() load modules again whose loading was interrupted; otherwise it would
--- report a loop.
function M.forget_half_loaded()
  local mark = mark_of_require()
  for name, module in pairs(package.loaded) do
    if rawequal(module, mark) then
      package.loaded[name] = nil
    end
  end
end

--- Returns how many jobs are running.
function M.running()
  return #M.jobs.running
end

--- Returns what Tab inserts, and what it lists.
function M.complete(text, width)
  return require "tidemill.repl.complete"(text, width)
end

return M
