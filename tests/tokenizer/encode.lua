-- encode.lua FILE FOLDER: the same as encode.cjs, by tidemill.tokenizer; FOLDER is for its files.
-- With a third argument, prints texts per second of CPU time.
local Tokenizer = require "tidemill.tokenizer"
local ffi = require "ffi"
local fs = require "tidemill.fs"
local json = require "tidemill.json"

ffi.cdef "int clock_gettime(int clock, long *time);"
local function now()
  local time = ffi.new "long[2]"
  ffi.C.clock_gettime(2, time) -- CLOCK_PROCESS_CPUTIME_ID
  return tonumber(time[0]) + tonumber(time[1]) / 1e9
end

local function ids_of(tokenizer, texts)
  local inputs = tokenizer:encode(texts, { pad_token = tokenizer:id_to_token(0) })
  local ids, mask, rows = inputs.input_ids:data(), inputs.attention_mask:data(), {}
  local width = inputs.input_ids.shape[2]
  for row = 0, #texts - 1 do
    local list = {}
    for i = row * width, row * width + width - 1 do
      if mask[i] == 1 then list[#list + 1] = tostring(tonumber(ids[i])) end
    end
    rows[row + 1] = "[" .. table.concat(list, ",") .. "]"
  end
  return "[" .. table.concat(rows, ",") .. "]"
end

local file, folder, is_timed = arg[1], arg[2], arg[3]
local texts, time = 0, 0
for line in io.lines(file) do
  local one = assert(json.decode(line))
  assert(fs.write(folder .. "/tokenizer.json", assert(json.encode(one.tokenizer))))
  local tokenizer = Tokenizer.from_file(folder .. "/tokenizer.json")
  local start = now()
  local text = is_timed and tokenizer:encode(one.texts, { pad_token = tokenizer:id_to_token(0) })
    or ids_of(tokenizer, one.texts)
  time, texts = time + now() - start, texts + #one.texts
  if not is_timed then print(text) end
end
if is_timed then print(math.floor(texts / time)) end
