-- Runs one take of one charge. The constants of the policy and `cost` are local variables. Same result as
-- `exact-batch`.
--
-- KEYS: the cells.

local c, message = load(KEYS[1], cells, layout, native, writesNative)
if not c then return stamp .. ' !1\n' .. message end
local wait = waitMs(c, now, cost)
local takes = wait == 0 and cost > 0
if takes then spend(c, now, cost) end
local left, reset, grows = numbersOf(c, now, cost, wait)
if takes then store(KEYS[1], c, layout, reset) end
return format('%s %d %d %.17g %d', stamp, left, waitOf(wait), reset, waitOf(grows))
