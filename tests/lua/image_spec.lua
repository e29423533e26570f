-- tidemill.image: sources, options and their refusals, batches. tests/images/pipeline.py compares
-- pixels with Pillow.
local folder = require "support.folder"
local image = require "tidemill.image"
local tensor = require "tidemill.tensor"

-- Checks that a call raises with these words, at a line of this file.
local function refused(words, f, ...)
  local arguments, n = { ... }, select("#", ...)
  local message = folder.refused(function()
    f(unpack(arguments, 1, n))
  end)
  assert(message:find(words, 1, true), message)
end

local SMALL = { width = 1, height = 1, channels = "gray", type = "uint8" }

local function with(options, more)
  local all = {}
  for name, value in pairs(options) do all[name] = value end
  for name, value in pairs(more or {}) do all[name] = value end
  return all
end

local function grey(value) return image.bytes("P5 1 1 255\n" .. string.char(value)) end
local BROKEN = image.bytes("GIF89a......", "broken.gif")

-- The context of a mini-batch, which keeps its marks.
local function new_context()
  local context = { marks = {} }
  function context:fail(i, message) self.marks[i] = message end
  return context
end

-- Sources with the greys 1 to n, except for those that are broken.
local function greys(n, broken)
  local sources = {}
  for i = 1, n do sources[i] = grey(i) end
  for _, i in ipairs(broken or {}) do sources[i] = BROKEN end
  return sources
end

local function values(t)
  return { t:bytes():byte(1, -1) }
end

describe("an image", function()
  local dir
  before_each(function() dir = folder.new() end)
  after_each(function() dir:remove() end)

  it("is what was written, and has a header", function()
    local t = tensor.from_table("uint8", { { { 1, 2, 3 }, { 4, 5, 6 } } })
    assert.is_true(image.write(dir:at "a.png", t))
    assert.same(t:to_table(), image.load(dir:at "a.png"):to_table())
    assert.same({ format = "png", width = 2, height = 1, channels = 3, bits = 8, orientation = 1 },
      image.info(dir:at "a.png"))
    assert.is_true(image.write(dir:at "a.jpeg", tensor.new("uint8", { 4, 7 }), { quality = 90 }))
    assert.same({ format = "jpeg", width = 7, height = 4, channels = 1, bits = 8, orientation = 1 },
      image.info(dir:at "a.jpeg"))
    assert.is_true(image.write(dir:at "b", t, { format = "jpeg" }))
    assert.equal("jpeg", image.info(dir:at "b").format)
  end)

  it("may come from a reader, or from bytes", function()
    local path = dir:write("a.pgm", "P5 1 1 255\n\7")
    for _, source in ipairs { path, assert(io.open(path)), image.bytes(dir:read "a.pgm") } do
      assert.same({ 7 }, values(image.load(source, { channels = "gray" })))
    end
  end)

  it("that cannot be read has a reason", function()
    local t, message, code = image.load(dir:at "none.png")
    assert.is_nil(t)
    assert.equal(("cannot read '%s': no such file or directory"):format(dir:at "none.png"), message)
    assert.equal("ENOENT", code)
    t, message = image.load(BROKEN)
    assert.is_nil(t)
    assert.is_truthy(message:find("cannot read 'broken.gif': ", 1, true), message)
    assert.is_truthy(message:find("GIF", 1, true), message)
    t, message = image.info(dir.path)
    assert.is_nil(t)
    assert.is_truthy(message:find(": it is a folder", 1, true), message)
    local long = dir:write("long.png", ("x"):rep(100))
    t, message, code = image.load(long, { max_bytes = 99 })
    assert.is_nil(t)
    assert.equal(("cannot read '%s': the file has 100 bytes; 'max_bytes' is 99 bytes"):format(long), message)
    assert.equal("ELIMIT", code)
    t, message = image.load(assert(io.open(long)), { max_bytes = 99 })
    assert.is_nil(t)
    assert.equal("cannot read 'image 1': it has more than 99 bytes, which 'max_bytes' allows", message)
    t, message = image.load(image.bytes "P5 9 1 255\n123456789", { max_pixels = 8 })
    assert.is_nil(t)
    assert.is_truthy(message:find("9", 1, true) and message:find("max_pixels", 1, true), message)
  end)

  it("says where its points are in the tensor", function()
    local wide = image.bytes("P5 4 2 255\n" .. ("\1"):rep(8))
    local _, place = image.load(wide, { width = 8, height = 8, fit = "contain" })
    assert.same({ scale_x = 2, scale_y = 2, offset_x = 0, offset_y = 2 }, place)
    local _, _, places = image.batch({ wide }, { resize = 4, crop = 2 })
    assert.same({ { scale_x = 2, scale_y = 2, offset_x = -3, offset_y = -1 } }, places)
  end)

  it("follows the preset, unless other options override it", function()
    local t = image.load(grey(255), { preset = "imagenet" })
    assert.same({ 224, 224, 3 }, t.shape)
    assert.equal("float32", t.type)
    assert.is_true(math.abs(t:at(1, 1, 1) - (1 - 0.485) / 0.229) < 1e-5)
    t = image.load(grey(255), { preset = "imagenet", width = 3, height = 2, std = 1 })
    assert.same({ 2, 3, 3 }, t.shape)
    assert.is_true(math.abs(t:at(1, 1, 3) - (1 - 0.406)) < 1e-6)
  end)

  it("is filled where its file is cut, if that is wanted", function()
    assert.is_true(image.write(dir:at "a.png", tensor.new("uint8", { 99, 90 })))
    local cut = image.bytes(dir:read("a.png"):sub(1, -40), "cut.png")
    local t, message = image.load(cut)
    assert.is_nil(t)
    assert.is_truthy(message:find "cannot read 'cut.png': .*row", message)
    assert.same({ 99, 90, 3 }, image.load(cut, { truncated = "fill" }).shape)
  end)

  it("of no right tensor is not written", function()
    refused("image.write: the tensor is float32 [2, 2]; accepted: uint8 of [height, width]", image.write,
      dir:at "a.png", tensor.new("float32", { 2, 2 }))
    refused("'a.gif' has no extension that names a format; accepted: .png, .jpg, .jpeg", image.write, "a.gif",
      tensor.new("uint8", { 2, 2 }))
    refused("image.write: a table was given; accepted: a tensor", image.write, "a.png", {})
    refused("option 'quality' is 0; accepted: an integer from 1 to 100", image.write, "a.jpg",
      tensor.new("uint8", { 2, 2 }), { quality = 0 })
    local ok, message = image.write(dir:at "none/a.png", tensor.new("uint8", { 2, 2 }))
    assert.is_nil(ok)
    assert.is_truthy(message:find("none/a.png", 1, true), message)
    ok, message = image.write(dir:at "a.jpg", tensor.new("uint8", { 2, 2, 4 }))
    assert.is_nil(ok)
    assert.is_truthy(message:find("4", 1, true), message)
    assert.is_false(dir:has "a.jpg")
  end)
end)

describe("a batch of images", function()
  it("is one tensor, of float32 from 0 to 1 by default", function()
    local t, numbers = image.batch({ grey(0), grey(255) }, { width = 2, height = 1 })
    assert.equal("float32", t.type)
    assert.same({ 2, 3, 1, 2 }, t.shape)
    assert.same({ 1, 2 }, numbers)
    assert.equal(1, t:at(2, 3, 1, 2))
    t = image.batch({ grey(9) }, { width = 2, height = 1, layout = "NHWC", type = "int32" })
    assert.same({ 1, 1, 2, 3 }, t.shape)
    assert.equal(9, t:at(1, 1, 2, 3))
    assert.equal(0, #image.batch({}, SMALL))
  end)

  it("leaves out what cannot be read, if there is a context", function()
    for threads = 0, 2 do
      local context = new_context()
      local t, numbers = image.batch(greys(6, { 2, 6 }), with(SMALL, { context = context, threads = threads }))
      assert.same({ 1, 3, 4, 5 }, values(t))
      assert.same({ 1, 3, 4, 5 }, numbers)
      assert.is_truthy(context.marks[2]:find("cannot read 'broken.gif'", 1, true))
      assert.is_truthy(context.marks[6] and not context.marks[1])
    end
    local context = new_context()
    local t, numbers = image.batch({ BROKEN }, with(SMALL, { context = context }))
    assert.equal(0, #t)
    assert.same({}, numbers)
  end)

  it("raises, and names the first image that cannot be read, without one", function()
    refused("image.batch: cannot read 'broken.gif'", image.batch, greys(3, { 2 }), SMALL)
    refused("image.batches: cannot read 'broken.gif'", function()
      for _ in image.batches(greys(3, { 2 }), SMALL) do end -- luacheck: ignore 542
    end)
  end)

  it("comes in its order, with any number of threads", function()
    for threads = 0, 3 do
      for _, ahead in ipairs { 0, 1, 4 } do
        local seen, sizes, context = {}, {}, new_context()
        local options = with(SMALL, { batch = 7, threads = threads, ahead = ahead, context = context })
        for t, numbers in image.batches(greys(30, { 3, 15, 16, 17, 18, 19, 20, 21 }), options) do
          sizes[#sizes + 1] = #t
          for k, value in ipairs(values(t)) do
            assert.equal(value, numbers[k])
            seen[#seen + 1] = value
          end
        end
        assert.same({ 6, 7, 7, 2 }, sizes) -- nothing can be read of the third
        assert.equal(22, #seen)
        assert.is_truthy(context.marks[3] and context.marks[21])
      end
    end
  end)

  it("is valid until the next step", function()
    local first, copy
    for t in image.batches(greys(3), with(SMALL, { batch = 1, threads = 1 })) do
      if not first then
        first, copy = t, t:copy()
      else
        refused("of an earlier step of a loop", first.bytes, first)
      end
    end
    assert.same({ 1 }, values(copy))
    refused("of an earlier step of a loop", first.bytes, first)
  end)

  it("ends when its loop is left, and memory stays bounded", function()
    for _ = 1, 40 do
      local seen = 0
      for _ in image.batches(greys(20), with(SMALL, { batch = 2, threads = 2 })) do
        seen = seen + 1
        if seen == 2 then break end
      end
      pcall(function()
        for _ in image.batches(greys(20), with(SMALL, { batch = 2, threads = 1 })) do error "left" end
      end)
    end
    collectgarbage()
    collectgarbage()
    local threads = 0
    for line in io.lines "/proc/self/status" do threads = tonumber(line:match "^Threads:%s*(%d+)") or threads end
    assert.is_true(threads < 8, threads .. " threads are left")
  end)

  it("holds at most ahead + 2 tensors", function()
    local side = 500 -- 1 MB a tensor of one image
    collectgarbage()
    local before, most = collectgarbage "count", 0
    local options = { width = side, height = side, channels = "gray", batch = 1, ahead = 2, threads = 1 }
    for _ in image.batches(greys(12), options) do most = math.max(most, collectgarbage "count" - before) end
    assert.is_true(most < 4.5 * side * side * 4 / 1024, most .. " KB")
  end)
end)

describe("a loop over images that is left early", function()
  local options = with(SMALL, { batch = 2, threads = 3 })

  local function threads()
    for line in io.lines "/proc/self/status" do
      local n = line:match "^Threads:%s*(%d+)"
      if n then return tonumber(n) end
    end
  end

  before_each(function()
    collectgarbage()
    collectgarbage "stop"
  end)
  after_each(function() collectgarbage "restart" end)

  it("ends at once when it is closed", function()
    local before, steps, last = threads(), 0, nil
    local loop = image.batches(greys(20), options)
    for t in loop do
      steps, last = steps + 1, t
      assert.equal(before + 3, threads())
      if steps == 2 then loop:close() end
    end
    assert.equal(before, threads())
    assert.equal(2, steps)
    refused("of an earlier step of a loop", last.bytes, last)
    loop:close()
    assert.is_nil((loop()))
    assert.equal("loop over batches of images", tostring(loop))
  end)

  it("is closed when it has come to its end", function()
    local before = threads()
    for _ in image.batches(greys(3), options) do assert.equal(before + 3, threads()) end
    assert.equal(before, threads())
  end)

  it("leaves a bounded number of threads, also where the collector does not come by itself", function()
    local before, most = threads(), 0
    for _ = 1, 50 do
      image.batches(greys(20), options)()
      most = math.max(most, threads() - before)
    end
    assert.is_true(most <= 9 * 3, most .. " threads")
  end)

  it("goes on if a variable has it, whatever else is left", function()
    local kept = {}
    for i = 1, 12 do kept[i] = image.batches(greys(4), options) end
    for i = 1, 12 do
      local n = 0
      for t in kept[i] do n = n + #t end
      assert.equal(4, n)
    end
  end)
end)

describe("images that image.start() reads", function()
  it("are those of image.batch(), with any number of threads, also when asked for twice", function()
    for threads = 0, 3 do
      local context = new_context()
      local started = image.start(greys(9, { 2, 9 }), with(SMALL, { threads = threads, context = context }))
      assert.is_nil(context.marks[2])
      local t, numbers, places = started:wait()
      assert.same({ 1, 3, 4, 5, 6, 7, 8 }, numbers)
      assert.same(numbers, values(t))
      assert.equal(7, #places)
      assert.is_truthy(context.marks[2]:find("cannot read 'broken.gif'", 1, true))
      context.marks = {}
      local again, same, places_again = started:wait()
      assert.is_true(again == t and same == numbers and places_again == places)
      assert.same({}, context.marks)
    end
  end)

  it("raise when they are waited for, each time, without a context", function()
    local started = image.start(greys(3, { 2 }), SMALL)
    for _ = 1, 2 do refused("image.start: cannot read 'broken.gif'", started.wait, started) end
  end)

  it("may be forgotten, and may be none", function()
    for _ = 1, 40 do image.start(greys(20), with(SMALL, { threads = 2 })) end
    collectgarbage()
    collectgarbage()
    local t, numbers = image.start({}, SMALL):wait()
    assert.equal(0, #t)
    assert.same({}, numbers)
  end)

  it("belong to one mini-batch", function()
    local context = { minibatch_index = 4, try = 1, fail = function() end }
    local started = image.start(greys(2), with(SMALL, { context = context }))
    context.minibatch_index, context.part = 5, { first = 1, last = 2 }
    refused("image.start: these images were started for mini-batch 4, try 1, and this is mini-batch 5, try 1, " ..
      "items 1 to 2; wait for them in the run() of their own mini-batch", started.wait, started)
    context.minibatch_index, context.part = 4, nil
    assert.same({ 1, 2 }, select(2, started:wait()))
    refused("call it as started:wait(), with a colon", started.wait)
  end)

  it("are refused at once if they cannot be a batch", function()
    refused("image.start: a single path was given", image.start, "a.png", SMALL)
    refused("image.start: the images of a batch get one size", image.start, {}, {})
    refused("did you mean 'threads'?", image.start, {}, with(SMALL, { thread = 1 }))
  end)
end)

describe("the options of tidemill.image", function()
  local function refuses(words, options) refused("image.batch: " .. words, image.batch, { grey(1) }, options) end

  it("are refused with what is accepted", function()
    local size = { width = 2, height = 2 }
    refuses("unknown option 'widht'", { widht = 3 })
    refused("did you mean 'width'?", image.batch, {}, { widht = 3 })
    refuses("option 'mean' has 4 numbers, but channels = \"rgb\" are 3", with(size, { mean = { 1, 2, 3, 4 } }))
    refuses("number 2 of option 'std' is 0", with(size, { std = { 1, 0, 1 } }))
    refuses("option 'mean' is a string; accepted: a number, or a list of 3", with(size, { mean = "0.5" }))
    refuses("option 'crop' is 256, but 'resize' is 224", { resize = 224, crop = 256 })
    refuses("option 'width' is 0; accepted: an integer from 1 to 1000000", { width = 0, height = 2 })
    refuses("option 'width' is 1.5; accepted: an integer", { width = 1.5, height = 2 })
    refuses("option 'width' is given without 'height'", { width = 2 })
    refuses("options 'width' and 'height' are given with 'crop'", with(size, { crop = 3 }))
    refuses("option 'fit' is given without 'width' and 'height'", { resize = 9, crop = 9, fit = "cover" })
    refuses("option 'fit' is 'covr'; accepted: stretch, cover, contain", with(size, { fit = "covr" }))
    refuses("option 'threads' is -1; accepted: an integer from 0 to 256", with(size, { threads = -1 }))
    refuses("option 'filter' is 'linear'; accepted: bilinear, bicubic, lanczos, box, nearest",
      with(size, { filter = "linear" }))
    refuses("'float' is not a type", with(size, { type = "float" }))
    refuses("option 'type' is 'bool'; accepted: a type of numbers", with(size, { type = "bool" }))
    refuses("number 1 of option 'fill' is 256; accepted: 0 to 255", with(size, { fill = 256 }))
    refuses("option 'background' has 1 numbers, but channels = \"rgb\" are 3", with(size, { background = { 1 } }))
    refuses("option 'max_pixels' is 0; accepted: an integer from 1", with(size, { max_pixels = 0 }))
    refuses("the images of a batch get one size; give 'width' and 'height', or 'resize' and 'crop'", { resize = 9 })
    refuses("option 'scale' is nan; accepted: a finite number", with(size, { scale = 0 / 0 }))
    refused("image.batches: option 'batch' is 0; accepted: an integer from 1", image.batches, {}, { width = 1,
      height = 1, batch = 0 })
  end)

  it("and sources are refused at the caller's line", function()
    refused("image.batch: a single path was given; accepted: a list of paths", image.batch, "a.png", SMALL)
    refused("image.batch: source 2 is a number; accepted: a path, a reader of context:open(), or image.bytes(text)",
      image.batch, { grey(1), 7 }, SMALL)
    refused("image.load: source 1 is a string with a NUL byte; for the contents of a file write image.bytes(text)",
      image.load, "\137PNG\0")
    refused("image.load: source 1 is empty; accepted: a path", image.load, "")
    refused("image.bytes: a nil was given; accepted: the contents of an image file", image.bytes)
    refused("'context' is an option of image.batch and image.batches", image.load, grey(1), { context = {} })
  end)
end)
