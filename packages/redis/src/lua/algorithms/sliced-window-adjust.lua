-- `adjust` and `adopt` of `sliced-window`.

local function adjust(c, now, units, takenAt)
  local passed = passedAt(c, now)
  local start = startAt(c, passed)
  if sum(c, passed) == 0 then
    if units < 0 then return 0 end
    start = takenAt + max(0, floor((now - takenAt) / sliceMs)) * sliceMs
  end
  local age = 1 + max(0, ceil((start - takenAt - EPSILON_MS) / sliceMs))
  if age > kept then return 0 end
  local before = unitsOf(c, passed, age)
  local adjusted = max(0, before + units)
  roll(c, passed, start)
  c[age + 1] = adjusted
  return adjusted - before
end

local function adopt(c, now, known, resetAfterMs)
  for i = 1, kept + 1 do c[i] = 0 end
  if not (known > 0 and resetAfterMs > 0) then return end
  local slicesLeft = min(kept, ceil(resetAfterMs / sliceMs))
  c[1] = now + min(resetAfterMs, slicesLeft * sliceMs) - slicesLeft * sliceMs
  c[kept - slicesLeft + 2] = known
end
