-- Stores totals that were read from the ledger together with the number of the last batch of the epoch included in
-- them.
--
-- KEYS: 5 on, the entry of each id.
-- ARGV: 2 ms for which an entry is kept, 3 epoch, 4 number, 5 on, for each id its total, version and time.
--
-- Returns 'seeded', 'unfinished' if a batch must be finished first, or 'again' and the current epoch if the totals are
-- older than the last finished batch or belong to another epoch.

if not inEpoch() or (isClosed() and call('HGET', state, 'closedEpoch') ~= epoch) then return { 'unfinished' } end
local finished = isClosed() and number - 1 or number
local applied = tonumber(ARGV[4])
if epoch ~= ARGV[3] or applied < finished then return { 'again', epoch } end
if applied > finished then return { 'unfinished' } end
for i = 5, #KEYS do learn(KEYS[i], 3 * i - 10, ARGV[2]) end
return { 'seeded' }
