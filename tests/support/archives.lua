-- Builds archives for specs byte by byte, so that a spec can damage them: archives.zip(members),
-- archives.tar(members) -> bytes. A member: { name, text, method, flags, mode, size, crc, at, type,
-- link }; fields that are missing get correct values. A zip member with `at` has no data of its
-- own: it uses the data at that offset.
local bit = require "bit"

local archives = {}

local function le(n, bytes)
  local out = {}
  for i = 1, bytes do
    out[i] = string.char(n % 256)
    n = math.floor(n / 256)
  end
  return table.concat(out)
end

local crc_table = {}
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do
    c = bit.band(c, 1) == 1 and bit.bxor(bit.rshift(c, 1), 0xEDB88320) or bit.rshift(c, 1)
  end
  crc_table[i] = c
end

local function crc32(text)
  local c = -1
  for i = 1, #text do
    c = bit.bxor(crc_table[bit.band(bit.bxor(c, text:byte(i)), 255)], bit.rshift(c, 8))
  end
  return bit.bnot(c) % 2 ^ 32
end

--- Stored, unless `method` names another method (the data are stored even then).
function archives.zip(members)
  local data, directory, at = {}, {}, 0
  for i, m in ipairs(members) do
    local name, text = m.name or m[1], m.text or m[2] or ""
    local crc, method, flags = m.crc or crc32(text), m.method or 0, m.flags or 0
    local numbers = le(flags, 2) .. le(method, 2) .. le(0, 4) .. le(crc, 4) .. le(#text, 4) .. le(m.size or #text, 4)
      .. le(#name, 2) .. le(0, 2)
    data[i] = m.at and "" or "PK\3\4" .. le(20, 2) .. numbers .. name .. text
    directory[i] = "PK\1\2" .. le(m.mode and 0x314 or 20, 2) .. le(20, 2) .. numbers .. le(0, 6)
      .. le((m.mode or 0) * 65536, 4) .. le(m.at or at, 4) .. name
    at = at + #data[i]
  end
  local all = table.concat(directory)
  return table.concat(data) .. all .. "PK\5\6" .. le(0, 4) .. le(#members, 2) .. le(#members, 2) .. le(#all, 4)
    .. le(at, 4) .. le(0, 2)
end

local function field(text, width) return text .. ("\0"):rep(width - #text) end

--- ustar; `type`: "0" a file, "1" and "2" links, "3" a device, "5" a folder.
function archives.tar(members)
  local out = {}
  for _, m in ipairs(members) do
    local name, text = m.name or m[1], m.text or m[2] or ""
    local head = field(name, 100) .. "0000644\0" .. "0000000\0" .. "0000000\0" .. ("%011o\0"):format(m.size or #text)
      .. "00000000000\0" .. (" "):rep(8) .. (m.type or "0") .. field(m.link or "", 100) .. "ustar\00000"
      .. field("", 32) .. field("", 32) .. "0000000\0" .. "0000000\0" .. field("", 155 + 12)
    local sum = 0
    for i = 1, 512 do sum = sum + head:byte(i) end
    out[#out + 1] = head:sub(1, 148) .. ("%06o\0 "):format(sum) .. head:sub(157)
    out[#out + 1] = text .. ("\0"):rep(-#text % 512)
  end
  return table.concat(out) .. ("\0"):rep(1024)
end

--- The script of a step over entries that stay names: for each readable entry, the row is the
--- expression `row` of `item` and its `text`. The script ignores the others: they fail anyway.
function archives.reading_script(row)
  return ([[function run(m, context)
  local rows = {}
  for _, item in ipairs(m) do
    local is_read, text = pcall(function() return assert(context:open(item)):read "*a" end)
    rows[#rows + 1] = is_read and %s or nil
  end
  return rows
end]]):format(row)
end

return archives
