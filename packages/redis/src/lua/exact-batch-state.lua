-- What a batch of decisions has in hand. `refuse-leased` may stand behind it, then `exact-batch`.

local steps, charges, waits = {}, {}, {}
-- by key: the cells as they stand now, the message that says why it is unusable, the step by which they are written
-- back, and their resetAfterMs where that is known
local cells, broken, written, resets = {}, {}, {}, {}
local messages, out, size = {}, { stamp }, 1
