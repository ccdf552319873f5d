import type { LuaAlgorithm } from './lua-algorithm.ts'

/** `fixed-window` of limiter-core, in Lua: number for number the same. Cells: start of the window, units used in it. */
export const fixedWindow: LuaAlgorithm = {
  constants: ['capacity', 'windowMs'],
  cells: '2',
  layout: "'<dd'",
  takes: `
local function used(c, now)
  if now >= c[1] + windowMs then return 0 end
  return c[2]
end

local function waitMs(c, now, cost)
  if cost == 0 or used(c, now) + cost <= capacity then return 0 end
  if cost > capacity then return huge end
  local endsAt = c[1] + windowMs
  return firstWholeMs(endsAt - now, function(ms) return now + ms >= endsAt end)
end

local function spend(c, now, cost)
  if cost == 0 then return end
  local before = used(c, now)
  if before == 0 then c[1] = now end
  c[2] = before + cost
end

local function remaining(c, now) return max(0, capacity - used(c, now)) end

local function resetAfterMs(c, now)
  if used(c, now) == 0 then return 0 end
  return c[1] + windowMs - now
end
`,
  moves: `
local function adjust(c, now, units, takenAt)
  local before = used(c, now)
  if units > 0 and before == 0 and (c[2] == 0 or takenAt >= c[1] + windowMs) and now < takenAt + windowMs then
    c[1] = takenAt
    c[2] = units
    return units
  end
  if before == 0 or takenAt < c[1] then return 0 end
  local adjusted = max(0, before + units)
  c[2] = adjusted
  return adjusted - before
end

local function adopt(c, now, known, resetAfterMs)
  local live = known > 0 and resetAfterMs > 0
  c[1] = live and now + min(resetAfterMs, windowMs) - windowMs or 0
  c[2] = live and known or 0
end
`,
}
