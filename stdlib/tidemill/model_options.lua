-- model_options.lua - the options of a step with a model in place of a script (model_script.lua).
-- They are checked before there is a job.
local argparse = require "tidemill.argparse"

local M = {}

local function add_all(add)
  add("model", { required = true, metavar = "FILE", help = "the ONNX model" })
  add("outputs", { nargs = "+", metavar = "NAME",
    help = "only these outputs; of images the first one. By default all, in the model's order" })
  add("labels", { metavar = "FILE", help = "the names of the classes, one per line, in the model's order" })
  add("softmax", { action = "store_true", help = "turns outputs into shares whose sum is 1; by default they are "
    .. "as the model makes them" })
  -- tables
  add("columns", { nargs = "+", metavar = "NAME", help = "the columns that the model gets; the others are only kept" })
  add("null", { type = "number", metavar = "X", help = "what the model gets for a null; by default its row fails" })
  add("prefix", { metavar = "TEXT", help = "what the names of new columns begin with" })
  -- images: the options of tidemill.image
  add("width", { type = "integer", metavar = "N", help = "of the images; by default as the model has it" })
  add("height", { type = "integer", metavar = "N" })
  add("fit", { choices = { "stretch", "cover", "contain" }, help = "how an image gets this size" })
  add("resize", { type = "integer", metavar = "N", help = "the shorter side, as in torchvision, before 'crop'" })
  add("crop", { type = "integer", metavar = "N", help = "the square in the middle" })
  add("preset", { choices = { "imagenet" }, help = "resize 256, crop 224, and ImageNet's mean and std" })
  add("filter", { choices = { "bilinear", "bicubic", "lanczos", "box", "nearest" } })
  add("channels", { choices = { "rgb", "bgr", "gray", "rgba" }, help = "by default as many as the model has" })
  add("layout", { choices = { "NCHW", "NHWC" }, help = "by default where the model has its channels" })
  add("scale", { type = "number", metavar = "X", help = "factor for values of 0 to 255; by default 1/255 for floats" })
  add("mean", { type = "number", metavar = "X", nargs = "+", help = "for each channel, of scaled values" })
  add("std", { type = "number", metavar = "X", nargs = "+" })
  add("orient", { action = "store_true", help = "turns images as EXIF says" })
  add("fast", { action = "store_true", help = "decodes large JPEG files at a smaller scale" })
  -- the session
  add("max_batch", { type = "integer", dest = "most", metavar = "N",
    help = "the most rows or images that the model gets at a time" })
  add("providers", { nargs = "+", metavar = "NAME", help = "what runs the model, in order of preference" })
  add("intra_op_num_threads", { type = "integer", metavar = "N", help = "by default the worker's share of the cores" })
end

--- Returns the parser.
function M.parser()
  local parser = argparse.ArgumentParser { prog = "tidemill map INPUT...",
    description = "scores tables and images with an ONNX model. All options but --model come after '--'." }
  add_all(function(name, options) parser:add_argument("--" .. name, options) end)
  return parser
end

--- Raises what is wrong with these words, without a place.
function M.check(words)
  for _, word in ipairs(words) do
    if word == "--help" or word == "-h" then
      error("the help is printed by: tidemill map --model FILE -- --help", 0)
    end
  end
  local ok, message = pcall(function() return M.parser():parse_args(words) end)
  if not ok then
    error(tostring(message):match "argparse: (.*)$" or message, 0)
  end
end

return M
