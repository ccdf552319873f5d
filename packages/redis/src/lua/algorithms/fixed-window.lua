-- `fixed-window` of limiter-core in Lua, with identical results. Cells: start of the window, units used in it. Windows
-- that are stored as integers (`c.native`) start at whole milliseconds, because Redis expires keys at these.

local cells, layout = 2, '<dd'

local function used(c, now)
  if now >= c[1] + windowMs then return 0 end
  return c[2]
end

local function waitMs(c, now, cost)
  if cost == 0 or used(c, now) + cost <= capacity then return 0 end
  if cost > capacity then return huge end
  return wholeMsUntil(c[1] + windowMs, now)
end

local function spend(c, now, cost)
  if cost == 0 then return end
  local before = used(c, now)
  if before == 0 then c[1] = c.native and floor(now) or now end
  c[2] = before + cost
end

local function remaining(c, now) return max(0, capacity - used(c, now)) end

local function resetAfterMs(c, now)
  if used(c, now) == 0 then return 0 end
  return c[1] + windowMs - now
end

local function numbersOf(c, now, cost, wait)
  local units = used(c, now)
  if units == 0 then return capacity, 0, 0 end
  local endsAt = c[1] + windowMs
  local left = max(0, capacity - units)
  return left, endsAt - now, left >= capacity and 0 or wholeMsUntil(endsAt, now)
end
