---@meta
-- Options of what tidemill.lua defines.

---@class tidemill.FromArchivesOptions
---@field entries? string|string[] patterns of names within the archives; without it all but those that begin with a dot
---@field extract? boolean true, the default: run() gets paths of files, which are there for its mini-batch alone: below
--- `/dev/shm` where `TMPDIR` is not set and all of them take at most 16 MB, else below `TMPDIR` or `/tmp`;
--- false: names (the archive's path, `/`, the entry's name), which `context:open(item)` reads
---@field max_entries? integer an archive with more entries fails from there on; 10000000
---@field max_entry_size? integer|string an entry with more contents fails; "4GB"
---@field max_ratio? integer of contents to the bytes that they are packed in, above 16 MB; 200
---@field on_unreadable? "error"|"skip" a folder or an archive that may not be opened ends the job (the default), or is
--- left out
---@field partition_format? string as of from_files, of the archive's path, `/`, and the entry's name

---@class tidemill.FromManifestOptions
---@field null_separated? boolean paths end in NUL, as `find -print0` writes them; else in a line break
---@field partition_format? string as of from_files

---@class tidemill.FromFailedItemsOptions
---@field step? string of which step of the job; without it of its only one

---@class tidemill.RegisterOnCompleteOptions
---@field description? string
---@field tags? table<string, string|number|boolean>
