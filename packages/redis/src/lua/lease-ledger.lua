-- The lease ledger, with the same results as `MemoryLedger`.
--
-- KEYS: for each request its cells, as in the exact backend, and its leases; then the keys of reports. The leases are seven doubles per owner:
-- owner, leased units, end of the lease, seq, base, units charged since base, and the units that were charged when the
-- lease ended without a report (`settled`).
-- ARGV: the arguments of `exact-head` and `make-good`; fraction; then for each request:
--   number of its policy, and on its first use its algorithm and constants, the duration of its leases in ms, and
--   `forgetsMs` of the policy; owner, seq, base, spent, keep, want, demand, minimum and need of the request; 1 if prior
--   usage follows, as `readKnown` reads it, otherwise 0
--
-- Returns one string of numbers, separated by spaces: the time; then for each request the granted, free and charged
-- units, the wait in ms (-1: never), resetAfterMs and availableAfterMs, or '!' and the number of a message. The
-- messages follow on separate lines.

local fraction = number()

local steps = {}
local function readTerms(n)
  local step = readStep()
  step.leaseMs, step.forgetsMs = number(), number()
  steps[n] = step
  return step
end

local FIELDS = 7
local RECORD = '<ddddddd'

-- returns nil and an error message if the value is invalid
local function readLeases(key)
  local read, message = load(key)
  if not read then return nil, message end
  local leases = {}
  for i = 1, #read, FIELDS do
    leases[#leases + 1] = {
      owner = read[i], units = read[i + 1], endsAt = read[i + 2],
      seq = read[i + 3], base = read[i + 4], charged = read[i + 5], settled = read[i + 6],
    }
  end
  return leases
end

local function writeCells(key, step, c)
  store(key, c, step.layout, step.keptMs(c, now))
end

-- whether the ledger must remember units that it charged, because the owner may still report them
local function isOwed(lease) return lease.settled > 0 or lease.charged > 0 end

-- leases are stored until the last one has ended and, if units are leased, until their charge would have expired
local function writeLeases(key, step, c, leases)
  if #leases == 0 then
    redis.call('DEL', key)
    return
  end
  local parts, lastEnd, units = {}, now, 0
  for i, lease in ipairs(leases) do
    local charges = { lease.seq, lease.base, lease.charged, lease.settled }
    parts[i] = struct.pack(RECORD, lease.owner, lease.units, lease.endsAt, unpack(charges))
    lastEnd = max(lastEnd, lease.endsAt + (isOwed(lease) and SETTLED_MS or 0))
    units = units + lease.units
  end
  local ttl = lastEnd - now
  if units > 0 then ttl = ttl + step.resetAfterMs(c, now) + step.forgetsMs end
  redis.call('SET', key, table.concat(parts), 'PX', format('%d', max(1, min(ceil(ttl) + longer, 2^52))))
end

local function moves(step, c, units, takenAt)
  local moved, changed = step.adjust(c, now, units, takenAt)
  return moved ~= 0 or changed
end

-- charges expired leases completely, in the order of their ends, unless the key was reset after the end. The charge is
-- remembered until the owner reports the units that it really spent
local function settle(key, step, c, leases)
  local ended, alive, charged = {}, {}, false
  for _, lease in ipairs(leases) do
    local list = lease.endsAt <= now and ended or alive
    list[#list + 1] = lease
  end
  table.sort(ended, function(a, b) return a.endsAt < b.endsAt end)
  local changed
  for _, lease in ipairs(ended) do
    local units = lease.units
    if units > 0 then
      if lease.endsAt > voidUntil(key) and moves(step, c, units, lease.endsAt) then charged = true end
      lease.units, lease.settled = 0, units
    end
    local isKept = isOwed(lease) and lease.endsAt + SETTLED_MS > now
    if isKept then alive[#alive + 1] = lease end
    changed = changed or units > 0 or not isKept
  end
  return alive, charged, changed
end

local function find(leases, owner)
  for _, lease in ipairs(leases) do
    if lease.owner == owner then return lease end
  end
end

local function unitsOf(leases)
  local units = 0
  for _, lease in ipairs(leases) do units = units + lease.units end
  return units
end

local function lend(leases, ask, units)
  local lease = find(leases, ask.owner)
  if not lease then
    lease = { owner = ask.owner }
    leases[#leases + 1] = lease
  end
  lease.units, lease.endsAt = units, now + ask.step.leaseMs
  lease.seq, lease.base, lease.charged, lease.settled = ask.seq, ask.base, ask.spent, 0
end

-- charges the spent units of the owner that have not been charged yet; the owner then leases the units that it keeps
local function tell(key, c, leases, lease, ask)
  local step = ask.step
  local charged = ask.known and makeGood(key, step, c, ask.known) or false
  local spent = ask.spent - (lease and lease.base == ask.base and lease.charged or 0)
  local settled = lease and lease.settled or 0
  if settled > 0 and lease.endsAt <= voidUntil(key) then settled = 0 end
  local units = spent - settled
  if units < 0 then gaveBack(key, step.keptMs(c, now)) end
  if units ~= 0 and moves(step, c, units, units > 0 and now or lease.endsAt) then charged = true end
  -- also without units, because a request whose reply is lost is repeated
  if lease or ask.keep > 0 or ask.spent > 0 then lend(leases, ask, ask.keep) end
  return charged
end

local function waitMs(step, c, leases, need)
  local cost = need > step.capacity and need or min(step.capacity, need + unitsOf(leases))
  local wait = step.waitMs(c, now, cost)
  if wait > 0 or #leases == 0 then return wait end
  local first = huge
  for _, lease in ipairs(leases) do
    if lease.units > 0 then first = min(first, lease.endsAt - now) end
  end
  return first == huge and wait or max(1, ceil(first))
end

local function grantOf(ask, free)
  if free < ask.minimum then return 0 end
  return max(0, min(ask.want, free, max(ask.demand, floor(free * fraction))))
end

local function readAsk()
  local n = number()
  local ask = { step = steps[n] or readTerms(n), owner = number(), seq = number(), base = number() }
  ask.spent, ask.keep, ask.want, ask.demand = number(), number(), number(), number()
  ask.minimum, ask.need = number(), number()
  ask.known = number() == 1 and readKnown()
  return ask
end

local out, messages = {}, {}
local function answer(ask, cellsKey, leasesKey)
  local step = ask.step
  local c, message = load(cellsKey, step.cells, step.layout, step.native)
  local leases
  if c then leases, message = readLeases(leasesKey) end
  if not c or not leases then
    -- the value is not a count of this policy
    messages[#messages + 1] = message
    out[#out + 1] = '!' .. #messages
    return
  end
  local charged, changed
  leases, charged, changed = settle(cellsKey, step, c, leases)
  local lease = find(leases, ask.owner)
  local stale = lease ~= nil and ask.seq <= lease.seq
  if not stale then
    local more = tell(cellsKey, c, leases, lease, ask)
    charged, changed = charged or more, changed or lease ~= nil or ask.keep > 0 or ask.spent > 0
  end
  local free = max(0, step.remaining(c, now) - unitsOf(leases))
  local granted = stale and 0 or grantOf(ask, free)
  local wait = free >= ask.need and 0 or waitMs(step, c, leases, ask.need)
  if granted > 0 then lend(leases, ask, ask.keep + granted) end
  if charged then writeCells(cellsKey, step, c) end
  if changed or granted > 0 then writeLeases(leasesKey, step, c, leases) end
  local left = step.remaining(c, now)
  local waits = format('%d %.17g %d', waitOf(wait), step.resetAfterMs(c, now),
    waitOf(availableAfterMs(step.capacity, step.waitMs, c, left, 0, 0)))
  out[#out + 1] = format('%d %d %d %s', granted, free - granted, step.capacity - left, waits)
end

local first = 1
while at < #ARGV do
  answer(readAsk(), KEYS[first], KEYS[first + 1])
  first = first + 2
end

storeMarks()

local text = stamp .. ' ' .. table.concat(out, ' ')
if #messages > 0 then text = text .. '\n' .. table.concat(messages, '\n') end
return text
