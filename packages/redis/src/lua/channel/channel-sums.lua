-- Adds a batch of amounts to sums, once, and returns the sums that have changed since. Every change has a version; the
-- position of a reader is the last version that it has received.
--
-- Each batch also deletes some sums: those that have not changed for as long as a topic is kept, and the oldest ones if
-- there are too many. They are deleted in the order of their versions, so that one version (`forgotten`) shows readers
-- which sums are gone.
--
-- KEYS: the two keys of `channel-once`; hash of the sums; sorted set of the version of each sum.
-- ARGV: the seven arguments of `channel-once`; maximum number of sums in a reply; maximum number of sums; then the name
-- and the amount of each sum.
--
-- Returns the birth of the sums, the new position of the reader, 1 if the reader must discard its values, 1 if there
-- are more; then the version up to which sums were deleted, and the name, value and version of each changed sum.

local sums, versions = KEYS[3], KEYS[4]
local most, atMost = tonumber(ARGV[8]), tonumber(ARGV[9])
local topic = redis.call('HMGET', KEYS[2], 'version', 'forgotten')
local version, forgotten = tonumber(topic[1] or 0), tonumber(topic[2] or 0)
if position == '0-0' then position = '0' end
-- a replica that was promoted had not received all changes
if tonumber(position) > version then position, reborn = '0', true end
-- versions are at least the time in microseconds, so that they increase even after the promotion of a replica
local now = time[1] * 1000000 + time[2]
local expired = now - keptMs * 1000

-- deletes the oldest sums: those up to the version `upTo`, and at least `count`, but at most `most` per call. Returns
-- true if the maximum was reached, so that more may be left
local function forget(upTo, count)
  local first = redis.call('ZRANGE', versions, 0, 0, 'WITHSCORES')
  if not first[1] or (tonumber(first[2]) > upTo and count <= 0) then return false end
  local oldest, gone = redis.call('ZRANGE', versions, 0, most - 1, 'WITHSCORES'), {}
  for at = 1, #oldest, 2 do
    local changed = tonumber(oldest[at + 1])
    if changed > upTo and #gone >= count then break end
    gone[#gone + 1] = oldest[at]
    forgotten = changed
  end
  redis.call('HDEL', sums, unpack(gone))
  redis.call('ZREM', versions, unpack(gone))
  return #gone == most
end

if fresh then
  count()
  version = math.max(version, now)
  local someLeft = forget(expired, 0)
  for at = 10, #ARGV, 2 do
    local name = ARGV[at]
    if someLeft and tonumber(redis.call('ZSCORE', versions, name) or now) <= expired then
      redis.call('HDEL', sums, name)
    end
    version = version + 1
    -- `pcall`, because the overflow of one sum must not prevent the changes of the other sums
    redis.pcall('HINCRBY', sums, name, ARGV[at + 1])
    redis.call('ZADD', versions, version, name)
  end
  forget(0, redis.call('ZCARD', versions) - atMost)
  redis.call('HSET', KEYS[2], 'version', string.format('%.0f', version), 'forgotten', string.format('%.0f', forgotten))
  redis.call('PEXPIRE', sums, keptMs)
  redis.call('PEXPIRE', versions, keptMs)
end

local reply = { born, position, reborn and 1 or 0, 0, string.format('%.0f', forgotten) }
if not wanted then return reply end
local from = string.format('(%.0f', math.max(tonumber(position), expired))
local changed = redis.call('ZRANGE', versions, from, '+inf', 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
if #changed == 0 then return reply end
local names = {}
for at = 1, #changed, 2 do names[#names + 1] = changed[at] end
local values = redis.call('HMGET', sums, unpack(names))
for at, name in ipairs(names) do
  reply[#reply + 1] = name
  reply[#reply + 1] = values[at]
  reply[#reply + 1] = changed[2 * at]
end
reply[2] = changed[#changed]
reply[4] = #names == most and 1 or 0
return reply
