-- Writes the lists of names that are the inputs: make_lists.lua [FOLDER] [WORDS]. Nobody opens what
-- the names stand for.
local folder, words = arg[1] or ".", tonumber(arg[2] or 400000)

local function write(name, prefix, count)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  for i = 1, count do
    file:write(prefix, i, "\n")
  end
  assert(file:close())
end

write("pages.txt", "page-", 400)
write("words.txt", "word-", words)
