-- tail.lua - a piece of Lua that ends in a call, `return tidemill.Pipeline { ... }`. Such a call
-- replaces its caller on the stack, so that the stack no longer has the line; the compiled code
-- still has it.
--
-- Returns a function that finds the line of the only tail call in the main code of `piece`; nil:
-- there is none, or several.

-- An instruction has its operation in the lowest byte, and register A in the next.
local function parts(ins)
  return bit.band(ins, 0xff), bit.band(bit.rshift(ins, 8), 0xff)
end

-- The number of an operation differs between versions of LuaJIT, so read it from a piece that is
-- known to end in it.
local function operation(util, text)
  local probe = loadstring(text)
  return (parts(util.funcbc(probe, util.funcinfo(probe).bytecodes - 1)))
end

-- The call itself has the line where its arguments end. The line where it begins is that of the
-- instruction that loaded the function into the call's register.
local function first_line(util, piece, pc, register)
  for before = pc - 1, 1, -1 do
    local _, a = parts(util.funcbc(piece, before))
    if a == register then
      return util.funcinfo(piece, before).currentline
    end
  end
  return util.funcinfo(piece, pc).currentline
end

return function(piece)
  local util = require "jit.util"
  local plain = operation(util, "return f()")
  local many = operation(util, "return f(...)")
  local line, count = nil, 0
  for pc = 1, util.funcinfo(piece).bytecodes - 1 do
    local op, register = parts(util.funcbc(piece, pc))
    if op == plain or op == many then
      line, count = first_line(util, piece, pc, register), count + 1
    end
  end
  return count == 1 and line or nil
end
