--- Workspaces, datastores and registered datasets in pipeline files. A workspace is a folder, a
--- datastore is a directory with a name, and a registered dataset is a definition with a name and
--- versions.
---
--- The names are those of the original. Arguments that only make sense in the cloud are accepted
--- and ignored, with a note.
local definition = require "tidemill.definition"
local fs = require "tidemill.fs"
local names = require "tidemill.names"
local path = require "tidemill.path"
local plan = require "tidemill.plan"
local store = require "tidemill.store"

local M = {}

local function describe(value)
  local tag = getmetatable(value)
  return value == nil and "nil" or "a " .. (type(tag) == "string" and tag or type(value))
end

local function check_workspace(caller, value)
  if getmetatable(value) ~= "Workspace" then
    plan.raise(("%s: the workspace is %s; accepted: what Workspace.from_config() returns"):format(caller,
      describe(value)))
  end
end

local function check_text(caller, what, value)
  if type(value) ~= "string" or value == "" then
    plan.raise(("%s: %s is %s; accepted: a string"):format(caller, what,
      value == "" and "empty" or describe(value)))
  end
end

local function check_options(kind, options)
  options = options == nil and {} or options
  plan.check(kind, options)
  return options
end

local function check_within(caller, datastore, p)
  if type(p) == "string" and (p:find "^/" or ("/" .. p .. "/"):find("/../", 1, true)) then
    plan.raise(("%s: '%s' leads out of the datastore '%s'; accepted: paths and patterns within it")
      :format(caller, p, datastore.name))
  end
end

--- Whether a value is { datastore, path }.
---@param value any
---@return boolean
function M.is_pair(value)
  return type(value) == "table" and not getmetatable(value) and getmetatable(value[1]) == "Datastore"
end

-- Refuses what a pair would not use, so that no path is left out in silence.
local function check_pair(caller, pair)
  for key in pairs(pair) do
    if key ~= 1 and key ~= 2 then
      plan.raise(("%s: { datastore, path } has a further element, [%s]; accepted: { datastore, path }, or a list of "
        .. "such pairs"):format(caller, tostring(key)))
    end
  end
end

--- Returns the path of a datastore, or of { datastore, path }.
---@param caller string
---@param given table
---@return string
function M.take_place(caller, given)
  local datastore, p = given, nil
  if not getmetatable(given) then
    check_pair(caller, given)
    datastore, p = given[1], given[2]
  end
  if getmetatable(datastore) ~= "Datastore" or (p ~= nil and type(p) ~= "string") then
    local words = type(datastore) == "string" and (": a datastore is not its name; write Datastore(workspace, %q)")
      :format(datastore) or ""
    plan.raise(caller .. words .. (words == "" and ": " or "; ") .. "accepted: a path, or { datastore, path }")
  end
  check_within(caller, datastore, p)
  return (p == nil or p == "") and datastore.path or path.join(datastore.path, p)
end

-- Accepts Python's named arguments: from_files { path = ..., partition_format = ... }. Returns path
-- and options.
local function take_named(first, second)
  if type(first) ~= "table" or getmetatable(first) or first.path == nil or second ~= nil then
    return first, second
  end
  local options = {}
  for key, value in pairs(first) do
    options[key] = value
  end
  options.path = nil
  return first.path, options
end

--- Finds the paths of a dataset, and the folder that they are relative to, in the arguments of its
--- constructor: `(path, options)`, `(datastore, path, options)`, `({ datastore, path }, options)`,
--- a list of such pairs, or one table with `path` and the options. Returns paths (a list if a list
--- was given), options, base_dir.
function M.take_datastore(caller, first, second, third)
  first, second = take_named(first, second)
  if M.is_pair(first) then
    check_pair(caller, first)
    first, second, third = first[1], first[2], second
  elseif type(first) == "table" and M.is_pair(first[1]) then
    local paths = {}
    for i, pair in ipairs(first) do
      paths[i] = M.is_pair(pair) and M.take_place(caller, pair) or pair
    end
    return paths, second, nil
  end
  if getmetatable(first) ~= "Datastore" then
    return type(first) == "string" and { first } or first, second, nil
  end
  local paths = type(second) == "string" and { second } or second
  for _, p in ipairs(type(paths) == "table" and paths or {}) do
    check_within(caller, first, p)
  end
  return paths, third, first.path
end

--- Shows a note when the file has been loaded, with the line of the caller.
M.note = store.note

-- ---- copying to and from a datastore ----

local function must(value, message)
  if not value then
    plan.raise(message)
  end
  return value
end

-- Copies one file; replaces an existing one only with `overwrite`.
local function copy_file(from, to, overwrite, counts)
  if not overwrite and fs.exists(to) then
    counts.skipped = counts.skipped + 1
    return
  end
  must(fs.mkdir(path.dirname(to), { parents = true, exist_ok = true }))
  must(fs.copy(from, to))
  counts.copied = counts.copied + 1
end

-- Does not follow links to folders, because they may form a circle.
local function copy_tree(from, to, wanted, overwrite, counts, below)
  for _, name in ipairs(must(fs.list(from))) do
    local source, relative = path.join(from, name), below and below .. "/" .. name or name
    local itself, target = must(fs.stat(source, { follow = false })), fs.stat(source)
    if itself.type == "directory" then
      copy_tree(source, to, wanted, overwrite, counts, relative)
    elseif target and target.type == "file" then
      if wanted(relative) then
        copy_file(source, path.join(to, relative), overwrite, counts)
      end
    else
      counts.left_out = counts.left_out + 1
    end
  end
end

local function all() return true end

-- ---- datastores ----

---@class tidemill.Datastore
---@field name string
---@field path string its directory
---@field workspace tidemill.Workspace
local Datastore = {}

---@class tidemill.Copied
---@field path string the target
---@field copied integer files
---@field skipped integer files that existed already
---@field left_out integer links to folders, sockets and the like

-- The path of a name in the datastore.
local function place(self, caller, given)
  given = given == nil and "" or given
  if type(given) ~= "string" or given:find "^/" or ("/" .. given .. "/"):find("/../", 1, true) then
    plan.raise(("%s: '%s' leads out of the datastore '%s'; accepted: a path within it"):format(caller, tostring(given),
      self.name))
  end
  return given == "" and self.path or path.join(self.path, given)
end

--- Copies the contents of a folder into the datastore.
---@param src_dir string
---@param target_path? string in the datastore; by default its root
---@param options? tidemill.UploadOptions
---@return tidemill.Copied
---@overload fun(self: tidemill.Datastore, arguments: table): tidemill.Copied
function Datastore:upload(src_dir, target_path, options)
  names.check_self(self, "Datastore")
  src_dir, target_path, options = names.arguments({ "src_dir", "target_path" }, src_dir, target_path, options)
  options = check_options("datastore:upload", options)
  check_text("datastore:upload", "the folder", src_dir)
  local to = place(self, "datastore:upload", target_path)
  local counts = { path = to, copied = 0, skipped = 0, left_out = 0 }
  copy_tree(store.absolute(src_dir), to, all, options.overwrite, counts)
  return counts
end

--- Copies single files into a folder of the datastore.
---@param files string[]
---@param target_path? string in the datastore; by default its root
---@param options? tidemill.UploadOptions
---@return tidemill.Copied
---@overload fun(self: tidemill.Datastore, arguments: table): tidemill.Copied
function Datastore:upload_files(files, target_path, options)
  names.check_self(self, "Datastore")
  files, target_path, options = names.arguments({ "files", "target_path" }, files, target_path, options)
  options = check_options("datastore:upload", options)
  files = type(files) == "table" and files or { files }
  if #files == 0 then
    plan.raise "datastore:upload_files: no file is named; accepted: upload_files({ path, ... }, target_path, options)"
  end
  local to = place(self, "datastore:upload_files", target_path)
  local counts = { path = to, copied = 0, skipped = 0, left_out = 0 }
  for _, file in ipairs(files) do
    check_text("datastore:upload_files", "a file", file)
    copy_file(store.absolute(file), path.join(to, path.basename(file)), options.overwrite, counts)
  end
  return counts
end

--- Copies the contents of the datastore into a folder, with the same names.
---@param target_path string
---@param prefix? string copies only files whose path in the datastore begins with it
---@param options? tidemill.DownloadOptions
---@return tidemill.Copied
---@overload fun(self: tidemill.Datastore, arguments: table): tidemill.Copied
function Datastore:download(target_path, prefix, options)
  names.check_self(self, "Datastore")
  target_path, prefix, options = names.arguments({ "target_path", "prefix" }, target_path, prefix, options)
  options = check_options("datastore:download", options)
  check_text("datastore:download", "the folder", target_path)
  if prefix == nil then
    prefix = ""
  elseif type(prefix) ~= "string" then
    check_text("datastore:download", "the prefix", prefix)
  end
  local counts = { path = store.absolute(target_path), copied = 0, skipped = 0, left_out = 0 }
  local function wanted(name)
    return name:sub(1, #prefix) == prefix
  end
  copy_tree(self.path, counts.path, wanted, options.overwrite, counts)
  return counts
end

--- Makes this the default datastore of the workspace.
function Datastore:set_as_default()
  names.check_self(self, "Datastore")
  store.set_default_datastore(self.workspace.path, self.name)
end

--- Forgets the name. The directory stays.
function Datastore:unregister()
  names.check_self(self, "Datastore")
  store.remove_datastore(self.workspace.path, self.name)
end

names.guarded("datastore", Datastore, { "name", "path", "workspace" })

-- ---- workspaces ----

---@class tidemill.Workspace
---@field path string its folder
---@field name string
local Workspace = {}

local UNUSED = { "name", "workspace_name", "auth", "subscription_id", "resource_group" }

-- Functions of tidemill.lua, passed in because the modules must not require each other.
local freeze, dataset
local made = {}

local function datastore(workspace, name)
  local found = store.datastore(workspace.path, name)
  return freeze("Datastore", { name = found.name, path = found.path, workspace = workspace }, Datastore)
end

local function registered(found)
  return dataset(found.type, found.definition, { description = found.description, tags = found.tags })
end

--- Returns the default datastore of the workspace: a folder of its own, unless another was set.
---@return tidemill.Datastore
function Workspace:get_default_datastore()
  names.check_self(self, "Workspace")
  return datastore(self)
end

--- Sets the default datastore.
---@param name string
function Workspace:set_default_datastore(name)
  names.check_self(self, "Workspace")
  check_text("workspace:set_default_datastore", "the name", name)
  store.set_default_datastore(self.path, name)
end

--- Returns the names of its datastores.
---@return string[]
function Workspace:list_datastores()
  names.check_self(self, "Workspace")
  return store.datastores(self.path)
end

names.guarded("workspace", Workspace, { "name", "path" })

local function workspace(given)
  local found = store.workspace(given).path
  return freeze("Workspace", { path = found, name = path.basename(path.dirname(found)) }, Workspace)
end

---@class tidemill.WorkspaceFields
---@field auth? table

---@class tidemill.WorkspaceConstructor
---@overload fun(fields: tidemill.WorkspaceFields): tidemill.Workspace
made.Workspace = setmetatable({
  --- Returns the workspace where jobs of this pipeline file are kept.
  ---@param folder? string another workspace, as `path` of Workspace { path }
  ---@return tidemill.Workspace
  from_config = function(folder)
    if folder ~= nil then
      check_text("Workspace.from_config", "the folder", folder)
    end
    return workspace(folder)
  end,
}, {
  __call = function(_, fields)
    local known, unused = {}, {}
    if type(fields) == "table" and not getmetatable(fields) then
      for k, v in pairs(fields) do
        known[k] = k ~= "auth" and v or nil
      end
      for _, k in ipairs(UNUSED) do
        unused[#unused + 1] = fields[k] ~= nil and "'" .. k .. "'" or nil
      end
    else
      known = fields
    end
    plan.check("Workspace", known)
    if #unused > 0 then
      store.note(("Workspace: %s: accepted, and not used; a workspace is a folder here, its 'path'"):format(
        table.concat(unused, ", ")))
    end
    return workspace(known.path)
  end,
})
names.guarded("Workspace", made.Workspace)

---@class tidemill.DatastoreConstructor
---@overload fun(workspace: tidemill.Workspace, name: string): tidemill.Datastore
made.Datastore = setmetatable({
  --- Gives a directory a name in the workspace.
  ---@param in_workspace tidemill.Workspace
  ---@param name string letters, digits and '_'
  ---@param directory string an existing directory
  ---@param options? tidemill.RegisterDirectoryOptions
  ---@return tidemill.Datastore
  register_directory = function(in_workspace, name, directory, options)
    options = check_options("Datastore.register_directory", options)
    check_workspace("Datastore.register_directory", in_workspace)
    check_text("Datastore.register_directory", "the name", name)
    check_text("Datastore.register_directory", "the directory", directory)
    store.add_datastore(in_workspace.path, name, directory, options.overwrite == true)
    return datastore(in_workspace, name)
  end,
  ---@param in_workspace tidemill.Workspace
  ---@param name string
  ---@return tidemill.Datastore
  get = function(in_workspace, name)
    in_workspace, name = names.all_arguments("Datastore.get", { "workspace", "datastore_name" }, in_workspace, name)
    return made.Datastore(in_workspace, name)
  end,
  ---@param in_workspace tidemill.Workspace
  ---@return tidemill.Datastore
  get_default = function(in_workspace)
    check_workspace("Datastore.get_default", in_workspace)
    return in_workspace:get_default_datastore()
  end,
}, {
  __call = function(_, in_workspace, name)
    in_workspace, name = names.all_arguments("Datastore", { "workspace", "name" }, in_workspace, name)
    check_workspace("Datastore", in_workspace)
    check_text("Datastore", "the name", name)
    return datastore(in_workspace, name)
  end,
})
names.guarded("Datastore", made.Datastore)

--- Returns a registered dataset by its name.
---@param in_workspace tidemill.Workspace
---@param name string
---@param version? integer|"latest"
---@return tidemill.FileDataset
function made.get_by_name(in_workspace, name, version)
  in_workspace, name, version = names.all_arguments("Dataset.get_by_name", { "workspace", "name", "version" },
    in_workspace, name, version)
  check_workspace("Dataset.get_by_name", in_workspace)
  check_text("Dataset.get_by_name", "the name", name)
  return registered(store.get(in_workspace.path, name, version ~= nil and tostring(version) or nil))
end

-- Implements dataset:register(workspace, name, options).
function made.register(self, in_workspace, name, options)
  names.check_self(self, getmetatable(self) == "TabularDataset" and "TabularDataset" or "FileDataset")
  in_workspace, name, options = names.arguments({ "workspace", "name" }, in_workspace, name, options)
  check_workspace("dataset:register", in_workspace)
  check_text("dataset:register", "the name", name)
  options = check_options("dataset:register", options)
  local found = store.register(in_workspace.path, name, self, options)
  if found.files == 0 then
    store.note(("dataset:register: '%s': no file matches now"):format(name))
  end
  return registered(found)
end

-- Implements dataset:unregister_all_versions().
function made.unregister_all_versions(self)
  names.check_self(self, getmetatable(self) == "TabularDataset" and "TabularDataset" or "FileDataset")
  if not self.registered then
    plan.raise "dataset:unregister_all_versions: it is not registered"
  end
  store.unregister(definition.values_of(self).workspace, self.registered)
end

--- Returns what tidemill.lua needs. `of_objects(tag, value, methods)` makes an immutable object,
--- and `of_datasets(type, definition, more)` a dataset from a stored definition.
---@param of_objects fun(tag: string, value: table, methods: table): table
---@param of_datasets fun(type: string, definition: table, more: table): table
function M.make(of_objects, of_datasets)
  freeze, dataset = of_objects, of_datasets
  return made
end
return M
