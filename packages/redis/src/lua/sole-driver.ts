/**
 * One take of one policy, behind its algorithm, whose constants are locals; `cost` is one, too. Answers as
 * `exactDriver` does.
 */
export const soleDriver: string = `
local c, message = load(KEYS[1], cells, layout)
if not c then return stamp .. ' !1\\n' .. message end
local wait = waitMs(c, now, cost)
local takes = wait == 0 and cost > 0
if takes then spend(c, now, cost) end
local reset = resetAfterMs(c, now)
if takes then store(KEYS[1], c, layout, reset) end
local left = remaining(c, now)
local grows = availableAfterMs(capacity, waitMs, c, left, cost, wait)
return format('%s %d %d %.17g %d', stamp, left, told(wait), reset, told(grows))
`

/**
 * One take of charges whose keys differ and are not known from before: what `exactDriver` does with it, for less.
 *
 * ARGV from the second on: of each charge its algorithm and constants, its cost, and 1 where it is advisory, else 0.
 */
export const severalDriver: string = `
local steps, costs, advisory, cells, waits = {}, {}, {}, {}, {}
local vetoed, allFit = false, true
for j = 1, #KEYS do
  local step = readStep()
  steps[j], costs[j], advisory[j] = step, number(), number() == 1
  local c, message = load(KEYS[j], step.cells, step.layout)
  if not c then return stamp .. ' !1\\n' .. message end
  local wait = step.waitMs(c, now, costs[j])
  if wait > 0 then
    allFit = false
    vetoed = vetoed or not advisory[j]
  end
  cells[j], waits[j] = c, wait
end

local out = { stamp }
for j = 1, #KEYS do
  local step, c = steps[j], cells[j]
  local takes = not vetoed and (allFit or not advisory[j]) and costs[j] > 0
  if takes then step.spend(c, now, costs[j]) end
  local reset = step.resetAfterMs(c, now)
  if takes then store(KEYS[j], c, step.layout, step.keptMs and step.keptMs(c, now) or reset) end
  local left = step.remaining(c, now)
  local grows = availableAfterMs(step.capacity, step.waitMs, c, left, costs[j], waits[j])
  out[j + 1] = format('%d %d %.17g %d', left, told(waits[j]), reset, told(grows))
end
return table.concat(out, ' ')
`
