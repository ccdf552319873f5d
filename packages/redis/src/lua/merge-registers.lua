-- Merges registers into those of a day: at each place the larger character stays. Merging some twice is merging them once,
-- so whatever is lost, late or doubled may be sent again, and needs no number.
--
-- KEYS: the day. ARGV: how long it is kept from now on, in ms; how many names a day has at most; then names and their
-- registers, by turns. Where a name has registers of another length, those that come take their place.
--
-- Answers what is kept of each name then; of one for which there is no room, what came.

local day, names = KEYS[1], redis.call('HLEN', KEYS[1])
local most = tonumber(ARGV[2])
local AT_ONCE = 256

local function larger(kept, given)
  local parts = {}
  for from = 1, #kept, AT_ONCE do
    local part, other = kept:sub(from, from + AT_ONCE - 1), given:sub(from, from + AT_ONCE - 1)
    if part ~= other then
      local bytes, others = { part:byte(1, -1) }, { other:byte(1, -1) }
      for place = 1, #bytes do
        if others[place] > bytes[place] then bytes[place] = others[place] end
      end
      part = string.char(unpack(bytes))
    end
    parts[#parts + 1] = part
  end
  return table.concat(parts)
end

local merged = {}
for at = 3, #ARGV, 2 do
  local name, given = ARGV[at], ARGV[at + 1]
  local kept = redis.call('HGET', day, name)
  local now = given
  if kept and #kept == #given and kept ~= given then now = larger(kept, given) end
  if now ~= kept and (kept or names < most) then
    redis.call('HSET', day, name, now)
    if not kept then names = names + 1 end
  end
  merged[#merged + 1] = now
end
redis.call('PEXPIRE', day, ARGV[1])
return merged
