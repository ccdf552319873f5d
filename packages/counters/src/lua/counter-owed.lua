-- Reports the units of this partition that the ledger does not have, for metrics. Changes nothing.
--
-- Returns the number of owed ids, the age of the oldest owed unit in ms, and the sum of differences between owed units
-- and units that are pending or closed, which is 0 unless units were lost or duplicated.

local oldest = now
for _, since in ipairs(call('HMGET', state, 'since', 'closedSince')) do
  if since then oldest = math.min(oldest, tonumber(since)) end
end
local units = {}
local function add(key, sign)
  local amounts = call('HGETALL', key)
  for i = 1, #amounts, 2 do units[amounts[i]] = (units[amounts[i]] or 0) + sign * amounts[i + 1] end
end
add(owed, 1)
add(pending, -1)
add(closed, -1)
local difference = 0
for _, amount in pairs(units) do difference = difference + math.abs(amount) end
return { text(call('HLEN', owed)), text(now - oldest), text(difference) }
