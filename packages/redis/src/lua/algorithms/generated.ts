// Written by tools/build/embed-lua.mjs from packages/limiter-core/src/algorithms: change the classes, and run it.

/** The Lua code of an algorithm. Constants of the policy are local variables. */
export interface AlgorithmText {
  /** Derived constants, and the number and format of the cells. */
  readonly constants: string
  /** Functions of takes: `waitMs`, `spend`, `remaining`, `resetAfterMs` and `numbersOf`. */
  readonly takes: string
  /** Functions of adjustments, which need those of takes: `adjust` and `adopt`. */
  readonly moves: string
  /** A take of `cost` units without functions. It declares `wait`, `left`, `reset` and `grows`. */
  readonly take: string
}

export const wholeMs: string = `local function firstWholeMs(guess, passes)
  local passing = max(1, ceil(guess))
  local failing = passing - 1
  local stride = 1
  while not passes(passing) and passing < huge do
    failing = passing
    passing = passing + stride
    stride = stride * 2
  end
  stride = 1
  while failing > 0 and passes(failing) do
    passing = failing
    failing = max(0, failing - stride)
    stride = stride * 2
  end
  local middle = failing + floor((passing - failing) / 2)
  while middle > failing and middle < passing do
    if passes(middle) then
      passing = middle
    else
      failing = middle
    end
    middle = failing + floor((passing - failing) / 2)
  end
  return passing
end
local function wholeMsUntil(instant, now2)
  local guess = max(1, ceil(instant - now2))
  if now2 + guess >= instant and (guess == 1 or now2 + (guess - 1) < instant) then
    return guess
  end
  return firstWholeMs(guess, function(ms) return now2 + ms >= instant end)
end`

export const algorithmTexts: Readonly<Record<'fixed-window' | 'gcra' | 'sliced-window' | 'sliding-log' | 'token-bucket' | 'two-epoch-window', AlgorithmText>> = {
  'fixed-window': {
  constants: `local cells, layout = 2, '<dd'`,
  takes: `local function waitMs(c, now, cost)
  if cost == 0 or (now >= c[1] + windowMs and 0 or c[2]) + cost <= capacity then
    return 0
  end
  if cost > capacity then
    return huge
  end
  return wholeMsUntil(c[1] + windowMs, now)
end
local function spend(c, now, cost)
  if cost > 0 then
    local used2 = now >= c[1] + windowMs and 0 or c[2]
    if used2 == 0 then
      c[1] = now
      if c.native then c[1] = floor(c[1]) end
    end
    c[2] = used2 + cost
  end
end
local function remaining(c, now)
  return max(0, capacity - (now >= c[1] + windowMs and 0 or c[2]))
end
local function resetAfterMs(c, now)
  return (now >= c[1] + windowMs and 0 or c[2]) == 0 and 0 or c[1] + windowMs - now
end
local function numbersOf(c, now, cost, wait)
  local left, reset, grows
  local remaining2 = remaining(c, now)
  local availableMs = 0
  if remaining2 < capacity then
    if wait > 0 and cost == remaining2 + 1 then
      availableMs = wait
    else
      availableMs = waitMs(c, now, remaining2 + 1)
    end
  end
  left = remaining2
  reset = resetAfterMs(c, now)
  grows = availableMs
  return left, reset, grows
end`,
  moves: `local function adjust(c, now, units, takenAt)
  local used2 = now >= c[1] + windowMs and 0 or c[2]
  if units > 0 and used2 == 0 and ((c[2] == 0 or takenAt >= c[1] + windowMs) and now < takenAt + windowMs) then
    c[1] = takenAt
    if c.native then c[1] = floor(c[1]) end
    c[2] = units
    return units
  end
  if used2 == 0 or takenAt < c[1] then
    return 0
  end
  local adjusted = max(0, used2 + units)
  c[2] = adjusted
  return adjusted - used2
end
local function adopt(c, now, known, resetMs)
  local live = known > 0 and resetMs > 0
  c[1] = live and now + min(resetMs, windowMs) - windowMs or 0
  if c.native then c[1] = floor(c[1]) end
  c[2] = live and known or 0
end`,
  take: `local wait, left, reset, grows
local waitMs2
do
  if cost == 0 or (now >= c[1] + windowMs and 0 or c[2]) + cost <= capacity then
    waitMs2 = 0
  else
    if cost > capacity then
      waitMs2 = huge
    else
      waitMs2 = wholeMsUntil(c[1] + windowMs, now)
    end
  end
end
if waitMs2 == 0 and cost > 0 then
  do
    if cost > 0 then
      local used2 = now >= c[1] + windowMs and 0 or c[2]
      if used2 == 0 then
        c[1] = now
        if c.native then c[1] = floor(c[1]) end
      end
      c[2] = used2 + cost
    end
  end
end
do
  local remaining2 = max(0, capacity - (now >= c[1] + windowMs and 0 or c[2]))
  local availableMs = 0
  if remaining2 < capacity then
    if waitMs2 > 0 and cost == remaining2 + 1 then
      availableMs = waitMs2
    else
      do
        local cost2 = remaining2 + 1
        if cost2 == 0 or (now >= c[1] + windowMs and 0 or c[2]) + cost2 <= capacity then
          availableMs = 0
        else
          if cost2 > capacity then
            availableMs = huge
          else
            availableMs = wholeMsUntil(c[1] + windowMs, now)
          end
        end
      end
    end
  end
  wait = waitMs2
  left = remaining2
  reset = (now >= c[1] + windowMs and 0 or c[2]) == 0 and 0 or c[1] + windowMs - now
  grows = availableMs
end`,
},
  gcra: {
  constants: `local unitMs = windowMs / limit
local aheadMs = unitMs * capacity
local cells, layout = 1, '<d'`,
  takes: `local function waitMs(c, now, cost)
  if cost == 0 or (c[1] == 0 and 0 or max(0, c[1] - now)) + cost * unitMs <= aheadMs + 0.001 then
    return 0
  end
  if cost > capacity then
    return huge
  end
  local guess = (c[1] == 0 and 0 or max(0, c[1] - now)) + cost * unitMs - aheadMs - 0.001
  local value
  do
    local ms = max(1, ceil(guess))
    local isExact = (c[1] == 0 and 0 or max(0, c[1] - (now + ms))) + cost * unitMs <= aheadMs + 0.001 and (ms == 1 or not ((c[1] == 0 and 0 or max(0, c[1] - (now + ms - 1))) + cost * unitMs <= aheadMs + 0.001))
    value = isExact and ms or firstWholeMs(ms, function(ms2) return (c[1] == 0 and 0 or max(0, c[1] - (now + ms2))) + cost * unitMs <= aheadMs + 0.001 end)
  end
  return value
end
local function spend(c, now, cost)
  if cost > 0 then
    c[1] = max(now, c[1]) + cost * unitMs
  end
end
local function remaining(c, now)
  local freeMs = aheadMs - (c[1] == 0 and 0 or max(0, c[1] - now)) + 0.001
  local units = max(0, min(capacity, floor(freeMs / unitMs)))
  while units > 0 and not ((c[1] == 0 and 0 or max(0, c[1] - now)) + units * unitMs <= aheadMs + 0.001) do
    units = units - 1
  end
  while units < capacity and (c[1] == 0 and 0 or max(0, c[1] - now)) + (units + 1) * unitMs <= aheadMs + 0.001 do
    units = units + 1
  end
  return units
end
local function resetAfterMs(c, now)
  return c[1] == 0 and 0 or max(0, c[1] - now)
end
local function numbersOf(c, now, cost, wait)
  local left, reset, grows
  local remaining2 = remaining(c, now)
  local availableMs = 0
  if remaining2 < capacity then
    if wait > 0 and cost == remaining2 + 1 then
      availableMs = wait
    else
      availableMs = waitMs(c, now, remaining2 + 1)
    end
  end
  left = remaining2
  reset = resetAfterMs(c, now)
  grows = availableMs
  return left, reset, grows
end`,
  moves: `local function adjust(c, now, units, takenAt)
  local debtMs2 = c[1] == 0 and 0 or max(0, c[1] - now)
  local drainedMs = max(0, now - takenAt)
  local requestedMs = units * unitMs
  local movedMs = units > 0 and requestedMs or -min(debtMs2, max(0, -requestedMs - drainedMs))
  if movedMs == 0 then
    return 0
  end
  c[1] = debtMs2 + movedMs == 0 and 0 or now + debtMs2 + movedMs
  return units > 0 and units or movedMs / unitMs
end
local function adopt(c, now, known, resetMs)
  local debtMs2 = known < capacity and min(known * unitMs, resetMs) or resetMs
  c[1] = debtMs2 > 0 and now + debtMs2 or 0
end`,
  take: `local wait, left, reset, grows
local waitMs2
do
  if cost == 0 or (c[1] == 0 and 0 or max(0, c[1] - now)) + cost * unitMs <= aheadMs + 0.001 then
    waitMs2 = 0
  else
    if cost > capacity then
      waitMs2 = huge
    else
      local guess = (c[1] == 0 and 0 or max(0, c[1] - now)) + cost * unitMs - aheadMs - 0.001
      do
        local ms = max(1, ceil(guess))
        local isExact = (c[1] == 0 and 0 or max(0, c[1] - (now + ms))) + cost * unitMs <= aheadMs + 0.001 and (ms == 1 or not ((c[1] == 0 and 0 or max(0, c[1] - (now + ms - 1))) + cost * unitMs <= aheadMs + 0.001))
        waitMs2 = isExact and ms or firstWholeMs(ms, function(ms2) return (c[1] == 0 and 0 or max(0, c[1] - (now + ms2))) + cost * unitMs <= aheadMs + 0.001 end)
      end
    end
  end
end
if waitMs2 == 0 and cost > 0 then
  do
    if cost > 0 then
      c[1] = max(now, c[1]) + cost * unitMs
    end
  end
end
do
  local remaining2
  do
    local freeMs = aheadMs - (c[1] == 0 and 0 or max(0, c[1] - now)) + 0.001
    local units = max(0, min(capacity, floor(freeMs / unitMs)))
    while units > 0 and not ((c[1] == 0 and 0 or max(0, c[1] - now)) + units * unitMs <= aheadMs + 0.001) do
      units = units - 1
    end
    while units < capacity and (c[1] == 0 and 0 or max(0, c[1] - now)) + (units + 1) * unitMs <= aheadMs + 0.001 do
      units = units + 1
    end
    remaining2 = units
  end
  local availableMs = 0
  if remaining2 < capacity then
    if waitMs2 > 0 and cost == remaining2 + 1 then
      availableMs = waitMs2
    else
      do
        local cost2 = remaining2 + 1
        if cost2 == 0 or (c[1] == 0 and 0 or max(0, c[1] - now)) + cost2 * unitMs <= aheadMs + 0.001 then
          availableMs = 0
        else
          if cost2 > capacity then
            availableMs = huge
          else
            local guess2 = (c[1] == 0 and 0 or max(0, c[1] - now)) + cost2 * unitMs - aheadMs - 0.001
            do
              local ms3 = max(1, ceil(guess2))
              local isExact2 = (c[1] == 0 and 0 or max(0, c[1] - (now + ms3))) + cost2 * unitMs <= aheadMs + 0.001 and (ms3 == 1 or not ((c[1] == 0 and 0 or max(0, c[1] - (now + ms3 - 1))) + cost2 * unitMs <= aheadMs + 0.001))
              availableMs = isExact2 and ms3 or firstWholeMs(ms3, function(ms4) return (c[1] == 0 and 0 or max(0, c[1] - (now + ms4))) + cost2 * unitMs <= aheadMs + 0.001 end)
            end
          end
        end
      end
    end
  end
  wait = waitMs2
  left = remaining2
  reset = c[1] == 0 and 0 or max(0, c[1] - now)
  grows = availableMs
end`,
},
  'sliced-window': {
  constants: `local kept = sliceCount + 1
local sliceMs = windowMs / sliceCount
local cells = sliceCount + 2
local layout = '<' .. string.rep('d', cells)`,
  takes: `local function fits(c, now, cost)
  local value
  do
    local passed2 = max(0, floor((now - c[1]) / sliceMs))
    local sum2 = 0
    local slice = 1
    local last = kept - passed2
    while slice <= last do
      sum2 = sum2 + c[slice + 1]
      slice = slice + 1
    end
    value = sum2
  end
  return value + cost <= capacity
end
local function shift(c, passed)
  if passed > 0 then
    c[1] = c[1] + passed * sliceMs
    local slice = kept
    while slice > 0 do
      c[slice + 1] = slice > passed and c[slice - passed + 1] or 0
      slice = slice - 1
    end
  end
end
local function sum(c, passed)
  local sum2 = 0
  local slice = 1
  local last = kept - passed
  while slice <= last do
    sum2 = sum2 + c[slice + 1]
    slice = slice + 1
  end
  return sum2
end
local function waitMs(c, now, cost)
  local passed2 = max(0, floor((now - c[1]) / sliceMs))
  local used = sum(c, passed2)
  if cost == 0 or used + cost <= capacity then
    return 0
  end
  if cost > capacity then
    return huge
  end
  local slice = kept - passed2
  while slice > 0 and used + cost > capacity do
    used = used - c[slice + 1]
    slice = slice - 1
  end
  local freeAt = c[1] + passed2 * sliceMs + sliceMs * (kept - passed2 - slice)
  local value
  do
    local guess = freeAt - now
    local ms = max(1, ceil(guess))
    local isExact = fits(c, now + ms, cost) and (ms == 1 or not fits(c, now + ms - 1, cost))
    value = isExact and ms or firstWholeMs(ms, function(ms2) return fits(c, now + ms2, cost) end)
  end
  return value
end
local function spend(c, now, cost)
  if cost > 0 then
    local passed2 = max(0, floor((now - c[1]) / sliceMs))
    local isUnused = sum(c, passed2) == 0
    shift(c, passed2)
    if isUnused then
      c[1] = now
    end
    c[2] = c[2] + cost
  end
end
local function remaining(c, now)
  return max(0, capacity - sum(c, max(0, floor((now - c[1]) / sliceMs))))
end
local function resetAfterMs(c, now)
  local passed2 = max(0, floor((now - c[1]) / sliceMs))
  local last = kept - passed2
  local slice = 1
  while slice <= last and c[slice + 1] == 0 do
    slice = slice + 1
  end
  if slice > last then
    return 0
  end
  return c[1] + passed2 * sliceMs + sliceMs * (last - slice + 1) - now
end
local function numbersOf(c, now, cost, wait)
  local left, reset, grows
  local remaining2 = remaining(c, now)
  local availableMs = 0
  if remaining2 < capacity then
    if wait > 0 and cost == remaining2 + 1 then
      availableMs = wait
    else
      availableMs = waitMs(c, now, remaining2 + 1)
    end
  end
  left = remaining2
  reset = resetAfterMs(c, now)
  grows = availableMs
  return left, reset, grows
end`,
  moves: `local function adjust(c, now, units, takenAt)
  local passed2 = max(0, floor((now - c[1]) / sliceMs))
  local isUnused = sum(c, passed2) == 0
  if isUnused and units < 0 then
    return 0
  end
  local start = c[1] + passed2 * sliceMs
  if isUnused then
    start = takenAt + max(0, floor((now - takenAt) / sliceMs)) * sliceMs
  end
  local age = 1 + max(0, ceil((start - takenAt - 0.001) / sliceMs))
  if age > kept then
    return 0
  end
  shift(c, passed2)
  c[1] = start
  local before = c[age + 1]
  local adjusted = max(0, before + units)
  c[age + 1] = adjusted
  return adjusted - before
end
local function adopt(c, now, known, resetMs)
  local slice = 0
  while slice <= kept do
    c[slice + 1] = 0
    slice = slice + 1
  end
  if known > 0 and resetMs > 0 then
    local left = min(kept, ceil(resetMs / sliceMs))
    c[1] = now + min(resetMs, left * sliceMs) - left * sliceMs
    c[kept - left + 1 + 1] = known
  end
end`,
  take: `local wait, left, reset, grows
local waitMs2
do
  local passed2 = max(0, floor((now - c[1]) / sliceMs))
  local used
  do
    local sum2 = 0
    local slice = 1
    local last = kept - passed2
    while slice <= last do
      sum2 = sum2 + c[slice + 1]
      slice = slice + 1
    end
    used = sum2
  end
  if cost == 0 or used + cost <= capacity then
    waitMs2 = 0
  else
    if cost > capacity then
      waitMs2 = huge
    else
      local slice2 = kept - passed2
      while slice2 > 0 and used + cost > capacity do
        used = used - c[slice2 + 1]
        slice2 = slice2 - 1
      end
      local freeAt = c[1] + passed2 * sliceMs + sliceMs * (kept - passed2 - slice2)
      do
        local guess = freeAt - now
        local ms = max(1, ceil(guess))
        local isExact
        do
          local now2 = now + ms
          local value
          do
            local passed3 = max(0, floor((now2 - c[1]) / sliceMs))
            local sum3 = 0
            local slice3 = 1
            local last2 = kept - passed3
            while slice3 <= last2 do
              sum3 = sum3 + c[slice3 + 1]
              slice3 = slice3 + 1
            end
            value = sum3
          end
          isExact = value + cost <= capacity
        end
        if isExact then
          isExact = ms == 1
          if not isExact then
            local value2
            do
              local now3 = now + ms - 1
              local value3
              do
                local passed4 = max(0, floor((now3 - c[1]) / sliceMs))
                local sum4 = 0
                local slice4 = 1
                local last3 = kept - passed4
                while slice4 <= last3 do
                  sum4 = sum4 + c[slice4 + 1]
                  slice4 = slice4 + 1
                end
                value3 = sum4
              end
              value2 = value3 + cost <= capacity
            end
            isExact = not value2
          end
        end
        waitMs2 = isExact and ms or firstWholeMs(ms, function(ms2)
          local value4
          do
            local now4 = now + ms2
            local value5
            do
              local passed5 = max(0, floor((now4 - c[1]) / sliceMs))
              local sum5 = 0
              local slice5 = 1
              local last4 = kept - passed5
              while slice5 <= last4 do
                sum5 = sum5 + c[slice5 + 1]
                slice5 = slice5 + 1
              end
              value5 = sum5
            end
            value4 = value5 + cost <= capacity
          end
          return value4
        end)
      end
    end
  end
end
if waitMs2 == 0 and cost > 0 then
  do
    if cost > 0 then
      local passed6 = max(0, floor((now - c[1]) / sliceMs))
      local isUnused
      local value6
      do
        local sum6 = 0
        local slice6 = 1
        local last5 = kept - passed6
        while slice6 <= last5 do
          sum6 = sum6 + c[slice6 + 1]
          slice6 = slice6 + 1
        end
        value6 = sum6
      end
      isUnused = value6 == 0
      do
        if passed6 > 0 then
          c[1] = c[1] + passed6 * sliceMs
          local slice7 = kept
          while slice7 > 0 do
            c[slice7 + 1] = slice7 > passed6 and c[slice7 - passed6 + 1] or 0
            slice7 = slice7 - 1
          end
        end
      end
      if isUnused then
        c[1] = now
      end
      c[2] = c[2] + cost
    end
  end
end
do
  local remaining2
  do
    local value7
    do
      local passed7 = max(0, floor((now - c[1]) / sliceMs))
      local sum7 = 0
      local slice8 = 1
      local last6 = kept - passed7
      while slice8 <= last6 do
        sum7 = sum7 + c[slice8 + 1]
        slice8 = slice8 + 1
      end
      value7 = sum7
    end
    remaining2 = max(0, capacity - value7)
  end
  local availableMs = 0
  if remaining2 < capacity then
    if waitMs2 > 0 and cost == remaining2 + 1 then
      availableMs = waitMs2
    else
      do
        local cost2 = remaining2 + 1
        local passed8 = max(0, floor((now - c[1]) / sliceMs))
        local used2
        do
          local sum8 = 0
          local slice9 = 1
          local last7 = kept - passed8
          while slice9 <= last7 do
            sum8 = sum8 + c[slice9 + 1]
            slice9 = slice9 + 1
          end
          used2 = sum8
        end
        if cost2 == 0 or used2 + cost2 <= capacity then
          availableMs = 0
        else
          if cost2 > capacity then
            availableMs = huge
          else
            local slice10 = kept - passed8
            while slice10 > 0 and used2 + cost2 > capacity do
              used2 = used2 - c[slice10 + 1]
              slice10 = slice10 - 1
            end
            local freeAt2 = c[1] + passed8 * sliceMs + sliceMs * (kept - passed8 - slice10)
            do
              local guess2 = freeAt2 - now
              local ms3 = max(1, ceil(guess2))
              local isExact2
              do
                local now5 = now + ms3
                local value8
                do
                  local passed9 = max(0, floor((now5 - c[1]) / sliceMs))
                  local sum9 = 0
                  local slice11 = 1
                  local last8 = kept - passed9
                  while slice11 <= last8 do
                    sum9 = sum9 + c[slice11 + 1]
                    slice11 = slice11 + 1
                  end
                  value8 = sum9
                end
                isExact2 = value8 + cost2 <= capacity
              end
              if isExact2 then
                isExact2 = ms3 == 1
                if not isExact2 then
                  local value9
                  do
                    local now6 = now + ms3 - 1
                    local value10
                    do
                      local passed10 = max(0, floor((now6 - c[1]) / sliceMs))
                      local sum10 = 0
                      local slice12 = 1
                      local last9 = kept - passed10
                      while slice12 <= last9 do
                        sum10 = sum10 + c[slice12 + 1]
                        slice12 = slice12 + 1
                      end
                      value10 = sum10
                    end
                    value9 = value10 + cost2 <= capacity
                  end
                  isExact2 = not value9
                end
              end
              availableMs = isExact2 and ms3 or firstWholeMs(ms3, function(ms4)
                local value11
                do
                  local now7 = now + ms4
                  local value12
                  do
                    local passed11 = max(0, floor((now7 - c[1]) / sliceMs))
                    local sum11 = 0
                    local slice13 = 1
                    local last10 = kept - passed11
                    while slice13 <= last10 do
                      sum11 = sum11 + c[slice13 + 1]
                      slice13 = slice13 + 1
                    end
                    value12 = sum11
                  end
                  value11 = value12 + cost2 <= capacity
                end
                return value11
              end)
            end
          end
        end
      end
    end
  end
  wait = waitMs2
  left = remaining2
  do
    local passed12 = max(0, floor((now - c[1]) / sliceMs))
    local last11 = kept - passed12
    local slice14 = 1
    while slice14 <= last11 and c[slice14 + 1] == 0 do
      slice14 = slice14 + 1
    end
    if slice14 > last11 then
      reset = 0
    else
      reset = c[1] + passed12 * sliceMs + sliceMs * (last11 - slice14 + 1) - now
    end
  end
  grows = availableMs
end`,
},
  'sliding-log': {
  constants: `local cells, layout = nil, 'log'`,
  takes: `local function remove(c, first, last)
  local from = last
  local to = first
  while from < c[1] do
    c[to + 2] = c[from + 2]
    from = from + 1
    to = to + 1
  end
  c[1] = to
end
local function insert(c, place, units, time)
  local dropped = max(0, c[1] + units - room)
  do
    if dropped > 0 then
      remove(c, 0, dropped)
    end
  end
  local first = place - dropped
  local index = c[1] - 1
  while index >= first do
    c[index + units + 2] = c[index + 2]
    index = index - 1
  end
  index = first
  while index < first + units do
    c[index + 2] = time
    index = index + 1
  end
  c[1] = c[1] + units
end
local function drop(c, count)
  if count > 0 then
    remove(c, 0, count)
  end
end
local function expired(c, now)
  local expired2 = 0
  while expired2 < c[1] and c[expired2 + 2] + windowMs <= now do
    expired2 = expired2 + 1
  end
  return expired2
end
local function waitMs(c, now, cost)
  local expired2 = expired(c, now)
  local tooMany = c[1] - expired2 + cost - capacity
  if cost == 0 or tooMany <= 0 then
    return 0
  end
  if cost > capacity then
    return huge
  end
  return wholeMsUntil(c[expired2 + tooMany - 1 + 2] + windowMs, now)
end
local function spend(c, now, cost)
  if cost > 0 then
    drop(c, expired(c, now))
    local time2 = now
    local count = c[1]
    if count > 0 then
      time2 = max(now, c[count - 1 + 2])
    end
    insert(c, count, min(cost, room), time2)
  end
end
local function remaining(c, now)
  return max(0, capacity - (c[1] - expired(c, now)))
end
local function resetAfterMs(c, now)
  local count = c[1]
  if count == expired(c, now) then
    return 0
  end
  return c[count - 1 + 2] + windowMs - now
end
local function numbersOf(c, now, cost, wait)
  local left, reset, grows
  local remaining2 = remaining(c, now)
  local availableMs = 0
  if remaining2 < capacity then
    if wait > 0 and cost == remaining2 + 1 then
      availableMs = wait
    else
      availableMs = waitMs(c, now, remaining2 + 1)
    end
  end
  left = remaining2
  reset = resetAfterMs(c, now)
  grows = availableMs
  return left, reset, grows
end`,
  moves: `local function adjust(c, now, units, takenAt)
  if takenAt + windowMs <= now then
    return 0
  end
  drop(c, expired(c, now))
  local before = c[1]
  local first = 0
  while first < before and c[first + 2] < takenAt do
    first = first + 1
  end
  if units > 0 then
    local free = room - before + (beside == 1 and first or 0)
    local fitting = max(0, min(units, free))
    insert(c, first, fitting, takenAt)
    return fitting
  end
  if beside == 1 and before == room then
    return 0
  end
  local isNow = first == before and takenAt >= now
  if isNow then
    first = max(0, before + units)
  end
  local last
  if isNow then
    last = before
  else
    do
      local units2 = -units
      local last2 = first
      while last2 < c[1] and last2 - first < units2 and c[last2 + 2] == takenAt do
        last2 = last2 + 1
      end
      last = last2
    end
  end
  remove(c, first, last)
  return first - last
end
local function adopt(c, now, known, resetMs)
  local live = resetMs > 0 and min(ceil(known), room) or 0
  remove(c, 0, c[1])
  insert(c, 0, live, now + min(resetMs, windowMs) - windowMs)
end`,
  take: `local wait, left, reset, grows
local waitMs2
do
  local expired2
  do
    local expired3 = 0
    while expired3 < c[1] and c[expired3 + 2] + windowMs <= now do
      expired3 = expired3 + 1
    end
    expired2 = expired3
  end
  local tooMany = c[1] - expired2 + cost - capacity
  if cost == 0 or tooMany <= 0 then
    waitMs2 = 0
  else
    if cost > capacity then
      waitMs2 = huge
    else
      waitMs2 = wholeMsUntil(c[expired2 + tooMany - 1 + 2] + windowMs, now)
    end
  end
end
if waitMs2 == 0 and cost > 0 then
  do
    if cost > 0 then
      do
        local count
        do
          local expired4 = 0
          while expired4 < c[1] and c[expired4 + 2] + windowMs <= now do
            expired4 = expired4 + 1
          end
          count = expired4
        end
        if count > 0 then
          do
            local from = count
            local to = 0
            while from < c[1] do
              c[to + 2] = c[from + 2]
              from = from + 1
              to = to + 1
            end
            c[1] = to
          end
        end
      end
      local time2 = now
      local count2 = c[1]
      if count2 > 0 then
        time2 = max(now, c[count2 - 1 + 2])
      end
      do
        local units = min(cost, room)
        local dropped = max(0, c[1] + units - room)
        do
          if dropped > 0 then
            do
              local from2 = dropped
              local to2 = 0
              while from2 < c[1] do
                c[to2 + 2] = c[from2 + 2]
                from2 = from2 + 1
                to2 = to2 + 1
              end
              c[1] = to2
            end
          end
        end
        local first = count2 - dropped
        local index = c[1] - 1
        while index >= first do
          c[index + units + 2] = c[index + 2]
          index = index - 1
        end
        index = first
        while index < first + units do
          c[index + 2] = time2
          index = index + 1
        end
        c[1] = c[1] + units
      end
    end
  end
end
do
  local remaining2
  do
    local value
    do
      local expired5 = 0
      while expired5 < c[1] and c[expired5 + 2] + windowMs <= now do
        expired5 = expired5 + 1
      end
      value = expired5
    end
    remaining2 = max(0, capacity - (c[1] - value))
  end
  local availableMs = 0
  if remaining2 < capacity then
    if waitMs2 > 0 and cost == remaining2 + 1 then
      availableMs = waitMs2
    else
      do
        local cost2 = remaining2 + 1
        local expired6
        do
          local expired7 = 0
          while expired7 < c[1] and c[expired7 + 2] + windowMs <= now do
            expired7 = expired7 + 1
          end
          expired6 = expired7
        end
        local tooMany2 = c[1] - expired6 + cost2 - capacity
        if cost2 == 0 or tooMany2 <= 0 then
          availableMs = 0
        else
          if cost2 > capacity then
            availableMs = huge
          else
            availableMs = wholeMsUntil(c[expired6 + tooMany2 - 1 + 2] + windowMs, now)
          end
        end
      end
    end
  end
  wait = waitMs2
  left = remaining2
  do
    local count3 = c[1]
    local value2
    do
      local expired8 = 0
      while expired8 < c[1] and c[expired8 + 2] + windowMs <= now do
        expired8 = expired8 + 1
      end
      value2 = expired8
    end
    if count3 == value2 then
      reset = 0
    else
      reset = c[count3 - 1 + 2] + windowMs - now
    end
  end
  grows = availableMs
end`,
},
  'token-bucket': {
  constants: `local perMs = limit / windowMs
local epsilon = min(0.001 * perMs, 0.5)
local cells, layout = 2, '<dd'`,
  takes: `local function write(c, now, used)
  c[1] = used
  c[2] = used == 0 and 0 or max(now, c[2])
end
local function waitMs(c, now, cost)
  if cost == 0 or max(0, c[1] - max(0, now - c[2]) * perMs) + cost <= capacity + epsilon then
    return 0
  end
  if cost > capacity then
    return huge
  end
  local guess = (max(0, c[1] - max(0, now - c[2]) * perMs) + cost - capacity) / perMs
  local value
  do
    local ms = max(1, ceil(guess))
    local isExact = max(0, c[1] - max(0, (now + ms) - c[2]) * perMs) + cost <= capacity + epsilon and (ms == 1 or not (max(0, c[1] - max(0, (now + ms - 1) - c[2]) * perMs) + cost <= capacity + epsilon))
    value = isExact and ms or firstWholeMs(ms, function(ms2) return max(0, c[1] - max(0, (now + ms2) - c[2]) * perMs) + cost <= capacity + epsilon end)
  end
  return value
end
local function spend(c, now, cost)
  if cost > 0 then
    write(c, now, max(0, c[1] - max(0, now - c[2]) * perMs) + cost)
  end
end
local function remaining(c, now)
  local free = capacity - max(0, c[1] - max(0, now - c[2]) * perMs) + epsilon
  local units = max(0, min(capacity, floor(free)))
  while units > 0 and not (max(0, c[1] - max(0, now - c[2]) * perMs) + units <= capacity + epsilon) do
    units = units - 1
  end
  while units < capacity and max(0, c[1] - max(0, now - c[2]) * perMs) + (units + 1) <= capacity + epsilon do
    units = units + 1
  end
  return units
end
local function resetAfterMs(c, now)
  return max(0, c[1] - max(0, now - c[2]) * perMs) / perMs
end
local function numbersOf(c, now, cost, wait)
  local left, reset, grows
  local remaining2 = remaining(c, now)
  local availableMs = 0
  if remaining2 < capacity then
    if wait > 0 and cost == remaining2 + 1 then
      availableMs = wait
    else
      availableMs = waitMs(c, now, remaining2 + 1)
    end
  end
  left = remaining2
  reset = resetAfterMs(c, now)
  grows = availableMs
  return left, reset, grows
end`,
  moves: `local function adjust(c, now, units, takenAt)
  local used2 = max(0, c[1] - max(0, now - c[2]) * perMs)
  local drained = max(0, now - takenAt) * perMs
  local moved = units > 0 and units or -min(used2, max(0, -units - drained))
  if moved == 0 then
    return 0
  end
  write(c, now, used2 + moved)
  return moved
end
local function adopt(c, now, known, resetMs)
  local drainsFor = max(0, resetMs * perMs)
  write(c, now, known < capacity and max(0, min(known, drainsFor)) or drainsFor)
end`,
  take: `local wait, left, reset, grows
local waitMs2
do
  if cost == 0 or max(0, c[1] - max(0, now - c[2]) * perMs) + cost <= capacity + epsilon then
    waitMs2 = 0
  else
    if cost > capacity then
      waitMs2 = huge
    else
      local guess = (max(0, c[1] - max(0, now - c[2]) * perMs) + cost - capacity) / perMs
      do
        local ms = max(1, ceil(guess))
        local isExact = max(0, c[1] - max(0, (now + ms) - c[2]) * perMs) + cost <= capacity + epsilon and (ms == 1 or not (max(0, c[1] - max(0, (now + ms - 1) - c[2]) * perMs) + cost <= capacity + epsilon))
        waitMs2 = isExact and ms or firstWholeMs(ms, function(ms2) return max(0, c[1] - max(0, (now + ms2) - c[2]) * perMs) + cost <= capacity + epsilon end)
      end
    end
  end
end
if waitMs2 == 0 and cost > 0 then
  do
    if cost > 0 then
      do
        local used2 = max(0, c[1] - max(0, now - c[2]) * perMs) + cost
        c[1] = used2
        c[2] = used2 == 0 and 0 or max(now, c[2])
      end
    end
  end
end
do
  local remaining2
  do
    local free = capacity - max(0, c[1] - max(0, now - c[2]) * perMs) + epsilon
    local units = max(0, min(capacity, floor(free)))
    while units > 0 and not (max(0, c[1] - max(0, now - c[2]) * perMs) + units <= capacity + epsilon) do
      units = units - 1
    end
    while units < capacity and max(0, c[1] - max(0, now - c[2]) * perMs) + (units + 1) <= capacity + epsilon do
      units = units + 1
    end
    remaining2 = units
  end
  local availableMs = 0
  if remaining2 < capacity then
    if waitMs2 > 0 and cost == remaining2 + 1 then
      availableMs = waitMs2
    else
      do
        local cost2 = remaining2 + 1
        if cost2 == 0 or max(0, c[1] - max(0, now - c[2]) * perMs) + cost2 <= capacity + epsilon then
          availableMs = 0
        else
          if cost2 > capacity then
            availableMs = huge
          else
            local guess2 = (max(0, c[1] - max(0, now - c[2]) * perMs) + cost2 - capacity) / perMs
            do
              local ms3 = max(1, ceil(guess2))
              local isExact2 = max(0, c[1] - max(0, (now + ms3) - c[2]) * perMs) + cost2 <= capacity + epsilon and (ms3 == 1 or not (max(0, c[1] - max(0, (now + ms3 - 1) - c[2]) * perMs) + cost2 <= capacity + epsilon))
              availableMs = isExact2 and ms3 or firstWholeMs(ms3, function(ms4) return max(0, c[1] - max(0, (now + ms4) - c[2]) * perMs) + cost2 <= capacity + epsilon end)
            end
          end
        end
      end
    end
  end
  wait = waitMs2
  left = remaining2
  reset = max(0, c[1] - max(0, now - c[2]) * perMs) / perMs
  grows = availableMs
end`,
},
  'two-epoch-window': {
  constants: `local current, start, previous, last
local cells, layout = 4, '<dddd'`,
  takes: `local function lastOfCurrent()
  return previous == 0 and last or start + windowMs
end
local function store(c)
  c[1] = start
  c[2] = current
  c[3] = previous
  c[4] = last
end
local function settle(now, weightedMs)
  if previous == 0 or weightedMs ~= 0 then
    return
  end
  previous = 0
  last = max(now, start)
end
local function endsAfter(now)
  if current > 0 then
    return lastOfCurrent() + windowMs - now
  end
  return previous ~= 0 and last + windowMs - now or 0
end
local function unitsLeft(weightedMs)
  local windowMs2 = windowMs
  local current2 = current
  local fullMs = capacity * windowMs2
  local units = max(0, floor(capacity - current2 - weightedMs / windowMs2))
  while units > 0 and weightedMs + (current2 + units) * windowMs2 > fullMs do
    units = units - 1
  end
  while units < capacity and weightedMs + (current2 + units + 1) * windowMs2 <= fullMs do
    units = units + 1
  end
  return units
end
local function add(c, now, cost, weightedMs)
  settle(now, weightedMs)
  if previous == 0 then
    if current == 0 then
      start = now
      last = now
    else
      if now > last then
        last = now
      end
    end
  end
  current = current + cost
  store(c)
end
local function waitFor(now, cost)
  if cost > capacity then
    return huge
  end
  local guess
  local value
  do
    local windowMs2 = windowMs
    local room = capacity - cost
    if current > room then
      local weighted = start + windowMs2 * (2 - room / current)
      value = min(weighted, lastOfCurrent() + windowMs2)
    else
      local weighted2 = start + windowMs2 * (1 - (room - current) / previous)
      value = min(weighted2, last + windowMs2)
    end
  end
  guess = max(1, ceil(value - now))
  local isExact
  do
    local time2 = now + guess
    local windowMs3 = windowMs
    local start2 = start
    local current2 = current
    local previous2 = previous
    local last2 = last
    local endsAt = start2 + windowMs3
    if time2 >= endsAt then
      if previous2 ~= 0 then
        last2 = endsAt
      end
      start2 = endsAt
      previous2 = current2
      current2 = 0
    end
    local since = max(time2, start2)
    local isOver = since >= last2 + windowMs3 or time2 >= endsAt + windowMs3
    local weightedMs = isOver and 0 or previous2 < 0 and -previous2 * windowMs3 or previous2 * (start2 + windowMs3 - since)
    isExact = weightedMs + (current2 + cost) * windowMs3 <= capacity * windowMs3
  end
  if isExact then
    isExact = guess == 1
    if not isExact then
      local value2
      do
        local time3 = now + guess - 1
        local windowMs4 = windowMs
        local start3 = start
        local current3 = current
        local previous3 = previous
        local last3 = last
        local endsAt2 = start3 + windowMs4
        if time3 >= endsAt2 then
          if previous3 ~= 0 then
            last3 = endsAt2
          end
          start3 = endsAt2
          previous3 = current3
          current3 = 0
        end
        local since2 = max(time3, start3)
        local isOver2 = since2 >= last3 + windowMs4 or time3 >= endsAt2 + windowMs4
        local weightedMs2 = isOver2 and 0 or previous3 < 0 and -previous3 * windowMs4 or previous3 * (start3 + windowMs4 - since2)
        value2 = weightedMs2 + (current3 + cost) * windowMs4 <= capacity * windowMs4
      end
      isExact = not value2
    end
  end
  return isExact and guess or firstWholeMs(guess, function(ms)
    local value3
    do
      local time4 = now + ms
      local windowMs5 = windowMs
      local start4 = start
      local current4 = current
      local previous4 = previous
      local last4 = last
      local endsAt3 = start4 + windowMs5
      if time4 >= endsAt3 then
        if previous4 ~= 0 then
          last4 = endsAt3
        end
        start4 = endsAt3
        previous4 = current4
        current4 = 0
      end
      local since3 = max(time4, start4)
      local isOver3 = since3 >= last4 + windowMs5 or time4 >= endsAt3 + windowMs5
      local weightedMs3 = isOver3 and 0 or previous4 < 0 and -previous4 * windowMs5 or previous4 * (start4 + windowMs5 - since3)
      value3 = weightedMs3 + (current4 + cost) * windowMs5 <= capacity * windowMs5
    end
    return value3
  end)
end
local function fitsAt(time, cost)
  local windowMs2 = windowMs
  local start2 = start
  local current2 = current
  local previous2 = previous
  local last2 = last
  local endsAt = start2 + windowMs2
  if time >= endsAt then
    if previous2 ~= 0 then
      last2 = endsAt
    end
    start2 = endsAt
    previous2 = current2
    current2 = 0
  end
  local since = max(time, start2)
  local isOver = since >= last2 + windowMs2 or time >= endsAt + windowMs2
  local weightedMs = isOver and 0 or previous2 < 0 and -previous2 * windowMs2 or previous2 * (start2 + windowMs2 - since)
  return weightedMs + (current2 + cost) * windowMs2 <= capacity * windowMs2
end
local function roll(c, now)
  local windowMs2 = windowMs
  local start2 = c[1]
  local current2 = c[2]
  local previous2 = c[3]
  local last2 = c[4]
  local endsAt = start2 + windowMs2
  if now >= endsAt then
    if previous2 ~= 0 then
      last2 = endsAt
    end
    start2 = endsAt
    previous2 = current2
    current2 = 0
  end
  local since = max(now, start2)
  local isOver = since >= last2 + windowMs2
  local weightedMs = isOver and 0 or previous2 < 0 and -previous2 * windowMs2 or previous2 * (start2 + windowMs2 - since)
  if current2 == 0 and (weightedMs == 0 or now >= endsAt + windowMs2) then
    start2 = now
    previous2 = 0
    weightedMs = 0
  end
  start = start2
  current = current2
  previous = previous2
  last = last2
  return weightedMs
end
local function waitMs(c, now, cost)
  if cost == 0 then
    return 0
  end
  roll(c, now)
  return fitsAt(now, cost) and 0 or waitFor(now, cost)
end
local function spend(c, now, cost)
  if cost > 0 then
    add(c, now, cost, roll(c, now))
  end
end
local function remaining(c, now)
  return unitsLeft(roll(c, now))
end
local function resetAfterMs(c, now)
  roll(c, now)
  return endsAfter(now)
end
local function numbersOf(c, now, cost, wait)
  local left, reset, grows
  local weightedMs = roll(c, now)
  do
    local remaining2 = unitsLeft(weightedMs)
    local availableMs = 0
    if remaining2 < capacity then
      if wait > 0 and cost == remaining2 + 1 then
        availableMs = wait
      else
        availableMs = waitFor(now, remaining2 + 1)
      end
    end
    left = remaining2
    reset = endsAfter(now)
    grows = availableMs
  end
  return left, reset, grows
end`,
  moves: `local function movePrevious(units, takenAt, now)
  local before = math.abs(previous)
  local after = max(0, before + units)
  previous = previous < 0 and -after or after
  if units > 0 then
    last = before == 0 and takenAt or max(last, takenAt)
  else
    if before > 0 and after == 0 then
      last = max(now, start)
    end
  end
  return after - before
end
local function adjust(c, now, units, takenAt)
  settle(now, roll(c, now))
  if takenAt <= max(now, start) - windowMs then
    return 0
  end
  if current == 0 and previous == 0 then
    if units < 0 then
      return 0
    end
    start = takenAt
    last = takenAt
  end
  local moved
  if takenAt >= start then
    do
      local before = current
      current = max(0, before + units)
      if units > 0 and previous == 0 then
        last = before == 0 and takenAt or max(last, takenAt)
      end
      moved = current - before
    end
  else
    moved = movePrevious(units, takenAt, now)
  end
  if moved > units and previous < 0 then
    moved = moved + movePrevious(units - moved, takenAt, now)
  end
  if moved ~= 0 then
    store(c)
  end
  return moved
end
local function adopt(c, now, known, resetMs)
  local resetMs2 = min(resetMs, 2 * windowMs)
  local live = known > 0 and resetMs2 > 0
  local last2 = now + resetMs2 - windowMs
  local inCurrent = last2 > now
  c[1] = live and (inCurrent and last2 - windowMs or now) or 0
  c[2] = live and inCurrent and known or 0
  c[3] = live and not inCurrent and -known or 0
  c[4] = live and last2 or 0
end`,
  take: `local wait, left, reset, grows
local windowMs2 = windowMs
local weightedMs
do
  local windowMs3 = windowMs
  local start2 = c[1]
  local current2 = c[2]
  local previous2 = c[3]
  local last2 = c[4]
  local endsAt = start2 + windowMs3
  if now >= endsAt then
    if previous2 ~= 0 then
      last2 = endsAt
    end
    start2 = endsAt
    previous2 = current2
    current2 = 0
  end
  local since = max(now, start2)
  local isOver = since >= last2 + windowMs3
  local weightedMs2 = isOver and 0 or previous2 < 0 and -previous2 * windowMs3 or previous2 * (start2 + windowMs3 - since)
  if current2 == 0 and (weightedMs2 == 0 or now >= endsAt + windowMs3) then
    start2 = now
    previous2 = 0
    weightedMs2 = 0
  end
  start = start2
  current = current2
  previous = previous2
  last = last2
  weightedMs = weightedMs2
end
local waitMs2 = 0
if cost > 0 then
  if weightedMs + (current + cost) * windowMs2 <= capacity * windowMs2 then
    do
      do
        if previous == 0 or weightedMs ~= 0 then
        else
          previous = 0
          last = max(now, start)
        end
      end
      if previous == 0 then
        if current == 0 then
          start = now
          last = now
        else
          if now > last then
            last = now
          end
        end
      end
      current = current + cost
      do
        c[1] = start
        c[2] = current
        c[3] = previous
        c[4] = last
      end
    end
  else
    do
      if cost > capacity then
        waitMs2 = huge
      else
        local guess
        local value
        do
          local windowMs4 = windowMs
          local room = capacity - cost
          if current > room then
            local weighted = start + windowMs4 * (2 - room / current)
            local value2
            do
              value2 = previous == 0 and last or start + windowMs
            end
            value = min(weighted, value2 + windowMs4)
          else
            local weighted2 = start + windowMs4 * (1 - (room - current) / previous)
            value = min(weighted2, last + windowMs4)
          end
        end
        guess = max(1, ceil(value - now))
        local isExact
        do
          local time2 = now + guess
          local windowMs5 = windowMs
          local start3 = start
          local current3 = current
          local previous3 = previous
          local last3 = last
          local endsAt2 = start3 + windowMs5
          if time2 >= endsAt2 then
            if previous3 ~= 0 then
              last3 = endsAt2
            end
            start3 = endsAt2
            previous3 = current3
            current3 = 0
          end
          local since2 = max(time2, start3)
          local isOver2 = since2 >= last3 + windowMs5 or time2 >= endsAt2 + windowMs5
          local weightedMs3 = isOver2 and 0 or previous3 < 0 and -previous3 * windowMs5 or previous3 * (start3 + windowMs5 - since2)
          isExact = weightedMs3 + (current3 + cost) * windowMs5 <= capacity * windowMs5
        end
        if isExact then
          isExact = guess == 1
          if not isExact then
            local value3
            do
              local time3 = now + guess - 1
              local windowMs6 = windowMs
              local start4 = start
              local current4 = current
              local previous4 = previous
              local last4 = last
              local endsAt3 = start4 + windowMs6
              if time3 >= endsAt3 then
                if previous4 ~= 0 then
                  last4 = endsAt3
                end
                start4 = endsAt3
                previous4 = current4
                current4 = 0
              end
              local since3 = max(time3, start4)
              local isOver3 = since3 >= last4 + windowMs6 or time3 >= endsAt3 + windowMs6
              local weightedMs4 = isOver3 and 0 or previous4 < 0 and -previous4 * windowMs6 or previous4 * (start4 + windowMs6 - since3)
              value3 = weightedMs4 + (current4 + cost) * windowMs6 <= capacity * windowMs6
            end
            isExact = not value3
          end
        end
        waitMs2 = isExact and guess or firstWholeMs(guess, function(ms)
          local value4
          do
            local time4 = now + ms
            local windowMs7 = windowMs
            local start5 = start
            local current5 = current
            local previous5 = previous
            local last5 = last
            local endsAt4 = start5 + windowMs7
            if time4 >= endsAt4 then
              if previous5 ~= 0 then
                last5 = endsAt4
              end
              start5 = endsAt4
              previous5 = current5
              current5 = 0
            end
            local since4 = max(time4, start5)
            local isOver4 = since4 >= last5 + windowMs7 or time4 >= endsAt4 + windowMs7
            local weightedMs5 = isOver4 and 0 or previous5 < 0 and -previous5 * windowMs7 or previous5 * (start5 + windowMs7 - since4)
            value4 = weightedMs5 + (current5 + cost) * windowMs7 <= capacity * windowMs7
          end
          return value4
        end)
      end
    end
  end
end
do
  local remaining2
  do
    local windowMs8 = windowMs
    local current6 = current
    local fullMs = capacity * windowMs8
    local units = max(0, floor(capacity - current6 - weightedMs / windowMs8))
    while units > 0 and weightedMs + (current6 + units) * windowMs8 > fullMs do
      units = units - 1
    end
    while units < capacity and weightedMs + (current6 + units + 1) * windowMs8 <= fullMs do
      units = units + 1
    end
    remaining2 = units
  end
  local availableMs = 0
  if remaining2 < capacity then
    if waitMs2 > 0 and cost == remaining2 + 1 then
      availableMs = waitMs2
    else
      do
        local cost2 = remaining2 + 1
        if cost2 > capacity then
          availableMs = huge
        else
          local guess2
          local value5
          do
            local windowMs9 = windowMs
            local room2 = capacity - cost2
            if current > room2 then
              local weighted3 = start + windowMs9 * (2 - room2 / current)
              local value6
              do
                value6 = previous == 0 and last or start + windowMs
              end
              value5 = min(weighted3, value6 + windowMs9)
            else
              local weighted4 = start + windowMs9 * (1 - (room2 - current) / previous)
              value5 = min(weighted4, last + windowMs9)
            end
          end
          guess2 = max(1, ceil(value5 - now))
          local isExact2
          do
            local time5 = now + guess2
            local windowMs10 = windowMs
            local start6 = start
            local current7 = current
            local previous6 = previous
            local last6 = last
            local endsAt5 = start6 + windowMs10
            if time5 >= endsAt5 then
              if previous6 ~= 0 then
                last6 = endsAt5
              end
              start6 = endsAt5
              previous6 = current7
              current7 = 0
            end
            local since5 = max(time5, start6)
            local isOver5 = since5 >= last6 + windowMs10 or time5 >= endsAt5 + windowMs10
            local weightedMs6 = isOver5 and 0 or previous6 < 0 and -previous6 * windowMs10 or previous6 * (start6 + windowMs10 - since5)
            isExact2 = weightedMs6 + (current7 + cost2) * windowMs10 <= capacity * windowMs10
          end
          if isExact2 then
            isExact2 = guess2 == 1
            if not isExact2 then
              local value7
              do
                local time6 = now + guess2 - 1
                local windowMs11 = windowMs
                local start7 = start
                local current8 = current
                local previous7 = previous
                local last7 = last
                local endsAt6 = start7 + windowMs11
                if time6 >= endsAt6 then
                  if previous7 ~= 0 then
                    last7 = endsAt6
                  end
                  start7 = endsAt6
                  previous7 = current8
                  current8 = 0
                end
                local since6 = max(time6, start7)
                local isOver6 = since6 >= last7 + windowMs11 or time6 >= endsAt6 + windowMs11
                local weightedMs7 = isOver6 and 0 or previous7 < 0 and -previous7 * windowMs11 or previous7 * (start7 + windowMs11 - since6)
                value7 = weightedMs7 + (current8 + cost2) * windowMs11 <= capacity * windowMs11
              end
              isExact2 = not value7
            end
          end
          availableMs = isExact2 and guess2 or firstWholeMs(guess2, function(ms2)
            local value8
            do
              local time7 = now + ms2
              local windowMs12 = windowMs
              local start8 = start
              local current9 = current
              local previous8 = previous
              local last8 = last
              local endsAt7 = start8 + windowMs12
              if time7 >= endsAt7 then
                if previous8 ~= 0 then
                  last8 = endsAt7
                end
                start8 = endsAt7
                previous8 = current9
                current9 = 0
              end
              local since7 = max(time7, start8)
              local isOver7 = since7 >= last8 + windowMs12 or time7 >= endsAt7 + windowMs12
              local weightedMs8 = isOver7 and 0 or previous8 < 0 and -previous8 * windowMs12 or previous8 * (start8 + windowMs12 - since7)
              value8 = weightedMs8 + (current9 + cost2) * windowMs12 <= capacity * windowMs12
            end
            return value8
          end)
        end
      end
    end
  end
  wait = waitMs2
  left = remaining2
  do
    if current > 0 then
      local value9
      do
        value9 = previous == 0 and last or start + windowMs
      end
      reset = value9 + windowMs - now
    else
      reset = previous ~= 0 and last + windowMs - now or 0
    end
  end
  grows = availableMs
end`,
},
}
