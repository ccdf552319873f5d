-- `availableAfterMs` of limiter-core in Lua. `wait` is the known wait of `cost`, which is returned if it is the same.
-- Otherwise calls `waitMs`, with the remaining parameters as its last arguments.

local function availableAfterMs(capacity, waitMs, c, left, cost, wait, ...)
  if left >= capacity then return 0 end
  if wait > 0 and cost == left + 1 then return wait end
  return waitMs(c, now, left + 1, ...)
end

-- waits in replies are integers; -1 means never, or later than the format `%d` can write
local function waitOf(ms) return ms < 2^53 and ms or -1 end
