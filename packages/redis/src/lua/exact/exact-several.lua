-- Runs one take whose charges have different keys and no prior usage. Same result as `exact-batch`, but faster.
--
-- KEYS: the cells of each charge.
-- ARGV: the argument of `exact-head`; then for each charge its algorithm and constants, its cost, and 1 if it is
-- advisory, otherwise 0.

local steps, costs, advisory, cells, waits = {}, {}, {}, {}, {}
local vetoed, allFit = false, true
for j = 1, #KEYS do
  local step = readStep()
  steps[j], costs[j], advisory[j] = step, number(), number() == 1
  local c, message = load(KEYS[j], step.cells, step.layout, step.native, step.writesNative, step.facets)
  if not c then return stamp .. ' !1\n' .. message end
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
  local books = waits[j] > 0 and not advisory[j] and step.book and step.book(c, now, costs[j])
  if takes then step.spend(c, now, costs[j]) end
  local left, reset, grows = step.numbersOf(c, now, costs[j], waits[j])
  if takes or books then store(KEYS[j], c, step.layout, step.keptMs == step.resetAfterMs and reset or step.keptMs(c, now)) end
  out[j + 1] = format('%d %d %.17g %d', left, waitOf(waits[j]), reset, waitOf(grows))
end
return table.concat(out, ' ')
