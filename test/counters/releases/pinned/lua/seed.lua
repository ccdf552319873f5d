if not inEpoch() or (isClosed() and call('HGET', state, 'closedEpoch') ~= epoch) then return { 'unfinished' } end
local finished = isClosed() and number - 1 or number
local applied = tonumber(ARGV[4])
if epoch ~= ARGV[3] or applied < finished then return { 'again', epoch } end
if applied > finished then return { 'unfinished' } end
for i = 5, #KEYS do learn(KEYS[i], 3 * i - 10, ARGV[2]) end
return { 'seeded' }
