---@meta tidemill.context
-- The second argument of run(); lua/context.c. It is not required: run() is given it.

---@class tidemill.Part which items of the mini-batch these are, from 1, while bad ones are isolated (isolate_failures)
---@field first integer
---@field last integer

---@class tidemill.Context
---@field minibatch_index integer from 0
---@field try integer from 1
---@field dataset_name string name of the input, "" without one
---@field source? string of rows of one file: its path
---@field global_row_index_lower_bound? integer number of the first row in that file, from 0, where it is known
---@field partition_key_value? table<string, string|number> with partition_keys: the values that the items have in
--- common, by name; a datetime in seconds since the epoch, UTC. A null is missing.
---@field part? tidemill.Part nil: it is the whole mini-batch. What run() is given are these items alone, from 1 on
local Context = {}

--- Marks an item as failed. It counts as failed, whatever is returned, and stands in failed_items.jsonl with the
--- message. The elements that run() returns are for the other items. Marked twice, the first message stands.
--- A try that fails forgets it.
---@param i integer number of the item in the mini-batch, from 1
---@param message? string why; the first 4,000 bytes are kept
function Context:fail(i, message) end

--- Reads an item. What it gives is exact: reading raises an error when the contents are damaged (a wrong check sum,
--- an early end) or the disk fails. The item counts as failed then, with the reason, even if the script catches the
--- error. Damage behind the last byte that the script reads is not noticed. A reader is good until its close(), or
--- until run() ends.
---@class tidemill.Reader
---@field read fun(self, what?: integer|"*l"|"*a"): string? up to n bytes (nil at the end), a line without its end
--- ("*l", also without an argument; nil at the end), or all that is left ("*a"; "" at the end)
---@field lines fun(self): (fun(): string?) an iterator over lines
---@field size fun(self): integer bytes of contents
---@field close fun(self)

--- Opens an item of this mini-batch: a file, or an entry of an archive, which needs no disk. An entry that cannot be
--- opened counts as failed.
---@param item string as it stands in the mini-batch
---@return tidemill.Reader? reader
---@return string? message
---@return string? code
function Context:open(item) end

--- A path for a file of this mini-batch. The file gets its name in output_dir, or in the folder of another output of
--- the step, when the mini-batch is committed, and is left out when the try fails, whatever is killed and whenever. A
--- name belongs to one mini-batch: put minibatch_index, or the item's name, in it; the try of another one fails. Parts
--- of a mini-batch (`context.part`) need names of their own, too. The file is to be there when run() returns.
---@param name string name of a file, perhaps with folders before it; not absolute, without ".."
---@param output? string name of the output, as its OutputFileDatasetConfig has it, or its folder as it stands among the
--- arguments; without it the first one
---@return string path absolute; its folder is there
function Context:output_file(name, output) end

return Context
