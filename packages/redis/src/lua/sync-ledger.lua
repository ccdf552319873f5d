-- What all processes took from keys, after the algorithms and `make-good`, with the same results as `MemorySyncLedger`.
-- A batch counts once, however often it arrives with its number. A batch that follows lost batches does not count and
-- stores no number: it is sent again with the next number and the knowledge about its keys.
--
-- KEYS: the number of the last counted batch of this process and partition; then the cells of each key, as in the exact
-- backend. ARGV: as in `exact-head` and `make-good`; the number of the batch, for how many ms it is remembered, 1 if it
-- follows a loss, otherwise 0; then for each key the number of its step, on its first use its algorithm and constants,
-- and up to how many ms late its units may be charged to a window, 0 if they drain; 1 if knowledge about the key
-- follows, as `readKnown` reads it, otherwise 0; the number of takes, and the instant and units of each.
--
-- Returns one string of numbers separated by spaces: the time, the number of the previous batch, then the cells of each
-- key, or '!' and the number of a message; the messages follow on separate lines.

local batch, rememberedMs, afterLoss = number(), number(), number() == 1
local last = tonumber(call('GET', KEYS[1]) or 0)
local isNew = batch > last and (afterLoss or batch <= last + 1)
-- the first write: a server that accepts no writes refuses the whole batch
if isNew then call('SET', KEYS[1], format('%.17g', batch), 'PX', format('%d', rememberedMs)) end

local steps, formats, latest = {}, {}, {}
local messages, out, size = {}, { stamp, format('%.17g', last) }, 2

local function readUsage()
  local known = number() == 1 and readKnown() or nil
  local takes = {}
  for i = 1, 2 * number() do takes[i] = number() end
  return takes, known
end

local function count(key, step, c, takes, known)
  local changed = known and makeGood(key, step, c, known) or false
  for i = 1, #takes, 2 do
    local units, takenAt = takes[i + 1], min(now, takes[i])
    local before = units < 0 and (step.keptMs or step.resetAfterMs)(c, now)
    -- draining units drain from the time of their take
    local drains = units > 0 and latest[step] == 0
    local moved, variantsChanged = step.adjust(c, drains and takenAt or now, units, takenAt)
    -- a window that another process opened a moment later counts them as well
    if units > moved and now - takenAt < latest[step] then
      moved = moved + step.adjust(c, now, units - moved, now)
    end
    if moved ~= 0 or variantsChanged then
      changed = true
      if before then gaveBack(key, before) end
    end
  end
  if changed then store(key, c, step.layout, (step.keptMs or step.resetAfterMs)(c, now)) end
end

local place = 1
while at < #ARGV do
  local n = number()
  if not steps[n] then
    steps[n] = readStep()
    latest[steps[n]] = number()
    formats[n] = string.rep('%.17g ', steps[n].cells - 1) .. '%.17g'
  end
  local step = steps[n]
  local takes, known = readUsage()
  place = place + 1
  local key = KEYS[place]
  local c, message = load(key, step.cells, step.layout)
  size = size + 1
  if c then
    if isNew and (known or #takes > 0) then count(key, step, c, takes, known) end
    out[size] = format(formats[n], unpack(c, 1, step.cells))
  else
    messages[#messages + 1] = message
    out[size] = '!' .. #messages
  end
end
if isNew then storeMarks() end

local text = table.concat(out, ' ')
if #messages > 0 then text = text .. '\n' .. table.concat(messages, '\n') end
return text
