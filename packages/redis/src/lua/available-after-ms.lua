-- `availableAfterMs` of limiter-core, in Lua, of a key at which `cost` waits for `wait`: often it is this wait. Else
-- `waitMs` is asked, with what follows as its last arguments. And how a wait is written: -1 is never.

local function availableAfterMs(capacity, waitMs, c, left, cost, wait, ...)
  if left >= capacity then return 0 end
  if wait > 0 and cost == left + 1 then return wait end
  return waitMs(c, now, left + 1, ...)
end

local function waitOf(ms) return ms == huge and -1 or ms end
