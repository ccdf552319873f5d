-- Returns how many processes report: each stores its name and the time.
--
-- KEYS: their names by the time of their last report. ARGV: the name of this process, and for how many ms a process
-- counts.

local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
