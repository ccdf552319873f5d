import type { LuaAlgorithm } from './lua-algorithm.ts'

/**
 * `sliding-log` of limiter-core, in Lua: number for number the same. Cells: the times of the units taken, the oldest
 * first, as many as there are. There is no ring and no room left over, so that limits may change between takes. `beside` is
 * 1 where others charge without asking.
 */
export const slidingLog: LuaAlgorithm = {
  constants: ['capacity', 'windowMs', 'room', 'beside'],
  cells: 'nil',
  layout: 'nil',
  takes: `
local function expired(c, now)
  local gone = 0
  while gone < #c and c[gone + 1] + windowMs <= now do gone = gone + 1 end
  return gone
end

local function dropOldest(c, gone)
  if gone <= 0 then return end
  for i = 1, #c do c[i] = c[i + gone] end
end

local function dropExpired(c, now) dropOldest(c, expired(c, now)) end

local function waitMs(c, now, cost)
  local gone = expired(c, now)
  local tooMany = #c - gone + cost - capacity
  if cost == 0 or tooMany <= 0 then return 0 end
  if cost > capacity then return huge end
  local lastToGo = c[gone + tooMany]
  return firstWholeMs(lastToGo + windowMs - now, function(ms) return lastToGo + windowMs <= now + ms end)
end

local function spend(c, now, cost)
  if cost == 0 then return end
  dropExpired(c, now)
  local time = max(now, c[#c] or now)
  for _ = 1, min(cost, room) do c[#c + 1] = time end
  dropOldest(c, #c - room)
end

local function remaining(c, now) return max(0, capacity - (#c - expired(c, now))) end

local function resetAfterMs(c, now)
  if #c == expired(c, now) then return 0 end
  return c[#c] + windowMs - now
end
`,
  moves: `
local function adjust(c, now, units, takenAt)
  if takenAt + windowMs <= now then return 0 end
  dropExpired(c, now)
  local before = #c
  local place = 1
  while place <= before and c[place] < takenAt do place = place + 1 end
  if units > 0 then
    local free = room - before
    local fitting = max(0, min(units, beside == 1 and free + place - 1 or free))
    for _ = 1, fitting do table.insert(c, place, takenAt) end
    dropOldest(c, #c - room)
    return fitting
  end
  if beside == 1 and before == room then return 0 end
  local isNow = place > before and takenAt >= now
  for _ = 1, -units do
    if isNow then place = #c elseif c[place] ~= takenAt then break end
    if place == 0 then break end
    table.remove(c, place)
  end
  return #c - before
end

local function adopt(c, now, known, resetAfterMs)
  local live = resetAfterMs > 0 and min(ceil(known), room) or 0
  local time = now + min(resetAfterMs, windowMs) - windowMs
  for i = 1, max(live, #c) do c[i] = i <= live and time or nil end
end
`,
}
