-- Removes a batch that the ledger has applied and stores the totals that include it. Does nothing if another caller has
-- finished the batch.
--
-- KEYS: 5 on, the entry of each id.
-- ARGV: 2 ms for which an entry is kept, 3 epoch and 4 number of the batch, 5 on, for each id its total, version and
-- time.

local closedEpoch, closedNumber = unpack(call('HMGET', state, 'closedEpoch', 'closedNumber'))
if closedEpoch ~= ARGV[3] or closedNumber ~= ARGV[4] then return 0 end
local amounts = call('HGETALL', closed)
for i = 1, #amounts, 2 do owe(amounts[i], 0 - amounts[i + 1]) end
call('DEL', closed)
call('HDEL', state, 'closedEpoch', 'closedNumber', 'closedSince', 'heldUntil')
for i = 5, #KEYS do
  if call('HGET', KEYS[i], 'epoch') == epoch then learn(KEYS[i], 3 * i - 10, ARGV[2]) end
end
return 1
