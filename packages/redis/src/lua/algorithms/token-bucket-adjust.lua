-- `adjust` and `adopt` of `token-bucket`.

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
