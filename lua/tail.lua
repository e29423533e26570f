-- tail.lua - a piece of Lua that ends in a call, `return tidemill.Pipeline { ... }`. Such a call
-- replaces its caller on the stack, so that the stack no longer has the line; the compiled code
-- still has it.
--
-- Returns a function that finds the line of the only tail call in the main code of `piece`, and the
-- name by which that code looked up the called function, "Pipeline"; nil for either: there is none,
-- or there are several calls.

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

-- The same for the operation before the return.
local function loading_operation(util, text)
  local probe = loadstring(text)
  return (parts(util.funcbc(probe, util.funcinfo(probe).bytecodes - 2)))
end

-- The call itself has the line where its arguments end. The line where it begins is that of the
-- instruction that loaded the function into the call's register.
local function loaded_at(util, piece, pc, register)
  for before = pc - 1, 1, -1 do
    local _, a = parts(util.funcbc(piece, before))
    if a == register then
      return before
    end
  end
  return pc
end

-- The string that an instruction looks up: as a global (in its two highest bytes), or as a field
-- (in the third byte).
local function looked_up(util, piece, pc, global, field)
  local ins = util.funcbc(piece, pc)
  local op = parts(ins)
  local constant = op == global and bit.rshift(ins, 16) or op == field and bit.band(bit.rshift(ins, 16), 0xff)
  return constant and util.funck(piece, bit.bnot(constant)) or nil
end

return function(piece)
  local util = require "jit.util"
  local plain = operation(util, "return f()")
  local many = operation(util, "return f(...)")
  local global, field = loading_operation(util, "return f"), loading_operation(util, "return (...).f")
  local line, name, count = nil, nil, 0
  for pc = 1, util.funcinfo(piece).bytecodes - 1 do
    local op, register = parts(util.funcbc(piece, pc))
    if op == plain or op == many then
      local at = loaded_at(util, piece, pc, register)
      line, count = util.funcinfo(piece, at).currentline, count + 1
      name = looked_up(util, piece, at, global, field)
    end
  end
  if count == 1 then
    return line, name
  end
end
