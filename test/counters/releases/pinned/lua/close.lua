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
