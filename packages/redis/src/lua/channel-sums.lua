-- Adds a batch of amounts to sums, once, and returns the sums that have changed since. Every change has a version, and
-- the position of a reader is between two versions. Sums that have not changed for as long as a topic is kept are
-- deleted, and the oldest ones if there are too many: some with each batch, in the order of their versions, so that one
-- version describes everything deleted.
--
-- KEYS: the two of `channel-once`; the sums; the version of the last change of each. ARGV: its seven; most sums in a
-- reply; most sums in total; then name and amount of each sum.
--
-- Returns the birth of the sums, the reader's new position, 1 if its knowledge is outdated, 1 if there is more; then
-- the version up to which sums were deleted, and name, value and version of each sum.

local sums, versions = KEYS[3], KEYS[4]
local most, atMost = tonumber(ARGV[8]), tonumber(ARGV[9])
local topic = redis.call('HMGET', KEYS[2], 'version', 'forgotten')
local version, forgotten = tonumber(topic[1] or 0), tonumber(topic[2] or 0)
if position == '0-0' then position = '0' end
-- a replica that took over had not received all of it
if tonumber(position) > version then position, reborn = '0', true end
-- versions follow the time, so that they also increase after a replica took over
local now = time[1] * 1000000 + time[2]
local expired = now - keptMs * 1000

-- the oldest, up to a version or so many, and no more at a time than a batch has. True where some are left
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
    -- a sum that would overflow stays unchanged, and does not stop the others
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
