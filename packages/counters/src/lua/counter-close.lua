-- Closes the pending units as the next batch, or returns the closed batch that is not finished yet, so that the caller
-- hands it over.
--
-- ARGV: 2 ms for which no other caller receives the batch, 3 '1' to receive it even if another caller has it.
--
-- Returns 'none' if there are no units to hand over, 'busy' if another caller is handing the batch over, or 'batch',
-- its epoch, its number, the age of its oldest unit in ms, '1' if it includes all units pending until now, and its
-- amounts by id.

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
