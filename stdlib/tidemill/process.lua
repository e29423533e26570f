-- process.lua - other programs: run to their end, or started in the background. No shell is
-- involved: the program gets exactly the arguments in the list.
--
--   local process = require "tidemill.process"
--   local r = process.run({ "sha256sum", path }, { capture_output = true, check = true })
--   local sum = r.stdout:match "%x+"
--
-- When a worker is killed, the programs that it started are killed too: they are in its process
-- group.
local c = require "tidemill.process_c"
local plan = require "tidemill.plan"

--- Runs programs to their end, or starts them in the background.
---@class tidemill.process
local M = {}

local TAIL = 1500 -- bytes of stderr in a message
local HEAD = 200 -- bytes of the command in a message

local kinds = {
  capture_output = "boolean",
  check = "boolean",
  input = "string",
  cwd = "string",
  env = "table",
  timeout = "number",
  stdout = "string",
  stderr = "string",
}
local accepted = {
  run = "capture_output, check, input, cwd, env, timeout, stdout, stderr",
  spawn = "input, cwd, env, stdout, stderr",
}

local function refuse(name, ...)
  plan.raise("process." .. name .. ": " .. string.format(...))
end

local function words_of(name, argv)
  if type(argv) ~= "table" then
    refuse(name, "the program and its arguments are a %s; accepted: a list of strings, such as { \"gzip\", path }",
      type(argv))
  end
  local words = {}
  for i, word in ipairs(argv) do
    words[i] = type(word) == "number" and tostring(word) or word
    if type(words[i]) ~= "string" or words[i]:find("\0", 1, true) then
      refuse(name, "argument %d is a %s; accepted: a string without NUL bytes, or a number", i - 1, type(word))
    end
  end
  for key in pairs(argv) do
    if type(key) ~= "number" or not words[key] then
      refuse(name, "the list of the program and its arguments has the key '%s'; accepted: 1, 2, 3, ... without holes",
        tostring(key))
    end
  end
  if not words[1] or words[1] == "" then
    refuse(name, "no program is named; accepted: a list of strings, such as { \"gzip\", path }")
  end
  return words
end

local function variables_of(name, env)
  local list, changes = {}, {}
  for key, value in pairs(env) do
    if type(key) ~= "string" or key == "" or key:find "[=%z]" then
      refuse(name, "'env' has the name '%s'; accepted: names without '='", tostring(key))
    end
    changes[key] = true
    if type(value) == "number" then
      value = tostring(value)
    end
    if value ~= false and (type(value) ~= "string" or value:find("\0", 1, true)) then
      refuse(name, "'env' has a %s for '%s'; accepted: a string, or false to take the variable out", type(value), key)
    end
    if value then
      list[#list + 1] = key .. "=" .. value
    end
  end
  return list, changes
end

local function settings_of(name, argv, options)
  local s = { argv = words_of(name, argv) }
  if options ~= nil and type(options) ~= "table" then
    refuse(name, "options are a %s; accepted: a table", type(options))
  end
  for key, value in pairs(options or {}) do
    if not (", " .. accepted[name] .. ","):find(", " .. tostring(key) .. ",", 1, true) then
      refuse(name, "unknown option '%s'; accepted: %s", tostring(key), accepted[name])
    end
    if type(value) ~= kinds[key] then
      refuse(name, "option '%s' is a %s; accepted: a %s", key, type(value), kinds[key])
    end
    if key ~= "input" and type(value) == "string" and value:find("\0", 1, true) then
      refuse(name, "option '%s' has a NUL byte in it; accepted: a path", key)
    end
    s[key] = value
  end
  if s.env then
    s.env, s.changes = variables_of(name, s.env)
  end
  return s
end

local function command_of(words)
  local text = table.concat(words, " ")
  return #text > HEAD and text:sub(1, HEAD) .. "..." or text
end

-- The end of a program's output; if it is cut, from the beginning of a line.
local function tail_of(text)
  text = (text or ""):gsub("%s+$", "")
  if #text <= TAIL then
    return text
  end
  local tail = text:sub(-TAIL)
  return "... " .. (tail:match "^[^\n]*\n(.+)$" or tail)
end

local function failure_of(s, r)
  if r.code == 0 and not r.timed_out then
    return nil
  end
  local what
  if r.timed_out then
    what = ("was killed: it took longer than its timeout of %g s"):format(s.timeout)
  elseif r.signal then
    what = ("was ended by signal %d"):format(r.signal)
  else
    what = ("ended with exit status %d"):format(r.code)
  end
  local tail = tail_of(r.stderr)
  return ("'%s' %s%s"):format(command_of(s.argv), what, tail ~= "" and "; its stderr ends:\n" .. tail or "")
end

---@class tidemill.process.Options
---@field cwd? string the folder that it runs in; a program with a '/' in its name is relative to it
---@field env? table<string, string|number|false> variables added to the inherited ones; false
--- removes one
---@field input? string the text for its stdin; by default its stdin is that of this process (empty
--- in a worker)
---@field stdout? string a file for its stdout, which is truncated first; by default the stdout of
--- this process
---@field stderr? string a file for its stderr, which is truncated first; by default the stderr of
--- this process

---@class tidemill.process.RunOptions: tidemill.process.Options
---@field capture_output? boolean returns stdout and stderr in the result, at most 1 GB each
---@field check? boolean raises if the program fails, with the end of its stderr in the message
---@field timeout? number seconds; then the program and its children are killed

---@class tidemill.process.Result
---@field code? integer the exit status; nil if a signal ended it
---@field signal? integer
---@field stdout? string with capture_output
---@field stderr? string with capture_output
---@field timed_out boolean

--- Runs a program to its end. A name without '/' is searched in the folders of PATH. The result is
--- returned for any exit status. With `check`, the following raise at the caller's line: a status
--- other than 0, a signal, a timeout, and a program that cannot be started. The call returns when
--- the program itself has ended. Its background processes continue, but their later output is
--- not captured.
---@param argv string[] the program and its arguments; numbers are converted as by tostring()
---@param options? tidemill.process.RunOptions
---@return tidemill.process.Result? result nil if it could not be started, or wrote more than 1 GB
---@return string? message
---@return string? code ENOENT, EACCES, ...
function M.run(argv, options)
  local s = settings_of("run", argv, options)
  if s.timeout and not (s.timeout >= 0.001 and s.timeout <= 1e9) then
    refuse("run", "option 'timeout' is %s; accepted: seconds, from 0.001 to 1e9", tostring(s.timeout))
  end
  if s.capture_output and (s.stdout or s.stderr) then
    refuse("run", "capture_output and a file for %s are given; accepted: one of them",
      s.stdout and "stdout" or "stderr")
  end
  s.capture_stdout = s.capture_output
  s.capture_stderr = s.capture_output or s.check and not s.stderr
  s.show_stderr = not s.capture_output
  local r, message, code = c.run(s)
  if not s.check then
    return r, message, code
  end
  message = message or failure_of(s, r)
  if message then
    plan.raise(message)
  end
  if not s.capture_output then
    r.stderr = nil
  end
  return r
end

--- Starts a program and returns while it runs: `program:wait([seconds])`, `program:kill([signal])`,
--- `program.pid` (_meta/process_c.lua). Its output goes to files, or to the output of this process;
--- it cannot be captured. The program continues when the object is collected.
---@param argv string[]
---@param options? tidemill.process.Options
---@return tidemill.process.Program? program nil if it could not be started
---@return string? message
---@return string? code
function M.spawn(argv, options)
  return c.spawn(settings_of("spawn", argv, options))
end

return M
