-- `gcra` of limiter-core in Lua, with identical results. Cells: theoretical arrival time of the next unit.

local cells, layout = 1, '<d'
local unitMs = windowMs / limit
local aheadMs = unitMs * capacity

local function debtMs(c, now)
  if c[1] == 0 then return 0 end
  return max(0, c[1] - now)
end

local function fitsBehind(debt, cost) return debt + cost * unitMs <= aheadMs + EPSILON_MS end

local function fits(c, now, cost) return fitsBehind(debtMs(c, now), cost) end

-- wait of a cost that does not fit
local function delayMs(c, now, cost, debt)
  if cost > capacity then return huge end
  return firstWholeFit(fits, c, now, cost, debt + cost * unitMs - aheadMs - EPSILON_MS)
end

local function waitMs(c, now, cost)
  if cost == 0 then return 0 end
  local debt = debtMs(c, now)
  if fitsBehind(debt, cost) then return 0 end
  return delayMs(c, now, cost, debt)
end

local function spend(c, now, cost)
  if cost > 0 then c[1] = max(now, c[1]) + cost * unitMs end
end

local function remainingBehind(debt)
  local freeMs = aheadMs - debt + EPSILON_MS
  local units = max(0, min(capacity, floor(freeMs / unitMs)))
  while units > 0 and not fitsBehind(debt, units) do units = units - 1 end
  while units < capacity and fitsBehind(debt, units + 1) do units = units + 1 end
  return units
end

local function remaining(c, now) return remainingBehind(debtMs(c, now)) end

local function resetAfterMs(c, now) return debtMs(c, now) end

local function numbersOf(c, now, cost, wait)
  local debt = debtMs(c, now)
  local left = remainingBehind(debt)
  return left, debt, availableAfterMs(capacity, delayMs, c, left, cost, wait, debt)
end
