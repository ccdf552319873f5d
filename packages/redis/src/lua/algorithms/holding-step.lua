-- End of the constructor of a policy with holds: returns its functions as a step (a compiled policy).

return {
  capacity = capacity, cells = size, layout = layout, waitMs = waitMs, remaining = remaining,
  resetAfterMs = resetAfterMs, numbersOf = numbersOf,
  spend = function(c, now, cost)
    inner.spend(parts(c), now, cost)
    join(c)
  end,
  adjust = function(c, now, units, takenAt)
    local moved, changed = inner.adjust(parts(c), now, units, takenAt)
    join(c)
    return moved, changed
  end,
  keptMs = function(c, now)
    local used, held = parts(c)
    return max((inner.keptMs or inner.resetAfterMs)(used, now), heldMs(held, now))
  end,
  adopt = function(c, now, known, resetAfter)
    inner.adopt(parts(c), now, known, resetAfter)
    for i = 1, 1 + SLOTS do c.held[i] = 0 end
    join(c)
  end,
  -- how many units of an earlier hold are still held
  heldOf = function(c, now, units, endsAt)
    local _, held = parts(c)
    return stillHeld(held, now, units, endsAt)
  end,
  hold = function(c, now, units, forMs)
    local _, held = parts(c)
    if units == 0 then return end
    local endsAt = (floor((now + min(forMs, (SLOTS - 1) * sliceMs)) / sliceMs) + 1) * sliceMs
    if heldMs(held, now) == 0 then
      for i = 1, 1 + SLOTS do held[i] = 0 end
    end
    if held[1] == 0 then held[1] = endsAt end
    local later = floor((endsAt - held[1]) / sliceMs + 0.5)
    if later > 0 then moveOn(held, now, later) end
    local at = min(SLOTS - 1, max(0, -later)) + 2
    held[at] = held[at] + units
    join(c)
  end,
  -- returns the units that were released
  release = function(c, now, units, endsAt)
    local _, held = parts(c)
    local released = stillHeld(held, now, units, endsAt)
    local left = released
    for slot = slotOf(held, endsAt), 0, -1 do
      local freed = min(left, held[slot + 2])
      held[slot + 2] = held[slot + 2] - freed
      left = left - freed
    end
    join(c)
    return released
  end,
}
