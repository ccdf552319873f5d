/**
 * `INCREX` for integers, as https://redis.io/commands/increx and https://valkey.io/commands/increx document it.
 *
 * KEYS: the key. ARGV: a time in ms that replaces the clock of the server, or ''; then the arguments of the command.
 * With a replaced clock, keys expire 2^50 ms later, so that the real server never deletes them.
 */
export const INCREX = `
local key, now = KEYS[1], tonumber(ARGV[1])
local by, low, high, saturate, enx, expiry = 1, -2^53, 2^53, false, false, nil
local offset = now and 2^50 or 0
local at = 2
local function number()
  at = at + 1
  return tonumber(ARGV[at])
end
while at <= #ARGV do
  local word = string.upper(ARGV[at])
  if word == 'BYINT' then by = number()
  elseif word == 'LBOUND' then low = number()
  elseif word == 'UBOUND' then high = number()
  elseif word == 'SATURATE' then saturate = true
  elseif word == 'ENX' then enx = true
  elseif word == 'EX' or word == 'PX' or word == 'EXAT' or word == 'PXAT' then
    expiry = { relative = string.sub(word, -2) ~= 'AT', ms = number() }
    if expiry.ms and string.sub(word, 1, 1) == 'E' then expiry.ms = expiry.ms * 1000 end
    if not expiry.ms then return redis.error_reply('ERR value is not an integer or out of range') end
  elseif word == 'PERSIST' then expiry = { persist = true }
  else return redis.error_reply('ERR syntax error') end
  at = at + 1
end
if not (by and low and high) then return redis.error_reply('ERR value is not an integer or out of range') end
if enx and not (expiry and expiry.ms) then return redis.error_reply('ERR syntax error') end

local expiresAt = redis.call('PEXPIRETIME', key)
-- a key still exists in the millisecond at which it expires
local isGone = now and expiresAt >= offset and expiresAt - offset < math.floor(now)
local value = not isGone and redis.call('GET', key)
if value and (not string.match(value, '^-?%d+$') or #value > 18) then
  return redis.error_reply('ERR value is not an integer or out of range')
end
local before = tonumber(value or '0')
local after = before + by
if after < low or after > high then
  if not saturate then return { before, 0 } end
  after = math.max(low, math.min(high, after))
end
if isGone then redis.call('DEL', key) end
redis.call('SET', key, string.format('%.0f', after), 'KEEPTTL')
if expiry and expiry.persist then redis.call('PERSIST', key)
elseif expiry and not (enx and redis.call('PEXPIRETIME', key) >= 0) then
  if not expiry.relative then redis.call('PEXPIREAT', key, string.format('%.0f', expiry.ms))
  elseif now then redis.call('PEXPIREAT', key, string.format('%.0f', math.floor(now) + expiry.ms + offset))
  else redis.call('PEXPIRE', key, string.format('%.0f', expiry.ms)) end
end
return { after, after - before }
`
