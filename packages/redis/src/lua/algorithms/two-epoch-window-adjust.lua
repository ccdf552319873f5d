-- `adjust` and `adopt` of `two-epoch-window`.

local function movePrevious(start, previous, last, now, units, takenAt)
  local before = max(previous, -previous)
  local after = max(0, before + units)
  if units > 0 then
    last = before == 0 and takenAt or max(last, takenAt)
  elseif before > 0 and after == 0 then
    last = max(now, start)
  end
  return previous < 0 and -after or after, last, after - before
end

local function adjust(c, now, units, takenAt)
  local start, current, previous, last = settle(c, now)
  if takenAt <= max(now, start) - windowMs then return 0 end
  if current == 0 and previous == 0 then
    if units < 0 then return 0 end
    start, last = takenAt, takenAt
  end
  local moved
  if takenAt >= start then
    local before = current
    current = max(0, before + units)
    moved = current - before
    if units > 0 and previous == 0 then last = before == 0 and takenAt or max(last, takenAt) end
  else
    previous, last, moved = movePrevious(start, previous, last, now, units, takenAt)
  end
  if moved > units and previous < 0 then
    local rest
    previous, last, rest = movePrevious(start, previous, last, now, units - moved, takenAt)
    moved = moved + rest
  end
  if moved ~= 0 then c[1], c[2], c[3], c[4] = start, current, previous, last end
  return moved
end

local function adopt(c, now, known, resetAfterMs)
  local resetMs = min(resetAfterMs, 2 * windowMs)
  c[1], c[2], c[3], c[4] = 0, 0, 0, 0
  if not (known > 0 and resetMs > 0) then return end
  local last = now + resetMs - windowMs
  local inCurrent = last > now
  c[1] = inCurrent and last - windowMs or now
  c[2] = inCurrent and known or 0
  c[3] = inCurrent and 0 or -known
  c[4] = last
end
