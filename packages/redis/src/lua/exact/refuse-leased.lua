-- Inserted before `exact-batch`: treats keys with leases as unusable, so that their requests fail with `LEASED`. Leases
-- are stored next to the cells of their key, in the same slot.
--
-- KEYS: the cells of each charge, then the leases of each.

local cellsCount = #KEYS / 2
if call('EXISTS', unpack(KEYS, cellsCount + 1)) > 0 then
  messages[1] = 'LEASED units of the key are on lease'
  for i = 1, cellsCount do
    if call('EXISTS', KEYS[cellsCount + i]) == 1 then broken[KEYS[i]] = 1 end
  end
end
