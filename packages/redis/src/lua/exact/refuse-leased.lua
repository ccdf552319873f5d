-- Inserted before `exact-batch`: treats keys with leases as unusable, so that their requests fail with `LEASED`. Leases
-- are stored next to the cells of their key, in the same slot.

local leases = {}
for i = 1, #KEYS do leases[i] = KEYS[i] .. ':leases' end
if call('EXISTS', unpack(leases)) > 0 then
  messages[1] = 'LEASED units of the key are on lease'
  for i = 1, #KEYS do
    if call('EXISTS', leases[i]) == 1 then broken[KEYS[i]] = 1 end
  end
end
