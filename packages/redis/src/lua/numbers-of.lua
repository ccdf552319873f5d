-- Behind an algorithm that has no quicker one of its own: all that an answer says of a key besides the wait.

local function numbersOf(c, now, cost, wait)
  local left = remaining(c, now)
  return left, resetAfterMs(c, now), availableAfterMs(capacity, waitMs, c, left, cost, wait)
end
