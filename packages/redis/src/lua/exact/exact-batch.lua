-- Runs a batch of takes, peeks and adjustments. Each key is read and written once.
--
-- KEYS: the cells of each charge, in the order of ARGV; then the keys beside them that the script may use.
-- ARGV: the arguments of `exact-head` and `make-good`; then for each run of requests that differ only in their keys:
--   number of requests; operation ('take', 'peek' or 'adjust'); for an adjustment takenAt and the idempotency id;
--   number of charges per request; then for each charge:
--     number of the policy, and on its first use its algorithm and constants; cost;
--     kind: 0 enforced or 1 advisory, plus 2 if prior usage follows, as `readKnown` reads it, plus 4 if a hold follows:
--     the ms for which a take holds the cost, and the units and the end of an earlier hold that it replaces
--
-- Returns one string of numbers, separated by spaces: the time; then for each charge, for an adjustment first the units
-- that were applied (now or by an earlier call with the same id), and always the remaining units, the wait in ms (-1:
-- never), resetAfterMs, availableAfterMs, if the policy books turns, the units that are not used, and if it holds units,
-- the held ones. A request with an unusable key is '!' and the number of a message instead; the messages follow on
-- separate lines.

-- returns whether prior usage follows one of the charges
local function readCharges(count)
  local hasKnown = false
  for j = 1, count do
    local n = number()
    steps[n] = steps[n] or readStep()
    local charge = { step = steps[n], cost = number() }
    local kind = number()
    charge.advisory = kind % 2 == 1
    if kind % 4 > 1 then
      charge.known = readKnown()
      hasKnown = true
    end
    if kind > 3 then charge.hold = { forMs = number(), units = number(), endsAt = number() } end
    charges[j] = charge
  end
  return hasKnown
end

local function cellsOf(key, step)
  local c, message = load(key, step.cells, step.layout, step.native, step.writesNative, step.facets)
  cells[key] = c
  if c then return c end
  messages[#messages + 1] = message
  broken[key] = #messages
end

-- the remaining units do not include booked turns, so a policy with turns also reports those without them
local function numbersText(step, c, left, wait, reset, grows)
  local text = format('%d %d %.17g %d', left, waitOf(wait), reset, waitOf(grows))
  if step.left then text = text .. format(' %d', step.left(c, now)) end
  return step.held and text .. format(' %d', step.held(c, now)) or text
end

local first = 0

-- fast path for most runs: takes of one enforced charge each, without prior usage
local function takePlainly(decisions, step, cost)
  local waitMs, spend, numbersOf = step.waitMs, step.spend, step.numbersOf
  for n = first + 1, first + decisions do
    local key = KEYS[n]
    local c = cells[key] or (not broken[key] and cellsOf(key, step))
    size = size + 1
    if c then
      local wait = waitMs(c, now, cost)
      local spends = wait == 0 and cost > 0
      if spends then
        spend(c, now, cost)
        written[key] = step
      elseif wait > 0 and step.book and step.book(c, now, cost) then written[key] = step end
      local left, reset, grows = numbersOf(c, now, cost, wait)
      if spends and step.keptMs == step.resetAfterMs then resets[key] = reset end
      out[size] = numbersText(step, c, left, wait, reset, grows)
    else
      out[size] = '!' .. broken[key]
    end
  end
  first = first + decisions
end

-- returns the id of one adjustment: it has a suffix if the request has adjusted the key before
local function idOf(j, id)
  local times = 0
  for i = 1, j - 1 do
    if KEYS[first + i] == KEYS[first + j] then times = times + 1 end
  end
  return times == 0 and id or id .. ':' .. times
end

-- runs before any charge is checked, because several charges of the request may have one key
local function restoreKnown(takenAt, id, count)
  for j = 1, count do
    local charge = charges[j]
    local step, key, known = charge.step, KEYS[first + j], charge.known
    local c = cells[key] or (not broken[key] and cellsOf(key, step))
    local isDue = c and known and not (takenAt and doneBefore(key, idOf(j, id)))
    if isDue and makeGood(key, step, c, known) then written[key] = step end
  end
end

-- returns the units that must be free for a take: not those that an earlier hold of the same work still holds
local function neededOf(charge, c)
  local cost, hold = charge.cost, charge.hold
  return hold and max(0, cost - charge.step.heldOf(c, now, hold.units, hold.endsAt)) or cost
end

-- reads the verdicts of advisory charges that are not taken, before enforced charges of the same keys are taken
local function readUnspent(count)
  for j = 1, count do
    local charge = charges[j]
    if charge.advisory then
      local step, c = charge.step, cells[KEYS[first + j]]
      local left, reset, grows = step.numbersOf(c, now, needs[j], waits[j])
      unspent[j] = numbersText(step, c, left, waits[j], reset, grows)
    end
  end
end

local function decide(decisions, operation, takenAt, id, count, hasKnown)
  for _ = 1, decisions do
    local message
    if hasKnown and operation ~= 'peek' then restoreKnown(takenAt, id, count) end
    local mayTake, allFit = operation == 'take', true
    for j = 1, count do
      local charge = charges[j]
      local step, key = charge.step, KEYS[first + j]
      local c = cells[key] or (not broken[key] and cellsOf(key, step))
      if not c then
        message = broken[key]
        break
      end
      needs[j] = takenAt and charge.cost or neededOf(charge, c)
      local wait = takenAt and 0 or step.waitMs(c, now, needs[j])
      if wait > 0 then
        allFit = false
        mayTake = mayTake and charge.advisory
      end
      waits[j] = wait
    end
    if message then
      size = size + 1
      out[size] = '!' .. message
    else
      local isPartial, vetoed = mayTake and not allFit, operation == 'take' and not mayTake
      if isPartial then readUnspent(count) end
      for j = 1, count do
        local charge = charges[j]
        local step, cost, key, hold = charge.step, charge.cost, KEYS[first + j], charge.hold
        local c = cells[key]
        if takenAt then
          local ownId = idOf(j, id)
          local moved, changed = cost == 0 and not hold and 0 or tonumber(doneBefore(key, ownId)), false
          if not moved then
            local before = (hold or cost < 0) and step.keptMs(c, now)
            if hold then
              changed = step.release(c, now, hold.units, hold.endsAt) > 0
              moved = cost == 0 and 0 or step.adjust(c, now, cost, now)
            else moved, changed = step.adjust(c, now, cost, takenAt) end
            if moved ~= 0 or changed then
              written[key] = step
              if before then gaveBack(key, before) end
            end
            if moved ~= 0 or changed or charge.known then isDone(key, ownId, format('%.17g', moved)) end
          end
          size = size + 1
          out[size] = format('%.17g', moved)
        elseif mayTake and cost > 0 and (allFit or not charge.advisory) then
          if hold then
            step.release(c, now, hold.units, hold.endsAt)
            if step.pass and needs[j] > 0 then step.pass(c, now, needs[j]) end
            step.hold(c, now, cost, step.endsAt(now, hold.forMs))
          else step.spend(c, now, cost) end
          written[key] = step
        elseif vetoed and waits[j] > 0 and not charge.advisory and step.book and step.book(c, now, needs[j]) then
          written[key] = step
        end
        size = size + 1
        if isPartial and charge.advisory then
          out[size] = unspent[j]
        else
          local left, reset, grows = step.numbersOf(c, now, needs[j], waits[j])
          out[size] = numbersText(step, c, left, waits[j], reset, grows)
        end
      end
    end
    first = first + count
  end
end

while at < #ARGV do
  local decisions = number()
  at = at + 1
  local operation = ARGV[at]
  local takenAt, id = operation == 'adjust' and number()
  if takenAt then
    at = at + 1
    id = ARGV[at]
  end
  local count = number()
  local hasKnown = readCharges(count)
  local charge = charges[1]
  local isPlain = not charge.advisory and not charge.known and not charge.hold
  if operation == 'take' and count == 1 and isPlain then
    takePlainly(decisions, charge.step, charge.cost)
  else
    resets = {}
    decide(decisions, operation, takenAt, id, count, hasKnown)
  end
end

-- if Redis refuses writes (OOM, READONLY), the first write fails and the script ends without an effect
for key, step in pairs(written) do
  local c = cells[key]
  store(key, c, step.layout, resets[key] or step.keptMs(c, now))
end
storeDone()
if storeMarks then storeMarks() end

local text = table.concat(out, ' ')
if #messages > 0 then text = text .. '\n' .. table.concat(messages, '\n') end
return text
