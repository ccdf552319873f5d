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
