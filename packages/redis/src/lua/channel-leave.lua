-- Removes a writer: the number of its last batch is kept only as long as a copy of it may still arrive.

return redis.call('PEXPIRE', KEYS[1], 60000)
