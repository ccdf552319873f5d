/**
 * How each script begins: what the algorithms use, by the names that it has in TypeScript, then the time and the
 * deadline. ARGV[1] is the deadline, or `=` and the time instead of the server's, or ''. After the deadline the script
 * answers 'late' and the time, and does nothing. `stamp` is the time as an answer tells it, seconds:microseconds of the
 * server: text that is at hand, where a number would have to be printed.
 */
export const exactHead: string = `
local KEYS, ARGV, call, format = KEYS, ARGV, redis.call, string.format
local floor, ceil, min, max, huge = math.floor, math.ceil, math.min, math.max, math.huge
local EPSILON_MS = 0.001

local time = call('TIME')
local now, stamp = time[1] * 1000 + time[2] / 1000, time[1] .. ':' .. time[2]
local longer = 0
local deadline = tonumber(ARGV[1])
if deadline then
  if now > deadline then return 'late ' .. stamp end
elseif ARGV[1] ~= '' then
  now = tonumber(string.sub(ARGV[1], 2))
  stamp = format('%.17g', now)
  -- keys must not expire by the server's time
  longer = 600000
end
`

/** How the cells of a key are read and written. A log has as many cells as it has units, and no layout. */
export const exactStore: string = `
-- the cells, or nil and why there are none
local function load(key, cells, layout)
  local value = redis.pcall('GET', key)
  if not value then
    local c = {}
    for cell = 1, cells or 0 do c[cell] = 0 end
    return c
  end
  if type(value) == 'table' then return nil, value.err end
  local size = #value / 8
  if size ~= (cells or floor(size)) then return nil, 'WRONGTYPE the value is no count of Sluice' end
  -- what unpack answers behind the cells is in nobody's way there
  if layout then return { struct.unpack(layout, value) } end
  local c = { struct.unpack('<' .. string.rep('d', size), value) }
  c[size + 1] = nil
  return c
end

local function store(key, c, layout, resetAfterMs)
  local value = struct.pack(layout or '<' .. string.rep('d', #c), unpack(c))
  call('SET', key, value, 'PX', format('%d', max(1, min(ceil(resetAfterMs) + longer, 2^52))))
end
`

/** Before algorithms whose steps are made as the arguments come: the next number of ARGV. */
export const exactReader: string = `
local algorithms = {}
local at = 1
local function number()
  at = at + 1
  return tonumber(ARGV[at])
end

local function readStep()
  at = at + 1
  return algorithms[ARGV[at]]()
end
`
