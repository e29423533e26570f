-- How `require` finds the modules that are part of the program.
local fs = require "tidemill.fs"

local function with_path(dir, call)
  local before = package.path
  package.path = dir .. "/?.lua;" .. before
  local ok, err = pcall(call)
  package.path = before
  assert(ok, err)
end

describe("a module of the program", function()
  it("takes no room in a state that does not use it", function()
    for _, name in ipairs { "tidemill", "tidemill.path", "tidemill.frame", "tidemill.json" } do
      assert.is_nil(package.preload[name], name)
    end
  end)

  it("is not replaced by a file of the same name", function()
    local dir = os.tmpname()
    os.remove(dir)
    assert(fs.mkdir(dir .. "/tidemill", { parents = true }))
    local file = assert(io.open(dir .. "/tidemill/path.lua", "w"))
    file:write "return 'a file of the user'"
    file:close()
    local loaded = package.loaded["tidemill.path"]
    with_path(dir, function()
      package.loaded["tidemill.path"] = nil
      assert.is_table(require "tidemill.path")
      package.loaded["tidemill.path"] = loaded
    end)
    os.remove(dir .. "/tidemill/path.lua")
    os.remove(dir .. "/tidemill")
    os.remove(dir)
  end)

  it("comes from package.preload if the user has put one there", function()
    package.preload["tidemill.path_of_mine"] = function()
      return "mine"
    end
    assert.equal("mine", require "tidemill.path_of_mine")
    package.preload["tidemill.path_of_mine"], package.loaded["tidemill.path_of_mine"] = nil, nil
  end)
end)
