/** Before the algorithms: what they use, by the names that it has in TypeScript. */
export const exactHead: string = `
local floor, ceil, min, max, huge = math.floor, math.ceil, math.min, math.max, math.huge
local format = string.format
local EPSILON_MS = 0.001
local algorithms = {}

-- the next number of ARGV; an algorithm reads the constants of its steps by it
local at = 2
local function number()
  at = at + 1
  return tonumber(ARGV[at])
end
`

/** After the algorithms: the time, the deadline, and how cells are read and written. The drivers follow. */
export const exactStore: string = `
local time = redis.call('TIME')
local now = ARGV[2] == '' and time[1] * 1000 + time[2] / 1000 or tonumber(ARGV[2])
if ARGV[1] ~= '' and now > tonumber(ARGV[1]) then return format('late %.17g', now) end
-- where the time is not the server's, keys must not expire by the server's
local longer = ARGV[2] == '' and 0 or 600000

-- a log has as many cells as it has units, and no format
local function readStep()
  local step = {}
  at = at + 1
  algorithms[ARGV[at]](step)
  if step.cells then step.format = '<' .. string.rep('d', step.cells) end
  return step
end

-- the cells of a key, or nil and why there are none
local function read(key, step)
  local value = redis.pcall('GET', key)
  local size = step.cells or (value and #value / 8 or 0)
  local c = {}
  if not value then
    for cell = 1, size do c[cell] = 0 end
  elseif type(value) == 'string' and #value == size * 8 and size == floor(size) then
    c = { struct.unpack(step.format or '<' .. string.rep('d', size), value) }
    c[size + 1] = nil
  else
    return nil, type(value) == 'table' and value.err or 'WRONGTYPE the value is no count of Sluice'
  end
  return c
end

local function write(key, c, step, resetAfterMs)
  local value = struct.pack(step.format or '<' .. string.rep('d', #c), unpack(c))
  redis.call('SET', key, value, 'PX', format('%d', max(1, min(ceil(resetAfterMs) + longer, 2^52))))
end
`

/**
 * After the algorithms: runs a batch of decisions over KEYS, each key read once and written once.
 *
 * ARGV: deadline or '', the time instead of the server's or ''; then runs of decisions that ask the same: how many,
 * operation, of an adjustment takenAt, number of charges, and of each charge the number of its step, where that is the
 * first time its algorithm and constants, its cost, and what it is: 0 enforced, 1 advisory; 2 more where what is known
 * of the key follows, used and resetAfterMs. KEYS are those of all charges in this order.
 *
 * Answers one text, its numbers apart by spaces: the time; then of each charge what remains, the wait (-1: never) and
 * resetAfterMs, of an adjustment behind the units that it moved. A decision whose key is unusable is '!' and the number
 * of a message; the messages follow in lines of their own. After the deadline: 'late' and the time, and nothing is done.
 */
export const exactDriver: string = `
local steps, charges, waits = {}, {}, {}
-- by key: the cells as they stand now, the step by which they are written back, the message that says why it is unusable
local cells, written, broken = {}, {}, {}
local messages, out = {}, {}

local function readCharges(count)
  for j = 1, count do
    local n = number()
    steps[n] = steps[n] or readStep()
    local charge = { step = steps[n], cost = number() }
    local kind = number()
    charge.advisory = kind % 2 == 1
    if kind > 1 then charge.known = { used = number(), resetAfterMs = number() } end
    charges[j] = charge
  end
end

local function load(key, step)
  local c, message = read(key, step)
  cells[key] = c
  if c then return end
  messages[#messages + 1] = message
  broken[key] = #messages
end

local function recall(step, c, known, key)
  local resetAfterMs = step.resetAfterMs(c, now)
  if step.capacity - step.remaining(c, now) >= known.used then return end
  step.adopt(c, now, known.used, max(known.resetAfterMs, resetAfterMs))
  written[key] = step
end

local first = 0
while at < #ARGV do
  local decisions = number()
  at = at + 1
  local operation = ARGV[at]
  local takenAt = operation == 'adjust' and min(number(), now)
  local count = number()
  readCharges(count)
  for _ = 1, decisions do
    local message
    local mayTake, allFit = operation == 'take', true
    for j = 1, count do
      local charge = charges[j]
      local step = charge.step
      local key = KEYS[first + j]
      if not (cells[key] or broken[key]) then load(key, step) end
      message = message or broken[key]
      if message then break end
      if charge.known and mayTake then recall(step, cells[key], charge.known, key) end
      local wait = takenAt and 0 or step.waitMs(cells[key], now, charge.cost)
      if wait > 0 then
        allFit = false
        mayTake = mayTake and charge.advisory
      end
      waits[j] = wait == huge and -1 or wait
    end
    if message then
      out[#out + 1] = '!' .. message
    else
      for j = 1, count do
        local charge = charges[j]
        local step, cost = charge.step, charge.cost
        local key = KEYS[first + j]
        local c = cells[key]
        if takenAt then
          local moved = cost == 0 and 0 or step.adjust(c, now, cost, takenAt)
          if moved ~= 0 then written[key] = step end
          out[#out + 1] = format('%.17g', moved)
        elseif mayTake and cost > 0 and (allFit or not charge.advisory) then
          step.spend(c, now, cost)
          written[key] = step
        end
        out[#out + 1] = format('%d %d %.17g', step.remaining(c, now), waits[j], step.resetAfterMs(c, now))
      end
    end
    first = first + count
  end
end

-- an error of the first write, such as OOM or READONLY, ends the script before anything is written
for key, step in pairs(written) do
  local c = cells[key]
  write(key, c, step, step.resetAfterMs(c, now))
end

local text = format('%.17g ', now) .. table.concat(out, ' ')
if #messages > 0 then text = text .. '\\n' .. table.concat(messages, '\\n') end
return text
`

/**
 * One take of charges whose keys differ and are not known from before: what `exactDriver` does with it, for less.
 *
 * ARGV: deadline, time, and of each charge its algorithm and constants, its cost, and 1 where it is advisory, else 0.
 * Answers as `exactDriver` does.
 */
export const soleDriver: string = `
local steps, costs, advisory, cells, waits = {}, {}, {}, {}, {}
local vetoed, allFit = false, true
for j = 1, #KEYS do
  local step = readStep()
  steps[j], costs[j], advisory[j] = step, number(), number() == 1
  local c, message = read(KEYS[j], step)
  if not c then return format('%.17g !1\\n%s', now, message) end
  local wait = step.waitMs(c, now, costs[j])
  if wait > 0 then
    allFit = false
    vetoed = vetoed or not advisory[j]
  end
  cells[j], waits[j] = c, wait == huge and -1 or wait
end

local text = format('%.17g', now)
for j = 1, #KEYS do
  local step, c = steps[j], cells[j]
  local takes = not vetoed and (allFit or not advisory[j]) and costs[j] > 0
  if takes then step.spend(c, now, costs[j]) end
  local resetAfterMs = step.resetAfterMs(c, now)
  if takes then write(KEYS[j], c, step, resetAfterMs) end
  text = text .. format(' %d %d %.17g', step.remaining(c, now), waits[j], resetAfterMs)
end
return text
`
