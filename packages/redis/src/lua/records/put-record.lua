-- Stores a record, and removes records that have ended.
--
-- KEYS: hash of the texts; sorted set of the ends, in ms since 1970 by the clock of the caller.
-- ARGV: id; text; end; maximum number of records. Above it, the records that end first are removed.
--
-- Returns 1.

local texts, ends = KEYS[1], KEYS[2]
local AT_ONCE = 100
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)

local function remove(ids)
  if #ids == 0 then return end
  redis.call('HDEL', texts, unpack(ids))
  redis.call('ZREM', ends, unpack(ids))
end

remove(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, AT_ONCE))
redis.call('HSET', texts, ARGV[1], ARGV[2])
redis.call('ZADD', ends, ARGV[3], ARGV[1])
local extra = redis.call('ZCARD', ends) - tonumber(ARGV[4])
if extra > 0 then remove(redis.call('ZRANGE', ends, 0, math.min(extra, AT_ONCE) - 1)) end

local last = tonumber(redis.call('ZRANGE', ends, -1, -1, 'WITHSCORES')[2])
if last <= now then
  redis.call('DEL', texts, ends)
else
  redis.call('PEXPIREAT', texts, math.ceil(last))
  redis.call('PEXPIREAT', ends, math.ceil(last))
end
return 1
