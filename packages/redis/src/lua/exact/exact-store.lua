-- Reads and writes the cells of a key: doubles in little-endian order. `cells` is their number and `layout` their
-- struct format; both are nil for a log, which has as many cells as units.

-- returns the cells, or nil and an error message
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
  -- the value that unpack returns after the cells has no effect
  if layout then return { struct.unpack(layout, value) } end
  local c = { struct.unpack('<' .. string.rep('d', size), value) }
  c[size + 1] = nil
  return c
end

local function store(key, c, layout, resetAfterMs)
  local value = struct.pack(layout or '<' .. string.rep('d', #c), unpack(c))
  call('SET', key, value, 'PX', format('%d', max(1, min(ceil(resetAfterMs) + longer, 2^52))))
end
