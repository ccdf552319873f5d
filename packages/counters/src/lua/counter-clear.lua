-- Takes away what is pending of an id, which the ledger has set to 0. What else is pending is closed, so that no unit
-- counted from now on is in a batch that began before.
--
-- KEYS: 5 the entry of the id. ARGV: 2 the id.
--
-- Answers 'unfinished' where a batch must be finished first.

if not inEpoch() or isClosed() then return { 'unfinished' } end
local amount = call('HGET', pending, ARGV[2])
if amount then
  call('HDEL', pending, ARGV[2])
  owe(ARGV[2], 0 - amount)
end
if isPending() then shut() else call('HDEL', state, 'since') end
call('DEL', KEYS[5])
return { 'cleared' }
