-- Cases of tables: files with rows, and pipelines that read them.
local tables = {}

--- Rows first to last of a table with four columns.
function tables.csv(t, name, first, last)
  local lines = { "id,price,day,name" }
  for i = first, last do
    lines[#lines + 1] = ("%d,%.1f,2024-01-%02d,name%d"):format(i, i / 2, i % 28 + 1, i)
  end
  t:write(name, table.concat(lines, "\n") .. "\n")
end

--- One step; `config` and `input` are Lua, `before` goes before them.
function tables.pipeline(t, config, input, before)
  t:write("pipeline.lua", ([[
local tm = require "tidemill"
%s
local config = tm.ParallelRunConfig { entry_script = "score.lua", process_count_per_node = 2, %s }
local step = tm.ParallelRunStep { name = "score", parallel_run_config = config, inputs = %s }
return tm.Pipeline { name = "case", steps = { step } }
]]):format(before or "", config, input or [[tm.Dataset.Tabular.from_delimited_files("in/*.csv")]]))
end

tables.IDS = [[
function run(df)
  local rows = {}
  for i = 1, #df do rows[i] = df.c.id[i] end
  return rows
end
]]

--- The rows that IDS returns for them, sorted as text.
function tables.ids(first, last)
  local rows = {}
  for i = first, last do rows[#rows + 1] = tostring(i) end
  table.sort(rows)
  return rows
end

return tables
