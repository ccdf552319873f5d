-- `adjust` and `adopt` of `gcra`.

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
