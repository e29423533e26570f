-- Counts the words of each licence text of this machine (Debian's package base-files), and names
-- its most frequent one.
local tidemill = require "tidemill"

local count = tidemill.ParallelRunStep {
  name = "count-words",
  parallel_run_config = tidemill.ParallelRunConfig {
    entry_script = "count.lua",
    mini_batch_size = 3,
    append_row_file_name = "words.jsonl",
  },
  inputs = { tidemill.Dataset.File.from_files("/usr/share/common-licenses/*"):as_named_input("licences") },
}

return tidemill.Pipeline { name = "word-count", steps = { count } }
