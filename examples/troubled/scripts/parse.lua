local EntryScript = require "tidemill.entry_script"
local wait = require "wait"

local kept = {} -- is never emptied
local is_slow = EntryScript().agent_name == "process000"

function init()
  wait(2) -- as if it loaded a large model
end

-- Some pages have no title, and one is empty. The last one takes long.
function run(pages)
  kept[#kept + 1] = ("x"):rep(2e6) .. #kept
  local rows = {}
  for i, page in ipairs(pages) do
    local number = tonumber(page:match "%d+$")
    wait(number == 400 and 4 or is_slow and 0.16 or 0.08)
    if number == 77 then
      error("page " .. number .. " is empty")
    elseif number % 16 == 8 then
      error("page " .. number .. " has no title")
    end
    rows[i] = "page " .. number
  end
  return rows
end
