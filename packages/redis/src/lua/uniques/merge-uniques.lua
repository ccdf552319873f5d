-- Merges a HyperLogLog into the shared one. Merging is idempotent, so calls can be repeated safely.
--
-- KEYS: the HyperLogLog; its birth (a unique string that is created with it); two temporary keys, deleted at the end.
-- ARGV: writer; expiry time in ms of server time, or 0; if it is 0, ms until expiry; the HyperLogLog to merge, as
-- latin1 characters, or ''.
--
-- Returns the birth, or '' if the HyperLogLog does not exist; the count; the server time in ms.

local uniques, birth, given, wide = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local untilMs, livesMs = tonumber(ARGV[2]), tonumber(ARGV[3])
local bytes = redis.call('STRLEN', uniques)
local born = bytes > 0 and redis.call('GET', birth) or ''

local function expire()
  local at = string.format('%.0f', untilMs > 0 and untilMs or now + livesMs)
  redis.call('PEXPIREAT', uniques, at)
  redis.call('PEXPIREAT', birth, at)
end

-- decodes a character above 127, which clients encode as two bytes of UTF-8
local function byte(two)
  local first, second = string.byte(two, 1, 2)
  return string.char((first - 194) * 64 + second)
end

if ARGV[4] ~= '' then
  local news = string.gsub(ARGV[4], '[\194\195][\128-\191]', byte)
  redis.call('SET', given, news, 'PX', 60000)
  local merged
  if bytes + #news < 600 or bytes == 12304 or #news == 12304 then
    merged = redis.pcall('PFMERGE', uniques, given)
  else
    -- merging into the sparse form walks it from the start for each register, so an empty dense HyperLogLog is merged
    -- too, which makes the result dense
    redis.call('SET', wide, 'HYLL' .. string.rep('\0', 12300), 'PX', 60000)
    merged = redis.pcall('PFMERGE', uniques, given, wide)
  end
  redis.call('DEL', given, wide)
  if merged.err then return merged end
  if born == '' then
    born = time[1] .. '.' .. time[2] .. '.' .. ARGV[1]
    redis.call('SET', birth, born)
  end
  expire()
elseif untilMs == 0 and bytes > 0 and redis.call('PTTL', uniques) < livesMs / 2 then
  expire()
end
return { born, redis.call('PFCOUNT', uniques), now }
