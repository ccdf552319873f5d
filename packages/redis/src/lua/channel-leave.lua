-- A writer sends no more: the number of its last batch is kept as long as a copy of it may be on its way, and no
-- longer.

return redis.call('PEXPIRE', KEYS[1], 60000)
