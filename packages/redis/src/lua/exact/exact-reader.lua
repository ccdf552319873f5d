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
