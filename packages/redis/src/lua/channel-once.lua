-- What scripts of a channel begin with: is the batch of this writer a new one, and does the reader go on where it
-- was. `count` keeps the number of a new batch; it must be the first write, which a full server refuses as a whole.
--
-- KEYS: number of the last batch that counts, of this writer; what is known of the topic.
-- ARGV: number of the batch (0: none is sent), writer, where the reader stands (nothing: at the start), birth of the
-- topic as the reader knows it (nothing: not at all), 1 where news are wanted, ms for which the number of a batch is
-- remembered, ms for which a topic is kept where nobody adds to it.

local writer, position, known = ARGV[2], ARGV[3], ARGV[4]
local wanted, keptMs = ARGV[5] == '1', ARGV[7]
local time = redis.call('TIME')
local born = redis.call('HGET', KEYS[2], 'born') or ''
local fresh = tonumber(ARGV[1]) > tonumber(redis.call('GET', KEYS[1]) or 0)
-- a server that lost its data begins anew, and so does who reads there
local reborn = known ~= '' and known ~= born
if known ~= born or position == '' then position = '0-0' end

local function count()
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[6])
  if born == '' then
    born = time[1] .. '.' .. time[2] .. '.' .. writer
    redis.call('HSET', KEYS[2], 'born', born)
  end
  redis.call('PEXPIRE', KEYS[2], keptMs)
end
