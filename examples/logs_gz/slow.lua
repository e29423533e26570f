-- A line for each request that failed or was slow: filtered before run(), which gets no others.
function run(df, context)
  local day = context.source:match "([^/]+)%.jsonl%.gz$"
  local rows = {}
  for i, row in df:irows() do
    rows[i] = ("%s %s %d after %d ms"):format(day, row.path, row.status, row.ms)
  end
  return rows
end
