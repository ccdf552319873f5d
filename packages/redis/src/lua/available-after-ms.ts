/**
 * `availableAfterMs` of limiter-core, in Lua, of a key at which `cost` waits for `wait`: often it is this wait. And how
 * a wait is told: -1 is never.
 */
export const availableAfterMs: string = `
local function availableAfterMs(capacity, waitMs, c, left, cost, wait)
  if left >= capacity then return 0 end
  if wait > 0 and cost == left + 1 then return wait end
  return waitMs(c, now, left + 1)
end

local function told(ms) return ms == huge and -1 or ms end
`
