-- options.lua - the options of tidemill.image: their checks, their defaults, and the numbers that
-- the C half takes.
local base = require "tidemill.tensor.base"
local frame = require "tidemill.frame.base"

local M = {}

local refuse = base.refuse

local FITS = { stretch = 0, cover = 1, contain = 2 } -- enum tm_fit
local FILTERS = { nearest = 0, box = 1, bilinear = 2, bicubic = 3, lanczos = 4 } -- enum tm_filter
local CHANNELS = { rgb = 0, bgr = 1, gray = 2, rgba = 3 } -- enum tm_channels
local COUNTS = { rgb = 3, bgr = 3, gray = 1, rgba = 4 }
local SIDE_MAX = 1000000

local PRESETS = {
  imagenet = {
    resize = 256, crop = 224, filter = "bilinear", channels = "rgb", type = "float32", scale = 1 / 255,
    mean = { 0.485, 0.456, 0.406 }, std = { 0.229, 0.224, 0.225 },
  },
}

local KINDS = {
  width = "number", height = "number", fit = "|stretch|cover|contain|", fill = "any",
  resize = "number", crop = "number",
  filter = "|bilinear|bicubic|lanczos|box|nearest|",
  channels = "|rgb|bgr|gray|rgba|", background = "any",
  layout = "|NCHW|NHWC|", type = "string", scale = "number", mean = "any", std = "any",
  preset = "|imagenet|",
  orient = "boolean", fast = "boolean", truncated = "|error|fill|",
  max_pixels = "number", max_bytes = "number", max_memory = "number",
  context = "any",
}

local function merged(more)
  local kinds = {}
  for name, kind in pairs(KINDS) do
    kinds[name] = kind
  end
  for name, kind in pairs(more or {}) do
    kinds[name] = kind
  end
  return kinds
end

local function check_integer(what, name, value, low, high)
  if value ~= nil and (value % 1 ~= 0 or value < low or value > high) then
    refuse("%s: option '%s' is %s; accepted: an integer from %d to %d", what, name, tostring(value), low, high)
  end
  return value
end
M.check_integer = check_integer

-- One number for all channels, or a list with one for each.
local function list_of(what, name, value, n, channels, low, high)
  local list = type(value) == "number" and {} or value
  for i = 1, type(value) == "number" and n or 0 do
    list[i] = value
  end
  if type(list) ~= "table" then
    refuse("%s: option '%s' is a %s; accepted: a number, or a list of %d", what, name, type(value), n)
  end
  if #list ~= n then
    refuse("%s: option '%s' has %d numbers, but channels = \"%s\" are %d; give one for each, or one number for all",
      what, name, #list, channels, n)
  end
  for i, number in ipairs(list) do
    if type(number) ~= "number" or number ~= number or number < low or number > high then
      refuse("%s: number %d of option '%s' is %s; accepted: %s", what, i, name, tostring(number),
        high == 255 and "0 to 255" or "a finite number")
    end
  end
  return list
end

local function with_preset(options)
  local preset = PRESETS[options.preset]
  if not preset then
    return options
  end
  local all = {}
  for name, value in pairs(preset) do
    all[name] = value
  end
  if options.width or options.height then
    all.resize, all.crop = nil, nil
  end
  for name, value in pairs(options) do
    all[name] = value
  end
  return all
end

local function check_sizing(what, o)
  for _, name in ipairs { "width", "height", "resize", "crop" } do
    check_integer(what, name, o[name], 1, SIDE_MAX)
  end
  if (o.width == nil) ~= (o.height == nil) then
    refuse("%s: option '%s' is given without '%s'; give both, or 'resize' for the shorter side", what,
      o.width and "width" or "height", o.width and "height" or "width")
  end
  if o.width and (o.resize or o.crop) then
    refuse("%s: options 'width' and 'height' are given with '%s'; accepted: either 'width' and 'height' with 'fit', " ..
      "or 'resize' and 'crop'", what, o.resize and "resize" or "crop")
  end
  if o.fit and not o.width then
    refuse("%s: option 'fit' is given without 'width' and 'height'", what)
  end
  if o.resize and o.crop and o.crop > o.resize then
    refuse("%s: option 'crop' is %d, but 'resize' is %d; a crop is at most as large as the shorter side", what, o.crop,
      o.resize)
  end
end

local function scaling_of(what, o, channels, n, default_type)
  local name = o.type or default_type
  local number = base.type_of(name, what)
  if name == "string" or name == "bool" then
    refuse("%s: option 'type' is '%s'; accepted: a type of numbers", what, name)
  end
  local mean = list_of(what, "mean", o.mean or 0, n, channels, -1e30, 1e30)
  local std = list_of(what, "std", o.std or 1, n, channels, -1e30, 1e30)
  for i, value in ipairs(std) do
    if value == 0 then
      refuse("%s: number %d of option 'std' is 0; accepted: what a value can be divided by", what, i)
    end
  end
  return number, o.scale or (name:find "^float" and 1 / 255 or 1), mean, std
end

local function limit_of(what, o, name, default)
  return check_integer(what, name, o[name], 1, 2 ^ 53) or default
end

local function padded(list, fill)
  return { list[1] or fill, list[2] or fill, list[3] or fill, list[4] or fill }
end

--- Checks options; `more` are the kinds of further ones, `default` has {type, layout}. Returns all
--- of them, with those of the preset, and the fields for the C half.
function M.check(what, options, more, default)
  local o = with_preset(frame.options(what, options, merged(more)))
  local channels = o.channels or "rgb"
  local n = COUNTS[channels]
  check_sizing(what, o)
  local number, scale, mean, std = scaling_of(what, o, channels, n, default.type)
  if scale ~= scale or math.abs(scale) == math.huge then
    refuse("%s: option 'scale' is %s; accepted: a finite number", what, tostring(scale))
  end
  local background = o.background and list_of(what, "background", o.background, 3, "rgb", 0, 255)
  return o, {
    width = o.width or 0, height = o.height or 0, fit = FITS[o.fit or "stretch"],
    resize = o.resize or 0, crop = o.crop or 0,
    filter = FILTERS[o.filter or "bilinear"], channels = CHANNELS[channels],
    background = background, fill = padded(list_of(what, "fill", o.fill or 0, n, channels, 0, 255), 0),
    is_planar = (o.layout or default.layout) == "NCHW",
    type = number, scale = scale, mean = padded(mean, 0), std = padded(std, 1),
    orient = o.orient, fast = o.fast, fills_missing = o.truncated == "fill",
    max_pixels = limit_of(what, o, "max_pixels", 100e6), max_bytes = limit_of(what, o, "max_bytes", 256 * 2 ^ 20),
    max_memory = limit_of(what, o, "max_memory", 2 ^ 30),
  }
end

--- Raises unless all pictures get one size.
function M.check_fixed(what, fields)
  if fields.width == 0 and fields.crop == 0 then
    refuse("%s: the images of a batch get one size; give 'width' and 'height', or 'resize' and 'crop'", what)
  end
end

return M
