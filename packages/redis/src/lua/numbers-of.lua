-- Follows an algorithm without a faster version: everything about a key in a reply besides the wait.

local function numbersOf(c, now, cost, wait)
  local left = remaining(c, now)
  return left, resetAfterMs(c, now), availableAfterMs(capacity, waitMs, c, left, cost, wait)
end
