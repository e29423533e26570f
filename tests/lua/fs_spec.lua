-- tidemill.fs: files and folders, each in a folder of the spec's own.
local folder = require "support.folder"
local fs = require "tidemill.fs"
local lfs = require "lfs"
local process = require "tidemill.process"

local dir

local function fails(code, words, ok, message, given)
  assert.is_nil(ok)
  assert.is_truthy(message:find(words, 1, true), message)
  assert.equal(code, given)
end

describe("tidemill.fs", function()
  before_each(function() dir = folder.new() end)
  after_each(function() dir:remove() end)

  it("reads a file as bytes", function()
    local text = "a\0b\r\n\255" .. ("x"):rep(600000)
    assert.is_true(text == fs.read(dir:write("f", text)))
    assert.equal("", fs.read(dir:write("empty", "")))
    assert.is_truthy(#fs.read "/proc/self/status" > 0) -- has no length
    fails("ENOENT", "cannot open '" .. dir:at "no" .. "'", fs.read(dir:at "no"))
    fails("EISDIR", dir.path, fs.read(dir.path))
    fails("ENOTDIR", dir:at "f/x", fs.read(dir:at "f/x"))
  end)

  it("writes a file whole, and leaves nothing beside it", function()
    for _, options in ipairs { {}, { sync = false }, { sync = true } } do
      assert.is_true(fs.write(dir:at "f", "one\0two", options))
      assert.equal("one\0two", dir:read "f")
      assert.is_true(fs.write(dir:at "f", ""))
      assert.equal("", dir:read "f")
    end
    assert.same({ "f" }, fs.list(dir.path))
    fails("ENOENT", "cannot write", fs.write(dir:at "no/f", "x"))
    fails("EISDIR", "cannot write", fs.write(dir.path, "x"))
    assert.same({ "f" }, fs.list(dir.path))
  end)

  it("writes through a link, and keeps the mode of its target", function()
    dir:write("f", "old")
    process.run({ "chmod", "640", dir:at "f" }, { check = true })
    assert(lfs.link("f", dir:at "link", true))
    assert.is_true(fs.write(dir:at "link", "new"))
    assert.equal("link", fs.stat(dir:at "link", { follow = false }).type)
    assert.equal("new", dir:read "f")
    assert.equal(tonumber("640", 8), fs.stat(dir:at "f").mode)
  end)

  it("appends to a file, and creates it if it is missing", function()
    assert.is_true(fs.append(dir:at "log", "one\n"))
    assert.is_true(fs.append(dir:at "log", "two\n"))
    assert.equal("one\ntwo\n", dir:read "log")
    fails("ENOENT", "no/log", fs.append(dir:at "no/log", "x"))
  end)

  it("makes folders; options allow parents and an existing folder", function()
    assert.is_true(fs.mkdir(dir:at "a"))
    fails("EEXIST", "exist_ok = true", fs.mkdir(dir:at "a"))
    assert.is_true(fs.mkdir(dir:at "a", { exist_ok = true }))
    fails("ENOENT", "parents = true", fs.mkdir(dir:at "b/c/d"))
    assert.is_true(fs.mkdir(dir:at "b/c/d/", { parents = true }))
    assert.equal("directory", fs.stat(dir:at "b/c/d").type)
    fails("EEXIST", "exist_ok = true", fs.mkdir(dir:at "b/c/d", { parents = true }))
    assert.is_true(fs.mkdir(dir:at "b/c/d", { parents = true, exist_ok = true }))
    dir:write("f", "")
    fails("EEXIST", "cannot make folder", fs.mkdir(dir:at "f", { exist_ok = true }))
  end)

  it("lists names in byte order", function()
    for _, name in ipairs { "b", "a", "Z", ".hidden", "é", "sub/x" } do dir:write(name, "") end
    assert.same({ ".hidden", "Z", "a", "b", "sub", "é" }, fs.list(dir.path))
    assert.same({}, fs.list((fs.mkdir(dir:at "empty") and dir:at "empty")))
    fails("ENOENT", "cannot list folder", fs.list(dir:at "no"))
    fails("ENOTDIR", "cannot list folder", fs.list(dir:at "a"))
  end)

  it("tells files, folders and missing paths apart", function()
    dir:write("f", "12345")
    assert(lfs.link("f", dir:at "link", true))
    assert(lfs.link("nothing", dir:at "loose", true))
    local stat = fs.stat(dir:at "link")
    assert.equal("file", stat.type)
    assert.equal(5, stat.size)
    assert.is_true(math.abs(stat.mtime - os.time()) < 3600)
    assert.is_true(stat.mode > 0 and stat.mode < 4096)
    assert.equal("link", fs.stat(dir:at "link", { follow = false }).type)
    assert.equal("directory", fs.stat(dir.path).type)
    assert.equal("other", fs.stat("/dev/null").type)
    fails("ENOENT", "cannot look at", fs.stat(dir:at "loose"))
    assert.is_true(fs.exists(dir:at "link"))
    assert.is_false(fs.exists(dir:at "loose"))
    assert.is_false(fs.exists(dir:at "no"))
  end)

  it("removes a file, a link and an empty folder", function()
    dir:write("f", "")
    assert(lfs.link("f", dir:at "link", true))
    assert(fs.mkdir(dir:at "empty"))
    assert.is_true(fs.remove(dir:at "link"))
    assert.is_true(dir:has "f")
    assert.is_true(fs.remove(dir:at "f"))
    assert.is_true(fs.remove(dir:at "empty"))
    assert.same({}, fs.list(dir.path))
    fails("ENOENT", "cannot remove", fs.remove(dir:at "f"))
  end)

  it("removes a non-empty folder only with an option, and follows no link", function()
    dir:write("tree/a/b", "")
    dir:write("kept/f", "")
    assert(lfs.link("../kept", dir:at "tree/link", true))
    fails("ENOTEMPTY", "recursive = true", fs.remove(dir:at "tree"))
    assert.is_true(dir:has "tree/a/b")
    assert.is_true(fs.remove(dir:at "tree", { recursive = true }))
    assert.same({ "kept" }, fs.list(dir.path))
    assert.is_true(dir:has "kept/f")
    assert.is_true(fs.remove(dir:at "kept/f", { recursive = true }))
    fails("ENOENT", "cannot remove", fs.remove(dir:at "tree", { recursive = true }))
  end)

  it("refuses to remove '.', '..' and paths that end in them", function()
    dir:write("a/b/f", "") -- every name below stays inside a/, whether it is refused or not
    for _, name in ipairs { "a/b/.", "a/b/./", "a/b/..", "a/b/../", "a/b/..//" } do
      local words = folder.refused(function() fs.remove(dir:at(name), { recursive = true }) end)
      assert.equal("fs.remove: '" .. dir:at(name) .. "' is not removed with all that is in it", words)
    end
    assert.is_true(dir:has "a/b/f")
  end)

  it("copies bytes and mode", function()
    local from = dir:write("from", ("0123456789"):rep(100000))
    assert.is_true(fs.copy(from, dir:at "to"))
    assert.is_true(dir:read "from" == dir:read "to")
    process.run({ "chmod", "750", from }, { check = true })
    assert.is_true(fs.copy(from, dir:at "to"))
    assert.equal(tonumber("750", 8), fs.stat(dir:at "to").mode)
    dir:write("from", "new")
    assert.is_true(fs.copy(from, dir:at "to", { sync = false }))
    assert.equal("new", dir:read "to")
    fails("ENOENT", "'" .. dir:at "no" .. "'", fs.copy(dir:at "no", dir:at "to"))
    fails("EISDIR", "cannot copy", fs.copy(dir.path, dir:at "to"))
    fails("EISDIR", "cannot write", fs.copy(from, dir.path))
    assert.equal("new", dir:read "to")
  end)

  it("raises for wrong arguments and options", function()
    local f = dir:write("f", "")
    assert.equal("fs.write: cannot take option 'snyc' as given; accepted: sync, each true or false",
      folder.refused(function() fs.write(f, "x", { snyc = false }) end))
    assert.equal("fs.mkdir: cannot take option 'parents' as given; accepted: parents, exist_ok, each true or false",
      folder.refused(function() fs.mkdir(f, { parents = 1 }) end))
    for _, name in ipairs { "read", "write", "append", "mkdir", "list", "stat", "exists", "remove", "copy" } do
      local ok, message = pcall(fs[name], f .. "\0x", "x")
      assert.is_false(ok)
      assert.is_truthy(message:find "a path cannot hold a NUL byte", message)
      assert.is_false(pcall(fs[name]))
    end
    assert.is_false(pcall(fs.write, f))
    assert.equal("", dir:read "f")
  end)
end)
