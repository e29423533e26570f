-- Tables from queries: types, cutting by keys, and faulty databases and queries.
local job = require "support.job"
local json = require "dkjson"
local sqlite = require "support.sqlite"

local SAY_ROWS = [[
function run(df, context)
  local rows = {}
  for row in df:rows() do
    local t, types = { n = #df }, {}
    for i, name in ipairs(df.columns) do t[name], types[i] = row[name], df.types[name] end
    t.types = table.concat(types, " ")
    rows[#rows + 1] = t
  end
  return rows
end]]

local ORDERS = [[
CREATE TABLE orders(id INTEGER PRIMARY KEY, name VARCHAR(20), price REAL, paid BOOLEAN, day DATE, note, raw BLOB);
INSERT INTO orders VALUES
  (1, 'ann', 2.5, 1, '2026-01-31', NULL, x'0001'),
  (2, 'bob', 3, 0, '2026-02-01', 7, NULL),
  (3, NULL, NULL, NULL, NULL, 8, NULL),
  (7, 'dora', 1e3, 1, '2026-02-03T10:00:00Z', NULL, NULL),
  (8, 'emil', 4, 0, '2026-02-04', 9, NULL);
]]

local function new_case(o)
  local t = job.case()
  sqlite.make(t.dir .. "/orders.db", o.data or ORDERS)
  t:script(o.script or SAY_ROWS)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
local orders = tm.Dataset.Tabular.from_sql_query(%s)
return tm.Pipeline { name = "case", steps = { tm.ParallelRunStep {
  name = "score", inputs = orders%s,
  parallel_run_config = tm.ParallelRunConfig { entry_script = "score.lua", %s },
} } }
]]):format(o.query, o.ops or "", o.config or ""))
  return t
end

local function rows_of(t)
  local rows = {}
  for _, line in ipairs(t:rows()) do rows[#rows + 1] = json.decode(line) end
  table.sort(rows, function(a, b) return a.id < b.id end)
  return rows
end

local function ids_of(t)
  local ids = {}
  for i, row in ipairs(rows_of(t)) do ids[i] = row.id end
  return ids
end

describe("a query", function()
  after_each(job.check_end)

  it("is one mini-batch, with the column types of the database", function()
    local t = new_case { query = [["orders.db", "SELECT *, price * 2 AS twice FROM orders; -- all of them"]] }
    t:expect_job(0)
    local rows = rows_of(t)
    assert.equal(5, #rows)
    assert.equal("long string double bool datetime long string double", rows[1].types)
    assert.same({ 5, "ann", 2.5, true, "\0\1", 5 }, { rows[1].n, rows[1].name, rows[1].price, rows[1].paid, rows[1].raw,
      rows[1].twice })
    assert.equal(1769817600, rows[1].day)
    assert.is_nil(rows[3].name)
    assert.is_nil(rows[3].paid)
    assert.equal(1, #t:tries())
  end)

  it("is of a database in a datastore, which three forms name", function()
    for _, query in ipairs { '(store, "orders.db", "SELECT id FROM orders", { query_timeout = 9 })',
                             '({ store, "orders.db" }, "SELECT id FROM orders", { query_timeout = 9 })',
                             '{ database = { store, "orders.db" }, query = "SELECT id FROM orders", '
                               .. 'query_timeout = 9 }' } do
      local t = new_case { query = '"orders.db", "SELECT 1"' }
      t:write("shop/file", "")
      sqlite.make(t:path "shop/orders.db", ORDERS)
      t:write("pipeline.lua", (t:read "pipeline.lua":gsub("local orders = .-\n", function()
        return 'local store = tm.Datastore.register_directory(tm.Workspace.from_config(), "there", "shop")\n'
          .. "local orders = tm.Dataset.Tabular.from_sql_query" .. query .. "\n"
      end)))
      t:expect_job(0)
      assert.same({ 1, 2, 3, 7, 8 }, ids_of(t))
    end
  end)

  it("is split by ranges of keys, without empty ranges", function()
    local t = new_case { query = [["orders.db", "SELECT id, name FROM orders",
      { key_column = "id", key_from = 1, key_to = 1000000 }]], config = 'mini_batch_size = "2rows"' }
    sqlite.make(t.dir .. "/orders.db", "INSERT INTO orders(id, name) VALUES (999999, 'last'), (1000001, 'too late')")
    t:write("pipeline.lua", (t:read "pipeline.lua":gsub('"2rows"', '"1000rows"')))
    t:expect_job(0)
    assert.same({ 1, 2, 3, 7, 8, 999999 }, ids_of(t))
    assert.equal(2, #t:tries())
    local few = new_case { query = [["orders.db", "SELECT id FROM orders ORDER BY id DESC",
      { key_column = "id", key_from = -5, key_to = 7 }]], config = 'mini_batch_size = "2rows"' }
    few:expect_job(0)
    assert.same({ 1, 2, 3, 7 }, ids_of(few)) -- [1, 2], [3, 4], [7]
    assert.equal(3, #few:tries())
  end)

  it("may have parameters", function()
    local t = new_case { query = [["orders.db", tm.PipelineParameter { name = "query", default_value =
      "SELECT id FROM orders" }, { key_column = "id",
      key_from = tm.PipelineParameter { name = "from", default_value = 1 }, key_to = 8 }]],
      config = 'mini_batch_size = "100rows"' }
    t:expect_job(0, { "--param", "from=3" })
    assert.same({ 3, 7, 8 }, ids_of(t))
  end)

  it("supports filter, columns, take, skip, samples and keys like other tables", function()
    local whole = [["orders.db", "SELECT id, name, price FROM orders ORDER BY id"]]
    local cut = [["orders.db", "SELECT id, name, price FROM orders ORDER BY id",
      { key_column = "id", key_from = 1, key_to = 10 }]]
    for ops, wanted in pairs {
      [':filter("price", ">", 2.6)'] = { 2, 7, 8 },
      [':keep_columns("id"):take(3)'] = { 1, 2, 3 },
      [':skip(1):take(3)'] = { 2, 3, 7 },
    } do
      for _, query in ipairs { whole, cut } do
        local t = new_case { query = query, ops = ops, config = 'mini_batch_size = "2rows"' }
        t:expect_job(0)
        assert.same(wanted, ids_of(t), ops)
      end
    end
    local samples = {}
    for i, query in ipairs { whole, cut } do
      local t = new_case { query = query, ops = ":take_sample(0.5, 3)", config = 'mini_batch_size = "2rows"' }
      t:expect_job(0)
      samples[i] = ids_of(t)
    end
    assert.same(samples[1], samples[2])
    local t = new_case { query = whole, ops = ':as_named_input "orders"', config = 'partition_keys = "name"' }
    t:expect_job(0)
    assert.equal(5, #t:tries()) -- ann, bob, dora, emil, and one without a name
  end)

  it("counts values that do not fit, or fails", function()
    local data = ORDERS .. [[
      WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      INSERT INTO orders(id, note) SELECT i, i FROM n;
      INSERT INTO orders(id, note) VALUES (500, 'none of these'), (501, 2.0), (502, 2.5);]]
    local t = new_case { data = data, query = [["orders.db", "SELECT id, note FROM orders"]] }
    t:expect_job(0)
    local rows = rows_of(t)
    assert.equal(2, rows[#rows - 1].note)
    assert.is_nil(rows[#rows].note)
    assert.is_truthy(t:log "sys/master_role.txt":find(
      "refuses such values; the first: '" .. t:path "orders.db" .. "', row 307 of the mini-batch, column 'note': "
        .. "'none of these' is not a valid long", 1, true), t:log "sys/master_role.txt")
    t = new_case { data = data, query = [["orders.db", "SELECT id, note FROM orders", { on_misfit = "error" }]] }
    local r = t:expect_job(1)
    assert.is_truthy(r.err:find(
      "row 307 of the mini-batch: column 'note': 'none of these' is not a valid long", 1, true), r.err)
    t = new_case { data = data, query = [["orders.db", "SELECT id, note FROM orders",
      { set_column_types = { note = "string" } }]] }
    t:expect_job(0)
    assert.equal("2.5", rows_of(t)[#rows].note)
  end)

  it("can be resumed, replayed and inspected", function()
    local t = new_case { query = [["orders.db", "SELECT id, name FROM orders",
      { key_column = "id", key_from = 1, key_to = 8 }]], config = 'mini_batch_size = "4rows"' }
    local r = t:run { "run", "pipeline.lua", "--dry-run" }
    t:expect(r, 0)
    assert.is_truthy(r.out:find("2 mini-batches", 1, true), r.out)
    assert.is_truthy(r.out:find(t:path "orders.db" .. ", keys 5 to 8", 1, true), r.out)
    t:expect_job(0)
    r = t:run { "replay", "job", "--mini-batch", "1" }
    t:expect(r, 0)
    assert.is_truthy(r.out:find('"dora"', 1, true), r.out)
    t:expect_job(0, { "--resume", "--verify-input" })
  end)

  it("without a row is a job without input", function()
    local r = new_case { query = [["orders.db", "SELECT * FROM orders WHERE id > 100"]] }:expect_job(1)
    assert.is_truthy(r.err:find("no input", 1, true), r.err)
  end)
end)

describe("a database", function()
  after_each(job.check_end)

  for query, words in pairs {
    [ [["none.db", "SELECT 1"]] ] = "there is no database '%s/none.db'",
    [ [["pipeline.lua", "SELECT 1"]] ] = "'%s/pipeline.lua' is not an SQLite database",
    [ [["orders.db", "SELECT * FORM orders"]] ] = "database '%s/orders.db': near \"FORM\": syntax error",
    [ [["orders.db", "SELECT * FROM order_lines"]] ] = "no such table: order_lines",
    [ [["orders.db", "DROP TABLE orders"]] ] = "the query writes, and a dataset is only read; accepted: a SELECT",
    [ [["orders.db", "DELETE FROM orders RETURNING id"]] ] = "the query writes",
    [ [["orders.db", "SELECT 1; DROP TABLE orders"]] ] = "the query is more than one statement",
    [ [["orders.db", " ; "]] ] = "the query is empty",
    [ [["orders.db"]] ] = "'query' is missing; it is required: a string",
    [ [["orders.db", "ATTACH 'x.db' AS x"]] ] = "the query has no columns",
    [ [["orders.db", "SELECT 1", { key = "id" }]] ] = "unknown key 'key'; known: 'query', 'key_column'",
    [ [["orders.db", "SELECT * FROM orders", { key_column = "id" }]] ] =
      "'key_column', 'key_from' and 'key_to' go together",
    [ [["orders.db", "SELECT * FROM orders", { key_column = "ids", key_from = 1, key_to = 2 }]] ] =
      "'key_column': there is no column 'ids'; did you mean 'id'?",
    [ [["orders.db", "SELECT * FROM orders", { key_column = "id", key_from = 3, key_to = 2 }]] ] =
      "'key_to' is less than 'key_from'",
    [ [["orders.db", "SELECT * FROM orders", { key_column = "id", key_from = 1, key_to = 2 }]] ] =
      "'mini_batch_size' is a size, and input 1 (%s/pipeline.lua:2) is cut by its 'key_column'; accepted: so many keys",
    [ [["orders.db", "SELECT * FROM orders", 3]] ] = "the argument is 3; accepted: a table { ",
  } do
    it("is refused before anything starts: " .. query, function()
      local t = new_case { query = query }
      local before = t:read "orders.db"
      local r = t:expect_job(2)
      assert.is_truthy(r.err:find((words:gsub("%%s", function() return t.dir end)), 1, true), r.err)
      assert.is_truthy(r.err:find "pipeline.lua:%d+: ", r.err)
      assert.is_false(t:has "job")
      assert.equal(before, t:read "orders.db")
    end)
  end

  it("that is locked is waited for, then reported", function()
    local t = new_case { query = [["orders.db", "SELECT id FROM orders", { query_timeout = 0.2 }]] }
    local db = sqlite.open(t:path "orders.db")
    db:exec "BEGIN EXCLUSIVE"
    local r = t:run_job()
    db:exec "COMMIT"
    db:close()
    assert.equal(3, r.status)
    assert.is_truthy(r.err:find("orders.db' is locked by another program, for longer than query_timeout (0.2 s)", 1,
      true), r.err)
    t:expect_job(0)
  end)

  it("with an endless query is given up", function()
    local t = new_case { query = [["orders.db",
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
      { query_timeout = 0.2, validate = false }]] }
    local r = t:run_job()
    assert.equal(1, r.status)
    assert.is_truthy(r.err:find("has not answered within query_timeout (0.2 s)", 1, true), r.err)
  end)

  it("that changes during the job fails the tries with a reason", function()
    local t = new_case { query = [["orders.db", "SELECT id FROM orders"]], config = "run_max_try = 1" }
    t:script(([[function init() assert(os.execute "touch -d 2020-01-01 %s/orders.db" == 0) end
      function run() return {} end]]):format(t.dir))
    local r = t:expect_job(1)
    assert.is_truthy(r.err:find("orders.db' changed since it was listed: modified", 1, true), r.err)
  end)

  it("may be one of several inputs", function()
    local t = new_case { query = [["*.db", "SELECT id FROM orders WHERE id < 3"]] }
    sqlite.make(t.dir .. "/more.db", ORDERS)
    t:expect_job(0)
    assert.same({ 1, 1, 2, 2 }, ids_of(t))
    assert.equal(2, #t:tries())
  end)
end)

describe("a step over a query", function()
  after_each(job.check_end)

  local function ran(t, because)
    local r = t:run { "run", "pipeline.lua", "--progress", "none", "--json" }
    t:expect(r, 0)
    assert.is_truthy(r.err:find(because, 1, true), r.err)
    return r.result.steps[1].reused
  end

  it("is reused while its database is unchanged", function()
    local t = new_case { query = [["orders.db", "SELECT id FROM orders"]] }
    assert.is_false(ran(t, "job: "))
    assert.is_true(ran(t, "step 'score' is reused: script, settings, arguments and 1 input file "))
    sqlite.make(t.dir .. "/orders.db", "INSERT INTO orders(id) VALUES (100)")
    assert.is_false(ran(t, "step 'score' is run: input 'orders.db'"))
    assert.is_true(ran(t, "step 'score' is reused"))
  end)

  it("runs again if only the -wal file has changed, however the database is named", function()
    for _, name in ipairs { "orders.db", "or*.db", "link.db" } do
      local t = new_case { query = ([["%s", "SELECT id FROM orders"]]):format(name) }
      local place = name == "link.db" and "kept.db" or "orders.db"
      if place == "kept.db" then
        assert(os.execute(("cd '%s' && mv orders.db kept.db && ln -s kept.db link.db"):format(t.dir)) == 0)
      end
      local db = sqlite.open(t:path(place))
      db:exec "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; INSERT INTO orders(id) VALUES (100)"
      assert.is_false(ran(t, "job: "))
      assert.is_true(ran(t, "step 'score' is reused"))
      db:exec "INSERT INTO orders(id) VALUES (101)"
      assert.is_false(ran(t, place .. "-wal': size "))
      assert.is_true(ran(t, "step 'score' is reused"))
      db:close()
    end
  end)
end)
