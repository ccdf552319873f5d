-- Records this process as active and returns the number of active processes.
--
-- KEYS: sorted set of process ids by the time of their last call.
-- ARGV: id of this process; ms after its last call for which a process counts as active.

local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
