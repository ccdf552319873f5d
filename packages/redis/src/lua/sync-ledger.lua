-- Adds up the units that all processes took, with the same results as `MemorySyncLedger`. A batch counts once, even if
-- it arrives several times with its number. If batches before it are missing, it does not count and its number is not
-- stored; the process sends it again with the next number and the prior usage of its keys.
--
-- KEYS: number of the last counted batch of this process and partition; then the cells of each key, as in the exact
-- backend; then the keys of reports.
-- ARGV: the arguments of `exact-head` and `make-good`; number of the batch; ms for which the number is stored; 1 if the
-- batch follows a loss, otherwise 0; then for each key:
--   number of its policy, and on its first use its algorithm and constants, and the maximum delay in ms up to which
--   late units are charged to the current window (0 for algorithms that drain); 1 if prior usage follows, as
--   `readKnown` reads it, otherwise 0; number of takes, and the time and units of each take
--
-- Returns one string of numbers, separated by spaces: the time; the number of the last counted batch before this call;
-- then the cells of each key, or '!' and the number of a message. The messages follow on separate lines.

local batch, rememberedMs, afterLoss = number(), number(), number() == 1
local last = tonumber(call('GET', KEYS[1]) or 0)
local isNew = batch > last and (afterLoss or batch <= last + 1)
-- the first write of the script, so that a server that refuses writes refuses the batch as a whole
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
    local before = units < 0 and step.keptMs(c, now)
    -- if the algorithm drains, charges as of the time of the take, so that the units have drained since
    local drains = units > 0 and latest[step] == 0
    local moved, variantsChanged = step.adjust(c, drains and takenAt or now, units, takenAt)
    -- the window may have been opened by another process after the take; the units are then charged to it now
    if units > moved and now - takenAt < latest[step] then
      moved = moved + step.adjust(c, now, units - moved, now)
    end
    if moved ~= 0 or variantsChanged then
      changed = true
      if before then gaveBack(key, before) end
    end
  end
  if changed then store(key, c, step.layout, step.keptMs(c, now)) end
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
  local c, message = load(key, step.cells, step.layout, step.native)
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
