-- tidemill.path: names of files as text.
local lfs = require "lfs"
local path = require "tidemill.path"

local function same_as(f, cases)
  for _, case in ipairs(cases) do
    assert.equal(case[2], f(unpack(case[1])), "of " .. table.concat(case[1], ", "))
  end
end

describe("tidemill.path", function()
  it("joins parts; an absolute one replaces those before it, an empty one adds nothing", function()
    same_as(path.join, {
      { { "a" }, "a" }, { { "a", "b.txt" }, "a/b.txt" }, { { "a/", "b", "c" }, "a/b/c" }, { { "/", "b" }, "/b" },
      { { "a", "/b", "c" }, "/b/c" }, { { "a", "", "b" }, "a/b" }, { { "", "b" }, "b" }, { { "" }, "" },
    })
  end)

  it("splits names", function()
    for name, parts in pairs { -- base name, folder, stem, extension
      ["a/b.txt"] = { "b.txt", "a", "b", ".txt" },
      ["b.txt"] = { "b.txt", ".", "b", ".txt" },
      ["/b.tar.gz"] = { "b.tar.gz", "/", "b.tar", ".gz" },
      ["a/"] = { "", "a", "", "" },
      ["/a/.profile"] = { ".profile", "/a", ".profile", "" },
      ["x.d/name"] = { "name", "x.d", "name", "" },
      ["blank here/\255.é"] = { "\255.é", "blank here", "\255", ".é" },
    } do
      local found = { path.basename(name), path.dirname(name), path.stem(name), path.ext(name) }
      assert.same(parts, found, "of " .. name)
      assert.equal(path.basename(name), path.stem(name) .. path.ext(name))
    end
  end)

  it("makes names absolute without reading the disk", function()
    local here = lfs.currentdir()
    same_as(path.absolute, {
      { { "/a/./b//c/../d" }, "/a/b/d" }, { { "/../.." }, "/" }, { { "x/../y", "/a/b" }, "/a/b/y" },
      { { "/y", "/a" }, "/y" }, { { "y" }, here .. "/y" }, { { "y", "sub" }, here .. "/sub/y" }, { { "." }, here },
    })
  end)

  it("raises if an argument is not a name", function()
    for name, f in pairs(path) do
      for _, wrong in ipairs { {}, true, "a\0b" } do
        local ok, message = pcall(f, wrong)
        assert.is_false(ok, name)
        assert.is_truthy(tostring(message):find "bad argument #1")
      end
      assert.is_false(pcall(f), name .. " without an argument")
    end
    assert.is_false(pcall(path.join, "a", nil, "b"))
  end)
end)
