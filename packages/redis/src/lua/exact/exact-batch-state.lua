-- Variables of `exact-batch`. A separate file, so that `refuse-leased` can be inserted between the two.

local steps = {}
-- by index of a charge in the current request: the charge, the units that must be free for it, its wait, and its verdict
-- if it was read before the takes
local charges, needs, waits, unspent = {}, {}, {}, {}
-- by key: current cells, number of the error message if the value is unusable, policy that writes the key, and its
-- resetAfterMs if it has been computed
local cells, broken, written, resets = {}, {}, {}, {}
local messages, out, size = {}, { stamp }, 1
