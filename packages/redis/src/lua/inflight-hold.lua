-- Records how many places a process holds of some keys, and grants more. Each key is a hash with one field per process:
-- `places end`, where `end` is the end of its lease in ms of server time. A report replaces the previous report, so the
-- next call repairs a lost call or a server that has lost its data.
--
-- A process that receives fewer places than it requested has a second field, `waits:process`, with five numbers: the
-- places that it lacks; the places of its smallest request; since when it waits; when it last called; the time between
-- its calls (0 after the first call). As long as it can be expected to call again, processes that hold more places
-- leave free places to it, and so do processes that hold as many but have not waited as long. The result is a max-min
-- fair division of the places. A process that releases places and requests as many in the same call leaves them to
-- waiting processes; any other process leaves a place free for at most its patience.
--
-- KEYS: one hash per key of a cap.
-- ARGV: the deadline or time, as in `exact-head`; process; duration of a lease in ms; then for each key: held places; 1
-- if their lease may have expired, otherwise 0; limit; patience in ms, or -1 if the process does not wait; number of runs
-- of requests with the same weight; for each run the weight and the number of requests.
--
-- Returns 1 if the call was late and did nothing, otherwise 0; the time; then for each key: the number of held places
-- that the process keeps, or the error of this key; the places of all processes; for each run the number of granted
-- requests.

-- a process that calls less often does not count as waiting; denied clients retry after one second
local WAITS_MS = 2000
-- time for which the next call of a waiting process is expected at least, even if it calls more often
local LATE_MS = 5
local floor, ceil, min, max, format, match = math.floor, math.ceil, math.min, math.max, string.format, string.match
local time = redis.call('TIME')
local clock = time[1] * 1000 + time[2] / 1000
local given = match(ARGV[1], '^=(.*)$')
local now = tonumber(given) or clock
-- with another clock, keys must not expire early by the server's clock: they live ten minutes longer
local spare = given and 600000 or 0
local process, lease = ARGV[2], tonumber(ARGV[3])
local deadline = tonumber(ARGV[1])
if deadline and clock > deadline then return { 1, format('%.3f', clock) } end
local reply = { 0, format('%.3f', clock) }
local at = 4

local function waitOf(value)
  local lacks, least, since, asked, every = match(value, '^(%d+) (%d+) (%d+%.%d+) (%d+%.%d+) (%d+%.%d+)$')
  if not asked or now < tonumber(asked) or now >= asked + WAITS_MS then return nil end
  return {
    lacks = tonumber(lacks), least = tonumber(least), since = tonumber(since), asked = tonumber(asked),
    every = tonumber(every),
  }
end

-- reads a key: the places of other processes (`places`) and of this one (`before`), the waiting processes, and the time
-- when the last entry ends. Deletes expired and unknown fields. Returns nil and the error if that fails
local function read(key)
  local fields = redis.pcall('HGETALL', key)
  if fields.err then return nil, fields.err end
  local state, held, gone = { places = 0, before = 0, last = 0, waits = {} }, {}, {}
  for i = 1, #fields, 2 do
    local field, value = fields[i], fields[i + 1]
    local waiter = match(field, '^waits:(.*)$')
    local wait = waiter and waitOf(value)
    local units, ends = match(value, '^(%d+) (%d+)$')
    if wait then
      wait.process = waiter
      state.waits[#state.waits + 1] = wait
      state.last = max(state.last, wait.asked + WAITS_MS)
    elseif field == process then
      state.before = tonumber(units or 0)
    elseif ends and not waiter and tonumber(ends) > now then
      held[field] = tonumber(units)
      state.places = state.places + held[field]
      state.last = max(state.last, tonumber(ends))
    else
      gone[#gone + 1] = field
    end
  end
  for _, wait in ipairs(state.waits) do
    wait.held = held[wait.process] or 0
    if wait.process == process then state.own = wait end
  end
  for _, field in ipairs(gone) do
    local dropped = redis.pcall('HDEL', key, field)
    if type(dropped) == 'table' then return nil, dropped.err end
  end
  return state
end

-- waiting processes, other than this one, whose next call can be expected within the patience
local function expected(waits, patience)
  local list = {}
  for _, wait in ipairs(waits) do
    local elapsed = now - wait.asked
    local soon = elapsed < patience and elapsed < max(2 * wait.every, LATE_MS)
    if soon and wait.every > 0 and wait.process ~= process then list[#list + 1] = wait end
  end
  return list
end

-- number of places to leave to waiting processes before a process with `held` places, waiting since `since`, gets more
local function leftTo(waits, held, since)
  local places = 0
  for _, wait in ipairs(waits) do
    local short = held - wait.held + (wait.since <= since and 1 or 0)
    if short > 0 then places = places + min(wait.lacks, max(wait.least, short)) end
  end
  return places
end

-- number of requests of the same weight that are granted
local function fitting(waits, free, held, since, weight, count)
  local fewest, most = 0, max(0, min(count, floor(free / weight)))
  if #waits == 0 then return most end
  while fewest < most do
    local some = ceil((fewest + most) / 2)
    local left = leftTo(waits, held + (some - 1) * weight, some == 1 and since or now)
    if some * weight + left <= free then fewest = some else most = some - 1 end
  end
  return fewest
end

-- value to store for a process that lacks places. Its wait starts again after a grant
local function waitNow(own, served, lacks, least)
  local every = own and now - own.asked or 0
  -- a moving average that increases at once and decreases slowly
  if own then every = max(every, (3 * own.every + every) / 4) end
  local since = own and not served and own.since or now
  return format('%.0f %.0f %.3f %.3f %.3f', lacks, least, since, now, every)
end

-- stores the places of this process; returns the error, if any. `wait`: value of its `waits:` field; false to delete
-- the field; nil to leave it unchanged
local function write(key, state, places, wait)
  local done
  if places == 0 then done = redis.pcall('HDEL', key, process)
  else
    local ends = ceil(now) + lease
    done = redis.pcall('HSET', key, process, format('%.0f %.0f', places, ends))
    state.last = max(state.last, ends)
  end
  if type(done) == 'table' then return done.err end
  -- errors are ignored: the denial is valid even if the wait cannot be stored because memory is full
  if wait and type(redis.pcall('HSET', key, 'waits:' .. process, wait)) == 'number' then
    state.last = max(state.last, now + WAITS_MS)
  elseif wait == false then redis.pcall('HDEL', key, 'waits:' .. process) end
  -- after a release the expiry of the key can stay as it is, unless only waiting processes are left
  if state.last == 0 or (places == 0 and state.places > 0 and not wait) then return nil end
  done = redis.pcall('PEXPIRE', key, format('%.0f', ceil(state.last - now) + spare))
  return type(done) == 'table' and done.err or nil
end

for _, key in ipairs(KEYS) do
  local held, limit, patience = tonumber(ARGV[at]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local wishes = tonumber(ARGV[at + 4])
  local state, failure = read(key)
  local kept, total, granted = held, 0, {}
  if not failure then
    if ARGV[at + 1] == '1' then kept = min(held, max(0, limit - state.places)) end
    total = state.places + kept
    local waits = expected(state.waits, state.before > held and WAITS_MS or patience)
    local since, lacks, least = state.own and state.own.since or now, 0, limit
    for wish = 1, wishes do
      local weight, count = tonumber(ARGV[at + 3 + 2 * wish]), tonumber(ARGV[at + 4 + 2 * wish])
      granted[wish] = fitting(waits, limit - total, total - state.places, since, weight, count)
      total = total + granted[wish] * weight
      if granted[wish] > 0 then since = now end
      if granted[wish] < count then
        lacks, least = lacks + (count - granted[wish]) * weight, min(least, weight)
      end
    end
    local wait
    if lacks > 0 and patience >= 0 then wait = waitNow(state.own, since == now, lacks, least)
    elseif wishes > 0 and state.own then wait = false end
    failure = write(key, state, total - state.places, wait)
  end
  reply[#reply + 1] = failure or kept
  reply[#reply + 1] = failure and 0 or total
  for wish = 1, wishes do reply[#reply + 1] = failure and 0 or granted[wish] end
  at = at + 5 + 2 * wishes
end
return reply
