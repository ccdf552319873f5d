-- Precedes algorithms whose steps are created from arguments: reads the next number of ARGV.

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
