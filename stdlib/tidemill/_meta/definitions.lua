---@meta
-- Tables of options that the functions in tidemill.lua take.

---@class tidemill.FromFilesOptions
---@field on_unreadable? "error"|"skip" a folder that cannot be read fails the job (the default), or
--- is left out with a warning
---@field partition_format? string columns from the end of each path:
--- "{store}/{date:yyyy/MM/dd}/*.csv". `{name}` is a string, `{name:...}` a datetime with the fields
--- yyyy MM dd HH mm ss. A path that does not fit fails the job.

---@class tidemill.Environment
---@field variables? table<string, string|number|boolean>
---@field module_paths? string|string[] folders that `require` searches after the script's own

---@class tidemill.FromArchivesOptions
---@field entries? string|string[] patterns for names within the archives; by default all entries
--- except those whose names begin with a dot
---@field extract? boolean true, the default: run() gets paths of files that exist only for its
--- mini-batch. They are in `/dev/shm` if `TMPDIR` is not set and all of them take at most 16 MB,
--- otherwise in `TMPDIR` or `/tmp`. false: run() gets names (the archive's path, `/`, the entry's
--- name), which `context:open(item)` reads.
---@field max_entries? integer the limit of entries in an archive; one with more fails from there
--- on; by default 10000000
---@field max_entry_size? integer|string the size limit of an extracted entry; a larger one fails;
--- by default "4GB"
---@field max_ratio? integer the limit for the ratio of extracted to packed bytes, checked above 16
--- MB; by default 200
---@field on_unreadable? "error"|"skip" a folder or an archive that cannot be opened fails the job
--- (the default), or is left out
---@field partition_format? string as for from_files, applied to the archive's path, `/`, and the
--- entry's name

---@class tidemill.FromManifestOptions
---@field null_separated? boolean paths end in NUL, as `find -print0` writes them; otherwise in a
--- line break
---@field partition_format? string as for from_files

---@class tidemill.FromFailedItemsOptions
---@field step? string the step of the job; by default its only one

---@class tidemill.RegisterOnCompleteOptions
---@field description? string
---@field tags? table<string, string|number|boolean>
