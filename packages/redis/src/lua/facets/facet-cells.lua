-- Cells of facets: holds and booked turns. They are stored in front of those of the usage, because a log has as many
-- cells as it needs. `facets` of a step are its facets, the outermost first; nil if it has none. The cells of each are a
-- field of the cells of the key.

-- reads the cells of facets from a value, or makes unused ones if it is nil
local function read(c, facets, value, from)
  c.facets = facets
  for _, facet in ipairs(facets) do
    local own = value and { struct.unpack(facet.layout, value, from) } or {}
    for i = #own + 1, facet.count do own[i] = 0 end
    c[facet.name] = own
    from = from + 8 * facet.count
  end
end

local function text(c)
  local all = ''
  for _, facet in ipairs(c.facets) do
    all = all .. struct.pack(facet.layout, unpack(c[facet.name], 1, facet.count))
  end
  return all
end

local function withFacet(name, count, inner)
  local facet = { name = name, count = count, layout = '<' .. string.rep('d', count) }
  return { bytes = 8 * count + (inner and inner.bytes or 0), read = read, text = text, facet, unpack(inner or {}) }
end
