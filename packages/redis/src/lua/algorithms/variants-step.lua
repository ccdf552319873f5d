-- End of the constructor of a policy with variants: returns its functions as a step (a compiled policy).

return {
  capacity = capacity, cells = size, layout = layout, waitMs = waitMs, remaining = remaining,
  resetAfterMs = resetAfterMs, numbersOf = numbersOf,
  spend = function(c, now, cost)
    if cost == 0 then return end
    for i, part in ipairs(parts(c)) do
      local variant = all[i]
      local fitting = variant.role == 'charged' and fittingOf(variant, part, now, cost) or cost
      if fitting > 0 then variant.step.spend(part, now, fitting) end
    end
    join(c)
  end,
  -- returns the units that count under any plan
  used = function(c, now)
    local most = 0
    for i, part in ipairs(parts(c)) do
      local step = all[i].step
      most = max(most, step.capacity - step.remaining(part, now))
    end
    return most
  end,
  -- also returns whether any variant was changed
  adjust = function(c, now, units, takenAt)
    local moved, changed = 0, false
    for i, part in ipairs(parts(c)) do
      local variant = all[i]
      local fitting = units
      if variant.role == 'charged' then
        if units > 0 then fitting = fittingOf(variant, part, now, units)
        elseif mayBeUncharged(variant, part, takenAt) then fitting = 0 end
      end
      local found = fitting == 0 and 0 or variant.step.adjust(part, now, fitting, takenAt)
      if i == own then moved = found end
      changed = changed or found ~= 0
    end
    join(c)
    return moved, changed
  end,
  keptMs = function(c, now) return longestReset(c, now, true) end,
  adopt = function(c, now, known, resetAfterMs)
    for i, part in ipairs(parts(c)) do
      local variant = all[i]
      local step = variant.step
      if i == own then
        local longestMs = variant.perMs > 0 and variant.ceiling / variant.perMs or huge
        step.adopt(part, now, known, min(resetAfterMs, longestMs))
      else
        local more = min(known, step.capacity) - (step.capacity - step.remaining(part, now))
        if more > 0 then step.spend(part, now, more) end
      end
    end
    join(c)
  end,
}
