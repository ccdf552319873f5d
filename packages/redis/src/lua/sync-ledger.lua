-- What all processes took of keys, behind the algorithms and `make-good`: number for number what `MemorySyncLedger` does.
-- A batch counts once, however often it comes under its number. One that comes while batches before it are lost counts
-- not at all, and leaves no number: it comes again under the next one, with what is known of its keys.
--
-- KEYS: the number of the last batch that counts, of this process and partition; then of each key its cells, as the
-- exact backend has them.
-- ARGV: as `exact-head` and `make-good` say; the number of the batch, for how many ms it is remembered, 1 where it comes
-- after a loss, else 0; then of each key the number of its step, where that is the first time its algorithm and
-- constants, and up to how many ms late its units may be charged to a window, 0 where they drain; 1 where what is known
-- of the key follows, as `readKnown` reads it, else 0; how many takes, and of each its instant and its units.
--
-- Answers one text, its numbers apart by spaces: the time, the number of the last batch before this one, then the cells
-- of each key, or '!' and the number of a message, which follow in lines of their own.

local batch, rememberedMs, afterLoss = number(), number(), number() == 1
local last = tonumber(call('GET', KEYS[1]) or 0)
local isNew = batch > last and (afterLoss or batch <= last + 1)
-- the first write: a server that takes none refuses the batch as a whole
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
    -- what drains does so since its take
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
