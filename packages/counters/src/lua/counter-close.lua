-- Closes what is pending as the next batch, or answers the one that is closed and not finished, to whoever hands it over.
--
-- ARGV: 2 ms for which nobody else is given it, 3 '1' where that does not matter.
--
-- Answers 'none' where nothing is owed, 'busy' where somebody else hands it over; or 'batch', its epoch, its number, how
-- many ms ago its first unit was counted, '1' where it has all that was pending, and its amounts by id.

local isFresh = false
if inEpoch() and not isClosed() then
  if not isPending() then return { 'none' } end
  shut()
  isFresh = true
end
local closedEpoch, closedNumber, since, held =
  unpack(call('HMGET', state, 'closedEpoch', 'closedNumber', 'closedSince', 'heldUntil'))
if tonumber(held) > now and ARGV[3] ~= '1' then return { 'busy' } end
call('HSET', state, 'heldUntil', text(now + ARGV[2]))
return {
  'batch', closedEpoch, closedNumber, text(math.max(0, now - since)), isFresh and '1' or '0', call('HGETALL', closed),
}
