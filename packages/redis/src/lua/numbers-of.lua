-- `numbersOf` for algorithms that have no faster version: returns the remaining units, resetAfterMs and
-- availableAfterMs of a key.

local function numbersOf(c, now, cost, wait)
  local left = remaining(c, now)
  return left, resetAfterMs(c, now), availableAfterMs(capacity, waitMs, c, left, cost, wait)
end
