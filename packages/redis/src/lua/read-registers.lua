-- All names of a day and their registers, by turns. KEYS: the day.

return redis.call('HGETALL', KEYS[1])
