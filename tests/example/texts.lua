-- Writes what the manual's chapter about texts needs into a folder: texts.lua FOLDER. The model
-- adds up a weight for each token: "great" is good, "boring" is bad.
local fs = require "tidemill.fs"
local folder = ...
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
package.path = here .. "/../../examples/?.lua;" .. here .. "/../?.lua;" .. package.path
local onnx_writer = require "onnx_writer"
local small_tokenizer = require "tokenizer.small_tokenizer"

local weights = { great = 2, good = 1, bad = -1, boring = -2 }
local words = { "[PAD]", "[CLS]", "[SEP]", "[UNK]", "great", "good", "bad", "boring", "a", "film", "##s", ",", "." }
local vocabulary, table_of_weights = {}, {}
for i, word in ipairs(words) do
  vocabulary[word] = i - 1
  table_of_weights[2 * i - 1], table_of_weights[2 * i] = -(weights[word] or 0), weights[word] or 0
end

assert(fs.mkdir(folder .. "/model"))
small_tokenizer.write(folder .. "/model/tokenizer.json", { model = {
  type = "WordPiece", unk_token = "[UNK]", continuing_subword_prefix = "##", max_input_chars_per_word = 100,
  vocab = vocabulary,
} })
onnx_writer.write(folder .. "/model/reviews.onnx", {
  inputs = { { "input_ids", "int64", { "n", "tokens" } }, { "attention_mask", "int64", { "n", "tokens" } } },
  outputs = { { "scores", "float32", { "n", 2 } } },
  initializers = { { "weights", "float32", { #words, 2 }, table_of_weights }, { "last", "int64", { 1 }, { 2 } },
                   { "second", "int64", { 1 }, { 1 } } },
  nodes = {
    { "Gather", { "weights", "input_ids" }, { "found" } },
    { "Cast", { "attention_mask" }, { "mask" }, attributes = { to = 1 } },
    { "Unsqueeze", { "mask", "last" }, { "masks" } },
    { "Mul", { "found", "masks" }, { "kept" } },
    { "ReduceSum", { "kept", "second" }, { "scores" }, attributes = { keepdims = 0 } },
  },
})
assert(fs.write(folder .. "/reviews.csv", 'id,text\n1,"Great film, a good film."\n2,Boring.\n3,A film\n'))
