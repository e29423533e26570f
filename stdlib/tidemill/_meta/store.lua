---@meta tidemill.store

--- The C half of Workspace, Datastore and registered datasets. Not for scripts. Errors raise at the
--- innermost line of the user's code. A workspace is named by its folder.
---@class tidemill.store
local store = {}

---@class tidemill.store.Registered
---@field type string the constructor's name
---@field definition table
---@field description? string
---@field tags table<string, string>

--- Returns the folder of a workspace; creates it if it does not exist.
---@param path? string
---@return { path: string }
function store.workspace(path) end

---@param workspace string
---@param name string
---@param dataset table
---@param options? table
---@return tidemill.store.Registered
function store.register(workspace, name, dataset, options) end

---@param workspace string
---@param name string
---@param version? string "latest" or digits
---@return tidemill.store.Registered
function store.get(workspace, name, version) end

---@param workspace string
---@param name string
function store.unregister(workspace, name) end

---@param workspace string
---@param name? string by default the default datastore
---@return { name: string, path: string }
function store.datastore(workspace, name) end

---@param workspace string
---@return string[]
function store.datastores(workspace) end

--- The names of the registered datasets.
---@param workspace string
---@return string[]
function store.datasets(workspace) end

---@param workspace string
---@param name string
---@param path string
---@param overwrite boolean
---@return { name: string, path: string }
function store.add_datastore(workspace, name, path, overwrite) end

---@param workspace string
---@param name string
function store.set_default_datastore(workspace, name) end

---@param workspace string
---@param name string
function store.remove_datastore(workspace, name) end

--- Resolves a path relative to the folder of the pipeline file.
---@param path string
---@return string
function store.absolute(path) end

--- Shows words on the terminal once the file has been loaded.
---@param words string
function store.note(words) end

return store
