import type { Script } from '@sluice/limiter-core'

/**
 * A process says of some keys how many places it holds, and asks for more. One hash a key: a field for each process,
 * `places end`, with the end of its lease in ms of the server. What it says replaces what it said before, so that a
 * call that was lost, or a server that lost all, is made good by the next one.
 *
 * KEYS: one a cap and key. ARGV: deadline (ms of the server, or nothing), time (ms instead of the server's, or
 * nothing), process, lease (ms); then for each key: places held, 1 where its lease may have run out, limit, number of
 * wishes, and for each wish the places it takes and how many alike there are.
 *
 * Answers 1 if it came too late and did nothing, else 0, and the time; then for each key: the places that are kept of
 * those held (or the error of this key), the places of all processes, and for each wish how many were granted.
 */
export const inflightHold: Script = {
  name: 'inflight-hold',
  text: `
local told = redis.call('TIME')
local clock = told[1] * 1000 + told[2] / 1000
local now = tonumber(ARGV[2]) or clock
-- under a time that is not the server's, keys outlive their leases by ten minutes
local spare = ARGV[2] == '' and 0 or 600000
local process, lease = ARGV[3], tonumber(ARGV[4])
local deadline = tonumber(ARGV[1])
if deadline and clock > deadline then return { 1, string.format('%.3f', clock) } end
local reply = { 0, string.format('%.3f', clock) }
local at = 5

-- the places of others and the last end of their leases; fields that ran out, and those that are none of ours, go
local function others(key)
  local fields = redis.pcall('HGETALL', key)
  if fields.err then return nil, nil, fields.err end
  local places, last = 0, 0
  for i = 1, #fields, 2 do
    local units, ends = string.match(fields[i + 1], '^(%d+) (%d+)$')
    if fields[i] ~= process then
      if ends and tonumber(ends) > now then
        places = places + tonumber(units)
        last = math.max(last, tonumber(ends))
      else
        local dropped = redis.pcall('HDEL', key, fields[i])
        if type(dropped) == 'table' then return nil, nil, dropped.err end
      end
    end
  end
  return places, last
end

local function hold(key, places, last)
  if places == 0 then return redis.pcall('HDEL', key, process) end
  local ends = math.ceil(now) + lease
  local done = redis.pcall('HSET', key, process, string.format('%.0f %.0f', places, ends))
  if type(done) == 'table' then return done end
  return redis.pcall('PEXPIRE', key, string.format('%.0f', math.ceil(math.max(last, ends) - now) + spare))
end

for _, key in ipairs(KEYS) do
  local held, limit, wishes = tonumber(ARGV[at]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local place, last, failure = others(key)
  local kept, total, granted = held, 0, {}
  if not failure then
    if ARGV[at + 1] == '1' then kept = math.min(held, math.max(0, limit - place)) end
    total = place + kept
    for wish = 1, wishes do
      local weight, count = tonumber(ARGV[at + 2 + 2 * wish]), tonumber(ARGV[at + 3 + 2 * wish])
      granted[wish] = math.max(0, math.min(count, math.floor((limit - total) / weight)))
      total = total + granted[wish] * weight
    end
    local done = hold(key, total - place, last)
    if type(done) == 'table' then failure = done.err end
  end
  reply[#reply + 1] = failure or kept
  reply[#reply + 1] = failure and 0 or total
  for wish = 1, wishes do reply[#reply + 1] = failure and 0 or granted[wish] end
  at = at + 4 + 2 * wishes
end
return reply
`,
}
