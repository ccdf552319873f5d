-- Returns the texts of all records that have not ended.
--
-- KEYS: hash of the texts; sorted set of the ends, in ms since 1970.

local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local AT_ONCE = 1000
local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. string.format('%d', now), '+inf')
local texts = {}
for from = 1, #ids, AT_ONCE do
  local found = redis.call('HMGET', KEYS[1], unpack(ids, from, math.min(from + AT_ONCE - 1, #ids)))
  for _, text in ipairs(found) do
    if text then texts[#texts + 1] = text end
  end
end
return texts
