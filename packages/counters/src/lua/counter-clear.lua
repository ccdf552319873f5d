-- Removes the pending units and the total of an id after the ledger has set it to 0. The other pending units are
-- closed, so that units counted from now on are not in a batch that began earlier.
--
-- KEYS: 5 the entry of the id. ARGV: 2 the id.
--
-- Returns 'cleared', or 'unfinished' if a batch must be finished first.

if not inEpoch() or isClosed() then return { 'unfinished' } end
local amount = call('HGET', pending, ARGV[2])
if amount then
  call('HDEL', pending, ARGV[2])
  owe(ARGV[2], 0 - amount)
end
if isPending() then shut() else call('HDEL', state, 'since') end
call('DEL', KEYS[5])
return { 'cleared' }
