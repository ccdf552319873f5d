-- `availableAfterMs` of limiter-core in Lua, for a key at which `cost` waits for `wait`: often the same wait. Otherwise
-- `waitMs` is called, with the remaining parameters as its last arguments. Waits are written as numbers; -1 means
-- never.

local function availableAfterMs(capacity, waitMs, c, left, cost, wait, ...)
  if left >= capacity then return 0 end
  if wait > 0 and cost == left + 1 then return wait end
  return waitMs(c, now, left + 1, ...)
end

local function waitOf(ms) return ms == huge and -1 or ms end
