---@meta tidemill.frame_c

--- The C half of `tidemill.frame`. Not for scripts.
---@class tidemill.frame_c
---@field ops lightuserdata a struct tm_column_ops (core/data/frame/column_ops.h)
local frame_c = {}

--- Keeps the metatables of frames and columns, and the function that makes a frame over columns in
--- C memory.
---@param frame_meta table
---@param column_meta table
---@param wrap fun(names: string[], columns: lightuserdata, lease: userdata, len: integer):
--- tidemill.DataFrame
function frame_c.setup(frame_meta, column_meta, wrap) end

---@param state table {names, columns, ...}: the frame keeps it
---@return tidemill.DataFrame
function frame_c.new_frame(state) end

---@param keep table the owner of the column's memory; the column keeps it alive
---@return tidemill.Column column all zero
function frame_c.new_column(keep) end

--- The text of one value.
---@param column tidemill.Column
---@param row integer from 0
---@return string
function frame_c.text(column, row) end

--- The texts of all values, concatenated, and len + 1 offsets of 64 bits.
---@param column tidemill.Column
---@return string texts
---@return string offsets
function frame_c.texts(column) end

---@param columns tidemill.Column[]
---@param names string[]
---@param separator string
---@param header boolean
---@return string
function frame_c.delimited(columns, names, separator, header) end

---@param columns tidemill.Column[]
---@param names string[]
---@param separator string
---@param header boolean
---@param path string
---@return true? ok
---@return string? message
---@return string? code
function frame_c.write(columns, names, separator, header, path) end

--- Reads a delimited file; done(reading) frees its memory.
---@param path string
---@param options table
---@param types table<string, integer>
---@return userdata? reading
---@return string[]|string names or message
---@return lightuserdata|string columns or code
---@return integer? len
function frame_c.read(path, options, types) end

--- Reads a file with a JSON object on each line; done(reading) frees its memory.
---@param path string
---@return userdata? reading
---@return string[]|string names or message
---@return lightuserdata|string columns or code
---@return integer? len
function frame_c.read_lines(path) end

---@param columns tidemill.Column[]
---@param names string[]
---@param path string
---@return true? ok
---@return string? message
---@return string? code
function frame_c.write_lines(columns, names, path) end

---@param reading userdata
function frame_c.done(reading) end

--- Converts the strings of a column to values of another column.
---@param from tidemill.Column
---@param to tidemill.Column as long, with validity bits
---@param invalid boolean texts that are not values become null
---@return integer row -1, or the first text that is not a value
function frame_c.parse(from, to, invalid) end

---@param given string
---@param names string[]
---@return string? name the one that was probably meant; nil: none is similar
function frame_c.nearest(given, names) end

return frame_c
