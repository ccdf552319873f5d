-- Deletes KEYS, once per id, and leaves a mark next to each, as `make-good` reads them: earlier knowledge is void.
--
-- ARGV: as in `exact-head`, then the id; then for each key for how many ms earlier knowledge may be reported. Returns
-- 'late' and the time if the deadline has passed, otherwise the time.

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
