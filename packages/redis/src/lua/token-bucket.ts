import type { LuaAlgorithm } from './lua-algorithm.ts'

/**
 * `token-bucket` of limiter-core, in Lua: number for number the same. Cells: units used and not yet refilled, when that
 * was so.
 */
export const tokenBucket: LuaAlgorithm = {
  constants: ['capacity', 'windowMs', 'limit'],
  cells: '2',
  layout: "'<dd'",
  takes: `
local perMs = limit / windowMs
local epsilon = min(EPSILON_MS * perMs, 0.5)

local function usedAt(c, now) return max(0, c[1] - max(0, now - c[2]) * perMs) end

local function fits(c, now, cost) return usedAt(c, now) + cost <= capacity + epsilon end

local function write(c, now, used)
  c[1] = used
  c[2] = used == 0 and 0 or max(now, c[2])
end

local function waitMs(c, now, cost)
  if cost == 0 or fits(c, now, cost) then return 0 end
  if cost > capacity then return huge end
  local guess = (usedAt(c, now) + cost - capacity) / perMs
  return firstWholeMs(guess, function(ms) return fits(c, now + ms, cost) end)
end

local function spend(c, now, cost)
  if cost > 0 then write(c, now, usedAt(c, now) + cost) end
end

local function remaining(c, now)
  local free = capacity - usedAt(c, now) + epsilon
  local units = max(0, min(capacity, floor(free)))
  while units > 0 and not fits(c, now, units) do units = units - 1 end
  while units < capacity and fits(c, now, units + 1) do units = units + 1 end
  return units
end

local function resetAfterMs(c, now) return usedAt(c, now) / perMs end
`,
  moves: `
local function adjust(c, now, units, takenAt)
  local used = usedAt(c, now)
  local drained = max(0, now - takenAt) * perMs
  local moved = units > 0 and units or -min(used, max(0, -units - drained))
  if moved == 0 then return 0 end
  write(c, now, used + moved)
  return moved
end

local function adopt(c, now, known, resetAfterMs)
  local drainsFor = max(0, resetAfterMs * perMs)
  write(c, now, known < capacity and max(0, min(known, drainsFor)) or drainsFor)
end
`,
}
