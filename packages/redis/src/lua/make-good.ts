/**
 * `makeGood` of limiter-core in Lua, and the marks that older knowledge respects. A mark stands beside the cells of a key
 * that was reset or given units back, and lives as long as older knowledge of it may matter. Its four doubles: until when
 * all that was known is void; when units were given back last, and at which server: there alone what others know from a
 * server before may not be counted yet; when the mark ends.
 *
 * The second of ARGV is the number of the server, as its clients know it.
 */
export const makeGood: string = `
local server = number()
local MARK = '<dddd'

-- until when all that was known of a key is void, and until when what was told of it
local function voidUntil(key)
  local mark = redis.pcall('GET', key .. ':mark')
  if type(mark) ~= 'string' or #mark ~= 32 then return 0, 0 end
  local void, backAt, backBy = struct.unpack(MARK, mark)
  return void, backBy == server and void or max(void, backAt)
end

-- by key that was given units back: after how many ms it would have been as good as new
local givenBack = {}
local function gaveBack(key, resetAfterMs)
  givenBack[key] = max(givenBack[key] or 0, resetAfterMs)
end

local function storeMark(key, void, endsAt)
  local ttl = format('%d', max(1, min(ceil(endsAt - now) + longer, 2^52)))
  return redis.pcall('SET', key .. ':mark', struct.pack(MARK, void, now, server, endsAt), 'PX', ttl, 'GET')
end

local function storeMarks()
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

local function usedUnits(step, c) return step.capacity - step.remaining(c, now) end

local function raise(step, c, units, resetAfterMs)
  local used = usedUnits(step, c)
  if used > 0 and step.adjust(c, now, units, now) == units then return end
  step.adopt(c, now, used + units, max(resetAfterMs, step.resetAfterMs(c, now)))
end

local function readKnown()
  local known = { used = number(), resetAfterMs = number(), usedAt = number() }
  known.uncounted, known.unsure, known.upTo, known.admittedAt = number(), number(), number(), number()
  return known
end

-- whether anything was missing
local function makeGood(key, step, c, known)
  local changed = false
  local void, toldVoid = voidUntil(key)
  local missing = known.used - usedUnits(step, c)
  if missing > 0 and known.usedAt > toldVoid then
    raise(step, c, missing, known.resetAfterMs)
    if step.resetAfterMs(c, now) < known.resetAfterMs then step.adopt(c, now, known.used, known.resetAfterMs) end
    changed = true
  end
  local units = known.uncounted + max(0, min(known.unsure, known.upTo - usedUnits(step, c)))
  units = min(units, step.remaining(c, now))
  if units > 0 and known.admittedAt > void then
    raise(step, c, units, known.resetAfterMs)
    changed = true
  end
  return changed
end
`

/** In the place of `makeGood` where nothing is told and nothing given back. */
export const withoutMarks: string = `
local storeMarks = false
`
