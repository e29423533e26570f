-- jobs.lua - jobs at a prompt: shows their messages above it, and reports their end.
local job = require "tidemill.job"

local M = {
  running = {}, -- jobs, in the order in which they were submitted
}

local ERRORS_SAID = 3 -- different errors of a job; job:failures() has all

local say, set_status -- C functions: print whole lines; replace the status line

local function text_of(n, one, many)
  return ("%d %s"):format(n, n == 1 and one or many)
end

local function progress_of(watched)
  local counts = watched.counts
  if not counts then
    return watched.name .. ": begins"
  end
  local done = counts.succeeded + counts.failed
  local all = counts.all_created and tostring(counts.created) or counts.created .. "+"
  local share = counts.all_created and counts.created > 0 and ("%d%% "):format(done * 100 / counts.created) or ""
  local failed = counts.items_failed > 0 and (", %d failed"):format(counts.items_failed) or ""
  return ("%s: %s%d of %s mini-batches, %s%s"):format(watched.name, share, done, all,
    text_of(counts.items, "item", "items"), failed)
end

local function show_status()
  local parts = {}
  for i, watched in ipairs(M.running) do
    parts[i] = progress_of(watched)
  end
  set_status(#parts > 0 and table.concat(parts, " | ") or nil)
end

-- Afterwards the job may be collected: its callbacks no longer refer to it.
local function drop(watched)
  watched.job = nil
  for i, known in ipairs(M.running) do
    if known == watched then
      table.remove(M.running, i)
      return
    end
  end
end

local function say_end(watched, event)
  local counts = event.counts
  local words = { ("%s: %s, %s, %s, %d failed"):format(watched.name, event.state,
    text_of(counts.created, "mini-batch", "mini-batches"), text_of(counts.items, "item", "items"),
    counts.items_failed) }
  if event.text then
    words[#words + 1] = ("  %s"):format(event.text)
  end
  if counts.items_failed > 0 then
    words[#words + 1] = "  job:failures() lists what failed, and [1]:rerun() runs one here"
  end
  say(table.concat(words, "\n"))
end

-- Shows an error once, with its place.
local function say_error(watched, event)
  local words = (event.where and event.where .. ": " or "") .. (event.text or event.status or "?")
  if watched.said[words] then
    return
  end
  watched.said[words] = true
  watched.errors = watched.errors + 1
  if watched.errors <= ERRORS_SAID then
    say(("%s: mini-batch %d failed: %s"):format(watched.name, event.mini_batch or 0, words:match "^[^\n]*"))
  elseif watched.errors == ERRORS_SAID + 1 then
    say(watched.name .. ": further errors are in its log")
  end
end

local function on_event(watched, event)
  if event.counts and not event.step then
    watched.counts = event.counts
  end
  if event.kind == "state" and event.state ~= "Running" then
    drop(watched)
    show_status()
    say_end(watched, event)
  elseif event.kind == "mini_batch" and event.outcome == "failed" then
    say_error(watched, event)
  elseif event.kind == "worker" and event.state == "failed" then
    say_error(watched, { where = event.where, text = "init(): " .. (event.text or "?") })
  elseif event.kind == "log" and (event.level == "warning" or event.level == "error") then
    say(("%s: %s"):format(watched.name, event.text or ""))
  elseif event.kind == "progress" or event.kind == "state" then
    show_status()
  end
end

-- A listener of the user. If it raises, the error is shown and the job continues.
local function tell(watched, listener, event)
  if not listener then
    return
  end
  local ok, message = pcall(listener, event)
  if not ok then
    say(("%s: on_event failed: %s"):format(watched.name, tostring(message)))
  end
end

-- Watches every submission. It gets the checked options, and returns a function that gets the job;
-- that returns a function to call when the job is closed.
local function watch(pipeline, options)
  local listener, watched = options.on_event, { name = pipeline.name, said = {}, errors = 0 }
  options.hears_failures = listener == nil -- but no successes
  function options.on_event(event)
    on_event(watched, event)
    tell(watched, listener, event)
  end
  return function(submitted)
    watched.job = submitted
    if submitted:status() == "Running" then
      M.running[#M.running + 1] = watched
    end
    return function() -- a closed job sends no more events
      drop(watched)
      show_status()
    end
  end
end

--- Call it once.
function M.open(say_words, set_status_words)
  say, set_status = say_words, set_status_words
  job.watch = watch
end

return M
