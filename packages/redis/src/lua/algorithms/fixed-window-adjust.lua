-- `adjust` and `adopt` of `fixed-window`.

local function adjust(c, now, units, takenAt)
  local before = used(c, now)
  local start = c.native and floor(takenAt) or takenAt
  if units > 0 and before == 0 and (c[2] == 0 or takenAt >= c[1] + windowMs) and now < start + windowMs then
    c[1] = start
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
  local start = now + min(resetAfterMs, windowMs) - windowMs
  c[1] = live and (c.native and floor(start) or start) or 0
  c[2] = live and known or 0
end
