-- tokenizer.lua - texts to the tokens that a language model takes.
--
--   local Tokenizer = require "tidemill.tokenizer"
--   local tokenizer = Tokenizer.from_file(path)                       -- in init()
--   local inputs = tokenizer:encode(texts, { max_length = 128 })      -- in run()
--   local outputs = session:run(inputs)
--
-- A tokenizer.json says what is done, and the C half (core/data/text) does it. A file that asks for
-- more raises, and the message names it. Wrong arguments raise at the caller's line.
local base = require "tidemill.frame.base"
local c = require "tidemill.tokenizer_c"
local names = require "tidemill.names"
local plan = require "tidemill.plan"

local refuse = base.refuse

--- Texts to the tokens that a language model takes, as a `tokenizer.json` says. Models: WordPiece,
--- byte-level BPE, Unigram, with the normalizers, pre-tokenizers and post-processors of BERT,
--- GPT-2, RoBERTa and T5. A file that asks for anything else raises, and the message names it.
---@class tidemill.tokenizer
local M = {}

--- A tokenizer. `vocab_size` is the number of its tokens, with added ones.
---@class tidemill.Tokenizer
---@field vocab_size integer
local Tokenizer = {}

---@class tidemill.EncodeOptions
---@field max_length? integer
---@field pad? "longest"|"max_length"
---@field pad_token? string
---@field pad_side? "left"|"right"
---@field cut_side? "left"|"right"
---@field add_special_tokens? boolean

---@class tidemill.EncodedTexts
---@field input_ids tidemill.Tensor
---@field attention_mask tidemill.Tensor
---@field token_type_ids tidemill.Tensor

-- What lua/model/lib_tokenizer.c knows of each tokenizer, and what the file says of rows.
local handles, shapes = setmetatable({}, { __mode = "k" }), setmetatable({}, { __mode = "k" })

setmetatable(Tokenizer, { __index = names.guard("Tokenizer", Tokenizer, { "vocab_size" }) })
local meta = { __index = Tokenizer, __name = "Tokenizer" }

--- Reads a `tokenizer.json` of Hugging Face's tokenizers. A file that cannot be read, or that asks
--- for what is not supported, raises.
---
---     local tokenizer = Tokenizer.from_file(vocabulary)
---     assert(tokenizer.vocab_size == 9)
---@param path string
---@return tidemill.Tokenizer
function M.from_file(path)
  base.check_path("from_file", path)
  local handle, message = c.load(path)
  if not handle then
    plan.raise(message)
  end
  local shape = c.shape(handle)
  local tokenizer = setmetatable({ vocab_size = shape.len }, meta)
  handles[tokenizer], shapes[tokenizer] = handle, shape
  return tokenizer
end

local function handle_of(tokenizer, what)
  local handle = handles[tokenizer]
  if not handle then
    refuse("%s: a %s was given; accepted: a tokenizer (methods are called with ':')", what, type(tokenizer))
  end
  return handle, shapes[tokenizer]
end

local option_kinds = { max_length = "number", pad = "|longest|max_length|", pad_token = "string",
  pad_side = "|left|right|", cut_side = "|left|right|", add_special_tokens = "boolean" }

-- Returns the limit of a row, 0 for none.
local function max_length_of(options, shape)
  local given = options.max_length
  local specials = options.add_special_tokens ~= false and shape.specials or 0
  if given and (given < 1 or given ~= math.floor(given) or given > 2147483647) then
    refuse("encode: option 'max_length' is %s; accepted: a positive integer", tostring(given))
  end
  local max_length = given or shape.max_length
  if max_length > 0 and max_length < specials then
    refuse("encode: max_length is %d, but %d special tokens are added to each text; accepted: at least %d",
      max_length, specials, specials)
  end
  return max_length
end

-- Returns the id of the padding token, or nil.
local function pad_of(handle, options, shape)
  local token = options.pad_token
  if not token then
    return shape.pad_id
  end
  return c.id(handle, token) or refuse("encode: the pad_token '%s' is not in the vocabulary", token)
end

local function width_of(options, shape, max_length, longest)
  local width = longest
  if options.pad == "max_length" then
    if max_length == 0 then
      refuse("encode: pad is 'max_length', but there is no max_length; give one")
    end
    width = max_length
  elseif not options.pad and shape.width > longest then
    width = shape.width
  end
  local over = shape.multiple > 0 and width % shape.multiple or 0
  return over > 0 and width + shape.multiple - over or width
end

-- Whether the side that an option names, or else the file, is the left one.
local function is_left(side, of_file)
  if side then
    return side == "left"
  end
  return of_file
end

local ACCEPTED = "accepted: a list of strings, a string, or a column of strings"

-- Returns what has the texts by number.
local function texts_of(texts)
  if type(texts) == "string" then
    return { texts }
  elseif base.is_column(texts) then
    if texts.type ~= "string" then
      refuse("encode: a column of the type %s was given; %s", texts.type, ACCEPTED)
    end
    return texts
  elseif base.is_frame(texts) then
    refuse("encode: a data frame was given; %s, such as df.c.text", ACCEPTED)
  elseif type(texts) ~= "table" then
    refuse("encode: texts are a %s; %s", type(texts), ACCEPTED)
  end
  for key in pairs(texts) do
    if type(key) ~= "number" or key < 1 or key > #texts or key ~= math.floor(key) then
      refuse("encode: the table of texts has the key '%s', which no list has; %s", tostring(key), ACCEPTED)
    end
  end
  return texts
end

local function add(handle, rows, texts, i, cut)
  local text = texts[i]
  if text == nil and base.is_column(texts) then
    refuse("encode: row %d of the column is null; accepted: strings; df:fill_null { column = '' } gives it a value", i)
  elseif type(text) ~= "string" then
    refuse("encode: text %d is a %s; accepted: a string", i, type(text))
  end
  local ok, message = c.add(handle, rows, text, cut.with_specials, cut.max_length, cut.is_left)
  if not ok then
    refuse("encode: text %d cannot be used: %s", i, message)
  end
end

local BYTES_MAX = 2 ^ 31

-- Returns the rows as tensors.
local function finish(rows, n, options, shape, cut, pad_id)
  local longest, shortest = c.lengths(rows)
  local width = width_of(options, shape, cut.max_length, longest)
  if not pad_id and shortest < width then
    refuse "encode: texts of different lengths need a padding token, and the file names none; give 'pad_token'"
  elseif n * width * 8 >= BYTES_MAX then
    refuse("encode: %d rows of %d tokens would take 2 GB or more; give a smaller 'max_length', or fewer texts at once",
      n, width)
  end
  return c.finish(rows, width, pad_id or 0, shape.pad_type, is_left(options.pad_side, shape.pads_left))
end

--- Returns the tokens of texts as tensors of int64 with a row for each: `input_ids`,
--- `attention_mask` (1: a token, 0: padding) and `token_type_ids`. A table of these by name is what
--- `session:run()` takes; a model that has no `token_type_ids` takes the table without it.
---
--- `texts` are a list of strings, a column of strings of a data frame, or one string, which makes
--- one row. A null raises.
---
--- Options: `max_length` cuts texts to so many tokens, with the special ones; default: what the
--- file says, else no limit. `cut_side`: `"right"` (default, unless the file says otherwise) or
--- `"left"`, which keeps the end of a text. `pad`: `"longest"` makes each row as long as the
--- longest one, `"max_length"` as long as `max_length`; default: what the file says, else
--- `"longest"`. `pad_token`; default: that of the file, else `[PAD]` or `<pad>` if the vocabulary
--- has it. `pad_side`: `"right"` (default, unless the file says otherwise) or `"left"`.
--- `add_special_tokens`; default true.
---
--- A text that is not UTF-8, or that has more than 4 MB, raises.
---
---     local inputs = tokenizer:encode({ "Hello worlds", "hello" }, { max_length = 16 })
---     local shape = inputs.input_ids.shape
---     assert(shape[1] == 2 and shape[2] == 5)
---     assert(inputs.attention_mask:at(2, 4) == 0)
---@param texts string[]|string|tidemill.Column
---@param options? tidemill.EncodeOptions
---@return tidemill.EncodedTexts
function Tokenizer:encode(texts, options)
  local handle, shape = handle_of(self, "encode")
  options = base.options("encode", options, option_kinds)
  texts = texts_of(texts)
  local cut = { max_length = max_length_of(options, shape), with_specials = options.add_special_tokens ~= false,
    is_left = is_left(options.cut_side, shape.cuts_left) }
  local pad_id, rows = pad_of(handle, options, shape), c.rows()
  for i = 1, #texts do
    add(handle, rows, texts, i, cut)
  end
  local ids, mask, types = finish(rows, #texts, options, shape, cut, pad_id)
  return { input_ids = ids, attention_mask = mask, token_type_ids = types }
end

--- Returns the id of a token, or nil.
---
---     assert(tokenizer:token_to_id "[SEP]" == 2 and not tokenizer:token_to_id "no such token")
---@param token string
---@return integer?
function Tokenizer:token_to_id(token)
  local handle = handle_of(self, "token_to_id")
  if type(token) ~= "string" then
    refuse("token_to_id: a %s was given; accepted: a string", type(token))
  end
  return c.id(handle, token)
end

--- Returns the token with this id, or nil.
---
---     local inputs = tokenizer:encode "worlds"
---     assert(tokenizer:id_to_token(inputs.input_ids:at(1, 2)) == "world")
---@param id integer
---@return string?
function Tokenizer:id_to_token(id)
  local handle = handle_of(self, "id_to_token")
  local number = tonumber(id)
  if not number then
    refuse("id_to_token: a %s was given; accepted: an integer", type(id))
  end
  return c.token(handle, number)
end

names.guarded("tidemill.tokenizer", M)
return M
