---@meta tidemill.tokenizer_c

--- The C half of `tidemill.tokenizer`. Not for scripts.
---@class tidemill.tokenizer_c
local tokenizer_c = {}

--- Reads a tokenizer.json.
---@param path string
---@return userdata? tokenizer
---@return string? message
---@return string? code
function tokenizer_c.load(path) end

--- Returns what the file says of rows, and the number of tokens.
---@param tokenizer userdata
---@return table {max_length, width, multiple, specials, len, pad_id, pad_type, pads_left,
--- cuts_left}
function tokenizer_c.shape(tokenizer) end

---@param tokenizer userdata
---@param token string
---@return integer? id
function tokenizer_c.id(tokenizer, token) end

---@param tokenizer userdata
---@param id integer
---@return string? token
function tokenizer_c.token(tokenizer, id) end

--- Makes an empty rows.
---@return userdata rows
function tokenizer_c.rows() end

--- Adds the tokens of a text to a rows.
---@param tokenizer userdata
---@param rows userdata
---@param text string
---@param with_specials boolean
---@param max_length integer 0: no limit
---@param cuts_left boolean
---@return true? ok
---@return string? message
---@return string? code
function tokenizer_c.add(tokenizer, rows, text, with_specials, max_length, cuts_left) end

--- Returns the tokens of the longest text, and of the shortest one.
---@param rows userdata
---@return integer longest
---@return integer shortest
function tokenizer_c.lengths(rows) end

--- Returns them as tensors; then there are none.
---@param rows userdata
---@param width integer
---@param pad_id integer
---@param pad_type integer
---@param pads_left boolean
---@return tidemill.Tensor ids
---@return tidemill.Tensor mask
---@return tidemill.Tensor types
function tokenizer_c.finish(rows, width, pad_id, pad_type, pads_left) end

return tokenizer_c
