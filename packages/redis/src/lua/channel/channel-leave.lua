-- Removes a writer. The number of its last batch is kept for one more minute, in case a copy of the batch arrives late.
--
-- KEYS: the number of the last applied batch of the writer.

return redis.call('PEXPIRE', KEYS[1], 60000)
