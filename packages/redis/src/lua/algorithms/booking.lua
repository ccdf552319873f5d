-- `BookingPolicy` of limiter-core in Lua, with identical results. Reads the largest number of booked units, the ms
-- between turns, the longest queue in ms beside its units, 1 if epochs are weighted, and the algorithm and the constants
-- of the policy. Cells: those of the policy, then the next turn, the end of the queue, and the units booked.

local most, paceMs, longestMs, isWeighted, inner = number(), number(), number(), number() == 1, readStep()
local GRACE_MS, ROUNDING_MS = 2000, 1
local size = inner.cells and inner.cells + 3
local layout = size and '<' .. string.rep('d', size)
local capacity = inner.capacity

-- returns the cells of the policy, and those of the queue, both cached in the cells of the key
local function parts(c)
  if c.used then return c.used, c.queue end
  local count = inner.cells or logCells(c, 0, #c - 3)
  local used, queue = {}, {}
  for i = 1, count do used[i] = c[i] or 0 end
  if not inner.cells then used[1] = count - 1 end
  for i = 1, 3 do queue[i] = c[count + i] or 0 end
  c.used, c.queue = used, queue
  return used, queue
end

local function join(c)
  local count = inner.cells or 1 + c.used[1]
  for i = 1, count do c[i] = c.used[i] end
  for i = 1, 3 do c[count + i] = c.queue[i] end
  for i = #c, count + 4, -1 do c[i] = nil end
end

local function wholeSeconds(ms) return max(1, ceil(ms / 1000)) * 1000 end

-- whether a queue ends later than its units explain: the clock was set back, or the limit was raised
local function isLeftOver(used, now, ends, units)
  return ends - now > longestMs + min(units, most) * paceMs + inner.resetAfterMs(used, now)
end

-- units whose turns are not over
local function booked(used, queue, now)
  if queue[3] == 0 then return 0 end
  local queuedMs = queue[2] - max(queue[1], now - GRACE_MS)
  -- a turn may be shorter than the tolerance
  if queuedMs <= min(ROUNDING_MS, paceMs / 2) or isLeftOver(used, now, queue[2], queue[3]) then return 0 end
  return min(queue[3], queuedMs / paceMs)
end

-- removes turns that are over from the queue
local function lapse(used, queue, now)
  local units = booked(used, queue, now)
  queue[1], queue[3] = max(queue[1], now - GRACE_MS), units
  return units
end

local function isDue(queue, now) return now >= queue[1] - ROUNDING_MS end

local function fitsBeside(used, queue, now, cost, units)
  if (units == 0 or isDue(queue, now)) and inner.waitMs(used, now, cost) == 0 then return true end
  local needed = ceil(units) + cost
  return units > 0 and needed <= capacity and inner.waitMs(used, now, needed) == 0
end

local function turnMs(used, queue, now, cost, units)
  local roomMs = inner.waitMs(used, now, min(capacity, ceil(units) + cost))
  return units == 0 and roomMs or max(roomMs, queue[2] - now)
end

local function turnsOf(cost)
  local units = capacity / max(1, floor(capacity / cost))
  return isWeighted and units < capacity and max(units, cost * (capacity - 1) / (capacity - cost)) or units
end

local function waitMs(c, now, cost)
  local used, queue = parts(c)
  if cost == 0 or cost > capacity then return inner.waitMs(used, now, cost) end
  local units = booked(used, queue, now)
  if fitsBeside(used, queue, now, cost, units) then return 0 end
  return wholeSeconds(turnMs(used, queue, now, cost, units))
end

local function remaining(c, now)
  local used, queue = parts(c)
  local left, units = inner.remaining(used, now), booked(used, queue, now)
  return (units == 0 or isDue(queue, now)) and left or max(0, left - ceil(units))
end

local function resetAfterMs(c, now) return inner.resetAfterMs((parts(c)), now) end
