-- `sliding-window` with several slices of limiter-core in Lua, with identical results. Cells: start of the newest
-- slice, then the units of each slice, the newest first; one slice more than the window has.

local kept = sliceCount + 1
local cells, layout = kept + 1, '<' .. string.rep('d', kept + 1)
local sliceMs = windowMs / sliceCount

-- number of slices that have started since the newest stored slice
local function passedAt(c, now) return max(0, floor((now - c[1]) / sliceMs)) end

local function startAt(c, passed) return c[1] + passed * sliceMs end

-- units of the slice with this age; the current slice has age 1
local function unitsOf(c, passed, age) return age > passed and c[age - passed + 1] or 0 end

local function sum(c, passed)
  local units = 0
  for i = 2, kept + 1 - passed do units = units + c[i] end
  return units
end

local function usedAt(c, now) return sum(c, passedAt(c, now)) end

local function roll(c, passed, start)
  c[1] = start
  if passed == 0 then return end
  for age = kept, 1, -1 do c[age + 1] = unitsOf(c, passed, age) end
end

local function waitMs(c, now, cost)
  local passed = passedAt(c, now)
  local used = sum(c, passed)
  if cost == 0 or used + cost <= capacity then return 0 end
  if cost > capacity then return huge end
  local age = kept
  -- a debt above 2^53 is not an exact sum of its slices and leaves a remainder
  while age > passed and used + cost > capacity do
    used = used - unitsOf(c, passed, age)
    age = age - 1
  end
  local freeAt = startAt(c, passed) + sliceMs * (kept - age)
  return firstWholeMs(freeAt - now, function(ms) return usedAt(c, now + ms) + cost <= capacity end)
end

local function spend(c, now, cost)
  if cost == 0 then return end
  local passed = passedAt(c, now)
  roll(c, passed, sum(c, passed) == 0 and now or startAt(c, passed))
  c[2] = c[2] + cost
end

local function remaining(c, now) return max(0, capacity - usedAt(c, now)) end

local function resetAfterMs(c, now)
  local passed = passedAt(c, now)
  for age = passed + 1, kept do
    if c[age - passed + 1] > 0 then return startAt(c, passed) + sliceMs * (kept - age + 1) - now end
  end
  return 0
end
