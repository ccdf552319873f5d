import type { Script } from '@sluice/limiter-core'
import { channelOnce } from './channel-once.ts'

/**
 * Adds a batch of amounts to sums, once, and answers the sums that changed since. Every change has a version, so that
 * a reader stands between two of them.
 *
 * KEYS: the two of `channelOnce`; the sums; the version of the last change of each. ARGV: its six; how many sums an
 * answer may have; then of each sum its name and what to add.
 *
 * Answers the birth of the sums, where the reader stands now, 1 where what it knows is no more, 1 where there is more;
 * then of each sum its name and value.
 */
export const channelSums: Script = {
  name: 'channel-sums',
  text: `${channelOnce}
local sums, versions = KEYS[3], KEYS[4]
local version = tonumber(redis.call('HGET', KEYS[2], 'version') or 0)
if position == '0-0' then position = '0' end
-- a replica that took over had not got all of it yet
if tonumber(position) > version then position, reborn = '0', true end

if fresh then
  count()
  -- versions follow the time, so that they go up also where a replica took over
  version = math.max(version, time[1] * 1000000 + time[2])
  for at = 8, #ARGV, 2 do
    version = version + 1
    -- one that would overflow stays what it is, and stops none of the others
    redis.pcall('HINCRBY', sums, ARGV[at], ARGV[at + 1])
    redis.call('ZADD', versions, version, ARGV[at])
  end
  redis.call('HSET', KEYS[2], 'version', string.format('%.0f', version))
  redis.call('PEXPIRE', sums, keptMs)
  redis.call('PEXPIRE', versions, keptMs)
end

local reply = { born, position, reborn and 1 or 0, 0 }
if not wanted then return reply end
local most = tonumber(ARGV[7])
local changed = redis.call('ZRANGE', versions, '(' .. position, '+inf', 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
if #changed == 0 then return reply end
local names = {}
for at = 1, #changed, 2 do names[#names + 1] = changed[at] end
local values = redis.call('HMGET', sums, unpack(names))
for at, name in ipairs(names) do
  reply[#reply + 1] = name
  reply[#reply + 1] = values[at]
end
reply[2] = changed[#changed]
reply[4] = #names == most and 1 or 0
return reply
`,
}
