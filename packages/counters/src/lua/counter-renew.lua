-- Begins a new epoch where nothing of this one waits: for a ledger that no longer knows how far it had got, be it that no
-- unit was counted in it for a week, or that the ledger itself is an older state. What waits would tell it by its number.
--
-- ARGV: 2 the epoch.
--
-- Answers the present epoch.

if inEpoch() and epoch == ARGV[2] and not isPending() and not isClosed() then begin() end
return { epoch }
