import type { LuaAlgorithm } from './lua-algorithm.ts'

/** `gcra` of limiter-core, in Lua: number for number the same. Cells: theoretical arrival time of the next unit. */
export const gcra: LuaAlgorithm = {
  constants: ['capacity', 'windowMs', 'limit'],
  cells: '1',
  layout: "'<d'",
  takes: `
local unitMs = windowMs / limit
local aheadMs = unitMs * capacity

local function debtMs(c, now)
  if c[1] == 0 then return 0 end
  return max(0, c[1] - now)
end

local function fits(c, now, cost) return debtMs(c, now) + cost * unitMs <= aheadMs + EPSILON_MS end

local function waitMs(c, now, cost)
  if cost == 0 or fits(c, now, cost) then return 0 end
  if cost > capacity then return huge end
  local guess = debtMs(c, now) + cost * unitMs - aheadMs - EPSILON_MS
  return firstWholeMs(guess, function(ms) return fits(c, now + ms, cost) end)
end

local function spend(c, now, cost)
  if cost > 0 then c[1] = max(now, c[1]) + cost * unitMs end
end

local function remaining(c, now)
  local freeMs = aheadMs - debtMs(c, now) + EPSILON_MS
  local units = max(0, min(capacity, floor(freeMs / unitMs)))
  while units > 0 and not fits(c, now, units) do units = units - 1 end
  while units < capacity and fits(c, now, units + 1) do units = units + 1 end
  return units
end

local function resetAfterMs(c, now) return debtMs(c, now) end
`,
  moves: `
local function adjust(c, now, units, takenAt)
  local debt = debtMs(c, now)
  local drainedMs = max(0, now - takenAt)
  local asked = units * unitMs
  local movedMs = units > 0 and asked or -min(debt, max(0, -asked - drainedMs))
  if movedMs == 0 then return 0 end
  c[1] = debt + movedMs == 0 and 0 or now + debt + movedMs
  return units > 0 and units or movedMs / unitMs
end

local function adopt(c, now, known, resetAfterMs)
  local debt = known < capacity and min(known * unitMs, resetAfterMs) or resetAfterMs
  c[1] = debt > 0 and now + debt or 0
end
`,
}
