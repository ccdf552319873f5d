-- Reads the following arguments. `readStep` creates a step (a compiled policy) from its algorithm and constants; the
-- algorithms that follow this file add their constructors to `algorithms`.

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

-- number of cells of a log behind `from`, of at most `most`: the first one is the number of the others
local function logCells(c, from, most) return 1 + floor(max(0, min(c[from + 1] or 0, most - 1))) end
