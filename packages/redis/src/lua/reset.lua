-- Resets keys, once per id: deletes their cells and stores a mark for each that invalidates earlier reports of usage.
--
-- KEYS: the cells of each key; then its mark and its result, for each key.
-- ARGV: the argument of `exact-head`; the idempotency id; for each key the ms during which earlier usage of the key may
-- still be reported.
--
-- Returns the time, or 'late' and the time if the deadline has passed.

for i = 1, #ARGV - 2 do
  local key = KEYS[i]
  if not doneBefore(key, ARGV[2]) then
    local livesMs = ceil(tonumber(ARGV[i + 2]))
    local mark = struct.pack('<dddd', now, 0, 0, now + livesMs)
    call('SET', key .. ':mark', mark, 'PX', format('%d', max(1, min(livesMs + longer, 2^52))))
    call('UNLINK', key)
    isDone(key, ARGV[2], '1')
  end
end
storeDone()
return stamp
