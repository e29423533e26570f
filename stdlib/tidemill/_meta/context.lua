---@meta tidemill.context
-- The second argument of run() (lua/entry/context.c). Scripts do not require it.

---@class tidemill.Part which items of the mini-batch, from 1, a part has (isolate_failures)
---@field first integer
---@field last integer

---@class tidemill.Context
---@field minibatch_index integer from 0
---@field try integer from 1
---@field prefetched any in run(): what prefetch() has returned for this mini-batch; nil without it
---@field dataset_name string the name of the input; "" if it has none
---@field source? string the path of the file that the rows come from, if it is one file
---@field global_row_index_lower_bound? integer the number of the first row in that file, from 0, if
--- it is known
---@field partition_key_value? table<string, string|number> with partition_keys: the values that all
--- items share, by name. A datetime is in seconds since the epoch, UTC. A null is left out.
---@field part? tidemill.Part nil for a whole mini-batch. For a part, run() gets only these items,
--- numbered from 1.
local Context = {}

--- Marks an item as failed. It counts as failed, whatever run() returns, and failed_items.jsonl
--- lists it with the message. The elements that run() returns are for the other items. If an item
--- is marked twice, the first message counts. If the try fails, its marks are forgotten.
---@param i integer number of the item in the mini-batch, from 1
---@param message? string the reason; the first 4,000 bytes are kept
function Context:fail(i, message) end

--- Returns the name of an item, as errors and failed_items.jsonl have it: the path of a file; for
--- an entry, the path of the archive, `/`, and the name of the entry ("/data/scans.zip/a/b.png").
--- run() gets the path of a file instead, which exists only for this mini-batch.
---@param i integer number of the item in the mini-batch, from 1
---@return string
function Context:name(i) end

--- Reads an item. If the contents are damaged (a wrong check sum, an early end) or the disk fails,
--- reading raises an error. The item then counts as failed with that reason, even if the script
--- catches the error. Damage after the last byte that the script reads is not noticed. A reader can
--- be used until its close(), or until run() ends.
---@class tidemill.Reader
---@field read fun(self, what?: integer|"*l"|"*a"): string? returns up to n bytes (nil at the end);
--- or a line without its line break ("*l", the default; nil at the end); or all that is left ("*a";
--- "" at the end)
---@field lines fun(self): (fun(): string?) returns an iterator over lines
---@field size fun(self): integer returns the number of bytes of the contents
---@field close fun(self)

--- Opens an item of this mini-batch: a file, or an entry of an archive, which is read without
--- extracting it to a disk. An entry that cannot be opened counts as failed.
---@param item string as in the mini-batch
---@return tidemill.Reader? reader
---@return string? message
---@return string? code
function Context:open(item) end

--- Returns a path where the script can write a file of this mini-batch. When the mini-batch is
--- committed, the file gets its name in output_dir, or in the folder of another output of the step.
--- If the try fails, or any process is killed, the file is dropped. A name belongs to one
--- mini-batch; if another one uses it, its try fails. So put minibatch_index or the item's name
--- into it. Parts of a mini-batch (`context.part`) need names of their own too. The file must exist
--- when run() returns.
---@param name string the name of a file, perhaps with folders before it; not absolute, without ".."
---@param output? string the name of the output in its OutputFileDatasetConfig, or its folder as in
--- the arguments; by default the first output
---@return string path absolute; its folder exists
function Context:output_file(name, output) end

return Context
