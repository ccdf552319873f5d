-- Restores usage that the server has lost or never received, like `makeGood` of limiter-core, and stores marks that
-- invalidate older reports of usage.
--
-- A mark is stored next to the cells of a key that was reset or refunded, for as long as older reports may arrive. Its
-- four doubles are: the time up to which all prior usage is invalid (reset); the time of the last refund; the number of
-- the server that applied it; the time at which the mark ends. Usage that was reported before a refund may include the
-- refunded units, so it is invalid too, except on the server that applied the refund: there it may come from an earlier
-- server whose counts have not been restored yet.
--
-- ARGV[2]: the number of the server, as its clients compute it from its identity; 0 if unknown.

local server = number()
local MARK = '<dddd'

-- returns the time up to which units admitted without the server are invalid, and the one up to which `used` is
local function voidUntil(key)
  local mark = redis.pcall('GET', key .. ':mark')
  if type(mark) ~= 'string' or #mark ~= 32 then return 0, 0 end
  local void, backAt, backBy = struct.unpack(MARK, mark)
  return void, backBy == server and void or max(void, backAt)
end

-- by refunded key: milliseconds until it would have been unused without the refund
local givenBack = {}
local function gaveBack(key, resetAfterMs)
  givenBack[key] = max(givenBack[key] or 0, resetAfterMs)
end

local function storeMark(key, void, endsAt)
  local ttl = format('%d', max(1, min(ceil(endsAt - now) + longer, 2^52)))
  return redis.pcall('SET', key .. ':mark', struct.pack(MARK, void, now, server, endsAt), 'PX', ttl, 'GET')
end

-- by name: the cells that a key would have from reports alone, its policy, and the time of the first report. Usage that
-- is known from a later time was counted by this server
local reportedCells = {}
-- Processes that report usage of a key describe the same lost count, of which each knows a part. The largest part is
-- restored once, in addition to what this server has counted since. Reports are therefore compared with cells of their
-- own. If the server or the time of the usage is unknown, they are compared with the cells of the key itself.
local function cellsReported(key, step, c, known)
  if server == 0 or known.usedAt >= ALWAYS then return c, ALWAYS end
  local name = key .. ':told:' .. format('%.0f', server)
  local reported = reportedCells[name]
  if reported then return reported.cells, reported.since end
  local value = redis.pcall('GET', name)
  local facets = step.facets
  local from = 9 + (facets and facets.bytes or 0)
  local count = type(value) == 'string' and (#value + 1 - from) / 8
  local cells, since = {}, now
  if count and count >= 0 and count == (step.cells or floor(count)) then
    since = struct.unpack('<d', value)
    cells = { struct.unpack('<' .. string.rep('d', count), value, from) }
    cells[count + 1] = nil
    if facets then facets.read(cells, facets, value, 9) end
  else
    -- `c` may have one more element, which `struct.unpack` returns after the cells
    for i = 1, step.cells or #c do cells[i] = c[i] end
    if facets then facets.read(cells, facets, facets.text(c), 1) end
  end
  reportedCells[name] = { cells = cells, step = step, since = since }
  return cells, since
end

local function storeReportedCells()
  for name, reported in pairs(reportedCells) do
    local cells, step = reported.cells, reported.step
    local ttl = max(1, min(ceil(step.keptMs(cells, now)) + longer, 2^52))
    local facets = cells.facets and cells.facets.text(cells) or ''
    local value = struct.pack('<d', reported.since) .. facets .. struct.pack('<' .. string.rep('d', #cells), unpack(cells))
    call('SET', name, value, 'PX', format('%d', ttl))
  end
end

local function storeMarks()
  storeReportedCells()
  for key, resetAfterMs in pairs(givenBack) do
    local endsAt = now + resetAfterMs
    local before = storeMark(key, 0, endsAt)
    if type(before) == 'string' and #before == 32 then
      local void, backAt, backBy, endedAt = struct.unpack(MARK, before)
      if backBy ~= server then void = max(void, backAt) end
      if void > 0 or endedAt > endsAt then storeMark(key, void, max(endsAt, endedAt)) end
    end
  end
end

local function leftOf(step, c) return (step.left or step.remaining)(c, now) end
local function usedUnits(step, c) return step.capacity - leftOf(step, c) end
-- units that count under any plan: a key that lacks units under one plan and has them under another has lost nothing
local function countedUnits(step, c) return step.used and step.used(c, now) or usedUnits(step, c) end

local function raise(step, c, units, resetAfterMs)
  local used = usedUnits(step, c)
  if used > 0 and step.adjust(c, now, units, now) == units then return end
  step.adopt(c, now, used + units, max(resetAfterMs, step.resetAfterMs(c, now)))
end

local function heldUnits(step, c) return step.held and step.held(c, now) or 0 end
local function spentUnits(step, c) return countedUnits(step, c) - heldUnits(step, c) end

-- adds spent and held units. The held ones are held for the longest time, so that their holds find them
local function addReported(step, c, spent, held, known)
  if spent > 0 then
    local used = countedUnits(step, c) + spent
    raise(step, c, spent, known.resetAfterMs)
    -- true if the key was in debt, or if its window would end too early
    if step.resetAfterMs(c, now) < known.resetAfterMs then step.adopt(c, now, used, known.resetAfterMs) end
  end
  if held > 0 then step.hold(c, now, held, step.endsAt(now, huge)) end
end

local function readKnown()
  local known = { used = number(), held = number(), resetAfterMs = number(), usedAt = number(), repliedAt = number() }
  known.uncounted, known.unsure, known.upTo, known.admittedAt = number(), number(), number(), number()
  return known
end

-- returns whether usage was restored
local function makeGood(key, step, c, known)
  local changed = false
  local void, reportedVoid = voidUntil(key)
  if known.used > 0 and known.usedAt > reportedVoid then
    local reported, since = cellsReported(key, step, c, known)
    -- units that one process reports as held may have been spent since, and another process reports them as spent
    local spent = max(0, known.used - known.held - spentUnits(step, reported))
    local held = known.used - countedUnits(step, reported) - spent
    held = max(0, min(held, known.held - heldUnits(step, reported)))
    if spent + held > 0 and known.usedAt <= since then
      -- a call that began before the first report, and ended after it, may have been counted by this server
      local isLater = known.repliedAt >= since
      local spentSince = isLater and max(0, spentUnits(step, c) - spentUnits(step, reported)) or 0
      local heldSince = isLater and max(0, heldUnits(step, c) - heldUnits(step, reported)) or 0
      if reported ~= c then addReported(step, reported, spent, held, known) end
      spent, held = max(0, spent - spentSince), max(0, held - heldSince)
      addReported(step, c, spent, held, known)
      changed = spent + held > 0
    end
  end
  local units = known.uncounted + max(0, min(known.unsure, known.upTo - usedUnits(step, c)))
  units = min(units, leftOf(step, c))
  if units > 0 and known.admittedAt > void then
    raise(step, c, units, known.resetAfterMs)
    changed = true
  end
  return changed
end
