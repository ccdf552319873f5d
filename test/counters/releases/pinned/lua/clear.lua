if not inEpoch() or isClosed() then return { 'unfinished' } end
local amount = call('HGET', pending, ARGV[2])
if amount then
  call('HDEL', pending, ARGV[2])
  owe(ARGV[2], 0 - amount)
end
if isPending() then shut() else call('HDEL', state, 'since') end
call('DEL', KEYS[5])
return { 'cleared' }
