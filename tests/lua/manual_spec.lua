-- The manual that is made of comments: nothing that can be called is left out of it.
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local root = here .. "/../.."
package.path = root .. "/lua/?.lua;" .. package.path
local library = require "manual.library"
local header = require "manual.header"
local roff = require "manual.roff"
local entry_script = require "manual.entry_script"
local reference = require "manual.reference"
local base = require "tidemill.frame.base"
local lfs = require "lfs"
local plan = require "tidemill.plan"

local function holds(text, words)
  assert(text:find(words, 1, true), ("'%s' is left out"):format(words))
end

-- The names that a module can be asked for, with those of the tables in it.
local function names_of(module, value, out)
  for name, inner in pairs(value) do
    out[#out + 1] = module .. "." .. name
    if type(inner) == "table" then
      names_of(module .. "." .. name, inner, out)
    end
  end
  return out
end

describe("tidemill.h(3)", function()
  local source = header.source(root .. "/core/include")
  local page = header.page(source, "9.9.9")

  it("has every function, with its description", function()
    local flat, n = source:gsub("%s+", " "), 0
    for name in flat:gmatch "TIDEMILL_API [%w_ ]-%s%*?([%l_]+)%(" do
      n = n + 1
      assert(page:find("%f[%w_]" .. name .. "%("), name .. " is left out")
    end
    assert.is_true(n > 100)
    holds(page, "Waits until no job runs")
  end)

  it("has every macro, struct, enumeration and code", function()
    local n = 0
    for _, pattern in ipairs { "\nstruct (tidemill_[%w_]+)", "\nenum (tidemill_[%w_]+)",
                               "\n#define (TIDEMILL_[%w_]+_INIT)" } do
      for name in source:gmatch(pattern) do
        n = n + 1
        holds(page, name)
      end
    end
    for code in source:gmatch "XX%((E%w+)," do
      n = n + 1
      holds(page, "TIDEMILL_" .. code)
    end
    assert.is_true(n > 20)
  end)

  it("pairs a comment with its declaration", function()
    local parts = header.read("/* a.h - x. */\n/* tidemill/b.h - beginnings. */\n#ifndef TIDEMILL_B_H\n\n"
      .. "/* ---- Part ----\n *\n * Words. */\n\n"
      .. "/* Of f. */\nTIDEMILL_API int f(int a,\n  int b); /* b */\nint g(void);\n")
    local shown = {}
    for i, part in ipairs(parts) do
      shown[i] = { part.kind, part.title or part.text, part.code }
    end
    assert.same({ { "text", "a.h - x." }, { "section", "beginnings" }, { "text", "  #include <tidemill/b.h>\n\n" },
                  { "section", "Part" }, { "text", "Words." },
                  { "declaration", "Of f.", "int f(int a,\n  int b); /* b */" },
                  { "declaration", "", "int g(void);" } }, shown)
  end)
end)

describe("the reference of the Lua API", function()
  local found = library.open(root .. "/stdlib")
  local text = reference.text(found, "9.9.9")

  it("has every name of every module", function()
    local n = 0
    for _, module in ipairs(library.modules) do
      local value = require(module)
      for _, name in ipairs(type(value) == "table" and names_of(module, value, {}) or {}) do
        n = n + 1
        local last = "`" .. name:match "[^%.]+$" .. "`"
        assert(text:find(name, 1, true) or text:find(last, 1, true), name .. " is left out")
      end
      holds(text, "\n# " .. module .. "\n")
    end
    assert.is_true(n > 50)
  end)

  it("has every method of a frame, a column and a tensor", function()
    local tensor_meta = require("tidemill.tensor.base").meta
    for class, meta in pairs { DataFrame = base.frame_meta, Column = base.column_meta, Tensor = tensor_meta } do
      for name in pairs(meta.methods) do
        holds(text, ("### `%s:%s("):format(class, name))
      end
    end
  end)

  it("has every class that the Lua files document, with its fields, and every method", function()
    local n = 0
    for _, file in ipairs(library.files(root .. "/stdlib")) do
      local source = library.read_file(root .. "/stdlib/" .. file)
      for name in source:gmatch "%-%-%-@class ([%w_%.]+)" do
        n = n + 1
        assert(library.internal[name] or text:find("\n##? " .. name:gsub("%.", "%%.") .. "\n"), name .. " is left out")
      end
      for owner, name in source:gmatch "\nfunction (%u%w+):(%l[%l_]*)%(" do
        n = n + 1
        assert(text:find("`[%w]+:" .. name .. "%("), owner .. ":" .. name .. " is left out")
      end
    end
    assert.is_true(n > 100)
  end)

  it("has every field of constructors and options, with its description", function()
    for class, kind in pairs {
      ParallelRunConfig = "ParallelRunConfig", ParallelRunStep = "ParallelRunStep", Pipeline = "Pipeline",
      PipelineParameter = "PipelineParameter", OutputFileDatasetConfig = "OutputFileDatasetConfig",
      FromFilesOptions = "Dataset.File.from_files", FromArchivesOptions = "Dataset.File.from_archives",
      FromManifestOptions = "Dataset.File.from_manifest", FromFailedItemsOptions = "Dataset.File.from_failed_items",
      SubmitOptions = "pipeline:submit", LoadScriptOptions = "load_script", RegisterOptions = "dataset:register",
      MiniBatchesOptions = "dataset:mini_batches",
    } do
      local section = text:match("\n## tidemill%." .. class .. "\n(.-)\n#")
      for _, name in ipairs(plan.parameters(kind)) do
        assert(section:find("\n- `" .. name .. "%??` "), kind .. "." .. name .. " is left out")
      end
    end
    holds(text, "how many items of the whole input may")
  end)

  it("says of every parameter what the original has", function()
    local page = library.read_file(root .. "/lua/manual/migrating.md")
    for _, kind in ipairs { "ParallelRunConfig", "ParallelRunStep" } do
      for _, name in ipairs(plan.parameters(kind)) do
        holds(page, "`" .. name .. "`")
      end
    end
  end)

  it("separates a type from the text after it", function()
    for _, case in ipairs {
      { "string", "string", "" }, { "string? why", "string?", "why" },
      { "{ a?: boolean, b: string } not c", "{ a?: boolean, b: string }", "not c" },
      { 'fun(a: string, b?: "x y"): string?, integer the rest', 'fun(a: string, b?: "x y"): string?, integer',
        "the rest" },
    } do
      assert.same({ case[2], case[3] }, { library.split_type(case[1]) })
    end
  end)
end)

describe("tidemill-entry-script(7)", function()
  local found = library.open(root .. "/stdlib")
  local page = entry_script.page(found, "9.9.9", "function run(items) return items end")

  it("has the hooks, the context, the helper, and the modules", function()
    for _, words in ipairs { "init()", "run(mini_batch", "prefetch(mini_batch", "recover(reason", "shutdown()" } do
      holds(page, "\n\\fB" .. words)
    end
    for _, class in ipairs { "Context", "EntryScript", "Logger", "Reader", "DataFrame", "Column", "Row", "Tensor",
                              "InferenceSession" } do
      for _, head in ipairs(found.classes["tidemill." .. class].heads) do
        for _, tag in ipairs(head.tags) do
          if tag.tag == "field" then
            holds(page, (tag.name:gsub("%?$", "")))
          end
        end
      end
      for _, entry in ipairs(found.classes["tidemill." .. class].members) do
        holds(page, ":" .. entry.name .. "(")
      end
    end
    for _, module in ipairs(library.modules) do
      for _, entry in ipairs(module ~= "tidemill" and found.functions[module] or {}) do
        holds(page, entry.path)
      end
    end
  end)
end)

describe("text as roff", function()
  it("contains no accidental roff requests", function()
    assert.equal("a\\-b\\ec", roff.escape "a-b\\c")
    assert.equal("\\&.x\n\\&'y\nz.", roff.escape ".x\n'y\nz.")
    assert.equal("\\[u00E9]\\[u20AC]", roff.escape "é€")
  end)

  it("keeps examples as they are", function()
    assert.equal(".PP\na\nb\n.PP\n.RS 4\n.nf\n  x\n  y\n.fi\n.RE\n.PP\nc\n", roff.paragraphs "a\nb\n  x\n  y\n\nc")
  end)
end)

describe("the page about migrating", function()
  local text = library.read_file(root .. "/lua/manual/migrating.md")

  it("has every parameter of a step and of its configuration", function()
    for _, kind in ipairs { "ParallelRunConfig", "ParallelRunStep" } do
      for _, name in ipairs(plan.parameters(kind)) do
        holds(text, "`" .. name)
      end
    end
  end)

  it("has every answer of the program to a name of the original", function()
    local source, n = library.read_file(root .. "/core/plan/names.c"):gsub('"%s+"', ""), 0
    for words in source:gmatch '{%s*[%w"|%._]+,%s*"[^"]*",%s*"(.-[^\\])"%s*}' do
      n = n + 1
      holds(text, (words:gsub('\\"', '"')))
    end
    assert.is_true(n > 60)
  end)

  it("names only functions that exist", function()
    local api, n = reference.text(library.open(root .. "/stdlib"), "9.9.9"), 0
    for name in text:gmatch "[`%s|]%l*:([%l_]+)%(" do
      n = n + 1
      local is_there = api:find("[:%.]" .. name .. "%(") or api:find("\n%- `" .. name .. "` `fun%(")
      assert(is_there, name .. " is not in the reference")
    end
    assert.is_true(n > 15)
  end)
end)

describe("the page of promises", function()
  local text = library.read_file(root .. "/lua/manual/promises.md")

  -- "job/hanging_spec.lua", whichever folder below tests/job it is in
  local function add_tests(found, dir, below)
    for name in lfs.dir(dir) do
      local kind = name:sub(1, 1) ~= "." and lfs.attributes(dir .. "/" .. name, "mode")
      if kind == "directory" then add_tests(found, dir .. "/" .. name, below or name) end
      if kind == "file" and below then found[below .. "/" .. name] = true end
    end
    return found
  end

  it("names tests that exist", function()
    local tests = add_tests({}, root .. "/tests")
    local n = 0
    for dir, name in text:gmatch "`(%l+)/([%l_]+)`" do
      local found
      local patterns = { "%s_spec.lua", "test_%s.c", "test_" .. dir .. "_%s.c", "test_%s.py", "%s.py", "%s.sh" }
      for _, pattern in ipairs(patterns) do
        -- crash/power_cuts is a part of test_power.c
        for _, stem in ipairs { name, name:match "^%l+" } do
          found = found or tests[dir .. "/" .. pattern:format(stem)]
        end
      end
      assert(found, dir .. "/" .. name .. " is not a test")
      n = n + 1
    end
    assert.is_true(n > 20)
  end)
end)

describe("the pages of the manual", function()
  it("have Lua examples that compile", function()
    local n = 0
    for name in library.read_file(root .. "/lua/manual/pages.cmake"):gmatch "\n  (%l+)" do
      for piece in library.read_file(("%s/lua/manual/%s.md"):format(root, name)):gmatch "\n```lua\n(.-)\n```" do
        assert(loadstring(piece, "=" .. name .. ".md"))
        n = n + 1
      end
    end
    assert.is_true(n > 10)
  end)
end)
