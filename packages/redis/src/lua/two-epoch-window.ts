import type { LuaAlgorithm } from './lua-algorithm.ts'

/**
 * `sliding-window` of one slice of limiter-core, in Lua: number for number the same. Cells: start of the current epoch,
 * units in it, units in the epoch before (below 0: they count whole), time of a last unit: of the epoch before while that
 * has units.
 */
export const twoEpochWindow: LuaAlgorithm = {
  constants: ['capacity', 'windowMs'],
  cells: '4',
  layout: "'<dddd'",
  takes: `
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

local function fitsRolled(start, current, previous, last, now, cost)
  return unitMsOf(start, previous, last, now) + (current + cost) * windowMs <= capacity * windowMs
end

local function fits(c, now, cost)
  local start, current, previous, last = roll(c, now)
  return fitsRolled(start, current, previous, last, now, cost)
end

local function waitMs(c, now, cost)
  if cost == 0 or fits(c, now, cost) then return 0 end
  if cost > capacity then return huge end
  local room = capacity - cost
  local start, current, previous, last = roll(c, now)
  local freeAt
  if current > room then
    freeAt = min(start + windowMs * (2 - room / current), lastOfCurrent(start, previous, last) + windowMs)
  else
    freeAt = min(start + windowMs * (1 - (room - current) / previous), last + windowMs)
  end
  return firstWholeMs(freeAt - now, function(ms) return fits(c, now + ms, cost) end)
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

local function remaining(c, now)
  local start, current, previous, last = roll(c, now)
  -- no step wrote that, and with such numbers the search below might not end
  if not (current >= 0 and previous > -huge and previous < huge and last <= start + windowMs) then return 0 end
  local carriedOver = unitMsOf(start, previous, last, now) / windowMs
  local units = max(0, floor(capacity - current - carriedOver))
  while units > 0 and not fitsRolled(start, current, previous, last, now, units) do units = units - 1 end
  while units < capacity and fitsRolled(start, current, previous, last, now, units + 1) do units = units + 1 end
  return units
end

local function resetAfterMs(c, now)
  local start, current, previous, last = roll(c, now)
  if current > 0 then return lastOfCurrent(start, previous, last) + windowMs - now end
  return previous ~= 0 and last + windowMs - now or 0
end
`,
  moves: `
local function movePrevious(start, previous, last, now, units, takenAt)
  local before = max(previous, -previous)
  local after = max(0, before + units)
  if units > 0 then
    last = before == 0 and takenAt or max(last, takenAt)
  elseif before > 0 and after == 0 then
    last = max(now, start)
  end
  return previous < 0 and -after or after, last, after - before
end

local function adjust(c, now, units, takenAt)
  local start, current, previous, last = settle(c, now)
  if takenAt <= max(now, start) - windowMs then return 0 end
  if current == 0 and previous == 0 then
    if units < 0 then return 0 end
    start, last = takenAt, takenAt
  end
  local moved
  if takenAt >= start then
    local before = current
    current = max(0, before + units)
    moved = current - before
    if units > 0 and previous == 0 then last = before == 0 and takenAt or max(last, takenAt) end
  else
    previous, last, moved = movePrevious(start, previous, last, now, units, takenAt)
  end
  if moved > units and previous < 0 then
    local rest
    previous, last, rest = movePrevious(start, previous, last, now, units - moved, takenAt)
    moved = moved + rest
  end
  if moved ~= 0 then c[1], c[2], c[3], c[4] = start, current, previous, last end
  return moved
end

local function adopt(c, now, known, resetAfterMs)
  local resetMs = min(resetAfterMs, 2 * windowMs)
  c[1], c[2], c[3], c[4] = 0, 0, 0, 0
  if not (known > 0 and resetMs > 0) then return end
  local last = now + resetMs - windowMs
  local inCurrent = last > now
  c[1] = inCurrent and last - windowMs or now
  c[2] = inCurrent and known or 0
  c[3] = inCurrent and 0 or -known
  c[4] = last
end
`,
}
