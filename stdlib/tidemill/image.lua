-- image.lua - images for models: files of JPEG, PNG, WebP and PNM as tensors, with Pillow's bytes.
--
-- The C half decodes, turns, resizes and scales in one go from row to row (core/data/images).
local base = require "tidemill.tensor.base"
local c = require "tidemill.image_c"
local device = require "tidemill.onnx.device"
local frame = require "tidemill.frame.base"
local options_of = require "tidemill.image.options"
local sources_of = require "tidemill.image.sources"
require "tidemill.tensor"

local refuse = base.refuse

--- Images as tensors, with the bytes of Pillow and the sizes of torchvision.
---
--- A source is the path of a file, a reader of `context:open()`, or `image.bytes(text)`. Its
--- contents decide the format: JPEG, PNG, WebP or PNM.
---@class tidemill.image
local M = {}

---@alias tidemill.image.Source string|tidemill.Reader|tidemill.image.Bytes

---@class tidemill.image.Bytes what image.bytes() returns

---@class tidemill.image.Info
---@field format string "jpeg", "png", "webp" or "pnm"
---@field width integer as stored, before any orientation
---@field height integer
---@field channels integer of the file: 1 grey, 2 grey and alpha, 3 colours, 4 with alpha, or CMYK
---@field bits integer for each channel
---@field orientation integer EXIF's, 1 (upright) to 8

---@class tidemill.image.Place where a point (x, y) of the image is in the tensor:
--- x * scale_x + offset_x, y * scale_y + offset_y
---@field scale_x number
---@field scale_y number
---@field offset_x number
---@field offset_y number

---@class tidemill.image.LoadOptions
---@field width? integer the size of the result; with `height`
---@field height? integer
---@field fit? string with width and height: "stretch" (the default), "cover" (cuts what is too
--- long), "contain" (pads with `fill`); as ImageOps.fit and ImageOps.pad of Pillow
---@field fill? number|number[] the padding, 0 to 255; one number, or one for each channel
---@field resize? integer the length of the shorter side, as Resize of torchvision
---@field crop? integer the side of the square that is cut out of the middle, as CenterCrop of
--- torchvision; what is smaller is padded with `fill`
---@field filter? string "bilinear" (the default), "bicubic", "lanczos", "box", "nearest"; Pillow's
---@field channels? string "rgb" (the default), "bgr", "gray", "rgba"
---@field background? number|number[] the colour that transparent pixels are laid over, 0 to 255; by
--- default the alpha is dropped
---@field layout? string "NCHW", the default of batches; "NHWC", that of load(), where there is no N
---@field type? string of the elements: "float32" by default, in load() "uint8"
---@field scale? number what each value (0 to 255) is multiplied by: 1/255 by default for floats, 1
--- for integers
---@field mean? number|number[] is subtracted from the scaled value; one number, or one for each
--- channel; 0 by default
---@field std? number|number[] divides the result; 1 by default
---@field preset? string "imagenet": resize = 256, crop = 224, float32, and the mean and std of
--- ImageNet; other options override it
---@field orient? boolean turns the image as EXIF says; by default it stays as it is stored
---@field fast? boolean decodes a JPEG at 1/2, 1/4 or 1/8, but at least twice as large as the
--- result; faster, and not the same bytes
---@field truncated? string "error" (the default), or "fill": what is missing of a file is grey
---@field max_pixels? integer of an image as stored; 100 million by default
---@field max_bytes? integer of a file; 256 MB by default
---@field max_memory? integer bytes that decoding one image may take; 1 GB by default

---@class tidemill.image.BatchOptions: tidemill.image.LoadOptions
---@field context? tidemill.Context the second argument of run() or prefetch(), if the sources are
--- the items of its mini-batch in their order: an image that cannot be read is marked as failed,
--- with the reason, and left out. Without it, such an image raises
---@field threads? integer helper threads that decode; by default 0 in batch(), and otherwise
--- 1 if the worker has two cores or more, or one for each core while a session runs on a GPU

---@class tidemill.image.BatchesOptions: tidemill.image.BatchOptions
---@field batch? integer images in a batch; 32 by default
---@field ahead? integer batches that are decoded ahead; 2 by default

--- Returns the contents of an image file as a source.
---
---     local pixel = image.bytes("P6 1 1 255\n\255\0\0")
---     assert(image.info(pixel).format == "pnm")
---@param text string
---@param name? string for messages
---@return tidemill.image.Bytes
function M.bytes(text, name)
  return sources_of.bytes(text, name)
end

--- Returns what the header says; reads no pixels.
---
---     local info = image.info(image.bytes "P5 4 3 255\n............")
---     assert(info.width == 4 and info.height == 3 and info.channels == 1)
---@param source tidemill.image.Source
---@param options? { max_bytes?: integer }
---@return tidemill.image.Info? info
---@return string? message
---@return string? code
function M.info(source, options)
  local o = frame.options("image.info", options, { max_bytes = "number" })
  local max_bytes = options_of.check_integer("image.info", "max_bytes", o.max_bytes, 1, 2 ^ 53) or 256 * 2 ^ 20
  local name, contents = sources_of.open("image.info", source, 1, max_bytes)
  if not name then
    return nil, contents, "EINPUT"
  end
  return c.info(name, contents, max_bytes)
end

--- Returns one image: [height, width, channels] of uint8, unless options say otherwise.
---
---     local t = image.load(image.bytes "P6 2 1 255\n\1\2\3\4\5\6")
---     assert(t:at(1, 2, 3) == 6)
---@param source tidemill.image.Source
---@param options? tidemill.image.LoadOptions
---@return tidemill.Tensor? tensor nil if it cannot be read
---@return tidemill.image.Place|string place_or_message where points of the image are in the tensor
---@return string? code
function M.load(source, options)
  local o, fields = options_of.check("image.load", options, nil, { type = "uint8", layout = "NHWC" })
  if o.context ~= nil then
    refuse "image.load: 'context' is an option of image.batch and image.batches"
  end
  local name, contents = sources_of.open("image.load", source, 1, fields.max_bytes)
  if not name then
    return nil, contents, "EINPUT"
  end
  return c.load(c.options(fields), name, contents)
end

-- ---- batches ----

local DEFAULTS = { type = "float32", layout = "NCHW" }
local SLOTS_MAX = 100000

-- Reads what has to be read in Lua. Returns lists of names and contents for the C half, the numbers
-- of their sources, and messages of others by their numbers.
local function prepare(what, sources, first, last, max_bytes)
  local names, contents, numbers, failures = {}, {}, {}, {}
  for i = first, last do
    local name, text = sources_of.open(what, sources[i], i, max_bytes)
    if name then
      names[#names + 1], contents[#names + 1], numbers[#names + 1] = name, text, i
    else
      failures[i] = text
    end
  end
  return names, contents, numbers, failures
end

local function new_tensor(o, settings, n)
  local shape = c.shape(settings, n)
  return require("tidemill.tensor").new(o.type or DEFAULTS.type, shape)
end

-- Marks what could not be read, or raises. Returns the numbers of the sources that were read.
local function settle(what, o, batch, good, failed)
  for i, message in pairs(failed) do
    batch.failures[batch.numbers[i]] = message
  end
  for i = batch.first, batch.last do
    local message = batch.failures[i]
    if message and not o.context then
      refuse("%s: %s", what, message)
    elseif message then
      o.context:fail(i, message)
    end
  end
  for k, i in ipairs(good) do
    good[k] = batch.numbers[i]
  end
  return good
end

local function check_threads(what, o)
  return options_of.check_integer(what, "threads", o.threads, 0, 256)
end

local function take(what, work)
  local good, places, failed = c.take(work)
  if not good then
    refuse("%s: %s", what, places)
  end
  return good, places, failed
end

-- Begins to read all sources as one batch; `threads` returns their number by default.
local function begin(what, sources, options, threads)
  local o, fields = options_of.check(what, options, { threads = "number" }, DEFAULTS)
  local n = sources_of.check_list(what, sources)
  options_of.check_fixed(what, fields)
  local names, contents, numbers, failures = prepare(what, sources, 1, n, fields.max_bytes)
  local settings = c.options(fields)
  local s = {
    what = what, options = o, tensor = new_tensor(o, settings, #names),
    work = c.open(settings, check_threads(what, o) or threads()),
    batch = { first = 1, last = n, numbers = numbers, failures = failures },
  }
  c.add(s.work, s.tensor, names, contents)
  return s
end

-- Returns tensor, numbers and places; `s` is the result of begin(). Also again, or raises again.
local function wait(s)
  if s.work then
    s.good, s.places, s.failed = take(s.what, s.work)
    c.close(s.work)
    s.work = nil
  end
  if not s.numbers then
    s.numbers = settle(s.what, s.options, s.batch, s.good, s.failed)
    c.shorten(s.tensor, #s.numbers)
  end
  return s.tensor, s.numbers, s.places
end

--- Returns the images as one tensor, [n, channels, height, width] of float32 from 0 to 1 unless
--- options say otherwise.
---
---     local dark, light = image.bytes "P5 1 1 255\n\0", image.bytes "P5 1 1 255\n\255"
---     local size = { width = 1, height = 1, channels = "gray" }
---     local t, numbers = image.batch({ dark, light }, size)
---     assert(#t == 2 and t:at(2, 1, 1, 1) == 1 and numbers[2] == 2)
---@param sources tidemill.image.Source[]
---@param options tidemill.image.BatchOptions
---@return tidemill.Tensor tensor
---@return integer[] numbers of the sources in it, which are all without a `context`
---@return tidemill.image.Place[] places for each of them
function M.batch(sources, options)
  return wait(begin("image.batch", sources, options, function()
    return 0
  end))
end

-- The cores of the worker; outside of one, those of this process.
local function cores()
  local ok, entry = pcall(require, "tidemill.entry_script_c")
  return ok and entry.properties.cores or c.cores()
end

-- While a GPU computes, the cores are free.
local function default_threads()
  local n = cores()
  return device.is_used() and n or n >= 2 and 1 or 0
end

-- The state of a loop:
--   work       the userdata of the C half
--   next       the first source that was not added
--   pending    what was added and not taken: {first, last, numbers, failures, buffer}
--   buffers    tensors that nothing is in
--   lent       the buffer that the script has, and `lease`, which ends it

---@class tidemill.image.Loop a loop over batches; a call is its next step
---@overload fun(): tidemill.Tensor?, integer[]?, tidemill.image.Place[]?
local Loop = {}
Loop.__index = Loop

function Loop.__tostring()
  return "loop over batches of images"
end

-- Those that have begun and not ended. Only the collector notices one that was left early.
local open = setmetatable({}, { __mode = "k" })
local LEFT_MAX = 8

local function opened(s, meta)
  local n = 0
  for _ in pairs(open) do
    n = n + 1
  end
  if n >= LEFT_MAX then
    collectgarbage()
  end
  open[s] = true
  return setmetatable(s, meta)
end

local function add_next(s)
  local first, last = s.next, math.min(s.next + s.size - 1, s.n)
  local names, contents, numbers, failures = prepare(s.what, s.sources, first, last, s.max_bytes)
  local buffer = table.remove(s.buffers) or new_tensor(s.options, s.settings, math.min(s.size, s.n))
  c.add(s.work, buffer, names, contents)
  s.pending[#s.pending + 1] = { first = first, last = last, numbers = numbers, failures = failures, buffer = buffer }
  s.next = last + 1
end

local function end_lent(s)
  if s.lease then
    c.finish(s.lease)
    s.buffers[#s.buffers + 1] = s.lent
    s.lease, s.lent = nil, nil
  end
end

--- Ends the work at once, and the tensor of the last step. Call it before you leave a loop early:
--- without it, helper threads decode what is `ahead`, and end with run().
---
---     local loop = image.batches({ image.bytes "P5 1 1 255\n\0" }, { width = 1, height = 1 })
---     for t in loop do
---       if t:at(1, 1, 1, 1) == 0 then loop:close() end
---     end
---     assert(loop() == nil)
function Loop:close()
  end_lent(self)
  c.close(self.work)
  open[self], self.is_closed = nil, true
end

function Loop.__call(s)
  if s.is_closed then
    return nil
  end
  end_lent(s)
  while true do
    while s.next <= s.n and #s.pending <= s.ahead do
      add_next(s)
    end
    local batch = table.remove(s.pending, 1)
    if not batch then
      s:close()
      return nil
    end
    local good, places, failed = take(s.what, s.work)
    good = settle(s.what, s.options, batch, good, failed)
    if #good > 0 then
      local tensor
      s.lent = batch.buffer
      tensor, s.lease = c.lend(batch.buffer, #good)
      return tensor, good, places
    end
    s.buffers[#s.buffers + 1] = batch.buffer
  end
end

--- Iterates over batches of images, and decodes the next ones meanwhile. The tensor is valid until
--- the next step; keep `t:copy()`. A batch of which nothing can be read is left out.
---
---     local sources = {}
---     for i = 1, 5 do sources[i] = image.bytes("P5 1 1 255\n" .. string.char(i)) end
---     local sum, options = 0, { width = 1, height = 1, channels = "gray", scale = 1, batch = 2 }
---     for t, numbers in image.batches(sources, options) do
---       for k, i in ipairs(numbers) do
---         assert(t:at(k, 1, 1, 1) == i)
---         sum = sum + i
---       end
---     end
---     assert(sum == 15)
---@param sources tidemill.image.Source[]
---@param options tidemill.image.BatchesOptions
---@return tidemill.image.Loop next
function M.batches(sources, options)
  local what = "image.batches"
  local o, fields = options_of.check(what, options, { threads = "number", batch = "number", ahead = "number" },
    DEFAULTS)
  local n = sources_of.check_list(what, sources)
  options_of.check_fixed(what, fields)
  local size = options_of.check_integer(what, "batch", o.batch, 1, SLOTS_MAX) or 32
  local ahead = options_of.check_integer(what, "ahead", o.ahead, 0, 100)
  local threads = check_threads(what, o) or default_threads()
  local settings = c.options(fields)
  return opened({
    what = what, sources = sources, n = n, size = size, options = o, settings = settings,
    max_bytes = fields.max_bytes, ahead = ahead or (threads > 0 and 2 or 1),
    work = c.open(settings, threads), next = 1, pending = {}, buffers = {},
  }, Loop)
end

-- ---- started ahead ----

---@class tidemill.image.Started images that are being read
local Started = {}
Started.__index = Started

function Started.__tostring()
  return "images that are being read"
end

-- The mini-batch of a context, in words; nil without one.
local function words_of(context)
  local index = context and context.minibatch_index
  if not index then
    return nil
  end
  local part = context.part
  return ("mini-batch %d, try %d%s"):format(index, context.try,
    part and (", items %d to %d"):format(part.first, part.last) or "")
end

--- Starts reading images, and returns at once: for prefetch(), before the run() of its mini-batch.
--- What is started ends with that run(), or when it is clear that it will not be called.
---
---     local grey = image.bytes "P5 1 1 255\n\255"
---     local small = { width = 1, height = 1, channels = "gray" }
---     local started = image.start({ grey, grey }, small)
---     local t, numbers = started:wait()
---     assert(#t == 2 and t:at(2, 1, 1, 1) == 1 and numbers[2] == 2)
---@param sources tidemill.image.Source[]
---@param options tidemill.image.BatchOptions
---@return tidemill.image.Started started
function M.start(sources, options)
  local started = begin("image.start", sources, options, default_threads)
  started.mini_batch = words_of(started.options.context)
  return opened(started, Started)
end

--- Waits until all are read, and returns them as `image.batch()` does, each time the same. Marks
--- what cannot be read, or raises. With `context`, call it in the run() of the mini-batch.
---
---     local small = { width = 1, height = 1, channels = "gray" }
---     local broken = image.bytes("not an image", "image 2")
---     local started = image.start({ image.bytes "P5 1 1 255\n\255", broken }, small)
---     local ok, message = pcall(started.wait, started)
---     assert(not ok and message:find "image.start: cannot read 'image 2'")
---@return tidemill.Tensor tensor
---@return integer[] numbers of the sources in it, which are all without a `context`
---@return tidemill.image.Place[] places for each of them
function Started:wait()
  if getmetatable(self) ~= Started then
    refuse "wait is a method: call it as started:wait(), with a colon"
  end
  local now = words_of(self.options.context)
  if self.mini_batch ~= now then
    refuse("image.start: these images were started for %s, and this is %s; wait for them in the run() of their own " ..
      "mini-batch", self.mini_batch, now)
  end
  open[self] = nil
  return wait(self)
end

-- ---- writing ----

local FORMATS = { png = "png", jpg = "jpeg", jpeg = "jpeg" }

local function format_of(path, o)
  local format = o.format or FORMATS[(path:match "%.(%w+)$" or ""):lower()]
  if not format then
    refuse("image.write: '%s' has no extension that names a format; accepted: .png, .jpg, .jpeg, or the option " ..
      "'format'", path)
  end
  return format
end

--- Writes an image file: [height, width] or [height, width, channels] of uint8.
---
---     local t = image.load(image.bytes "P6 1 1 255\n\1\2\3")
---     assert(image.write(path, t, { format = "png" }))
---     assert(image.load(path):at(1, 1, 3) == 3)
---@param path string
---@param tensor tidemill.Tensor 1 (grey), 3 (RGB) or 4 (RGBA, only PNG) channels
---@param options? { format?: string, quality?: integer } format: "png" or "jpeg", by default as the
--- extension says; quality of a JPEG: 1 to 100, 75 by default
---@return boolean? ok
---@return string? message
---@return string? code
function M.write(path, tensor, options)
  frame.check_path("image.write", path)
  local o = frame.options("image.write", options, { format = "|png|jpeg|", quality = "number" })
  if not base.is_tensor(tensor) then
    refuse("image.write: a %s was given; accepted: a tensor", type(tensor))
  end
  local h = base.handle(tensor)
  local shape = base.shape_of(h)
  if h.tensor.type ~= base.type_numbers.uint8 or #shape < 2 or #shape > 3 then
    refuse("image.write: the tensor is %s %s; accepted: uint8 of [height, width] or [height, width, channels]; " ..
      "t:cast(\"uint8\") changes the type", base.type_names[h.tensor.type], "[" .. table.concat(shape, ", ") .. "]")
  end
  local quality = options_of.check_integer("image.write", "quality", o.quality, 1, 100) or 75
  return c.write(path, tensor, format_of(path, o), quality)
end

return M
