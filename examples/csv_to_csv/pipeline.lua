local tidemill = require "tidemill"

local orders = tidemill.Dataset.Tabular.from_delimited_files("orders.tsv", { separator = "\t" })
local convert = tidemill.ParallelRunStep {
  name = "convert",
  parallel_run_config = tidemill.ParallelRunConfig {
    entry_script = "convert.lua",
    mini_batch_size = "3rows",
    append_row_file_name = "orders.csv",
  },
  inputs = orders,
}
return tidemill.Pipeline { name = "csv-to-csv", steps = { convert } }
