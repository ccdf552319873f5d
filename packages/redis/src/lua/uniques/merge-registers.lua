-- Merges HyperLogLog registers into the registers of a day by keeping the larger character at each position. Merging is
-- idempotent, so calls can be repeated safely.
--
-- KEYS: hash of the day.
-- ARGV: ms after which the hash expires; maximum number of names per day; then the name and the registers of each
-- entry. Registers replace stored registers of a different length.
--
-- Returns the merged registers of each entry; if the maximum number of names is reached, the received registers.

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
