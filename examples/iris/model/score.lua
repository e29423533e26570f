-- Learns the kinds of flowers from those in train.csv, then names the kind of each flower that it
-- is given: naive Bayes, with a normal distribution for each measure of each kind.
local EntryScript = require "tidemill.entry_script"
local frame = require "tidemill.frame"

local measures = { "sepal_length", "sepal_width", "petal_length", "petal_width" }
local model = {} -- kind -> {mean, spread} of each measure

function init()
  local known = assert(frame.read_csv(EntryScript().script_dir .. "/train.csv"))
  for row in known:value_counts("kind"):rows() do
    local of_kind, learned = known:filter("kind", "==", row.kind), {}
    for i, name in ipairs(measures) do
      learned[i] = { mean = of_kind.c[name]:mean(), spread = of_kind.c[name]:std() }
    end
    model[row.kind] = learned
  end
end

-- Up to what is the same for all kinds, the logarithm of how likely such a flower is of this kind.
local function likelihood(learned, row)
  local sum = 0
  for i, name in ipairs(measures) do
    local off = (row[name] - learned[i].mean) / learned[i].spread
    sum = sum - off * off / 2 - math.log(learned[i].spread)
  end
  return sum
end

local function most_likely(row)
  local best, most
  for kind, learned in pairs(model) do
    local likely = likelihood(learned, row)
    if not most or likely > most then best, most = kind, likely end
  end
  return best
end

function run(df)
  return df:with_column("predicted", most_likely)
    :with_column("is_right", function(row) return row.predicted == row.kind end)
    :select("petal_length", "petal_width", "kind", "predicted", "is_right")
end
