-- Start of the channel scripts. Determines whether the batch of this writer is new (`fresh`), and whether the reader
-- can continue from its position. `count` stores the number of a new batch. It must be the first write, so that a
-- server that refuses writes refuses the batch as a whole.
--
-- KEYS: number of the last applied batch of this writer; hash of the topic.
-- ARGV: number of the batch, or 0 if none is sent; writer; position of the reader, or '' for the beginning; birth of
-- the topic as the reader knows it, or '' if unknown; 1 if the reader wants new data; ms for which the number of a
-- batch is stored; ms after which a topic without additions expires.
--
-- The birth of a topic is a unique string that is created with its data.

local writer, position, known = ARGV[2], ARGV[3], ARGV[4]
local wanted, keptMs = ARGV[5] == '1', ARGV[7]
local time = redis.call('TIME')
local born = redis.call('HGET', KEYS[2], 'born') or ''
local fresh = tonumber(ARGV[1]) > tonumber(redis.call('GET', KEYS[1]) or 0)
-- if the server has lost its data, the topic has another birth and readers start from the beginning
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
