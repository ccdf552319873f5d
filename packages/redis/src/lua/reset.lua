-- Forgets KEYS, once for each id, and leaves a mark beside each, as `make-good` reads them: what was known of it
-- before is void.
--
-- ARGV: as `exact-head` says, then the id; then of each key for how many ms what was known of it may be told. Answers
-- 'late' and the time where the deadline had passed, else the time.

for i, key in ipairs(KEYS) do
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
