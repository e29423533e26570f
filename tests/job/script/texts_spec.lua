-- Texts to tokens in run(): a column of a table, an interruption within one long text.
local job = require "support.job"
local json = require "tidemill.json"
local small_tokenizer = require "tokenizer.small_tokenizer"

describe("texts in run()", function()
  after_each(job.check_end)

  it("come from a column of a table", function()
    local t = job.case()
    small_tokenizer.write(t:path "tokenizer.json")
    t:write("in/a.csv", 'id,text\n1,hello\n2,"Hello, worlds!"\n')
    t:script(([[
      local tokenizer = require("tidemill.tokenizer").from_file(%q)
      function run(df)
        local inputs = tokenizer:encode(df.c.text, { max_length = 6 })
        local rows = {}
        for i, row in ipairs(inputs.input_ids:to_table()) do
          for k, id in ipairs(row) do row[k] = tokenizer:id_to_token(id) end
          rows[i] = df.c.id[i] .. " " .. table.concat(row, " ")
        end
        return rows
      end]]):format(t:path "tokenizer.json"))
    local r = t:run { "map", "score.lua", "in/a.csv", "--rows" }
    job.says(r, 0, "1 [CLS] hello [SEP] [PAD] [PAD] [PAD]\n2 [CLS] hello , world ##s [SEP]\n")
  end)

  it("can be interrupted within one of them", function()
    local t = job.case()
    t:inputs(2)
    -- Each place of a text of this letter begins a token that is 4,000 letters longer than it turns
    -- out to be: minutes of work.
    local file = { model = { type = "Unigram", unk_id = 0,
                             vocab = { { "?", 0 }, { "a", -1 }, { ("a"):rep(4000) .. "b", -2 } } } }
    t:write("tokenizer.json", json.encode(file))
    t:script(([[
      local tokenizer = require("tidemill.tokenizer").from_file(%q)
      function recover(reason) print("recovered: " .. reason) end
      function run(m)
        if number_of(m[1]) == 1 then tokenizer:encode(("a"):rep(4000000)) end
        assert(tokenizer:encode("aab").input_ids.shape[2] == 3)
        return names_of(m)
      end]]):format(t:path "tokenizer.json"))
    t:pipeline("mini_batch_size = 1, process_count_per_node = 1, run_max_try = 1, interruptible = true, " ..
      "run_invocation_timeout = 0.5, interrupt_grace = 30, error_threshold = -1")
    t:expect_job(0)
    assert.same({ RUN_TIMEOUT = 1, RUN_DONE = 1 }, t:statuses())
    assert.same({ "0002.txt" }, t:rows())
    local tries = t:tries()
    local timed_out = tries[1].Status == "RUN_TIMEOUT" and tries[1] or tries[2]
    assert.is_truthy(timed_out["Error Message"]:find("and was interrupted", 1, true), timed_out["Error Message"])
    local text = t:log "user/error/0/process000.txt"
    assert.is_truthy(text:find("score.lua:5: run() took longer than run_invocation_timeout", 1, true), text)
    assert.equal(tries[1].Process, tries[2].Process)
  end)
end)
