-- End of the constructor of a policy with bookings: returns its functions as a step (a compiled policy).

return {
  capacity = capacity, cells = size, layout = layout, waitMs = waitMs, remaining = remaining,
  resetAfterMs = resetAfterMs,
  -- remaining units of a caller with a turn
  left = function(c, now) return inner.remaining((parts(c)), now) end,
  numbersOf = function(c, now, cost, wait)
    -- usage without turns
    if cost == 0 then return inner.numbersOf((parts(c)), now, cost, wait) end
    local left, reset, grows = numbersOf(c, now, cost, wait)
    -- the next turn is later than one that was just booked
    return left, reset, wait > 0 and min(grows, wait) or grows
  end,
  spend = function(c, now, cost)
    local used, queue = parts(c)
    if cost > 0 then
      local units = lapse(used, queue, now)
      if units > 0 and isDue(queue, now) then
        local turns = turnsOf(cost)
        queue[1], queue[3] = queue[1] + turns * paceMs, max(0, units - turns)
      end
    end
    inner.spend(used, now, cost)
    join(c)
  end,
  -- returns whether the cells were changed
  book = function(c, now, cost)
    local used, queue = parts(c)
    if cost == 0 or cost > capacity then return false end
    local next, before = queue[1], queue[3]
    local units, turns = lapse(used, queue, now), turnsOf(cost)
    local isChanged = queue[1] ~= next or queue[3] ~= before
    join(c)
    if units + turns > most or fitsBeside(used, queue, now, cost, units) then return isChanged end
    local afterMs = turnMs(used, queue, now, cost, units)
    local turn = now + (units == 0 and wholeSeconds(afterMs) or afterMs)
    local ends = turn + turns * paceMs
    if isLeftOver(used, now, ends, units + turns) then return isChanged end
    if units == 0 then queue[1] = turn end
    queue[2], queue[3] = ends, units + turns
    join(c)
    return true
  end,
  adjust = function(c, now, units, takenAt)
    local moved, changed = inner.adjust((parts(c)), now, units, takenAt)
    join(c)
    return moved, changed
  end,
  keptMs = function(c, now)
    local used, queue = parts(c)
    local usedMs = (inner.keptMs or inner.resetAfterMs)(used, now)
    if booked(used, queue, now) == 0 then return usedMs end
    return max(usedMs, queue[2] + GRACE_MS - now)
  end,
  adopt = function(c, now, known, resetAfter)
    inner.adopt((parts(c)), now, known, resetAfter)
    join(c)
  end,
}
