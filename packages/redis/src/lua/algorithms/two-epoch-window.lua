-- `sliding-window` with one slice of limiter-core in Lua, with identical results. Cells: start of the current epoch,
-- units of the current epoch, units of the previous epoch (negative if they count completely), and the time of the last
-- unit: of the previous epoch if that has units, otherwise of the current epoch.

local cells, layout = 4, '<dddd'

local function unitMsOf(start, previous, last, now)
  local at = max(now, start)
  if at >= last + windowMs then return 0 end
  if previous < 0 then return -previous * windowMs end
  return previous * (start + windowMs - at)
end

local function lastOfCurrent(start, previous, last)
  return previous == 0 and last or start + windowMs
end

local function roll(c, now)
  local start, current, previous, last = c[1], c[2], c[3], c[4]
  local endsAt = start + windowMs
  if now >= endsAt then
    last = lastOfCurrent(start, previous, last)
    start = endsAt
    current, previous = 0, current
  end
  if current == 0 and (now >= endsAt + windowMs or unitMsOf(start, previous, last, now) == 0) then
    start, previous = now, 0
  end
  return start, current, previous, last
end

local function settle(c, now)
  local start, current, previous, last = roll(c, now)
  if previous ~= 0 and unitMsOf(start, previous, last, now) == 0 then previous, last = 0, max(now, start) end
  return start, current, previous, last
end

-- whether units fit in addition to those carried over from the previous epoch
local function fitsBeside(carried, units) return carried + units * windowMs <= capacity * windowMs end

local function fits(c, now, cost)
  local start, current, previous, last = roll(c, now)
  return fitsBeside(unitMsOf(start, previous, last, now), current + cost)
end

-- wait of a cost that does not fit, from cells returned by `roll`
local function delayMs(c, now, cost, start, current, previous, last)
  if cost > capacity then return huge end
  local room = capacity - cost
  local freeAt
  if current > room then
    freeAt = min(start + windowMs * (2 - room / current), lastOfCurrent(start, previous, last) + windowMs)
  else
    freeAt = min(start + windowMs * (1 - (room - current) / previous), last + windowMs)
  end
  return firstWholeFit(fits, c, now, cost, freeAt - now)
end

local function waitMs(c, now, cost)
  if cost == 0 then return 0 end
  local start, current, previous, last = roll(c, now)
  if fitsBeside(unitMsOf(start, previous, last, now), current + cost) then return 0 end
  return delayMs(c, now, cost, start, current, previous, last)
end

local function spend(c, now, cost)
  if cost == 0 then return end
  local start, current, previous, last = settle(c, now)
  if current == 0 and previous == 0 then
    start, last = now, now
  elseif previous == 0 then
    last = max(last, now)
  end
  c[1], c[2], c[3], c[4] = start, current + cost, previous, last
end

local function remainingRolled(start, current, previous, last, now)
  -- the time of the last unit of an unused key means nothing, and may be far ahead of a clock that was set back
  if current == 0 and previous == 0 then return capacity end
  -- cells that this algorithm has not written: the search below might not end
  if not (current >= 0 and previous > -huge and previous < huge and last <= start + windowMs) then return 0 end
  local carried = unitMsOf(start, previous, last, now)
  local units = max(0, floor(capacity - current - carried / windowMs))
  while units > 0 and not fitsBeside(carried, current + units) do units = units - 1 end
  while units < capacity and fitsBeside(carried, current + (units + 1)) do units = units + 1 end
  return units
end

local function remaining(c, now)
  local start, current, previous, last = roll(c, now)
  return remainingRolled(start, current, previous, last, now)
end

local function resetRolled(start, current, previous, last, now)
  if current > 0 then return lastOfCurrent(start, previous, last) + windowMs - now end
  return previous ~= 0 and last + windowMs - now or 0
end

local function resetAfterMs(c, now)
  local start, current, previous, last = roll(c, now)
  return resetRolled(start, current, previous, last, now)
end

local function numbersOf(c, now, cost, wait)
  local start, current, previous, last = roll(c, now)
  local left = remainingRolled(start, current, previous, last, now)
  local reset = resetRolled(start, current, previous, last, now)
  return left, reset, availableAfterMs(capacity, delayMs, c, left, cost, wait, start, current, previous, last)
end
