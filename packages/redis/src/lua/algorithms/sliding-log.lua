-- `sliding-log` of limiter-core in Lua, with identical results. Cells: the timestamps of the taken units, from the
-- oldest to the newest, without a ring buffer or spare room, so that limits can change between takes. `room` is the
-- maximum number of timestamps. `beside` is 1 if other variants charge the same cells without checking this policy.

local cells, layout = nil, nil

local function expired(c, now)
  local gone = 0
  while gone < #c and c[gone + 1] + windowMs <= now do gone = gone + 1 end
  return gone
end

local function dropOldest(c, gone)
  if gone <= 0 then return end
  for i = 1, #c do c[i] = c[i + gone] end
end

local function dropExpired(c, now) dropOldest(c, expired(c, now)) end

local function waitMs(c, now, cost)
  local gone = expired(c, now)
  local tooMany = #c - gone + cost - capacity
  if cost == 0 or tooMany <= 0 then return 0 end
  if cost > capacity then return huge end
  local lastToGo = c[gone + tooMany]
  return wholeMsUntil(lastToGo + windowMs, now)
end

local function spend(c, now, cost)
  if cost == 0 then return end
  dropExpired(c, now)
  local time = max(now, c[#c] or now)
  for _ = 1, min(cost, room) do c[#c + 1] = time end
  dropOldest(c, #c - room)
end

local function remaining(c, now) return max(0, capacity - (#c - expired(c, now))) end

local function resetAfterMs(c, now)
  if #c == expired(c, now) then return 0 end
  return c[#c] + windowMs - now
end
