import type { LuaAlgorithm } from './lua-algorithm.ts'

/**
 * `sliding-window` of one slice of limiter-core, in Lua: number for number the same. Cells: start of the current epoch,
 * units in it, units in the epoch before.
 */
export const twoEpochWindow: LuaAlgorithm = {
  constants: ['capacity', 'windowMs'],
  cells: '3',
  layout: "'<ddd'",
  takes: `
local function roll(c, now)
  local passedMs = now - c[1]
  if passedMs < windowMs then return c[1], c[2], c[3] end
  if passedMs < 2 * windowMs then return c[1] + windowMs, 0, c[2] end
  return now, 0, 0
end

local function fitsRolled(start, current, previous, now, cost)
  local leftMs = windowMs - max(0, now - start)
  return previous * leftMs + (current + cost) * windowMs <= capacity * windowMs
end

local function fits(c, now, cost)
  local start, current, previous = roll(c, now)
  return fitsRolled(start, current, previous, now, cost)
end

local function waitMs(c, now, cost)
  if cost == 0 or fits(c, now, cost) then return 0 end
  if cost > capacity then return huge end
  local room = capacity - cost
  local start, current, previous = roll(c, now)
  local epochs = current <= room and 1 - (room - current) / previous or 2 - room / current
  local freeAt = start + windowMs * epochs
  return firstWholeMs(freeAt - now, function(ms) return fits(c, now + ms, cost) end)
end

local function spend(c, now, cost)
  if cost == 0 then return end
  local start, current, previous = roll(c, now)
  c[1] = current == 0 and previous == 0 and now or start
  c[2] = current + cost
  c[3] = previous
end

local function remaining(c, now)
  local start, current, previous = roll(c, now)
  -- no step wrote that, and with such numbers the search below might not end
  if not (current >= 0 and previous >= 0) then return 0 end
  local carriedOver = (previous * (windowMs - max(0, now - start))) / windowMs
  local units = max(0, floor(capacity - current - carriedOver))
  while units > 0 and not fitsRolled(start, current, previous, now, units) do units = units - 1 end
  while units < capacity and fitsRolled(start, current, previous, now, units + 1) do units = units + 1 end
  return units
end

local function resetAfterMs(c, now)
  local start, current, previous = roll(c, now)
  if current > 0 then return start + 2 * windowMs - now end
  return previous > 0 and start + windowMs - now or 0
end
`,
  moves: `
local function adjust(c, now, units, takenAt)
  local start, current, previous = roll(c, now)
  if current == 0 and previous == 0 then
    if units < 0 then return 0 end
    start = now < takenAt + windowMs and takenAt or takenAt + windowMs
    if now >= start + windowMs then return 0 end
  end
  if takenAt < start - windowMs - EPSILON_MS then return 0 end
  local isCurrent = takenAt >= start
  local before = isCurrent and current or previous
  local adjusted = max(0, before + units)
  c[1] = start
  c[2] = isCurrent and adjusted or current
  c[3] = isCurrent and previous or adjusted
  return adjusted - before
end

local function adopt(c, now, known, resetAfterMs)
  local resetMs = min(resetAfterMs, 2 * windowMs)
  c[1], c[2], c[3] = 0, 0, 0
  if not (known > 0 and resetMs > 0) then return end
  local inCurrent = resetMs > windowMs
  c[1] = now + resetMs - (inCurrent and 2 or 1) * windowMs
  c[2] = inCurrent and known or 0
  c[3] = inCurrent and 0 or (known * windowMs) / resetMs
end
`,
}
