-- `token-bucket` of limiter-core in Lua, with identical results. Cells: units that were used and not yet refilled, and
-- the time of that number.

local cells, layout = 2, '<dd'
local perMs = limit / windowMs
local epsilon = min(EPSILON_MS * perMs, 0.5)

local function usedAt(c, now) return max(0, c[1] - max(0, now - c[2]) * perMs) end

local function fits(c, now, cost) return usedAt(c, now) + cost <= capacity + epsilon end

-- wait of a cost that does not fit
local function delayMs(c, now, cost, used)
  if cost > capacity then return huge end
  return firstWholeFit(fits, c, now, cost, (used + cost - capacity) / perMs)
end

local function write(c, now, used)
  c[1] = used
  c[2] = used == 0 and 0 or max(now, c[2])
end

local function waitMs(c, now, cost)
  if cost == 0 then return 0 end
  local used = usedAt(c, now)
  if used + cost <= capacity + epsilon then return 0 end
  return delayMs(c, now, cost, used)
end

local function spend(c, now, cost)
  if cost > 0 then write(c, now, usedAt(c, now) + cost) end
end

local function remainingOf(used)
  local units = max(0, min(capacity, floor(capacity - used + epsilon)))
  while units > 0 and used + units > capacity + epsilon do units = units - 1 end
  while units < capacity and used + (units + 1) <= capacity + epsilon do units = units + 1 end
  return units
end

local function remaining(c, now) return remainingOf(usedAt(c, now)) end

local function resetAfterMs(c, now) return usedAt(c, now) / perMs end

local function numbersOf(c, now, cost, wait)
  local used = usedAt(c, now)
  local left, reset = remainingOf(used), used / perMs
  return left, reset, availableAfterMs(capacity, delayMs, c, left, cost, wait, used)
end
