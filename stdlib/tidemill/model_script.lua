-- model_script.lua - the entry script of a step that has a model in place of a script:
-- `tidemill map --model m.onnx INPUT...`, and ParallelRunConfig { model = "m.onnx" }.
--
-- Of a table it returns the columns, followed by the model's outputs; of an image a line of JSON
-- with its name, the best label and its score. It is an ordinary entry script, which gets the
-- model as an argument. Copy it to change what it does.
local frame = require "tidemill.frame"
local image = require "tidemill.image"
local json = require "tidemill.json"
local model_options = require "tidemill.model_options"
local onnx = require "tidemill.onnx"
require "tidemill.tensor"

local IMAGE_OPTIONS = { "width", "height", "fit", "resize", "crop", "preset", "filter", "channels", "layout", "scale",
  "mean", "std" }
local TABLE_OPTIONS = { "columns", "null", "prefix" }
local CHANNEL_COUNTS = { gray = 1, rgb = 3, bgr = 3, rgba = 4 }
local CHANNELS = { [1] = "gray", [3] = "rgb", [4] = "rgba" }

local args, session, labels
local images -- the options of tidemill.image; nil if the model does not take images

local function fail(format, ...)
  error(format:format(...), 0)
end

local function shape_text(shape)
  if not shape then
    return "of any shape"
  end
  local words = {}
  for i, axis in ipairs(shape) do words[i] = axis == -1 and "?" or tostring(axis) end
  return "[" .. table.concat(words, ", ") .. "]"
end

-- ---- labels ----

local function read_text(path)
  local file, message = io.open(path)
  local text
  if file then
    text, message = file:read "*a"
    file:close()
  end
  if not text then
    fail("cannot read the labels '%s': %s; accepted: a file with one label per line", path,
      message:match "([^:]*)$":gsub("^ ", ""))
  end
  return (text:gsub("^\239\187\191", "")) -- the mark of UTF-8
end

local function read_labels(path)
  local list, lines = {}, {}
  for line in (read_text(path) .. "\n"):gmatch "([^\n]*)\n" do list[#list + 1] = (line:gsub("\r$", "")) end
  while list[#list] == "" do list[#list] = nil end
  for i, label in ipairs(list) do
    if not json.encode(label) then
      fail("the labels '%s', line %d: the text is not UTF-8", path, i)
    end
    if lines[label] then
      fail("the labels '%s': lines %d and %d are both '%s'; accepted: a name for each class", path, lines[label], i,
        label)
    end
    lines[label] = i
  end
  return list
end

local function check_labels(classes, name)
  if labels and #labels ~= classes then
    fail("the file of labels '%s' has %d lines, and output '%s' has %d classes; accepted: a line for each", args.labels,
      #labels, name, classes)
  end
end

-- Where the model says how many classes an output has.
local function check_known_labels(outputs)
  for _, output in ipairs(outputs) do
    local classes = output.shape and #output.shape == 2 and output.shape[2]
    if type(classes) == "number" and classes > 1 then
      check_labels(classes, output.name)
    end
  end
end

-- The outputs that are wanted.
local function chosen_outputs()
  local by_name, list = {}, {}
  for _, output in ipairs(session.outputs) do by_name[output.name] = output end
  for i, name in ipairs(args.outputs or {}) do
    if not by_name[name] then
      local names = {}
      for k, output in ipairs(session.outputs) do names[k] = output.name end
      fail("the model has no output '%s'; accepted: %s", name, table.concat(names, ", "))
    end
    list[i] = by_name[name]
  end
  return args.outputs and list or session.outputs
end

-- ---- images ----

-- The sizes of the model's axes; free ones are texts or -1.
local function axes_of(input)
  local _, a, b, c = unpack(input.shape)
  local layout = args.layout or ((CHANNELS[a] or not CHANNELS[c]) and "NCHW" or "NHWC")
  if layout == "NHWC" then
    return layout, c, a, b
  end
  return layout, a, b, c
end

local function is_size(axis)
  return type(axis) == "number" and axis > 0
end

-- The size of the images: that of the options, or that of the model.
local function set_size(o, input, height, width)
  local is_fixed = is_size(height) and is_size(width)
  if o.preset and not (o.width or o.height or o.resize or o.crop) then
    o.resize, o.crop = 256, 224
  elseif o.resize and not o.crop and is_fixed and height == width then
    o.crop = height
  elseif not (o.width or o.height or o.resize or o.crop) then
    if not is_fixed then
      fail("the model's input '%s' is %s, and its height or width is free; give --width and --height, or --resize and "
        .. "--crop", input.name, shape_text(input.shape))
    end
    o.width, o.height = width, height
  end
  local given_width, given_height = o.width or o.crop, o.height or o.crop
  if given_width and given_height and ((is_size(width) and width ~= given_width)
      or (is_size(height) and height ~= given_height)) then
    fail("images are made %d wide and %d high, and the model's input '%s' is %s; leave the size to the model, or give "
      .. "--width %s --height %s", given_width, given_height, input.name, shape_text(input.shape), tostring(width),
      tostring(height))
  end
end

local function image_options(input)
  local o = {}
  for _, name in ipairs(IMAGE_OPTIONS) do o[name] = args[name] end
  local layout, channels, height, width = axes_of(input)
  o.layout, o.type = layout, input.type
  o.orient, o.fast = args.orient or nil, args.fast or nil
  if not o.channels and is_size(channels) and not CHANNELS[channels] then
    fail("the model's input '%s' is %s, with %d channels; accepted for images: 1, 3 or 4, and --layout says where",
      input.name, shape_text(input.shape), channels)
  end
  if o.channels and is_size(channels) and CHANNEL_COUNTS[o.channels] ~= channels then
    fail("--channels %s has %d, and the model's input '%s' is %s, with %d; leave the option out", o.channels,
      CHANNEL_COUNTS[o.channels], input.name, shape_text(input.shape), channels)
  end
  o.channels = o.channels or CHANNELS[channels]
  for _, name in ipairs { "mean", "std" } do
    if o[name] and #o[name] == 1 then o[name] = o[name][1] end
  end
  set_size(o, input, height, width)
  o.batch = is_size(input.shape[1]) and input.shape[1] or args.most
  return o
end

local function escaped_byte(byte) return ("\\x%02X"):format(byte:byte()) end

-- The name of an image, in which bytes that are not UTF-8 become "\xFF".
local function name_of(context, i)
  local name = context:name(i)
  if json.encode(name) then
    return name
  end
  local parts, at = {}, 1
  while at <= #name do
    local stop = at
    while stop < at + 4 and not json.encode(name:sub(at, stop)) do stop = stop + 1 end
    parts[#parts + 1] = stop < at + 4 and name:sub(at, stop) or escaped_byte(name:sub(at, at))
    at = stop < at + 4 and stop + 1 or at + 1
  end
  return table.concat(parts)
end

-- An integer for each image: the model has chosen the class itself.
local function add_classes(lines, classes, name, numbers, context)
  for k, i in ipairs(numbers) do
    local class = tonumber(classes[k])
    if labels and not labels[class + 1] then
      context:fail(i, ("output '%s' is class %d, and the file of labels '%s' has %d lines"):format(name, class,
        args.labels, #labels))
    else
      lines[#lines + 1] = json.encode { name = name_of(context, i), label = labels and labels[class + 1] or class }
    end
  end
end

-- The scores as [n, classes].
local function check_scores(scores, name, n)
  if type(scores) == "table" or scores.type == "string" then
    fail("output '%s' does not have a number for each class; choose one that has: --outputs NAME", name)
  end
  local shape = scores.shape
  if #shape < 1 or #shape > 2 and not (#shape == 4 and shape[3] == 1 and shape[4] == 1) or shape[1] ~= n then
    fail("output '%s' is %s for %d images; accepted: a number for each image, or one for each of its classes: "
      .. "[%d] or [%d, classes]. Choose another: --outputs NAME", name, shape_text(shape), n, n, n)
  end
  return scores:reshape { n, -1 }
end

-- Adds a line for each image in `scores`; `numbers` are those of the images in the mini-batch.
local function add_lines(lines, scores, name, numbers, context)
  scores = check_scores(scores, name, #numbers)
  local classes = scores.shape[2]
  if classes == 1 and scores.type:find "int" then
    return add_classes(lines, scores:reshape { #numbers }, name, numbers, context)
  end
  check_labels(classes, name)
  if args.softmax then
    scores = scores:softmax()
  end
  local best, values = scores:argmax()
  for k, i in ipairs(numbers) do
    local class, score = tonumber(best[k]), tonumber(values[k])
    if score ~= score or math.abs(score) == math.huge then
      context:fail(i, ("output '%s' is %s; accepted: a finite number"):format(name, tostring(score)))
    else
      local line = { name = name_of(context, i), score = tonumber(("%.7g"):format(score)) }
      if classes > 1 then
        line.label = labels and labels[class] or class - 1
      end
      lines[#lines + 1] = json.encode(line)
    end
  end
end

local function score_images(paths, context)
  if not images then
    fail("the model's input '%s' is %s; accepted for files: one input for images, of four axes. Rows of tables: "
      .. "tidemill map --rows, or Dataset.Tabular", session.inputs[1].name, shape_text(session.inputs[1].shape))
  end
  local lines, name = {}, chosen_outputs()[1].name
  images.context = context
  for batch, numbers in image.batches(paths, images) do
    add_lines(lines, session:run(batch, { name }), name, numbers, context)
  end
  return lines
end

-- ---- tables ----

-- The columns for the model.
local function inputs_of(df)
  local input, names = session.inputs[1], args.columns or df.columns
  local k = #session.inputs == 1 and input.shape and #input.shape == 2 and input.shape[2]
  for _, name in ipairs(names) do
    k = name ~= input.name and k
  end
  if is_size(k) and k ~= #names then
    fail("%s %d columns (%s), and the model's input '%s' takes %d; name them: --columns NAME...", args.columns
      and "--columns names" or "the table has", #names, table.concat(names, ", "), input.name, k)
  end
  return args.columns and df:select(args.columns) or df
end

-- The names of the columns that inputs take, and which input takes each.
local function takers_of(df)
  local takers, rest = {}, nil
  for _, input in ipairs(session.inputs) do rest = rest or input end
  for _, name in ipairs(df.columns) do
    for _, input in ipairs(session.inputs) do
      if input.name == name then takers[name] = input end
    end
  end
  if not next(takers) then
    for _, name in ipairs(df.columns) do takers[name] = rest end
  end
  return takers
end

-- The rows of `df`, and of the columns for the model, without nulls. A row with one fails.
local function without_nulls(df, input, context)
  local failed, fills, casts = {}, {}, {}
  for name, taker in pairs(takers_of(input)) do
    local column = input.c[name]
    if column:count() < #df and args.null ~= nil then
      fills[name] = taker.type ~= "string" and args.null or nil
      casts[name] = fills[name] and (column.type == "bool" or args.null % 1 ~= 0) and "double" or nil
    end
    for i = 1, column:count() < #df and not fills[name] and #df or 0 do
      if column:is_null(i) and not failed[i] then
        failed[i] = true
        context:fail(i, ("column '%s', of type %s, is null, and the model's input '%s' takes %s; --null X "
          .. "gives numbers a value"):format(name, column.type, taker.name, taker.type))
      end
    end
  end
  if next(fills) then
    input = input:cast(casts):fill_null(fills)
  end
  if not next(failed) then
    return df, input
  end
  local function kept(frame_of)
    local i = 0
    return frame_of:filter(function()
      i = i + 1
      return not failed[i]
    end)
  end
  return kept(df), kept(input)
end

local function by_value(a, b)
  if type(a) == type(b) then
    return a < b
  end
  return type(a) == "number"
end

-- A list of maps, as classifiers of scikit-learn return them: a column for each key.
local function add_maps(columns, name, maps)
  local keys, seen = {}, {}
  for _, map in ipairs(maps) do
    for key in pairs(map) do
      if not seen[key] then keys[#keys + 1], seen[key] = key, true end
    end
  end
  table.sort(keys, by_value)
  for _, key in ipairs(keys) do
    local values = {}
    for i, map in ipairs(maps) do values[i] = map[key] or json.null end
    columns[#columns + 1] = { ("%s_%s"):format(name, tostring(key)), values, name }
  end
end

local function add_tensor(columns, name, t, rows)
  local shape = t.shape
  if shape[1] ~= rows then
    fail("output '%s' is %s for %d rows; accepted: a row for each. Choose others by --outputs NAME...", name,
      shape_text(shape), rows)
  end
  if rows == 0 then
    return
  end
  t = t:reshape { rows, -1 }
  local classes = t.shape[2]
  if classes == 1 then
    columns[#columns + 1] = { name, t:reshape { rows }, name }
    return
  end
  check_labels(classes, name)
  if args.softmax then
    t = t:softmax()
  end
  local names = {}
  for k = 1, classes do names[k] = ("%s_%s"):format(name, labels and labels[k] or k) end
  local parts = t:to_frame(names)
  for _, part in ipairs(names) do columns[#columns + 1] = { part, parts.c[part], name } end
end

-- Each column is { name, values, output, class }.
local function with_columns(df, columns)
  local taken = {}
  for _, name in ipairs(df.columns) do taken[name] = "table" end
  for _, column in ipairs(columns) do
    local name, _, output = unpack(column)
    if taken[name] == "table" then
      fail("the model's output '%s' has the name of a column of the table; give new columns another name: "
        .. "--prefix TEXT", name)
    elseif taken[name] then
      fail("the outputs '%s' and '%s' would both become column '%s'; choose: --outputs NAME...", taken[name], output,
        name)
    end
    taken[name] = output
    df = df:with_column(name, column[2])
  end
  return df
end

local function score_table(df, context)
  if images then
    fail("the model's input '%s' is %s, images; accepted for a table: inputs of one or two axes. Files of images are "
      .. "given without --rows, or by Dataset.File", session.inputs[1].name, shape_text(session.inputs[1].shape))
  end
  local outputs, columns = chosen_outputs(), {}
  local kept, input = without_nulls(df, inputs_of(df), context)
  df = kept
  if #df == 0 then
    return {}
  end
  local names, prefix = {}, args.prefix or ""
  for i, output in ipairs(outputs) do names[i] = output.name end
  local values = { session:run(input, names) }
  for i, name in ipairs(names) do
    if type(values[i]) == "table" then
      add_maps(columns, prefix .. name, values[i])
    else
      add_tensor(columns, prefix .. name, values[i], #df)
    end
  end
  return with_columns(df, columns)
end

-- ---- hooks ----

-- Options without an effect are errors.
local function check_options()
  local is_images = images ~= nil
  for _, name in ipairs(is_images and TABLE_OPTIONS or { "orient", "fast", unpack(IMAGE_OPTIONS) }) do
    if args[name] then
      fail("--%s goes with %s, and the model takes %s", name, is_images and "tables" or "images",
        is_images and "images" or "tables")
    end
  end
end

function init()
  args = model_options.parser():parse_args()
  labels = args.labels and read_labels(args.labels)
  session = onnx.InferenceSession(args.model, {
    max_batch = args.most, -- lint: allow words, the option of a session
    providers = args.providers, intra_op_num_threads = args.intra_op_num_threads,
  })
  local outputs, input = chosen_outputs(), session.inputs[1]
  if not input then
    fail("the model has no input, so it cannot score anything; accepted: a model with one input or more")
  end
  check_known_labels(outputs)
  images = #session.inputs == 1 and input.shape and #input.shape == 4 and {} or nil
  check_options()
  if images then
    images = image_options(input)
    image.batches({}, images)() -- checks the options
  end
end

function run(mini_batch, context)
  return frame.is_frame(mini_batch) and score_table(mini_batch, context) or score_images(mini_batch, context)
end
