-- A tokenizer.json in the manner of BERT, with nine tokens, for specs:
--
--   small_tokenizer.write(path)                       the file
--   small_tokenizer.write(path, { model = nil, ... }) the same with other parts; json.null removes
local fs = require "tidemill.fs"
local json = require "tidemill.json"

local small_tokenizer = {}

local function special(name) return { SpecialToken = { id = name, type_id = 0 } } end

local function parts()
  local ids = { ["[CLS]"] = { ids = { 1 } }, ["[SEP]"] = { ids = { 2 } } }
  return {
    version = "1.0",
    added_tokens = {
      { id = 0, content = "[PAD]", special = true }, { id = 1, content = "[CLS]", special = true },
      { id = 2, content = "[SEP]", special = true }, { id = 3, content = "[UNK]", special = true },
    },
    normalizer = { type = "BertNormalizer", clean_text = true, handle_chinese_chars = true, lowercase = true },
    pre_tokenizer = { type = "BertPreTokenizer" },
    post_processor = {
      type = "TemplateProcessing", special_tokens = ids,
      single = { special "[CLS]", { Sequence = { id = "A", type_id = 0 } }, special "[SEP]" },
    },
    model = {
      type = "WordPiece", unk_token = "[UNK]", continuing_subword_prefix = "##",
      max_input_chars_per_word = 100,
      vocab = { ["[PAD]"] = 0, ["[CLS]"] = 1, ["[SEP]"] = 2, ["[UNK]"] = 3, hello = 4, world = 5, ["##s"] = 6,
                ["!"] = 7, [","] = 8 },
    },
  }
end

function small_tokenizer.write(path, others)
  local file = parts()
  for key, value in pairs(others or {}) do file[key] = value end
  assert(fs.write(path, assert(json.encode(file))))
  return path
end

return small_tokenizer
