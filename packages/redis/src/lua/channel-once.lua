-- Start of the channel scripts: whether the batch of this writer is new, and whether the reader can continue from its
-- position. `count` stores the number of a new batch; it must be the first write, which a full server refuses as a
-- whole.
--
-- KEYS: number of the last counted batch of this writer; data about the topic. ARGV: number of the batch (0: none is
-- sent), writer, position of the reader (empty: at the start), birth of the topic as the reader knows it (empty:
-- unknown), 1 if news are wanted, ms for which the number of a batch is remembered, ms for which a topic without
-- additions is kept.

local writer, position, known = ARGV[2], ARGV[3], ARGV[4]
local wanted, keptMs = ARGV[5] == '1', ARGV[7]
local time = redis.call('TIME')
local born = redis.call('HGET', KEYS[2], 'born') or ''
local fresh = tonumber(ARGV[1]) > tonumber(redis.call('GET', KEYS[1]) or 0)
-- after a server lost its data, the topic and its readers start again
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
