local wait = require "wait"

local tried = {}

-- For a moment the server does not answer: twenty pages in a row fail, until each worker has tried
-- them. Five pages take nearly as long as run_invocation_timeout allows.
function run(pages)
  local number = tonumber(pages[1]:match "%d+$")
  if number > 200 and number <= 220 and not tried[number] then
    tried[number] = true
    error "the server does not answer"
  end
  wait(number % 80 == 20 and 2.6 or 0.1)
  return { "page " .. number }
end
