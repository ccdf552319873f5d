-- Returns the names of a day, each followed by its registers.
--
-- KEYS: hash of the day.

return redis.call('HGETALL', KEYS[1])
