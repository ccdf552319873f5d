-- `CompiledVariants` of limiter-core in Lua, with identical results. Reads the number of variants, and for each variant
-- its role, perMs, ceiling, algorithm and constants. Cells: the cells of each variant in sequence. The cells of a
-- variant that drains are followed by the time when a charge last did not fit completely.

local all, own = {}, nil
local size, layout = 0, nil
for i = 1, number() do
  at = at + 1
  local variant = { role = ARGV[at], perMs = number(), ceiling = number() }
  variant.step = readStep()
  all[i] = variant
  if variant.role == 'own' then own = i end
  variant.count = variant.step.cells and variant.step.cells + (variant.perMs > 0 and 1 or 0)
  size = size and variant.count and size + variant.count
end
if size then layout = '<' .. string.rep('d', size) end

-- cells by variant, cached in the cells of the key: all policies with the same key divide the cells in the same way
local function parts(c)
  if c.parts then return c.parts end
  local cut, from = {}, 0
  for i, variant in ipairs(all) do
    local count = variant.count or logCells(c, from, #c - from)
    cut[i] = {}
    for j = 1, count do cut[i][j] = c[from + j] or 0 end
    if not variant.count then cut[i][1] = count - 1 end
    from = from + count
  end
  c.parts = cut
  return cut
end

local function join(c)
  local to = 0
  for i, variant in ipairs(all) do
    local part = c.parts[i]
    local count = variant.count or 1 + part[1]
    for j = 1, count do c[to + j] = part[j] end
    to = to + count
  end
  for i = #c, to + 1, -1 do c[i] = nil end
end

-- units of a cost that fit a charged variant below its ceiling; records the time if not all of them fit
local function fittingOf(variant, part, now, cost)
  if variant.perMs == 0 then return cost end
  local room = max(0, variant.ceiling - variant.step.resetAfterMs(part, now) * variant.perMs)
  if cost <= room then return cost end
  part[variant.count] = now == 0 and 5e-324 or now
  return room
end

-- whether the variant may have been charged less than the cost of a take
local function mayBeUncharged(variant, part, takenAt)
  local fullAt = variant.perMs > 0 and part[variant.count] or 0
  return fullAt ~= 0 and takenAt <= fullAt
end

local function longestReset(c, now, ofAll)
  local longest = 0
  for i, part in ipairs(parts(c)) do
    local variant = all[i]
    if ofAll or variant.role ~= 'charged' then longest = max(longest, variant.step.resetAfterMs(part, now)) end
  end
  return longest
end

local capacity = all[own].step.capacity

local function waitMs(c, now, cost)
  local longest = 0
  for i, part in ipairs(parts(c)) do
    local variant = all[i]
    if variant.role ~= 'charged' then longest = max(longest, variant.step.waitMs(part, now, cost)) end
  end
  return longest
end

local function remaining(c, now)
  local least = capacity
  for i, part in ipairs(parts(c)) do
    local variant = all[i]
    if variant.role ~= 'charged' then least = min(least, variant.step.remaining(part, now)) end
  end
  return least
end

local function resetAfterMs(c, now) return longestReset(c, now, false) end
