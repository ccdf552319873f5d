-- Variables of a batch of decisions. Followed optionally by `refuse-leased`, then by `exact-batch`.

local steps, charges, waits = {}, {}, {}
-- by key: the current cells, the error message if it is unusable, the step that writes it, and its resetAfterMs if
-- known
local cells, broken, written, resets = {}, {}, {}, {}
local messages, out, size = {}, { stamp }, 1
