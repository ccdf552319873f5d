/** `firstWholeMs` of limiter-core, in Lua. */
export const firstWholeMs: string = `
local function halfWay(low, high) return low + floor((high - low) / 2) end

local function firstWholeMs(guess, passes)
  local passing = max(1, ceil(guess))
  local failing = passing - 1
  local stride = 1
  while not passes(passing) do
    if not (passing < huge) then return huge end
    failing = passing
    passing = passing + stride
    stride = stride * 2
  end
  stride = 1
  while failing > 0 and passes(failing) do
    passing = failing
    failing = max(0, failing - stride)
    stride = stride * 2
  end
  local middle = halfWay(failing, passing)
  while middle > failing and middle < passing do
    if passes(middle) then passing = middle else failing = middle end
    middle = halfWay(failing, passing)
  end
  return passing
end
`
