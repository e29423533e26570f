-- tidemill.tokenizer: the rows that encode() returns, options, and the messages of refusals.
-- (tests/tokenizer compares the tokens with another implementation.)
local Tokenizer = require "tidemill.tokenizer"
local folder = require "support.folder"
local frame = require "tidemill.frame"
local fs = require "tidemill.fs"
local json = require "tidemill.json"
local small_tokenizer = require "tokenizer.small_tokenizer"

describe("a tokenizer", function()
  local dir
  setup(function() dir = folder.new() end)
  teardown(function() dir:remove() end)

  local function small(others) return Tokenizer.from_file(small_tokenizer.write(dir:at "tokenizer.json", others)) end

  -- Checks that a call raises with these words, at a line of the script.
  local function refused(words, f, ...)
    local arguments = { ... }
    local message = folder.refused(function() f(unpack(arguments)) end)
    assert(message:find(words, 1, true), message)
  end

  local function numbers(t)
    local rows = {}
    for i, row in ipairs(t:to_table()) do
      local words = {}
      for k, n in ipairs(row) do words[k] = tostring(tonumber(n)) end
      rows[i] = table.concat(words, " ")
    end
    return rows
  end

  it("makes a row for each text", function()
    local inputs = small():encode { "Hello, WORLDS!", "", "hello" }
    assert.same({ "1 4 8 5 6 7 2", "1 2 0 0 0 0 0", "1 4 2 0 0 0 0" }, numbers(inputs.input_ids))
    assert.same({ "1 1 1 1 1 1 1", "1 1 0 0 0 0 0", "1 1 1 0 0 0 0" }, numbers(inputs.attention_mask))
    assert.same({ "0 0 0 0 0 0 0", "0 0 0 0 0 0 0", "0 0 0 0 0 0 0" }, numbers(inputs.token_type_ids))
    assert.equal("int64", inputs.input_ids.type)
    assert.same({ 0, 0 }, small():encode({}).input_ids.shape)
    assert.same({ "1 4 2" }, numbers(small():encode("hello").input_ids))
  end)

  it("cuts and fills rows", function()
    local t = small()
    local texts = { "hello worlds !", "hello" }
    assert.same({ "1 4 5 2", "1 4 2 0" }, numbers(t:encode(texts, { max_length = 4 }).input_ids))
    assert.same({ "1 4 5 6 7 2 0 0", "1 4 2 0 0 0 0 0" },
      numbers(t:encode(texts, { max_length = 8, pad = "max_length" }).input_ids))
    assert.same({ "4 5 6", "4 7 7" },
      numbers(t:encode(texts, { max_length = 3, add_special_tokens = false, pad_token = "!" }).input_ids))
  end)

  it("cuts and fills rows on the side that is asked for", function()
    local t = small()
    local texts = { "hello worlds !", "hello" }
    assert.same({ "1 4 5 2", "0 1 4 2" }, numbers(t:encode(texts, { max_length = 4, pad_side = "left" }).input_ids))
    assert.same({ "1 6 7 2", "1 4 2 0" }, numbers(t:encode(texts, { max_length = 4, cut_side = "left" }).input_ids))
    local other = small { truncation = { max_length = 4, direction = "Left" },
                          padding = { strategy = "BatchLongest", direction = "Left", pad_id = 0 } }
    assert.same({ "1 6 7 2", "0 1 4 2" }, numbers(other:encode(texts).input_ids))
    assert.same({ "1 4 5 2", "1 4 2 0" },
      numbers(other:encode(texts, { pad_side = "right", cut_side = "right" }).input_ids))
  end)

  it("takes a column of a data frame", function()
    local df = frame.from_table { text = { "hello", "world !" }, n = { 1, 2 } }
    assert.same({ "1 4 2 0", "1 5 7 2" }, numbers(small():encode(df.c.text).input_ids))
    local t, holes = small(), frame.from_table { text = { "hello", frame.null, "world" } }
    refused("encode: row 2 of the column is null; accepted: strings; df:fill_null { column = '' } gives it a value",
      t.encode, t, holes.c.text)
    refused("encode: a column of the type long was given; accepted: a list of strings", t.encode, t, df.c.n)
    refused("encode: a data frame was given; accepted: a list of strings, a string, or a column of strings, such as"
      .. " df.c.text", t.encode, t, df)
  end)

  it("takes what the file says of rows, unless options say otherwise", function()
    local t = small { truncation = { max_length = 4, direction = "Left" },
                      padding = { strategy = { Fixed = 6 }, direction = "Left", pad_id = 8, pad_type_id = 3,
                                  pad_to_multiple_of = 4 } }
    local inputs = t:encode { "hello world ! !" }
    assert.same({ "8 8 8 8 1 7 7 2" }, numbers(inputs.input_ids))
    assert.same({ "3 3 3 3 0 0 0 0" }, numbers(inputs.token_type_ids))
    assert.same({ "1 7 7 2" }, numbers(t:encode({ "hello world ! !" }, { pad = "longest" }).input_ids))
    assert.same({ "8 8 1 0 4 5 7 2" }, numbers(t:encode({ "[PAD] hello world !" }, { max_length = 20 }).input_ids))
  end)

  it("knows its tokens", function()
    local t = small()
    assert.equal(9, t.vocab_size)
    assert.equal(5, t:token_to_id "world")
    assert.is_nil(t:token_to_id "World")
    assert.equal("##s", t:id_to_token(6))
    assert.equal("##s", t:id_to_token(6LL))
    for _, id in ipairs { -1, 9, 0.5, 2 ^ 40, 0 / 0 } do assert.is_nil(t:id_to_token(id)) end
  end)

  it("says what is wrong with a file", function()
    local function file(text) assert(fs.write(dir:at "bad.json", text)) end
    local function says(words) refused(words, Tokenizer.from_file, dir:at "bad.json") end
    refused("no such file or directory", Tokenizer.from_file, dir:at "none.json")
    refused("from_file: a nil was given; accepted: a path", Tokenizer.from_file)
    fs.mkdir(dir:at "folder")
    refused("cannot read '" .. dir:at "folder" .. "'", Tokenizer.from_file, dir:at "folder")
    file("version https://git-lfs.github.com/spec/v1\noid sha256:" .. ("4d7a"):rep(16) .. "\nsize 12345\n")
    says "the file is a Git LFS pointer; run 'git lfs pull'"
    file ""
    says "bad.json': the file is empty"
    file(("["):rep(200))
    says "arrays and objects are nested deeper than 100"
    file(("[0],"):rep(9000000))
    says "is longer than 33554432 bytes"
    file "{"
    says "it is not a tokenizer.json: line 1"
    file '{"vocab_size": 30522}'
    says 'it is not a tokenizer.json: it has no "model"'
    file '{"model":{"type":"WordLevel","vocab":{"a":0}}}'
    says "model 'WordLevel' is not supported; these are: BPE (of bytes), Unigram, WordPiece"
    refused("normalizer 'Nmt' is not supported", small, { normalizer = { type = "Nmt" } })
    refused("pre-tokenizer 'Digits' is not supported", small, { pre_tokenizer = { type = "Digits" } })
    refused("post-processor 'Other' is not supported", small, { post_processor = { type = "Other" } })
    refused("entry 0 of added_tokens: the token 'x' has an id that is not in 0 to 9, those of the 10 tokens: 10",
      small, { added_tokens = { { id = 10, content = "x" } } })
  end)

  it("refuses texts and options that cannot be used", function()
    local t, many = small(), {}
    for i = 1, 20000 do many[i] = "hello" end
    refused("encode: texts are a nil; accepted: a list of strings, a string, or a column of strings", t.encode, t)
    refused("encode: the table of texts has the key 'text', which no list has", t.encode, t, { text = "a" })
    refused("encode: the table of texts has the key '3', which no list has", t.encode, t, { "a", [3] = "b" })
    refused("encode: text 1 is a userdata; accepted: a string", t.encode, t, { json.null })
    refused("encode: 20000 rows of 20000 tokens would take 2 GB or more; give a smaller 'max_length', or fewer texts"
      .. " at once", t.encode, t, many, { pad = "max_length", max_length = 20000 })
    refused("encode: text 2 is a number; accepted: a string", t.encode, t, { "a", 7 })
    refused("encode: text 2 cannot be used: it is not UTF-8", t.encode, t, { "a", "caf\233" })
    refused("encode: unknown option 'maxlength'; accepted: add_special_tokens, cut_side, max_length, pad, pad_side,"
      .. " pad_token; did you mean 'max_length'?", t.encode, t, "a", { maxlength = 3 })
    refused("encode: option 'max_length' is 2.5; accepted: a positive integer", t.encode, t, "a", { max_length = 2.5 })
    refused("encode: option 'max_length' is 0", t.encode, t, "a", { max_length = 0 })
    refused("encode: max_length is 1, but 2 special tokens are added to each text; accepted: at least 2", t.encode, t,
      "a", { max_length = 1 })
    refused("encode: option 'pad' is 'all'; accepted: longest, max_length", t.encode, t, "a", { pad = "all" })
    refused("encode: pad is 'max_length', but there is no max_length; give one", t.encode, t, "a",
      { pad = "max_length" })
    refused("encode: the pad_token '<pad>' is not in the vocabulary", t.encode, t, "a", { pad_token = "<pad>" })
    refused("encode: a string was given; accepted: a tokenizer", t.encode, "a")
    refused("token_to_id: a number was given", t.token_to_id, t, 5)
    refused("id_to_token: a string was given", t.id_to_token, t, "x")
    refused("Tokenizer has no 'encodes'; did you mean 'encode'?", function() return t.encodes end)
    refused("tidemill.tokenizer has no 'from_files'", function() return Tokenizer.from_files end)
  end)

  it("needs a padding token only where rows differ", function()
    local model = { type = "Unigram", unk_id = 0, vocab = { { "?", 0 }, { "a", -1 } } }
    local t = small { model = model, added_tokens = {}, post_processor = { type = "ByteLevel" } }
    assert.same({ "1 1", "1 0" }, numbers(t:encode({ "aa", "ab" }).input_ids))
    refused("encode: texts of different lengths need a padding token, and the file names none; give 'pad_token'",
      t.encode, t, { "aa", "a" })
  end)

  it("frees what the collector takes", function()
    local path = small_tokenizer.write(dir:at "tokenizer.json")
    for _ = 1, 50 do Tokenizer.from_file(path):encode { "hello" } end
    collectgarbage()
    collectgarbage()
  end)
end)
