-- Begins a new epoch if no units of the given epoch are waiting. Used if the ledger has lost the last number of the
-- epoch, because nothing was counted for a week or because the ledger was restored to an older state. Waiting units
-- would bring the number to the ledger with their batch.
--
-- ARGV: 2 the epoch.
--
-- Returns the current epoch.

if inEpoch() and epoch == ARGV[2] and not isPending() and not isClosed() then begin() end
return { epoch }
