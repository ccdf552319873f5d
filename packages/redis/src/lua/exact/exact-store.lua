-- Reads and writes the cells of a key: doubles in little-endian order. `cells` is their number and `layout` their
-- struct format. `cells` is nil for as many cells as there are; if `layout` is 'log', the first cell is the number of the
-- others, and is not stored.
--
-- `native` is the length of a fixed window, which may also be stored as an integer, see `native-form`; nil for other
-- algorithms. `writesNative` is whether windows are always stored as integers. Otherwise, `c.native` keeps the form in
-- which the key was found.
--
-- `facets`: see `facet-cells`.
--
-- There are few functions, because a script creates its functions in each call.

-- returns the cells, or nil and an error message
local function load(key, cells, layout, native, writesNative, facets)
  local value = redis.pcall('GET', key)
  local c
  if not value then
    c = {}
    for cell = 1, cells or (layout and 1 or 0) do c[cell] = 0 end
    if facets then facets.read(c, facets, nil, 1) end
  elseif type(value) == 'table' then
    return nil, value.err
  else
    local skipped = facets and facets.bytes or 0
    local size = (#value - skipped) / 8
    if size ~= (cells or floor(size)) or size < 0 then
      local start, used
      if native then start, used = readNative(key, value, native) end
      if not start then return nil, WRONGTYPE end
      return { start, used, native = native }
    end
    -- the value that unpack returns after the cells has no effect
    if cells then c = { struct.unpack(layout, value, skipped + 1) }
    elseif layout then
      c = { size, struct.unpack('<' .. string.rep('d', size), value, skipped + 1) }
      c[size + 2] = nil
    else
      c = { struct.unpack('<' .. string.rep('d', size), value, skipped + 1) }
      c[size + 1] = nil
    end
    if facets then facets.read(c, facets, value, 1) end
  end
  if writesNative then c.native = native end
  return c
end

local function store(key, c, layout, resetAfterMs)
  if c.native then return storeNative(key, c[1], c[2], c.native) end
  local value
  if layout == 'log' then value = struct.pack('<' .. string.rep('d', c[1]), unpack(c, 2, c[1] + 1))
  else value = struct.pack(layout or '<' .. string.rep('d', #c), unpack(c)) end
  if c.facets then value = c.facets.text(c) .. value end
  call('SET', key, value, 'PX', max(1, min(ceil(resetAfterMs) + longer, 2^52)))
end
