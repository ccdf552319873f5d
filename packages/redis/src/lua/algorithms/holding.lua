-- `HoldingPolicy` of limiter-core in Lua, with identical results. Reads the length of a slice, and the algorithm and the
-- constants of the policy. Cells: those of the policy, then the end of the last slice, then the units that are held until
-- the end of each slice, the last slice first.

local sliceMs, inner = number(), readStep()
local SLOTS = 9
local size = inner.cells and inner.cells + 1 + SLOTS
local layout = size and '<' .. string.rep('d', size)
local capacity = inner.capacity

-- returns the cells of the policy, and the end of the last slice with the held units, both cached in the cells of the key
local function parts(c)
  if c.used then return c.used, c.held end
  local count = inner.cells or logCells(c, 0, #c - 1 - SLOTS)
  local used, held = {}, {}
  for i = 1, count do used[i] = c[i] or 0 end
  if not inner.cells then used[1] = count - 1 end
  for i = 1, 1 + SLOTS do held[i] = c[count + i] or 0 end
  c.used, c.held = used, held
  return used, held
end

local function join(c)
  local count = inner.cells or 1 + c.used[1]
  for i = 1, count do c[i] = c.used[i] end
  for i = 1, 1 + SLOTS do c[count + i] = c.held[i] end
  for i = #c, count + SLOTS + 2, -1 do c[i] = nil end
end

local function endOf(held, slot) return held[1] - slot * sliceMs end

local function heldUnits(held, now)
  local units = 0
  for slot = 0, SLOTS - 1 do
    if endOf(held, slot) <= now then break end
    units = units + held[slot + 2]
  end
  return units
end

local function heldMs(held, now)
  for slot = 0, SLOTS - 1 do
    local left = endOf(held, slot) - now
    if left <= 0 then return 0 end
    if held[slot + 2] > 0 then return left end
  end
  return 0
end

local function waitMs(c, now, cost)
  if cost == 0 then return 0 end
  local used, held = parts(c)
  local units = heldUnits(held, now)
  if units == 0 then return inner.waitMs(used, now, cost) end
  if cost > capacity then return huge end
  -- held units return one slice after the other, and used units meanwhile
  local since = 0
  for slot = SLOTS - 1, 0, -1 do
    if units <= 0 then break end
    local untilMs, ending = max(0, ceil(endOf(held, slot) - now)), held[slot + 2]
    if untilMs > 0 and ending > 0 then
      local wait = untilMs
      if cost + units <= capacity then wait = inner.waitMs(used, now, cost + units) end
      if wait < untilMs then return max(since, wait) end
      units = units - ending
      since = untilMs
    end
  end
  return max(since, inner.waitMs(used, now, cost))
end

local function remaining(c, now)
  local used, held = parts(c)
  return max(0, inner.remaining(used, now) - heldUnits(held, now))
end

local function resetAfterMs(c, now)
  local used, held = parts(c)
  return max(inner.resetAfterMs(used, now), heldMs(held, now))
end

-- returns the slot of the slice that ends at `endsAt`, or the earliest slot after it; negative if there is none
local function slotOf(held, endsAt)
  return min(SLOTS - 1, floor((held[1] - endsAt) / sliceMs + 0.5))
end

local function stillHeld(held, now, units, endsAt)
  if endsAt <= now then return 0 end
  local found = 0
  for slot = slotOf(held, endsAt), 0, -1 do found = found + held[slot + 2] end
  return min(units, found)
end

-- makes the last slice end `slices` slices later
local function moveOn(held, now, slices)
  local kept = 0
  -- after the clock was set back, units of the earliest slices may still be held
  for slot = max(0, SLOTS - slices), SLOTS - 1 do
    if endOf(held, slot) > now then kept = kept + held[slot + 2] end
  end
  for slot = SLOTS - 1, 0, -1 do held[slot + 2] = slot >= slices and held[slot - slices + 2] or 0 end
  held[SLOTS + 1] = held[SLOTS + 1] + kept
  held[1] = held[1] + slices * sliceMs
end
