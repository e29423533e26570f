-- Splits each video into frames, processes the frames in parallel, and joins the results to a video
-- again.
local tidemill = require "tidemill"
local Output = tidemill.OutputFileDatasetConfig

local name = tidemill.PipelineParameter { name = "video", default_value = "moon.y4m" }
local video = tidemill.Dataset.File.from_files(name)
local frames = Output { name = "frames" }
local measures = Output { name = "measures" }
local edges = Output { name = "edges" }

-- The frames are files. The folder has no other files, so the step writes no rows. A video
-- that lacks a frame is useless.
local split = tidemill.ParallelRunStep {
  name = "split",
  parallel_run_config = tidemill.ParallelRunConfig {
    entry_script = "split.lua", mini_batch_size = 1, process_count_per_node = 1, output_action = "summary_only",
    error_threshold = 0,
  },
  inputs = video,
  output = frames,
}

-- Rows go to the first output. The script gets the folder of a further output as an argument.
local find = tidemill.ParallelRunStep {
  name = "find-edges",
  parallel_run_config = tidemill.ParallelRunConfig {
    entry_script = "edges.lua", mini_batch_size = 4, process_count_per_node = 2, append_row_file_name = "measures.csv",
    error_threshold = 0,
  },
  inputs = frames,
  output = { measures, edges },
  arguments = { edges, tidemill.PipelineParameter { name = "threshold", default_value = 100 } },
}

-- One mini-batch, because its size exceeds that of the table. Its files appear in `out` when all of
-- them are complete.
local join = tidemill.ParallelRunStep {
  name = "join",
  parallel_run_config = tidemill.ParallelRunConfig {
    entry_script = "join.lua", mini_batch_size = "1GB", process_count_per_node = 1, output_action = "summary_only",
    error_threshold = 0, overwrite = true,
  },
  inputs = measures:read_delimited_files(),
  output = Output { name = "joined", destination = "out" }:as_upload(),
  arguments = { edges, video },
}

return tidemill.Pipeline { name = "video-frames", steps = { split, find, join } }
