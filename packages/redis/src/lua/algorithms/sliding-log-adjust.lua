-- `adjust` and `adopt` of `sliding-log`.

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
