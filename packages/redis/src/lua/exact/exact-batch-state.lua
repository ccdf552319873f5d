-- Variables of `exact-batch`. A separate file, so that `refuse-leased` can be inserted between the two.

local steps, charges, waits = {}, {}, {}
-- by key: current cells, number of the error message if the value is unusable, policy that writes the key, and its
-- resetAfterMs if it has been computed
local cells, broken, written, resets = {}, {}, {}, {}
local messages, out, size = {}, { stamp }, 1
