-- Two columns, summed by a third: the sums of each mini-batch are a file of its own, there if and
-- only if it is committed.
local function run(df, context)
  local groups = df:group_by("store"):agg { price = { "sum", "price" }, tax = { "sum", "tax" } }
  groups:write_csv(context:output_file(("sums.%d.csv"):format(context.minibatch_index)))
  return df
end

return { run = run }
