local tidemill = require "tidemill"

-- The images of one archive, which is not unpacked: run() gets names, and reads what they stand
-- for.
local images = tidemill.Dataset.File.from_archives(os.getenv "IMAGES" or "images.tar.gz", {
  entries = "**/*.pgm",
  extract = false,
})
local measure = tidemill.ParallelRunStep {
  name = "measure-images",
  parallel_run_config = tidemill.ParallelRunConfig {
    entry_script = "brightness.lua",
    mini_batch_size = 4,
    process_count_per_node = 2,
    append_row_file_name = "brightness.txt",
  },
  inputs = { images:as_named_input "images" },
}
return tidemill.Pipeline { name = "archive-of-images", steps = { measure } }
