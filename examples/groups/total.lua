-- One mini-batch is one city: all its rows, wherever they are in the file.
function run(df, context)
  local row = ("%s: %g in %d sales"):format(context.partition_key_value.city, df.c.amount:sum(), #df)
  return { row }
end
