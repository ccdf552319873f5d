-- Divides learned limits between processes, which decide by their own shares. Each key is a hash: the field `limit`, and
-- one field for each process. A process reports the share that it applies and the places that it holds; the larger one is
-- what it may still use (`used`). It gets a larger share only from places that no process may use, so the sum of all
-- shares stays within the limit while shares move: a process first learns that its share is smaller, and the places are
-- free when it has reported that.
--
-- `limit`: the limit; the one before it; its version; 1 when all processes apply it, otherwise 0; the process that learns
-- it, or `-`; until when it does; until when no share grows because the records of some processes are lost; until when
-- no share grows unless all processes have returned after an outage.
-- Of a process: the number of its last report; places that it may use; share; places that it wants; places of long work,
-- which are added to the limit; places that it uses when it is cut off from the server; end of its lease; version of the
-- limit last sent to it; version and text of its samples.
--
-- A process whose lease has ended keeps the last reserve that it received for ten minutes, because it may be cut off.
-- Of such processes, at most as many are counted as there are others.
--
-- KEYS: one hash per key of a cap.
-- ARGV: the deadline or time, as in `exact-head`; duration of a lease in ms; then for each key: process; number of the
-- report; share that the process applies; places that it holds; places of long work; places that it wants; 1 if it
-- leaves, otherwise 0; the limit that it knows and its version, 0 if none; a new limit, 0 if none; largest limit; limit
-- before anything has been learned; text of its samples, without spaces.
--
-- Returns 1 if the call was late and did nothing, otherwise 0; the time; then for each key 11 elements: the share, or the
-- error of this key; the reserve; the limit; its version; 1 if all processes apply it; 1 if this process learns the
-- limit; the number of processes; 1 if a process wants more than its share; 1 if this process will get more; the places
-- of processes that may be cut off; and, for the process that learns, the samples of all processes, separated by `|`.

local RESERVED_MS = 600000
-- a process that learns the limit reports more often than this
local LEADS_MS = 1500
-- processes without a place get one in turns of this time
local TURN_MS = 1000
local floor, ceil, min, max, huge = math.floor, math.ceil, math.min, math.max, math.huge
local format, match = string.format, string.match
local time = redis.call('TIME')
local clock = time[1] * 1000 + time[2] / 1000
local given = match(ARGV[1], '^=(.*)$')
local now = tonumber(given) or clock
-- with another clock, keys must not expire early by the server's clock: they live ten minutes longer
local spare = given and 600000 or 0
local lease, process = tonumber(ARGV[2]), nil
local deadline = tonumber(ARGV[1])
if deadline and clock > deadline then return { 1, format('%.3f', clock) } end
local reply = { 0, format('%.3f', clock) }
local at = 4

local function processOf(id, value)
  local number, used, share, wanted, long, reserve, ends, told, version, samples =
    match(value, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S*)$')
  if not ends then return nil end
  return {
    id = id, number = tonumber(number), used = tonumber(used), share = tonumber(share), wanted = tonumber(wanted),
    long = tonumber(long), reserve = tonumber(reserve), ends = tonumber(ends), told = tonumber(told), version = version,
    samples = samples,
  }
end

-- reads a key: its limit, the other processes and the record of this one. Returns nil and the error if that fails
local function read(key)
  local fields = redis.pcall('HGETALL', key)
  if fields.err then return nil, fields.err end
  local state, gone = { others = {}, vanished = {} }, {}
  for i = 1, #fields, 2 do
    local field, value = fields[i], fields[i + 1]
    local one = processOf(field, value)
    if field == 'limit' then
      local limit, last, version, settled, leader, leads, lost, outage =
        match(value, '^(%d+) (%d+) (%d+) ([01]) (%S+) (%d+) (%d+) (%d+)$')
      if outage then
        state.limit, state.last = tonumber(limit), tonumber(last)
        state.version, state.settled = tonumber(version), settled == '1'
        state.leader, state.leads, state.lost, state.outage = leader, tonumber(leads), tonumber(lost), tonumber(outage)
      end
    elseif not one or one.ends + RESERVED_MS <= now then gone[#gone + 1] = field
    elseif field == process then state.own = one
    elseif one.ends > now then state.others[#state.others + 1] = one
    else state.vanished[#state.vanished + 1] = one end
  end
  for _, field in ipairs(gone) do
    local dropped = redis.pcall('HDEL', key, field)
    if type(dropped) == 'table' then return nil, dropped.err end
  end
  return state
end

-- places of processes that may be cut off, the last ones to report first
local function reservedOf(vanished, count)
  table.sort(vanished, function(a, b) return a.ends > b.ends end)
  local places = 0
  for i = 1, min(count, #vanished) do places = places + vanished[i].reserve end
  return places
end

-- the share of each process by its id, and the part of it that it wants: max-min fair by what they want, and what is
-- left in equal parts
local function divided(all, places)
  local shares, wishes, wishing = {}, {}, {}
  local least = places >= #all and 1 or 0
  for _, one in ipairs(all) do
    shares[one.id], wishes[one.id] = 0, 0
    one.wish = max(least, one.wanted)
    if one.wish > 0 then wishing[#wishing + 1] = one end
  end
  if #wishing > places then
    table.sort(wishing, function(a, b) return a.id < b.id end)
    local first = floor(now / TURN_MS) * places % #wishing
    for i = 0, places - 1 do
      local id = wishing[(first + i) % #wishing + 1].id
      shares[id], wishes[id] = 1, 1
    end
    return shares, wishes
  end
  -- twice: among processes that want too much, it must not matter how much, or single places would move all the time
  local most, left = huge, places
  for _ = 1, 2 do
    for _, one in ipairs(all) do one.wish = min(one.wish, most) end
    table.sort(all, function(a, b) return a.wish < b.wish or (a.wish == b.wish and a.id < b.id) end)
    most, left = 0, places
    for i, one in ipairs(all) do
      wishes[one.id] = min(one.wish, floor(left / (#all - i + 1)))
      left = left - wishes[one.id]
      most = max(most, wishes[one.id])
    end
  end
  for i, one in ipairs(all) do
    local more = floor(left / (#all - i + 1))
    shares[one.id] = wishes[one.id] + more
    left = left - more
  end
  return shares, wishes
end

-- what the process may hold from now on, and whether it will get more
local function shareOf(state, own, applied, places)
  local all, used = { own }, 0
  for _, one in ipairs(state.others) do
    all[#all + 1] = one
    used = used + one.used
  end
  local shares, wishes = divided(all, places)
  local target, isScarce = shares[process], used + own.used > places
  for _, one in ipairs(state.others) do isScarce = isScarce or wishes[one.id] > one.used end
  if now < state.lost or (now < state.outage and #state.vanished > 0) then
    return isScarce and min(applied, target) or applied, target > applied
  end
  if target >= own.used then
    local share = max(own.used, min(target, places - used))
    return share, share < target
  end
  return isScarce and target or max(target, applied), false
end

local function texts(state, own)
  local list = {}
  for _, one in ipairs({ own, unpack(state.others) }) do
    if one.version == own.version and one.samples ~= '' then list[#list + 1] = one.samples end
  end
  return table.concat(list, '|')
end

-- stores the limit and the record of this process; returns the error, if any
local function write(key, state, own)
  local done
  local limit = format('%.0f %.0f %.0f %d %s %.0f %.0f %.0f', state.limit, state.last, state.version,
    state.settled and 1 or 0, state.leader, state.leads, state.lost, state.outage)
  if own then
    done = redis.pcall('HSET', key, 'limit', limit, process, format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %s',
      own.number, own.used, own.share, own.wanted, own.long, own.reserve, own.ends, state.version, own.version,
      own.samples))
  else
    done = redis.pcall('HDEL', key, process)
    if type(done) ~= 'table' then done = redis.pcall('HSET', key, 'limit', limit) end
  end
  if type(done) == 'table' then return done.err end
  done = redis.pcall('PEXPIRE', key, format('%.0f', lease + RESERVED_MS + spare))
  return type(done) == 'table' and done.err or nil
end

local function change(state, limit)
  state.limit, state.last = limit, state.limit
  state.version, state.settled = state.version + 1, false
end

-- a process learns the limit from now on. The one before may have lowered it only to measure something
local function lead(state)
  state.leader = process
  if state.last > state.limit then change(state, state.last) end
end

local function begin(state, known, initial)
  state.limit, state.version, state.settled = known > 0 and known or initial, floor(now), false
  state.last = state.limit
  state.leader, state.leads, state.lost, state.outage = '-', 0, 0, 0
end

for _, key in ipairs(KEYS) do
  process = ARGV[at - 1]
  local number, applied, held, long, wanted = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]),
    tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  local leaves, known, version, new = ARGV[at + 5] == '1', tonumber(ARGV[at + 6]), tonumber(ARGV[at + 7]),
    tonumber(ARGV[at + 8])
  local most, initial, samples = tonumber(ARGV[at + 9]), tonumber(ARGV[at + 10]), ARGV[at + 11]
  local state, failure = read(key)
  local before = state and state.own
  if before and before.number >= number then failure = 'STALE a later report of this process has arrived' end
  if failure then
    reply[#reply + 1] = failure
    for _ = 2, 11 do reply[#reply + 1] = 0 end
  else
    if not state.version then begin(state, known, initial) end
    if new > 0 and state.leader == process and state.version == version then
      change(state, new)
    end
    if not before and known > 0 and not leaves then state.lost = ceil(now) + lease end
    if before and before.ends <= now then state.outage = ceil(now) + lease end
    if leaves and state.leader == process then state.leader, state.leads = '-', 0 end
    if not leaves and state.leads <= now then lead(state) end
    if state.leader == process then state.leads = ceil(now) + LEADS_MS end
    local own, count = nil, #state.others
    local isMore, reserved, share, reserve, isWanting = false, 0, 0, 0, false
    if not leaves then
      count = count + 1
      own = { id = process, number = number, used = max(applied, held), wanted = wanted, long = long, version = version }
      own.samples, own.ends = samples, ceil(now) + lease
      local total, used = state.limit + long, own.used
      for _, one in ipairs(state.others) do total = total + one.long end
      total = min(most, total)
      reserved = reservedOf(state.vanished, count)
      share, isMore = shareOf(state, own, applied, max(0, total - reserved))
      local equal = floor(total / (count + min(count, #state.vanished)))
      reserve = min(share, max(1, floor(equal / 2)))
      own.used, own.share, own.reserve = max(own.used, share), share, reserve
      used, isWanting = own.used, wanted > share
      local areTold = true
      for _, one in ipairs(state.others) do
        used, isWanting = used + one.used, isWanting or one.wanted > one.share
        areTold = areTold and (one.told == state.version or one.wanted == 0)
      end
      state.settled = state.settled or (areTold and used + reserved <= total)
    end
    failure = write(key, state, own)
    local leads = own and state.leader == process
    if own then own.version = format('%.0f', state.version) end
    reply[#reply + 1] = failure or share
    reply[#reply + 1] = reserve
    reply[#reply + 1] = state.limit
    reply[#reply + 1] = format('%.0f', state.version)
    reply[#reply + 1] = state.settled and 1 or 0
    reply[#reply + 1] = leads and 1 or 0
    reply[#reply + 1] = count
    reply[#reply + 1] = isWanting and 1 or 0
    reply[#reply + 1] = isMore and 1 or 0
    reply[#reply + 1] = reserved
    reply[#reply + 1] = leads and version == state.version and texts(state, own) or ''
  end
  at = at + 13
end
return reply
