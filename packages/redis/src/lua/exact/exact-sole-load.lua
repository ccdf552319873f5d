-- Reads the cells for one take of one charge. The constants of the policy and `cost` are local variables.
--
-- KEYS: the cells.

local c, message = load(KEYS[1], cells, layout, native, writesNative)
if not c then return stamp .. ' !1\n' .. message end
